//! Compute instructions of PTX, lane by lane, as [PTX] says they are computed.
//!
//! Approximate functions (`rcp.approx`, `sin.approx`, ...) give the result rounded to nearest. [CHOSEN: the
//! GPU's are within a few units in the last place of it]

mod bits;
mod convert;
mod float;
mod int;

use crate::compute;
use crate::memory::ConstantBank;
use crate::memory::{CONSTANTS, LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH, SHARED_WINDOW_HIGH};
use crate::warp::{LANES, View, Warp, lanes};
use atoms_isa::ptx::Type;
use atoms_isa::{
    BitOp, BoolOp, Compute, ComputeInput, ComputeOp, ComputeOutput, IntOp, Pred, Source, Value, Window,
};

/// Bits of a value of this type, from the lowest.
pub(crate) const fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Whether integers of this type are signed.
pub(crate) const fn signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}

/// The integer of this type in the low bits of a register.
pub(crate) fn integer(ty: Type, bits: u64) -> i128 {
    crate::convert::integer(convert::size(ty), bits)
}

/// An operand, per lane.
fn load(view: &View<'_>, input: &ComputeInput) -> [u64; LANES] {
    match *input {
        ComputeInput::Word(reg) => view.reg(reg).map(u64::from),
        ComputeInput::Pair(reg) => view.pairs(&Source::plain(Value::Reg(reg))),
        ComputeInput::Imm(bits) => [bits; LANES],
        ComputeInput::Pred(pred) => {
            let holds = view.pred(pred);
            std::array::from_fn(|lane| u64::from(holds >> lane & 1))
        }
    }
}

/// Carries out the instruction for split `index`, in the lanes of `mask`.
pub(crate) fn execute(
    instruction: &Compute,
    warp: &mut Warp,
    index: usize,
    mask: u32,
    constants: &ConstantBank,
) {
    if mask == 0 {
        return;
    }
    let view = warp.view(index, constants);
    let mut low = [0; LANES];
    let mut high = [0; LANES];
    let mut preds = [0_u32; 2];
    if let ComputeOutput::Pred(dst) = instruction.dst
        && let ComputeOp::Bits { op, .. } = instruction.op
        && let [ComputeInput::Pred(a), ComputeInput::Pred(b), ..] = instruction.inputs
    {
        let value = logic(op, view.pred(a), view.pred(b));
        warp.set_pred(index, Pred::Thread(dst), mask, value);
        return;
    }
    let [a, b, c, d] = instruction.inputs.each_ref().map(|input| load(&view, input));
    if !words(instruction.op, [&a, &b, &c], &mut low) {
        for lane in lanes(mask) {
            let (value, second) = lane_result(instruction.op, [a[lane], b[lane], c[lane], d[lane]]);
            low[lane] = value as u32;
            high[lane] = (value >> 32) as u32;
            preds[0] |= (value as u32 & 1) << lane;
            preds[1] |= u32::from(second) << lane;
        }
    }
    match instruction.dst {
        ComputeOutput::None => {}
        ComputeOutput::Word(reg) => warp.registers.set(reg, mask, &low),
        ComputeOutput::Pair(reg) => {
            warp.registers.set(reg, mask, &low);
            warp.registers.set(reg.plus(1), mask, &high);
        }
        ComputeOutput::Pred(number) => warp.set_pred(index, Pred::Thread(number), mask, preds[0]),
    }
    if let Some(number) = instruction.second {
        warp.set_pred(index, Pred::Thread(number), mask, preds[1]);
    }
}

/// Predicates combined for all lanes at once.
fn logic(op: BitOp, a: u32, b: u32) -> u32 {
    match op {
        BitOp::And => a & b,
        BitOp::Or => a | b,
        BitOp::Xor => a ^ b,
        BitOp::Not | BitOp::Cnot => !a,
    }
}

/// The commonest operations on 32 bits, for all lanes at once; `false` if this is none of them.
///
/// A result wider than 32 bits or a second one is never asked of them.
fn words(op: ComputeOp, [a, b, c]: [&[u64; LANES]; 3], low: &mut [u32; LANES]) -> bool {
    let each = |low: &mut [u32; LANES], f: fn(u32, u32, u32) -> u32| {
        for (lane, to) in low.iter_mut().enumerate() {
            *to = f(a[lane] as u32, b[lane] as u32, c[lane] as u32);
        }
        true
    };
    let word = |ty: Type| matches!(ty, Type::B32 | Type::U32 | Type::S32);
    match op {
        ComputeOp::Int { op, ty, saturate: false } if word(ty) => match op {
            IntOp::Add => each(low, |a, b, _| a.wrapping_add(b)),
            IntOp::Sub => each(low, |a, b, _| a.wrapping_sub(b)),
            IntOp::Mul(atoms_isa::Part::Low) => each(low, |a, b, _| a.wrapping_mul(b)),
            IntOp::Mad(atoms_isa::Part::Low) => each(low, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
            IntOp::Shl => each(low, |a, b, _| a.checked_shl(b).unwrap_or(0)),
            _ => false,
        },
        ComputeOp::Bits { op, ty } if word(ty) => match op {
            BitOp::And => each(low, |a, b, _| a & b),
            BitOp::Or => each(low, |a, b, _| a | b),
            BitOp::Xor => each(low, |a, b, _| a ^ b),
            BitOp::Not => each(low, |a, _, _| !a),
            BitOp::Cnot => false,
        },
        _ => false,
    }
}

fn combined(how: BoolOp, holds: bool, with: u64) -> bool {
    let with = with & 1 != 0;
    match how {
        BoolOp::And => holds && with,
        BoolOp::Or => holds || with,
        BoolOp::Xor => holds != with,
    }
}

/// One lane: the result, and the second one.
fn lane_result(op: ComputeOp, [a, b, c, d]: [u64; 4]) -> (u64, bool) {
    let value = match op {
        ComputeOp::Move => a,
        ComputeOp::Extract { shift, bits } => a.checked_shr(shift.into()).unwrap_or(0) & ones(bits.into()),
        ComputeOp::Concat { bits } => {
            let parts = [a, b, c, d].into_iter().enumerate();
            parts.fold(0, |all, (i, part)| {
                all | (part & ones(bits.into())).checked_shl(i as u32 * u32::from(bits)).unwrap_or(0)
            })
        }
        ComputeOp::Int { op, ty, saturate } => int::int(op, ty, saturate, [a, b, c, d]),
        ComputeOp::Carry { op, ty } => return int::carry(op, ty, [a, b, c, d]),
        ComputeOp::Bits { op, ty } => {
            let mask = ones(ty.bits());
            match op {
                BitOp::And => a & b & mask,
                BitOp::Or => (a | b) & mask,
                BitOp::Xor => (a ^ b) & mask,
                BitOp::Not => !a & mask,
                BitOp::Cnot => u64::from(a & mask == 0),
            }
        }
        ComputeOp::Lop3 { table, combine } => {
            let word = compute::lop3(table, a as u32, b as u32, c as u32);
            return (word.into(), combined(combine, word != 0, d));
        }
        ComputeOp::Funnel { left, wrap } => bits::funnel(left, wrap, a as u32, b as u32, c as u32).into(),
        ComputeOp::FindNth => bits::find_nth(a as u32, b as u32, c as i32).into(),
        ComputeOp::Mask { wrap } => bits::mask(wrap, a as u32, b as u32).into(),
        ComputeOp::Extend { signed, wrap } => bits::extend(signed, wrap, a as u32, b as u32).into(),
        ComputeOp::Dot4 { signed } => bits::dot4(signed, a as u32, b as u32, c as u32).into(),
        ComputeOp::Dot2 { signed, high } => bits::dot2(signed, high, a as u32, b as u32, c as u32).into(),
        ComputeOp::Permute(mode) => compute::permute(mode, a as u32, c as u32, b as u32).into(),
        ComputeOp::Select => {
            if c & 1 != 0 {
                a
            } else {
                b
            }
        }
        ComputeOp::SelectBySign { ty, flush } => {
            let not_negative = match ty {
                Type::F32 => crate::float::flush_if(flush, f32::from_bits(c as u32)) >= 0.0,
                _ => integer(ty, c) >= 0,
            };
            if not_negative { a } else { b }
        }
        ComputeOp::Compare { compare, ty, combine, flush, result } => {
            let holds = |shift: u32, ty: Type| {
                let (a, b) = (a >> shift, b >> shift);
                if float::is_float(ty) {
                    float::compare(compare, ty, flush, a, b)
                } else {
                    crate::float::compare(compare, Some(integer(ty, a).cmp(&integer(ty, b))))
                }
            };
            // Of a packed type the second result is that of the high half.
            if let Some(half) = float::half_of(ty) {
                let both = [holds(0, half), holds(16, half)].map(|holds| combined(combine, holds, c));
                return match result {
                    None => (both[0].into(), both[1]),
                    Some(to) => (float::truth(to, both[0]) | float::truth(to, both[1]) << 16, false),
                };
            }
            let holds = holds(0, ty);
            let (first, second) = (combined(combine, holds, c), combined(combine, !holds, c));
            return (result.map_or(first.into(), |to| float::truth(to, first)), second);
        }
        ComputeOp::Float { op, ty, rounding, flush, saturate, relu } => {
            let after = float::After { flush, saturate, relu };
            float::float(op, ty, rounding, after, [a, b, c])
        }
        ComputeOp::Test { test, ty } => float::test(test, ty, a).into(),
        ComputeOp::Convert { from, to, rounding, integral, flush, saturate, relu } => {
            let after = float::After { flush, saturate, relu };
            convert::convert(from, to, rounding, integral, after, a)
        }
        ComputeOp::Pack { to, rounding, relu } => {
            let after = float::After { flush: false, saturate: false, relu };
            let half = float::half_of(to).unwrap_or(Type::F16);
            let [high, low] = [a, b].map(|v| convert::convert(Type::F32, half, rounding, false, after, v));
            high << 16 | low
        }
        ComputeOp::ToGeneric(window) => to_generic(window, a),
        ComputeOp::InWindow(window) => {
            // The rank of the own CTA is operand `b`.
            in_window(window, a, b as u32).into()
        }
        ComputeOp::MapRank => (a & !0xff00_0000) | (b & 0xff) << 24,
        ComputeOp::RankOf => a >> 24 & 0xff,
    };
    (value, false)
}

/// Whether a generic address names this memory; `rank` is that of the own CTA.
pub(crate) fn in_window(window: Window, address: u64, rank: u32) -> bool {
    let high = (address >> 32) as u32;
    match window {
        Window::SharedCta => high == SHARED_WINDOW_HIGH && (address as u32) >> 24 == rank,
        Window::SharedCluster => high == SHARED_WINDOW_HIGH,
        Window::Local => high == LOCAL_WINDOW_HIGH,
        Window::Param => high == PARAM_WINDOW_HIGH,
        Window::Const => CONSTANTS.contains(&address),
        Window::Global => {
            let other = [SHARED_WINDOW_HIGH, LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH].contains(&high);
            !other && !CONSTANTS.contains(&address)
        }
    }
}

fn to_generic(window: Window, address: u64) -> u64 {
    let of = |high: u32| u64::from(high) << 32 | address & 0xffff_ffff;
    match window {
        Window::SharedCta | Window::SharedCluster => of(SHARED_WINDOW_HIGH),
        Window::Local => of(LOCAL_WINDOW_HIGH),
        Window::Param => of(PARAM_WINDOW_HIGH),
        Window::Const | Window::Global => address,
    }
}
