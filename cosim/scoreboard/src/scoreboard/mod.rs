//! The scoreboard: events of the ports in, verdicts out.

mod events;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};

use atoms_model::Config;
use atoms_model::config::WinnerPolicy;
use atoms_monitor::{Unmatched, WarpQueue};
use atoms_ops::{Fault, Op};
use atoms_oracle::{Allocation, Geometry, GoesFirst, Rejection, Response, SerialRequest, faults};
use atoms_record::{DeclaredUnit, TraceEvent, TraceHeader, TraceWriter};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::{AllocationWrite, ClusterRequest};
use atoms_stimulus::unit::{ForeignRules, ForeignUnit};

use crate::item::{Answer, BothPorts, Item, Pending};
use crate::judge::{Ending, Objection, Worlds};
use crate::serial::put_cluster;
use crate::verdict::{PortName, PortVerdict, RequestName};

/// A response of the warp port.
#[derive(Clone, Debug, Default)]
pub struct WarpResponse {
    /// Tag of the request.
    pub tag: u8,
    /// Results, predicates and fault.
    pub response: Response,
    /// Number of passes, if the unit states it.
    pub passes: Option<u32>,
    /// Words that the request wrote, with their final values. `None` if they were not observed.
    pub written: Option<Vec<(u32, u32)>>,
}

/// A response of the cluster port.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterResponse {
    /// Tag of the request.
    pub tag: u8,
    /// Result of the lane.
    pub rd: u128,
    /// Predicate of the lane.
    pub pred: bool,
    /// Reason why the request touched no memory.
    pub fault: u8,
    /// Faulting offset in the allocation.
    pub fault_addr: u32,
}

impl ClusterResponse {
    /// Returns the response in the oracle's form. `rank` is the rank of the owner in bits 31:24.
    pub fn response(&self, rank: u32) -> Response {
        let fault = Fault::from_code(self.fault).unwrap_or(Fault::None);
        let mut response = Response { pred: u32::from(self.pred), fault, ..Response::default() };
        response.rd[0] = self.rd;
        if fault != Fault::None {
            response.fault_addr = rank | self.fault_addr;
        }
        response
    }
}

/// Last cycle that can be reported. Sums of cycles then never overflow.
const LAST_CYCLE: u64 = u64::MAX >> 1;

/// Maximum number of requests of one port that are not judged. No unit holds as many.
const REQUESTS: usize = 1 << 16;

/// Maximum number of posted cluster requests in a unit. Older ones have executed.
const POSTED: usize = 1 << 10;

/// Maximum number of events that wait for an answer.
const EVENTS: usize = 1 << 20;

type Recording = TraceWriter<Box<dyn Write + Send>>;

/// Scoreboard of one unit. Events must come in the order of their cycles.
///
/// Memory starts as zeros, without allocations.
pub struct PortScoreboard {
    header: TraceHeader,
    slots: u32,
    observed: bool,
    cycle: u64,
    queue: WarpQueue<RequestName>,
    items: BothPorts,
    /// Number of the oldest cluster request without a response, if it gets one.
    unanswered_cluster: u64,
    /// Number of the cluster request that the next call of [`PortScoreboard::executed`] reports.
    executed_cluster: u64,
    /// Allocation of each slot, and the cycle of the last table write.
    allocations: Vec<(Option<Allocation>, u64)>,
    pending: VecDeque<(u64, Pending)>,
    worlds: Worlds,
    judged: u64,
    ending: Ending,
    /// True if judging cannot continue: too many orders were possible, or events came out of order.
    lost: bool,
    recording: Option<Recording>,
    recording_error: Option<io::Error>,
}

impl fmt::Debug for PortScoreboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortScoreboard").field("judged", &self.judged()).finish_non_exhaustive()
    }
}

type Verdict = Result<(), Box<PortVerdict>>;

impl PortScoreboard {
    /// Creates a scoreboard of this project's unit in a configuration. Judges the order of lanes and the lane
    /// that CAST.SPIN selects, too.
    pub fn new(config: &Config) -> Self {
        Self::of_unit(header_of(config), config.num_cta_slots)
    }

    /// Creates a scoreboard of the unit that `config` names: this project's, or another one with the rules that it
    /// declares.
    pub fn of(config: &NamedConfig) -> Self {
        match &config.unit {
            Some(unit) => Self::of_unit(foreign_header(&config.config, unit), config.config.num_cta_slots),
            None => Self::new(&config.config),
        }
    }

    /// Creates a scoreboard of any unit with this memory, and with what the header declares about it. `slots` is
    /// the number of slots of its CTA table.
    pub fn of_unit(header: TraceHeader, slots: u32) -> Self {
        PortScoreboard {
            header,
            slots,
            observed: false,
            cycle: 0,
            queue: WarpQueue::default(),
            items: BothPorts::default(),
            unanswered_cluster: 0,
            executed_cluster: 0,
            allocations: vec![(None, 0); 256],
            pending: VecDeque::new(),
            worlds: Worlds::new(header.checker()),
            judged: 0,
            ending: Ending::No,
            lost: false,
            recording: None,
            recording_error: None,
        }
    }

    /// Declares that the testbench reports each cluster request that executes, with [`PortScoreboard::executed`],
    /// and the words written by each request. Then only this order is judged. Call it before the first event.
    pub fn set_observed(&mut self) {
        self.observed = true;
    }

    /// Shape of the memory and of a warp.
    pub fn geometry(&self) -> Geometry {
        self.header.geometry
    }

    /// True if the request would end with a fault now.
    pub fn faults(&self, request: &SerialRequest) -> bool {
        let (allocation, _) = &self.allocations[usize::from(request.slot)];
        faults(&self.header.geometry, allocation.as_ref(), request)
    }

    /// Number of requests that need an answer and have none.
    pub fn open(&self) -> usize {
        let clusters = self.items.of(PortName::Cluster).from(self.unanswered_cluster);
        let clusters = clusters.filter(|item| item.is_open()).count();
        self.queue.waiting().len() + self.queue.suspended().len() + clusters
    }

    /// Number of requests judged so far, in all orders that are possible.
    pub fn judged(&self) -> u64 {
        self.judged
    }

    /// Number of requests that were not judged, because they access a word that a rejected request, or a reset,
    /// left unknown.
    pub fn unjudged(&self) -> u64 {
        self.worlds.unjudged
    }

    /// Starts to write a trace that `atoms check` reads. Call it before the first event.
    ///
    /// # Errors
    /// The I/O error, if the header cannot be written.
    pub fn record(&mut self, to: Box<dyn Write + Send>) -> io::Result<()> {
        self.recording = Some(TraceWriter::new(to, &self.header)?);
        Ok(())
    }

    /// Writes the rest of the trace and flushes the writer.
    ///
    /// # Errors
    /// The first I/O error of the trace.
    pub fn finish_recording(&mut self) -> io::Result<()> {
        let events = self.worlds.all.first_mut().map(|world| std::mem::take(&mut world.events));
        self.write(events.unwrap_or_default());
        if let Some(recording) = self.recording.take() {
            recording.into_inner()?.flush()?;
        }
        self.recording_error.take().map_or(Ok(()), Err)
    }

    /// Sets words of memory from outside the unit: (index, value). The index of a word is its physical byte
    /// address / 4 ([`Geometry::word`]).
    ///
    /// # Errors
    /// The verdict against an earlier event that this call completes.
    pub fn set_words(&mut self, cycle: u64, words: &[(u32, u32)]) -> Verdict {
        self.begin(cycle)?;
        self.event(cycle, Pending::Words(words.to_vec()))
    }

    /// Reports an accepted write of the CTA table. All earlier requests of the slot have executed (spec 1.3).
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn table_write(&mut self, cycle: u64, write: &AllocationWrite) -> Verdict {
        self.begin(cycle)?;
        let new = Allocation { base_row: u32::from(write.base), size_bytes: write.size, rank: write.rank };
        let allocation = write.enable.then_some(new);
        self.allocations[usize::from(write.slot)] = (allocation, cycle);
        self.event(cycle, Pending::Table { slot: write.slot, allocation })
    }

    /// Reports whether the unit refused the last write of a slot. Without this call, the result is not judged.
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn table_result(&mut self, cycle: u64, slot: u8, refused: bool) -> Verdict {
        self.begin(cycle)?;
        if refused {
            let (allocation, since) = &mut self.allocations[usize::from(slot)];
            *allocation = None;
            // Requests that were accepted since the write have no memory.
            let of_slot = |item: &&mut Item| item.request.slot == slot && item.name.accepted >= *since;
            for item in self.items.of_mut(PortName::Cluster).all_mut().filter(of_slot) {
                item.request.ur = 0;
                item.owes = !item.request.is_posted() || faults(&self.header.geometry, None, &item.request);
            }
        }
        self.event(cycle, Pending::TableResult { slot, refused })
    }

    /// Reports a request that the warp port accepted.
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn warp_request(&mut self, cycle: u64, tag: u8, request: SerialRequest) -> Verdict {
        self.begin(cycle)?;
        let number = self.items.of(PortName::Warp).end();
        let (op, mask) = (request.op, request.mask);
        let name = RequestName { port: PortName::Warp, number, tag, op, mask, accepted: cycle };
        self.queue.accept(name);
        let waits = (op == Op::MbarTryWait as u8).then(|| Box::new(request.clone()));
        self.accept(name, request, true);
        match waits {
            Some(request) => self.event(cycle, Pending::Accept { number, request }),
            None => self.progress(cycle),
        }
    }

    /// Reports a request that the cluster port accepted.
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn cluster_request(&mut self, cycle: u64, asked: &ClusterRequest) -> Verdict {
        self.begin(cycle)?;
        let mut request = SerialRequest::default();
        let (allocation, _) = self.allocations[usize::from(asked.slot)];
        put_cluster(&mut request, asked, allocation);
        let owes = !request.is_posted() || faults(&self.header.geometry, allocation.as_ref(), &request);
        let number = self.items.of(PortName::Cluster).end();
        let (tag, op) = (asked.tag, asked.op);
        let name = RequestName { port: PortName::Cluster, number, tag, op, mask: 1, accepted: cycle };
        self.accept(name, request, owes);
        let items = self.items.of(PortName::Cluster);
        if !self.observed && items.len().is_multiple_of(2 * POSTED) {
            let executed = items.from(0).take(POSTED).take_while(|item| item.is_resolved()).last();
            if let Some(number) = executed.map(|item| item.name.number) {
                return self.event(cycle, Pending::Done { port: PortName::Cluster, number });
            }
        }
        self.progress(cycle)
    }

    fn accept(&mut self, name: RequestName, request: SerialRequest, owes: bool) {
        let item = Item { name, request, owes, answer: None, written: None, suspended: false };
        self.items.of_mut(name.port).push(item);
    }

    /// Reports a response of the warp port, in the cycle in which it appears.
    ///
    /// # Errors
    /// A rejected or undecided event, or a response that belongs to no request.
    pub fn warp_response(&mut self, cycle: u64, found: WarpResponse) -> Verdict {
        self.begin(cycle)?;
        let answered = match self.queue.answered(found.tag) {
            Ok(request) => request.number,
            Err(why) => return self.unmatched(cycle, PortName::Warp, "response", found.tag, &why),
        };
        self.mark_suspended();
        let WarpResponse { response, passes, written, .. } = found;
        if let Some(item) = self.items.of_mut(PortName::Warp).get_mut(answered) {
            item.answer = Some(Answer { cycle, response, passes });
            item.written = written;
        }
        self.event(cycle, Pending::Done { port: PortName::Warp, number: answered })
    }

    /// Reports a response of the cluster port, in the cycle in which it appears.
    ///
    /// # Errors
    /// A rejected or undecided event, or a response that belongs to no request.
    pub fn cluster_response(&mut self, cycle: u64, found: ClusterResponse) -> Verdict {
        self.begin(cycle)?;
        let items = self.items.of_mut(PortName::Cluster);
        let open = items.from(self.unanswered_cluster).find(|item| item.owes && item.answer.is_none());
        let Some(number) = open.map(|item| item.name.number) else {
            return self.unmatched(cycle, PortName::Cluster, "response", found.tag, &Unmatched::NoRequest);
        };
        self.unanswered_cluster = number + 1;
        let Some(item) = items.get_mut(number) else { return Ok(()) };
        if item.name.tag != found.tag {
            let why = Unmatched::OtherTag(item.name.tag);
            return self.unmatched(cycle, PortName::Cluster, "response", found.tag, &why);
        }
        let response = found.response(item.request.ur);
        item.answer = Some(Answer { cycle, response, passes: None });
        if self.observed {
            return self.progress(cycle);
        }
        self.event(cycle, Pending::Done { port: PortName::Cluster, number })
    }

    /// Reports that the oldest cluster request that has not executed executed in this cycle and wrote these words.
    /// Needs [`PortScoreboard::set_observed`].
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn executed(&mut self, cycle: u64, written: &[(u32, u32)]) -> Verdict {
        self.begin(cycle)?;
        let number = self.executed_cluster;
        let Some(item) = self.items.of_mut(PortName::Cluster).get_mut(number) else {
            return self.refuse(cycle, "answer", "the cluster port has no request that has not executed");
        };
        self.executed_cluster += 1;
        item.written = Some(written.to_vec());
        self.event(cycle, Pending::Done { port: PortName::Cluster, number })
    }

    /// Reports that the unit suspended a MBAR.TRY_WAIT in this cycle. Optional; with it, the exact cycle in which
    /// the wait ends is judged (spec 6.12).
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn suspended(&mut self, cycle: u64, tag: u8) -> Verdict {
        self.begin(cycle)?;
        let waits = self.queue.waiting().iter().chain(self.queue.suspended());
        let Some(number) = waits.filter(|one| one.tag == tag).map(|one| one.number).min() else {
            return self.unmatched(cycle, PortName::Warp, "suspension", tag, &Unmatched::NoRequest);
        };
        self.event(cycle, Pending::Suspended { number })
    }

    /// Reports a wake-up, in the cycle in which it appears.
    ///
    /// # Errors
    /// A rejected or undecided event, or a wake-up that belongs to no request.
    pub fn wake_up(&mut self, cycle: u64, tag: u8, pred: u32) -> Verdict {
        self.begin(cycle)?;
        let number = match self.queue.woken(tag) {
            Ok(request) => request.number,
            Err(why) => return self.unmatched(cycle, PortName::Warp, "wake-up", tag, &why),
        };
        self.mark_suspended();
        if let Some(item) = self.items.of_mut(PortName::Warp).get_mut(number) {
            item.suspended = true;
        }
        self.event(cycle, Pending::Wake { number, pred })
    }

    /// Reports that in the cycles `from` to `to` no wake-up was offered and no port held an answer that was not
    /// taken. Optional; with it, a wait that should have ended is found before the end.
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn quiet(&mut self, from: u64, to: u64) -> Verdict {
        self.begin(to)?;
        self.event(to, Pending::Quiet { from })
    }

    /// Reports a reset. Requests in flight get no answer and allocations are dropped; memory keeps its content.
    ///
    /// `written` has the words written for requests without an answer. With `None`, the words that these requests
    /// may write are unknown until [`PortScoreboard::set_words`] sets them, and requests that access them are not
    /// judged.
    ///
    /// # Errors
    /// A rejected or undecided event.
    pub fn reset(&mut self, cycle: u64, written: Option<&[(u32, u32)]>) -> Verdict {
        self.begin(cycle)?;
        self.ending = Ending::Reset { seen: written.is_some() };
        let mut dropped = Vec::new();
        for port in PortName::BOTH {
            let open = |item: &&Item| item.answer.is_none() && (item.suspended || item.written.is_none());
            dropped.extend(self.items.of(port).from(0).filter(open).map(|item| item.request.clone()));
        }
        self.queue.drain();
        self.allocations.fill((None, cycle));
        let written = written.unwrap_or_default().to_vec();
        let verdict = self.event(cycle, Pending::Reset { dropped, written });
        for port in PortName::BOTH {
            self.items.of_mut(port).clear();
            let end = self.items.of(port).end();
            self.worlds.all.iter_mut().for_each(|world| world.skip_to(port, end));
        }
        self.unanswered_cluster = self.items.of(PortName::Cluster).end();
        self.executed_cluster = self.unanswered_cluster;
        self.ending = Ending::No;
        verdict
    }

    /// Judges the end of a run, when no more answers come, and the words of memory that were read out:
    /// (index, value).
    ///
    /// # Errors
    /// A request without an answer, a wrong word, or an event that was not judged before.
    pub fn finish(&mut self, cycle: u64, words: &[(u32, u32)]) -> Verdict {
        self.begin(cycle)?;
        self.ending = Ending::Finish;
        if PortName::BOTH.iter().any(|port| self.items.of(*port).from(0).any(Item::is_open)) {
            // The verdict on these events depends on the missing answer, which is the error to report.
            self.pending.clear();
        }
        self.event(cycle, Pending::End)?;
        self.event(cycle, Pending::Final(words.to_vec()))
    }

    /// Marks the requests that younger answers showed to be suspended.
    fn mark_suspended(&mut self) {
        for request in self.queue.suspended() {
            if let Some(item) = self.items.of_mut(PortName::Warp).get_mut(request.number) {
                item.suspended = true;
            }
        }
    }

    fn event(&mut self, cycle: u64, event: Pending) -> Verdict {
        self.pending.push_back((cycle, event));
        self.progress(cycle)
    }

    /// Checks that an event of this cycle can be judged.
    fn begin(&mut self, cycle: u64) -> Verdict {
        if self.lost {
            let what =
                "judging ended with an earlier event that could not be decided; create a new scoreboard";
            return self.refuse(cycle, "", what);
        }
        if cycle > LAST_CYCLE {
            return self.give_up(cycle, &format!("cycle {cycle} is too large; expected 0 to {LAST_CYCLE}"));
        }
        if cycle < self.cycle {
            let last = self.cycle;
            let what = format!("the event of cycle {cycle} was reported after cycle {last}; keep the order");
            return self.give_up(cycle, &what);
        }
        self.cycle = cycle;
        Ok(())
    }

    /// Ends judging, frees what is not judged, and returns the verdict.
    fn give_up(&mut self, cycle: u64, why: &str) -> Verdict {
        let verdict = self.refuse(cycle, "", why);
        self.end();
        verdict
    }

    fn end(&mut self) {
        self.lost = true;
        self.pending.clear();
        self.queue.drain();
        PortName::BOTH.into_iter().for_each(|port| self.items.of_mut(port).clear());
    }

    /// Judges all events whose order is known or can be searched.
    fn progress(&mut self, cycle: u64) -> Verdict {
        while let Some((cycle, event)) = self.pending.pop_front() {
            if !self.judge(cycle, &event) {
                self.pending.push_front((cycle, event));
                break;
            }
            let verdict = self.worlds.settle(cycle, self.recording.is_some());
            if let Err((Objection { request, cycle, rejection, .. }, continues)) = verdict {
                let verdict = self.verdict(PortVerdict { request, cycle, rejection });
                if !continues {
                    self.end();
                }
                return verdict;
            }
            self.flush();
        }
        let waiting = self.queue.waiting().len() + self.queue.suspended().len();
        let most = PortName::BOTH.map(|port| self.items.of(port).len()).into_iter().max();
        if most.unwrap_or(0).max(waiting) > REQUESTS || self.pending.len() > EVENTS {
            let limits =
                format!("more than {REQUESTS} requests of a port, or {EVENTS} events, wait for an answer");
            return self.give_up(cycle, &format!("{limits}; report every answer"));
        }
        Ok(())
    }

    /// Rejects an answer that belongs to no request.
    fn unmatched(&mut self, cycle: u64, port: PortName, what: &str, tag: u8, why: &Unmatched) -> Verdict {
        match why {
            Unmatched::NoRequest => self.refuse(
                cycle,
                "answer",
                &format!("no request of the {port} port waits for the {what} with tag {tag}"),
            ),
            Unmatched::OtherTag(expected) => {
                let text = format!(
                    "the {what} of the {port} port has tag {tag}, but the oldest request has tag {expected}"
                );
                self.refuse(cycle, "answer", &text)
            }
            Unmatched::Ambiguous => {
                let text = "several requests in flight have tag";
                let advice = "one of them an MBAR.TRY_WAIT; give each request a different tag";
                self.refuse(cycle, "", &format!("{text} {tag}, {advice}"))
            }
        }
    }

    /// Returns a verdict without a request; undecided if `about` is empty.
    fn refuse(&mut self, cycle: u64, about: &'static str, what: &str) -> Verdict {
        let rejection = match about {
            "" => Rejection::undecided(what),
            about => Rejection::new("spec 4.6", about, what),
        };
        self.verdict(PortVerdict { request: None, cycle, rejection })
    }

    /// Returns a verdict, and records it.
    fn verdict(&mut self, verdict: PortVerdict) -> Verdict {
        if self.recording.is_some() && !self.lost {
            let (undecided, text) = (verdict.rejection.is_undecided(), verdict.to_string());
            for world in &mut self.worlds.all {
                world.record(TraceEvent::Verdict { undecided, text: text.clone() });
            }
        }
        self.flush();
        Err(Box::new(verdict))
    }
}

/// Header of a recording of another unit. Declares only the rules that the unit follows.
pub fn foreign_header(config: &Config, unit: &ForeignUnit) -> TraceHeader {
    let ForeignRules { spin_hold, try_wait_limit, .. } = unit.rules;
    let try_wait_limit = try_wait_limit.map(u64::from);
    TraceHeader { try_wait_limit, spin_hold, unit: None, ..header_of(config) }
}

/// Header of a recording of this project's unit in a configuration. Declares all options of the unit.
pub fn header_of(config: &Config) -> TraceHeader {
    let winner_policy = match config.winner_policy {
        WinnerPolicy::Lowest => GoesFirst::Lowest,
        WinnerPolicy::Highest => GoesFirst::Highest,
        WinnerPolicy::Rotating => GoesFirst::Rotating,
    };
    let Config { num_lanes, num_banks, num_rows, bank_hash, merge_red, merge_arrive, .. } = *config;
    TraceHeader {
        geometry: Geometry { lanes: num_lanes, banks: num_banks, rows: num_rows, xor_hash: bank_hash },
        try_wait_limit: Some(config.try_wait_limit.into()),
        spin_hold: Some(config.spin_hold),
        unit: Some(DeclaredUnit { winner_policy, merge_red, merge_arrive }),
    }
}
