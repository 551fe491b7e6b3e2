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
    /// Suspend `left` more MBAR.TRY_WAITs at the first `objects` mbarrier objects of a CTA slot.
    Fill { slot: u8, left: u32, objects: u32 },
    /// Offer no request until cycle `due`, then wake a suspended request.
    Race { due: u64, wake: Wake },
    /// Fill all entries of the waiter table with MBAR.TRY_WAITs whose time limits end in the same cycle.
    Volley(Volley),
    /// Complete the phases of mbarrier objects, to wake the requests that wait for these phases.
    Wake(Wake),
}

/// MBAR.TRY_WAITs whose time limits all end in the same cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volley {
    pub(super) slot: u8,
    pub(super) object: u32,
    /// Cycle from which the unit has no other requests.
    pub(super) from: u64,
    /// Cycle in which the time limits end. The completion of the phase is offered in this cycle, or one cycle
    /// before or after.
    pub(super) end: u64,
    pub(super) left: u32,
}

/// mbarrier objects `object..last` of a CTA slot, whose phases the stimulus completes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wake {
    pub(super) slot: u8,
    pub(super) object: u32,
    pub(super) last: u32,
    pub(super) tries: u8,
    /// True if the cluster port completes the phases.
    pub(super) cluster: bool,
}
