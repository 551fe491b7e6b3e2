//! Ports and queues, cycle by cycle, and the CTA table.

use atoms_cosim::request::PartWrite;
use atoms_model::Config;

use super::hits::Hits;
use super::sample::{CAME, CycleSample, LEVEL, REFUSED, SUSPENDED};
use crate::groups::ports::{
    Allocation, AllocationSize, Answer, AnswerPort, AnySuspended, BackPressure, CtaBackToBack, CtaNeighbour,
    CtaPart, CtaSuspended, CtaWait, CtaWrite, Fate, Had, Hold, HoldCycles, LastRow, Level, Meanwhile,
    Neighbour, PartSize, Queue, Rank, Traffic, Waited, WaitsFor, Written,
};
use crate::groups::values::Port;

/// Queues and response ports. What happens in every cycle is counted by the bits it shows in, and
/// told apart when the counts are asked for.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    /// By valid and ready of the three response ports, and whether a request is suspended.
    answers: Box<[u32; 128]>,
    /// By port, level, and whether one came, was refused, and went.
    queues: Box<[u32; 2 << QUEUE_BITS]>,
    /// The cycle before, and how often it came again since it was counted.
    before: Option<Seen>,
    again: u32,
    /// Cycles for which each port's answer has been held.
    holds: [u32; 3],
}

/// A cycle: the queues with their levels, and whether one came or was refused, and the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    queues: [u8; 2],
    answers: u8,
}

/// Bits of level, came, refused and went.
const QUEUE_BITS: usize = 8;
const WENT: u8 = 1 << 7;

impl Ports {
    pub(super) fn new() -> Self {
        Ports {
            answers: [0; 128].into(),
            queues: [0; 2 << QUEUE_BITS].into(),
            before: None,
            again: 0,
            holds: [0; 3],
        }
    }

    /// Forgets the cycle before.
    pub(super) fn clear(&mut self) {
        self.count_again();
        self.before = None;
        self.holds = [0; 3];
    }

    #[inline(always)]
    pub(super) fn cycle(&mut self, hits: &mut Hits, m: &CycleSample) {
        // Valid in the even bits, ready in the odd ones.
        let held = m.answers & !(m.answers >> 1) & 0b01_0101;
        if held != 0 || self.holds != [0; 3] {
            self.hold(hits, held);
        }
        let now = Seen { queues: m.queues, answers: m.answers };
        if self.before == Some(now) {
            self.again = self.again.saturating_add(1);
        } else {
            self.count_again();
            self.count(self.before, now, 1);
            self.before = Some(now);
        }
    }

    /// Counts the cycles of holds, and those holds that end.
    #[inline(never)] // a cycle in ten
    fn hold(&mut self, hits: &mut Hits, held: u8) {
        for (port, cycles) in self.holds.iter_mut().enumerate() {
            if held >> (2 * port) & 1 != 0 {
                *cycles = cycles.saturating_add(1);
            } else if *cycles != 0 {
                let length = match std::mem::take(cycles) {
                    ..=15 => HoldCycles::Few,
                    16..=99 => HoldCycles::Some,
                    _ => HoldCycles::Many,
                };
                hits.hit(Hold, (AnswerPort::ALL[port], length));
            }
        }
    }

    /// Counts the cycles that were as the one before them.
    fn count_again(&mut self) {
        let again = std::mem::take(&mut self.again);
        if let (Some(before), 1..) = (self.before, again) {
            self.count(Some(before), before, again);
        }
    }

    fn count(&mut self, before: Option<Seen>, now: Seen, cycles: u32) {
        if let Some(before) = before {
            for (port, (was, now)) in before.queues.into_iter().zip(now.queues).enumerate() {
                let went = (was & LEVEL) + (was >> 5 & 1) > now & LEVEL;
                let at = port << QUEUE_BITS | usize::from(was) | usize::from(went) << 7;
                let count = &mut self.queues[at & ((2 << QUEUE_BITS) - 1)];
                *count = count.saturating_add(cycles);
            }
        }
        let count = &mut self.answers[usize::from(now.answers & 127)];
        *count = count.saturating_add(cycles);
    }

    /// Puts what was counted into its bins.
    pub(super) fn tell(&mut self, hits: &mut Hits) {
        self.count_again();
        for (at, count) in self.answers.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let answer = |port: usize| match at >> (2 * port) & 3 {
                0b01 => Answer::Held,
                0b11 => Answer::Taken,
                _ => Answer::Idle,
            };
            let suspended =
                if at & usize::from(SUSPENDED) == 0 { AnySuspended::None } else { AnySuspended::Some };
            hits.add(BackPressure, (answer(0), answer(1), answer(2), suspended), std::mem::take(count));
        }
        for (at, count) in self.queues.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let port = if at >> QUEUE_BITS == 0 { Port::Warp } else { Port::Cluster };
            let bits = at as u8;
            let traffic = match (bits & CAME != 0, bits & REFUSED != 0, bits & WENT != 0) {
                (true, _, true) => Traffic::Both,
                (true, _, false) => Traffic::Comes,
                (false, true, true) => Traffic::RefusesGoes,
                (false, true, false) => Traffic::Refuses,
                (false, false, true) => Traffic::Goes,
                (false, false, false) => Traffic::Rests,
            };
            hits.add(Queue, (port, Level(bits & LEVEL), traffic), std::mem::take(count));
        }
    }
}

/// What is inside, by slot.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    requests: u16,
    waiters: u16,
}

/// The CTA table, its writes, and what keeps it waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    parts: [Option<PartWrite>; 16],
    inside: [Inside; 16],
    suspended: u32,
    waiting: bool,
    /// Taken in the cycle before: refused or not is known now.
    taken: Option<(PartWrite, Waited)>,
    /// What became of a write taken in the cycle before that.
    fate: Option<Fate>,
}

impl Table {
    /// As after reset.
    pub(super) fn clear(&mut self) {
        *self = Table::default();
    }

    pub(super) fn part(&self, slot: u8) -> Option<PartWrite> {
        self.parts[usize::from(slot & 15)]
    }

    /// A request of the slot comes in.
    pub(super) fn enter(&mut self, slot: u8) {
        self.inside[usize::from(slot & 15)].requests += 1;
    }

    /// A request's last pass is through; it may be suspended.
    pub(super) fn leave(&mut self, slot: u8, suspended: bool) {
        let inside = &mut self.inside[usize::from(slot & 15)];
        inside.requests = inside.requests.saturating_sub(1);
        inside.waiters += u16::from(suspended);
        self.suspended += u32::from(suspended);
    }

    /// The wake-up of a request of the slot went to its port.
    pub(super) fn wake(&mut self, slot: u8) {
        let inside = &mut self.inside[usize::from(slot & 15)];
        inside.waiters = inside.waiters.saturating_sub(1);
        self.suspended = self.suspended.saturating_sub(1);
    }

    /// Samples one cycle, before what leaves in it is counted out.
    #[inline(always)]
    pub(super) fn cycle(&mut self, config: &Config, hits: &mut Hits, m: &CycleSample) {
        if self.taken.is_some() || self.fate.is_some() {
            self.settle(config, hits, m.settled.is_some_and(|settled| settled.rejected));
        }
        if let Some((write, accepted)) = m.allocation {
            self.offered(hits, write, accepted);
        }
    }

    fn offered(&mut self, hits: &mut Hits, write: PartWrite, accepted: bool) {
        let Inside { requests, waiters } = self.inside[usize::from(write.slot & 15)];
        if accepted {
            let waited = if self.waiting { Waited::Yes } else { Waited::No };
            self.taken = Some((write, waited));
            self.waiting = false;
            if self.suspended > 0 && waiters == 0 {
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

    /// What became of the write taken in the cycle before.
    fn settle(&mut self, config: &Config, hits: &mut Hits, rejected: bool) {
        let earlier = self.fate.take();
        let Some((part, waited)) = self.taken.take() else { return };
        let slot = usize::from(part.slot & 15);
        let had = if self.parts[slot].is_some() { Had::Part } else { Had::None };
        let rows = part.size.div_ceil(config.row_bytes());
        let written = match (rejected, part.enable) {
            (false, true) => Written::Given,
            (false, false) => Written::TakenAway,
            _ if slot as u32 >= config.num_cta_slots => Written::NoSlot,
            _ if u32::from(part.base) + rows > config.num_rows => Written::Beyond,
            _ => Written::Overlap,
        };
        hits.hit(CtaWrite, (written, had, waited));
        let exists = (slot as u32) < config.num_cta_slots;
        if exists && matches!(written, Written::Given | Written::Overlap) {
            self.neighbours(config, hits, part, written == Written::Overlap);
        }
        self.parts[slot] = (written == Written::Given && exists).then_some(part);
        if written == Written::Given {
            let row = config.row_bytes();
            let size = match part.size {
                0 => PartSize::Zero,
                all if u64::from(all) == config.bytes() => PartSize::All,
                under if under < row => PartSize::Under,
                one if one == row => PartSize::Row,
                whole if whole % row == 0 => PartSize::Rows,
                _ => PartSize::Odd,
            };
            hits.hit(CtaPart, (size, Rank::new(part.rank.into())));
            hits.hit(AllocationSize, (Allocation::new(part.size),));
        }
        let fate = if rejected { Fate::Refused } else { Fate::Taken };
        if let Some(earlier) = earlier {
            hits.hit(CtaBackToBack, (earlier, fate));
        }
        self.fate = Some(fate);
    }

    /// Samples where a write of a part meets those of other slots: beside them, or refused for a single row.
    fn neighbours(&self, config: &Config, hits: &mut Hits, part: PartWrite, refused: bool) {
        let row = config.row_bytes();
        let rows = |part: PartWrite| u32::from(part.base)..u32::from(part.base) + part.size.div_ceil(row);
        let last_row = |part: PartWrite| match part.size % row {
            0 => LastRow(config.num_banks as u8),
            bytes => LastRow((bytes / 4) as u8),
        };
        let own = rows(part);
        let others =
            || (0..).zip(self.parts).filter(|(slot, _)| *slot != part.slot).filter_map(|(_, other)| other);
        let shared =
            |other: PartWrite| own.end.min(rows(other).end).saturating_sub(own.start.max(rows(other).start));
        let refused_for_one = others().map(shared).sum::<u32>() == 1;
        for other in others().filter(|other| !own.is_empty() && !rows(*other).is_empty()) {
            let there = rows(other);
            for (reached, words, neighbour) in [
                (refused && own.start + 1 == there.end, other, Neighbour::Shares),
                (!refused && own.start == there.end, other, Neighbour::Follows),
                (refused && there.start + 1 == own.end, part, Neighbour::Shared),
                (!refused && there.start == own.end, part, Neighbour::Followed),
            ] {
                if reached && (!refused || refused_for_one) {
                    hits.hit(CtaNeighbour, (last_row(words), neighbour));
                }
            }
        }
    }
}
