//! The measurement of one point: a workload on a configuration of the unit.

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

/// A workload on a configuration that is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    pub config: &'a NamedConfig,
    pub workload: &'a Workload,
    /// Seed of what is drawn: same seed, same work. A kernel and a trace draw nothing.
    pub seed: u64,
    /// When it is given up.
    pub limits: TrialLimits,
}

/// Limits after which a measurement is given up.
#[derive(Clone, Copy, Debug)]
pub struct TrialLimits {
    /// Cycles at most. A kernel has the budget of its launch file, if it names one.
    pub cycles: u64,
    /// Cycles without a unit of work after which a generated workload is stuck, beside the time it thinks.
    pub watchdog_cycles: u64,
    /// Set when it is to end early.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Default for TrialLimits {
    fn default() -> Self {
        // The longest that a fair selection may keep one lane waiting (spec 5.4) is some 10^5 cycles in `default`.
        TrialLimits { cycles: 1_000_000_000, watchdog_cycles: 500_000, interrupt: None }
    }
}

/// Implementation behind the ports.
#[derive(Clone, Copy, Debug)]
pub enum Behind<'a> {
    Model,
    /// RTL of the configuration, and the model, compared in every cycle.
    Lockstep(&'a Library),
    /// RTL of the configuration.
    Rtl(&'a Library),
}

/// States if the oracle judges every answer.
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
    /// Passes of the warp requests.
    pub passes: u64,
    /// Lanes that tried what may fail: to store, to be let in, to find a phase complete.
    pub tries: u64,
    /// Of them, those that had to try again.
    pub retries: u64,
    /// Answers that the oracle accepted; 0 where it was not asked.
    pub judged: u64,
    /// True if the result was compared with what must come out. It is of every generated workload; of a kernel where its
    /// launch file expects something; of a trace, faults alone.
    pub checked: bool,
}

impl Measurement {
    /// Units of work in a thousand cycles.
    pub fn units_per_kilocycle(&self) -> f64 {
        1000.0 * self.units as f64 / self.cycles.max(1) as f64
    }

    /// Passes of a request.
    pub fn passes_per_request(&self) -> f64 {
        self.passes as f64 / self.requests.max(1) as f64
    }

    /// How often a lane had to try again until it succeeded; `None` where nothing can fail, or nothing succeeded.
    pub fn retries_per_success(&self) -> Option<f64> {
        let successes = self.tries - self.retries;
        (successes > 0).then(|| self.retries as f64 / successes as f64)
    }

    fn new(counts: PortCounts, judged: u64) -> Self {
        let PortCounts { cycles, requests, passes, work: WorkCounts { units, tries, retries } } = counts;
        Measurement { cycles, units, requests, passes, tries, retries, judged, checked: true }
    }
}

/// Reason why a point has no measurement.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The workload cannot be set up on this configuration.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The workload did not finish.
    #[error("{0}")]
    GivenUp(Box<GivenUp>),
    /// The result is wrong.
    #[error("wrong result: {0}")]
    Wrong(String),
    /// The kernel cannot be run, or did something it must not; or its threads wait for ever.
    #[error(transparent)]
    Kernel(Box<KernelError>),
    /// RTL and model disagree, the oracle objects, the unit hangs, or the run was interrupted.
    #[error(transparent)]
    Run(#[from] Failure),
}

impl TrialError {
    /// True if this is a finding about unit or workload; false if the measurement could not run.
    pub fn is_finding(&self) -> bool {
        match self {
            TrialError::Workload(_) => false,
            TrialError::GivenUp(_) | TrialError::Wrong(_) => true,
            TrialError::Kernel(error) => matches!(
                **error,
                KernelError::Deadlock { .. }
                    | KernelError::WaitsForEver { .. }
                    | KernelError::Budget { .. }
                    | KernelError::Fault { .. }
            ),
            TrialError::Run(failure) => failure.is_finding(),
        }
    }
}

/// What a stimulus of a workload says of its run.
trait Work: Stimulus {
    fn counts(&self) -> PortCounts;
    fn given_up(&self) -> Option<&GivenUp>;
    /// Judges the result; `word` reads memory by byte address.
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

/// What a run came to, once its stimulus has finished.
fn outcome(work: &impl Work, judged: u64, word: &dyn Fn(u32) -> u32) -> Result<Measurement, TrialError> {
    if let Some(given_up) = work.given_up() {
        return Err(TrialError::GivenUp(Box::new(given_up.clone())));
    }
    work.check(word).map_err(TrialError::Wrong)?;
    Ok(Measurement::new(work.counts(), judged))
}

/// Row and bank of the word at a byte address, as addresses count them.
fn place(config: &Config, address: u32) -> (u32, u32) {
    let word = address / 4;
    (word / config.num_banks, word % config.num_banks)
}

/// The whole memory, with these words in it; `None` if there are none.
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

/// Measures a point on the model alone, as fast as it goes. An estimate, until a certificate says that the RTL takes as many
/// cycles.
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
                // As `atoms_stimulus::complete_handshakes`, with the outputs from before the clock edge.
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

/// Cycles between looks at whether to end early: a millisecond.
const CYCLES_BETWEEN_DEADLINE_CHECKS: u64 = 1 << 13;

/// Measures a point, observed by `listener`, which is given back.
///
/// A session's own count of cycles, and what the driver saw of them, are the same for every machine.
///
/// # Errors
/// [`TrialError`], with what the listener saw until then.
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
    // Of posted requests of a trace the driver does not see the end.
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

/// The buffers that did not come out as expected.
fn unexpected(report: &RunReport) -> String {
    let wrong =
        report.buffers.iter().filter(|buffer| !matches!(buffer.outcome, Outcome::Open | Outcome::Met { .. }));
    let names: Vec<_> = wrong.map(|buffer| buffer.name.as_str()).collect();
    format!("buffer {} is not as the launch file expects; `atoms run` says where", names.join(", "))
}
