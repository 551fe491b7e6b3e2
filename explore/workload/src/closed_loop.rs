//! Drives the unit in closed loop: each warp of a generated workload waits for its answers.

use atoms_model::Config;
use atoms_model::port::{In, Out};
use atoms_ops::Fault;
use atoms_stimulus::Stimulus;
use atoms_stimulus::request::AllocationWrite;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::draw::{around, generators};
use super::program::{Answer, Next, WarpPort, WarpProgram, WorkCounts};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Mean think time: cycles between units of work of a warp, drawn evenly from 0 to twice the mean.
    pub think: u32,
    pub compute: u32,
    /// Cycles without a completed unit of work, think time excluded, after which the run is stuck.
    pub watchdog_cycles: u64,
    pub limit: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Cycles since reset.
    pub cycles: u64,
    pub requests: u64,
    /// Passes of the answered requests.
    pub passes: u64,
    pub work: WorkCounts,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenUp {
    #[error("no unit of work completed for {quiet} cycles, at cycle {cycle}:{}", standing(warps))]
    Stuck { quiet: u64, cycle: u64, warps: Vec<String> },
    #[error(
        "stopped after {cycles} cycles with {units} units of work; raise --until or reduce units:{}",
        standing(warps)
    )]
    Limit { cycles: u64, units: u64, warps: Vec<String> },
    #[error("a request of warp {warp} ended with `{fault}` at {address:#x}, in cycle {cycle}")]
    Fault { warp: u8, fault: &'static str, address: u32, cycle: u64 },
    #[error(
        "a request ended with `{found}` at {address:#x}, in cycle {cycle}, and with `{recorded}` in the recording"
    )]
    OtherFault { found: &'static str, recorded: &'static str, address: u32, cycle: u64 },
    #[error("a response with tag {tag} came in cycle {cycle}, but no request with that tag is in flight")]
    Stray { tag: u8, cycle: u64 },
}

const WARPS_NAMED: usize = 8;

fn standing(warps: &[String]) -> String {
    let mut text: String = warps.iter().take(WARPS_NAMED).map(|warp| format!("\n  {warp}")).collect();
    if warps.len() > WARPS_NAMED {
        text += &format!("\n  and {} more warps", warps.len() - WARPS_NAMED);
    }
    text
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// The warp has a request to offer from this cycle on.
    Due(u64),
    Asking,
    Done,
}

/// Drives the warps of a program. The port offers one request at a time, and warps take turns.
#[derive(Debug)]
pub struct ClosedLoop {
    program: Box<dyn WarpProgram>,
    pacing: Pacing,
    set_up: AllocationWrite,
    is_set_up: bool,
    warps: Vec<Standing>,
    generators: Vec<Xoshiro256PlusPlus>,
    /// Bit mask of warps that are not due yet; `ready` is the mask of warps with a request to offer.
    waiting: u64,
    ready: u64,
    /// Bit mask of warps that have not finished.
    left: u64,
    /// Lower bound for the cycle in which the next waiting warp becomes due.
    next_due: u64,
    turn: u32,
    counts: PortCounts,
    last_unit: u64,
    given_up: Option<GivenUp>,
}

impl ClosedLoop {
    pub(super) fn new(
        program: Box<dyn WarpProgram>,
        warps: usize,
        pacing: Pacing,
        seed: u64,
        config: &Config,
    ) -> Self {
        // Invert the seed, so that think times differ from the draws of the program.
        let mut generators = generators(!seed, warps);
        let due = |rng| Standing::Due(around(pacing.think, rng));
        let all = u64::MAX >> (64 - warps);
        ClosedLoop {
            program,
            pacing,
            set_up: AllocationWrite { slot: 0, enable: true, base: 0, size: config.bytes() as u32, rank: 0 },
            is_set_up: false,
            warps: generators.iter_mut().map(due).collect(),
            generators,
            waiting: all,
            ready: 0,
            left: all,
            next_due: 0,
            turn: 63,
            counts: PortCounts::default(),
            last_unit: 0,
            given_up: None,
        }
    }

    pub fn program(&self) -> &dyn WarpProgram {
        &*self.program
    }

    pub fn counts(&self) -> PortCounts {
        self.counts
    }

    pub fn given_up(&self) -> Option<&GivenUp> {
        self.given_up.as_ref()
    }

    /// Moves due warps from `waiting` to `ready`.
    fn wake(&mut self) {
        let (now, mut waiting) = (self.counts.cycles, self.waiting);
        self.next_due = u64::MAX;
        while waiting != 0 {
            let warp = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            match self.warps[warp] {
                Standing::Due(cycle) if cycle <= now => {
                    self.waiting &= !(1 << warp);
                    self.ready |= 1 << warp;
                }
                Standing::Due(cycle) => self.next_due = self.next_due.min(cycle),
                Standing::Asking | Standing::Done => {}
            }
        }
    }

    fn answered(&mut self, tag: u8, answer: &Answer<'_>) {
        let Pacing { think, compute, .. } = self.pacing;
        let warp = usize::from(tag);
        if self.warps.get(warp) != Some(&Standing::Asking) {
            self.given_up = Some(GivenUp::Stray { tag, cycle: self.counts.cycles });
            return;
        }
        let units = self.counts.work.units;
        let next = self.program.answered(warp, answer, &mut self.counts.work);
        if self.counts.work.units != units {
            self.last_unit = self.counts.cycles;
        }
        let after = match next {
            Next::Dependent => u64::from(compute),
            Next::Backoff(cycles) => u64::from(compute) + u64::from(cycles),
            Next::Unit(cycles) => around(think, &mut self.generators[warp]) + u64::from(cycles),
            Next::Done => {
                self.warps[warp] = Standing::Done;
                self.left &= !(1 << warp);
                return;
            }
        };
        // `counts.cycles` is already the next cycle, so a warp offers at the earliest in the cycle after its
        // answer.
        let due = self.counts.cycles + after;
        self.warps[warp] = Standing::Due(due);
        self.waiting |= 1 << warp;
        self.next_due = self.next_due.min(due);
    }

    fn standing(&self) -> Vec<String> {
        let left = (0..self.warps.len()).filter(|warp| self.left >> warp & 1 != 0);
        left.map(|warp| format!("warp {warp}: {}", self.program.waits_for(warp))).collect()
    }

    #[cold]
    fn give_up(&mut self) {
        let (cycles, quiet) = (self.counts.cycles, self.counts.cycles - self.last_unit);
        let warps = self.standing();
        self.given_up = Some(if cycles >= self.pacing.limit {
            GivenUp::Limit { cycles, units: self.counts.work.units, warps }
        } else {
            GivenUp::Stuck { quiet, cycle: cycles, warps }
        });
    }
}

impl Stimulus for ClosedLoop {
    #[inline]
    fn drive(&mut self, i: &mut In) {
        (i.rst_n, i.rsp_ready, i.cl_rsp_ready, i.wake_ready) = (1, 1, 1, 1);
        if !self.is_set_up {
            self.is_set_up = true;
            return self.set_up.drive(i);
        }
        if i.req_valid == 1 || i.cta_valid == 1 || self.given_up.is_some() {
            return;
        }
        if self.counts.cycles >= self.next_due {
            self.wake();
        }
        if self.ready != 0 {
            // Take the first ready warp after the last one that offered, or else the first ready warp.
            let after = self.ready & (!1_u64).unbounded_shl(self.turn);
            self.turn = if after != 0 { after } else { self.ready }.trailing_zeros();
            self.ready &= !(1 << self.turn);
            let warp = self.turn as usize;
            self.warps[warp] = Standing::Asking;
            self.program.offer(warp, &mut WarpPort::new(i, self.turn as u8));
        }
    }

    #[inline]
    fn observe(&mut self, _: &In, out: &Out) {
        self.counts.cycles += 1;
        if out.rsp_valid == 1 {
            self.counts.requests += 1;
            self.counts.passes += u64::from(out.rsp_passes);
            let fault = Fault::from_code(out.rsp_fault).unwrap_or(Fault::Illegal);
            if fault != Fault::None {
                let (fault, address) = (fault.name(), out.rsp_fault_addr);
                self.given_up =
                    Some(GivenUp::Fault { warp: out.rsp_tag, fault, address, cycle: self.counts.cycles });
                return;
            }
            self.answered(out.rsp_tag, &Answer { rd: &out.rsp_rd, pred: out.rsp_pred });
        }
        if out.wake_valid == 1 {
            self.counts.requests += 1;
            // This is a wake-up: a suspended request took one pass.
            self.counts.passes += 1;
            self.answered(out.wake_tag, &Answer { rd: &out.rsp_rd, pred: out.wake_pred });
        }
        let Pacing { think, watchdog_cycles, limit, .. } = self.pacing;
        let now = self.counts.cycles;
        let quiet = now - self.last_unit;
        if (quiet > watchdog_cycles + 2 * u64::from(think) || now >= limit)
            && self.left != 0
            && self.given_up.is_none()
        {
            self.give_up();
        }
    }

    fn finished(&self) -> bool {
        self.left == 0 || self.given_up.is_some()
    }
}

#[cfg(test)]
mod tests {
    use atoms_model::Unit;
    use atoms_model::memory_port::word_index;
    use atoms_ops::Op;
    use atoms_stimulus::complete_handshakes;

    use super::*;
    use crate::Generated;
    use crate::program::Threads;
    use crate::threads::lock;

    /// Runs to the end on the model. `spoil` may change the outputs on their way to the driver.
    fn run(stimulus: &mut ClosedLoop, config: Config, mut spoil: impl FnMut(&In, &mut Out)) -> Unit {
        let mut unit = Unit::new(config);
        for (address, value) in stimulus.program().memory() {
            let word = address / 4;
            let at = word_index(&config, word / config.num_banks, word % config.num_banks);
            unit.memory_mut()[at] = *value;
        }
        let mut i = In::default();
        while !stimulus.finished() {
            stimulus.drive(&mut i);
            let mut out = *unit.evaluate(&i);
            unit.tick(&i);
            let taken = out;
            spoil(&i, &mut out);
            stimulus.observe(&i, &out);
            complete_handshakes(&mut i, &taken);
        }
        unit
    }

    fn word(unit: &Unit, address: u32) -> u32 {
        let banks = unit.config().num_banks;
        unit.memory()[word_index(unit.config(), address / 4 / banks, address / 4 % banks)]
    }

    fn stimulus(name: &str, with: &[(&str, &str)], config: &Config) -> ClosedLoop {
        let mut generated = Generated::named(name).expect("there is one");
        for (name, value) in with {
            generated.set(name, value).expect("it can be this");
        }
        generated.stimulus(config, 1, 20_000, 1_000_000).expect("it fits")
    }

    #[test]
    fn a_lock_that_is_never_released_is_reported_with_those_who_wait() {
        let config = Config::default();
        let threads = Threads { warps: 3, lanes: 2 };
        let program = lock::tests::held(threads, 4, &config);
        let pacing = Pacing { think: 0, compute: 4, watchdog_cycles: 1000, limit: u64::MAX };
        let mut stimulus = ClosedLoop::new(Box::new(program), 3, pacing, 1, &config);
        run(&mut stimulus, config, |_, _| {});
        let said = stimulus.given_up().expect("nothing can be done").to_string();
        let expected = "no unit of work completed for 1001 cycles, at cycle 1001:\
            \n  warp 0: lanes 0x3 wait, for lock 0 at 0x0, which no warp holds\
            \n  warp 1: lanes 0x3 wait, for lock 0 at 0x0, which no warp holds\
            \n  warp 2: lanes 0x3 wait, for lock 0 at 0x0, which no warp holds";
        assert_eq!(said, expected);
        assert_eq!(stimulus.counts().work.units, 0);
        assert!(stimulus.counts().work.retries > 100);
    }

    #[test]
    fn a_wrong_memory_is_found() {
        let config = Config::default();
        for (name, with) in [
            ("contend", ("op", "add")),
            ("contend", ("op", "exch")),
            ("contend", ("op", "min")),
            ("contend", ("op", "cas")),
            ("contend", ("op", "mbar.arrive")),
            ("histogram", ("bins", "16")),
            ("reduction", ("contention", "4")),
            ("accumulate", ("of", "u64")),
            ("accumulate", ("of", "f16x2")),
            ("spin-lock", ("contention", "32")),
            ("ticket-lock", ("contention", "32")),
            ("hash-insert", ("keys", "40")),
        ] {
            let mut stimulus = stimulus(name, &[with, ("units", "3"), ("warps", "2")], &config);
            let unit = run(&mut stimulus, config, |_, _| {});
            let program = stimulus.program();
            program.check(&|address| word(&unit, address)).unwrap_or_else(|why| panic!("{name}: {why}"));
            let mut read = std::collections::BTreeSet::new();
            let seen = std::cell::RefCell::new(&mut read);
            let _ = program.check(&|address| {
                seen.borrow_mut().insert(address);
                word(&unit, address)
            });
            assert!(!read.is_empty(), "{name} reads its words");
            for spoilt in read.iter().copied().take(20) {
                let wrong = |address| word(&unit, address) ^ u32::from(address == spoilt);
                assert!(program.check(&wrong).is_err(), "{name}: word {spoilt:#x}");
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_found() {
        let config = Config::default();
        for (name, with, op) in [
            ("contend", ("op", "exch"), Op::Exch),
            ("spin-lock", ("method", "cas"), Op::Load),
            ("ticket-lock", ("contention", "0"), Op::Add),
            ("queue", ("consumers", "1"), Op::Load),
            ("pipeline", ("consumers", "1"), Op::Load),
        ] {
            let mut stimulus = stimulus(name, &[with, ("units", "3"), ("warps", "2")], &config);
            let (mut asked, mut spoilt) = ([0; 64], 0);
            let unit = run(&mut stimulus, config, |i, out| {
                if i.req_valid == 1 {
                    asked[usize::from(i.req_tag)] = i.req_op;
                }
                if out.rsp_valid == 1 && asked[usize::from(out.rsp_tag)] == op as u8 {
                    spoilt += 1;
                    // Change every answer: in a queue, many answers come from unsuccessful polls.
                    out.rsp_rd[0] ^= 1;
                }
            });
            let right = stimulus.given_up().is_none()
                && stimulus.program().check(&|address| word(&unit, address)).is_ok();
            assert!(!right && spoilt > 0, "{name}");
        }
    }

    #[test]
    fn stray_answers_and_faults_are_no_answers() {
        let config = Config::default();
        for (rule, spoil, said) in [
            ("a tag of no warp", (|out: &mut Out| out.rsp_tag = 60) as fn(&mut Out), "tag 60"),
            ("a fault", |out| out.rsp_fault = 2, "`misaligned address`"),
        ] {
            let mut stimulus = stimulus("contend", &[("warps", "2")], &config);
            run(&mut stimulus, config, |_, out| {
                if out.rsp_valid == 1 {
                    spoil(out);
                }
            });
            let given_up = stimulus.given_up().unwrap_or_else(|| panic!("{rule}")).to_string();
            assert!(given_up.contains(said), "{rule}: {given_up}");
        }
    }
}
