//! State that links successive requests of random stimulus.

use atoms_ops::Op;

use super::profile::Spread;

/// Previous request. The next request may reuse parts of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) op: Op,
    pub(super) slot: u8,
    pub(super) spread: Spread,
    /// First byte, as an offset in the allocation.
    pub(super) start: u32,
    pub(super) object: u32,
}

impl Default for Last {
    fn default() -> Self {
        Last { op: Op::Load, slot: 0, spread: Spread::SameWord, start: 0, object: 0 }
    }
}

/// Goal of the next requests.
#[derive(Clone, Copy, Debug)]
pub(super) enum Follow {
    /// No goal: requests are drawn freely.
    Nothing,
    /// Suspend `left` more requests at the first `objects` objects of a slot.
    Fill { slot: u8, left: u32, objects: u32 },
    /// Offer nothing until cycle `due`, then wake a waiter.
    Race { due: u64, wake: Wake },
    /// Fill all places of the waiter table, with limits that end in the same cycle.
    Volley(Volley),
    /// Complete the phases of objects, to wake their waiters.
    Wake(Wake),
}

/// Waits whose limits all end in the same cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volley {
    pub(super) slot: u8,
    pub(super) object: u32,
    /// Cycle from which the unit has no other requests.
    pub(super) from: u64,
    /// Cycle in which a completion is offered so that it meets the limits.
    pub(super) end: u64,
    pub(super) left: u32,
}

/// Objects of a slot whose phases are to be completed: from `object` to before `last`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wake {
    pub(super) slot: u8,
    pub(super) object: u32,
    pub(super) last: u32,
    pub(super) tries: u8,
    /// True if the cluster port completes the phases.
    pub(super) cluster: bool,
}
