//! Records the last inputs of a machine, from which a failure can be made into a case.

use std::collections::VecDeque;
use std::sync::Arc;

use atoms_model::Config;
use atoms_monitor::Listener;
use atoms_monitor::{Appearance, Cycle, InFlight};
use atoms_ops::Op;
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, WarpRequest};

use crate::case::{Case, Change, MemoryWord, Pauses};

/// Requests remembered, both ports together.
pub const REQUESTS_REMEMBERED: usize = 256;

/// Events remembered: requests, CTA table writes and resets.
const EVENTS_REMEMBERED: usize = 8 * REQUESTS_REMEMBERED;

/// Ready is high in one cycle of 64, so that a failure that needs untaken responses still occurs in the
/// minimized case.
const STUBBORN_PAUSES: Pauses =
    Pauses { warp: 0, response: u64::MAX, cluster: 0, cluster_response: u64::MAX, wake: u64::MAX };

const STEADY_PAUSES: Pauses = Pauses {
    warp: 0,
    response: 0x0f0f_3333_5555_ff00,
    cluster: 0,
    cluster_response: 0,
    wake: 0x00ff_0000_ff00_3333,
};

/// Numbers of last requests to try as a case. A few are usually enough.
const WINDOWS: [usize; 4] = [4, 16, 64, REQUESTS_REMEMBERED];

/// Numbers of last requests for candidates that also vary memory, repetitions or pauses.
const SHORT_WINDOWS: [usize; 4] = [2, 4, 8, 16];

/// Largest case, in requests, whose last reset is also tried in other cycles.
const MOST_TO_MOVE: usize = 16;

/// Requests of a case that repeats the last ones. In each named configuration this number brings a counter of
/// CAST.SPIN to where it holds one lane (spec 5.4).
const REPEATED_REQUESTS: usize = 1024;

const ANSWERS_REMEMBERED: usize = 4;

/// Writes of words that can be undone. Most requests write fewer than 16 words.
const WRITES_REMEMBERED: usize = 16 * REQUESTS_REMEMBERED;

/// Records the last requests, CTA table writes and resets in one order, the memory before them, and the
/// pauses of the last 64 cycles. The driver may be random stimulus, a case or a kernel.
///
/// Memory starts with zeros and follows the bank writes.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    banks: u32,
    history: VecDeque<Event>,
    requests: usize,
    before: Before,
    offered: Option<AllocationWrite>,
    /// Numbers of the MBAR.TRY_WAIT requests without a response or wake-up.
    waits: Vec<u64>,
    /// Pauses of the last 64 cycles, one bit per cycle. Bit 0 is the most recent cycle.
    pauses: Pauses,
    memory: Vec<u32>,
    /// Index and previous value of the last words written, oldest first.
    written: VecDeque<(u32, u32)>,
    writes: u64,
    /// Value of `writes` (number of words written) at each of the last responses and wake-ups.
    answered: VecDeque<u64>,
    since: u64,
    resetting: bool,
}

#[derive(Clone, Debug)]
struct Event {
    given: Given,
    /// Cycles between the previous event and this one.
    after: u64,
    /// Value of `Recorder::writes` before the event.
    writes: u64,
}

#[derive(Clone, Debug)]
enum Given {
    Warp(InFlight<WarpRequest>),
    Cluster(Arc<ClusterRequest>),
    Allocation { allocation: AllocationWrite, refused: bool },
    Reset { cycles: u64 },
}

impl Given {
    fn is_request(&self) -> bool {
        matches!(self, Given::Warp(_) | Given::Cluster(_))
    }
}

#[derive(Clone, Debug, Default)]
struct Before {
    allocations: Vec<AllocationWrite>,
    /// Requests that may be suspended.
    waits: Vec<InFlight<WarpRequest>>,
}

impl Before {
    fn pass(&mut self, event: &Event) {
        match &event.given {
            Given::Warp(request) if is_wait(request) => self.waits.push(request.clone()),
            Given::Warp(_) | Given::Cluster(_) => {}
            Given::Allocation { allocation, refused } => {
                self.allocations.retain(|other| other.slot != allocation.slot);
                if allocation.enable && !refused {
                    self.allocations.push(*allocation);
                }
            }
            Given::Reset { .. } => *self = Before::default(),
        }
    }
}

fn is_wait(request: &InFlight<WarpRequest>) -> bool {
    request.request.op == Op::MbarTryWait as u8
}

fn push<T>(remembered: &mut VecDeque<T>, most: usize, newest: T) {
    if remembered.len() == most {
        remembered.pop_front();
    }
    remembered.push_back(newest);
}

impl Listener for Recorder {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        let (driven, pauses) = (cycle.driven(), &mut self.pauses);
        let next = |pattern: &mut u64, open: bool| *pattern = *pattern << 1 | u64::from(!open);
        next(&mut pauses.warp, driven.warp);
        next(&mut pauses.response, driven.takes_response);
        next(&mut pauses.cluster, driven.cluster);
        next(&mut pauses.cluster_response, driven.takes_cluster_response);
        next(&mut pauses.wake, driven.takes_wake_up);
        self.since += 1;
        if cycle.reset.is_some() {
            match self.history.back_mut() {
                Some(Event { given: Given::Reset { cycles }, .. }) if self.resetting => *cycles += 1,
                _ => self.remember(Given::Reset { cycles: 1 }),
            }
            (self.resetting, self.since) = (true, 0);
            self.answered.clear();
            self.waits.clear();
            return;
        }
        self.resetting = false;
        let response = cycle.warp_answer.as_ref().and_then(|answer| answer.appears.as_ref());
        let wake_up = cycle.wake_up.as_ref().and_then(|wake_up| wake_up.appears.as_ref());
        for Appearance { request, .. } in response.into_iter().chain(wake_up) {
            self.waits.retain(|wait| !request.as_ref().is_ok_and(|request| request.number == *wait));
        }
        if cycle.warp_answer.as_ref().is_some_and(|answer| answer.taken)
            || cycle.cluster_answer.is_some_and(|answer| answer.taken)
            || cycle.cluster_done.as_ref().is_some_and(|done| !done.owes)
        {
            push(&mut self.answered, ANSWERS_REMEMBERED, self.writes);
        }
        if cycle.allocation_settled.is_some_and(|settled| settled.rejected) {
            let last = self.history.iter_mut().rev().find_map(|event| match &mut event.given {
                Given::Allocation { refused, .. } => Some(refused),
                _ => None,
            });
            last.into_iter().for_each(|refused| *refused = true);
        }
        self.offered = cycle.allocation_offered();
        if cycle.allocation.is_some()
            && let Some(allocation) = self.offered.take()
        {
            self.remember(Given::Allocation { allocation, refused: false });
        }
        if let Some(accepted) = &cycle.warp_accepted {
            if is_wait(accepted) {
                self.waits.push(accepted.number);
            }
            self.remember(Given::Warp(accepted.clone()));
        }
        if let Some(accepted) = &cycle.cluster_accepted {
            self.remember(Given::Cluster(Arc::clone(&accepted.request)));
        }
        // Record writes last: a word written in the cycle of a response belongs to a later request.
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
    /// Creates a recorder for a machine of `config` after reset, with a memory of zeros.
    pub fn new(config: &Config) -> Self {
        Recorder {
            banks: config.num_banks,
            memory: vec![0; (config.bytes() / 4) as usize],
            ..Recorder::default()
        }
    }

    fn remember(&mut self, given: Given) {
        self.requests += usize::from(given.is_request());
        // The cycle of the event is already counted in `since`.
        let after = self.since.saturating_sub(1);
        self.history.push_back(Event { given, after, writes: self.writes });
        self.since = 0;
        while self.requests > REQUESTS_REMEMBERED || self.history.len() > EVENTS_REMEMBERED {
            let Some(event) = self.history.pop_front() else { break };
            self.requests -= usize::from(event.given.is_request());
            self.before.pass(&event);
            self.before.waits.retain(|wait| self.waits.contains(&wait.number));
        }
    }

    /// Returns the index in `history` of the first of the last `last` requests. 0 if there are fewer.
    fn first_of(&self, last: usize) -> usize {
        let skipped = self.requests.saturating_sub(last);
        let mut places = (0..).zip(&self.history).filter(|(_, event)| event.given.is_request());
        if skipped == 0 { 0 } else { places.nth(skipped).map_or(self.history.len(), |(place, _)| place) }
    }

    /// Returns the pauses of the last 64 cycles. The most recent cycle comes last.
    pub fn pauses(&self) -> Pauses {
        self.pauses.map(u64::reverse_bits)
    }

    /// Builds a case of the last `last` requests, with the changes between them and `pauses`, from a memory
    /// of zeros. Older requests that are still suspended come first.
    pub fn case(&self, config: &str, last: usize, pauses: Pauses) -> Case {
        let first = self.first_of(last);
        let mut before = self.before.clone();
        self.history.range(..first).for_each(|event| before.pass(event));
        let waits = before.waits.iter().filter(|wait| self.waits.contains(&wait.number));
        let mut case = Case {
            config: config.to_string(),
            allocations: before.allocations,
            warps: waits.map(|wait| WarpRequest::clone(&wait.request)).collect(),
            pauses,
            ..Case::default()
        };
        let offered = self.offered.map(|allocation| Event {
            given: Given::Allocation { allocation, refused: false },
            after: 0,
            writes: self.writes,
        });
        for Event { given, after, .. } in self.history.range(first..).chain(&offered) {
            let (warps, clusters) = (case.warps.len(), case.clusters.len());
            let change = Change { warps, clusters, after: *after, ..Change::default() };
            match (given, case.changes.last_mut()) {
                (Given::Warp(request), _) => case.warps.push(WarpRequest::clone(&request.request)),
                (Given::Cluster(request), _) => case.clusters.push(ClusterRequest::clone(request)),
                (Given::Reset { cycles }, _) => case.changes.push(Change { reset: *cycles, ..change }),
                (Given::Allocation { allocation, .. }, None) if warps + clusters == 0 => {
                    case.allocations.push(*allocation)
                }
                (Given::Allocation { allocation, .. }, Some(last))
                    if (last.warps, last.clusters) == (warps, clusters) =>
                {
                    last.allocations.push(*allocation);
                }
                (Given::Allocation { allocation, .. }, _) => {
                    case.changes.push(Change { allocations: vec![*allocation], ..change });
                }
            }
        }
        case
    }

    /// Returns the nonzero memory before the first of the last `last` requests. `None` if it is forgotten.
    pub fn memory_before(&self, last: usize) -> Option<Vec<MemoryWord>> {
        self.memory_after(self.history.get(self.first_of(last))?.writes)
    }

    /// Returns the nonzero words of memory after the first `writes` words written since reset.
    fn memory_after(&self, writes: u64) -> Option<Vec<MemoryWord>> {
        let back = usize::try_from(self.writes - writes).ok().filter(|b| *b <= self.written.len())?;
        let mut memory = self.memory.clone();
        for (index, before) in self.written.iter().rev().take(back) {
            memory[*index as usize] = *before;
        }
        let words = (0..).zip(memory).filter(|(_, value)| *value != 0);
        Some(words.map(|(word, value)| MemoryWord { word, value }).collect())
    }

    /// Returns cases for `config` that may fail as the run did. The easiest to minimize come first:
    /// - few requests before many;
    /// - a memory of zeros before the recorded memory;
    /// - recorded cycles of changes before other cycles;
    /// - rotated pause patterns last.
    pub fn candidates<'a>(&'a self, config: &'a str) -> impl Iterator<Item = Case> + 'a {
        let windows = WINDOWS.into_iter().enumerate();
        // Skip a window if the previous one already holds every request remembered.
        let windows =
            windows.filter(|(at, _)| *at == 0 || WINDOWS[at - 1] < self.requests).map(|(_, last)| last);
        let pauses = [Pauses::default(), STUBBORN_PAUSES, self.pauses(), STEADY_PAUSES];
        let with_pauses =
            move |last| pauses.into_iter().flat_map(move |pauses| moved(self.case(config, last, pauses)));
        let from = move |memory: Option<Vec<MemoryWord>>, last| {
            let memory = memory.filter(|memory| !memory.is_empty());
            let cases = memory
                .map(|memory| with_pauses(last).map(move |case| Case { memory: memory.clone(), ..case }));
            cases.into_iter().flatten()
        };
        let from_zeros = windows.clone().flat_map(with_pauses);
        let again = SHORT_WINDOWS.into_iter().flat_map(move |last| {
            let case = self.case(config, last, Pauses::default());
            let mut awake = case.clone();
            awake.warps.retain(|request| request.op != Op::MbarTryWait as u8);
            [again(&case, 8, true), again(&awake, REPEATED_REQUESTS / last, false)]
        });
        let answered = SHORT_WINDOWS.into_iter().flat_map(move |last| {
            let moments = std::iter::once(&self.writes).chain(self.answered.iter().rev());
            moments.flat_map(move |writes| from(self.memory_after(*writes), last))
        });
        let from_memory = windows.clone().flat_map(move |last| from(self.memory_before(last), last));
        let with_early_allocations = windows.flat_map(move |last| {
            let cases = with_pauses(last).chain(from(self.memory_before(last), last));
            cases
                .filter(|case| case.changes.iter().any(|change| change.reset == 0))
                .map(Case::with_early_allocations)
        });
        let written_again = SHORT_WINDOWS.into_iter().flat_map(with_pauses).map(written_again);
        let turned = SHORT_WINDOWS.into_iter().flat_map(move |last| {
            let memories = [None, self.memory_before(last)];
            memories.into_iter().flat_map(move |memory| {
                (0..64).map(move |cycles| Case {
                    memory: memory.clone().unwrap_or_default(),
                    ..self.case(config, last, self.pauses().map(|pattern| pattern.rotate_left(cycles)))
                })
            })
        });
        let unchanged = from_zeros.chain(again).chain(answered).chain(from_memory);
        unchanged.chain(with_early_allocations).chain(written_again).chain(turned)
    }
}

/// Returns the case, and for a small case also variants with the last reset in other cycles.
fn moved(case: Case) -> impl Iterator<Item = Case> {
    let last = case.changes.iter().rposition(|change| change.reset > 0);
    let recorded = last.map(|last| case.changes[last].after);
    let most = if recorded.is_some() && case.requests() <= MOST_TO_MOVE { 16 } else { 0 };
    let others = (0..most).filter(move |after| Some(*after) != recorded);
    recorded.or(Some(0)).into_iter().chain(others).map(move |after| {
        let mut case = case.clone();
        last.into_iter().for_each(|last| case.changes[last].after = after);
        case
    })
}

fn last_allocations(case: &Case) -> Vec<AllocationWrite> {
    let Case { allocations, mut changes, .. } = case.clone().with_early_allocations();
    changes.pop().map_or(allocations, |reset| reset.allocations)
}

/// Repeats the requests `times` times with the final CTA table, after a reset each if `resets` is set.
///
/// This exposes state that is older than the case: a counter, or a register that a reset does not clear.
fn again(case: &Case, times: usize, resets: bool) -> Case {
    let allocations = last_allocations(case);
    let (warps, clusters) = (case.warps.len(), case.clusters.len());
    let reset = |at| Change {
        warps: at * warps,
        clusters: at * clusters,
        after: 32,
        reset: 1,
        allocations: allocations.clone(),
    };
    Case {
        changes: if resets { (1..times).map(reset).collect() } else { Vec::new() },
        warps: vec![&case.warps[..]; times].concat(),
        clusters: vec![&case.clusters[..]; times].concat(),
        allocations,
        ..case.clone()
    }
}

/// Repeats the CTA table writes at the end: the unit accepts a write only if its slot has no requests inside.
fn written_again(mut case: Case) -> Case {
    let (warps, clusters, allocations) = (case.warps.len(), case.clusters.len(), last_allocations(&case));
    case.changes.push(Change { warps, clusters, allocations, ..Change::default() });
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use atoms_model::port::{In, Out, Probe};
    use atoms_monitor::Monitor;

    #[test]
    fn the_last_requests_of_both_ports_are_remembered_in_their_order() {
        let config = Config::default();
        let (mut recorder, mut monitor) = (Recorder::new(&config), Monitor::new(&config));
        let (out, mut probe) =
            (Out { req_ready: 1, cl_ready: 1, cta_ready: 1, ..Out::default() }, Probe::default());
        let allocation = AllocationWrite { slot: 1, enable: true, base: 2, size: 64, rank: 0 };
        for number in 0..300u32 {
            let mut i = In { rst_n: 1, ..In::default() };
            let warp = WarpRequest { mask: 1, imm: number, ..WarpRequest::default() };
            if number % 2 == 0 {
                warp.drive(&mut i)
            } else {
                ClusterRequest { addr: number, ..Default::default() }.drive(&mut i)
            }
            if number == 7 {
                allocation.drive(&mut i);
            }
            i.rsp_ready = u8::from(number != 298);
            probe.wr_en = u64::from(number >= 296);
            probe.wr_data[0] = number;
            recorder.cycle(&monitor.cycle(number.into(), &i, &out, &probe));
        }
        let all = recorder.case("small", usize::MAX, Pauses::default());
        assert_eq!(all.requests(), REQUESTS_REMEMBERED);
        assert_eq!(recorder.memory_before(2), Some(vec![MemoryWord { word: 0, value: 297 }]));
        assert_eq!(recorder.memory_before(3), Some(vec![MemoryWord { word: 0, value: 296 }]));
        assert_eq!(recorder.memory_before(4), Some(Vec::new()));
        let case = recorder.case("small", 3, recorder.pauses());
        assert_eq!(case.allocations, [allocation]);
        assert_eq!(case.warps.iter().map(|r| r.imm).collect::<Vec<_>>(), [298]);
        assert_eq!(case.clusters.iter().map(|r| r.addr).collect::<Vec<_>>(), [297, 299]);
        assert_eq!(case.pauses.response, 1 << 62, "the last but one of 64 cycles");
        // Reset for two cycles, two cycles after the last request. Write the allocations again afterwards.
        for rst_n in [1, 1, 0, 0] {
            let i = In { rst_n, ..In::default() };
            recorder.cycle(&monitor.cycle(300, &i, &out, &Probe::default()));
        }
        let again = AllocationWrite { base: 3, ..allocation };
        let mut i = In { rst_n: 1, ..In::default() };
        again.drive(&mut i);
        WarpRequest { mask: 1, imm: 300, ..WarpRequest::default() }.drive(&mut i);
        recorder.cycle(&monitor.cycle(304, &i, &out, &Probe::default()));
        let case = recorder.case("small", 3, Pauses::default());
        let reset = Change { warps: 1, clusters: 1, after: 2, reset: 2, allocations: vec![again] };
        assert_eq!(
            (&case.changes[..], &case.allocations[..], case.requests()),
            (&[reset][..], &[allocation][..], 3)
        );
        let behind = recorder.case("small", 1, Pauses::default());
        assert_eq!((behind.changes, behind.allocations), (Vec::new(), vec![again]));
        recorder.restart();
        assert_eq!(
            recorder.case("small", 3, Pauses::default()),
            Case { config: "small".into(), ..Case::default() }
        );
    }

    #[test]
    fn requests_and_changes_are_remembered_in_one_order() {
        let config = Config::default();
        let (mut recorder, mut monitor) = (Recorder::new(&config), Monitor::new(&config));
        let mut cycle = |recorder: &mut Recorder,
                         allocation: Option<AllocationWrite>,
                         warp: Option<&WarpRequest>,
                         out: Out| {
            let mut i = In { rst_n: 1, ..In::default() };
            allocation.into_iter().for_each(|allocation| allocation.drive(&mut i));
            warp.into_iter().for_each(|warp| warp.drive(&mut i));
            let out = Out { req_ready: 1, cl_ready: 1, cta_ready: 1, ..out };
            recorder.cycle(&monitor.cycle(0, &i, &out, &Probe::default()));
        };
        let allocation =
            |slot, size| AllocationWrite { slot, enable: true, size, ..AllocationWrite::default() };
        let [given, refused, later] = [allocation(0, 64), allocation(1, 32), allocation(0, 128)];
        let wait = WarpRequest { op: Op::MbarTryWait as u8, tag: 5, ..WarpRequest::default() };
        let [first, second] = [1, 2].map(|tag| WarpRequest { tag, ..WarpRequest::default() });
        cycle(&mut recorder, Some(given), None, Out::default());
        cycle(&mut recorder, None, Some(&wait), Out::default());
        cycle(&mut recorder, Some(refused), None, Out::default());
        cycle(&mut recorder, None, Some(&first), Out { cta_reject: 1, ..Out::default() });
        cycle(&mut recorder, None, None, Out::default());
        cycle(&mut recorder, Some(later), None, Out::default());
        cycle(&mut recorder, None, Some(&second), Out::default());
        let change = |warps, after, allocation| Change {
            warps,
            after,
            allocations: vec![allocation],
            ..Change::default()
        };
        let all = recorder.case("small", usize::MAX, Pauses::default());
        assert_eq!(
            (&all.allocations[..], &all.warps[..]),
            (&[given][..], &[wait.clone(), first.clone(), second][..])
        );
        assert_eq!(all.changes, [change(1, 0, refused), change(2, 1, later)]);
        // The wait may be suspended, so the case includes it. The rejected write had no effect.
        let last = recorder.case("small", 2, Pauses::default());
        assert_eq!((&last.allocations, &last.warps), (&all.allocations, &all.warps));
        assert_eq!(last.changes, [change(2, 1, later)]);
        cycle(&mut recorder, None, None, Out { wake_valid: 1, wake_tag: 5, ..Out::default() });
        assert_eq!(recorder.case("small", 2, Pauses::default()).warps[0], first);
        assert_eq!(recorder.case("small", 1, Pauses::default()).allocations, [later]);
        for _ in 0..EVENTS_REMEMBERED {
            cycle(&mut recorder, Some(refused), None, Out { cta_reject: 1, ..Out::default() });
        }
        cycle(&mut recorder, None, None, Out { cta_reject: 1, ..Out::default() });
        assert_eq!((recorder.history.len(), recorder.requests), (EVENTS_REMEMBERED, 0));
        assert_eq!(recorder.case("small", 1, Pauses::default()).allocations[0], later);
    }
}
