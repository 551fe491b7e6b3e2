//! Remembers what a machine was last given, for a failure to be made a case of.

use std::collections::VecDeque;
use std::sync::Arc;

use atoms_model::Config;

use crate::case::{Case, MemoryWord, Pauses, Reset};
use crate::monitor::Cycle;
use crate::request::{ClusterRequest, PartWrite, WarpRequest};
use crate::session::Listener;

/// Requests remembered, of both ports together.
pub const REQUESTS_REMEMBERED: usize = 256;

/// Answers are taken in one cycle of 64 only: what goes wrong while they wait does so whatever else is left out.
const STUBBORN_PAUSES: Pauses =
    Pauses { warp: 0, response: u64::MAX, cluster: 0, cluster_response: u64::MAX, wake: u64::MAX };

/// Pauses of all lengths.
const STEADY_PAUSES: Pauses = Pauses {
    warp: 0,
    response: 0x0f0f_3333_5555_ff00,
    cluster: 0,
    cluster_response: 0,
    wake: 0x00ff_0000_ff00_3333,
};

/// Windows of last requests that are tried as a case: mostly few are enough.
const WINDOWS: [usize; 4] = [4, 16, 64, REQUESTS_REMEMBERED];

/// Windows that fit a memory of which is known what the requests before the failing one left there.
const SHORT_WINDOWS: [usize; 4] = [2, 4, 8, 16];

/// Writes of the CTA table remembered, those that were refused or undone as well.
const TABLE_WRITES_REMEMBERED: usize = 32;

/// Answers remembered, with what memory held then.
const ANSWERS_REMEMBERED: usize = 4;

/// Writes of words that can be taken back. Most requests write less than 16.
const WRITES_REMEMBERED: usize = 16 * REQUESTS_REMEMBERED;

/// The parts as they stand, the last requests taken, what memory held before them, and the pauses of the
/// last 64 cycles. Whatever drives the session: random stimulus, a case, a kernel.
///
/// Memory is followed from zeros on, by what the banks are seen to be written.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    banks: u32,
    parts: Arc<Vec<PartWrite>>,
    /// The last writes of the CTA table since reset.
    table_writes: VecDeque<PartWrite>,
    requests: VecDeque<Taken>,
    taken: u64,
    /// Bit 0 is the cycle last seen.
    pauses: Pauses,
    cycles: u64,
    memory: Vec<u32>,
    /// The last words written, and what they held before.
    written: VecDeque<(u32, u32)>,
    writes: u64,
    /// Words written before each of the last answers.
    answered: VecDeque<u64>,
    /// Cycles since a request was taken.
    since: u64,
    reset: Option<LastReset>,
    /// The cycle last seen was one of reset.
    resetting: bool,
}

/// The last reset since the machine started.
#[derive(Clone, Debug)]
struct LastReset {
    /// Requests taken before it.
    taken: u64,
    /// Cycles between the last of them and the reset.
    after: u64,
    /// Parts as they stood.
    parts: Arc<Vec<PartWrite>>,
}

#[derive(Clone, Debug)]
struct Taken {
    request: Request,
    /// Parts as they stood.
    parts: Arc<Vec<PartWrite>>,
    /// Words written before it was taken.
    writes: u64,
}

#[derive(Clone, Debug)]
enum Request {
    Warp(Arc<WarpRequest>),
    Cluster(Arc<ClusterRequest>),
}

/// Remembers the newest, and forgets the oldest if there is no room for another.
fn push<T>(remembered: &mut VecDeque<T>, most: usize, newest: T) {
    if remembered.len() == most {
        remembered.pop_front();
    }
    remembered.push_back(newest);
}

impl Listener for Recorder {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        self.cycles += 1;
        let (driven, pauses) = (cycle.driven(), &mut self.pauses);
        let next = |pattern: &mut u64, open: bool| *pattern = *pattern << 1 | u64::from(!open);
        next(&mut pauses.warp, driven.warp);
        next(&mut pauses.response, driven.takes_response);
        next(&mut pauses.cluster, driven.cluster);
        next(&mut pauses.cluster_response, driven.takes_cluster_response);
        next(&mut pauses.wake, driven.takes_wake_up);
        self.since += 1;
        if cycle.reset.is_some() {
            // Of several cycles of reset the first one counts.
            if !std::mem::replace(&mut self.resetting, true) {
                let parts = std::mem::take(&mut self.parts);
                self.reset = Some(LastReset { taken: self.taken, after: self.since - 1, parts });
            }
            self.answered.clear();
            self.table_writes.clear();
            return;
        }
        self.resetting = false;
        if cycle.warp_answer.as_ref().is_some_and(|answer| answer.taken)
            || cycle.cluster_answer.is_some_and(|answer| answer.taken)
            || cycle.cluster_done.as_ref().is_some_and(|done| !done.owes)
        {
            push(&mut self.answered, ANSWERS_REMEMBERED, self.writes);
        }
        if let Some(part) = cycle.allocation {
            let parts = Arc::make_mut(&mut self.parts);
            parts.retain(|other| other.slot != part.slot);
            if part.enable {
                parts.push(part);
            }
            push(&mut self.table_writes, TABLE_WRITES_REMEMBERED, part);
        }
        if let Some(accepted) = &cycle.warp_accepted {
            self.remember(Request::Warp(Arc::clone(&accepted.request)));
        }
        if let Some(accepted) = &cycle.cluster_accepted {
            self.remember(Request::Cluster(Arc::clone(&accepted.request)));
        }
        // What is written in the cycle of an answer belongs to a later request.
        for write in cycle.writes() {
            let index = write.row * self.banks + write.bank;
            if let Some(word) = self.memory.get_mut(index as usize) {
                push(&mut self.written, WRITES_REMEMBERED, (index, *word));
                *word = write.value;
                self.writes += 1;
            }
        }
    }

    fn restart(&mut self) {
        let mut memory = std::mem::take(&mut self.memory);
        memory.fill(0);
        *self = Recorder { banks: self.banks, memory, ..Recorder::default() };
    }
}

impl Recorder {
    /// For a machine of `config` after reset, with a memory of zeros.
    pub fn new(config: &Config) -> Self {
        Recorder {
            banks: config.num_banks,
            memory: vec![0; (config.bytes() / 4) as usize],
            ..Recorder::default()
        }
    }

    /// Remembers a request.
    fn remember(&mut self, request: Request) {
        self.taken += 1;
        self.since = 0;
        let taken = Taken { request, parts: Arc::clone(&self.parts), writes: self.writes };
        push(&mut self.requests, REQUESTS_REMEMBERED, taken);
    }

    /// Requests taken since reset, of both ports together; only the last are remembered.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Cycles seen since reset.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The pauses of the last 64 cycles: the last one is the last cycle seen.
    pub fn pauses(&self) -> Pauses {
        self.pauses.map(u64::reverse_bits)
    }

    /// A case for `config` of the parts as they stand and the last `last` requests, with `pauses`, from a memory
    /// of zeros. A reset among them comes along.
    pub fn case(&self, config: &str, last: usize, pauses: Pauses) -> Case {
        let mut case =
            Case { config: config.to_string(), parts: self.parts.to_vec(), pauses, ..Case::default() };
        let skipped = self.requests.len().saturating_sub(last);
        let first = self.taken - (self.requests.len() - skipped) as u64;
        let mut before = 0;
        if let Some(reset) = self.reset.as_ref().filter(|reset| reset.taken > first) {
            before = reset.taken - first;
            case.reset = Some(Reset { after: reset.after, parts: self.parts.to_vec(), ..Reset::default() });
            case.parts = reset.parts.to_vec();
        }
        for (number, taken) in self.requests.iter().skip(skipped).enumerate() {
            if let Some(reset) = case.reset.as_mut().filter(|_| (number as u64) < before) {
                match &taken.request {
                    Request::Warp(_) => reset.warps += 1,
                    Request::Cluster(_) => reset.clusters += 1,
                }
            }
            match &taken.request {
                Request::Warp(request) => case.warps.push(WarpRequest::clone(request)),
                Request::Cluster(request) => case.clusters.push(ClusterRequest::clone(request)),
            }
        }
        case
    }

    /// What memory held when the first of the last `last` requests was taken; none where that is forgotten.
    pub fn memory_before(&self, last: usize) -> Option<Vec<MemoryWord>> {
        let first = self.requests.get(self.requests.len().saturating_sub(last))?;
        self.memory_after(first.writes)
    }

    /// What memory held after so many words were written since reset, where it is not zero.
    fn memory_after(&self, writes: u64) -> Option<Vec<MemoryWord>> {
        let back = usize::try_from(self.writes - writes).ok().filter(|b| *b <= self.written.len())?;
        let mut memory = self.memory.clone();
        for (index, before) in self.written.iter().rev().take(back) {
            memory[*index as usize] = *before;
        }
        let words = (0..).zip(memory).filter(|(_, value)| *value != 0);
        Some(words.map(|(word, value)| MemoryWord { word, value }).collect())
    }

    /// Cases for `config` that may fail as the run did, those that are easiest to make small first: few
    /// requests before many, from a memory of zeros before one that is as it was, with the CTA table as it stands
    /// before one that it has been, with pauses of any beginning last.
    pub fn candidates<'a>(&'a self, config: &'a str) -> impl Iterator<Item = Case> + 'a {
        let windows = WINDOWS.into_iter().enumerate();
        // A window larger than what is remembered holds what the one before it holds.
        let windows =
            windows.filter(|(at, _)| *at == 0 || WINDOWS[at - 1] < self.requests.len()).map(|(_, last)| last);
        let pauses = [Pauses::default(), STUBBORN_PAUSES, self.pauses(), STEADY_PAUSES];
        let with_pauses = move |last| {
            // Where a reset hits differs with the pauses before it.
            let moved = |case: Case| {
                let recorded = case.reset.as_ref().map_or(0, |reset| reset.after);
                let most = if case.reset.is_some() { 16 } else { 0 };
                std::iter::once(recorded).chain((0..most).filter(move |after| *after != recorded)).map(
                    move |after| {
                        let reset = case.reset.clone().map(|reset| Reset { after, ..reset });
                        Case { reset, ..case.clone() }
                    },
                )
            };
            pauses.into_iter().flat_map(move |pauses| moved(self.case(config, last, pauses)))
        };
        let from = move |memory: Option<Vec<MemoryWord>>, last| {
            let memory = memory.filter(|memory| !memory.is_empty());
            let cases = memory
                .map(|memory| with_pauses(last).map(move |case| Case { memory: memory.clone(), ..case }));
            cases.into_iter().flatten()
        };
        let from_zeros = windows.clone().flat_map(with_pauses);
        let answered = SHORT_WINDOWS.into_iter().flat_map(move |last| {
            let moments = std::iter::once(&self.writes).chain(self.answered.iter().rev());
            moments.flat_map(move |writes| from(self.memory_after(*writes), last))
        });
        let from_memory = windows.clone().flat_map(move |last| from(self.memory_before(last), last));
        let with_tables = windows.flat_map(move |last| {
            let cases = with_pauses(last).chain(from(self.memory_before(last), last));
            cases.flat_map(move |case| {
                self.tables(last).map(move |parts| {
                    let mut case = case.clone();
                    *case.reset.as_mut().map_or(&mut case.parts, |reset| &mut reset.parts) = parts;
                    case
                })
            })
        });
        let turned = SHORT_WINDOWS.into_iter().flat_map(move |last| {
            let memories = [None, self.memory_before(last)];
            memories.into_iter().flat_map(move |memory| {
                (0..64).map(move |cycles| Case {
                    memory: memory.clone().unwrap_or_default(),
                    ..self.case(config, last, self.pauses().map(|pattern| pattern.rotate_left(cycles)))
                })
            })
        });
        from_zeros.chain(answered).chain(from_memory).chain(with_tables).chain(turned)
    }

    /// The CTA table that the last `last` requests may have needed, where it is not as it stands: as it stood when the
    /// first of them was taken, and when the last was; and with the writes that were refused or undone.
    fn tables(&self, last: usize) -> impl Iterator<Item = Vec<PartWrite>> {
        let first = self.requests.get(self.requests.len().saturating_sub(last));
        let mut tables: Vec<Vec<PartWrite>> =
            [first, self.requests.back()].into_iter().flatten().map(|taken| taken.parts.to_vec()).collect();
        tables.push(self.table_writes.iter().copied().collect());
        tables.dedup();
        tables.into_iter().filter(|parts| *parts != *self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Monitor;
    use atoms_model::port::{In, Out, Probe};

    #[test]
    fn the_last_requests_of_both_ports_are_remembered_in_their_order() {
        let config = Config::default();
        let (mut recorder, mut monitor) = (Recorder::new(&config), Monitor::new(&config));
        let (out, mut probe) =
            (Out { req_ready: 1, cl_ready: 1, cta_ready: 1, ..Out::default() }, Probe::default());
        let part = PartWrite { slot: 1, enable: true, base: 2, size: 64, rank: 0 };
        for number in 0..300u32 {
            let mut i = In { rst_n: 1, ..In::default() };
            let warp = WarpRequest { mask: 1, imm: number, ..WarpRequest::default() };
            if number % 2 == 0 {
                warp.drive(&mut i)
            } else {
                ClusterRequest { addr: number, ..Default::default() }.drive(&mut i)
            }
            if number == 7 {
                part.drive(&mut i);
            }
            i.rsp_ready = u8::from(number != 298);
            probe.wr_en = u64::from(number >= 296);
            probe.wr_data[0] = number;
            recorder.cycle(&monitor.cycle(number.into(), &i, &out, &probe));
        }
        assert_eq!(recorder.taken(), 300);
        let all = recorder.case("small", usize::MAX, Pauses::default());
        assert_eq!(all.requests(), REQUESTS_REMEMBERED);
        // Word 0 was written in each of the last four cycles.
        assert_eq!(recorder.memory_before(2), Some(vec![MemoryWord { word: 0, value: 297 }]));
        assert_eq!(recorder.memory_before(3), Some(vec![MemoryWord { word: 0, value: 296 }]));
        assert_eq!(recorder.memory_before(4), Some(Vec::new()));
        let case = recorder.case("small", 3, recorder.pauses());
        assert_eq!(case.parts, [part]);
        assert_eq!(case.warps.iter().map(|r| r.imm).collect::<Vec<_>>(), [298]);
        assert_eq!(case.clusters.iter().map(|r| r.addr).collect::<Vec<_>>(), [297, 299]);
        assert_eq!(case.pauses.response, 1 << 62, "the last but one of 64 cycles");
        // A reset of two cycles, two cycles after the last request; parts are given again behind it.
        for rst_n in [1, 1, 0, 0] {
            let i = In { rst_n, ..In::default() };
            recorder.cycle(&monitor.cycle(300, &i, &out, &Probe::default()));
        }
        let again = PartWrite { base: 3, ..part };
        let mut i = In { rst_n: 1, ..In::default() };
        again.drive(&mut i);
        WarpRequest { mask: 1, imm: 300, ..WarpRequest::default() }.drive(&mut i);
        recorder.cycle(&monitor.cycle(304, &i, &out, &Probe::default()));
        let case = recorder.case("small", 3, Pauses::default());
        assert_eq!(case.reset, Some(Reset { warps: 1, clusters: 1, after: 2, parts: vec![again] }));
        assert_eq!((&case.parts[..], case.requests()), (&[part][..], 3));
        let behind = recorder.case("small", 1, Pauses::default());
        assert_eq!((behind.reset, behind.parts), (None, vec![again]));
        recorder.restart();
        assert_eq!(
            recorder.case("small", 3, Pauses::default()),
            Case { config: "small".into(), ..Case::default() }
        );
    }
}
