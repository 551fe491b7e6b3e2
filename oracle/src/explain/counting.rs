//! Orders of INC and DEC lanes that give no results: which values can they leave?
//!
//! INC and DEC under different limits do not commute, and 32 lanes have too many orders to try. But
//! what an order leaves depends on few things. It falls into *runs*: an INC run counts up from 0 (the
//! first one from the value before) until a lane wraps to 0; a DEC run counts down from the limit of
//! the lane that reloaded it (the first one from the value before) to 0. Only the length of the
//! last run shows in the end. In a run, the lane at position `i` only needs a limit above (INC) or
//! not below (DEC) the value it meets, its *slot*. Slots ask for nested sets of lanes, so lanes can
//! fill them exactly if, both sorted, each lane fits its slot.
//!
//! Besides, each run needs one lane with a small limit: the one that wraps (INC, at or below the value
//! it meets), or the one that ties the run to reach exactly 0 (DEC, equal to its slot). Two lanes can
//! always trade places so that the smallest limits do this, and runs of lengths as equal as
//! that allows leave the least demanding slots. What remains is to try the numbers of runs and the
//! lengths of the first and the last.
//!
//! The tests below compare both with every order of few lanes, exhaustively.

use crate::request::MAX_LANES;

/// Slots of up to 32 lanes; 64 bits since a slot above every limit is still a number.
struct Slots {
    count: usize,
    slot: [u64; MAX_LANES],
}

impl Slots {
    fn new() -> Self {
        Slots { count: 0, slot: [0; MAX_LANES] }
    }

    /// Adds `length` slots from `bottom` upwards.
    fn run(&mut self, bottom: u64, length: usize) {
        for i in 0..length {
            self.slot[self.count] = bottom + i as u64;
            self.count += 1;
        }
    }

    /// The slots in ascending order.
    fn sorted(&mut self) -> &[u64] {
        self.slot[..self.count].sort_unstable();
        &self.slot[..self.count]
    }
}

/// Lengths of runs, as equal as their ascending lower bounds allow, that add up to `total`.
fn spread(lower: impl Iterator<Item = u64>, total: usize) -> Option<([usize; MAX_LANES], usize)> {
    let mut lengths = [0; MAX_LANES];
    let (mut runs, mut sum) = (0, 0);
    for bound in lower {
        if bound > (total - sum) as u64 {
            return None;
        }
        lengths[runs] = bound as usize;
        sum += bound as usize;
        runs += 1;
    }
    if runs == 0 {
        return (total == 0).then_some((lengths, 0));
    }
    while sum < total {
        // Ascending lengths: raise the last of the smallest, and they stay ascending.
        let smallest = lengths[0];
        let last = lengths[..runs].partition_point(|&l| l == smallest) - 1;
        lengths[last] += 1;
        sum += 1;
    }
    Some((lengths, runs))
}

/// Whether some order of INC lanes with these ascending limits leads from `start` to `end`.
pub(crate) fn inc_reaches(start: u32, limits: &[u32], end: u32) -> bool {
    let n = limits.len();
    let (start, end) = (u64::from(start), u64::from(end));
    let climbs = |slot: u64, limit: u32| slot < u64::from(limit);
    if end == start + n as u64 && limits.iter().enumerate().all(|(i, &b)| climbs(start + i as u64, b)) {
        return true;
    }
    if end >= n as u64 {
        return false; // after a wrap only the lanes that follow it count
    }
    let last = end as usize;
    for later_runs in 0..n - last {
        let climbing = &limits[later_runs + 1..];
        for first in 0..n - last - later_runs {
            // The first run is long already when it begins: it takes the greatest limit that it can.
            let peak = start + first as u64;
            let wrapping = &limits[..=later_runs];
            let fitting = wrapping.partition_point(|&b| u64::from(b) <= peak);
            if fitting == 0 {
                continue;
            }
            let others = wrapping.iter().enumerate().filter(|(w, _)| *w != fitting - 1);
            let total = n - last - (later_runs + 1) - first;
            let Some((lengths, runs)) = spread(others.map(|(_, &b)| u64::from(b)), total) else { continue };
            let mut slots = Slots::new();
            slots.run(0, last);
            slots.run(start, first);
            for &length in &lengths[..runs] {
                slots.run(0, length);
            }
            if slots.sorted().iter().zip(climbing).all(|(&slot, &b)| climbs(slot, b)) {
                return true;
            }
        }
    }
    false
}

/// Whether some order of DEC lanes with these ascending limits leads from `start` to `end`.
///
/// Above 0 a lane leaves the lesser of its limit and the value less one, so a lane that meets a value
/// beyond its limit is not a run of its own: it only lets the run skip values.
pub(crate) fn dec_reaches(start: u32, limits: &[u32], end: u32) -> bool {
    let n = limits.len();
    let (start, end) = (u64::from(start), u64::from(end));
    let holds = |slots: &mut Slots| slots.sorted().iter().zip(limits).all(|(&s, &b)| s <= u64::from(b));
    let ties = |b: u32, bottom: u64, length: usize| (bottom..bottom + length as u64).contains(&u64::from(b));

    // One run, never reloaded.
    let top = end + n as u64;
    if start >= top && (start == top || limits.iter().any(|&b| ties(b, end, n))) {
        let mut slots = Slots::new();
        slots.run(end, n);
        if holds(&mut slots) {
            return true;
        }
    }

    // A first run to 0, full runs to 0, a last run to `end`.
    for first in 0..n.min(usize::try_from(start).unwrap_or(usize::MAX).saturating_add(1)) {
        let first_ties_itself = start == first as u64;
        if !first_ties_itself && limits[0] as usize >= first {
            continue; // no lane ties the first run
        }
        for last in 1..=n - first {
            for tie in 0..n {
                if !ties(limits[tie], end, last) || (tie > 0 && limits[tie - 1] == limits[tie]) {
                    continue;
                }
                let without = |i: usize| if i < tie { limits[i] } else { limits[i + 1] };
                let total = n - first - last;
                for full_runs in usize::from(total != 0)..=total {
                    let tying = full_runs + usize::from(!first_ties_itself);
                    // As above: the first run's length is given, so it takes the greatest that it can.
                    let own = if first_ties_itself {
                        None
                    } else {
                        match (0..tying).rev().find(|&i| u64::from(without(i)) < first as u64) {
                            Some(i) => Some(i),
                            None => continue,
                        }
                    };
                    let others = (0..tying).filter(|&i| Some(i) != own);
                    let Some((lengths, runs)) = spread(others.map(|i| u64::from(without(i)) + 1), total)
                    else {
                        // More runs only add lower bounds; but the first run may then find its lane.
                        continue;
                    };
                    let mut slots = Slots::new();
                    slots.run(0, first);
                    slots.run(end, last);
                    for &length in &lengths[..runs] {
                        slots.run(0, length);
                    }
                    if holds(&mut slots) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// Every value that some order of INC lanes leaves.
pub(crate) fn inc_ends(start: u32, limits: &[u32]) -> Vec<u128> {
    let n = limits.len() as u32;
    // Either all lanes count from the start, or those behind the last wrap do from 0.
    let all = (0..n).chain(start.checked_add(n));
    all.filter(|&end| inc_reaches(start, limits, end)).map(u128::from).collect()
}

/// Every value that some order of DEC lanes leaves.
pub(crate) fn dec_ends(start: u32, limits: &[u32]) -> Vec<u128> {
    let n = limits.len() as u32;
    // A run that skips ends its way in steps of one, from the start or from some limit.
    let mut ends: Vec<u32> =
        limits.iter().flat_map(|&b| (0..n).filter_map(move |steps| b.checked_sub(steps))).collect();
    ends.extend(start.checked_sub(n));
    ends.sort_unstable();
    ends.dedup();
    ends.into_iter().filter(|&end| dec_reaches(start, limits, end)).map(u128::from).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every value that some order leaves, subset by subset of the lanes.
    fn serial_ends(start: u32, limits: &[u32], step: fn(u32, u32) -> u32) -> Vec<u128> {
        let mut ends = vec![BTreeSet::new(); 1 << limits.len()];
        ends[0].insert(start);
        for done in 0..ends.len() {
            for (i, &b) in limits.iter().enumerate().filter(|(i, _)| done >> i & 1 == 0) {
                let next: Vec<u32> = ends[done].iter().map(|&m| step(m, b)).collect();
                ends[done | 1 << i].extend(next);
            }
        }
        ends.pop().unwrap().into_iter().map(u128::from).collect()
    }

    fn inc(m: u32, b: u32) -> u32 {
        if m >= b { 0 } else { m + 1 }
    }

    fn dec(m: u32, b: u32) -> u32 {
        if m == 0 || m > b { b } else { m - 1 }
    }

    /// All ascending lists of `n` limits up to `max`.
    fn limit_lists(n: usize, max: u32) -> Vec<Vec<u32>> {
        let mut lists = vec![vec![]];
        for _ in 0..n {
            lists = lists
                .into_iter()
                .flat_map(|list: Vec<u32>| {
                    (list.last().copied().unwrap_or(0)..=max).map(move |b| [list.as_slice(), &[b]].concat())
                })
                .collect();
        }
        lists
    }

    #[test]
    fn both_agree_with_every_order_of_up_to_seven_lanes() {
        let shapes = [(1, 9, 11), (2, 9, 11), (3, 8, 10), (4, 7, 9), (5, 7, 9), (6, 6, 8), (7, 4, 8)];
        for (n, max, starts) in shapes {
            for limits in limit_lists(n, max) {
                for start in 0..=starts {
                    assert_eq!(
                        inc_ends(start, &limits),
                        serial_ends(start, &limits, inc),
                        "inc {start} {limits:?}"
                    );
                    assert_eq!(
                        dec_ends(start, &limits),
                        serial_ends(start, &limits, dec),
                        "dec {start} {limits:?}"
                    );
                }
            }
        }
    }

    proptest::proptest! {
        /// Larger than can be enumerated, with limits spread and bunched.
        #[test]
        fn both_agree_with_every_order_of_up_to_eleven_lanes(
            start in 0u32..16,
            limits in proptest::collection::vec(proptest::prop_oneof![0u32..4, 0u32..14, 8u32..24], 8..=11),
        ) {
            let mut limits = limits;
            limits.sort_unstable();
            proptest::prop_assert_eq!(inc_ends(start, &limits), serial_ends(start, &limits, inc));
            proptest::prop_assert_eq!(dec_ends(start, &limits), serial_ends(start, &limits, dec));
        }
    }

    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        let top = u32::MAX;
        for start in [0, 1, top - 2, top - 1, top] {
            for limits in [vec![0, top], vec![top, top], vec![top - 1, top], vec![1, top - 1, top]] {
                assert_eq!(
                    inc_ends(start, &limits),
                    serial_ends(start, &limits, inc),
                    "inc {start} {limits:?}"
                );
                assert_eq!(
                    dec_ends(start, &limits),
                    serial_ends(start, &limits, dec),
                    "dec {start} {limits:?}"
                );
            }
        }
    }
}
