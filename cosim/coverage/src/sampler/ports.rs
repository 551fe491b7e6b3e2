//! Samples ports and queues in every cycle, and the CTA table.

use atoms_model::Config;
use atoms_monitor::{Cycle, QueueState};
use atoms_stimulus::request::AllocationWrite;

use super::hits::Hits;
use crate::groups::ports::{
    Allocation, AllocationSize, Answer, AnswerPort, AnySuspended, BackPressure, CtaBackToBack, CtaNeighbour,
    CtaPart, CtaSuspended, CtaWait, CtaWrite, Fate, Had, Hold, HoldCycles, LastRow, Level, Meanwhile,
    Neighbour, PartSize, Queue, Rank, Traffic, Waited, WaitsFor, Written,
};
use crate::groups::values::Port;

#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    /// State of the queues in the previous cycle, and whether a request was accepted.
    before: Option<[(QueueState, bool); 2]>,
    /// Cycles for which each port's response has been held.
    holds: [u32; 3],
}

pub(super) fn answers(cycle: &Cycle<'_>) -> [Answer; 3] {
    let taken = [
        cycle.warp_answer.as_ref().map(|answer| answer.taken),
        cycle.cluster_answer.as_ref().map(|answer| answer.taken),
        cycle.wake_up.as_ref().map(|wake_up| wake_up.taken),
    ];
    taken.map(|taken| match taken {
        None => Answer::Idle,
        Some(true) => Answer::Taken,
        Some(false) => Answer::Held,
    })
}

impl Ports {
    /// Returns true if the queue of this port was not empty in the previous cycle.
    pub(super) fn had_waiting(&self, port: Port) -> bool {
        self.before.is_some_and(|before| before[port as usize].0.level != 0)
    }

    #[inline(always)]
    pub(super) fn cycle(&mut self, hits: &mut Hits, cycle: &Cycle<'_>) {
        let answers = answers(cycle);
        let [response, cluster_response, wake_up] = answers;
        let suspended = if cycle.waiters().suspended == 0 { AnySuspended::None } else { AnySuspended::Some };
        hits.hit(BackPressure, (response, cluster_response, wake_up, suspended));
        self.held(hits, answers);
        self.queues(hits, cycle);
    }

    /// Samples how long answers wait for the driver.
    #[inline(always)]
    pub(super) fn held(&mut self, hits: &mut Hits, answers: [Answer; 3]) {
        for ((port, answer), cycles) in AnswerPort::ALL.iter().zip(answers).zip(&mut self.holds) {
            if answer == Answer::Held {
                *cycles = cycles.saturating_add(1);
            } else if *cycles != 0 {
                hits.hit(Hold, (*port, HoldCycles::new(std::mem::take(cycles))));
            }
        }
    }

    #[inline(always)]
    fn queues(&mut self, hits: &mut Hits, cycle: &Cycle<'_>) {
        let [warp, cluster] = cycle.queues();
        let now = [(warp, cycle.warp_accepted.is_some()), (cluster, cycle.cluster_accepted.is_some())];
        let Some(before) = self.before.replace(now) else { return };
        for ((port, (was, comes)), (now, _)) in Port::ALL.iter().zip(before).zip(now) {
            let traffic = match (comes, was.refuses, was.level + u8::from(comes) > now.level) {
                (true, _, true) => Traffic::Both,
                (true, _, false) => Traffic::Comes,
                (false, true, true) => Traffic::RefusesGoes,
                (false, true, false) => Traffic::Refuses,
                (false, false, true) => Traffic::Goes,
                (false, false, false) => Traffic::Rests,
            };
            hits.hit(Queue, (*port, Level(was.level), traffic));
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    requests: u16,
    waiters: u16,
}

/// Copy of the CTA table, and the state of a write in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    allocations: [Option<AllocationWrite>; 16],
    inside: [Inside; 16],
    waiting: bool,
    /// CTA table write that was taken in the previous cycle. Its outcome (accepted or refused) is known in
    /// this cycle.
    taken: Option<(AllocationWrite, Waited)>,
    /// Outcome of a CTA table write that became known in the previous cycle. None if there was none.
    fate: Option<Fate>,
}

impl Table {
    pub(super) fn allocation(&self, slot: u8) -> Option<AllocationWrite> {
        self.allocations[usize::from(slot & 15)]
    }

    pub(super) fn enter(&mut self, slot: u8) {
        self.inside[usize::from(slot & 15)].requests += 1;
    }

    /// Decrements the slot's requests in flight, after the last pass of a request. A suspended request
    /// becomes a waiter.
    pub(super) fn leave(&mut self, slot: u8, suspended: bool) {
        let inside = &mut self.inside[usize::from(slot & 15)];
        inside.requests = inside.requests.saturating_sub(1);
        inside.waiters += u16::from(suspended);
    }

    /// Decrements the slot's waiters, when a wake-up reaches the port.
    pub(super) fn wake(&mut self, slot: u8) {
        let inside = &mut self.inside[usize::from(slot & 15)];
        inside.waiters = inside.waiters.saturating_sub(1);
    }

    /// Samples one cycle. Requests that leave in this cycle still count as inside.
    #[inline(always)]
    pub(super) fn cycle(&mut self, config: &Config, hits: &mut Hits, cycle: &Cycle<'_>) {
        let earlier = self.fate.take();
        if let (Some(write), Some(settled)) = (self.taken.take(), cycle.allocation_settled) {
            let fate = if settled.rejected { Fate::Refused } else { Fate::Taken };
            if let Some(earlier) = earlier {
                hits.hit(CtaBackToBack, (earlier, fate));
            }
            self.fate = Some(fate);
            self.settle(config, hits, write, settled.rejected);
        }
        if let Some(write) = cycle.allocation_offered() {
            self.offered(hits, write, cycle.allocation.is_some());
        }
    }

    #[inline(never)] // rare
    fn offered(&mut self, hits: &mut Hits, write: AllocationWrite, accepted: bool) {
        let Inside { requests, waiters } = self.inside[usize::from(write.slot & 15)];
        if accepted {
            let waited = if self.waiting { Waited::Yes } else { Waited::No };
            self.taken = Some((write, waited));
            self.waiting = false;
            if waiters == 0 && self.inside.iter().any(|inside| inside.waiters > 0) {
                hits.hit(CtaSuspended, (Meanwhile::Goes,));
            }
            return;
        }
        self.waiting = true;
        let waits_for = match (requests, waiters) {
            (0, 0) => return,
            (_, 0) => WaitsFor::Requests,
            (0, _) => WaitsFor::Waiters,
            _ => WaitsFor::Both,
        };
        hits.hit(CtaWait, (waits_for,));
        if waiters > 0 {
            hits.hit(CtaSuspended, (Meanwhile::Waits,));
        }
    }

    /// Samples the outcome of the write accepted in the previous cycle.
    #[inline(never)] // rare
    fn settle(&mut self, config: &Config, hits: &mut Hits, taken: (AllocationWrite, Waited), rejected: bool) {
        let (allocation, waited) = taken;
        let slot = usize::from(allocation.slot & 15);
        let had = if self.allocations[slot].is_some() { Had::Part } else { Had::None };
        let rows = allocation.size.div_ceil(config.row_bytes());
        let written = match (rejected, allocation.enable) {
            (false, true) => Written::Given,
            (false, false) => Written::TakenAway,
            _ if slot as u32 >= config.num_cta_slots => Written::NoSlot,
            _ if u32::from(allocation.base) + rows > config.num_rows => Written::Beyond,
            _ => Written::Overlap,
        };
        hits.hit(CtaWrite, (written, had, waited));
        let exists = (slot as u32) < config.num_cta_slots;
        if exists && matches!(written, Written::Given | Written::Overlap) {
            self.neighbours(config, hits, allocation, written == Written::Overlap);
        }
        self.allocations[slot] = (written == Written::Given && exists).then_some(allocation);
        if written == Written::Given {
            let row = config.row_bytes();
            let size = match allocation.size {
                0 => PartSize::Zero,
                all if u64::from(all) == config.bytes() => PartSize::All,
                under if under < row => PartSize::Under,
                one if one == row => PartSize::Row,
                whole if whole % row == 0 => PartSize::Rows,
                _ => PartSize::Odd,
            };
            hits.hit(CtaPart, (size, Rank::new(allocation.rank.into())));
            hits.hit(AllocationSize, (Allocation::new(allocation.size),));
        }
    }

    /// Samples an allocation next to that of another slot, or refused because exactly one row overlaps.
    fn neighbours(&self, config: &Config, hits: &mut Hits, allocation: AllocationWrite, refused: bool) {
        let row = config.row_bytes();
        let rows = |allocation: AllocationWrite| {
            u32::from(allocation.base)..u32::from(allocation.base) + allocation.size.div_ceil(row)
        };
        let last_row = |allocation: AllocationWrite| match allocation.size % row {
            0 => LastRow(config.num_banks as u8),
            bytes => LastRow((bytes / 4) as u8),
        };
        let own = rows(allocation);
        let others = || {
            (0..)
                .zip(self.allocations)
                .filter(|(slot, _)| *slot != allocation.slot)
                .filter_map(|(_, other)| other)
        };
        let shared = |other: AllocationWrite| {
            own.end.min(rows(other).end).saturating_sub(own.start.max(rows(other).start))
        };
        let refused_for_one = others().map(shared).sum::<u32>() == 1;
        for other in others().filter(|other| !own.is_empty() && !rows(*other).is_empty()) {
            let there = rows(other);
            for (reached, words, neighbour) in [
                (refused && own.start + 1 == there.end, other, Neighbour::Shares),
                (!refused && own.start == there.end, other, Neighbour::Follows),
                (refused && there.start + 1 == own.end, allocation, Neighbour::Shared),
                (!refused && there.start == own.end, allocation, Neighbour::Followed),
            ] {
                if reached && (!refused || refused_for_one) {
                    hits.hit(CtaNeighbour, (last_row(words), neighbour));
                }
            }
        }
    }
}
