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
    /// Answers a load that follows posted requests of the warp. The response shows that the posted requests
    /// are done.
    Flushed,
    /// The response holds the old word, which is written to a register.
    Old {
        dst: Reg,
    },
    /// The response states if the compare-and-store has stored, which is written to a register.
    Stored {
        dst: Reg,
    },
    /// 64-bit addition by a load and compare-and-store, repeated until the compare-and-store succeeds. The
    /// old value is written to a register.
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
