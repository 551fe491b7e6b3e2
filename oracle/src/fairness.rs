//! Checks that CAST.SPIN eventually selects every lane that keeps competing (spec 5.4).
//!
//! A recording does not show the selected lane of a group. It often shows lanes that were not selected: a
//! lane next to one that stored, or a lane that got 0 although its comparison would have matched. The check
//! counts such requests per lane and group, and compares the counts with the two bounds of the clause. If
//! every request since reset is known, the priority lane is known too.

use std::collections::HashMap;

use crate::lanes::lanes_of;
use crate::request::MAX_LANES;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fairness {
    /// `SpinHold` and the number of lanes. `None`: fairness is not judged.
    shape: Option<(u64, u64)>,
    groups: HashMap<u32, Group>,
}

/// One group, identified by the bank of its first word.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    requests: u64,
    lanes: [Passed; MAX_LANES],
}

/// Requests to the group in which a lane competed and was certainly not selected, numbered from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Passed {
    /// The last such request; 0 if there is none.
    last: u64,
    /// Start of the unbroken series of such requests that ends with `last`.
    in_each_since: u64,
    /// Start of the series up to `last` in which fewer than `SpinHold` requests lie between two such
    /// requests.
    now_and_then_since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfair {
    pub(crate) lane: u8,
    /// Number of successive requests to the group, from the first to the last in which the lane competed.
    pub(crate) requests: u64,
    /// True if the lane competed in each of them. False if it competed in at least one of any `SpinHold`.
    pub(crate) in_each: bool,
    pub(crate) spin_hold: u64,
}

impl Fairness {
    pub(crate) fn set_spin_hold(&mut self, spin_hold: u64, lanes: u32) {
        self.shape = Some((spin_hold, lanes.into()));
    }

    pub(crate) fn reset(&mut self) {
        self.groups.clear();
    }

    /// Priority lane of a group in the next request to the group. Requires that every request since reset was
    /// recorded.
    pub(crate) fn priority_lane(&self, group: u32) -> Option<u64> {
        let (spin_hold, lanes) = self.shape?;
        let requests = self.groups.get(&group).map_or(0, |group| group.requests);
        let counter = requests % (2 * spin_hold * lanes);
        Some(if (counter / spin_hold).is_multiple_of(2) {
            counter % lanes
        } else {
            counter / (2 * spin_hold)
        })
    }

    /// Records a request to a group in which the lanes of `passed` were certainly not selected.
    pub(crate) fn request(&mut self, group: u32, passed: u32) -> Result<(), Unfair> {
        let Some((spin_hold, lanes)) = self.shape else { return Ok(()) };
        let new = || Group { requests: 0, lanes: [Passed::default(); MAX_LANES] };
        let group = self.groups.entry(group).or_insert_with(new);
        group.requests += 1;
        let now = group.requests;
        let mut verdict = Ok(());
        for lane in lanes_of(passed) {
            let asked = &mut group.lanes[lane];
            let unfair =
                |since, in_each| Unfair { lane: lane as u8, requests: now + 1 - since, in_each, spin_hold };
            if asked.last == 0 || now - asked.last > 1 {
                asked.in_each_since = now;
            }
            if asked.last == 0 || now - asked.last > spin_hold {
                asked.now_and_then_since = now;
            }
            asked.last = now;
            if now + 1 - asked.in_each_since >= spin_hold + lanes {
                verdict = verdict.and(Err(unfair(asked.in_each_since, true)));
            } else if now + 1 - asked.now_and_then_since >= 2 * spin_hold * lanes {
                verdict = verdict.and(Err(unfair(asked.now_and_then_since, false)));
            }
            if verdict.is_err() {
                // Do not reject the same lane again with the next request.
                asked.last = 0;
            }
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies requests, given by the masks of passed lanes. Returns the number of the first rejected one.
    fn rejected(passed: impl IntoIterator<Item = u32>) -> Option<(usize, Unfair)> {
        let mut fairness = Fairness::default();
        fairness.set_spin_hold(4, 4);
        let mut passed = (1..).zip(passed);
        passed.find_map(|(number, lanes)| Some((number, fairness.request(6, lanes).err()?)))
    }

    #[test]
    fn a_lane_that_asks_in_each_request_is_selected_within_hold_and_lanes() {
        assert_eq!(rejected([2; 7]), None);
        let unfair = Unfair { lane: 1, requests: 8, in_each: true, spin_hold: 4 };
        assert_eq!(rejected([2; 8]), Some((8, unfair)));
        assert_eq!(rejected([2; 7].into_iter().chain([0]).chain([2; 7])), None, "selected in between");
    }

    #[test]
    fn a_lane_that_asks_now_and_then_is_selected_within_two_holds_for_each_lane() {
        let every = |n: usize| (0..100).map(move |at| if at % n == 0 { 8 } else { 0 });
        let (number, unfair) = rejected(every(4)).expect("it asks once in any four");
        assert_eq!((number, unfair.lane, unfair.requests, unfair.in_each), (33, 3, 33, false));
        assert_eq!(rejected(every(4).take(32)), None);
        let last = rejected(every(4).take(31).chain([8])).map(|(number, unfair)| (number, unfair.requests));
        assert_eq!(last, Some((32, 32)), "the last request of two holds for each lane");
        assert_eq!(rejected(every(5)), None, "it stays away for four in succession");
    }

    #[test]
    fn a_reset_starts_the_count_anew() {
        let mut fairness = Fairness::default();
        fairness.set_spin_hold(4, 4);
        for _ in 0..2 {
            assert!((0..7).all(|_| fairness.request(0, 1).is_ok()));
            fairness.reset();
        }
    }

    #[test]
    fn groups_are_counted_each_for_itself_and_nothing_without_a_hold() {
        let mut fairness = Fairness::default();
        assert!((0..100).all(|_| fairness.request(0, 1).is_ok()));
        fairness.set_spin_hold(4, 4);
        assert!((0..14).all(|at| fairness.request(at % 2, 1).is_ok()));
        assert!(fairness.request(0, 1).is_err());
        assert!(fairness.request(0, 1).is_ok(), "rejected once");
    }
}
