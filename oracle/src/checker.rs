//! Judges requests one by one against an image of memory.

use std::collections::BTreeSet;

use atoms_ops::{Fault, Op};

use crate::access::{self, Access};
use crate::explain;
use crate::explain::case::{Case, Final, LaneGroup, UNIT_WORDS, Units, Values, split};
use crate::fairness::{Fairness, Unfair};
use crate::given::{check_what_is_given, lanes_given_something, must_not_write};
use crate::lanes::{Lanes, lanes_of};
use crate::memory::{MAX_WORLDS, Memory, too_many};
use crate::order::{self, GoesFirst, Order};
use crate::passes::{Merging, passes};
use crate::rejection::{Rejection, operation};
use crate::request::{Allocation, FaultReport, Geometry, RequestTiming, Response, SerialRequest};
use crate::table;
use crate::waits::Waits;

/// Bit of an entry of `Checker::listed`, set if an active lane accesses the word.
const ACCOUNTED: u32 = 1 << 31;

/// Serial oracle over one memory. Takes requests in order, and accepts each that some order of its lanes
/// explains.
///
/// Memory starts as zeros, without allocations.
#[derive(Clone, Debug)]
pub struct Checker {
    geometry: Geometry,
    allocations: Vec<Option<Allocation>>,
    memory: Memory,
    /// For each word, 1 + its index in the list of written words, or 0. Nonzero only while a request with
    /// such a list is judged.
    listed: Vec<u32>,
    /// Scratch buffer of [`Units::of`], all zero between calls.
    lanes_of_key: Vec<u32>,
    waits: Waits,
    fairness: Fairness,
    merging: Merging,
    goes_first: Option<GoesFirst>,
    /// Number of requests since reset, including the one being judged. Suspended requests are counted in
    /// `waits` instead.
    worked_off: u64,
    passes: u32,
}

impl Checker {
    /// Creates a checker with zeroed memory and no allocations.
    ///
    /// Ignores lanes beyond 32 and words beyond [`MAX_WORDS`](crate::MAX_WORDS).
    pub fn new(geometry: Geometry) -> Self {
        Checker {
            geometry,
            allocations: vec![None; 256],
            memory: Memory::new(geometry.words()),
            listed: vec![0; geometry.words() as usize],
            lanes_of_key: vec![0; geometry.words() as usize],
            waits: Waits::default(),
            fairness: Fairness::default(),
            merging: Merging::default(),
            goes_first: None,
            worked_off: 0,
            passes: 0,
        }
    }

    /// Sets the limit, in cycles, of waits without a limit of their own (spec 6.10). Without this call, their
    /// timeouts are not judged.
    pub fn set_try_wait_limit(&mut self, cycles: u64) {
        self.waits.set_default_limit(cycles);
    }

    /// Sets the number of requests for which CAST.SPIN keeps priority at one lane (spec 5.4). Without this
    /// call, the selected lane is not judged.
    pub fn set_spin_hold(&mut self, requests: u32) {
        self.fairness.set_spin_hold(requests.into(), self.geometry.lanes);
    }

    /// Sets the operations that the unit merges. This determines [`Checker::passes`], and the order of merged
    /// arrivals.
    pub fn set_merging(&mut self, merging: Merging) {
        self.merging = merging;
    }

    /// Sets the winner policy; from now on the order of lanes is judged (spec 4.2, 6.11). The unit must have
    /// just been reset, and the checker must see every request. Without this call, any order is accepted.
    pub fn set_goes_first(&mut self, policy: GoesFirst) {
        self.goes_first = Some(policy);
        self.waits.set_goes_first(policy);
    }

    /// Judges the exact cycle in which each wait ends, from now on (spec 6.12). Requires calls of
    /// [`Checker::suspend`], and the winner policy and merging of this project's unit.
    pub fn set_timed(&mut self) {
        self.waits.set_timed();
    }

    /// Makes this checker accept what either of both accepts from now on. Returns false, and changes nothing, if
    /// the checkers differ in more than memory, or if more than [`MAX_WORLDS`] combinations of values result.
    /// Without `widen`, merges only if both accept the same already.
    pub fn merge(&mut self, other: &Checker, widen: bool) -> bool {
        self.worked_off == other.worked_off
            && self.fairness == other.fairness
            && self.allocations == other.allocations
            && self.waits.is_equivalent(&other.waits)
            && self.memory.merge(&other.memory, widen)
    }

    /// Shape of the memory and of a warp, as passed to [`Checker::new`].
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Gives a slot of the CTA table an allocation; `None` removes the allocation.
    pub fn set_allocation(&mut self, slot: u8, allocation: Option<Allocation>) {
        self.allocations[usize::from(slot)] = allocation;
    }

    /// Judges the result of a write of the CTA table (spec 1.3), after [`Checker::set_allocation`] with the
    /// values of the write. A refused write removes the allocation. `slots` is the number of slots of the unit.
    ///
    /// # Errors
    /// A legal allocation was refused, or an illegal one was not.
    pub fn table_written(&mut self, slot: u8, slots: u32, refused: bool) -> Result<(), Rejection> {
        let verdict = match (table::broken_rule(&self.geometry, &self.allocations, slot, slots), refused) {
            (Some(rule), false) => Err(format!("the CTA table gave slot {slot} an allocation {rule}")),
            (None, true) => {
                let text = |one: Allocation| format!("{} bytes from row {}", one.size_bytes, one.base_row);
                let legal = self.allocation(slot).map_or("none".to_owned(), text);
                Err(format!("the CTA table refused slot {slot} a legal allocation: {legal}"))
            }
            _ => Ok(()),
        };
        if refused {
            self.set_allocation(slot, None);
        }
        verdict.map_err(|what| Rejection::new("spec 1.3", "table", what))
    }

    /// True if two requests may have different results in different orders: they share a word that one of
    /// them may write, or a bank group of CAST.SPIN, or the winner policy depends on the number of requests.
    pub fn order_matters(&self, a: &SerialRequest, b: &SerialRequest) -> bool {
        if self.goes_first == Some(GoesFirst::Rotating) {
            return true;
        }
        match (self.resolve(a), self.resolve(b)) {
            (Ok(Some(a)), Ok(Some(b))) => a.order_matters(&b),
            _ => false,
        }
    }

    /// Words that a request may write, in no order; none if the request faults.
    pub fn may_write(&self, req: &SerialRequest) -> Vec<u32> {
        match self.resolve(req) {
            Ok(Some(access)) if !access.op.only_reads() => access.words(),
            _ => Vec::new(),
        }
    }

    /// Words that a request accesses, in no order; none if the request faults.
    pub fn accesses(&self, req: &SerialRequest) -> Vec<u32> {
        self.resolve(req).ok().flatten().map_or_else(Vec::new, |access| access.words())
    }

    /// Current allocation of a slot, if any.
    pub fn allocation(&self, slot: u8) -> Option<Allocation> {
        self.allocations[usize::from(slot)]
    }

    /// Memory image. The index of a word is its physical byte address / 4.
    ///
    /// For a word with several [`Checker::possible`] values, shows one of them.
    pub fn memory(&self) -> &[u32] {
        self.memory.words()
    }

    /// Word of [`Checker::memory`]; 0 beyond the memory.
    pub fn word(&self, index: u32) -> u32 {
        self.memory.word(index)
    }

    /// All possible values of the word, ascending. Several only after requests with unknown written words.
    pub fn possible(&self, index: u32) -> Vec<u32> {
        self.memory.possible(index)
    }

    /// Sets a word from outside the unit, as a test bench or the start of a recording does. Ignores words
    /// beyond the memory.
    pub fn set_word(&mut self, index: u32, value: u32) {
        self.memory.set(index, value);
    }

    /// Judges one request and applies its effect to memory.
    ///
    /// `after` lists every word written during the request with its final value, as seen at the ports of the
    /// banks. A word that is not listed did not change. A word that a lane names may be listed unchanged; no
    /// other word may be listed. If a word is listed twice, the last entry counts. With `None`, the written
    /// words are unknown, and the checker follows every possibility.
    ///
    /// For a posted cluster request without a fault, `resp` is `None` (spec 4.7).
    ///
    /// # Errors
    /// A [`Rejection`]: no order of the lanes explains the observation, or the checker cannot decide
    /// ([`Rejection::is_undecided`]). With `after`, memory then holds the listed values, and checking can
    /// continue. Without `after`, words not yet explained keep their old values, and later verdicts are
    /// meaningless.
    pub fn request<'a>(
        &mut self,
        req: &SerialRequest,
        resp: impl Into<Option<&'a Response>>,
        after: Option<&[(u32, u32)]>,
    ) -> Result<(), Rejection> {
        self.request_to(&self.resolve(req), req, resp.into(), after)
    }

    /// Judges a request whose addresses are resolved already. Otherwise as [`Checker::request`].
    fn request_to(
        &mut self,
        resolved: &Result<Option<Access>, FaultReport>,
        req: &SerialRequest,
        resp: Option<&Response>,
        after: Option<&[(u32, u32)]>,
    ) -> Result<(), Rejection> {
        self.worked_off += 1;
        self.passes = 0;
        let Some(written) = after else { return self.judge(resolved, req, resp, None) };
        let beyond = written.iter().find(|(word, _)| *word as usize >= self.listed.len());
        let verdict = match beyond {
            Some(&(word, got)) => Err(Rejection::stray_write(word, 0, got)),
            None => {
                for (place, (word, _)) in written.iter().enumerate() {
                    self.listed[*word as usize] = place as u32 + 1;
                }
                let verdict = self.judge(resolved, req, resp, after);
                for (word, _) in written {
                    self.listed[*word as usize] = 0;
                }
                verdict
            }
        };
        if verdict.is_err() {
            for &(word, value) in written {
                self.set_word(word, value);
            }
        }
        verdict
    }

    /// Records that the warp port accepted request `number` (in order of acceptance). Only MBAR.TRY_WAIT is
    /// recorded, because only it may be suspended.
    pub fn accept(&mut self, number: u64, cycle: u64, req: &SerialRequest) {
        if req.op != Op::MbarTryWait as u8 {
            return;
        }
        let resolved = self.resolve(req);
        let access = resolved.as_ref().ok().and_then(Option::as_ref);
        self.waits.accept(number, cycle, req, &self.geometry, access, &self.memory);
    }

    /// Judges one request as [`Checker::request`] does, if other requests may be suspended. Older unanswered
    /// waits of the warp port are then known to be suspended.
    ///
    /// # Errors
    /// The errors of [`Checker::request`]. Also an earlier wake-up that only this request could have
    /// explained.
    pub fn request_at<'a>(
        &mut self,
        moment: &RequestTiming,
        req: &SerialRequest,
        resp: impl Into<Option<&'a Response>>,
        after: Option<&[(u32, u32)]>,
    ) -> Result<(), Rejection> {
        if self.waits.is_empty() {
            return self.request(req, resp, after);
        }
        self.waits.answered(moment, req.cluster);
        self.waits.note_objects(&self.memory);
        let resolved = self.resolve(req);
        let verdict = self.request_to(&resolved, req, resp.into(), after);
        let access = resolved.as_ref().ok().and_then(Option::as_ref);
        let woken = self.waits.happened(moment, req, access, self.passes == 1, &self.memory);
        verdict.and(woken)
    }

    /// Records that request `number` of the warp port was suspended in this cycle, after all requests judged
    /// so far.
    ///
    /// # Errors
    /// A [`Rejection`]: no wait has this number, or its phase was complete.
    pub fn suspend(&mut self, number: u64, cycle: u64) -> Result<(), Rejection> {
        let order = self.order(self.worked_off);
        self.waits.suspend(number, cycle, order, &self.memory)
    }

    /// Order of lanes in the next request, if a policy is set. `worked_off` is the number of requests before
    /// it, without the suspended ones.
    fn order(&self, worked_off: u64) -> Option<Order> {
        // The count is exact when needed. The answer to a warp request shows for each earlier wait if it is
        // suspended, and a cluster request has only one lane.
        let before = worked_off + self.waits.suspended();
        self.goes_first?.order(Some((before % u64::from(self.geometry.lanes.clamp(1, 32))) as u32))
    }

    /// Judges a wake-up of request `number` of the warp port, with its predicates.
    ///
    /// # Errors
    /// A [`Rejection`]: no wait has this number, the timeout was early, the phase was complete at the
    /// timeout, or lanes got different predicates. A wake-up without a known reason is judged later.
    pub fn wake(&mut self, number: u64, pred: u32, cycle: u64) -> Result<(), Rejection> {
        self.waits.wake(number, pred, cycle, &self.memory)
    }

    /// True if [`Checker::quiet`] has waits or wake-ups to judge.
    pub fn is_waiting(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Records that in the cycles `from` to `to` no wake-up was offered and no port held an unaccepted
    /// answer.
    ///
    /// # Errors
    /// A wait that must have been woken in these cycles. Also a wake-up without a reason, if the
    /// quiet cycles show that no outstanding answer can explain it.
    pub fn quiet(&mut self, from: u64, to: u64) -> Result<(), Rejection> {
        self.waits.quiet(from, to, &self.memory)
    }

    /// Applies a reset of the unit. The requests `dropped` were in flight and get no answer. Allocations and
    /// waits are dropped; memory keeps its content. `written` lists the words written for requests without an
    /// answer, with their values.
    ///
    /// The unit works on one request at a time, so at most one dropped request wrote some words. The values
    /// are not judged, only that no other words were written. A wait that possibly should have been woken
    /// counts as correctly suspended.
    ///
    /// # Errors
    /// No dropped request accounts for all words written.
    pub fn reset(&mut self, dropped: &[SerialRequest], written: &[(u32, u32)]) -> Result<(), Rejection> {
        let verdict = self.lost(dropped, written);
        self.waits.reset();
        self.fairness.reset();
        self.worked_off = 0;
        self.allocations.fill(None);
        verdict
    }

    /// Applies the writes of requests whose response was dropped by a reset: `written` belongs to one of
    /// them. The values are not judged. The requests count for the order of lanes and the priority lanes of
    /// later requests.
    ///
    /// # Errors
    /// None of the requests accounts for all words written.
    pub fn lost(&mut self, requests: &[SerialRequest], written: &[(u32, u32)]) -> Result<(), Rejection> {
        self.worked_off += requests.len() as u64;
        for request in requests.iter().filter(|request| request.op == Op::CastSpin as u8) {
            let Some(access) = self.resolve(request).ok().flatten() else { continue };
            let groups: BTreeSet<u32> = lanes_of(access.lanes).map(|lane| access.key[lane]).collect();
            for group in groups {
                // The selected lane is unknown, so no lane was certainly passed over.
                let _ = self.fairness.request(group, 0);
            }
        }
        let accounts = |request: &SerialRequest| {
            let access = self.resolve(request).ok().flatten();
            access.filter(|access| !access.op.only_reads()).is_some_and(|access| {
                let words = access.size.bytes().div_ceil(4);
                let names =
                    |word: u32, lane: usize| (access.word[lane]..access.word[lane] + words).contains(&word);
                written.iter().all(|(word, _)| lanes_of(access.lanes).any(|lane| names(*word, lane)))
            })
        };
        let verdict = match written.first() {
            Some(&(word, got)) if !requests.iter().any(accounts) => {
                Err(Rejection::stray_write(word, self.word(word), got))
            }
            _ => Ok(()),
        };
        for &(word, value) in written {
            self.set_word(word, value);
        }
        verdict
    }

    /// Judges the waits that are unanswered at the end of a run.
    ///
    /// # Errors
    /// The oldest unanswered wait, or a wake-up without a reason.
    pub fn finish_waits(&self) -> Result<(), Rejection> {
        self.waits.finish(&self.memory)
    }

    /// Rejection of a request other than a wait that got no answer.
    pub fn never_answered(&self, req: &SerialRequest) -> Rejection {
        let lanes = req.mask & self.geometry.lane_mask();
        let addr = access::address(req, lanes.trailing_zeros() as usize & 31);
        Rejection::never_answered(req.op, lanes, addr, None)
    }

    /// True if the request must get a response: every request except a posted one without a fault (spec 4.7).
    pub fn owes_response(&self, req: &SerialRequest) -> bool {
        !req.is_posted() || self.resolve(req).is_err()
    }

    /// Expected passes of the last request judged: 0 after a fault or without active lanes (spec 4.3).
    pub fn passes(&self) -> u32 {
        self.passes
    }

    fn resolve(&self, req: &SerialRequest) -> Result<Option<Access>, FaultReport> {
        access::resolve(&self.geometry, self.allocations[usize::from(req.slot)].as_ref(), req)
    }

    /// Judges the whole memory after the last request. `final_words` returns the word of an index.
    ///
    /// # Errors
    /// The lowest word with a wrong value. If the words are only wrong in combination, one of these words.
    pub fn finish(&self, final_words: impl Fn(u32) -> u32) -> Result<(), Rejection> {
        let words = (0..self.geometry.words()).map(|word| (word, final_words(word)));
        self.memory.judge_end(words, |word| Some(final_words(word)))
    }

    /// Judges the listed words as [`Checker::finish`] does.
    ///
    /// # Errors
    /// The errors of [`Checker::finish`].
    pub fn finish_words(&self, final_words: &[(u32, u32)]) -> Result<(), Rejection> {
        let listed: std::collections::HashMap<u32, u32> = final_words.iter().copied().collect();
        self.memory.judge_end(final_words.iter().copied(), |word| listed.get(&word).copied())
    }

    fn judge(
        &mut self,
        resolved: &Result<Option<Access>, FaultReport>,
        req: &SerialRequest,
        resp: Option<&Response>,
        after: Option<&[(u32, u32)]>,
    ) -> Result<(), Rejection> {
        let nothing = Response::default();
        let resp = match resp {
            None if req.is_posted() && resolved.is_ok() => &nothing,
            None => return Err(self.never_answered(req)),
            Some(resp) if req.is_posted() && resolved.is_ok() && resp.fault == Fault::None => {
                let op = operation(req.op);
                let what = format_args!(
                    "{op} is a posted request without a fault, which must not get a response, but got one"
                );
                return Err(Rejection::new("spec 4.7", "answer", what));
            }
            Some(resp) => resp,
        };
        let got = FaultReport { fault: resp.fault, lane: resp.fault_lane, addr: resp.fault_addr };
        let wrong_fault = |expected: FaultReport| {
            let cluster_mbarrier = req.cluster && Op::from_code(req.op).is_some_and(Op::is_mbarrier);
            let clause = match if expected.fault == Fault::None { got.fault } else { expected.fault } {
                Fault::Illegal if cluster_mbarrier => "spec 6.7",
                Fault::Illegal => "spec 3.3",
                Fault::None | Fault::Misaligned | Fault::OutOfRange => "spec 2.4",
            };
            let lane = 1 << ((if got.fault == Fault::None { expected } else { got }).lane & 31);
            Err(Rejection::new(clause, "fault", format_args!("expected {expected}, got {got}"))
                .at(lane, None)
                .values(got.fault as u8, u128::from(expected.fault as u8)))
        };
        let access = match resolved {
            Err(expected) if got == *expected => {
                let lanes = lanes_given_something(resp, u32::MAX);
                if lanes != 0 {
                    let (named, fault) = (Lanes(lanes), got.fault);
                    let what = format_args!(
                        "{named} got a result or a predicate from a request that ends with `{fault}`; a fault gives none"
                    );
                    return Err(Rejection::new("spec 2.4", "rd", what).at(lanes, None));
                }
                return must_not_write(
                    after,
                    "spec 2.4",
                    format_args!("it ends with the fault `{}`", got.fault),
                );
            }
            Err(expected) => return wrong_fault(*expected),
            Ok(_) if got.fault != Fault::None => {
                return wrong_fault(FaultReport { fault: Fault::None, lane: 0, addr: 0 });
            }
            Ok(access) => access,
        };
        let lanes = access.as_ref().map_or(0, |access| access.lanes);
        let inactive = lanes_given_something(resp, !lanes);
        if inactive != 0 {
            let what = format_args!("{} got a result or a predicate without being active", Lanes(inactive));
            return Err(Rejection::new("spec 2.6", "rd", what).at(inactive, None));
        }
        let Some(access) = access else {
            return must_not_write(after, "spec 2.6", format_args!("it has no active lane"));
        };
        let units = Units::of(access, &mut self.lanes_of_key);
        self.passes = passes(&self.geometry, self.merging, req.red, access, &units);
        check_what_is_given(access.op, req, resp, access.lanes)?;
        if access.op == Op::Load {
            must_not_write(after, "spec 3.5", format_args!("it is a load"))?;
        } else if access.op.only_reads() {
            must_not_write(after, "spec 6.3", format_args!("it only reads the object"))?;
        }

        let policy = self.order(self.worked_off - 1);
        let merged = access.op == Op::MbarArrive && self.merging.arrive;
        let order = policy.map(|order| if merged { Order::Merged } else { order });
        let case = Case { access, req, resp, order: order.filter(|_| order::matters(access.op)) };
        let (mut unit, mut values) = (LaneGroup::new(), Values::new());
        for &lanes in units.sets() {
            unit.gather(access, lanes);
            unit.selected = policy.filter(|_| access.op == Op::CastSpin).and_then(|order| {
                let group = access.key[lanes.trailing_zeros() as usize & 31];
                let priority_lane = self.fairness.priority_lane(group)? as usize;
                if lanes >> priority_lane & 1 == 1 {
                    Some(priority_lane)
                } else {
                    order.of_lanes(lanes).next()
                }
            });
            self.judge_unit(&case, &unit, after, &mut values)?;
        }
        for &(word, got) in after.unwrap_or_default() {
            if self.listed[word as usize] & ACCOUNTED == 0 {
                return Err(Rejection::stray_write(word, self.word(word), got));
            }
        }
        Ok(())
    }

    fn judge_unit(
        &mut self,
        case: &Case<'_>,
        unit: &LaneGroup,
        after: Option<&[(u32, u32)]>,
        values: &mut Values,
    ) -> Result<(), Rejection> {
        if case.access.op != Op::CastSpin {
            return self.explain_unit(case, unit, after, values);
        }
        let mut before = [0; UNIT_WORDS];
        for (value, &word) in before.iter_mut().zip(&unit.words[..unit.count]) {
            *value = self.word(word);
        }
        let passed = explain::passed_over(case, unit, &before, |word| self.memory.is_known(word));
        let explained = self.explain_unit(case, unit, after, values);
        let group = case.access.key[unit.lanes.trailing_zeros() as usize & 31];
        let fair = self.fairness.request(group, passed).map_err(|unfair| {
            let Unfair { lane, requests, in_each, spin_hold } = unfair;
            let addr = case.access.addr[usize::from(lane) & 31];
            let asked = match in_each {
                true => "each of them".to_string(),
                false => format!("at least one of any {spin_hold} of them"),
            };
            let what = format_args!(
                "lane {lane} at {addr:#x} was not selected in {requests} successive CAST.SPIN requests to bank group \
                 {group}, although it competed in {asked}"
            );
            Rejection::new("spec 5.4", "pred", what).at(1 << lane, addr)
        });
        explained.and(fair)
    }

    fn explain_unit(
        &mut self,
        case: &Case<'_>,
        unit: &LaneGroup,
        after: Option<&[(u32, u32)]>,
        values: &mut Values,
    ) -> Result<(), Rejection> {
        let words = &unit.words[..unit.count];
        let Values { before, seen, left } = values;
        let mut known = true;
        for (i, &word) in words.iter().enumerate() {
            known &= self.memory.is_known(word);
            before[i] = self.memory.word(word);
            seen[i] = after.and_then(|after| self.written(word, after)).unwrap_or(before[i]);
            let listed = &mut self.listed[word as usize];
            *listed |= if *listed != 0 { ACCOUNTED } else { 0 };
        }
        if !known {
            return self.judge_unit_in_every_world(case, unit, after);
        }
        let seen = after.map(|_| &seen[..unit.count]);
        let mut choices = Vec::new();
        let left = &mut left[..unit.count];
        match explain::explain(case, unit, &before[..unit.count], seen, left, &mut choices)? {
            Final::Words => {
                for (&word, &value) in words.iter().zip(left.iter()) {
                    self.memory.set(word, value);
                }
                Ok(())
            }
            Final::OneOf => self.judge_unit_in_every_world(case, unit, after),
        }
    }

    fn written(&self, word: u32, after: &[(u32, u32)]) -> Option<u32> {
        let listed = self.listed[word as usize] & !ACCOUNTED;
        (listed != 0).then(|| after[listed as usize - 1].1)
    }

    /// Judges a unit like [`Checker::explain_unit`] if words before or after have several possible values.
    fn judge_unit_in_every_world(
        &mut self,
        case: &Case<'_>,
        unit: &LaneGroup,
        after: Option<&[(u32, u32)]>,
    ) -> Result<(), Rejection> {
        let words = &unit.words[..unit.count];
        let written: Option<Vec<Option<u32>>> =
            after.map(|after| words.iter().map(|&word| self.written(word, after)).collect());
        let mut region = self.memory.joined(words)?;
        let columns: Vec<usize> = words
            .iter()
            .map(|word| {
                region.words.iter().position(|w| w == word).expect("joined() has every word asked for")
            })
            .collect();
        let possible = region.worlds.len();
        let (mut worlds_left, mut objection) = (BTreeSet::new(), None);
        let mut choices = Vec::new();
        for world in &region.worlds {
            let before: Vec<u32> = columns.iter().map(|&column| world[column]).collect();
            let seen: Option<Vec<u32>> = written
                .as_ref()
                .map(|written| written.iter().zip(&before).map(|(w, &b)| w.unwrap_or(b)).collect());
            let mut left = before.clone();
            let mut leave = |left: &[u32]| {
                let mut next = world.clone();
                columns.iter().zip(left).for_each(|(&column, &value)| next[column] = value);
                worlds_left.insert(next);
            };
            match explain::explain(case, unit, &before, seen.as_deref(), &mut left, &mut choices) {
                Ok(Final::Words) => leave(&left),
                Ok(Final::OneOf) => {
                    for &value in &choices {
                        split(value, &mut left);
                        leave(&left);
                    }
                }
                // A combination of values that may explain the request must be kept.
                Err(rejection) if rejection.is_undecided() => return Err(rejection),
                Err(rejection) => objection = objection.or(Some(rejection)),
            }
            if worlds_left.len() > MAX_WORLDS {
                return Err(too_many(words[0]));
            }
        }
        match objection {
            Some(rejection) if worlds_left.is_empty() => Err(Rejection::of_all(possible, rejection)),
            _ => {
                region.worlds = worlds_left.into_iter().collect();
                self.memory.put(region);
                Ok(())
            }
        }
    }
}
