//! Read-modify-write kernel of one bank. Mirror of `rtl/atoms_alu.sv`, arm for arm.

use atoms_ops::{Op, OpKind, WordOp};

/// Inputs of the kernel. A field has the name of its RTL port without `_i`.
#[derive(Clone, Copy, Debug)]
pub struct AluIn {
    /// MIN and MAX compare as two's complement.
    pub signed: bool,
    /// Word read from the bank.
    pub old: u32,
    /// Operand B: addend, bound or new value. For coalesced lanes, their merged operand.
    pub b: u32,
    /// Operand C: the new value of CAS and CAST. For a store, the mask of the bits stored.
    pub c: u32,
    /// Every word of the access equals the same word of operand B.
    pub hit: bool,
}

/// Applies `op` to `i.old`. Returns the word to write; `None` if nothing is written. Also `None` for
/// operations on mbarrier objects, which are pairs of words ([`mbarrier`](crate::mbarrier)).
///
/// Cannot fail: every operation is defined for every word, modulo 2^32. Source: spec 3.
#[inline(always)] // the pipeline calls it with a constant `op` in a loop over the banks
pub fn alu(op: Op, i: AluIn) -> Option<u32> {
    let OpKind::Word(op) = op.kind() else { return None };
    match op {
        WordOp::Add | WordOp::PopcInc => Some(i.old.wrapping_add(i.b)),
        WordOp::Min if i.signed => Some((i.old as i32).min(i.b as i32) as u32),
        WordOp::Min => Some(i.old.min(i.b)),
        WordOp::Max if i.signed => Some((i.old as i32).max(i.b as i32) as u32),
        WordOp::Max => Some(i.old.max(i.b)),
        WordOp::Inc => Some(if i.old >= i.b { 0 } else { i.old + 1 }),
        WordOp::Dec => Some(if i.old == 0 || i.old > i.b { i.b } else { i.old - 1 }),
        WordOp::And => Some(i.old & i.b),
        WordOp::Or => Some(i.old | i.b),
        WordOp::Xor => Some(i.old ^ i.b),
        WordOp::Exch => Some(i.b),
        WordOp::Cas | WordOp::Cast | WordOp::CastSpin => i.hit.then_some(i.c),
        WordOp::Store => Some((i.old & !i.c) | (i.b & i.c)),
        WordOp::Load => None,
    }
}
