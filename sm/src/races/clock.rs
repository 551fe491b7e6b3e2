//! Vector clocks for the happens-before order.

use crate::observer::Memory;
use crate::warp::LANES;
use atoms_isa::ProxySpace;
use std::rc::Rc;

/// Events of a warp that have times of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Events {
    /// Accesses of threads.
    Threads,
    /// Copies of `cp.async`, which groups wait for.
    Groups,
    /// Bulk copies that groups wait for.
    BulkGroups,
    /// Writes to global memory of the copies of [`Events::BulkGroups`]: a wait until the source has been read does
    /// not cover them.
    Published,
    /// Other copies. Each row has 32 of them.
    Copies(u16),
    /// Initializations of mbarrier objects that `fence.mbarrier_init` publishes.
    Inits,
    /// Accesses to shared memory of the own CTA that `fence.release.sync_restrict::shared::cta` publishes.
    OwnShared,
    /// Start of the CTA.
    Started,
}

/// Proxy fence, identified by the instruction and the CTA that executed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ProxyFence {
    pub(super) pc: u32,
    pub(super) cta: u32,
    pub(super) space: ProxySpace,
}

impl ProxyFence {
    /// True if the fence orders accesses to this memory.
    fn covers(&self, memory: Memory) -> bool {
        (memory == Memory::Global) == (self.space == ProxySpace::Global) || self.space == ProxySpace::All
    }
}

/// Row of a vector clock, with one time per lane of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Row {
    pub(super) cta: u32,
    pub(super) warp: u32,
    pub(super) events: Events,
    /// With a fence, the times are those of the events that the fence has ordered before the async proxy.
    pub(super) fence: Option<ProxyFence>,
}

impl Row {
    pub(super) fn new(cta: u32, warp: u32, events: Events) -> Row {
        Row { cta, warp, events, fence: None }
    }
}

/// Vector clock: for each thread, the latest time of that thread known to have happened before; 0 if none.
///
/// Rows are sorted. Clocks are copied often and changed rarely, so threads that met at a barrier share one
/// copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    rows: Rc<Vec<(Row, [u32; LANES])>>,
}

impl Clock {
    /// Times of the lanes of a row. `None` if no event of the row is known.
    pub(super) fn times(&self, row: Row) -> Option<&[u32; LANES]> {
        let found = self.rows.binary_search_by_key(&row, |(row, _)| *row);
        found.ok().map(|at| &self.rows[at].1)
    }

    pub(super) fn get(&self, row: Row, lane: u8) -> u32 {
        self.times(row).map_or(0, |times| times[usize::from(lane) % LANES])
    }

    /// True if the clock has an event of a CTA, which then has started.
    pub(super) fn knows(&self, cta: u32) -> bool {
        let first = self.rows.partition_point(|(row, _)| row.cta < cta);
        self.rows.get(first).is_some_and(|(row, _)| row.cta == cta)
    }

    /// Raises the time of the lanes of `mask` to at least `time`.
    pub(super) fn raise(&mut self, row: Row, mask: u32, time: u32) {
        let rows = Rc::make_mut(&mut self.rows);
        let at = match rows.binary_search_by_key(&row, |(row, _)| *row) {
            Ok(at) => at,
            Err(at) => {
                rows.insert(at, (row, [0; LANES]));
                at
            }
        };
        for (lane, known) in rows[at].1.iter_mut().enumerate() {
            if mask >> lane & 1 != 0 {
                *known = time.max(*known);
            }
        }
    }

    /// Returns a clock with the times of this one, as those that `fence` has ordered.
    pub(super) fn fenced(&self, fence: ProxyFence) -> Clock {
        let events = self.rows.iter().filter(|(row, _)| row.fence.is_none());
        let rows = events.map(|(row, times)| (Row { fence: Some(fence), ..*row }, *times)).collect();
        Clock { rows: Rc::new(rows) }
    }

    /// Returns the fences that have ordered an event before accesses of the async proxy to this memory.
    pub(super) fn fences(
        &self,
        row: Row,
        lane: u8,
        time: u32,
        memory: Memory,
    ) -> impl Iterator<Item = ProxyFence> {
        let first = self.rows.partition_point(|(other, _)| *other <= row);
        let same =
            self.rows[first..].iter().take_while(move |(other, _)| Row { fence: None, ..*other } == row);
        let known = same.filter(move |(_, times)| times[usize::from(lane) % LANES] >= time);
        known.filter_map(|(row, _)| row.fence).filter(move |fence| fence.covers(memory))
    }

    /// True if this clock is at least `other` in every component.
    pub(super) fn covers(&self, other: &Clock) -> bool {
        let mut own = self.rows.iter();
        other.rows.iter().all(|(row, times)| {
            let found = own.find(|(mine, _)| mine >= row).filter(|(mine, _)| mine == row);
            found.is_some_and(|(_, known)| known.iter().zip(times).all(|(a, b)| a >= b))
        })
    }

    /// Takes the minimum with `other` in every component.
    pub(super) fn meet(&mut self, other: &Clock) {
        if Rc::ptr_eq(&self.rows, &other.rows) || other.covers(self) {
            return;
        }
        if self.covers(other) {
            self.rows = Rc::clone(&other.rows);
            return;
        }
        let rows = Rc::make_mut(&mut self.rows);
        rows.retain_mut(|(row, times)| {
            let known = other.times(*row);
            let both = |(time, known): (&mut u32, &u32)| *time = (*time).min(*known);
            known.map(|known| times.iter_mut().zip(known).for_each(both)).is_some()
        });
    }

    /// Events in the lanes of `mask`.
    pub(super) fn limited(&self, mask: u32) -> Clock {
        let mut clock = self.clone();
        for (_, times) in Rc::make_mut(&mut clock.rows) {
            let others = times.iter_mut().enumerate().filter(|(lane, _)| mask >> lane & 1 == 0);
            others.for_each(|(_, time)| *time = 0);
        }
        clock
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes the maximum with `other` in every component.
    pub(super) fn join(&mut self, other: &Clock) {
        if Rc::ptr_eq(&self.rows, &other.rows) || self.covers(other) {
            return;
        }
        if other.covers(self) {
            self.rows = Rc::clone(&other.rows);
            return;
        }
        let rows = Rc::make_mut(&mut self.rows);
        rows.extend_from_slice(&other.rows);
        // Stable sort merges two sorted runs in linear time.
        rows.sort_by_key(|(row, _)| *row);
        rows.dedup_by(|(row, times), (kept, known)| {
            let same = row == kept;
            if same {
                known.iter_mut().zip(times).for_each(|(known, time)| *known = (*known).max(*time));
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Events, Row};

    fn row(cta: u32) -> Row {
        Row::new(cta, 0, Events::Threads)
    }

    fn clock(rows: &[(u32, u32, u32)]) -> Clock {
        let mut clock = Clock::default();
        rows.iter().for_each(|(cta, mask, time)| clock.raise(row(*cta), *mask, *time));
        clock
    }

    #[test]
    fn a_join_knows_what_either_knew() {
        let one = clock(&[(1, 0b01, 5), (3, 0b11, 2), (9, 1, 1)]);
        let two = clock(&[(0, 1, 7), (3, 0b10, 4)]);
        for (mut joined, other) in [(one.clone(), &two), (two.clone(), &one)] {
            joined.join(other);
            let known = [(0, 0), (1, 0), (1, 1), (3, 0), (3, 1), (9, 0)].map(|(r, l)| joined.get(row(r), l));
            assert_eq!(known, [7, 5, 0, 2, 4, 1]);
            assert!(joined.covers(&one) && joined.covers(&two));
        }
        let mut met = one.clone();
        met.meet(&two);
        let known = [(0, 0), (1, 0), (3, 0), (3, 1), (9, 0)].map(|(r, l)| met.get(row(r), l));
        assert_eq!(known, [0, 0, 0, 2, 0]);
        assert_eq!([0, 1].map(|lane| one.limited(0b10).get(row(3), lane)), [0, 2]);
        assert!(!one.covers(&two) && !two.covers(&one));
    }

    #[test]
    fn a_clock_copied_is_not_changed_with_the_original() {
        let mut one = clock(&[(1, 1, 5)]);
        let copy = one.clone();
        one.raise(row(1), 1, 6);
        assert_eq!((one.get(row(1), 0), copy.get(row(1), 0)), (6, 5));
    }
}
