//! Vector clocks for the happens-before order.

use crate::warp::LANES;
use std::rc::Rc;

/// Row of a vector clock, with one time per lane: for the threads of a warp, or for the copies that they have
/// started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Row(pub(super) u64);

/// Vector clock: for each thread, the latest time of that thread known to have happened before; 0 if none.
///
/// Rows are sorted. Clocks are copied often and changed rarely, so threads that met at a barrier share one
/// copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    rows: Rc<Vec<(Row, [u32; LANES])>>,
}

impl Clock {
    pub(super) fn get(&self, row: Row, lane: u8) -> u32 {
        let found = self.rows.binary_search_by_key(&row, |(row, _)| *row);
        found.map_or(0, |at| self.rows[at].1[usize::from(lane) % LANES])
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

    /// True if this clock is at least `other` in every component.
    fn covers(&self, other: &Clock) -> bool {
        let mut own = self.rows.iter();
        other.rows.iter().all(|(row, times)| {
            let found = own.find(|(mine, _)| mine >= row).filter(|(mine, _)| mine == row);
            found.is_some_and(|(_, known)| known.iter().zip(times).all(|(a, b)| a >= b))
        })
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
    use super::{Clock, Row};

    fn clock(rows: &[(u64, u32, u32)]) -> Clock {
        let mut clock = Clock::default();
        rows.iter().for_each(|(row, mask, time)| clock.raise(Row(*row), *mask, *time));
        clock
    }

    #[test]
    fn a_join_knows_what_either_knew() {
        let one = clock(&[(1, 0b01, 5), (3, 0b11, 2), (9, 1, 1)]);
        let two = clock(&[(0, 1, 7), (3, 0b10, 4)]);
        for (mut joined, other) in [(one.clone(), &two), (two.clone(), &one)] {
            joined.join(other);
            let known = [(0, 0), (1, 0), (1, 1), (3, 0), (3, 1), (9, 0)].map(|(r, l)| joined.get(Row(r), l));
            assert_eq!(known, [7, 5, 0, 2, 4, 1]);
            assert!(joined.covers(&one) && joined.covers(&two));
        }
        assert!(!one.covers(&two) && !two.covers(&one));
    }

    #[test]
    fn a_clock_copied_is_not_changed_with_the_original() {
        let mut one = clock(&[(1, 1, 5)]);
        let copy = one.clone();
        one.raise(Row(1), 1, 6);
        assert_eq!((one.get(Row(1), 0), copy.get(Row(1), 0)), (6, 5));
    }
}
