//! Atomics on global memory, one lane at a time.

use crate::float;
use atoms_isa::{GlobalOp, HalfFormat};
use atoms_ops::{Op, Size};

/// The new value of a word, from the old one (spec 3); `None` leaves it alone.
pub(crate) fn apply(op: GlobalOp, size: Size, old: u128, b: u128, c: u128) -> Option<u128> {
    let (old32, b32) = (old as u32, b as u32);
    match op {
        GlobalOp::Load => None,
        GlobalOp::Store => Some(b),
        GlobalOp::AddF32 => {
            let sum = float::add(float::flush(f32::from_bits(old32)), float::flush(f32::from_bits(b32)));
            Some(u128::from(float::flush(sum).to_bits()))
        }
        GlobalOp::AddF16x2 => Some(u128::from(float::halves_add(HalfFormat::F16, old32, b32))),
        GlobalOp::Add64 => Some(u128::from((old as u64).wrapping_add(b as u64))),
        GlobalOp::Min64 => Some(u128::from((old as u64).min(b as u64))),
        GlobalOp::Max64 => Some(u128::from((old as u64).max(b as u64))),
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
