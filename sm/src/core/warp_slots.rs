//! The warps on the core, by slot, and from which cycle on each can issue.

use crate::warp::Warp;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// A warp, where there is one.
pub(super) type Slot = Option<Box<Warp>>;

/// Warps by slot, of which there are at most 64.
///
/// The search for a warp that can issue runs over all slots in every cycle, so that what it asks for is kept
/// beside the warps. Borrowing a warp mutably makes it stale.
pub(super) struct Slots {
    warps: Vec<Slot>,
    /// First cycle in which an instruction can be issued; the end of time where something else must happen
    /// first.
    due: Vec<u64>,
    /// Slots whose `due` is to be found again.
    stale: u64,
}

impl Slots {
    /// `count` slots without a warp.
    pub(super) fn new(count: usize) -> Slots {
        Slots { warps: (0..count).map(|_| None).collect(), due: vec![u64::MAX; count], stale: 0 }
    }

    /// The first slot after `last`, in a circle over every `step`th from `first` on, whose warp can issue.
    pub(super) fn next_due(
        &mut self,
        first: usize,
        step: usize,
        last: Option<usize>,
        cycle: u64,
    ) -> Option<usize> {
        self.refresh();
        let ready = |slot: &usize| self.due[*slot] <= cycle;
        let own = (first..self.due.len()).step_by(step);
        let mut lowest = None;
        for slot in own.filter(ready) {
            if last.is_none_or(|last| slot > last) {
                return Some(slot);
            }
            lowest = lowest.or(Some(slot));
        }
        lowest
    }

    /// The warp in a slot, if there is such a slot and one is in it.
    pub(super) fn warp_mut(&mut self, slot: usize) -> Option<&mut Warp> {
        let warp = self.warps.get_mut(slot)?.as_deref_mut()?;
        self.stale |= 1 << slot;
        Some(warp)
    }

    fn refresh(&mut self) {
        while self.stale != 0 {
            let slot = self.stale.trailing_zeros() as usize;
            self.stale &= self.stale - 1;
            if let Some(warp) = self.warps.get(slot) {
                self.due[slot] = warp.as_deref().map_or(u64::MAX, Warp::due);
            }
        }
    }
}

impl Deref for Slots {
    type Target = [Slot];

    fn deref(&self) -> &[Slot] {
        &self.warps
    }
}

impl DerefMut for Slots {
    fn deref_mut(&mut self) -> &mut [Slot] {
        self.stale = u64::MAX;
        &mut self.warps
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
