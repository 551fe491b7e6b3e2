//! Atomics on global memory, computed lane by lane.

use super::float::float;
use atoms_isa::{FloatMode, FloatOp, FloatType, GlobalOp, MinMax, WideOp};
use atoms_model::alu::{AluIn, alu};
use atoms_ops::{Op, Size};

/// Returns the new value of a word, or `None` if the operation does not store (spec 3). Values wider than 32
/// bits support only exchange, compare and [`WideOp`].
pub(crate) fn apply(op: GlobalOp, size: Size, old: u128, b: u128, c: u128) -> Option<u128> {
    match op {
        GlobalOp::Load => None,
        GlobalOp::Store | GlobalOp::Atomic(Op::Exch | Op::Store) => Some(b),
        GlobalOp::Wide(op) => Some(wide(op, size, old, b)),
        GlobalOp::Atomic(Op::Cas | Op::Cast | Op::CastSpin) => (old == b).then_some(c),
        GlobalOp::Atomic(op) => {
            let b = if op == Op::PopcInc { 1 } else { b as u32 };
            let word = AluIn { signed: size.signed(), old: old as u32, b, c: 0, hit: false };
            alu(op, word).map(u128::from)
        }
    }
}

/// Computes operations that the shared-memory unit does not have. Float vectors are computed element by
/// element.
fn wide(op: WideOp, size: Size, old: u128, b: u128) -> u128 {
    let (old64, b64) = (old as u64, b as u64);
    let of_floats = |op: FloatOp, ty: FloatType, flush: bool, min: bool| {
        let mode = FloatMode { flush, ..FloatMode::PLAIN };
        let bits = ty.bits().max(32);
        (0..8 * size.bytes()).step_by(bits as usize).fold(0, |new, at| {
            let word = |all: u128| (all >> at) as u64 & (u64::MAX >> (64 - bits));
            new | u128::from(float(op, ty, mode, false, [word(old), word(b), 0], min)) << at
        })
    };
    let extreme = FloatOp::MinMax(MinMax::default());
    match op {
        WideOp::AddF32 { flush } => of_floats(FloatOp::Add, FloatType::F32, flush, false),
        WideOp::AddF64 => of_floats(FloatOp::Add, FloatType::F64, false, false),
        WideOp::AddHalves(ty) => of_floats(FloatOp::Add, ty, false, false),
        WideOp::MinHalves(ty) => of_floats(extreme, ty, false, true),
        WideOp::MaxHalves(ty) => of_floats(extreme, ty, false, false),
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
