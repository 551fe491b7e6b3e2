//! Shows the third voice what went on at the ports, request by request.
//!
//! The unit works off one request after the other, so what the banks were seen to be written between
//! two of them belongs to the second. A warp request is done in the cycle before its answer appears; a
//! cluster request when the probe says so, since a posted one has no response (spec 4.7) and the response
//! of another one may have to wait for those before it.
//!
//! The oracle is told in the order in which the unit did things. A cluster request that owes a response
//! keeps everything younger waiting until that has come.
//!
//! Only a MBAR.TRY_WAIT can be overtaken: put to sleep, it is answered by a wake-up instead. So where an
//! answer belongs to a younger request, those before it must all be such, and sleep.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};

use atoms_model::Config;
use atoms_model::port::{In, Out, Probe};
use atoms_ops::{Fault, Op};
use atoms_oracle::trace::TraceWriter;
use atoms_oracle::{Checker, Geometry, Moment, Part, Rejection, Request, Response};

use crate::request::WarpRequest;

/// Where a recording goes.
type Recording = TraceWriter<Box<dyn Write + Send>>;

/// Feeds an oracle from the ports and the probe of one machine.
pub struct Witness {
    recording: Option<Recording>,
    recording_error: Option<io::Error>,
    checker: Checker,
    geometry: Geometry,
    try_wait_limit: u32,
    spin_hold: u32,
    cycle: u64,
    warps: VecDeque<InFlight>,
    clusters: VecDeque<InFlight>,
    // Those overtaken by an answer.
    asleep: Vec<InFlight>,
    warps_taken: u64,
    clusters_taken: u64,
    spare: Vec<Request>,
    spare_written: Vec<Vec<(u32, u32)>>,
    written: Vec<(u32, u32)>,
    // An answer stands at the port and has been seen.
    answer_seen: bool,
    cluster_answer_seen: bool,
    wake_seen: bool,
    /// What the oracle has yet to be told. The first, if there is one, is a cluster request that owes a
    /// response.
    log: VecDeque<Event>,
    /// Cycles for which the first of these was owed a response, and none was at the port.
    missing: u32,
    // Quiet cycles that the recording has yet to say.
    quiet: Option<(u64, u64)>,
    table_write: Option<u8>,
    answers: u64,
}

/// A request without an answer.
struct InFlight {
    tag: u8,
    /// Counted on its port.
    number: u64,
    accepted: u64,
    request: Request,
}

/// Something that the oracle is told.
enum Event {
    /// A write of the CTA table was taken.
    Part { slot: u8, part: Option<Part> },
    /// It was not refused, or is taken back by now.
    Written { slot: u8 },
    /// A request that may sleep was accepted.
    Accept { number: u64, accepted: u64, request: Box<Request> },
    /// A warp request was answered.
    Warp { done: Done, response: Box<Response> },
    /// A cluster request was carried out.
    Cluster { done: Done, tag: u8 },
    /// A request that slept was woken.
    Wake { woken: InFlight, pred: u32, cycle: u64 },
}

/// A request that was carried out.
struct Done {
    request: Request,
    /// Words written by it.
    written: Vec<(u32, u32)>,
    moment: Moment,
}

/// Cycles in which a response of the cluster port shows up, where no other stands before it.
const RESPONSE_CYCLES: u32 = 64;

impl InFlight {
    fn may_sleep(&self) -> bool {
        self.request.op == Op::MbarTryWait as u8
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Witness").field("answers", &self.answers).finish_non_exhaustive()
    }
}

/// What the third voice does not accept.
#[derive(Debug, thiserror::Error)]
pub enum Testimony {
    /// No order of the lanes explains an answer.
    #[error("the oracle rejects answer {number}: {rejection}\n  request  {request}")]
    Rejected {
        /// Number of the answer, counted from 0 over both ports.
        number: u64,
        /// Why.
        rejection: Rejection,
        /// Operation code of the request answered.
        op: u8,
        /// The request answered.
        request: String,
    },
    /// An answer came that nobody waits for.
    #[error("answer {number} has no request that waits for one (spec 4.6, 4.7)")]
    Unasked {
        /// Number of the answer.
        number: u64,
    },
    /// An answer carries another request's tag.
    #[error("answer {number} has tag {found}, its request {expected}")]
    Tag {
        /// Number of the answer.
        number: u64,
        /// Tag of the answer.
        found: u8,
        /// Tag of the request.
        expected: u8,
    },
    /// A wake-up came that nobody sleeps for.
    #[error("the wake-up in cycle {cycle} has tag {tag}, of no MBAR.TRY_WAIT that can sleep (spec 6.3)")]
    NotAsleep {
        /// Cycle in which it came.
        cycle: u64,
        /// Its tag.
        tag: u8,
    },
    /// Which request was answered cannot be told: a MBAR.TRY_WAIT needs a tag of its own.
    #[error(
        "in cycle {cycle} several requests in flight have tag {tag}, one of them a MBAR.TRY_WAIT; give each its own"
    )]
    AmbiguousTag {
        /// Cycle of the answer.
        cycle: u64,
        /// The tag.
        tag: u8,
    },
    /// A request that sleeps was not woken when it should have been.
    #[error("the oracle objects in cycle {cycle}: {rejection}")]
    Asleep {
        /// The cycle.
        cycle: u64,
        /// Why.
        rejection: Rejection,
    },
    /// A request was never answered.
    #[error("the oracle objects at the end: {0}")]
    Unanswered(Rejection),
    /// Two slots share memory: no isolation (spec 1.3).
    #[error("the CTA table gave slot {slot} a part that shares row {row} with slot {other}'s (spec 1.3)")]
    SharedRow {
        /// The slot written last.
        slot: u8,
        /// The slot that had the row before.
        other: u8,
        /// The first row shared.
        row: u32,
    },
    /// A reset left something behind that no request dropped by it accounts for.
    #[error("the oracle objects to the reset in cycle {cycle}: {rejection}")]
    Reset {
        /// The cycle.
        cycle: u64,
        /// Why.
        rejection: Rejection,
    },
    /// The memory at the end is not what the last write left.
    #[error("the oracle rejects the memory at the end: {0}")]
    End(Rejection),
}

impl Testimony {
    /// What it is about, in a word, as [`Rejection::about`] says; and the operation code of the request that
    /// it is about, where there is one.
    pub fn about(&self) -> (&'static str, Option<u8>) {
        match self {
            Testimony::Rejected { rejection, op, .. } => (rejection.about(), Some(*op)),
            Testimony::Asleep { rejection, .. }
            | Testimony::Reset { rejection, .. }
            | Testimony::End(rejection) => (rejection.about(), None),
            Testimony::Unanswered(rejection) => match rejection {
                Rejection::NeverAnswered { op, .. } => (rejection.about(), Some(*op)),
                _ => (rejection.about(), None),
            },
            Testimony::Unasked { .. } | Testimony::Tag { .. } => ("answer", None),
            Testimony::NotAsleep { .. } => ("wait", None),
            Testimony::AmbiguousTag { .. } => ("tag", None),
            Testimony::SharedRow { .. } => ("table", None),
        }
    }

    /// Clause of the specification that is broken, as `spec 4.5`; none where none is named.
    pub fn clause(&self) -> Option<&'static str> {
        let clause = match self {
            Testimony::Rejected { rejection, .. }
            | Testimony::Asleep { rejection, .. }
            | Testimony::Reset { rejection, .. }
            | Testimony::Unanswered(rejection)
            | Testimony::End(rejection) => rejection.clause(),
            Testimony::NotAsleep { .. } => "spec 6.3",
            Testimony::SharedRow { .. } => "spec 1.3",
            Testimony::Unasked { .. } | Testimony::Tag { .. } | Testimony::AmbiguousTag { .. } => "",
        };
        Some(clause).filter(|clause| !clause.is_empty())
    }
}

impl Witness {
    /// A witness of a machine of `config` whose memory is `memory`, word `row * num_banks + bank`.
    pub fn new(config: &Config, memory: &[u32]) -> Self {
        let geometry = Geometry {
            lanes: config.num_lanes,
            banks: config.num_banks,
            rows: config.num_rows,
            xor_hash: config.bank_hash,
        };
        let mut witness = Witness {
            recording: None,
            recording_error: None,
            checker: Checker::new(geometry),
            geometry,
            try_wait_limit: config.try_wait_limit,
            spin_hold: config.spin_hold,
            cycle: 0,
            warps: VecDeque::new(),
            clusters: VecDeque::new(),
            asleep: Vec::new(),
            warps_taken: 0,
            clusters_taken: 0,
            spare: Vec::new(),
            spare_written: Vec::new(),
            written: Vec::new(),
            answer_seen: false,
            cluster_answer_seen: false,
            wake_seen: false,
            log: VecDeque::new(),
            missing: 0,
            quiet: None,
            table_write: None,
            answers: 0,
        };
        witness.checker.set_try_wait_limit(config.try_wait_limit.into());
        witness.checker.set_spin_hold(config.spin_hold);
        witness.set_memory(memory);
        witness
    }

    /// The memory is set from outside, word `row * num_banks + bank`: to `memory`, and as it was where that is
    /// zero or has no word.
    pub fn set_memory(&mut self, memory: &[u32]) {
        let banks = self.geometry.banks;
        let place =
            |(at, word): (usize, &u32)| (self.word_index(at as u32 / banks, at as u32 % banks), *word);
        let words: Vec<_> = memory.iter().enumerate().filter(|(_, word)| **word != 0).map(place).collect();
        for (index, word) in &words {
            self.checker.set_word(*index, *word);
        }
        self.tell(|recording| recording.init(&words));
    }

    /// Records everything from now on as a trace that `atoms check` reads.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn record(&mut self, to: Box<dyn Write + Send>) -> io::Result<()> {
        let limit = Some(self.try_wait_limit.into());
        let mut recording = TraceWriter::new(to, self.geometry, limit, Some(self.spin_hold))?;
        let memory = (0u32..).zip(self.checker.memory().iter().copied());
        recording.init(&memory.filter(|(_, word)| *word != 0).collect::<Vec<_>>())?;
        self.recording = Some(recording);
        Ok(())
    }

    /// Completes the recording with the memory at the end.
    ///
    /// # Errors
    /// When the recording could not be written, now or at any time before.
    pub fn finish_recording(&mut self) -> io::Result<()> {
        let words: Vec<_> = (0u32..).zip(self.checker.memory().iter().copied()).collect();
        self.tell_quiet();
        let nothing_left = self.warps.is_empty() && self.clusters.is_empty() && self.log.is_empty();
        if nothing_left && self.asleep.is_empty() {
            self.tell(|recording| recording.end());
        }
        self.tell(|recording| recording.final_words(&words));
        if let Some(recording) = self.recording.take() {
            recording.into_inner()?.flush()?;
        }
        self.recording_error.take().map_or(Ok(()), Err)
    }

    /// Answers judged so far.
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Sees one cycle.
    ///
    /// # Errors
    /// [`Testimony`] when the oracle rejects an answer that appeared in it, or misses one.
    pub fn see(&mut self, i: &In, out: &Out, probe: &Probe) -> Result<(), Testimony> {
        self.cycle += 1;
        // A slot that does not exist can be written while its requests are inside: they never had a part.
        if let Some(slot) = self.table_write.take() {
            if out.cta_reject == 1 {
                self.happens(Event::Part { slot, part: None })?;
            }
            self.happens(Event::Written { slot })?;
        }
        // Then answers: what is written in this cycle belongs to a later one.
        if out.rsp_valid == 1 && !self.answer_seen {
            self.answered(out)?;
        }
        self.answer_seen = out.rsp_valid == 1 && i.rsp_ready == 0;
        if out.cl_rsp_valid == 1 && !self.cluster_answer_seen {
            self.cluster_answered(out)?;
        }
        self.cluster_answer_seen = out.cl_rsp_valid == 1 && i.cl_rsp_ready == 0;
        if out.wake_valid == 1 && !self.wake_seen {
            self.woken(out)?;
        }
        self.wake_seen = out.wake_valid == 1 && i.wake_ready == 0;
        self.look_for_responses(out)?;
        if self.checker.is_waiting() {
            self.look_for_sleepers(out)?;
        } else if self.quiet.is_some() {
            self.tell_quiet();
        }
        if i.rst_n == 0 {
            return self.reset();
        }

        let mut banks = probe.wr_en;
        while banks != 0 {
            let bank = banks.trailing_zeros();
            banks &= banks - 1;
            let index = self.word_index(u32::from(probe.wr_row[bank as usize]), bank);
            self.write(index, probe.wr_data[bank as usize]);
        }
        if probe.cl_done == 1 {
            self.cluster_done()?;
        }

        if i.cta_valid == 1 && out.cta_ready == 1 {
            let part = Part { base_row: u32::from(i.cta_base), size_bytes: i.cta_size, rank: i.cta_rank };
            let part = (i.cta_enable == 1).then_some(part);
            self.happens(Event::Part { slot: i.cta_slot, part })?;
            self.table_write = Some(i.cta_slot);
        }
        if i.req_valid == 1 && out.req_ready == 1 {
            let mut request = self.spare.pop().unwrap_or_default();
            request.op = i.req_op;
            request.size = i.req_size;
            request.red = i.req_red == 1;
            request.cluster = false;
            request.slot = i.req_slot;
            request.mask = i.req_mask;
            request.absolute = i.req_absolute == 1;
            request.scale = i.req_scale;
            request.imm = i.req_imm;
            request.ur = i.req_ur;
            request.ra = i.req_ra;
            request.b = i.req_b;
            request.c = i.req_c;
            let (tag, number, accepted) = (i.req_tag, self.warps_taken, self.cycle);
            self.warps_taken += 1;
            let taken = InFlight { tag, number, accepted, request };
            if taken.may_sleep() {
                let request = Box::new(taken.request.clone());
                self.happens(Event::Accept { number, accepted, request })?;
            }
            self.warps.push_back(taken);
        }
        if i.cl_valid == 1 && out.cl_ready == 1 {
            let mut request = Request {
                op: i.cl_op,
                size: i.cl_size,
                red: i.cl_red == 1,
                cluster: true,
                slot: i.cl_slot,
                mask: 1,
                absolute: true,
                imm: i.cl_addr,
                ..Request::default()
            };
            request.b[0] = i.cl_b;
            request.c[0] = i.cl_c;
            let (tag, number, accepted) = (i.cl_tag, self.clusters_taken, self.cycle);
            self.clusters_taken += 1;
            self.clusters.push_back(InFlight { tag, number, accepted, request });
        }
        Ok(())
    }

    /// A cycle of reset: nothing is taken or written in it, and what is inside gets no answer. The response that
    /// a cluster request carried out before still owed is lost.
    fn reset(&mut self) -> Result<(), Testimony> {
        let cycle = self.cycle;
        self.tell_quiet();
        while let Some(event) = self.log.pop_front() {
            let Some(Event::Cluster { done, .. }) = self.tell_oracle(event)? else { continue };
            self.tell(|recording| recording.init(&done.written));
            let verdict = self.checker.lost(std::slice::from_ref(&done.request), &done.written);
            verdict.map_err(|rejection| Testimony::Reset { cycle, rejection })?;
        }
        self.missing = 0;
        let inside = self.asleep.drain(..).chain(self.warps.drain(..)).chain(self.clusters.drain(..));
        let mut dropped: Vec<Request> = inside.map(|flight| flight.request).collect();
        for request in dropped.iter_mut().filter(|request| request.cluster) {
            request.ur = self.checker.part(request.slot).map_or(0, |part| u32::from(part.rank)) << 24;
        }
        let written = std::mem::take(&mut self.written);
        self.tell(|recording| recording.reset(&dropped, &written));
        (self.answer_seen, self.cluster_answer_seen, self.wake_seen) = (false, false, false);
        self.checker.reset(&dropped, &written).map_err(|rejection| Testimony::Reset { cycle, rejection })
    }

    /// Judges the whole memory at the end, word `row * num_banks + bank`, when nothing is left to be
    /// answered.
    ///
    /// # Errors
    /// [`Testimony`] with a request that was not answered, or with the first word that holds something
    /// else than what was left there.
    pub fn finish(&self, memory: &[u32]) -> Result<(), Testimony> {
        let owed = match self.log.front() {
            Some(Event::Cluster { done, .. }) => Some(&done.request),
            _ => None,
        };
        let forgotten = self.warps.front().or(self.clusters.front()).map(|waiting| &waiting.request);
        self.checker.finish_waits().map_err(Testimony::Unanswered)?;
        if let Some(forgotten) = owed.or(forgotten) {
            return Err(Testimony::Unanswered(self.checker.never_answered(forgotten)));
        }
        self.checker
            .finish(|index| {
                let (row, bank) = (index / self.geometry.banks, index % self.geometry.banks);
                // The hash is its own inverse.
                memory[self.word_index(row, bank) as usize]
            })
            .map_err(Testimony::End)
    }

    /// The part of `slot` shares no row with another one.
    fn isolated(&self, slot: u8) -> Result<(), Testimony> {
        let row_bytes = 4 * self.geometry.banks;
        let rows = |part: Part| (part.base_row, part.base_row + part.size_bytes.div_ceil(row_bytes));
        let Some((first, end)) = self.checker.part(slot).map(rows) else { return Ok(()) };
        let others = (0..=u8::MAX).filter(|other| *other != slot);
        for (other, part) in others.filter_map(|other| Some((other, self.checker.part(other)?))) {
            let (other_first, other_end) = rows(part);
            let row = first.max(other_first);
            if row < end.min(other_end) {
                return Err(Testimony::SharedRow { slot, other, row });
            }
        }
        Ok(())
    }

    /// Linear index of the word that `bank` holds at `row`: takes the bank hash back.
    fn word_index(&self, row: u32, bank: u32) -> u32 {
        let banks = self.geometry.banks;
        let swizzle = if self.geometry.xor_hash { (row & (banks / 4 - 1)) << 2 } else { 0 };
        row * banks + (bank ^ swizzle)
    }

    /// A later pass of the same request may write a word again: the last value stays.
    fn write(&mut self, index: u32, value: u32) {
        match self.written.iter_mut().find(|(word, _)| *word == index) {
            Some((_, last)) => *last = value,
            None => self.written.push((index, value)),
        }
    }

    fn answered(&mut self, out: &Out) -> Result<(), Testimony> {
        let answered = self.warp_of(out.rsp_tag)?;
        let response = Response {
            rd: out.rsp_rd,
            pred: out.rsp_pred,
            fault: Fault::from_code(out.rsp_fault).unwrap_or(Fault::None),
            fault_lane: out.rsp_fault_lane,
            fault_addr: out.rsp_fault_addr,
        };
        let done = self.done(answered.number, answered.request, self.cycle);
        self.happens(Event::Warp { done, response: Box::new(response) })
    }

    /// A cluster request is carried out in this cycle.
    fn cluster_done(&mut self) -> Result<(), Testimony> {
        let number = self.answers;
        let InFlight { number, request, tag, .. } =
            self.clusters.pop_front().ok_or(Testimony::Unasked { number })?;
        let done = self.done(number, request, self.cycle + 1);
        self.happens(Event::Cluster { done, tag })
    }

    /// The request with what was written since the one before, as of now.
    fn done(&mut self, number: u64, request: Request, answered: u64) -> Done {
        let waiting = self.warps.front().into_iter().chain(self.clusters.front());
        let oldest_unanswered = waiting.map(|waiting| waiting.accepted).min();
        let written = std::mem::replace(&mut self.written, self.spare_written.pop().unwrap_or_default());
        Done { request, written, moment: Moment { number, answered, oldest_unanswered } }
    }

    /// A response of the cluster port: that of the first request which is owed one.
    fn cluster_answered(&mut self, out: &Out) -> Result<(), Testimony> {
        let number = self.answers;
        let Some(Event::Cluster { mut done, tag }) = self.log.pop_front() else {
            return Err(Testimony::Unasked { number });
        };
        if tag != out.cl_rsp_tag {
            return Err(Testimony::Tag { number, found: out.cl_rsp_tag, expected: tag });
        }
        let rank = self.rank_in(&mut done.request);
        let mut response = Response {
            pred: u32::from(out.cl_rsp_pred),
            fault: Fault::from_code(out.cl_rsp_fault).unwrap_or(Fault::None),
            ..Response::default()
        };
        response.rd[0] = out.cl_rsp_rd;
        if response.fault != Fault::None {
            response.fault_addr = rank | out.cl_rsp_fault_addr;
        }
        self.judge(done, Some(&response))?;
        while let Some(event) = self.log.pop_front() {
            if let Some(owed) = self.tell_oracle(event)? {
                self.log.push_front(owed);
                break;
            }
        }
        Ok(())
    }

    /// The port names an offset; the oracle, an address with the owner's rank, which is given back.
    fn rank_in(&self, request: &mut Request) -> u32 {
        request.ur = self.checker.part(request.slot).map_or(0, |part| u32::from(part.rank)) << 24;
        request.ur
    }

    /// Something happened, after everything before it.
    fn happens(&mut self, event: Event) -> Result<(), Testimony> {
        if !self.log.is_empty() {
            self.log.push_back(event);
        } else if let Some(owed) = self.tell_oracle(event)? {
            self.log.push_back(owed);
        }
        Ok(())
    }

    /// Tells the oracle; gives a cluster request back that owes a response.
    fn tell_oracle(&mut self, event: Event) -> Result<Option<Event>, Testimony> {
        match event {
            Event::Part { slot, part } => {
                self.checker.set_part(slot, part);
                self.tell(|recording| recording.part(slot, part));
            }
            Event::Written { slot } => self.isolated(slot)?,
            Event::Accept { number, accepted, request } => {
                self.checker.accept(number, accepted, &request);
                self.tell(|recording| recording.wait(number, accepted, &request));
            }
            Event::Warp { done, response } => self.judge(done, Some(&response))?,
            Event::Cluster { mut done, tag } => {
                self.rank_in(&mut done.request);
                if self.checker.owes_response(&done.request) {
                    return Ok(Some(Event::Cluster { done, tag }));
                }
                self.judge(done, None)?;
            }
            Event::Wake { woken, pred, cycle } => {
                self.tell_quiet();
                self.tell(|recording| recording.wake(woken.number, pred, cycle));
                let verdict = self.checker.wake(woken.number, pred, cycle);
                self.verdict(verdict, &woken.request)?;
                self.spare.push(woken.request);
            }
        }
        Ok(None)
    }

    fn judge(&mut self, done: Done, response: Option<&Response>) -> Result<(), Testimony> {
        let Done { request, mut written, moment } = done;
        let moment = self.checker.is_waiting().then_some(moment);
        self.tell(|recording| recording.request(&request, response, Some(&written), moment.as_ref()));
        let verdict = match &moment {
            Some(moment) => self.checker.request_at(moment, &request, response, Some(&written)),
            None => self.checker.request(&request, response, Some(&written)),
        };
        written.clear();
        self.spare_written.push(written);
        let verdict = self.verdict(verdict, &request);
        self.spare.push(request);
        verdict
    }

    /// A response that is owed comes to the port, unless another stands there.
    fn look_for_responses(&mut self, out: &Out) -> Result<(), Testimony> {
        let Some(Event::Cluster { done, .. }) = self.log.front() else {
            self.missing = 0;
            return Ok(());
        };
        self.missing = if out.cl_rsp_valid == 1 { 0 } else { self.missing + 1 };
        if self.missing > RESPONSE_CYCLES {
            return Err(Testimony::Unanswered(self.checker.never_answered(&done.request)));
        }
        Ok(())
    }

    fn woken(&mut self, out: &Out) -> Result<(), Testimony> {
        let (cycle, tag, pred) = (self.cycle, out.wake_tag, out.wake_pred);
        let woken = self.sleeper_of(tag)?;
        self.happens(Event::Wake { woken, pred, cycle })
    }

    /// Something waits in this cycle, and perhaps for too long.
    fn look_for_sleepers(&mut self, out: &Out) -> Result<(), Testimony> {
        let cycle = self.cycle;
        if out.wake_valid == 1 || self.answer_seen || self.cluster_answer_seen || !self.log.is_empty() {
            self.tell_quiet();
            return Ok(());
        }
        if self.recording.is_some() {
            self.quiet = Some((self.quiet.map_or(cycle, |(from, _)| from), cycle));
        }
        self.checker.quiet(cycle, cycle).map_err(|rejection| Testimony::Asleep { cycle, rejection })
    }

    /// Records the quiet cycles up to now.
    fn tell_quiet(&mut self) {
        if let Some((from, to)) = self.quiet.take() {
            self.tell(|recording| recording.quiet(from, to));
        }
    }

    /// Counts an answer, and says what request it was that the oracle rejects.
    fn verdict(&mut self, verdict: Result<(), Rejection>, request: &Request) -> Result<(), Testimony> {
        let number = self.answers;
        self.answers += 1;
        verdict.map_err(|rejection| {
            let i = In {
                req_op: request.op,
                req_size: request.size,
                req_red: u8::from(request.red),
                req_absolute: u8::from(request.absolute),
                req_scale: request.scale,
                req_slot: request.slot,
                req_mask: request.mask,
                req_imm: request.imm,
                req_ur: request.ur,
                req_ra: request.ra,
                req_b: request.b,
                req_c: request.c,
                ..In::default()
            };
            Testimony::Rejected {
                number,
                rejection,
                op: request.op,
                request: WarpRequest::sample(&i).to_string(),
            }
        })
    }

    /// Records something; the first failure is kept for the end, since it must not stop a run that
    /// may be about to find something.
    fn tell(&mut self, what: impl FnOnce(&mut Recording) -> io::Result<()>) {
        if let Some(recording) = &mut self.recording
            && let Err(error) = what(recording)
        {
            self.recording_error = Some(error);
            self.recording = None;
        }
    }

    /// The warp request that an answer with this tag belongs to; those before it sleep.
    fn warp_of(&mut self, tag: u8) -> Result<InFlight, Testimony> {
        let (number, cycle) = (self.answers, self.cycle);
        let overtaken =
            self.warps.iter().take_while(|waiting| waiting.may_sleep() && waiting.tag != tag).count();
        match self.warps.get(overtaken) {
            None => return Err(Testimony::Unasked { number }),
            Some(waiting) if waiting.tag != tag => {
                return Err(Testimony::Tag { number, found: tag, expected: waiting.tag });
            }
            Some(waiting) if waiting.may_sleep() => {
                // If it slept, the answer might be a younger one's.
                let mut younger = self.warps.iter().skip(overtaken + 1);
                let next = younger.find(|waiting| !waiting.may_sleep() || waiting.tag == tag);
                if next.is_some_and(|waiting| waiting.tag == tag) {
                    return Err(Testimony::AmbiguousTag { cycle, tag });
                }
            }
            Some(_) => {}
        }
        self.asleep.extend(self.warps.drain(..overtaken));
        self.warps.pop_front().ok_or(Testimony::Unasked { number })
    }

    /// The request that a wake-up with this tag belongs to: it sleeps, or nothing before it could have
    /// been answered.
    fn sleeper_of(&mut self, tag: u8) -> Result<InFlight, Testimony> {
        let cycle = self.cycle;
        let fits = |waiting: &InFlight| waiting.tag == tag;
        let asleep = self.asleep.iter().position(fits);
        let mut head = self.warps.iter().take_while(|waiting| waiting.may_sleep());
        let waiting = head.position(fits);
        if asleep.is_some() && waiting.is_some()
            || self.asleep.iter().filter(|sleeper| fits(sleeper)).count() > 1
            || head.any(fits)
        {
            return Err(Testimony::AmbiguousTag { cycle, tag });
        }
        if let Some(place) = waiting {
            self.asleep.extend(self.warps.drain(..place));
            return self.warps.pop_front().ok_or(Testimony::NotAsleep { cycle, tag });
        }
        let place = asleep.ok_or(Testimony::NotAsleep { cycle, tag })?;
        Ok(self.asleep.swap_remove(place))
    }
}
