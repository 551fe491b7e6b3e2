//! The memory image, and the verdict on one request after the other.

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
use crate::waits::Waits;

/// Bit of an entry of `Checker::listed` whose word some lane accounts for.
const ACCOUNTED: u32 = 1 << 31;

/// The serial oracle over one memory: takes requests in order and accepts what some order of their
/// lanes explains.
///
/// Memory begins as zeros and without allocations.
#[derive(Clone, Debug)]
pub struct Checker {
    geometry: Geometry,
    allocations: Vec<Option<Allocation>>,
    memory: Memory,
    /// For each word, 1 + its place in the list of words written, during a request that has one.
    listed: Vec<u32>,
    /// For [`Units::of`].
    lanes_of_key: Vec<u32>,
    waits: Waits,
    fairness: Fairness,
    merging: Merging,
    goes_first: Option<GoesFirst>,
    /// Requests worked off since reset, up to the one that is judged; `waits` counts those that were suspended.
    worked_off: u64,
    /// Of the request judged last.
    passes: u32,
}

impl Checker {
    /// A checker over zeroed memory in which no slot has an allocation.
    ///
    /// Lanes beyond 32 and words beyond [`MAX_WORDS`](crate::MAX_WORDS) do not exist.
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

    /// Sets the limit of waits that name none (spec 6.10). Until then, theirs is not judged.
    pub fn set_try_wait_limit(&mut self, cycles: u64) {
        self.waits.set_default_limit(cycles);
    }

    /// Sets for how many requests CAST.SPIN gives priority to one lane, by which its selection is judged from now on
    /// (spec 5.4). Until then, it is not.
    pub fn set_spin_hold(&mut self, requests: u32) {
        self.fairness.set_spin_hold(requests.into(), self.geometry.lanes);
    }

    /// Sets what the unit merges: [`Checker::passes`] counts by it, and merged arrivals have an order of their own.
    pub fn set_merging(&mut self, merging: Merging) {
        self.merging = merging;
    }

    /// Sets which lane goes first, by which the order of lanes is judged from now on (spec 4.2, 6.11). The unit comes
    /// from reset, and the checker is told of every request. Until then, any order will do.
    pub fn set_goes_first(&mut self, policy: GoesFirst) {
        self.goes_first = Some(policy);
        self.waits.set_goes_first(policy);
    }

    /// Judges when waits end by the cycle, from now on (spec 6.12): of our unit, whose suspensions are told
    /// ([`Checker::suspend`]), and whose policy and merging are set.
    pub fn set_timed(&mut self) {
        self.waits.set_timed();
    }

    /// The shape it was made for.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Gives a slot of the CTA table an allocation, or takes it away.
    pub fn set_allocation(&mut self, slot: u8, allocation: Option<Allocation>) {
        self.allocations[usize::from(slot)] = allocation;
    }

    /// The allocation of a slot.
    pub fn allocation(&self, slot: u8) -> Option<Allocation> {
        self.allocations[usize::from(slot)]
    }

    /// The memory image by word index, physical byte address / 4.
    ///
    /// A word with several [`Checker::possible`] values shows one of them.
    pub fn memory(&self) -> &[u32] {
        self.memory.words()
    }

    /// The word as in [`Checker::memory`]; 0 beyond it.
    pub fn word(&self, index: u32) -> u32 {
        self.memory.word(index)
    }

    /// Every value the word can have, ascending. More than one only after requests whose memory was
    /// not seen.
    pub fn possible(&self, index: u32) -> Vec<u32> {
        self.memory.possible(index)
    }

    /// Sets a word, as the test bench or a recording's start does; nothing beyond the memory.
    pub fn set_word(&mut self, index: u32, value: u32) {
        self.memory.set(index, value);
    }

    /// Judges one request and takes over what it left.
    ///
    /// `after` lists every word written during the request with its value afterwards, as seen at the
    /// ports of the banks; a word not listed kept its value. A word that a lane names may be listed
    /// unchanged, any other word may not be listed. If a word is listed twice the last entry counts.
    /// `None`: what was left is not known, and the checker follows every possibility.
    ///
    /// A posted cluster request has no response, `None`, unless it faults (spec 4.7).
    ///
    /// # Errors
    /// A [`Rejection`]: no order of the lanes explains the observation, or
    /// none, as [`Rejection::is_undecided`] says. The memory then holds `after`, if it was given, so that checking can
    /// go on; without it, memory is as before the request for the words not yet explained, and later
    /// verdicts mean nothing.
    pub fn request<'a>(
        &mut self,
        req: &SerialRequest,
        resp: impl Into<Option<&'a Response>>,
        after: Option<&[(u32, u32)]>,
    ) -> Result<(), Rejection> {
        self.request_to(&self.resolve(req), req, resp.into(), after)
    }

    /// As [`Checker::request`], with what its addresses come to.
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

    /// The warp port accepted a request, number `number` in order of acceptance. Only MBAR.TRY_WAIT,
    /// which may be suspended, is taken note of.
    pub fn accept(&mut self, number: u64, cycle: u64, req: &SerialRequest) {
        if req.op != Op::MbarTryWait as u8 {
            return;
        }
        let resolved = self.resolve(req);
        let access = resolved.as_ref().ok().and_then(Option::as_ref);
        self.waits.accept(number, cycle, req, &self.geometry, access, &self.memory);
    }

    /// As [`Checker::request`], for a request among others that are suspended: older ones of the warp port that
    /// have no answer yet do from now on.
    ///
    /// # Errors
    /// As [`Checker::request`], and when this was the last request that could have explained an earlier wake-up.
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

    /// Request `number` of the warp port was suspended in this cycle, after all requests told before.
    ///
    /// # Errors
    /// A [`Rejection`]: nothing of that number waits, or its phase was complete.
    pub fn suspend(&mut self, number: u64, cycle: u64) -> Result<(), Rejection> {
        let order = self.order(self.worked_off);
        self.waits.suspend(number, cycle, order, &self.memory)
    }

    /// Order of lanes in the next request, if a policy is set. `worked_off` requests were judged before it; suspended ones
    /// are added here.
    fn order(&self, worked_off: u64) -> Option<Order> {
        // Exact where it matters: the answer to a warp request tells of each wait before it whether it is
        // suspended, and a cluster request has one lane.
        let before = worked_off + self.waits.suspended();
        self.goes_first?.order(Some((before % u64::from(self.geometry.lanes.clamp(1, 32))) as u32))
    }

    /// Judges a wake-up of request `number` of the warp port, with its predicates.
    ///
    /// # Errors
    /// A [`Rejection`]: nothing of that number waits, it gave up before its limit or although its phase
    /// was complete, or not all lanes are told the same. A wake-up whose reason is not seen yet is
    /// judged later.
    pub fn wake(&mut self, number: u64, pred: u32, cycle: u64) -> Result<(), Rejection> {
        self.waits.wake(number, pred, cycle, &self.memory)
    }

    /// Whether [`Checker::quiet`] can find anything.
    pub fn is_waiting(&self) -> bool {
        !self.waits.is_empty()
    }

    /// In the cycles `from` to `to` no wake-up was offered, and no answer of either port stood untaken.
    ///
    /// # Errors
    /// When a wait should have been woken within them; also when one was woken too early, where they are so many that
    /// no answer can be outstanding.
    pub fn quiet(&mut self, from: u64, to: u64) -> Result<(), Rejection> {
        self.waits.quiet(from, to, &self.memory)
    }

    /// The unit was reset, with `dropped` inside, which get no answer. No slot has an allocation then, no wait is left,
    /// and memory keeps its content. `written` lists the words that were seen written for requests
    /// without an answer, with their values.
    ///
    /// The unit works off one request after the other, so at most one of those dropped was carried out in part.
    /// Which of its lanes came about is not judged, only that nothing else was written. Waits of which it
    /// is not certain that they should have been woken count as rightly suspended.
    ///
    /// # Errors
    /// When no request dropped accounts for all that was written.
    pub fn reset(&mut self, dropped: &[SerialRequest], written: &[(u32, u32)]) -> Result<(), Rejection> {
        let verdict = self.lost(dropped, written);
        self.waits.reset();
        self.fairness.reset();
        self.worked_off = 0;
        self.allocations.fill(None);
        verdict
    }

    /// Takes over what was written for requests whose response a reset dropped: `written` belongs to one of them.
    /// Values are not judged. The requests count for the order of lanes and for the priority lanes of those behind them.
    ///
    /// # Errors
    /// When none of them accounts for all that was written.
    pub fn lost(&mut self, requests: &[SerialRequest], written: &[(u32, u32)]) -> Result<(), Rejection> {
        self.worked_off += requests.len() as u64;
        for request in requests.iter().filter(|request| request.op == Op::CastSpin as u8) {
            let Some(access) = self.resolve(request).ok().flatten() else { continue };
            let groups: BTreeSet<u32> = lanes_of(access.lanes).map(|lane| access.key[lane]).collect();
            for group in groups {
                // Which lane was selected is not known, so none was certainly passed over.
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

    /// Judges what is still without an answer when nothing is left to be answered.
    ///
    /// # Errors
    /// The oldest wait that got none, or one that was woken too early.
    pub fn finish_waits(&self) -> Result<(), Rejection> {
        self.waits.finish(&self.memory)
    }

    /// The verdict on a request that got no answer and is no wait.
    pub fn never_answered(&self, req: &SerialRequest) -> Rejection {
        let lanes = req.mask & self.geometry.lane_mask();
        let addr = access::address(req, lanes.trailing_zeros() as usize & 31);
        Rejection::never_answered(req.op, lanes, addr, None)
    }

    /// Whether the request must be given a response (spec 4.7): all are, but for a posted one without a fault.
    pub fn owes_response(&self, req: &SerialRequest) -> bool {
        !req.is_posted() || self.resolve(req).is_err()
    }

    /// Passes that the request judged last takes: 0 under a fault and without active lanes (spec 4.3).
    pub fn passes(&self) -> u32 {
        self.passes
    }

    fn resolve(&self, req: &SerialRequest) -> Result<Option<Access>, FaultReport> {
        access::resolve(&self.geometry, self.allocations[usize::from(req.slot)].as_ref(), req)
    }

    /// Judges the whole memory after the last request; `final_words` gives a word by its index.
    ///
    /// # Errors
    /// The lowest word that holds something else than what was left, or,
    /// of words with several possible values, one of those that hold no possible combination.
    pub fn finish(&self, final_words: impl Fn(u32) -> u32) -> Result<(), Rejection> {
        self.compare((0..self.geometry.words()).map(|word| (word, final_words(word))))?;
        self.judge_regions(|word| Some(final_words(word)))
    }

    /// As [`Checker::finish`] for the words listed only.
    ///
    /// # Errors
    /// As [`Checker::finish`].
    pub fn finish_words(&self, final_words: &[(u32, u32)]) -> Result<(), Rejection> {
        self.compare(final_words.iter().copied())?;
        let listed: std::collections::HashMap<u32, u32> = final_words.iter().copied().collect();
        self.judge_regions(|word| listed.get(&word).copied())
    }

    /// Compares words that are known with what the requests left.
    fn compare(&self, mut final_words: impl Iterator<Item = (u32, u32)>) -> Result<(), Rejection> {
        let wrong = |&(word, got): &(u32, u32)| got != self.word(word) && self.memory.is_known(word);
        let found = final_words.find(wrong);
        found.map_or(Ok(()), |(word, got)| Err(Rejection::wrong_end(word, self.word(word), 1, got)))
    }

    fn judge_regions(&self, got: impl Fn(u32) -> Option<u32>) -> Result<(), Rejection> {
        for region in self.memory.regions() {
            let seen: Vec<Option<u32>> = region.words.iter().map(|&word| got(word)).collect();
            let fits = |world: &&Vec<u32>| world.iter().zip(&seen).all(|(w, s)| s.is_none_or(|s| s == *w));
            if region.worlds.iter().find(fits).is_some() {
                continue;
            }
            // Name a word whose value is impossible alone, if there is one.
            let wrong = |&column: &usize| {
                seen[column].is_some_and(|s| region.worlds.iter().all(|world| world[column] != s))
            };
            let columns = 0..region.words.len();
            let differs = |&column: &usize| seen[column].is_some_and(|s| s != region.worlds[0][column]);
            if let Some(column) = columns.clone().find(wrong).or_else(|| columns.clone().find(differs)) {
                let (word, expected) = (region.words[column], region.worlds[0][column]);
                let got = seen[column].unwrap_or(0);
                return Err(Rejection::wrong_end(word, expected, region.worlds.len(), got));
            }
        }
        Ok(())
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
                let what = format_args!("{op} is posted and does not fault, and yet it has a response");
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
            Err(Rejection::new(clause, "fault", format_args!("expected {expected}, got {got}")))
        };
        let access = match resolved {
            Err(expected) if got == *expected => {
                let lanes = lanes_given_something(resp, u32::MAX);
                if lanes != 0 {
                    let (lanes, fault) = (Lanes(lanes), got.fault);
                    let what = format_args!(
                        "{lanes} got a result or a predicate from a request that ends with `{fault}`; a fault gives none"
                    );
                    return Err(Rejection::new("spec 2.4", "rd", what));
                }
                return must_not_write(after, "spec 2.4", format_args!("it ends with `{}`", got.fault));
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
            return Err(Rejection::new("spec 2.6", "rd", what));
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
                 {group}, although it asked in {asked}"
            );
            Rejection::new("spec 5.4", "pred", what)
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

    /// The value with which a word is listed as written.
    fn written(&self, word: u32, after: &[(u32, u32)]) -> Option<u32> {
        let listed = self.listed[word as usize] & !ACCOUNTED;
        (listed != 0).then(|| after[listed as usize - 1].1)
    }

    /// As [`Checker::explain_unit`] where the words before, or those left, have several possible values.
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
                // What might explain it must not be struck out.
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
