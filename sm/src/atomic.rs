//! Atomics on global memory, one lane at a time.

use crate::{float, half};
use atoms_isa::{FloatMode, GlobalOp, HalfLimit, HalfMode, Rounding, WideOp};
use atoms_ops::{Op, Size};

/// The new value of a word, from the old one (spec 3); `None` leaves it alone.
pub(crate) fn apply(op: GlobalOp, size: Size, old: u128, b: u128, c: u128) -> Option<u128> {
    let (old32, b32) = (old as u32, b as u32);
    match op {
        GlobalOp::Load => None,
        GlobalOp::Store => Some(b),
        GlobalOp::Wide(op) => Some(wide(op, old, b)),
        GlobalOp::Atomic(op) => match op {
            Op::Add => Some(u128::from(old32.wrapping_add(b32))),
            Op::Min if size.signed() => Some(u128::from((old32 as i32).min(b32 as i32) as u32)),
            Op::Min => Some(u128::from(old32.min(b32))),
            Op::Max if size.signed() => Some(u128::from((old32 as i32).max(b32 as i32) as u32)),
            Op::Max => Some(u128::from(old32.max(b32))),
            Op::Inc => Some(u128::from(if old32 >= b32 { 0 } else { old32 + 1 })),
            Op::Dec => Some(u128::from(if old32 == 0 || old32 > b32 { b32 } else { old32 - 1 })),
            Op::And => Some(old & b),
            Op::Or => Some(old | b),
            Op::Xor => Some(old ^ b),
            Op::Exch | Op::Store => Some(b),
            Op::Cas | Op::Cast | Op::CastSpin => (old == b).then_some(c),
            Op::PopcInc => Some(u128::from(old32.wrapping_add(1))),
            Op::Load => None,
            // For shared memory alone; the core has refused them.
            Op::MbarInit
            | Op::MbarInval
            | Op::MbarExpectTx
            | Op::MbarCompleteTx
            | Op::MbarArrive
            | Op::MbarArriveCount
            | Op::MbarArriveExpectTx
            | Op::MbarArriveNoComplete
            | Op::MbarArriveDrop
            | Op::MbarArriveDropCount
            | Op::MbarArriveDropExpectTx
            | Op::MbarArriveDropNoComplete
            | Op::MbarTestWait
            | Op::MbarTryWait
            | Op::MbarArriveSm80 => None,
        },
    }
}

/// The new value, where the shared-memory unit has no such operation.
fn wide(op: WideOp, old: u128, b: u128) -> u128 {
    let (old64, b64) = (old as u64, b as u64);
    let [old32, b32] = [old as u32, b as u32];
    match op {
        WideOp::AddF32 { flush } => {
            let mode = FloatMode { flush, ..FloatMode::PLAIN };
            u128::from(float::add(mode, f32::from_bits(old32), f32::from_bits(b32)).to_bits())
        }
        WideOp::AddF64 => u128::from(float::add64(Rounding::Nearest, old64, b64)),
        WideOp::AddHalves(format) => {
            let mode = HalfMode { format, single: false, flush: false, limit: HalfLimit::None };
            u128::from(half::add(mode, old32, b32))
        }
        WideOp::MinHalves(format) => u128::from(half::min_max(format, true, false, old32, b32)),
        WideOp::MaxHalves(format) => u128::from(half::min_max(format, false, false, old32, b32)),
        WideOp::Add64 => u128::from(old64.wrapping_add(b64)),
        WideOp::MinU64 => u128::from(old64.min(b64)),
        WideOp::MinS64 => u128::from((old64 as i64).min(b64 as i64) as u64),
        WideOp::MaxU64 => u128::from(old64.max(b64)),
        WideOp::MaxS64 => u128::from((old64 as i64).max(b64 as i64) as u64),
        WideOp::And64 => u128::from(old64 & b64),
        WideOp::Or64 => u128::from(old64 | b64),
        WideOp::Xor64 => u128::from(old64 ^ b64),
        WideOp::Inc64 => u128::from(if old64 >= b64 { 0 } else { old64 + 1 }),
        WideOp::Dec64 => u128::from(if old64 == 0 || old64 > b64 { b64 } else { old64 - 1 }),
    }
}
