//! Instructions that compute.

use crate::constant::ConstantBank;
use crate::float;
use crate::warp::{LANES, View, Warp, lanes};
use atoms_isa::{Alu, AluOp, BoolOp, Compare, HalfSelect, IntType, MufuFunction, Path, Reg, Source, UReg};

/// Which of the operands have 64 bits.
pub(crate) fn wide_operands(op: AluOp) -> [bool; 3] {
    match op {
        AluOp::IMadWide(_) | AluOp::IMadHi(_) => [false, false, true],
        AluOp::IAdd64 | AluOp::DAdd | AluOp::DMul | AluOp::DFma => [true; 3],
        AluOp::ISetP { kind, .. } => [kind.wide(), kind.wide(), false],
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

fn kind(op: AluOp) -> Kind {
    match op {
        AluOp::IAdd3 | AluOp::Lea { .. } => Kind::Carry,
        AluOp::FAdd { .. }
        | AluOp::FMul { .. }
        | AluOp::FFma { .. }
        | AluOp::FSetP { .. }
        | AluOp::FMinMax { .. }
        | AluOp::FSelect
        | AluOp::Mufu(_)
        | AluOp::FloatToInt { .. } => Kind::Single,
        AluOp::HAdd2(_) | AluOp::HMul2(_) | AluOp::HFma2(_) => Kind::Halves,
        AluOp::DAdd | AluOp::DMul | AluOp::DFma => Kind::Double,
        AluOp::Mov
        | AluOp::IMad
        | AluOp::IMadWide(_)
        | AluOp::IMadHi(_)
        | AluOp::IAdd64
        | AluOp::Lop3 { .. }
        | AluOp::PLop3 { .. }
        | AluOp::LeaHi { .. }
        | AluOp::ShiftLeft { .. }
        | AluOp::ShiftRight { .. }
        | AluOp::Select
        | AluOp::ISetP { .. }
        | AluOp::IMinMax(_)
        | AluOp::Permute
        | AluOp::PopCount
        | AluOp::FindLeadingOne { .. }
        | AluOp::BitReverse
        | AluOp::IAbs
        | AluOp::IntToFloat { .. } => Kind::Int,
    }
}

/// An operand after its modifiers, per lane.
fn load(view: &View<'_>, source: &Source, kind: Kind, wide: bool) -> [u64; LANES] {
    let mut values = if wide { view.pairs(source) } else { view.row(source).map(u64::from) };
    if kind == Kind::Double && matches!(source.value, atoms_isa::Value::Imm(_)) {
        // An immediate gives the high word of a binary64.
        values = values.map(|v| v << 32);
    }
    if source.half != HalfSelect::Both {
        let shift = if source.half == HalfSelect::Low { 0 } else { 16 };
        values = values.map(|v| (v >> shift & 0xffff) * 0x1_0001);
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

/// Register result and predicate results of one lane.
struct Result {
    value: u64,
    preds: [bool; 2],
}

fn value(value: u32) -> Result {
    Result { value: u64::from(value), preds: [false; 2] }
}

fn single(result: f32) -> Result {
    value(result.to_bits())
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

    let mut low = [0; LANES];
    let mut high = [0; LANES];
    let mut preds = [0_u32; 2];
    for lane in lanes(mask) {
        let p = p.map(|p| p >> lane & 1 != 0);
        let result = compute(alu.op, [a[lane], b[lane], c[lane]], p, carries);
        low[lane] = result.value as u32;
        high[lane] = (result.value >> 32) as u32;
        for (bits, pred) in preds.iter_mut().zip(result.preds) {
            *bits |= u32::from(pred) << lane;
        }
    }
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

/// One lane. `carries` is the number of negated operands of an operation with carries.
fn compute(op: AluOp, [a, b, c]: [u64; 3], p: [bool; 3], carries: u64) -> Result {
    let (a32, b32, c32) = (a as u32, b as u32, c as u32);
    let [fa, fb, fc] = [a32, b32, c32].map(f32::from_bits);
    match op {
        AluOp::Mov => value(a32),
        AluOp::IMad => value(a32.wrapping_mul(b32).wrapping_add(c32).wrapping_add(u32::from(p[0]))),
        AluOp::IMadWide(kind) => {
            let sum = u128::from(product(kind, a32, b32)) + u128::from(c) + u128::from(p[0]);
            Result { value: sum as u64, preds: [sum >> 64 != 0, false] }
        }
        AluOp::IMadHi(kind) => value((product(kind, a32, b32).wrapping_add(c) >> 32) as u32),
        AluOp::IAdd3 => {
            let sum = (a & 0xffff_ffff) + (b & 0xffff_ffff) + (c & 0xffff_ffff) + carries;
            let sum = sum + u64::from(p[0]) + u64::from(p[1]);
            Result { value: sum & 0xffff_ffff, preds: [sum >> 32 >= 1, sum >> 32 >= 2] }
        }
        AluOp::IAdd64 => Result { value: a.wrapping_add(b), preds: [false; 2] },
        AluOp::Lop3 { table, combine } => {
            let word = lop3(table, a32, b32, c32);
            Result { value: u64::from(word), preds: [combined(combine, word != 0, p[0]), false] }
        }
        AluOp::PLop3 { tables } => {
            let at = u8::from(p[0]) << 2 | u8::from(p[1]) << 1 | u8::from(p[2]);
            Result { value: 0, preds: tables.map(|t| t >> at & 1 != 0) }
        }
        AluOp::Lea { shift } => {
            let sum = u64::from(a32 << shift) + u64::from(b32) + carries;
            Result { value: sum & 0xffff_ffff, preds: [sum >> 32 != 0, false] }
        }
        AluOp::LeaHi { shift, sign_extend } => {
            let upper = if sign_extend { (a32 as i32 >> 31) as u32 } else { c32 };
            let whole = u64::from(upper) << 32 | u64::from(a32);
            let shifted = (whole >> (32 - u32::from(shift))) as u32;
            let sum = u64::from(shifted) + u64::from(b32) + u64::from(p[0]);
            Result { value: sum & 0xffff_ffff, preds: [sum >> 32 != 0, false] }
        }
        AluOp::ShiftLeft { kind, high, wrap } => {
            let whole = u64::from(c32) << 32 | u64::from(a32);
            let shifted = whole.checked_shl(limit(kind, wrap, b32)).unwrap_or(0);
            value(if high { (shifted >> 32) as u32 } else { shifted as u32 })
        }
        AluOp::ShiftRight { kind, high, wrap } => {
            let whole = u64::from(c32) << 32 | u64::from(a32);
            let by = limit(kind, wrap, b32);
            let shifted = if kind.signed() {
                ((whole as i64) >> by.min(63)) as u64
            } else {
                whole.checked_shr(by).unwrap_or(0)
            };
            value(if high { (shifted >> 32) as u32 } else { shifted as u32 })
        }
        AluOp::Select | AluOp::FSelect => value(if p[0] { a32 } else { b32 }),
        AluOp::ISetP { compare, kind, combine, extended } => {
            let order = match kind {
                IntType::U32 => a32.cmp(&b32),
                IntType::S32 => (a32 as i32).cmp(&(b32 as i32)),
                IntType::U64 => a.cmp(&b),
                IntType::S64 => (a as i64).cmp(&(b as i64)),
            };
            let holds = match compare {
                Compare::False => false,
                Compare::True => true,
                // High words alike: the low words decide.
                _ if extended && order.is_eq() => p[1],
                Compare::Lt => order.is_lt(),
                Compare::Eq => order.is_eq(),
                Compare::Le => order.is_le(),
                Compare::Gt => order.is_gt(),
                Compare::Ne => order.is_ne(),
                Compare::Ge => order.is_ge(),
            };
            Result { value: 0, preds: [combined(combine, holds, p[0]), combined(combine, !holds, p[0])] }
        }
        AluOp::IMinMax(kind) => {
            let less = if kind.signed() { (a32 as i32) < b32 as i32 } else { a32 < b32 };
            value(if less == p[0] { a32 } else { b32 })
        }
        AluOp::Permute => value(permute(a32, b32, c32)),
        AluOp::PopCount => value(a32.count_ones()),
        AluOp::FindLeadingOne { kind, shift_amount } => {
            let bits = if kind.signed() && (a32 as i32) < 0 { !a32 } else { a32 };
            value(match (bits, shift_amount) {
                (0, _) => u32::MAX,
                (_, false) => 31 - bits.leading_zeros(),
                (_, true) => bits.leading_zeros(),
            })
        }
        AluOp::BitReverse => value(a32.reverse_bits()),
        AluOp::IAbs => value((a32 as i32).unsigned_abs()),
        AluOp::FAdd { flush } => flushed(flush, [fa, fb, fc], |[a, b, _]| float::add(a, b)),
        AluOp::FMul { flush } => flushed(flush, [fa, fb, fc], |[a, b, _]| float::mul(a, b)),
        AluOp::FFma { flush } => flushed(flush, [fa, fb, fc], |[a, b, c]| float::fma(a, b, c)),
        AluOp::FSetP { compare, combine, flush } => {
            let holds = float::compare(compare, float::flush_if(flush, fa), float::flush_if(flush, fb));
            Result { value: 0, preds: [combined(combine, holds, p[0]), combined(combine, !holds, p[0])] }
        }
        AluOp::FMinMax { flush } => flushed(flush, [fa, fb, fc], |[a, b, _]| float::min_max(p[0], a, b)),
        AluOp::Mufu(function) => match function {
            MufuFunction::Rcp => single(float::rcp(fa)),
        },
        AluOp::IntToFloat { kind, up } => {
            let number = if kind.signed() { i64::from(a32 as i32) } else { i64::from(a32) };
            single(float::from_int(number, up))
        }
        // Rust's conversion limits to the range and gives 0 for a NaN, as PTX asks of cvt.
        AluOp::FloatToInt { kind, flush } => {
            let number = float::flush_if(flush, fa);
            value(if kind.signed() { number as i32 as u32 } else { number as u32 })
        }
        AluOp::HAdd2(format) => value(float::halves_add(format, a32, b32)),
        AluOp::HMul2(format) => value(float::halves_mul(format, a32, b32)),
        AluOp::HFma2(format) => value(float::halves_fma(format, a32, b32, c32)),
        AluOp::DAdd => Result { value: float::add64(a, b), preds: [false; 2] },
        AluOp::DMul => Result { value: float::mul64(a, b), preds: [false; 2] },
        AluOp::DFma => Result { value: float::fma64(a, b, c), preds: [false; 2] },
    }
}

/// 64-bit product of two words.
fn product(kind: IntType, a: u32, b: u32) -> u64 {
    if kind.signed() {
        (i64::from(a as i32) * i64::from(b as i32)) as u64
    } else {
        u64::from(a) * u64::from(b)
    }
}

fn lop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    (0..8_u8).filter(|i| table >> i & 1 != 0).fold(0, |word, i| {
        let pick = |bit: u8, v: u32| if i >> bit & 1 != 0 { v } else { !v };
        word | (pick(2, a) & pick(1, b) & pick(0, c))
    })
}

fn combined(how: BoolOp, holds: bool, with: bool) -> bool {
    match how {
        BoolOp::And => holds && with,
        BoolOp::Or => holds || with,
        BoolOp::Xor => holds != with,
    }
}

/// Shift distance: modulo the width of the type, or no more than it.
fn limit(kind: IntType, wrap: bool, by: u32) -> u32 {
    let width = if kind.wide() { 64 } else { 32 };
    if wrap { by % width } else { by.min(width) }
}

fn permute(a: u32, selector: u32, c: u32) -> u32 {
    let bytes = (u64::from(c) << 32 | u64::from(a)).to_le_bytes();
    let pick = |i: u32| {
        let nibble = selector >> (4 * i) & 0xf;
        let byte = bytes[(nibble & 7) as usize];
        if nibble & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte }
    };
    u32::from_le_bytes([0, 1, 2, 3].map(pick))
}

fn flushed(flush: bool, operands: [f32; 3], f: impl Fn([f32; 3]) -> f32) -> Result {
    single(float::flush_if(flush, f(operands.map(|v| float::flush_if(flush, v)))))
}
