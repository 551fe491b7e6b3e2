//! Arithmetic instructions: operands in, registers and predicates out.
//!
//! Approximate functions (`rcp.approx`, `sin.approx`, ...) return the exact result rounded to nearest.
//! [CHOSEN: a GPU is within a few units in the last place]

pub(crate) mod atomic;
mod bits;
mod computed;
mod convert;
mod float;
mod format;
mod int;
mod lane;
pub(crate) mod lanes;

#[cfg(test)]
mod tests;

use crate::memory::ConstantBank;
use crate::warp::{LANES, View, Warp, lanes as lanes_of};
use atoms_isa::{
    BoolOp, ComparePart, Compute, ComputeOp, FloatType, HalfSelect, IntOp, Path, ProductPart, Reg, Source,
    Type, UReg,
};
use computed::Computed;
use lane::compute;

const fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Modifiers {
    /// Two's complement negation and absolute value.
    Int,
    /// Negation is an inversion; the carry input adds the missing one (see [`IntOp::Add3`]).
    Carry,
    /// Two's complement negation in each element of a packed integer; elements have this many bits.
    Parts(u32),
    /// Floats: negation and absolute value change these sign bits.
    Signs(u64),
}

impl Modifiers {
    fn of(op: ComputeOp) -> Modifiers {
        let ty = match op {
            ComputeOp::Lea { .. } | ComputeOp::Int { op: IntOp::Add3, .. } => return Modifiers::Carry,
            ComputeOp::Int { ty, .. } => {
                return ty.integer_part().map_or(Modifiers::Int, |part| Modifiers::Parts(part.bits()));
            }
            ComputeOp::Select { ty, .. }
            | ComputeOp::Compare { ty, .. }
            | ComputeOp::Convert { from: ty, .. } => ty.as_float(),
            ComputeOp::Float { ty, .. } | ComputeOp::PackBytes { from: ty, .. } => Some(ty),
            ComputeOp::Pack { .. } | ComputeOp::Mufu(_) | ComputeOp::DivisionIsHard => Some(FloatType::F32),
            ComputeOp::MinMaxTaken { .. } => Some(FloatType::F64),
            ComputeOp::Move
            | ComputeOp::SelectBySign { .. }
            | ComputeOp::Extract { .. }
            | ComputeOp::Concat { .. }
            | ComputeOp::Lop3 { .. }
            | ComputeOp::PredLogic { .. }
            | ComputeOp::LeaHi { .. }
            | ComputeOp::Funnel { .. }
            | ComputeOp::FindNth
            | ComputeOp::Mask { .. }
            | ComputeOp::Extend { .. }
            | ComputeOp::Dot { .. }
            | ComputeOp::Permute(_)
            | ComputeOp::Test { .. }
            | ComputeOp::PackInt { .. }
            | ComputeOp::UnpackBytes { .. }
            | ComputeOp::ToGeneric(_)
            | ComputeOp::InWindow(_)
            | ComputeOp::MapRank
            | ComputeOp::RankOf => return Modifiers::Int,
        };
        match ty {
            Some(FloatType::F64) => Modifiers::Signs(1 << 63),
            Some(FloatType::F32) => Modifiers::Signs(1 << 31),
            Some(FloatType::F32x2) => Modifiers::Signs(1 << 63 | 1 << 31),
            Some(FloatType::F16 | FloatType::F16x2 | FloatType::Bf16 | FloatType::Bf16x2) => {
                Modifiers::Signs(0x8000_8000)
            }
            None => Modifiers::Int,
        }
    }
}

/// Loads an operand for lanes 0 to `COUNT - 1` and applies its modifiers.
fn load<const COUNT: usize>(view: &View<'_>, source: &Source, modifiers: Modifiers) -> [u64; COUNT] {
    let mut values = if source.wide { view.pairs(source) } else { view.words(source).map(u64::from) };
    match source.half {
        HalfSelect::Both => {}
        HalfSelect::Low => values = values.map(|v| (v & 0xffff) * 0x1_0001),
        HalfSelect::High => values = values.map(|v| (v >> 16 & 0xffff) * 0x1_0001),
        HalfSelect::Single => values = values.map(|v| convert::to_half_toward_zero(v) * 0x1_0001),
        HalfSelect::Twice => values = values.map(|v| v | v << 32),
        HalfSelect::Byte(byte) => values = values.map(|v| v >> (8 * (byte & 3)) & 0xff),
        HalfSelect::Sign => values = values.map(|v| v >> 31 & 1),
    }
    if !source.negate && !source.absolute && !source.invert {
        return values;
    }
    let wide = source.wide;
    let word = if wide { u64::MAX } else { u64::from(u32::MAX) };
    values.map(|mut v| {
        if source.invert {
            v = !v & word;
        }
        match modifiers {
            Modifiers::Signs(signs) => {
                v = if source.absolute { v & !signs } else { v };
                if source.negate { v ^ signs } else { v }
            }
            Modifiers::Int => {
                if source.absolute {
                    v = if wide { (v as i64).unsigned_abs() } else { u64::from((v as i32).unsigned_abs()) };
                }
                if source.negate { v.wrapping_neg() & word } else { v }
            }
            Modifiers::Parts(bits) if source.negate => (0..32)
                .step_by(bits as usize)
                .fold(0, |all, at| all | ((v >> at).wrapping_neg() & ones(bits)) << at),
            Modifiers::Parts(_) => v,
            Modifiers::Carry if source.negate => !v & word,
            Modifiers::Carry => v,
        }
    })
}

/// Operands after their modifiers. `COUNT` is 32 for vector instructions and 1 for uniform ones.
struct Operands<'a, const COUNT: usize> {
    a: &'a [u64; COUNT],
    b: &'a [u64; COUNT],
    c: &'a [u64; COUNT],
    p: [u32; 3],
    /// Number of negated operands of an addition with carry: each adds 1, because negation only inverts.
    carries: u64,
}

/// Results per lane, split into 32-bit words.
struct Results<const COUNT: usize> {
    low: [u32; COUNT],
    high: [u32; COUNT],
    preds: [u32; 2],
}

impl<const COUNT: usize> Operands<'_, COUNT> {
    /// Computes all lanes, active or not. With a constant `op`, the compiler removes the dispatch from the
    /// loop.
    #[inline(always)]
    fn each(&self, op: ComputeOp) -> Results<COUNT> {
        let mut results = Results { low: [0; COUNT], high: [0; COUNT], preds: [0; 2] };
        for lane in 0..COUNT {
            self.lane(op, lane, 0, &mut results);
        }
        results
    }

    #[inline(always)]
    fn values(&self, op: ComputeOp) -> Results<COUNT> {
        let mut results = Results { low: [0; COUNT], high: [0; COUNT], preds: [0; 2] };
        for lane in 0..COUNT {
            let p = self.p.map(|p| p >> lane & 1 != 0);
            let operands = [self.a[lane], self.b[lane], self.c[lane], 0];
            let Computed { value, .. } = compute(op, operands, p, self.carries);
            results.low[lane] = value as u32;
            results.high[lane] = (value >> 32) as u32;
        }
        results
    }

    /// Computes only the lanes of `mask`, and supports the fourth operand.
    #[inline(never)]
    fn of_any(&self, op: ComputeOp, mask: u32, d: &[u64; COUNT]) -> Results<COUNT> {
        let mut results = Results { low: [0; COUNT], high: [0; COUNT], preds: [0; 2] };
        for lane in lanes_of(mask) {
            self.lane(op, lane, d[lane], &mut results);
        }
        results
    }

    #[inline(always)]
    fn lane(&self, op: ComputeOp, lane: usize, d: u64, results: &mut Results<COUNT>) {
        let p = self.p.map(|p| p >> lane & 1 != 0);
        let operands = [self.a[lane], self.b[lane], self.c[lane], d];
        let Computed { value, preds } = compute(op, operands, p, self.carries);
        results.low[lane] = value as u32;
        results.high[lane] = (value >> 32) as u32;
        for (bits, pred) in results.preds.iter_mut().zip(preds) {
            *bits |= u32::from(pred) << lane;
        }
    }

    /// Fast path for frequent operations: each has a loop of its own with a constant `op`. `None` for all
    /// other operations.
    fn common(&self, op: ComputeOp, preds: bool) -> Option<Results<COUNT>> {
        const fn word(op: IntOp) -> ComputeOp {
            ComputeOp::int(op, Type::U32)
        }
        const fn wide(ty: Type) -> ComputeOp {
            ComputeOp::int(IntOp::Mad(ProductPart::Wide), ty)
        }
        const fn lop3(table: u8, combine: BoolOp) -> ComputeOp {
            ComputeOp::Lop3 { table, ty: Type::B32, combine }
        }
        Some(match op {
            ComputeOp::Move => self.values(ComputeOp::Move),
            ComputeOp::Select { flush: false, .. } => {
                self.values(ComputeOp::Select { ty: Type::B64, flush: false })
            }
            ComputeOp::Int {
                op: IntOp::Add,
                ty: Type::U64 | Type::S64 | Type::B64,
                saturate: false,
                relu: false,
            } => self.values(ComputeOp::int(IntOp::Add, Type::U64)),
            ComputeOp::Int { op, ty, saturate: false, relu: false } if ty.bits() == 32 && !preds => {
                match (op, ty) {
                    (_, Type::U16x2 | Type::S16x2 | Type::U8x4 | Type::S8x4) => return None,
                    (IntOp::Add, _) => self.values(word(IntOp::Add)),
                    (IntOp::Sub, _) => self.values(word(IntOp::Sub)),
                    (IntOp::Add3, _) => self.values(word(IntOp::Add3)),
                    (IntOp::Mul(ProductPart::Low), _) => self.values(word(IntOp::Mul(ProductPart::Low))),
                    (IntOp::Mad(ProductPart::Low), _) => self.values(word(IntOp::Mad(ProductPart::Low))),
                    (IntOp::Mad(ProductPart::Wide), Type::S32) => self.values(wide(Type::S32)),
                    (IntOp::Mad(ProductPart::Wide), Type::U32) => self.values(wide(Type::U32)),
                    (IntOp::Shl, _) => self.values(word(IntOp::Shl)),
                    (IntOp::Shr, Type::U32) => self.values(word(IntOp::Shr)),
                    _ => return None,
                }
            }
            ComputeOp::Int { op: IntOp::Add3, ty: Type::U32, saturate: false, relu: false } => {
                self.each(word(IntOp::Add3))
            }
            ComputeOp::Int {
                op: IntOp::Mad(ProductPart::Wide),
                ty: Type::U32,
                saturate: false,
                relu: false,
            } => self.each(wide(Type::U32)),
            ComputeOp::Lea { shift } => self.each(ComputeOp::Lea { shift }),
            ComputeOp::LeaHi { shift, sign_extend } => self.each(ComputeOp::LeaHi { shift, sign_extend }),
            ComputeOp::Lop3 { table, ty: Type::B32 | Type::U32 | Type::S32, combine } => match (table, preds)
            {
                (0b1100_0000, false) => self.values(lop3(0b1100_0000, BoolOp::And)),
                (0b1111_1100, false) => self.values(lop3(0b1111_1100, BoolOp::And)),
                (0b0011_1100, false) => self.values(lop3(0b0011_1100, BoolOp::And)),
                (table, false) => self.values(lop3(table, BoolOp::And)),
                (table, true) => self.each(lop3(table, combine)),
            },
            ComputeOp::Compare {
                compare,
                ty: ty @ (Type::S32 | Type::U32),
                combine: BoolOp::And,
                flush: false,
                result: None,
                part: ComparePart::Whole,
            } => match ty {
                Type::S32 => self.each(ComputeOp::compare(compare, Type::S32, BoolOp::And, false)),
                _ => self.each(ComputeOp::compare(compare, Type::U32, BoolOp::And, false)),
            },
            _ => return None,
        })
    }
}

fn results<const COUNT: usize>(compute: &Compute, view: &View<'_>, mask: u32) -> Results<COUNT> {
    let modifiers = Modifiers::of(compute.op);
    let [a, b, c, d] = &compute.sources;
    let operands = Operands {
        a: &load(view, a, modifiers),
        b: &load(view, b, modifiers),
        c: &load(view, c, modifiers),
        p: compute.p.map(|p| view.pred(p)),
        carries: [a, b, c].iter().filter(|s| modifiers == Modifiers::Carry && s.negate).count() as u64,
    };
    let wants_preds = compute.pred_dst.iter().any(|pred| !pred.is_true());
    let common = operands.common(compute.op, wants_preds);
    common.unwrap_or_else(|| operands.of_any(compute.op, mask, &load(view, d, modifiers)))
}

pub(crate) fn execute(compute: &Compute, warp: &mut Warp, index: usize, mask: u32, constants: &ConstantBank) {
    if mask == 0 {
        return;
    }
    let view = warp.view(index, constants);
    let (mask, preds) = match compute.path {
        Path::Vector => {
            let Results { low, high, preds } = results::<LANES>(compute, &view, mask);
            let dst = Reg(compute.dst);
            warp.registers.set(dst, mask, &low);
            if compute.wide {
                warp.registers.set(dst.plus(1), mask, &high);
            }
            (mask, preds)
        }
        Path::Uniform => {
            let Results { low: [low], high: [high], preds } = results(compute, &view, 1);
            let dst = UReg(compute.dst as u8);
            let uniform = &mut warp.splits[index].uniform;
            uniform.set(dst, low);
            if compute.wide {
                uniform.set(dst.plus(1), high);
            }
            (1, preds)
        }
    };
    for (pred, values) in compute.pred_dst.into_iter().zip(preds) {
        warp.set_pred(index, pred, mask, values);
    }
}
