//! Runs single cases, or many cases within bounds to minimize a failure.

use std::fmt;
use std::time::{Duration, Instant};

use atoms_monitor::Listener;
use atoms_ops::Op;
use atoms_stimulus::request::WarpRequest;

use crate::case::{Case, CaseStimulus};
use crate::lockstep::Lockstep;
use crate::machine::{Failure, Machine};
use crate::session::{Session, Tally, WATCHDOG_CYCLES};

/// Bounds on the work of minimizing a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Bound on simulated cycles. Each attempt counts [`ATTEMPT_CYCLES`] on top of its cycles.
    pub cycles: u64,
    /// Bound on elapsed time. The bound on cycles ends the work first, unless the computer is a hundred times
    /// slower than usual. So the same failure gives the same case on any computer.
    pub time: Duration,
}

impl Default for Effort {
    /// Allows about two seconds of work in the configuration `default`.
    fn default() -> Self {
        Effort { cycles: 500_000, time: Duration::from_secs(60) }
    }
}

/// Cost of an attempt besides its cycles: reset, clearing memory and oracle, comparing memory at the end.
pub const ATTEMPT_CYCLES: u64 = 60;

/// Cycles without an answer after which a case is stuck. The slowest answer takes some hundreds of cycles: it
/// belongs to a request with 32 passes, the longest pipeline and a port that is open in one cycle of 64.
const WATCHDOG_CYCLES_OF_CASES: u64 = 2_000;

/// Longest limit of an MBAR.TRY_WAIT, in cycles, that an attempt waits for. Minimizing tries cases in which
/// only the limit ends a wait.
const LONGEST_LIMIT: u32 = 10_000;

/// Work spent on minimizing a failure.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Number of runs. A case that fails runs twice.
    pub attempts: u64,
    /// Cycles, counted as for [`Effort`].
    pub cycles: u64,
    /// Time elapsed since the first attempt.
    pub time: Duration,
    /// True if a bound ended the work. A smaller case may then exist.
    pub exhausted: bool,
}

/// Displays, for example, `312 attempts, 48211 cycles, 0.4 s`. The text also says if a bound ended the work.
impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spent { attempts, cycles, time, exhausted } = self;
        write!(f, "{attempts} attempts, {cycles} cycles, {:.1} s", time.as_secs_f64())?;
        if *exhausted { f.write_str(", then the limit was reached") } else { Ok(()) }
    }
}

/// Runs cases on one session until the effort is spent.
pub struct Trials<'a, L: Listener = ()> {
    session: &'a mut Session<Lockstep, L>,
    effort: Effort,
    begun: Instant,
    attempts: u64,
    cycles: u64,
    /// True if each case starts from the initial register values.
    anew: bool,
}

impl<'a, L: Listener> Trials<'a, L> {
    /// Creates trials that use `session`. Each case starts from reset.
    pub fn new(session: &'a mut Session<Lockstep, L>, effort: Effort) -> Self {
        session.set_trace(None);
        session.set_watchdog(WATCHDOG_CYCLES_OF_CASES);
        Self { session, effort, begun: Instant::now(), attempts: 0, cycles: 0, anew: false }
    }

    /// Runs a case from the start. Returns its failure, or `None` if it passes or the effort is spent.
    ///
    /// A reset does not clear data registers, so a case may fail only because of values that the previous
    /// case left there. Each failing case is therefore run once more from the initial register values. If the
    /// case then passes, all later cases start from the initial values. That is slower, but some register
    /// lacks a reset, and values of a previous case may also let a failing case pass.
    pub fn run(&mut self, case: &Case) -> Option<Failure> {
        self.run_up_to(self.cycles_of(case), case)
    }

    fn run_up_to(&mut self, limit: u64, case: &Case) -> Option<Failure> {
        let mut failure = None;
        for anew in [self.anew, true] {
            if self.exhausted() {
                return None;
            }
            self.attempts += 1;
            if anew {
                self.session.machine_mut().start_anew();
            }
            self.session.restart_machine().ok()?;
            let limit = limit.min(self.effort.cycles - self.cycles);
            let outcome = load_case(self.session, case)
                .and_then(|()| self.session.run(&mut CaseStimulus::new(case), limit, |_| {}));
            self.cycles += ATTEMPT_CYCLES + self.session.machine().cycles();
            self.anew |= outcome.is_ok() && failure.is_some();
            failure = Some(outcome.err()?);
            if anew {
                break;
            }
        }
        failure
    }

    /// Returns a cycle limit: each port is open in one cycle of 64, and most waits end by their limits.
    fn cycles_of(&self, case: &Case) -> u64 {
        let default_limit = self.session.machine().config().try_wait_limit;
        let limit_of = |request: &WarpRequest| {
            let limits = request.lanes.iter().map(|lane| lane.c as u32);
            let limits = limits.map(|limit| if limit == 0 { default_limit } else { limit });
            u64::from(limits.filter(|limit| *limit <= LONGEST_LIMIT).max().unwrap_or(0))
        };
        let waits = case.warps.iter().filter(|request| request.op == Op::MbarTryWait as u8);
        let changes = case.changes.iter().flat_map(|change| [change.after, change.reset]);
        let slowest = 64 * (case.requests() + case.allocations.len()) as u64;
        waits.map(limit_of).chain(changes).fold(WATCHDOG_CYCLES_OF_CASES + slowest, u64::saturating_add)
    }

    /// Runs the final case without bounds. Returns its failure, and the work spent before.
    pub fn finish(mut self, case: &Case) -> Option<(Failure, Spent)> {
        let spent = self.spent();
        self.effort = Effort { cycles: u64::MAX, time: Duration::MAX };
        self.anew = true;
        self.session.set_watchdog(WATCHDOG_CYCLES);
        Some((self.run_up_to(u64::MAX, case)?, spent))
    }

    /// Returns the work spent so far.
    pub fn spent(&self) -> Spent {
        let (attempts, cycles, exhausted) = (self.attempts, self.cycles, self.exhausted());
        Spent { attempts, cycles, time: self.begun.elapsed(), exhausted }
    }

    fn exhausted(&self) -> bool {
        self.cycles >= self.effort.cycles || self.begun.elapsed() >= self.effort.time
    }
}

/// Runs a case on a session that is after reset.
///
/// # Errors
/// [`Failure`] of the run.
pub fn run_case<M: Machine, L: Listener>(session: &mut Session<M, L>, case: &Case) -> Result<Tally, Failure> {
    load_case(session, case)?;
    session.run(&mut CaseStimulus::new(case), u64::MAX, |_| {})
}

/// Loads the initial memory of a case into a session that is after reset.
///
/// # Errors
/// [`Failure`] of the machine.
pub fn load_case<M: Machine, L: Listener>(session: &mut Session<M, L>, case: &Case) -> Result<(), Failure> {
    if !case.memory.is_empty() {
        let memory = case.memory_of((session.machine().config().bytes() / 4) as usize);
        session.machine_mut().load_memory(&memory)?;
        if let Some(scoreboard) = session.scoreboard() {
            scoreboard.set_memory(&memory);
        }
    }
    Ok(())
}
