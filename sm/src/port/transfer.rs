//! Requests at the cluster port, and their responses.

use crate::memory::SharedPlace;
use atoms_isa::Reg;
use atoms_ops::{Fault, Op, Size};

/// Origin of a request, to which the response is routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Lane { warp: usize, lane: u32, pc: u32 },
    Copy(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    None,
    /// The request follows posted requests of the warp. Its response shows that they are done.
    Flushed,
    /// Writes the old word to a register.
    Old {
        dst: Reg,
    },
    /// Writes to a register if the compare-and-store has stored.
    Stored {
        dst: Reg,
    },
    /// Adds the operand to 64 bits by compare-and-store, repeated until it stores. Writes the old value to a
    /// register.
    Add64 {
        operand: u64,
        dst: Reg,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) op: Op,
    pub(crate) size: Size,
    pub(crate) place: SharedPlace,
    pub(crate) b: u128,
    pub(crate) c: u128,
    /// True if posted: no result is needed. Always false for compare-and-store.
    pub(crate) red: bool,
    pub(crate) origin: Origin,
    pub(crate) reply: Reply,
}

impl Transfer {
    /// Posted request without operands.
    pub(crate) fn posted(op: Op, size: Size, place: SharedPlace, origin: Origin) -> Transfer {
        Transfer { op, size, place, b: 0, c: 0, red: true, origin, reply: Reply::None }
    }
}

pub(crate) struct Answer {
    pub(crate) transfer: Transfer,
    pub(crate) fault: Fault,
    /// Old word, if the request asked for it.
    pub(crate) old: u128,
    pub(crate) stored: bool,
}

impl Answer {
    /// Answer of a posted request, created when the port accepts the request.
    pub(crate) fn posted(transfer: Transfer) -> Answer {
        Answer { transfer, fault: Fault::None, old: 0, stored: false }
    }
}
