//! Judges suspended requests: MBAR.TRY_WAIT suspended until a phase completes or a limit passes (spec 6.3).
//!
//! A suspended request gets no response but one wake-up, while other requests are answered. Only the answers
//! of these other requests show what happened meanwhile, so exact times are unknown. A wait runs at some time
//! between the older and the younger requests of its port, and an answer shows events that happened some
//! cycles before. Any doubt counts in favour of the unit.
//!
//! Each wait has two separate facts. If its phase *may* have been complete at some time, a wake-up is
//! allowed. If the wait *must* find or have found its phase complete, a wake-up is required.
//!
//! Recordings of this project's unit contain the cycle of each suspension. For these, the exact end cycle is
//! judged (spec 6.12).

use std::fmt;

use atoms_ops::Op;

use crate::access::Access;
use crate::lanes::{Lanes, lanes_of};
use crate::mbarrier::{self, Fields, LaneStep, ObjectLayout, ObjectWord};
use crate::memory::Memory;
use crate::order::{GoesFirst, Order};
use crate::rejection::Rejection;
use crate::request::{Geometry, MAX_LANES, RequestTiming, SerialRequest};

/// Maximum number of quiet cycles between the reason for a wake-up and the wake-up.
pub const WAKE_CYCLES: u64 = 4;

/// Number of quiet cycles without any answer after which every accepted request has run. The longest request
/// takes 32 passes, each of which may wait until the pipeline is empty.
pub const WORK_OFF_CYCLES: u64 = 4096;

/// Cycles from the cycle in which a wait is due to the offer of its wake-up, in this project's unit (spec
/// 6.12).
const DUE_CYCLES: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PhaseQuery {
    word: u32,
    /// Address of the object as the lanes formed it.
    addr: u32,
    parity: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Waiter {
    number: u64,
    accepted: u64,
    lanes: u32,
    /// `None` if the wait faults or its lanes test different phases. Such a wait must not be suspended.
    question: Option<PhaseQuery>,
    c: [u32; MAX_LANES],
    /// Shortest and longest limit, in cycles, of the lanes that may win (spec 6.10). `None` if a limit is
    /// unknown.
    limit: Option<(u64, u64)>,
    /// Cycle by which the wait is known to be suspended.
    suspended: Option<u64>,
    /// Cycle by which the phase is known to be complete, so that a wake-up is required.
    complete: Option<u64>,
    /// True if the phase may have been complete at some time.
    was_complete: bool,
    /// Cycle of the suspension, if exact cycles are judged (spec 6.12).
    since: Option<u64>,
    /// Cycle of the first completion after the suspension, if known exactly.
    completed: Option<u64>,
}

impl Waiter {
    /// Last cycle of the longest limit, if exact cycles are judged.
    fn end(&self) -> Option<u64> {
        self.since.map(|since| self.limit.map_or(u64::MAX, |(_, limit)| since.saturating_add(limit)))
    }
}

/// Wake-up without a known reason. A later answer may show the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    number: u64,
    lanes: u32,
    question: PhaseQuery,
    cycle: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    default_limit: Option<u64>,
    goes_first: Option<GoesFirst>,
    /// True if exact cycles are judged (spec 6.12).
    timed: bool,
    waiters: Vec<Waiter>,
    claims: Vec<Claim>,
    /// Objects tested by `waiters` and then by `claims`, before the request being judged. `None` if the words
    /// are unknown.
    before: Vec<Option<ObjectWord>>,
    last_answer: u64,
    /// First and last of the latest run of quiet cycles.
    quiet: Option<(u64, u64)>,
    suspended: u64,
}

fn object(memory: &Memory, question: PhaseQuery) -> ObjectWord {
    let (low, high) = (memory.word(question.word), memory.word(question.word + 1));
    ObjectWord { word: u64::from(high) << 32 | u64::from(low), layout: ObjectLayout::Sm90 }
}

/// Returns two flags: true if the phase may be complete, and true if the phase is certainly complete.
fn complete(memory: &Memory, question: PhaseQuery) -> (bool, bool) {
    let all = || memory.values(question.word + 1);
    let is = |high: u32| mbarrier::is_complete(u64::from(high) << 32, question.parity);
    (all().any(is), all().all(is))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The request completed no tested phase.
    None,
    /// The request completed the tested phase.
    Completed,
    /// The request wrote the object, and may have completed the tested phase.
    Unclear,
}

impl Waits {
    pub(crate) fn set_default_limit(&mut self, cycles: u64) {
        self.default_limit = Some(cycles);
    }

    pub(crate) fn set_goes_first(&mut self, policy: GoesFirst) {
        self.goes_first = Some(policy);
    }

    pub(crate) fn set_timed(&mut self) {
        self.timed = true;
    }

    pub(crate) fn reset(&mut self) {
        let Waits { default_limit, goes_first, timed, .. } = *self;
        *self = Waits { default_limit, goes_first, timed, ..Waits::default() };
    }

    /// Number of waits since reset that are known to have been suspended, including those already woken.
    pub(crate) fn suspended(&self) -> u64 {
        self.suspended
    }

    /// True if both hold the same waits and claims, and know the same times.
    pub(crate) fn is_equivalent(&self, other: &Waits) -> bool {
        self.waiters == other.waiters
            && self.claims == other.claims
            && self.suspended == other.suspended
            && (self.is_empty() || (self.last_answer, self.quiet) == (other.last_answer, other.quiet))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiters.is_empty() && self.claims.is_empty()
    }

    pub(crate) fn accept(
        &mut self,
        number: u64,
        cycle: u64,
        req: &SerialRequest,
        geometry: &Geometry,
        access: Option<&Access>,
        memory: &Memory,
    ) {
        let lanes = req.mask & geometry.lane_mask();
        let question = access.and_then(|access| {
            let asks = |lane: usize| PhaseQuery {
                word: access.word[lane],
                addr: access.addr[lane],
                parity: mbarrier::parity_asked(req.b[lane]),
            };
            let first = asks(lanes.trailing_zeros() as usize & 31);
            let same = |q: PhaseQuery| (q.word, q.parity) == (first.word, first.parity);
            lanes_of(lanes).all(|lane| same(asks(lane))).then_some(first)
        });
        // The start of the rotation when the wait runs is unknown.
        let first = self.goes_first.and_then(|policy| policy.order(None)?.of_lanes(lanes).next());
        let c = req.c.map(|c| c as u32);
        let limit = limit_of(first.map_or(lanes, |lane| 1 << lane), &c, self.default_limit);
        let (may, must) = question.map_or((false, false), |question| complete(memory, question));
        self.waiters.push(Waiter {
            number,
            accepted: cycle,
            lanes,
            question,
            c,
            limit,
            suspended: None,
            complete: must.then_some(cycle),
            was_complete: may,
            since: None,
            completed: None,
        });
    }

    /// Records that a wait was suspended in this cycle, with its lanes in this order. Every request that ran
    /// before has been judged.
    ///
    /// # Errors
    /// The wait must not be suspended.
    pub(crate) fn suspend(
        &mut self,
        number: u64,
        cycle: u64,
        order: Option<Order>,
        memory: &Memory,
    ) -> Result<(), Rejection> {
        self.suspend_older(number.saturating_add(1), cycle);
        let (default_limit, timed) = (self.default_limit, self.timed);
        let Some(waiter) = self.waiters.iter_mut().find(|waiter| waiter.number == number) else {
            return Err(no_such_wait("suspension", number, cycle));
        };
        // A wake-up of such a wait is rejected in any case.
        let Some(question) = waiter.question else { return Ok(()) };
        let (may, must) = complete(memory, question);
        if must {
            let (PhaseQuery { addr, parity, .. }, object) = (question, object(memory, question));
            let why = format_args!(
                "was suspended in cycle {cycle}, although the phase of parity {parity} of the object at {addr:#x} \
                 was complete; the object is {object}"
            );
            return Err(wrong_wait("spec 6.3", number, waiter.lanes, why));
        }
        (waiter.complete, waiter.completed, waiter.was_complete) = (None, None, may);
        if let Some(first) = order.and_then(|order| order.of_lanes(waiter.lanes).next()) {
            waiter.limit = limit_of(1 << first, &waiter.c, default_limit);
        }
        waiter.since = timed.then_some(cycle);
        Ok(())
    }

    /// Records that a request was answered: the request stops waiting, and older ones of its port are
    /// suspended. The caller must call this before it applies the effect of the request.
    pub(crate) fn answered(&mut self, moment: &RequestTiming, cluster: bool) {
        self.last_answer = self.last_answer.max(moment.answered);
        if !cluster {
            self.waiters.retain(|waiter| waiter.number != moment.number);
            self.suspend_older(moment.number, moment.answered);
        }
    }

    fn suspend_older(&mut self, number: u64, cycle: u64) {
        let older = self.waiters.iter_mut().filter(|waiter| waiter.number < number);
        for waiter in older.filter(|waiter| waiter.suspended.is_none()) {
            waiter.suspended = Some(cycle);
            self.suspended += 1;
        }
    }

    pub(crate) fn note_objects(&mut self, memory: &Memory) {
        let waiting = self.waiters.iter().map(|waiter| waiter.question);
        let claimed = self.claims.iter().map(|claim| Some(claim.question));
        let known =
            |question: &PhaseQuery| memory.is_known(question.word) && memory.is_known(question.word + 1);
        let objects =
            waiting.chain(claimed).map(|asked| asked.filter(known).map(|question| object(memory, question)));
        self.before.clear();
        self.before.extend(objects);
    }

    /// Applies the effect of a judged request, by comparing `memory` with the saved objects. `at_once` is
    /// true if the request had one pass, which is then in the cycle before the answer.
    ///
    /// # Errors
    /// A wake-up whose reason can no longer come.
    pub(crate) fn happened(
        &mut self,
        moment: &RequestTiming,
        req: &SerialRequest,
        access: Option<&Access>,
        at_once: bool,
        memory: &Memory,
    ) -> Result<(), Rejection> {
        let effect_on = |question: PhaseQuery, before: Option<ObjectWord>| match access {
            Some(access) => effect(req, access, question, before, memory),
            None => Effect::None,
        };
        for (waiter, before) in self.waiters.iter_mut().zip(&self.before) {
            let Some(question) = waiter.question else { continue };
            let effect = effect_on(question, *before);
            let (may, must) = complete(memory, question);
            if effect == Effect::Completed && at_once && !waiter.was_complete {
                waiter.completed = Some(moment.answered.saturating_sub(1));
            }
            waiter.was_complete |= may || effect != Effect::None;
            let older = !req.cluster && moment.number < waiter.number;
            waiter.complete = match waiter.suspended {
                // The phase completed during the suspension, whatever comes later.
                Some(_) if effect == Effect::Completed => waiter.complete.or(Some(moment.answered)),
                Some(_) => waiter.complete,
                // The wait runs after this request. If the request came from the cluster port, this is not
                // certain.
                None if !must => None,
                None if older || effect == Effect::Completed => waiter.complete.or(Some(moment.answered)),
                None => waiter.complete,
            };
        }
        let before = &self.before[self.waiters.len()..];
        let proven: Vec<bool> = self
            .claims
            .iter()
            .zip(before)
            .map(|(claim, before)| {
                complete(memory, claim.question).0 || effect_on(claim.question, *before) != Effect::None
            })
            .collect();
        let mut proven = proven.into_iter();
        self.claims.retain(|_| !proven.next().unwrap_or(false));
        self.close_claims(moment.oldest_unanswered, memory)
    }

    /// Rejects a claim once every request that was accepted before the wake-up has been judged.
    fn close_claims(&mut self, oldest_unanswered: Option<u64>, memory: &Memory) -> Result<(), Rejection> {
        let closed = |claim: &Claim| oldest_unanswered.is_none_or(|accepted| accepted > claim.cycle);
        let Some(place) = self.claims.iter().position(closed) else { return Ok(()) };
        let Claim { number, lanes, question, cycle } = self.claims.swap_remove(place);
        let (PhaseQuery { addr, parity, .. }, object) = (question, object(memory, question));
        let why = format_args!(
            "was woken in cycle {cycle}, too early: it waits for the phase of parity {parity} of the object at \
             {addr:#x}, which was never complete; the object is {object}"
        );
        Err(wrong_wait("spec 6.3", number, lanes, why))
    }

    pub(crate) fn wake(
        &mut self,
        number: u64,
        pred: u32,
        cycle: u64,
        memory: &Memory,
    ) -> Result<(), Rejection> {
        self.quiet = None;
        let Some(place) = self.waiters.iter().position(|waiter| waiter.number == number) else {
            return Err(no_such_wait("wake-up", number, cycle));
        };
        let waiter = self.waiters.swap_remove(place);
        self.suspended += u64::from(waiter.suspended.is_none());
        self.suspend_older(number, cycle);
        let rejected = |clause, why: fmt::Arguments<'_>| Err(wrong_wait(clause, number, waiter.lanes, why));
        let Some(question) = waiter.question else {
            let why = "but must never be suspended: it faults, has no active lanes, or its lanes test different phases";
            return rejected("spec 6.3", format_args!("was woken in cycle {cycle}, {why}"));
        };
        let PhaseQuery { addr, parity, .. } = question;
        let told = pred == waiter.lanes;
        if let Some(end) = waiter.end().filter(|_| told || pred == 0 && waiter.limit.is_some()) {
            let due = if told { waiter.completed.unwrap_or(0) } else { end };
            if cycle < due.saturating_add(DUE_CYCLES) {
                let reason = if told { "its phase completes" } else { "its limit ends" };
                let why = format_args!(
                    "at {addr:#x} was woken in cycle {cycle}, too early: {reason} in cycle {due}, and the wake-up \
                     must be offered {DUE_CYCLES} cycles later"
                );
                return rejected("spec 6.12", why);
            }
            if told && due > end {
                let why = format_args!(
                    "at {addr:#x} was woken for a completion in cycle {due}, but its limit ended in cycle {end}"
                );
                return rejected("spec 6.12", why);
            }
        }
        if told {
            if !waiter.was_complete {
                self.claims.push(Claim { number, lanes: waiter.lanes, question, cycle });
            }
            return Ok(());
        }
        if pred != 0 {
            let same = "its lanes test the same phase, so all of them or none must get predicate 1";
            return rejected(
                "spec 6.3",
                format_args!("at {addr:#x} was woken with predicates {pred:#x}: {same}"),
            );
        }
        let Some((limit, _)) = waiter.limit else { return Ok(()) };
        let waited = cycle.saturating_sub(waiter.accepted);
        // The answer that shows a completion appears one cycle later.
        let ends = waiter.end().map_or(waiter.accepted + limit, |end| end.saturating_add(2));
        if waited < limit {
            let why = format_args!(
                "at {addr:#x} timed out too early, {waited} cycles after it was accepted; its limit is {limit}"
            );
            return rejected("spec 6.10", why);
        }
        match waiter.complete {
            Some(complete) if complete < ends => {
                let object = object(memory, question);
                let why = format_args!(
                    "timed out in cycle {cycle}, but needed a wake-up: the phase of parity {parity} of the object \
                     at {addr:#x} was complete by cycle {complete}, before its limit passed; the object is {object}"
                );
                rejected("spec 6.3", why)
            }
            _ => Ok(()),
        }
    }

    /// Records that in these cycles no wake-up was offered and no answer was left unaccepted.
    pub(crate) fn quiet(&mut self, from: u64, to: u64, memory: &Memory) -> Result<(), Rejection> {
        let begin = match self.quiet {
            Some((begin, last)) if last + 1 >= from => begin,
            _ => from,
        };
        self.quiet = Some((begin, to));
        let before = begin.saturating_sub(1);
        let idle = before.max(self.last_answer) + WORK_OFF_CYCLES;
        for place in 0..self.waiters.len() {
            let waiter = &self.waiters[place];
            let (number, lanes) = (waiter.number, waiter.lanes);
            let suspended = waiter.suspended.unwrap_or(idle.max(waiter.accepted + WORK_OFF_CYCLES));
            let Some(question) = waiter.question else { continue };
            let PhaseQuery { addr, parity, .. } = question;
            let completed = waiter.complete.map_or(u64::MAX, |answered| answered.saturating_sub(1));
            if let Some(due) = waiter.end().map(|end| completed.min(end)) {
                if to < due.saturating_add(DUE_CYCLES) {
                    continue;
                }
                let reason = if completed == due { "its phase completed" } else { "its limit ended" };
                let why = format_args!(
                    "at {addr:#x} has no wake-up in cycle {to}: {reason} in cycle {due}, and the wake-up must be \
                     offered {DUE_CYCLES} cycles later"
                );
                let wrong = wrong_wait("spec 6.12", number, lanes, why);
                self.waiters.swap_remove(place);
                return Err(wrong);
            }
            let late = |since: u64| to > since.max(before) + WAKE_CYCLES;
            let wrong = if let Some(complete) =
                waiter.complete.filter(|&complete| late(complete.max(suspended)))
            {
                let object = object(memory, question);
                let why = format_args!(
                    "is still suspended in cycle {to}: the phase of parity {parity} of the object at {addr:#x} was \
                     complete by cycle {complete}; the object is {object}"
                );
                wrong_wait("spec 6.3", number, lanes, why)
            } else if let Some((_, limit)) = waiter.limit.filter(|&(_, limit)| late(suspended + limit)) {
                let waited = to - waiter.accepted;
                let why = format_args!(
                    "at {addr:#x} missed its limit: unanswered {waited} cycles after it was accepted, with a limit \
                     of {limit}"
                );
                wrong_wait("spec 6.10", number, lanes, why)
            } else {
                continue;
            };
            self.waiters.swap_remove(place);
            return Err(wrong);
        }
        if to > idle { self.close_claims(None, memory) } else { Ok(()) }
    }

    /// Judges the end of a run, when no more answers come: rejects the oldest unanswered wait.
    pub(crate) fn finish(&self, memory: &Memory) -> Result<(), Rejection> {
        self.clone().close_claims(None, memory)?;
        let Some(waiter) = self.waiters.iter().min_by_key(|waiter| waiter.number) else { return Ok(()) };
        let addr = waiter.question.map_or(0, |question| question.addr);
        let waits_for = waiter.question.map(|question| (question.parity, object(memory, question)));
        Err(Rejection::never_answered(Op::MbarTryWait as u8, waiter.lanes, addr, waits_for))
    }
}

/// Shortest and longest limit of these lanes, with Rc in `c`; `None` if a limit is unknown.
fn limit_of(lanes: u32, c: &[u32; MAX_LANES], default: Option<u64>) -> Option<(u64, u64)> {
    let limits = lanes_of(lanes).map(|lane| match c[lane] {
        0 => default,
        cycles => Some(cycles.into()),
    });
    limits
        .map(|cycles| cycles.map(|cycles| (cycles, cycles)))
        .reduce(|a, b| a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))))
        .flatten()
}

fn no_such_wait(what: &str, number: u64, cycle: u64) -> Rejection {
    let what = format_args!(
        "a {what} in cycle {cycle} is for wait {number}, but no MBAR.TRY_WAIT with this number is unanswered"
    );
    Rejection::new("spec 6.3", "wait", what)
}

fn wrong_wait(clause: &'static str, number: u64, lanes: u32, why: fmt::Arguments<'_>) -> Rejection {
    Rejection::new(clause, "wait", format_args!("wait {number} of {} {why}", Lanes(lanes))).at(lanes, None)
}

/// Determines the effect of a request without a fault on the object that a wait tests.
fn effect(
    req: &SerialRequest,
    access: &Access,
    question: PhaseQuery,
    before: Option<ObjectWord>,
    memory: &Memory,
) -> Effect {
    if access.op.only_reads() {
        return Effect::None;
    }
    let names = |&lane: &usize| {
        let (first, words) = (access.word[lane], access.size.bytes().div_ceil(4));
        first < question.word + 2 && question.word < first + words
    };
    let mut lanes = lanes_of(access.lanes).filter(names).peekable();
    if lanes.peek().is_none() {
        return Effect::None;
    }
    let Some(before) = before.map(ObjectWord::fields) else { return Effect::Unclear };
    let (mut sum, mut steps) = (before, Vec::new());
    for lane in lanes {
        let Some(step) = LaneStep::of(access.op, req.b[lane] as u32) else { return Effect::Unclear };
        step.count(&mut sum);
        steps.push(step);
    }
    let high = || memory.values(question.word + 1);
    let as_without = |high: u32| {
        let Fields { pending, phase, .. } = Fields::of(u64::from(high) << 32);
        (pending, phase) == (sum.pending, before.phase)
    };
    // Several phases in one request can cancel out.
    let hidden = steps.len() > 1 && mbarrier::may_complete(&before, steps.into_iter());
    if !hidden && high().all(as_without) {
        Effect::None
    } else if high().any(as_without) || before.phase != u32::from(question.parity) {
        Effect::Unclear
    } else {
        Effect::Completed
    }
}
