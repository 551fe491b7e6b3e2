//! Orders of the lanes at one mbarrier object: possible results, and the check that some order explains the
//! observed states.
//!
//! Lanes subtract counts from one object (spec 6.3). Their order matters only at points at which no count is
//! left, so that the phase completes (spec 6.4). Equal steps are interchangeable, and once no more phase can
//! complete the rest is a sum.
//!
//! The search is over the set of lanes that are *done*, with the lowest of equal lanes first. It stops when
//! only sums are left. It needs no backtracking if all steps are equal or no phase completes, and is short
//! for the few different counts of a warp. Beyond [`MAX_STATES`] states it gives up without a verdict.
//!
//! A lane that returned a state found the object with this high word. Either each lane arrived at its turn,
//! or all lanes that arrived in one step found the object as before the first of them (spec 6.6).

use std::collections::HashSet;

use crate::lanes::lanes_of;
use crate::mbarrier::{Fields, LaneStep, may_complete};
use crate::request::MAX_LANES;

/// Maximum number of states that the search visits for the lanes of one object.
pub const MAX_STATES: usize = 1 << 16;

/// Lanes at one object, in ascending order. A lane is named by its index here.
pub(crate) struct Arrivals {
    count: usize,
    step: [LaneStep; MAX_LANES],
    /// For each lane, the mask of the lanes that arrived together with it.
    together: [u32; MAX_LANES],
    /// High word of the object before these lanes, if it was returned.
    high: [Option<u32>; MAX_LANES],
    /// Mask of lanes that may have arrived in one step with others that found the same high word.
    may_join: u32,
}

#[derive(Clone, Copy)]
struct Reached {
    done: u32,
    object: Fields,
    /// High word found by the lanes of the last step.
    found: Option<u32>,
}

/// Pending count and phase at the end. The rest of the object is the same after every order.
pub(crate) type End = (u32, u32);

pub(crate) enum NoOrder {
    /// No order exists. Some order of all lanes except these works.
    Stuck(u32),
    TooMany,
}

impl Arrivals {
    pub(crate) fn new() -> Self {
        let step = LaneStep { arrivals: 0, dropped: 0, tx: 0, raises: false };
        Arrivals {
            count: 0,
            step: [step; MAX_LANES],
            together: [0; MAX_LANES],
            high: [None; MAX_LANES],
            may_join: 0,
        }
    }

    /// Adds a lane; the caller adds at most 32.
    pub(crate) fn push(&mut self, step: LaneStep) {
        self.step[self.count] = step;
        self.together[self.count] = 1 << self.count;
        self.count += 1;
    }

    /// Adds one of several lanes that arrived directly after each other, when the high word of the object was
    /// `high`. `together` is the mask of these lanes, in order of pushing.
    pub(crate) fn push_together(&mut self, step: LaneStep, together: u32, high: u32) {
        self.push(step);
        self.together[self.count - 1] = together;
        self.high[self.count - 1] = Some(high);
    }

    /// Adds a lane that returned a state with the high word `high`.
    pub(crate) fn push_state(&mut self, step: LaneStep, high: u32) {
        self.may_join |= 1 << self.count;
        self.push_together(step, 1 << self.count, high);
    }

    fn all(&self) -> u32 {
        if self.count == 32 { u32::MAX } else { (1 << self.count) - 1 }
    }

    fn steps(&self, lanes: u32) -> impl Iterator<Item = LaneStep> + '_ {
        lanes_of(lanes).map(|i| self.step[i])
    }

    fn alike(&self, i: usize, j: usize) -> bool {
        let alone = |i: usize| self.together[i] == 1 << i;
        self.step[i] == self.step[j]
            && self.high[i] == self.high[j]
            && (self.together[i] == self.together[j] || alone(i) && alone(j))
    }

    /// Object after all lanes, in rotated order from the lane `first`.
    fn turn(&self, start: Fields, first: usize) -> Fields {
        let mut object = start;
        for i in (first..self.count).chain(0..first) {
            self.step[i].perform(&mut object);
        }
        object
    }

    pub(crate) fn ascending(&self, start: Fields) -> Fields {
        self.turn(start, 0)
    }

    /// Object after every order in which no phase completes.
    pub(crate) fn sum(&self, start: Fields) -> Fields {
        let mut object = start;
        for step in self.steps(self.all()) {
            step.count(&mut object);
        }
        object
    }

    pub(crate) fn order_is_nothing(&self, start: &Fields) -> bool {
        (1..self.count).all(|i| self.step[i] == self.step[0]) || !may_complete(start, self.steps(self.all()))
    }

    /// Checks that some order leaves `goal`.
    ///
    /// First tries the orders that hardware most likely used: rotated ascending orders, or the order that the
    /// high words show.
    pub(crate) fn reaches(&self, start: Fields, goal: End) -> Result<(), NoOrder> {
        if self.is_constrained() {
            if self.walk(start).is_some_and(|object| (object.pending, object.phase) == goal) {
                return Ok(());
            }
            let end = self.ascending(start);
            if self.order_is_nothing(&start) && (end.pending, end.phase) != goal {
                return Err(NoOrder::Stuck(0));
            }
        } else {
            let leaves_goal = |first| {
                let object = self.turn(start, first);
                (object.pending, object.phase) == goal
            };
            if (0..self.count.max(1)).any(leaves_goal) {
                return Ok(());
            }
            if self.order_is_nothing(&start) || !self.is_plausible(start, goal) {
                return Err(NoOrder::Stuck(0));
            }
        }
        let mut found = false;
        self.search(start, |end| {
            found |= end == goal;
            found
        })?;
        if found { Ok(()) } else { Err(NoOrder::Stuck(0)) }
    }

    pub(crate) fn ends(&self, start: Fields) -> Result<Vec<End>, NoOrder> {
        let mut ends = Vec::new();
        let one = self.order_is_nothing(&start);
        self.search(start, |end| {
            ends.push(end);
            one
        })?;
        ends.sort_unstable();
        ends.dedup();
        Ok(ends)
    }

    /// Necessary condition on an end, for every order. Avoids most searches that would fail.
    fn is_plausible(&self, start: Fields, (pending, phase): End) -> bool {
        let sum = self.sum(start);
        // Otherwise the last lane would have completed the phase, and set the pending count to the expected
        // count.
        if (pending, sum.tx) == (0, 0) && sum.expected != 0 && self.count != 0 {
            return false;
        }
        // Each phase adds the expected count at its time. A drop subtracts the same number from both counts,
        // so that they are equal from the first completion on.
        let drops = self.step[..self.count].iter().any(|step| step.dropped != 0);
        (0..=self.count as u32).any(|phases| {
            let added = match (phases, drops) {
                (0, _) => sum.pending,
                (_, true) => sum.expected,
                (_, false) => sum.pending.wrapping_add(phases.wrapping_mul(start.expected)) & ((1 << 20) - 1),
            };
            added == pending && start.phase ^ phases & 1 == phase
        })
    }

    fn is_constrained(&self) -> bool {
        self.high[..self.count].iter().any(Option::is_some)
    }

    /// True if lane `i` can be the first of a step.
    fn fits(&self, i: usize, object: &Fields) -> bool {
        self.high[i].is_none_or(|high| u64::from(high) == object.word() >> 32)
    }

    /// True if lane `i` can join the step of lanes that found this high word.
    fn joins(&self, i: usize, found: Option<u32>) -> bool {
        self.may_join >> i & 1 != 0 && self.high[i] == found
    }

    /// Lanes that can follow those in `done`. If a group that arrived together is unfinished: the rest of
    /// this group, and true. Otherwise all other lanes, and false.
    fn next(&self, done: u32) -> (u32, bool) {
        let begun = lanes_of(done).find(|&i| self.together[i] & !done != 0);
        begun.map_or((self.all() & !done, false), |i| (self.together[i] & !done, true))
    }

    /// Tries one order: next is the lowest lane that fits, else the lowest that can join. Returns the final
    /// object, or `None` if no lane can follow.
    fn walk(&self, start: Fields) -> Option<Fields> {
        let (mut done, mut object, mut found) = (0u32, start, None);
        while done != self.all() {
            let (next, begun) = self.next(done);
            let first = lanes_of(next).find(|&i| begun || self.fits(i, &object));
            let i = first.or_else(|| lanes_of(next).find(|&i| self.joins(i, found)))?;
            self.step[i].perform(&mut object);
            found = self.high[i];
            done |= 1 << i;
        }
        Some(object)
    }

    /// Searches all orders that differ, and calls `seen` with each end until `seen` returns true.
    fn search(&self, start: Fields, mut seen: impl FnMut(End) -> bool) -> Result<(), NoOrder> {
        let all = self.all();
        let constrained = self.is_constrained();
        let (mut furthest, mut ended) = (0u32, false);
        let mut visited = HashSet::new();
        let mut open = vec![Reached { done: 0, object: start, found: None }];
        while let Some(Reached { done, object, found }) = open.pop() {
            if done.count_ones() > furthest.count_ones() {
                furthest = done;
            }
            let rest = all & !done;
            let only_sums = !constrained && !may_complete(&object, self.steps(rest));
            if rest == 0 || only_sums {
                let arrivals = self.steps(rest).fold(0u32, |sum, step| sum.wrapping_add(step.arrivals));
                let pending = object.pending.wrapping_sub(arrivals) & ((1 << 20) - 1);
                ended = true;
                if seen((pending, object.phase)) {
                    return Ok(());
                }
                continue;
            }
            let (next, begun) = self.next(done);
            let candidates = open.len();
            for i in lanes_of(next) {
                let fits = begun || self.fits(i, &object) || self.joins(i, found);
                let first = lanes_of(next & !(u32::MAX << i)).all(|j| !self.alike(i, j));
                if !fits || !first {
                    continue;
                }
                let mut left = object;
                self.step[i].perform(&mut left);
                let done = done | 1 << i;
                let found = self.high[i];
                if visited.insert((done, left.pending, left.phase, found)) {
                    open.push(Reached { done, object: left, found });
                }
            }
            if visited.len() > MAX_STATES {
                return Err(NoOrder::TooMany);
            }
            // Visit the lowest lane first.
            open[candidates..].reverse();
        }
        if ended { Ok(()) } else { Err(NoOrder::Stuck(all & !furthest)) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use atoms_ops::Op;

    use super::*;

    fn arrivals(op: Op, operands: &[u32]) -> Arrivals {
        let mut arrivals = Arrivals::new();
        operands.iter().for_each(|&b| arrivals.push(LaneStep::of(op, b).unwrap()));
        arrivals
    }

    /// All ends, computed for one subset of lanes after another.
    fn serial_ends(arrivals: &Arrivals, start: Fields) -> Vec<End> {
        let mut after = vec![BTreeSet::new(); 1 << arrivals.count];
        after[0].insert(start.word());
        for done in 0..after.len() {
            for i in (0..arrivals.count).filter(|i| done >> i & 1 == 0) {
                let next: Vec<u64> = after[done]
                    .iter()
                    .map(|&word| {
                        let mut object = Fields::of(word);
                        arrivals.step[i].perform(&mut object);
                        object.word()
                    })
                    .collect();
                after[done | 1 << i].extend(next);
            }
        }
        let ends: BTreeSet<End> =
            after.pop().unwrap().into_iter().map(Fields::of).map(|o| (o.pending, o.phase)).collect();
        ends.into_iter().collect()
    }

    const OPS: [Op; 8] = [
        Op::MbarExpectTx,
        Op::MbarCompleteTx,
        Op::MbarArrive,
        Op::MbarArriveCount,
        Op::MbarArriveExpectTx,
        Op::MbarArriveDrop,
        Op::MbarArriveDropCount,
        Op::MbarArriveDropExpectTx,
    ];

    fn compare(op: Op, start: Fields, operands: &[u32]) {
        let arrivals = arrivals(op, operands);
        let serial = serial_ends(&arrivals, start);
        let ends = arrivals.ends(start).unwrap_or_else(|_| panic!("{op} {start:?} {operands:?}"));
        assert_eq!(ends, serial, "{op} {start:?} {operands:?}");
        if arrivals.order_is_nothing(&start) {
            assert_eq!(serial.len(), 1, "{op} {start:?} {operands:?}");
        }
        for pending in (0..8).chain([start.pending, (1 << 20) - 1, (1 << 20) - 2]) {
            for goal in [(pending, 0), (pending, 1)] {
                let reached = arrivals.reaches(start, goal).is_ok();
                assert_eq!(reached, serial.contains(&goal), "{op} {start:?} {operands:?} {goal:?}");
            }
        }
    }

    #[test]
    fn few_lanes_are_judged_as_by_every_order() {
        let lists = |n: u32| (0..4u32.pow(n)).map(move |code| (0..n).map(|i| code >> (2 * i) & 3).collect());
        for op in OPS {
            for (expected, pending) in (0..4).flat_map(|e| (0..5).map(move |p| (e, p))) {
                for tx in [0, 1, 3, (1 << 21) - 2] {
                    let start = Fields { kept: 0, expected, tx, pending, phase: 0 };
                    for operands in (0..=3).flat_map(lists).collect::<Vec<Vec<u32>>>() {
                        compare(op, start, &operands);
                    }
                }
            }
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(600))]

        /// More lanes, and values at which fields wrap.
        #[test]
        fn more_lanes_are_judged_as_by_every_order(
            op in proptest::sample::select(OPS.to_vec()),
            operands in proptest::collection::vec(proptest::prop_oneof![
                6 => 0u32..5, 1 => proptest::prelude::Just((1 << 20) - 1), 1 => proptest::prelude::Just((1 << 21) - 2),
            ], 4..=9),
            (expected, pending, phase) in (0u32..7, 0u32..12, 0u32..2),
            tx in proptest::prop_oneof![3 => 0u32..2, 1 => 2u32..12, 1 => (1u32 << 21) - 12..1 << 21],
        ) {
            compare(op, Fields { kept: 0, expected, tx, pending, phase }, &operands);
        }
    }

    #[test]
    fn lanes_that_no_order_fits_are_named() {
        let start = Fields { kept: 0, expected: 7, tx: 0, pending: 9, phase: 0 };
        let high = (start.word() >> 32) as u32;
        let step = |b| LaneStep::of(Op::MbarArriveCount, b).unwrap();
        // The second lane fits in no order.
        let mut one = Arrivals::new();
        one.push(step(1));
        one.push_together(step(2), 0b010, !high);
        one.push(step(4));
        assert!(matches!(one.reaches(start, (2, 0)), Err(NoOrder::Stuck(0b010))));
        // Each lane needs the object as before the other one. The lane that the search places first is not
        // reported.
        let mut either = Arrivals::new();
        either.push_together(step(1), 0b01, high);
        either.push_together(step(2), 0b10, high);
        assert!(matches!(either.reaches(start, (6, 0)), Err(NoOrder::Stuck(0b10))));
    }

    #[test]
    fn a_search_that_takes_too_long_is_given_up() {
        // Every set of lanes has a different sum, and almost every set could complete the phase.
        let counts: Vec<u32> = (0..18).map(|lane| 1 << lane).collect();
        let start = Fields { kept: 0, expected: 1, tx: 0, pending: 1 << 17, phase: 0 };
        let many = arrivals(Op::MbarArriveCount, &counts);
        assert!(matches!(many.ends(start), Err(NoOrder::TooMany)));
    }

    #[test]
    fn full_warps_are_decided() {
        let start = Fields { kept: 0, expected: 7, tx: 0, pending: 5, phase: 0 };
        let counts: Vec<u32> = (0..32).map(|lane| lane % 5).collect();
        let all = arrivals(Op::MbarArriveCount, &counts);
        let object = all.ascending(start);
        assert!(all.reaches(start, (object.pending, object.phase)).is_ok());
        // Without a completion the counts fit, but the last lane would have completed a phase.
        let silent = Fields { pending: counts.iter().sum(), ..start };
        assert!(matches!(all.reaches(silent, (0, 0)), Err(NoOrder::Stuck(_))));
        // A phase completes with every arrival.
        let ones = arrivals(Op::MbarArrive, &[0; 32]);
        assert_eq!(ones.ends(Fields { expected: 1, pending: 1, ..start }).ok(), Some(vec![(1, 0)]));
    }
}
