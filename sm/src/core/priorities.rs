//! Issue order under a [`Schedule`]: priorities of warps, early timeouts, and the start order of clusters.

use super::Core;
use super::warp_slots::slots;
use crate::random::SplitMix64;
use crate::schedule::Schedule;
use crate::warp::Busy;
use atoms_ops::Op;
use std::cmp::Reverse;

/// Cycles after which an unanswered try-wait counts as suspended, so that other warps run. [CHOSEN: longer than
/// a response takes]
const SUSPENDED_CYCLES: u64 = 32;

/// Instructions that one warp issues in a row before it gets the lowest priority, so that every warp makes
/// progress. [CHOSEN]
const MOST_IN_A_ROW: u32 = 4096;

/// Number of earlier loop iterations that are compared with the last one.
const ITERATIONS: usize = 4;

/// Number of clusters whose start order is permuted together, so that large grids need no large table.
const WINDOW: u32 = 4096;

#[derive(Clone, Default)]
struct Turn {
    /// The highest runs first. Initial values are positive, lowered ones negative.
    priority: i64,
    /// Hash of the accesses since the last backward branch. 0 if there were none.
    accesses: u64,
    earlier: [u64; ITERATIONS],
}

#[derive(Default)]
pub(super) struct Priorities {
    schedule: Schedule,
    /// Per warp slot.
    turns: Vec<Turn>,
    lowest: i64,
    steps: u64,
    try_waits: u64,
    changes: u64,
    /// Warp slot that issued last, its cycle, and the number of instructions in a row.
    last: (usize, u64),
    in_a_row: u32,
    /// Number of the current window, and the offsets of its clusters in start order.
    window: Option<(u32, Vec<u32>)>,
}

fn mix(hash: u64, value: u64) -> u64 {
    SplitMix64::new(hash ^ value.rotate_left(32)).next()
}

impl Priorities {
    pub(super) fn new(schedule: &Schedule, warps: usize) -> Priorities {
        let turns = vec![Turn::default(); warps];
        Priorities { schedule: schedule.clone(), turns, ..Priorities::default() }
    }

    pub(super) fn start(&mut self, slot: usize, cta: u32, warp: u32) {
        let number = u64::from(cta) << 6 | u64::from(warp);
        let drawn = match self.schedule.priorities {
            0 => u64::MAX - number,
            seed => mix(seed.into(), number),
        };
        self.turns[slot] = Turn { priority: (drawn >> 1) as i64, ..Turn::default() };
    }

    fn lower(&mut self, slot: usize) {
        self.lowest -= 1;
        self.turns[slot].priority = self.lowest;
    }

    /// Counts a step of the warp in `slot`. Returns `true` if the warp is preempted.
    fn preempts(&mut self, slot: usize) -> bool {
        self.steps += 1;
        let found = self.schedule.preemptions.contains(&self.steps);
        if found {
            self.lower(slot);
        }
        found
    }

    /// Counts a try-wait. Returns `true` if it times out early.
    pub(super) fn times_out(&mut self) -> bool {
        self.try_waits += 1;
        self.schedule.timeouts.contains(&self.try_waits)
    }

    pub(super) fn saw(&mut self, slot: usize, values: impl Iterator<Item = u64>) {
        let accesses = &mut self.turns[slot].accesses;
        *accesses = values.fold(mix(*accesses, 1), mix) | 1;
    }

    /// Records a change that other threads can see.
    pub(super) fn changed(&mut self, slot: usize) {
        self.changes += 1;
        self.saw(slot, std::iter::once(self.changes));
    }

    /// Records an access, which changed memory or returned these values.
    pub(super) fn answered(&mut self, slot: usize, changed: bool, values: impl Iterator<Item = u64>) {
        if changed { self.changed(slot) } else { self.saw(slot, values) }
    }

    /// Records a backward branch. A loop iteration with the same accesses as an earlier one polls, so other
    /// warps run first.
    pub(super) fn looped(&mut self, slot: usize) {
        let turn = &mut self.turns[slot];
        let accesses = std::mem::take(&mut turn.accesses);
        if accesses == 0 {
            return;
        }
        let polls = turn.earlier.contains(&accesses);
        turn.earlier.rotate_right(1);
        turn.earlier[0] = accesses;
        if polls {
            self.lower(slot);
        }
    }

    /// Returns the cluster that starts as number `next` of `all`.
    pub(super) fn cluster(&mut self, next: u32, all: u32) -> u32 {
        if self.schedule.clusters == 0 {
            return next;
        }
        let number = next / WINDOW;
        let first = number * WINDOW;
        let (_, offsets) = match self.window.take() {
            Some(window) if window.0 == number => self.window.insert(window),
            _ => {
                let mut random = SplitMix64::new(mix(self.schedule.clusters.into(), number.into()));
                let mut offsets: Vec<u32> = (0..WINDOW.min(all - first)).collect();
                for last in (1..offsets.len()).rev() {
                    // Cannot truncate: the value is at most `last`.
                    offsets.swap(last, random.between(0, last as i128) as usize);
                }
                self.window.insert((number, offsets))
            }
        };
        first + offsets.get((next - first) as usize).copied().unwrap_or(0)
    }
}

impl Core<'_> {
    pub(super) fn follow(&mut self, schedule: &Schedule) {
        let budget = self.config.cycle_budget.max(self.budget);
        self.budget = schedule.cycle_limit.unwrap_or(budget);
        self.priorities = Some(Box::new(Priorities::new(schedule, self.warps.len())));
    }

    /// Returns the warp that issues in this cycle under a schedule. `None` if no warp can, or if the last one
    /// waits for a response.
    pub(super) fn pick(&mut self) -> Option<usize> {
        let order = self.priorities.as_deref_mut()?;
        let (last, cycle) = order.last;
        if self.warps[last].as_deref().is_some_and(|warp| warp.busy == Busy::Request) {
            let tries = self.requests[last].as_ref().is_some_and(|request| request.op == Op::MbarTryWait);
            if !tries || self.cycle - cycle < SUSPENDED_CYCLES {
                return None;
            }
        }
        let ready = self.warps.ready(self.cycle);
        loop {
            let slot = slots(ready).max_by_key(|slot| (order.turns[*slot].priority, Reverse(*slot)))?;
            let warp = self.warps[slot].as_deref_mut()?;
            // `turn` selects the split that issues.
            let split = warp.turn(self.cycle)?;
            let next = self.kernel.instructions.get(warp.splits[split].pc as usize);
            if next.is_some_and(|next| Schedule::is_step(&next.operation)) && order.preempts(slot) {
                continue;
            }
            order.in_a_row = if slot == last { order.in_a_row + 1 } else { 0 };
            if order.in_a_row > MOST_IN_A_ROW {
                order.in_a_row = 0;
                order.lower(slot);
                continue;
            }
            order.last = (slot, self.cycle);
            return Some(slot);
        }
    }
}
