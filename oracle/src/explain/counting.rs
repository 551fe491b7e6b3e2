//! Orders of INC and DEC lanes without results: the values that they can leave.
//!
//! INC and DEC with different limits do not commute, and 32 lanes have too many orders to try. But the final
//! value depends on few properties of an order. An order consists of *runs*. An INC run counts up from 0
//! until a lane wraps to 0. A DEC run counts down to 0 from the limit of the lane that reloaded it. The first
//! run of either kind starts from the value before the request. Only the length of the last run determines
//! the final value.
//!
//! In a run, the lane at position `i` meets a known value, its *slot*. The lane only needs a limit above its
//! slot (INC) or not below it (DEC). The sets of lanes that fit two slots are nested. Lanes can therefore
//! fill the slots exactly if each lane fits its slot after both are sorted.
//!
//! Each run also needs one lane with a small limit. For INC this lane wraps: its limit is at or below the
//! value that it meets. For DEC it ties the run to end at exactly 0: its limit equals its slot. Lanes can
//! always trade places so that the smallest limits do this. Runs of nearly equal lengths then leave the
//! easiest slots. What remains is to try all numbers of runs, and all lengths of the first and the last run.
//!
//! The tests below compare INC and DEC with every order of a few lanes.

use crate::request::MAX_LANES;

/// Slots of up to 32 lanes. 64 bits wide, so that a slot can exceed every 32-bit limit.
struct Slots {
    count: usize,
    slot: [u64; MAX_LANES],
}

impl Slots {
    fn new() -> Self {
        Slots { count: 0, slot: [0; MAX_LANES] }
    }

    fn run(&mut self, bottom: u64, length: usize) {
        for i in 0..length {
            self.slot[self.count] = bottom + i as u64;
            self.count += 1;
        }
    }

    fn sorted(&mut self) -> &[u64] {
        self.slot[..self.count].sort_unstable();
        &self.slot[..self.count]
    }
}

/// Distributes `total` over runs as evenly as the ascending lower bounds allow. Returns the lengths and the
/// number of runs.
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
        // Keep the lengths ascending: increment the last of the smallest.
        let smallest = lengths[0];
        let last = lengths[..runs].partition_point(|&l| l == smallest) - 1;
        lengths[last] += 1;
        sum += 1;
    }
    Some((lengths, runs))
}

/// True if some order of INC lanes with these ascending limits leads from `start` to `end`.
pub(crate) fn inc_reaches(start: u32, limits: &[u32], end: u32) -> bool {
    let n = limits.len();
    let (start, end) = (u64::from(start), u64::from(end));
    let climbs = |slot: u64, limit: u32| slot < u64::from(limit);
    if end == start + n as u64 && limits.iter().enumerate().all(|(i, &b)| climbs(start + i as u64, b)) {
        return true;
    }
    if end >= n as u64 {
        return false; // after a wrap, only the lanes after it count
    }
    let last = end as usize;
    for later_runs in 0..n - last {
        let climbing = &limits[later_runs + 1..];
        for first in 0..n - last - later_runs {
            // The first run has a fixed length, so it takes the largest limit that still wraps.
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

/// True if some order of DEC lanes with these ascending limits leads from `start` to `end`.
///
/// Above 0 a lane leaves the smaller of its limit and the value minus one. A lane that meets a value above
/// its limit therefore does not start a new run; the run only skips values.
pub(crate) fn dec_reaches(start: u32, limits: &[u32], end: u32) -> bool {
    let n = limits.len();
    let (start, end) = (u64::from(start), u64::from(end));
    let holds = |slots: &mut Slots| slots.sorted().iter().zip(limits).all(|(&s, &b)| s <= u64::from(b));
    let ties = |b: u32, bottom: u64, length: usize| (bottom..bottom + length as u64).contains(&u64::from(b));

    // A single run without a reload.
    let top = end + n as u64;
    if start >= top && (start == top || limits.iter().any(|&b| ties(b, end, n))) {
        let mut slots = Slots::new();
        slots.run(end, n);
        if holds(&mut slots) {
            return true;
        }
    }

    // A first run to 0, then full runs to 0, then a last run to `end`.
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
                    // The first run has a fixed length, so it takes the largest limit that ties it, as for
                    // INC.
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
                        // More runs only add lower bounds, but the first run may then find a lane that ties
                        // it.
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

pub(crate) fn inc_ends(start: u32, limits: &[u32]) -> Vec<u128> {
    let n = limits.len() as u32;
    // Either all lanes count up from `start`, or those after the last wrap count up from 0.
    let all = (0..n).chain(start.checked_add(n));
    all.filter(|&end| inc_reaches(start, limits, end)).map(u128::from).collect()
}

pub(crate) fn dec_ends(start: u32, limits: &[u32]) -> Vec<u128> {
    let n = limits.len() as u32;
    // After its last skip, a run goes down in steps of one, from `start` or from some limit.
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

    /// All values that orders leave, computed for one subset of lanes after another.
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
        /// More lanes than every order can be listed for, with spread and clustered limits.
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
