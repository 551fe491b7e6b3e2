//! Pipelines of producers and consumers on mbarrier objects. The stimulus runs a program for each warp and each copy.
//! It predicts the final state of every object, and reports a deadlock with the event that each agent waits for.
//!
//! Every stage of a pipeline has two objects. Producers arrive on `full` and consumers wait on it; for
//! `empty` the roles are reversed. The results of a correct program do not depend on delays, so every answer
//! is checked immediately.

mod account;
mod agent;
mod deadlock;
mod design;
mod dice;
mod execution;
mod place;
mod program;

use std::fmt;

use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::session::Session;
use atoms_stimulus::Stimulus;

pub use account::Events;
pub use deadlock::{Awaited, BlockedAgent, Deadlock};
pub use design::{Design, Manner, Member, Mistake, NO_LIMIT, PipelineDesign, ProducerReach, Waiting};

use execution::Execution;
use program::Program;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineOutcome {
    pub cycles: u64,
    pub phases: Vec<u32>,
    /// Memory at the end, indexed by `row * num_banks + bank`.
    pub memory: Vec<u32>,
    pub events: Events,
}

#[derive(Debug)]
pub enum PipelineFailure {
    /// Mismatch of RTL and model, failed assertion, or objection of the oracle.
    Failure(Box<Failure>),
    Broken(String),
    Deadlock(Deadlock),
}

impl From<Failure> for PipelineFailure {
    fn from(failure: Failure) -> Self {
        PipelineFailure::Failure(Box::new(failure))
    }
}

impl fmt::Display for PipelineFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PipelineFailure::Failure(failure) => failure.fmt(f),
            PipelineFailure::Broken(law) => f.write_str(law),
            PipelineFailure::Deadlock(deadlock) => deadlock.fmt(f),
        }
    }
}

/// Runs `design` on a machine after reset with zero memory, and checks the final state of the objects.
///
/// # Errors
/// [`PipelineFailure`]; a correct design on a correct unit has none.
pub fn run<M: Machine>(
    session: &mut Session<M>,
    design: &Design,
) -> Result<PipelineOutcome, PipelineFailure> {
    let config = *session.machine().config();
    let program = Program::new(&config, design);
    // Upper bound: the longest request, pause and wait of every agent, in sequence.
    let wait = config.try_wait_limit.min(NO_LIMIT) + program.longest_pause;
    let watchdog = 2000 + 300 * program.agents.len() as u64 + 4 * u64::from(wait);
    let mut execution = Execution::new(program, design.pauses);
    let start = session.machine().cycles();
    while !(execution.finished() && session.is_idle()) {
        session.step(&mut execution)?;
        execution.watch_objects(&config, session);
        if let Some(law) = execution.broken.take() {
            return Err(PipelineFailure::Broken(format!("cycle {}: {law}", session.machine().cycles() - 1)));
        }
        if execution.idle_cycles() > watchdog {
            return Err(PipelineFailure::Deadlock(execution.deadlock()));
        }
    }
    session.judge_memory()?;
    let account = execution.program.account;
    account.settle().map_err(PipelineFailure::Broken)?;
    Ok(PipelineOutcome {
        cycles: session.machine().cycles() - start,
        phases: account.objects.iter().map(|object| object.completed).collect(),
        memory: session.machine_mut().read_memory()?,
        events: account.events,
    })
}
