//! Warps on the core by slot, with the first cycle in which each can issue.

use crate::warp::{Busy, Warp};
use std::ops::{Deref, Index, IndexMut};

pub(super) type Slot = Option<Box<Warp>>;

/// Warps by slot, at most 64.
///
/// The search for a ready warp runs several times per cycle, so its inputs are cached beside the warps. A
/// mutable borrow of a warp marks its cache entry as stale.
pub(super) struct Slots {
    warps: Vec<Slot>,
    own: Vec<u64>,
    /// First cycle in which the warp can issue. `u64::MAX` if another event must happen first.
    due: Vec<u64>,
    /// Bit masks of the slots whose `due` has been reached (`ready`) and of those with a later `due`
    /// (`later`); earliest cycle among the later ones (`next`).
    ready: u64,
    later: u64,
    next: u64,
    /// Bit mask of the slots whose warp can issue at a known cycle (`due`), or waits for a response.
    moving: u64,
    /// Bit mask of the slots whose cache entries must be recomputed.
    stale: u64,
}

impl Slots {
    /// Makes `count` empty slots, assigned to the schedulers round robin.
    pub(super) fn new(count: usize, schedulers: usize) -> Slots {
        let own = |first| (first..count).step_by(schedulers).fold(0, |own, slot| own | 1 << slot);
        Slots {
            warps: (0..count).map(|_| None).collect(),
            own: (0..schedulers).map(own).collect(),
            due: vec![u64::MAX; count],
            ready: 0,
            later: 0,
            next: u64::MAX,
            moving: 0,
            stale: 0,
        }
    }

    /// Returns the next ready slot of `scheduler` after `last`, round robin. `cycle` must not decrease
    /// between calls.
    pub(super) fn next_due(&mut self, scheduler: usize, last: Option<usize>, cycle: u64) -> Option<usize> {
        let ready = self.ready(cycle) & self.own[scheduler];
        let after = ready & last.map_or(u64::MAX, |last| (!1_u64).unbounded_shl(last as u32));
        let slots = if after != 0 { after } else { ready };
        (slots != 0).then(|| slots.trailing_zeros() as usize)
    }

    /// Bit mask of the ready slots. `cycle` must not decrease between calls.
    pub(super) fn ready(&mut self, cycle: u64) -> u64 {
        if self.stale != 0 {
            self.refresh(cycle);
        }
        if self.next <= cycle {
            self.next = u64::MAX;
            let later = std::mem::take(&mut self.later);
            slots(later).for_each(|slot| self.sort(slot, cycle));
        }
        self.ready
    }

    /// True if no warp can ever issue again, and none waits for a response.
    pub(super) fn stand_still(&mut self, cycle: u64) -> bool {
        self.refresh(cycle);
        self.moving == 0
    }

    /// Returns the warp in a slot; `None` if the slot is empty or does not exist.
    pub(super) fn warp_mut(&mut self, slot: usize) -> Option<&mut Warp> {
        let warp = self.warps.get_mut(slot)?.as_deref_mut()?;
        self.stale |= 1 << slot;
        Some(warp)
    }

    fn refresh(&mut self, cycle: u64) {
        let stale = std::mem::take(&mut self.stale);
        self.ready &= !stale;
        self.later &= !stale;
        self.moving &= !stale;
        for slot in slots(stale) {
            let Some(warp) = self.warps[slot].as_deref() else { continue };
            let waits = warp.busy != Busy::No && !warp.splits.is_empty();
            self.due[slot] = warp.due();
            self.moving |= u64::from(waits || self.due[slot] != u64::MAX) << slot;
            self.sort(slot, cycle);
        }
    }

    /// Puts a slot into `ready` or `later`, by its `due`.
    fn sort(&mut self, slot: usize, cycle: u64) {
        let due = self.due[slot];
        if due <= cycle {
            self.ready |= 1 << slot;
        } else if due != u64::MAX {
            self.later |= 1 << slot;
            self.next = self.next.min(due);
        }
    }
}

pub(super) fn slots(set: u64) -> impl Iterator<Item = usize> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let slot = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(slot)
    })
}

impl Deref for Slots {
    type Target = [Slot];

    fn deref(&self) -> &[Slot] {
        &self.warps
    }
}

impl Index<usize> for Slots {
    type Output = Slot;

    fn index(&self, slot: usize) -> &Slot {
        &self.warps[slot]
    }
}

impl IndexMut<usize> for Slots {
    fn index_mut(&mut self, slot: usize) -> &mut Slot {
        self.stale |= 1 << slot;
        &mut self.warps[slot]
    }
}
