//! Computes one lane of an instruction.

use super::computed::Computed;
use super::format::{exact, flushed, truth};
use super::{bits, convert, float, int, ones};
use crate::memory::{in_window, to_generic};
use atoms_isa::{BoolOp, Compare, ComparePart, ComputeOp, FloatCompare, FloatType, Type};
use std::cmp::Ordering;

/// Computes the results of one lane. `carries` is the number of negated operands of an addition with carry;
/// each adds 1.
///
/// Always inlined, so that a constant `op` leaves only its own match arm.
#[inline(always)]
pub(super) fn compute(op: ComputeOp, [a, b, c, d]: [u64; 4], p: [bool; 3], carries: u64) -> Computed {
    let (a32, b32, c32) = (a as u32, b as u32, c as u32);
    let word = |value: u32| Computed::value(value.into());
    match op {
        ComputeOp::Move => Computed::value(a),
        ComputeOp::Select { ty, flush } => {
            let chosen = if p[0] { a } else { b };
            Computed::value(ty.as_float().map_or(chosen, |ty| flushed(ty, flush, chosen)))
        }
        ComputeOp::SelectBySign { ty, flush } => {
            let not_negative = match ty.as_float() {
                Some(float) => exact(float, flushed(float, flush, c & ones(ty.bits()))) >= 0.0,
                None => int::number(ty, c) >= 0,
            };
            Computed::value(if not_negative { a } else { b })
        }
        ComputeOp::Extract { shift, bits } => {
            Computed::value(a.checked_shr(shift.into()).unwrap_or(0) & ones(bits.into()))
        }
        ComputeOp::Concat { bits } => {
            let parts = [a, b, c, d].into_iter().enumerate();
            Computed::value(parts.fold(0, |all, (i, part)| {
                all | (part & ones(bits.into())).checked_shl(i as u32 * u32::from(bits)).unwrap_or(0)
            }))
        }
        ComputeOp::Int { op, ty, saturate, relu } => {
            int::int(op, ty, [saturate, relu], [a, b, c, d], p, carries)
        }
        ComputeOp::Lop3 { table, ty, combine } => {
            let value = bits::lop3(table, [a, b, c]) & ones(ty.bits());
            Computed::with(value, combined(combine, value != 0, p[0]))
        }
        ComputeOp::PredLogic { tables } => {
            let [x, y, z] = [p[0] || a != 0, p[1] || b != 0, p[2] || c != 0].map(u8::from);
            let at = x << 2 | y << 1 | z;
            Computed { value: 0, preds: tables.map(|t| t >> at & 1 != 0) }
        }
        ComputeOp::Lea { shift } => {
            let sum = u64::from(a32 << (shift & 31)) + u64::from(b32) + carries;
            Computed::with(sum & ones(32), sum >> 32 != 0)
        }
        ComputeOp::LeaHi { shift, sign_extend } => {
            let upper = if sign_extend { (a32 as i32 >> 31) as u32 } else { c32 };
            let whole = u64::from(upper) << 32 | u64::from(a32);
            let shifted = (whole >> (32 - u32::from(shift & 31))) as u32;
            let sum = u64::from(shifted) + u64::from(b32) + u64::from(p[0]);
            Computed::with(sum & ones(32), sum >> 32 != 0)
        }
        ComputeOp::Funnel { left, ty, high, wrap } => {
            word(bits::funnel(left, ty, high, wrap, [a32, b32, c32]))
        }
        ComputeOp::FindNth => word(bits::find_nth(a32, b32, c32 as i32)),
        ComputeOp::Mask { wrap } => word(bits::mask(wrap, a32, b32)),
        ComputeOp::Extend { signed, wrap } => {
            word(bits::extend(signed, if wrap { b32 & 31 } else { b32 }, a32))
        }
        ComputeOp::Dot { pieces, signed } => word(bits::dot(pieces, signed, a32, b32).wrapping_add(c32)),
        ComputeOp::Permute(mode) => word(bits::permute(mode, a32, b32, c32)),
        ComputeOp::Compare { compare, ty, combine, flush, result, part } => {
            compared(compare, (ty, flush), combine, result, part, [a, b], p)
        }
        ComputeOp::MinMaxTaken { min, combine } => {
            let [a, b] = [a, b].map(f64::from_bits);
            let first = match (a.is_nan(), b.is_nan()) {
                (true, _) => false,
                (false, true) => true,
                (false, false) => a.total_cmp(&b).is_lt() == min,
            };
            let both = a.is_nan() && b.is_nan();
            Computed { value: 0, preds: [combined(combine, first, p[0]), both] }
        }
        ComputeOp::Float { op, ty, mode, widen } => {
            Computed::value(float::float(op, ty, mode, widen, [a, b, c], p[0]))
        }
        ComputeOp::DivisionIsHard => Computed::with(0, float::division_is_hard(a32, b32)),
        ComputeOp::Mufu(function) => word(float::mufu(function, a32)),
        ComputeOp::Test { test, ty } => {
            let holds = float::test(test, ty, a);
            Computed::with(holds.into(), holds)
        }
        ComputeOp::Convert { from, to, mode, integral, nan_to_zero } => {
            Computed::value(convert::convert(from, to, mode, integral, nan_to_zero, a))
        }
        ComputeOp::Pack { half, mode } => Computed::value(convert::pack(half, mode, a, b)),
        ComputeOp::PackInt { bits, signed } => {
            let bits = u32::from(bits);
            let (least, most) =
                if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
            let piece = |word: u32| (word as i32).clamp(least, most) as u64 & ones(bits);
            let above = c32.checked_shl(2 * bits).unwrap_or(0);
            Computed::value(u64::from(above) | piece(a32) << bits | piece(b32))
        }
        ComputeOp::PackBytes { to, from, relu } => {
            Computed::value(convert::pack_bytes(to, from, relu, [a, b, c]))
        }
        ComputeOp::UnpackBytes { from, relu } => Computed::value(convert::unpack_bytes(from, relu, a)),
        ComputeOp::ToGeneric(window) => Computed::value(to_generic(window, a)),
        ComputeOp::InWindow(window) => {
            let holds = in_window(window, a, b32);
            Computed::with(holds.into(), holds)
        }
        ComputeOp::MapRank => Computed::value((a & !0xff00_0000) | (b & 0xff) << 24),
        ComputeOp::RankOf => Computed::value(a >> 24 & 0xff),
    }
}

#[inline(always)]
fn compared(
    how: FloatCompare,
    (ty, flush): (Type, bool),
    combine: BoolOp,
    result: Option<Type>,
    part: ComparePart,
    [a, b]: [u64; 2],
    p: [bool; 3],
) -> Computed {
    let with = |holds: bool| combined(combine, holds, p[0]);
    let float = ty.as_float();
    if let Some(half) = float.and_then(FloatType::half) {
        let both = [0, 16].map(|shift| compare(how, float::order(half, flush, a >> shift, b >> shift)));
        if part == ComparePart::BothHalves {
            let holds = both[0] && both[1];
            return Computed { value: 0, preds: [with(holds), with(!holds)] };
        }
        let preds = both.map(with);
        let word = |to: Type| truth(to, preds[0]) & ones(16) | (truth(to, preds[1]) & ones(16)) << 16;
        return Computed { value: result.map_or(preds[0].into(), word), preds };
    }
    let order = match float {
        Some(float) => float::order(float, flush, a, b),
        None => Some(int::number(ty, a).cmp(&int::number(ty, b))),
    };
    let always = matches!(how.compare, Compare::False | Compare::True);
    // If the high words are equal, the comparison of the low words decides.
    let low_decides = part == ComparePart::High && !always && order == Some(Ordering::Equal);
    let holds = if low_decides { p[1] } else { compare(how, order) };
    let preds = [with(holds), with(!holds)];
    Computed { value: result.map_or(preds[0].into(), |to| truth(to, preds[0])), preds }
}

/// Evaluates a comparison. `order` is `None` if an operand is a NaN.
#[inline(always)]
fn compare(how: FloatCompare, order: Option<Ordering>) -> bool {
    let Some(order) = order else {
        return how.unordered;
    };
    match how.compare {
        // `.NAN` is false for every ordered pair.
        Compare::False => false,
        Compare::Lt => order.is_lt(),
        Compare::Eq => order.is_eq(),
        Compare::Le => order.is_le(),
        Compare::Gt => order.is_gt(),
        Compare::Ne => order.is_ne(),
        Compare::Ge => order.is_ge(),
        Compare::True => true,
    }
}

fn combined(how: BoolOp, holds: bool, with: bool) -> bool {
    match how {
        BoolOp::And => holds && with,
        BoolOp::Or => holds || with,
        BoolOp::Xor => holds != with,
    }
}
