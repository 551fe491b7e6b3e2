//! Pipelines of producers and consumers on mbarrier objects: a stimulus whose warps and copies are
//! little programs, the account of what their objects must come to, and the report of what every agent
//! waits for when none goes on.
//!
//! Every stage of a pipeline has an object `full`, on which producers arrive and consumers wait, and an
//! object `empty` the other way round. What a right program does is known before it runs, whatever the
//! delays: so every answer can be checked as it comes.

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

/// What a right run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineOutcome {
    /// Clock cycles.
    pub cycles: u64,
    /// Phases completed, in order of objects.
    pub phases: Vec<u32>,
    /// Memory at the end: word `row * num_banks + bank`.
    pub memory: Vec<u32>,
    /// Requests by kind of event; see [`Events`].
    pub events: Events,
}

/// Why a run did not end well.
#[derive(Debug)]
pub enum PipelineFailure {
    /// RTL, model or oracle object.
    Failure(Box<Failure>),
    /// A law of pipelines is broken: what was seen.
    Broken(String),
    /// No agent goes on.
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

/// Runs `design` on a machine after reset with a memory of zeros, and settles its account.
///
/// # Errors
/// [`PipelineFailure`]; a right program on a right unit has none.
pub fn run<M: Machine>(
    session: &mut Session<M>,
    design: &Design,
) -> Result<PipelineOutcome, PipelineFailure> {
    let config = *session.machine().config();
    let program = Program::new(&config, design);
    // The longest request, pause and wait of every agent, one behind the other.
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
