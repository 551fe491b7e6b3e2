//! Requests at the cluster port, and their answers.

use crate::memory::SharedPlace;
use atoms_isa::Reg;
use atoms_ops::{Fault, Op, Size};

/// Origin of a request, which waits for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A lane of a warp, at this instruction.
    Lane { warp: usize, lane: u32, pc: u32 },
    /// A copy, by number.
    Copy(u64),
}

/// Use of the answer to a lane's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nothing.
    None,
    /// The request follows posted requests of the warp: its answer shows that they are done.
    Flushed,
    /// The word before goes to a register.
    Old { dst: Reg },
    /// Whether it stored goes to a register.
    Stored { dst: Reg },
    /// The operand is added to 64 bits by compare-and-store, until one has stored; what was there goes to a register.
    Add64 { operand: u64, dst: Reg },
}

/// One request at the cluster port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) op: Op,
    pub(crate) size: Size,
    pub(crate) place: SharedPlace,
    pub(crate) b: u128,
    pub(crate) c: u128,
    /// No result is wanted: posted. Never so for compare-and-stores.
    pub(crate) red: bool,
    pub(crate) origin: Origin,
    pub(crate) reply: Reply,
}

impl Transfer {
    /// A request without operands whose result is not wanted.
    pub(crate) fn posted(op: Op, size: Size, place: SharedPlace, origin: Origin) -> Transfer {
        Transfer { op, size, place, b: 0, c: 0, red: true, origin, reply: Reply::None }
    }
}

/// Answer to a request.
pub(crate) struct Answer {
    pub(crate) transfer: Transfer,
    pub(crate) fault: Fault,
    /// The word before, where it was wanted.
    pub(crate) old: u128,
    /// A compare-and-store stored.
    pub(crate) stored: bool,
}

impl Answer {
    /// Answer to a posted request, which exists when the request is taken.
    pub(crate) fn posted(transfer: Transfer) -> Answer {
        Answer { transfer, fault: Fault::None, old: 0, stored: false }
    }
}
