//! Orders of mbarrier lanes: what can they leave, and does one explain the states that they got?
//!
//! Lanes take counts off one object (spec 6.3), and all that their order can matter for is at
//! which moments nothing is left, so that the phase completes (spec 6.4). Equal steps are
//! interchangeable, and once no phase can complete any more the rest is a sum. So a search over *which
//! lanes are done*, the lowest lane of equal ones first, that stops where only sums are left, walks
//! straight to the end wherever all steps are equal or no phase completes, and is short for the
//! few different counts of a warp. Beyond [`MAX_STATES`] states of different counts around completions
//! it gives up, which is no verdict.
//!
//! Lanes that got a state found the object as its high word says, each at its turn or all that arrived in one step before
//! the first of them (spec 6.6).

use std::collections::HashSet;

use crate::lanes::lanes_of;
use crate::mbarrier::{Fields, LaneStep, may_complete};
use crate::request::MAX_LANES;

/// Most states that the search visits for the lanes of one object.
pub const MAX_STATES: usize = 1 << 16;

/// Lanes at one object, in ascending order.
pub(crate) struct Arrivals {
    count: usize,
    step: [LaneStep; MAX_LANES],
    /// The lanes, counted as here, that went together with each one.
    together: [u32; MAX_LANES],
    /// High word of the object before those lanes, where it was given.
    high: [Option<u32>; MAX_LANES],
    /// Lanes that may have arrived in one step with others that found the same high word.
    may_join: u32,
}

/// State of a search.
#[derive(Clone, Copy)]
struct Reached {
    done: u32,
    object: Fields,
    /// High word that the lanes of the last step found.
    found: Option<u32>,
}

/// Pending count and phase at the end; the rest of the object is the same after every order.
pub(crate) type End = (u32, u32);

/// Why an order was not found.
pub(crate) enum NoOrder {
    /// There is none. Some order of all lanes but these gets by without them.
    Stuck(u32),
    /// The search was given up.
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

    /// Adds a lane; at most 32 of them.
    pub(crate) fn push(&mut self, step: LaneStep) {
        self.step[self.count] = step;
        self.together[self.count] = 1 << self.count;
        self.count += 1;
    }

    /// As [`Arrivals::push`] for one of several lanes that went one right after the other, when the
    /// high word of the object was `high`. `together` counts lanes in order of pushing.
    pub(crate) fn push_together(&mut self, step: LaneStep, together: u32, high: u32) {
        self.push(step);
        self.together[self.count - 1] = together;
        self.high[self.count - 1] = Some(high);
    }

    /// Adds a lane whose state has the high word `high`.
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

    /// Whether trading places with lane `j` changes nothing.
    fn alike(&self, i: usize, j: usize) -> bool {
        let alone = |i: usize| self.together[i] == 1 << i;
        self.step[i] == self.step[j]
            && self.high[i] == self.high[j]
            && (self.together[i] == self.together[j] || alone(i) && alone(j))
    }

    /// The object after the lanes in an order beginning with the lane at `first`.
    fn turn(&self, start: Fields, first: usize) -> Fields {
        let mut object = start;
        for i in (first..self.count).chain(0..first) {
            self.step[i].perform(&mut object);
        }
        object
    }

    /// The object after the lanes in ascending order.
    pub(crate) fn ascending(&self, start: Fields) -> Fields {
        self.turn(start, 0)
    }

    /// The object that every order leaves where none completes a phase.
    pub(crate) fn sum(&self, start: Fields) -> Fields {
        let mut object = start;
        for step in self.steps(self.all()) {
            step.count(&mut object);
        }
        object
    }

    /// Whether every order leaves the same.
    pub(crate) fn order_is_nothing(&self, start: &Fields) -> bool {
        (1..self.count).all(|i| self.step[i] == self.step[0]) || !may_complete(start, self.steps(self.all()))
    }

    /// Whether some order leaves `goal`.
    ///
    /// The orders that hardware most likely took, ascending from some lane on or as the high words lead,
    /// are tried first.
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

    /// Every end that some order has.
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

    /// What must hold of an end whatever the order: it saves most searches for an order there is not.
    fn is_plausible(&self, start: Fields, (pending, phase): End) -> bool {
        let sum = self.sum(start);
        // The last lane would have completed the phase, and then pending is what is expected.
        if (pending, sum.tx) == (0, 0) && sum.expected != 0 && self.count != 0 {
            return false;
        }
        // Each phase adds the expected count of its moment. A drop takes both counts off alike, so
        // that they are equal from the first completion on.
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

    /// True if lane `i` can go on with the step of the lanes that found this high word.
    fn joins(&self, i: usize, found: Option<u32>) -> bool {
        self.may_join >> i & 1 != 0 && self.high[i] == found
    }

    /// The lanes that can come after those `done`: the rest of those that went together with one of
    /// them, and then true, or else all others.
    fn next(&self, done: u32) -> (u32, bool) {
        let begun = lanes_of(done).find(|&i| self.together[i] & !done != 0);
        begun.map_or((self.all() & !done, false), |i| (self.together[i] & !done, true))
    }

    /// The object after the order in which the lowest lane that fits comes next, or else the lowest that joins, if that
    /// ends.
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

    /// Walks every order, as far as they differ, and shows the end of each until `seen` is content.
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
            // The lowest lane first.
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

    /// Every end, lane subset by lane subset.
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

        /// More lanes, and values at which the fields wrap.
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
        // The second lane fits nowhere.
        let mut one = Arrivals::new();
        one.push(step(1));
        one.push_together(step(2), 0b010, !high);
        one.push(step(4));
        assert!(matches!(one.reaches(start, (2, 0)), Err(NoOrder::Stuck(0b010))));
        // Each of the two takes from the other what it must find: the one in the order that comes first is not named.
        let mut either = Arrivals::new();
        either.push_together(step(1), 0b01, high);
        either.push_together(step(2), 0b10, high);
        assert!(matches!(either.reaches(start, (6, 0)), Err(NoOrder::Stuck(0b10))));
    }

    #[test]
    fn a_search_that_takes_too_long_is_given_up() {
        // Every set of lanes has a sum of its own, and nearly each could complete the phase.
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
        // The counts of no phases fit this, but the last lane would have completed one.
        let silent = Fields { pending: counts.iter().sum(), ..start };
        assert!(matches!(all.reaches(silent, (0, 0)), Err(NoOrder::Stuck(_))));
        // A phase that completes with every arrival.
        let ones = arrivals(Op::MbarArrive, &[0; 32]);
        assert_eq!(ones.ends(Fields { expected: 1, pending: 1, ..start }).ok(), Some(vec![(1, 0)]));
    }
}
