//! A unit that suspends waits correctly is accepted for any timing. A unit that loses waiters, wakes them at
//! random or cuts limits short is rejected.

use crate::serial;

use std::collections::{BTreeSet, VecDeque};

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Rejection, RequestTiming, Response, SerialRequest};
use proptest::prelude::RngExt as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serial::{Machine, active, heard, object};

const GEOMETRY: Geometry = Geometry { lanes: 4, banks: 32, rows: 4, xor_hash: false };
const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 512, rank: 0 };
const LIMIT: u64 = 60;

/// An error in the treatment of waiters, made once per run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    Forget,
    WakeUntimely,
    GiveUpEarly,
    GiveUpInstead,
}

struct Taken {
    number: u64,
    accepted: u64,
    req: SerialRequest,
}

struct Answer {
    due: u64,
    number: u64,
    req: SerialRequest,
    resp: Response,
    after: Vec<(u32, u32)>,
}

struct Waiter {
    number: u64,
    word: u32,
    lanes: u32,
    ends: u64,
    told: Option<u32>,
}

struct Unit {
    rng: TestRng,
    cycle: u64,
    fault: Fault,
    machine: Machine,
    checker: Checker,
    warps: VecDeque<Taken>,
    clusters: VecDeque<Taken>,
    numbers: [u64; 2],
    latency: u64,
    answers: VecDeque<Answer>,
    answer_stands: bool,
    waiters: Vec<Waiter>,
    wake_stands: Option<u64>,
    /// For each port, requests that are accepted, unanswered, and not known to be suspended, as an observer
    /// of the ports sees them.
    unanswered: [VecDeque<(u64, u64)>; 2],
}

impl Unit {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn new(rng: TestRng, fault: Fault) -> Self {
        let mut unit = Unit {
            rng,
            cycle: 0,
            fault,
            machine: Machine::new(GEOMETRY, ALLOCATION),
            checker: Checker::new(GEOMETRY),
            warps: VecDeque::new(),
            clusters: VecDeque::new(),
            numbers: [0; 2],
            latency: 0,
            answers: VecDeque::new(),
            answer_stands: false,
            waiters: Vec::new(),
            wake_stands: None,
            unanswered: [VecDeque::new(), VecDeque::new()],
        };
        unit.latency = unit.rng.random_range(1..5);
        unit.checker.set_allocation(0, Some(ALLOCATION));
        unit.checker.set_try_wait_limit(LIMIT);
        for word in [0, 2] {
            let count = unit.rng.random_range(1..5);
            let object = object(count, count, 0, 0);
            for (word, value) in [(word, object as u32), (word + 1, (object >> 32) as u32)] {
                unit.machine.set_word(word, value);
                unit.checker.set_word(word, value);
            }
        }
        unit
    }

    fn request(&mut self, cluster: bool) -> SerialRequest {
        let ops = [Op::MbarArrive, Op::MbarArrive, Op::MbarExpectTx, Op::MbarCompleteTx, Op::MbarTryWait];
        let op = ops[self.rng.random_range(0..if cluster { 4 } else { 5 })];
        let mask = if cluster { 1 } else { self.rng.random_range(1..16) };
        let mut req =
            SerialRequest { op: op as u8, size: Size::U64 as u8, cluster, mask, ..SerialRequest::default() };
        req.red = op != Op::MbarTryWait;
        let (addr, parity) = (self.rng.random_range(0..2) * 8, self.rng.random_range(0..2u128));
        let limit = [0, 20, 200][self.rng.random_range(0..3)];
        for lane in 0..4 {
            req.ra[lane] = if self.chance(3) { 8 - addr } else { addr };
            (req.b[lane], req.c[lane]) = (parity << 31, limit);
            if op != Op::MbarTryWait {
                req.b[lane] = 1;
            }
        }
        req
    }

    fn accept(&mut self, cluster: bool) {
        let req = self.request(cluster);
        let port = usize::from(cluster);
        let number = self.numbers[port];
        self.numbers[port] += 1;
        self.unanswered[port].push_back((number, self.cycle));
        let taken = Taken { number, accepted: self.cycle, req };
        if cluster {
            self.clusters.push_back(taken);
        } else {
            self.checker.accept(number, self.cycle, &taken.req);
            self.warps.push_back(taken);
        }
    }

    fn work_off(&mut self) {
        let cluster = self.warps.is_empty() || !self.clusters.is_empty() && self.chance(50);
        let queue = if cluster { &mut self.clusters } else { &mut self.warps };
        let Some(Taken { number, accepted, req }) = queue.pop_front() else { return };
        let order = active(&req, &GEOMETRY);
        if req.op == Op::MbarTryWait as u8 && self.suspends(number, accepted, &req, &order) {
            return;
        }
        let (mut resp, mut written) = (Response::default(), BTreeSet::new());
        for lane in order {
            let before = [0, 2].map(|word| self.parity(word));
            let (answer, words) =
                self.machine.run(&SerialRequest { mask: 1 << lane, ..req.clone() }, &[lane]);
            resp.pred |= answer.pred;
            written.extend(words);
            for waiter in &mut self.waiters {
                let word = waiter.word;
                let completed = self.machine.word(word + 1) >> 31 != before[word as usize / 2];
                if completed && waiter.told.is_none() {
                    waiter.told = Some(waiter.lanes);
                }
            }
        }
        let after = written.iter().map(|&w| (w, self.machine.word(w))).collect();
        self.answers.push_back(Answer { due: self.cycle + self.latency, number, req, resp, after });
    }

    /// True if a wait is suspended; most waits that may be suspended are.
    fn suspends(&mut self, number: u64, accepted: u64, req: &SerialRequest, order: &[usize]) -> bool {
        let (word, parity) = (req.ra[order[0]] / 4, (req.b[0] >> 31) as u32);
        let one = order.iter().all(|&lane| req.ra[lane] / 4 == word);
        if !one || self.parity(word) != parity || self.chance(10) {
            return false;
        }
        let limit = if req.c[0] == 0 { LIMIT } else { req.c[0] as u64 };
        let begins = if self.cycle.is_multiple_of(2) { accepted } else { self.cycle };
        self.waiters.push(Waiter { number, word, lanes: req.mask, ends: begins + limit, told: None });
        true
    }

    fn parity(&self, word: u32) -> u32 {
        self.machine.word(word + 1) >> 31
    }

    fn answer(&mut self) -> Result<(), Rejection> {
        let Some(answer) = self.answers.front() else { return Ok(()) };
        if !self.answer_stands && answer.due <= self.cycle {
            self.answer_stands = true;
            let Answer { number, req, resp, after, .. } = answer;
            let open = &mut self.unanswered[usize::from(req.cluster)];
            open.retain(|(waiting, _)| waiting > number);
            let oldest = self.unanswered.iter().flatten().map(|(_, accepted)| *accepted).min();
            let moment = RequestTiming { number: *number, answered: self.cycle, oldest_unanswered: oldest };
            self.checker.request_at(&moment, req, heard(req, resp), Some(after))?;
        }
        if self.answer_stands && self.rng.random_range(0..100) < 80 {
            self.answers.pop_front();
            self.answer_stands = false;
            return Ok(());
        }
        Ok(())
    }

    fn wake(&mut self) -> Result<(), Rejection> {
        for waiter in &mut self.waiters {
            if waiter.told.is_none() && waiter.ends <= self.cycle {
                waiter.told = Some(0);
            }
        }
        if self.wake_stands.is_none() {
            let Some(place) = self.waiters.iter().position(|waiter| waiter.told.is_some()) else {
                return Ok(());
            };
            let waiter = &self.waiters[place];
            let (number, told) = (waiter.number, waiter.told.unwrap_or(0));
            self.wake_stands = Some(number);
            self.waiters.swap_remove(place);
            self.unanswered[0].retain(|(waiting, _)| *waiting != number);
            self.checker.wake(number, told, self.cycle)?;
        }
        Ok(())
    }

    fn misbehave(&mut self) {
        let place = self.waiters.iter().position(|waiter| match self.fault {
            Fault::Nothing => false,
            Fault::Forget | Fault::GiveUpInstead => {
                waiter.told.is_some_and(|told| told != 0) && waiter.ends > self.cycle + 20
            }
            Fault::WakeUntimely | Fault::GiveUpEarly => {
                waiter.told.is_none() && waiter.ends > self.cycle + LIMIT
            }
        });
        let Some(place) = place else { return };
        match self.fault {
            Fault::Nothing => {}
            Fault::Forget => {
                self.waiters.swap_remove(place);
            }
            Fault::GiveUpInstead | Fault::GiveUpEarly => self.waiters[place].told = Some(0),
            Fault::WakeUntimely => self.waiters[place].told = Some(self.waiters[place].lanes),
        }
        self.fault = Fault::Nothing;
    }

    fn step(&mut self, busy: bool) -> Result<(), Rejection> {
        self.cycle += 1;
        let stood = self.answer_stands;
        self.answer()?;
        self.wake()?;
        if self.checker.is_waiting() && self.wake_stands.is_none() && !self.answer_stands {
            self.checker.quiet(self.cycle, self.cycle)?;
        }
        if self.wake_stands.is_some() && self.chance(70) {
            self.wake_stands = None;
        }
        if busy && self.warps.len() < 4 && self.chance(25) {
            self.accept(false);
        }
        if busy && self.clusters.len() < 2 && self.chance(15) {
            self.accept(true);
        }
        if !stood && self.answers.len() < 3 && self.chance(60) {
            self.work_off();
        }
        self.misbehave();
        Ok(())
    }

    fn run(&mut self) -> Result<(), Rejection> {
        for _ in 0..400 {
            self.step(true)?;
        }
        for _ in 0..1000 {
            self.step(false)?;
        }
        self.checker.finish_waits()
    }
}

/// Number of runs with an error among 300 runs, and number of these that were rejected.
fn found(fault: Fault) -> (u32, u32) {
    let (mut wrong, mut rejected) = (0, 0);
    for seed in 0..300u64 {
        let seed: Vec<u8> = seed.to_le_bytes().repeat(4);
        let mut unit = Unit::new(TestRng::from_seed(RngAlgorithm::ChaCha, &seed), fault);
        let verdict = unit.run();
        if unit.fault != fault {
            wrong += 1;
            rejected += u32::from(verdict.is_err());
        }
    }
    (wrong, rejected)
}

#[test]
fn a_unit_that_wakes_as_it_should_is_accepted() {
    for seed in 0..1000u64 {
        let seed: Vec<u8> = seed.to_le_bytes().repeat(4);
        let mut unit = Unit::new(TestRng::from_seed(RngAlgorithm::ChaCha, &seed), Fault::Nothing);
        assert_eq!(unit.run(), Ok(()), "{seed:?}");
    }
}

#[test]
fn one_that_does_not_is_rejected() {
    for fault in [Fault::Forget, Fault::WakeUntimely, Fault::GiveUpEarly, Fault::GiveUpInstead] {
        let (wrong, rejected) = found(fault);
        assert!(wrong > 20, "{fault:?} {wrong}");
        // A wake-up is accepted if the phase may have been complete for a moment.
        let excused = if fault == Fault::WakeUntimely { wrong / 10 } else { 0 };
        assert!(rejected + excused >= wrong, "{fault:?} {rejected} of {wrong}");
    }
}
