//! The oracle at ports and probe. It checks each answer that the monitor sees against request and words written.
//!
//! The oracle gets events in the order in which the unit acted. A cluster request that owes a response delays
//! all later events until the response comes.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};

use atoms_model::Config;
use atoms_ops::Op;
use atoms_oracle::{Allocation, Checker, Rejection, RequestTiming, Response, SerialRequest};
use atoms_record::{Exchange, TraceEvent, TraceHeader, TraceWriter};

use atoms_monitor::{
    Appearance, ClusterAnswer, ClusterDone, Cycle, Dropped, InFlight, LastStage, Monitor, Unmatched,
    WarpAnswer,
};
use atoms_stimulus::request::{ClusterRequest, WarpRequest};

use atoms_scoreboard::{ClusterResponse, header_of, put_cluster, put_warp};

use crate::scoreboard::{OracleViolation, response};

type Recording = TraceWriter<Box<dyn Write + Send>>;

/// Passes the transactions of one machine to an oracle.
pub struct ProbeScoreboard {
    recording: Option<Recording>,
    recording_error: Option<io::Error>,
    checker: Checker,
    header: TraceHeader,
    slots: u32,
    cycle: u64,
    /// Buffer for the current request in the oracle's form.
    request: SerialRequest,
    spare_written: Vec<Vec<(u32, u32)>>,
    written: Vec<(u32, u32)>,
    /// Events that the oracle has yet to get. The first is a cluster request that owes a response.
    log: VecDeque<Event>,
    /// Consecutive cycles in which the cluster port offered no response, although the first request of `log`
    /// needs one.
    missing: u32,
    // First and last quiet cycle that is not written to the recording yet. A cycle is quiet if the unit
    // offers no wake-up, no response waits for the driver, and `log` is empty.
    quiet: Option<(u64, u64)>,
    answers: u64,
}

enum Event {
    /// A write of the CTA table was accepted.
    Allocation { slot: u8, allocation: Option<Allocation> },
    /// The result of the write: refused or not.
    Written { slot: u8, refused: bool },
    /// The unit accepted a request that may be suspended.
    Accept(InFlight<WarpRequest>),
    /// The unit answered a warp request.
    Warp { done: Done, response: Box<Response>, passes: u8 },
    /// The unit carried out a cluster request.
    Cluster(Done),
    /// The unit suspended a request.
    Suspend { number: u64, cycle: u64 },
    /// The unit woke a suspended request.
    Wake { woken: InFlight<WarpRequest>, pred: u32, cycle: u64 },
}

enum Asked {
    Warp(InFlight<WarpRequest>),
    Cluster(InFlight<ClusterRequest>),
}

impl Asked {
    fn taken_at(&self) -> u64 {
        match self {
            Asked::Warp(asked) => asked.taken_at,
            Asked::Cluster(asked) => asked.taken_at,
        }
    }
}

struct Done {
    asked: Asked,
    /// Index and value of the words that the request wrote.
    written: Vec<(u32, u32)>,
    moment: RequestTiming,
}

/// Cycles within which an owed response must appear, unless another response occupies the cluster port.
const RESPONSE_CYCLES: u32 = 64;

/// Returns the cycle as the oracle counts it, from 1.
fn moment(cycle: u64) -> u64 {
    cycle + 1
}

impl fmt::Debug for ProbeScoreboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeScoreboard").field("answers", &self.answers).finish_non_exhaustive()
    }
}

impl ProbeScoreboard {
    /// Creates a scoreboard for a machine of `config` with this memory. The index of a word is
    /// `row * num_banks + bank`.
    pub fn new(config: &Config, memory: &[u32]) -> Self {
        let header = header_of(config);
        let mut scoreboard = ProbeScoreboard {
            recording: None,
            recording_error: None,
            checker: header.checker(),
            header,
            slots: config.num_cta_slots,
            cycle: 0,
            request: SerialRequest::default(),
            spare_written: Vec::new(),
            written: Vec::new(),
            log: VecDeque::new(),
            missing: 0,
            quiet: None,
            answers: 0,
        };
        scoreboard.set_memory(memory);
        scoreboard
    }

    /// Sets memory, word `row * num_banks + bank`. Words that are 0 or missing in `memory` keep their value.
    pub fn set_memory(&mut self, memory: &[u32]) {
        let geometry = self.header.geometry;
        let banks = geometry.banks;
        let place = |(at, word): (usize, &u32)| (geometry.word(at as u32 / banks, at as u32 % banks), *word);
        let words: Vec<_> = memory.iter().enumerate().filter(|(_, word)| **word != 0).map(place).collect();
        for (index, word) in &words {
            self.checker.set_word(*index, *word);
        }
        self.tell(|| TraceEvent::Init(words));
    }

    /// Starts to record everything as a trace that `atoms check` reads.
    ///
    /// # Errors
    /// The I/O error, if the header cannot be written.
    pub fn record(&mut self, to: Box<dyn Write + Send>) -> io::Result<()> {
        let mut recording = TraceWriter::new(to, &self.header)?;
        let memory = (0u32..).zip(self.checker.memory().iter().copied());
        recording.write(&TraceEvent::Init(memory.filter(|(_, word)| *word != 0).collect()))?;
        self.recording = Some(recording);
        Ok(())
    }

    /// Completes the recording with the memory at the end. `monitor` knows if every request is done.
    ///
    /// # Errors
    /// The first I/O error of the recording.
    pub fn finish_recording(&mut self, monitor: &Monitor) -> io::Result<()> {
        let words: Vec<_> = (0u32..).zip(self.checker.memory().iter().copied()).collect();
        self.tell_quiet();
        if monitor.all_done() && self.log.is_empty() {
            self.tell(|| TraceEvent::End);
        }
        self.tell(|| TraceEvent::Final(words));
        if let Some(recording) = self.recording.take() {
            recording.into_inner()?.flush()?;
        }
        self.recording_error.take().map_or(Ok(()), Err)
    }

    /// Returns the number of answers checked so far.
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Checks the transactions of one cycle.
    ///
    /// # Errors
    /// [`OracleViolation`] if the oracle rejects an answer that appeared in the cycle, or if an answer is
    /// missing.
    pub fn see(&mut self, cycle: &Cycle<'_>) -> Result<(), OracleViolation> {
        self.cycle = moment(cycle.number);
        if let Some(settled) = cycle.allocation_settled {
            self.happens(Event::Written { slot: settled.slot, refused: settled.rejected })?;
        }
        if let Some(answer) = &cycle.warp_answer
            && let Some(appears) = &answer.appears
        {
            self.answered(answer, appears)?;
        }
        if let Some(answer) = cycle.cluster_answer.filter(|answer| answer.appears) {
            self.cluster_answered(&answer)?;
        }
        if let Some(wake_up) = &cycle.wake_up
            && let Some(appears) = &wake_up.appears
        {
            self.woken(appears, wake_up.tag, wake_up.pred)?;
        }
        self.look_for_responses(cycle)?;
        if self.checker.is_waiting() {
            self.look_at_waits(cycle)?;
        } else if self.quiet.is_some() {
            self.tell_quiet();
        }
        if let Some(dropped) = &cycle.reset {
            return self.reset(dropped);
        }

        let earlier = self.written.len();
        for write in cycle.writes() {
            let index = self.header.geometry.word(write.row, write.bank);
            // A later pass of the same request may write a word again. Keep the last value.
            match self.written[..earlier].iter_mut().find(|(word, _)| *word == index) {
                Some((_, last)) => *last = write.value,
                None => self.written.push((index, write.value)),
            }
        }
        if let Some(done) = &cycle.cluster_done {
            self.cluster_done(done)?;
        }
        if let Some(LastStage { pass, done: true, suspends: true, .. }) = cycle.last_stage {
            self.happens(Event::Suspend { number: pass.number, cycle: self.cycle })?;
        }
        if let Some(write) = cycle.allocation {
            let new =
                Allocation { base_row: u32::from(write.base), size_bytes: write.size, rank: write.rank };
            self.happens(Event::Allocation { slot: write.slot, allocation: write.enable.then_some(new) })?;
        }
        if let Some(accepted) = &cycle.warp_accepted
            && accepted.request.op == Op::MbarTryWait as u8
        {
            self.happens(Event::Accept(accepted.clone()))?;
        }
        Ok(())
    }

    /// Handles a reset cycle. Nothing is taken or written in it, and requests inside get no answer. Responses
    /// still owed for cluster requests are lost.
    fn reset(&mut self, dropped: &Dropped) -> Result<(), OracleViolation> {
        let cycle = self.cycle;
        self.tell_quiet();
        while let Some(event) = self.log.pop_front() {
            let Some(Event::Cluster(done)) = self.tell_oracle(event)? else { continue };
            self.put(&done.asked);
            let request = Box::new(self.request.clone());
            self.tell(|| TraceEvent::Lost { request, written: done.written.clone() });
            let verdict = self.checker.lost(std::slice::from_ref(&self.request), &done.written);
            verdict.map_err(|rejection| OracleViolation::reset(&rejection, cycle))?;
        }
        self.missing = 0;
        let mut requests = vec![SerialRequest::default(); dropped.warps.len()];
        for (request, asked) in requests.iter_mut().zip(&dropped.warps) {
            put_warp(request, &asked.request);
        }
        for asked in &dropped.clusters {
            let allocation = self.checker.allocation(asked.request.slot);
            let mut request = SerialRequest::default();
            put_cluster(&mut request, &asked.request, allocation);
            requests.push(request);
        }
        let written = std::mem::take(&mut self.written);
        let verdict = self.checker.reset(&requests, &written);
        self.tell(|| TraceEvent::Reset { dropped: requests, written });
        verdict.map_err(|rejection| OracleViolation::reset(&rejection, cycle))
    }

    /// Checks the whole memory at the end, word `row * num_banks + bank`. `monitor` knows if a request is
    /// left without an answer.
    ///
    /// # Errors
    /// [`OracleViolation`] with a request that was not answered, or with the first word that has a wrong
    /// value.
    pub fn finish(&mut self, memory: &[u32], monitor: &Monitor) -> Result<(), OracleViolation> {
        self.checker.finish_waits().map_err(|rejection| {
            let op = (rejection.about() == "answer").then_some(Op::MbarTryWait as u8);
            OracleViolation::unanswered(&rejection, op)
        })?;
        let owed = match self.log.front() {
            Some(Event::Cluster(Done { asked: Asked::Cluster(asked), .. })) => Some(asked),
            _ => None,
        };
        let warp = monitor.unanswered_warp().cloned().map(Asked::Warp);
        let cluster = || monitor.waiting_cluster().cloned().map(Asked::Cluster);
        if let Some(forgotten) = owed.cloned().map(Asked::Cluster).or(warp).or_else(cluster) {
            return Err(self.never_answered(&forgotten));
        }
        self.checker
            .finish(|index| {
                let (row, bank) = (index / self.header.geometry.banks, index % self.header.geometry.banks);
                memory[self.header.geometry.word(row, bank) as usize]
            })
            .map_err(|rejection| OracleViolation::of(&rejection, "the oracle rejects the memory at the end"))
    }

    fn never_answered(&mut self, asked: &Asked) -> OracleViolation {
        self.put(asked);
        let rejection = self.checker.never_answered(&self.request);
        OracleViolation::unanswered(&rejection, Some(self.request.op))
    }

    fn gives(&mut self, slot: u8, allocation: Option<Allocation>) {
        self.checker.set_allocation(slot, allocation);
        self.tell(|| TraceEvent::Allocation { slot, allocation });
    }

    /// Checks that the unit refuses a table write exactly if the write breaks a rule (spec 1.3).
    fn written_to_table(&mut self, slot: u8, refused: bool) -> Result<(), OracleViolation> {
        let verdict = self.checker.table_written(slot, self.slots, refused);
        if refused {
            self.tell(|| TraceEvent::Allocation { slot, allocation: None });
        }
        verdict.map_err(|rejection| OracleViolation::new("table", rejection.clause(), rejection.to_string()))
    }

    fn answered(&mut self, answer: &WarpAnswer<'_>, appears: &Appearance) -> Result<(), OracleViolation> {
        let (number, cycle) = (self.answers, self.cycle);
        let asked = appears.request.clone().map_err(|why| match why {
            Unmatched::NoRequest => OracleViolation::unasked(number),
            Unmatched::OtherTag(expected) => OracleViolation::tag(number, answer.tag, expected),
            Unmatched::Ambiguous => OracleViolation::ambiguous(cycle, answer.tag),
        })?;
        let done = self.done(asked.number, Asked::Warp(asked), self.cycle, appears.oldest_unanswered);
        self.happens(Event::Warp { done, response: Box::new(response(answer)), passes: answer.passes })
    }

    fn cluster_done(&mut self, done: &ClusterDone) -> Result<(), OracleViolation> {
        let number = self.answers;
        let asked = done.request.clone().ok_or_else(|| OracleViolation::unasked(number))?;
        let done = self.done(asked.number, Asked::Cluster(asked), self.cycle + 1, done.oldest_unanswered);
        self.happens(Event::Cluster(done))
    }

    fn done(&mut self, number: u64, asked: Asked, answered: u64, oldest_unanswered: Option<u64>) -> Done {
        let written = std::mem::replace(&mut self.written, self.spare_written.pop().unwrap_or_default());
        let oldest_unanswered = oldest_unanswered.map(moment);
        Done { asked, written, moment: RequestTiming { number, answered, oldest_unanswered } }
    }

    /// Checks a response of the cluster port against the first request that is owed one.
    fn cluster_answered(&mut self, answer: &ClusterAnswer) -> Result<(), OracleViolation> {
        let number = self.answers;
        let Some(Event::Cluster(done)) = self.log.pop_front() else {
            return Err(OracleViolation::unasked(number));
        };
        if let Asked::Cluster(asked) = &done.asked
            && asked.request.tag != answer.tag
        {
            return Err(OracleViolation::tag(number, answer.tag, asked.request.tag));
        }
        self.put(&done.asked);
        let ClusterAnswer { tag, rd, pred, fault, fault_addr, .. } = *answer;
        let response = ClusterResponse { tag, rd, pred, fault, fault_addr }.response(self.request.ur);
        self.judge(done, Some(&response))?;
        while let Some(event) = self.log.pop_front() {
            if let Some(owed) = self.tell_oracle(event)? {
                self.log.push_front(owed);
                break;
            }
        }
        Ok(())
    }

    fn put(&mut self, asked: &Asked) {
        match asked {
            Asked::Warp(asked) => put_warp(&mut self.request, &asked.request),
            Asked::Cluster(asked) => {
                let allocation = self.checker.allocation(asked.request.slot);
                put_cluster(&mut self.request, &asked.request, allocation);
            }
        }
    }

    /// Passes an event to the oracle, or queues the event behind a request that is owed a response.
    fn happens(&mut self, event: Event) -> Result<(), OracleViolation> {
        if !self.log.is_empty() {
            self.log.push_back(event);
        } else if let Some(owed) = self.tell_oracle(event)? {
            self.log.push_back(owed);
        }
        Ok(())
    }

    /// Passes an event to the oracle. Returns a cluster request that owes a response, for the queue.
    fn tell_oracle(&mut self, event: Event) -> Result<Option<Event>, OracleViolation> {
        match event {
            Event::Allocation { slot, allocation } => self.gives(slot, allocation),
            Event::Written { slot, refused } => self.written_to_table(slot, refused)?,
            Event::Accept(accepted) => {
                let (number, cycle) = (accepted.number, moment(accepted.taken_at));
                put_warp(&mut self.request, &accepted.request);
                self.checker.accept(number, cycle, &self.request);
                let request = Box::new(self.request.clone());
                self.tell(|| TraceEvent::Wait { number, accepted: cycle, request });
            }
            Event::Warp { done, response, passes } => {
                self.judge(done, Some(&response))?;
                let expected = self.checker.passes();
                if u32::from(passes) != expected {
                    return Err(OracleViolation::passes(self.answers - 1, passes, expected, self.request.op));
                }
            }
            Event::Cluster(done) => {
                self.put(&done.asked);
                if self.checker.owes_response(&self.request) {
                    return Ok(Some(Event::Cluster(done)));
                }
                self.judge(done, None)?;
            }
            Event::Suspend { number, cycle } => {
                self.tell(|| TraceEvent::Suspended { number, cycle });
                self.checker.suspend(number, cycle).map_err(|rejection| {
                    OracleViolation::of(&rejection, format_args!("the oracle rejects cycle {cycle}"))
                })?;
            }
            Event::Wake { woken, pred, cycle } => {
                self.tell_quiet();
                self.tell(|| TraceEvent::Wake { number: woken.number, pred, cycle });
                let verdict = self.checker.wake(woken.number, pred, cycle);
                self.verdict(verdict, &Asked::Warp(woken))?;
            }
        }
        Ok(None)
    }

    fn judge(&mut self, done: Done, response: Option<&Response>) -> Result<(), OracleViolation> {
        let Done { asked, mut written, moment } = done;
        self.put(&asked);
        if self.recording.is_some() {
            let (request, response) = (self.request.clone(), response.cloned());
            let accepted = Some(self::moment(asked.taken_at()));
            let exchange =
                Exchange { request, response, after: Some(written.clone()), moment: Some(moment), accepted };
            self.tell(|| TraceEvent::Request(Box::new(exchange)));
        }
        let verdict = self.checker.request_at(&moment, &self.request, response, Some(&written));
        written.clear();
        self.spare_written.push(written);
        self.verdict(verdict, &asked)
    }

    /// Checks that an owed response appears in time, unless another response occupies the port.
    fn look_for_responses(&mut self, cycle: &Cycle<'_>) -> Result<(), OracleViolation> {
        let Some(Event::Cluster(Done { asked: Asked::Cluster(asked), .. })) = self.log.front() else {
            self.missing = 0;
            return Ok(());
        };
        self.missing = if cycle.cluster_answer.is_some() { 0 } else { self.missing + 1 };
        if self.missing > RESPONSE_CYCLES {
            let missing = Asked::Cluster(asked.clone());
            return Err(self.never_answered(&missing));
        }
        Ok(())
    }

    fn woken(&mut self, appears: &Appearance, tag: u8, pred: u32) -> Result<(), OracleViolation> {
        let cycle = self.cycle;
        let woken = appears.request.clone().map_err(|why| match why {
            Unmatched::NoRequest | Unmatched::OtherTag(_) => {
                let why = format_args!("has tag {tag}, but no MBAR.TRY_WAIT with this tag can be suspended");
                let message = format!("the wake-up in cycle {cycle} {why} (spec 6.3)");
                OracleViolation::new("wait", "spec 6.3", message)
            }
            Unmatched::Ambiguous => OracleViolation::ambiguous(cycle, tag),
        })?;
        self.happens(Event::Wake { woken, pred, cycle })
    }

    /// Lets the oracle check that no waiter waits too long. Only cycles without back-pressure count.
    fn look_at_waits(&mut self, seen: &Cycle<'_>) -> Result<(), OracleViolation> {
        let cycle = self.cycle;
        if !seen.is_quiet() || !self.log.is_empty() {
            self.tell_quiet();
            return Ok(());
        }
        if self.recording.is_some() {
            self.quiet = Some((self.quiet.map_or(cycle, |(from, _)| from), cycle));
        }
        let verdict = self.checker.quiet(cycle, cycle);
        verdict.map_err(|rejection| {
            OracleViolation::of(&rejection, format_args!("the oracle rejects cycle {cycle}"))
        })
    }

    /// Writes the range of cycles in `quiet` to the recording, and clears `quiet`.
    fn tell_quiet(&mut self) {
        if let Some((from, to)) = self.quiet.take() {
            self.tell(|| TraceEvent::Quiet { from, to });
        }
    }

    /// Counts an answer. If the oracle rejects the answer, adds the request to the message.
    fn verdict(&mut self, verdict: Result<(), Rejection>, asked: &Asked) -> Result<(), OracleViolation> {
        let number = self.answers;
        self.answers += 1;
        verdict.map_err(|rejection| {
            let (op, request) = match asked {
                Asked::Warp(asked) => (asked.request.op, asked.request.to_string()),
                Asked::Cluster(asked) => (asked.request.op, asked.request.to_string()),
            };
            let message = format!("the oracle rejects answer {number}: {rejection}\n  request  {request}");
            OracleViolation { op: Some(op), message, ..OracleViolation::of(&rejection, "") }
        })
    }

    /// Records an event. An I/O error is kept until the end: an error must not stop a run that may find a
    /// violation.
    fn tell(&mut self, event: impl FnOnce() -> TraceEvent) {
        if let Some(recording) = &mut self.recording
            && let Err(error) = recording.write(&event())
        {
            self.recording_error = Some(error);
            self.recording = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atoms_model::port::{In, Out};
    use atoms_ops::Size;

    use crate::machine::{Machine, ModelMachine};
    use atoms_stimulus::complete_handshakes;
    use atoms_stimulus::request::{AllocationWrite, Lane};

    /// Returns the violation on a machine that runs what `drive` offers. `spoil` alters its outputs.
    fn violation(drive: impl FnOnce(&mut In), spoil: impl Fn(&mut Out)) -> String {
        let config = Config { num_cta_slots: 8, ..Config::default() };
        let (mut machine, mut monitor) = (ModelMachine::new(config), Monitor::new(&config));
        let mut scoreboard = ProbeScoreboard::new(&config, &[]);
        let mut i = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, ..In::default() };
        AllocationWrite { slot: 3, enable: true, base: 0, size: 1024, rank: 2 }.drive(&mut i);
        let mut drive = Some(drive);
        for number in 0..100 {
            machine.cycle(&i).expect("the model goes on");
            let mut out = *machine.out();
            spoil(&mut out);
            if let Err(violation) = scoreboard.see(&monitor.cycle(number, &i, &out, machine.probe())) {
                return violation.to_string();
            }
            complete_handshakes(&mut i, machine.out());
            if i.cta_valid == 0
                && let Some(drive) = drive.take()
            {
                drive(&mut i);
            }
        }
        panic!("the oracle accepts everything")
    }

    #[test]
    fn a_rejected_answer_shows_its_request_as_its_port_accepted_it() {
        let (op, size, slot) = (Op::Load as u8, Size::U32 as u8, 3);
        let lanes = vec![Lane { ra: 0x0200_0040, ..Lane::default() }];
        let warp = WarpRequest { op, size, slot, tag: 9, mask: 1, lanes, ..WarpRequest::default() };
        let text = violation(|i| warp.drive(i), |out| out.rsp_rd[0] ^= u128::from(out.rsp_valid));
        assert!(text.ends_with(&format!("\n  request  {warp}")), "{text}");
        let cluster = ClusterRequest { op, size, slot, tag: 5, addr: 0x40, ..ClusterRequest::default() };
        let text = violation(|i| cluster.drive(i), |out| out.cl_rsp_rd ^= u128::from(out.cl_rsp_valid));
        assert!(text.ends_with(&format!("\n  request  {cluster}")), "{text}");
    }

    #[test]
    fn an_answer_says_as_many_passes_as_its_request_takes() {
        let (op, size, slot) = (Op::Add as u8, Size::U32 as u8, 3);
        let lanes = [0x40, 0x44, 0xc0].map(|ra| Lane { ra: 0x0200_0000 + ra, ..Lane::default() }).to_vec();
        let warp = WarpRequest { op, size, slot, tag: 9, mask: 7, lanes, ..WarpRequest::default() };
        let text = violation(|i| warp.drive(i), |out| out.rsp_passes += 1);
        assert!(text.starts_with("answer 0 states 3 passes, but its request takes 2 (spec 4.3)"), "{text}");
    }

    #[test]
    fn lanes_of_one_word_go_in_the_order_of_the_policy() {
        let (op, size, slot) = (Op::Add as u8, Size::U32 as u8, 3);
        let lanes = vec![Lane { ra: 0x0200_0040, b: 1, ..Lane::default() }; 2];
        let warp = WarpRequest { op, size, slot, tag: 9, mask: 3, lanes, ..WarpRequest::default() };
        let text = violation(|i| warp.drive(i), |out| out.rsp_rd.swap(0, 1));
        let says = "the oracle rejects answer 0: lane 0 got 0x1 from 0x2000040, expected 0x0: of lanes 0 and 1, lane 0 \
                    goes first and the others in ascending order (spec 4.2)";
        assert!(text.starts_with(says), "{text}");
    }

    /// Slot 3 has 1024 bytes from row 0 on. The altered unit wrongly takes or refuses a write.
    #[test]
    fn an_allocation_is_refused_exactly_if_it_breaks_a_rule() {
        let rows = Config::default().num_rows;
        let taken = |slot, base, size, rule: &str| {
            let allocation = AllocationWrite { slot, enable: true, base: base as u16, size, rank: 0 };
            let text = violation(|i| allocation.drive(i), |out| out.cta_reject = 0);
            assert!(
                text.starts_with(&format!("the CTA table gave slot {slot} an allocation {rule} (spec 1.3)")),
                "{text}"
            );
        };
        taken(4, 7, 129, "that shares row 7 with the allocation of slot 3");
        taken(4, 4, 0, "that shares row 4 with the allocation of slot 3");
        taken(4, rows - 1, 129, &format!("up to row {} of {rows}", rows + 1));
        taken(8, 64, 128, "although there are 8 slots");
        let text = violation(|_| {}, |out| out.cta_reject = 1);
        let says = "the CTA table refused slot 3 a legal allocation: 1024 bytes from row 0 (spec 1.3)";
        assert!(text.starts_with(says), "{text}");
    }
}
