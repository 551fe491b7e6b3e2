//! The warps on the core, by slot, and from which cycle on each can issue.

use crate::warp::{Busy, Warp};
use std::ops::{Deref, Index, IndexMut};

/// A warp, where there is one.
pub(super) type Slot = Option<Box<Warp>>;

/// Warps by slot, of which there are at most 64.
///
/// A warp that can issue is searched for several times in every cycle, so that what the search asks for is kept
/// beside the warps. Borrowing a warp mutably makes it stale.
pub(super) struct Slots {
    warps: Vec<Slot>,
    /// Per scheduler, its slots.
    own: Vec<u64>,
    /// First cycle in which an instruction can be issued; the end of time where something else must happen
    /// first.
    due: Vec<u64>,
    /// Slots whose `due` has come, those whose `due` will, and the first cycle in which that of one does.
    ready: u64,
    later: u64,
    next: u64,
    /// Slots whose warp can issue some time, or waits for an answer.
    moving: u64,
    /// Slots of which all that is to be found again.
    stale: u64,
}

impl Slots {
    /// `count` slots without a warp, dealt out to the schedulers in turn.
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

    /// The first slot after `last`, in a circle over those of `scheduler`, whose warp can issue. Cycles come in order.
    pub(super) fn next_due(&mut self, scheduler: usize, last: Option<usize>, cycle: u64) -> Option<usize> {
        if self.stale != 0 {
            self.refresh(cycle);
        }
        if self.next <= cycle {
            self.next = u64::MAX;
            let later = std::mem::take(&mut self.later);
            slots(later).for_each(|slot| self.sort(slot, cycle));
        }
        let ready = self.ready & self.own[scheduler];
        let after = ready & last.map_or(u64::MAX, |last| (!1_u64).unbounded_shl(last as u32));
        let slots = if after != 0 { after } else { ready };
        (slots != 0).then(|| slots.trailing_zeros() as usize)
    }

    /// No warp can issue, ever, and none waits for an answer.
    pub(super) fn stand_still(&mut self, cycle: u64) -> bool {
        self.refresh(cycle);
        self.moving == 0
    }

    /// The warp in a slot, if there is such a slot and one is in it.
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

    /// Notes of a slot whether its `due` has come or will.
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

/// Slots of a set, in order.
fn slots(set: u64) -> impl Iterator<Item = usize> {
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
