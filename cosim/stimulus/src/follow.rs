//! What the next requests of random stimulus follow: the one before, or a purpose of several.

use atoms_ops::Op;

use super::profile::Spread;

/// The request before, where the next one may follow it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) op: Op,
    pub(super) slot: u8,
    pub(super) spread: Spread,
    /// First byte, offset in the allocation.
    pub(super) start: u32,
    pub(super) object: u32,
}

impl Default for Last {
    fn default() -> Self {
        Last { op: Op::Load, slot: 0, spread: Spread::SameWord, start: 0, object: 0 }
    }
}

/// What the next requests are to bring about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Follow {
    /// Nothing: they are drawn.
    Nothing,
    /// So many more are suspended at the first objects of a slot.
    Fill { slot: u8, left: u32, objects: u32 },
    /// Nothing is offered until this cycle; then a waiter is woken.
    Race { due: u64, wake: Wake },
    /// A volley: all places are filled, with limits that pass in one cycle.
    Volley(Volley),
    /// Phases are completed.
    Wake(Wake),
}

/// Waits whose limits all pass in one cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volley {
    pub(super) slot: u8,
    pub(super) object: u32,
    /// From this cycle on nothing else is inside.
    pub(super) from: u64,
    /// Cycle in which a completion is offered that meets the limits.
    pub(super) end: u64,
    /// Waits yet to be offered.
    pub(super) left: u32,
}

/// Phases of a slot's objects are completed, from one to before the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wake {
    pub(super) slot: u8,
    pub(super) object: u32,
    pub(super) last: u32,
    /// Requests for this object so far.
    pub(super) tries: u8,
    /// Through the cluster port.
    pub(super) cluster: bool,
}
