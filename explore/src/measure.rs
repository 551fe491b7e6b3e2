//! Measures one point: a workload on a configuration of the unit.

use std::sync::atomic::{AtomicBool, Ordering};

use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, ModelMachine, RtlMachine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_model::memory_port::word_index;
use atoms_model::port::In;
use atoms_model::{Config, MemoryPort, Unit};
use atoms_monitor::Listener;
use atoms_sm::{KernelError, Outcome, RunError, RunReport, SmConfig};
use atoms_stimulus::Stimulus;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Library;
use serde::{Deserialize, Serialize};

use atoms_workload::{
    ClosedLoop, GivenUp, KernelWorkload, PortCounts, ReplayStimulus, WorkCounts, Workload, WorkloadError,
};

#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    pub config: &'a NamedConfig,
    pub workload: &'a Workload,
    /// Seed of random draws. Only generated workloads draw.
    pub seed: u64,
    pub limits: TrialLimits,
}

#[derive(Clone, Copy, Debug)]
pub struct TrialLimits {
    /// Maximum number of cycles. The budget of a kernel's launch file takes precedence.
    pub cycles: u64,
    /// Cycles without a completed unit of work after which a generated workload counts as stuck. Think time
    /// does not count.
    pub watchdog_cycles: u64,
    /// Flag that another thread sets to end the measurement early.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Default for TrialLimits {
    fn default() -> Self {
        // Fair selection may delay one lane by about 10^5 cycles in `default` (spec 5.4), so the watchdog
        // waits longer.
        TrialLimits { cycles: 1_000_000_000, watchdog_cycles: 500_000, interrupt: None }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Behind<'a> {
    Model,
    Lockstep(&'a Library),
    Rtl(&'a Library),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judging {
    Yes,
    No,
}

/// Result of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measurement {
    /// Clock cycles from reset to the last answer.
    pub cycles: u64,
    pub units: u64,
    pub requests: u64,
    /// Passes of all warp requests.
    pub passes: u64,
    /// Attempts of lanes that can fail: to store, to acquire a lock, to find a phase complete.
    pub tries: u64,
    /// Failed attempts, included in `tries`.
    pub retries: u64,
    /// Answers that the oracle accepted; 0 if the oracle was off.
    pub judged: u64,
    /// True if the result was compared with the expected result. Generated workloads are always checked,
    /// kernels only if their launch file has expectations, and traces only for faults.
    pub checked: bool,
}

impl Measurement {
    pub fn units_per_kilocycle(&self) -> f64 {
        1000.0 * self.units as f64 / self.cycles.max(1) as f64
    }

    pub fn passes_per_request(&self) -> f64 {
        self.passes as f64 / self.requests.max(1) as f64
    }

    /// Returns failed attempts per success; `None` if no attempt can fail or none succeeded.
    pub fn retries_per_success(&self) -> Option<f64> {
        let successes = self.tries - self.retries;
        (successes > 0).then(|| self.retries as f64 / successes as f64)
    }

    fn new(counts: PortCounts, judged: u64) -> Self {
        let PortCounts { cycles, requests, passes, work: WorkCounts { units, tries, retries } } = counts;
        Measurement { cycles, units, requests, passes, tries, retries, judged, checked: true }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error("{0}")]
    GivenUp(Box<GivenUp>),
    #[error("wrong result: {0}")]
    Wrong(String),
    #[error(transparent)]
    Kernel(Box<KernelError>),
    /// RTL and model disagree, the oracle rejects an answer, the unit hangs, or the run was interrupted.
    #[error(transparent)]
    Run(#[from] Failure),
}

impl TrialError {
    /// True if the error is a finding about the unit or the workload; false if the measurement could not run.
    pub fn is_finding(&self) -> bool {
        match self {
            TrialError::Workload(_) => false,
            TrialError::GivenUp(_) | TrialError::Wrong(_) => true,
            TrialError::Kernel(error) => matches!(
                **error,
                KernelError::Deadlock { .. } | KernelError::Budget { .. } | KernelError::Fault { .. }
            ),
            TrialError::Run(failure) => failure.is_finding(),
        }
    }
}

/// A stimulus that knows the progress and the result of its workload.
trait Work: Stimulus {
    fn counts(&self) -> PortCounts;
    fn given_up(&self) -> Option<&GivenUp>;
    /// Checks the result; `word` reads memory by byte address.
    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String>;
}

impl Work for ClosedLoop {
    fn counts(&self) -> PortCounts {
        ClosedLoop::counts(self)
    }

    fn given_up(&self) -> Option<&GivenUp> {
        ClosedLoop::given_up(self)
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.program().check(word)
    }
}

impl Work for ReplayStimulus {
    fn counts(&self) -> PortCounts {
        ReplayStimulus::counts(self)
    }

    fn given_up(&self) -> Option<&GivenUp> {
        ReplayStimulus::given_up(self)
    }

    fn check(&self, _: &dyn Fn(u32) -> u32) -> Result<(), String> {
        Ok(())
    }
}

fn outcome(work: &impl Work, judged: u64, word: &dyn Fn(u32) -> u32) -> Result<Measurement, TrialError> {
    if let Some(given_up) = work.given_up() {
        return Err(TrialError::GivenUp(Box::new(given_up.clone())));
    }
    work.check(word).map_err(TrialError::Wrong)?;
    Ok(Measurement::new(work.counts(), judged))
}

/// Returns row and bank of the word at a byte address, without `bank_hash`.
fn place(config: &Config, address: u32) -> (u32, u32) {
    let word = address / 4;
    (word / config.num_banks, word % config.num_banks)
}

/// Returns a memory image with these words and zeros elsewhere; `None` if `words` is empty.
fn image(config: &Config, words: &[(u32, u32)]) -> Option<Vec<u32>> {
    (!words.is_empty()).then(|| {
        let mut memory = vec![0; config.bytes() as usize / 4];
        for (address, value) in words {
            let (row, bank) = place(config, *address);
            memory[word_index(config, row, bank)] = *value;
        }
        memory
    })
}

/// Measures a point on the model alone, at full speed. The result is an estimate until a certificate confirms
/// it for the RTL.
///
/// # Errors
/// [`TrialError`].
pub fn estimate(trial: &Trial<'_>) -> Result<Measurement, TrialError> {
    let config = trial.config.config;
    match trial.workload {
        Workload::Generated(generated) => {
            let TrialLimits { cycles, watchdog_cycles, interrupt } = trial.limits;
            let mut stimulus = generated.stimulus(&config, trial.seed, watchdog_cycles, cycles)?;
            let mut unit = Unit::new(config);
            if let Some(memory) = image(&config, stimulus.program().memory()) {
                unit.memory_mut().copy_from_slice(&memory);
            }
            let mut i = Box::new(In::default());
            while !stimulus.finished() {
                stimulus.drive(&mut i);
                let out = unit.evaluate(&i);
                stimulus.observe(&i, out);
                let (req_ready, cta_ready) = (out.req_ready, out.cta_ready);
                unit.tick(&i);
                // Like `atoms_stimulus::complete_handshakes`, but with the outputs from before the clock
                // edge.
                i.req_valid &= 1 - req_ready;
                i.cta_valid &= 1 - cta_ready;
                let cycle = stimulus.counts().cycles;
                if cycle % CYCLES_BETWEEN_DEADLINE_CHECKS == 0
                    && interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
                {
                    return Err(Failure::Interrupted(cycle).into());
                }
            }
            outcome(&stimulus, 0, &|address| {
                let (row, bank) = place(&config, address);
                unit.word(row, bank)
            })
        }
        Workload::Kernel(_) | Workload::Trace { .. } => measure(trial, Behind::Model, Judging::No, ()).0,
    }
}

/// Cycles between checks of the interrupt flag: about a millisecond.
const CYCLES_BETWEEN_DEADLINE_CHECKS: u64 = 1 << 13;

/// Measures a point, observed by `listener`, and returns the listener. All machines count the same cycles.
///
/// # Errors
/// [`TrialError`]; the listener has seen the run up to the error.
pub fn measure<L: Listener>(
    trial: &Trial<'_>,
    behind: Behind<'_>,
    judged: Judging,
    listener: L,
) -> (Result<Measurement, TrialError>, L) {
    let config = trial.config.config;
    match behind {
        Behind::Model => on(trial, Ok(ModelMachine::new(config)), judged, listener),
        Behind::Lockstep(library) => {
            let machine =
                library.instantiate().map_err(Failure::from).and_then(|rtl| Lockstep::new(rtl, config));
            on(trial, machine, judged, listener)
        }
        Behind::Rtl(library) => {
            let machine =
                library.instantiate().and_then(|rtl| RtlMachine::new(rtl, config)).map_err(Failure::from);
            on(trial, machine, judged, listener)
        }
    }
}

fn on<M: Machine, L: Listener>(
    trial: &Trial<'_>,
    machine: Result<M, Failure>,
    judged: Judging,
    listener: L,
) -> (Result<Measurement, TrialError>, L) {
    let machine = match machine {
        Ok(machine) => machine,
        Err(failure) => return (Err(failure.into()), listener),
    };
    let scoreboard = (judged == Judging::Yes).then(|| Scoreboard::new(machine.config(), &[]));
    let (mut session, ()) = Session::new(machine, scoreboard).listened_by(listener);
    if let Some(interrupt) = trial.limits.interrupt {
        session.set_interrupt(interrupt);
    }
    let outcome = in_session(trial, &mut session);
    (outcome, session.listened_by(()).1)
}

fn in_session<M: Machine, L: Listener>(
    trial: &Trial<'_>,
    session: &mut Session<M, L>,
) -> Result<Measurement, TrialError> {
    let TrialLimits { cycles, watchdog_cycles, .. } = trial.limits;
    let config = &trial.config.config;
    match trial.workload {
        Workload::Generated(generated) => {
            let mut stimulus = generated.stimulus(config, trial.seed, watchdog_cycles, cycles)?;
            let memory = image(config, stimulus.program().memory());
            drive(session, &mut stimulus, memory)
        }
        Workload::Trace { replay, gaps, .. } => {
            let mut stimulus = replay.stimulus(config, *gaps, cycles)?;
            let memory = image(config, &replay.memory());
            drive(session, &mut stimulus, memory)
        }
        Workload::Kernel(workload) => kernel(workload, session, cycles),
    }
}

fn drive<M: Machine, L: Listener>(
    session: &mut Session<M, L>,
    work: &mut impl Work,
    memory: Option<Vec<u32>>,
) -> Result<Measurement, TrialError> {
    if let Some(memory) = memory {
        session.machine_mut().load_memory(&memory)?;
        session.scoreboard().into_iter().for_each(|scoreboard| scoreboard.set_memory(&memory));
    }
    while !(work.finished() && session.is_idle()) {
        session.step(work)?;
    }
    session.judge_memory()?;
    let tally = session.tally();
    let config = *session.machine().config();
    let measurement = outcome(work, tally.judged, &|address| {
        let (row, bank) = place(&config, address);
        session.machine().word(word_index(&config, row, bank))
    })?;
    // Take the cycles of the session: the driver does not see the end of posted requests of a trace.
    Ok(Measurement { cycles: tally.cycles, ..measurement })
}

fn kernel<M: Machine, L: Listener>(
    workload: &KernelWorkload,
    session: &mut Session<M, L>,
    cycles: u64,
) -> Result<Measurement, TrialError> {
    let config = SmConfig { cycle_budget: cycles, ..SmConfig::default() };
    let report =
        atoms_sm::run(&workload.kernel, &workload.launch, session, &config).map_err(|error| match error {
            RunError::Port(failure) => TrialError::Run(failure),
            RunError::Kernel(error) => TrialError::Kernel(error),
        })?;
    session.judge_memory()?;
    if !report.as_expected() {
        return Err(TrialError::Wrong(unexpected(&report)));
    }
    let s = &report.statistics;
    let sum = |of: fn(&atoms_sm::InstructionProfile) -> u64| s.instructions.iter().map(of).sum::<u64>();
    let tries = sum(|of| of.attempts);
    Ok(Measurement {
        cycles: s.cycles,
        units: workload.units(s),
        requests: s.shared_requests + s.cluster_requests,
        passes: s.passes,
        tries,
        retries: tries - sum(|of| of.successes),
        judged: session.tally().judged,
        checked: report.checked(),
    })
}

fn unexpected(report: &RunReport) -> String {
    let wrong =
        report.buffers.iter().filter(|buffer| !matches!(buffer.outcome, Outcome::Open | Outcome::Met { .. }));
    let names: Vec<_> = wrong.map(|buffer| buffer.name.as_str()).collect();
    format!(
        "buffer {} differs from the result that the launch file expects; `atoms run` shows where",
        names.join(", ")
    )
}
