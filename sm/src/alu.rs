//! Instructions that compute: operands in, registers and predicates out.

use crate::compute::{Result, compute};
use crate::convert;
use crate::memory::ConstantBank;
use crate::warp::{LANES, View, Warp, lanes};
use atoms_isa::{
    Alu, AluOp, BoolOp, FloatFormat, HalfFormat, HalfSelect, IntType, Path, Reg, Rounding, Source, UReg,
};

/// Which of the operands have 64 bits.
pub(crate) fn wide_operands(op: AluOp) -> [bool; 3] {
    match op {
        AluOp::IMadWide(_) | AluOp::IMadHi(_) => [false, false, true],
        AluOp::IAdd64
        | AluOp::Mov64
        | AluOp::Select64
        | AluOp::DAdd(_)
        | AluOp::DMul(_)
        | AluOp::DFma(_)
        | AluOp::DSetP { .. }
        | AluOp::DMinMaxP { .. } => [true; 3],
        AluOp::ISetP { kind, .. } | AluOp::IMinMax { kind, .. } => [kind.wide(), kind.wide(), false],
        AluOp::IntToFloat { from, .. } => [from.bits == 64, false, false],
        AluOp::FloatToInt { from, .. } | AluOp::FloatToFloat { from, .. } => [from.wide(), false, false],
        AluOp::FRound { format, .. } => [format.wide(), false, false],
        _ => [false; 3],
    }
}

/// What the modifiers of an operand mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Two's complement.
    Int,
    /// As [`Kind::Int`], but a negation is an inversion plus one carry (see [`AluOp`]).
    Carry,
    /// Binary32.
    Single,
    /// Two packed halves.
    Halves,
    /// Binary64.
    Double,
}

impl Kind {
    fn of(format: FloatFormat) -> Kind {
        match format {
            FloatFormat::F16 | FloatFormat::Bf16 => Kind::Halves,
            FloatFormat::F32 => Kind::Single,
            FloatFormat::F64 => Kind::Double,
        }
    }
}

fn kind(op: AluOp) -> Kind {
    match op {
        AluOp::IAdd3 | AluOp::IAdd64 | AluOp::Lea { .. } => Kind::Carry,
        AluOp::FAdd(_)
        | AluOp::FMul(_)
        | AluOp::FFma(_)
        | AluOp::FSetP { .. }
        | AluOp::FSet { .. }
        | AluOp::FMinMax { .. }
        | AluOp::FSelect { .. }
        | AluOp::FCheck
        | AluOp::Mufu(_)
        | AluOp::PackHalves { .. } => Kind::Single,
        AluOp::FloatToInt { from, .. } | AluOp::FloatToFloat { from, .. } => Kind::of(from),
        AluOp::FRound { format, .. } => Kind::of(format),
        AluOp::HAdd2(_)
        | AluOp::HMul2(_)
        | AluOp::HFma2(_)
        | AluOp::HMinMax2 { .. }
        | AluOp::HSetP2 { .. }
        | AluOp::HSet2 { .. } => Kind::Halves,
        AluOp::DAdd(_) | AluOp::DMul(_) | AluOp::DFma(_) | AluOp::DSetP { .. } | AluOp::DMinMaxP { .. } => {
            Kind::Double
        }
        _ => Kind::Int,
    }
}

/// An operand after its modifiers, per lane.
fn load(view: &View<'_>, source: &Source, kind: Kind, wide: bool) -> [u64; LANES] {
    let mut values = if wide { view.pairs(source) } else { view.row(source).map(u64::from) };
    if kind == Kind::Double && matches!(source.value, atoms_isa::Value::Imm(_)) {
        // An immediate gives the high word of a binary64.
        values = values.map(|v| v << 32);
    }
    match source.half {
        HalfSelect::Both => {}
        HalfSelect::Low => values = values.map(|v| (v & 0xffff) * 0x1_0001),
        HalfSelect::High => values = values.map(|v| (v >> 16 & 0xffff) * 0x1_0001),
        HalfSelect::Single => {
            let pack = |v: u32| convert::pack_halves(HalfFormat::F16, Rounding::Zero, false, v, v);
            values = values.map(|v| u64::from(pack(v as u32)));
        }
        HalfSelect::Byte(byte) => values = values.map(|v| v >> (8 * (byte & 3)) & 0xff),
    }
    let plain = !source.negate && !source.absolute && !source.invert;
    if plain {
        return values;
    }
    let word = if wide { u64::MAX } else { u64::from(u32::MAX) };
    let sign = match kind {
        Kind::Halves => 0x8000_8000,
        Kind::Double => 1 << 63,
        Kind::Single => 1 << 31,
        Kind::Int | Kind::Carry => 0,
    };
    values.map(|mut v| {
        if source.invert {
            v = !v & word;
        }
        match kind {
            Kind::Single | Kind::Halves | Kind::Double => {
                v = if source.absolute { v & !sign } else { v };
                if source.negate { v ^ sign } else { v }
            }
            Kind::Int => {
                if source.absolute {
                    v = if wide { (v as i64).unsigned_abs() } else { u64::from((v as i32).unsigned_abs()) };
                }
                if source.negate { v.wrapping_neg() & word } else { v }
            }
            Kind::Carry if source.negate => !v & word,
            Kind::Carry => v,
        }
    })
}

/// Operands after their modifiers, per lane.
struct Operands<'a> {
    a: &'a [u64; LANES],
    b: &'a [u64; LANES],
    c: &'a [u64; LANES],
    p: [u32; 3],
    /// Negated operands of an operation with carries.
    carries: u64,
}

/// Results per lane, as words.
struct Results {
    low: [u32; LANES],
    high: [u32; LANES],
    preds: [u32; 2],
}

impl Operands<'_> {
    /// The first `count` lanes, whether they take part or not: where the operation is a constant of the caller, no
    /// lane has to ask which it is.
    #[inline(always)]
    fn each(&self, op: AluOp, count: usize) -> Results {
        let mut results = Results { low: [0; LANES], high: [0; LANES], preds: [0; 2] };
        for lane in 0..count {
            self.lane(op, lane, &mut results);
        }
        results
    }

    /// The lanes of `mask`.
    #[inline(never)]
    fn of_any(&self, op: AluOp, mask: u32) -> Results {
        let mut results = Results { low: [0; LANES], high: [0; LANES], preds: [0; 2] };
        for lane in lanes(mask) {
            self.lane(op, lane, &mut results);
        }
        results
    }

    #[inline(always)]
    fn lane(&self, op: AluOp, lane: usize, results: &mut Results) {
        let p = self.p.map(|p| p >> lane & 1 != 0);
        let Result { value, preds } =
            compute(op, [self.a[lane], self.b[lane], self.c[lane]], p, self.carries);
        results.low[lane] = value as u32;
        results.high[lane] = (value >> 32) as u32;
        for (bits, pred) in results.preds.iter_mut().zip(preds) {
            *bits |= u32::from(pred) << lane;
        }
    }
}

/// Carries out the instruction for split `index`, in the lanes of `mask`.
pub(crate) fn execute(alu: &Alu, warp: &mut Warp, index: usize, mask: u32, constants: &ConstantBank) {
    let mask = match alu.path {
        Path::Vector => mask,
        Path::Uniform => u32::from(mask != 0),
    };
    let view = warp.view(index, constants);
    let kind = kind(alu.op);
    let wide = wide_operands(alu.op);
    let a = load(&view, &alu.a, kind, wide[0]);
    let b = load(&view, &alu.b, kind, wide[1]);
    let c = load(&view, &alu.c, kind, wide[2]);
    let p = alu.p.map(|p| view.pred(p));
    let carries = [alu.a, alu.b, alu.c].iter().filter(|s| kind == Kind::Carry && s.negate).count() as u64;

    let operands = Operands { a: &a, b: &b, c: &c, p, carries };
    let count = if alu.path == Path::Uniform { 1 } else { LANES };
    let Results { low, high, preds } = match alu.op {
        // Those that loops are made of, with the operation known where the lanes are gone through.
        AluOp::Mov => operands.each(AluOp::Mov, count),
        AluOp::IMad => operands.each(AluOp::IMad, count),
        AluOp::IAdd3 => operands.each(AluOp::IAdd3, count),
        AluOp::IMadWide(IntType::S32) => operands.each(AluOp::IMadWide(IntType::S32), count),
        AluOp::IMadWide(IntType::U32) => operands.each(AluOp::IMadWide(IntType::U32), count),
        AluOp::Lea { shift } => operands.each(AluOp::Lea { shift }, count),
        AluOp::LeaHi { shift, sign_extend } => operands.each(AluOp::LeaHi { shift, sign_extend }, count),
        AluOp::Lop3 { table, combine } => operands.each(AluOp::Lop3 { table, combine }, count),
        AluOp::Select => operands.each(AluOp::Select, count),
        AluOp::ISetP { compare, kind: IntType::S32, combine: BoolOp::And, extended: false } => {
            let (kind, combine, extended) = (IntType::S32, BoolOp::And, false);
            operands.each(AluOp::ISetP { compare, kind, combine, extended }, count)
        }
        AluOp::ISetP { compare, kind: IntType::U32, combine: BoolOp::And, extended: false } => {
            let (kind, combine, extended) = (IntType::U32, BoolOp::And, false);
            operands.each(AluOp::ISetP { compare, kind, combine, extended }, count)
        }
        op => operands.of_any(op, mask),
    };
    match alu.path {
        Path::Vector => {
            let dst = Reg(alu.dst);
            warp.registers.set(dst, mask, &low);
            if alu.op.wide_result() {
                warp.registers.set(dst.plus(1), mask, &high);
            }
        }
        Path::Uniform if mask != 0 => {
            let dst = UReg(alu.dst as u8);
            let uniform = &mut warp.splits[index].uniform;
            uniform.set(dst, low[0]);
            if alu.op.wide_result() {
                uniform.set(dst.plus(1), high[0]);
            }
        }
        Path::Uniform => {}
    }
    if mask != 0 {
        for (pred, values) in alu.pred_dst.into_iter().zip(preds) {
            warp.set_pred(index, pred, mask, values);
        }
    }
}
