//! The oracle that checks the transactions of one machine.

mod held;
mod ports;
mod probe;
mod violation;

use std::io::{self, Write};

use atoms_model::Config;
use atoms_model::port::In;
use atoms_monitor::{Cycle, Monitor, WarpAnswer};
use atoms_ops::Fault;
use atoms_oracle::Response;
use atoms_stimulus::unit::ForeignUnit;

use ports::ForeignScoreboard;
use probe::ProbeScoreboard;
pub use violation::OracleViolation;

/// Returns the response in the oracle's form.
fn response(answer: &WarpAnswer<'_>) -> Response {
    Response {
        rd: *answer.rd,
        pred: answer.pred,
        fault: Fault::from_code(answer.fault).unwrap_or(Fault::None),
        fault_lane: answer.fault_lane,
        fault_addr: answer.fault_addr,
    }
}

/// Passes the transactions of one machine to an oracle.
#[derive(Debug)]
pub enum Scoreboard {
    /// For this project's unit: its probe tells the order of execution and the words written.
    Probe(Box<ProbeScoreboard>),
    /// For another unit: the oracle sees the ports only.
    Ports(Box<ForeignScoreboard>),
}

impl Scoreboard {
    /// Creates a scoreboard for this project's unit, of `config` and with this memory. The index of a word is
    /// `row * num_banks + bank`.
    pub fn new(config: &Config, memory: &[u32]) -> Self {
        Scoreboard::Probe(Box::new(ProbeScoreboard::new(config, memory)))
    }

    /// Creates a scoreboard for a unit of `config`, with a memory of zeros. `unit` is its declaration if it is not
    /// this project's.
    pub fn of(config: &Config, unit: Option<&ForeignUnit>) -> Self {
        match unit {
            Some(unit) => Scoreboard::Ports(Box::new(ForeignScoreboard::new(config, unit))),
            None => Self::new(config, &[]),
        }
    }

    /// Returns the number of requests that need an answer and have none. `None` if the monitor counts them.
    pub fn open(&self) -> Option<usize> {
        match self {
            Scoreboard::Probe(_) => None,
            Scoreboard::Ports(scoreboard) => Some(scoreboard.open()),
        }
    }

    /// Returns the number of cycles that a run continues after the last answer, so that requests without an answer
    /// execute.
    pub fn cycles_behind(&self) -> u64 {
        match self {
            Scoreboard::Probe(_) => 0,
            Scoreboard::Ports(scoreboard) => scoreboard.cycles_behind(),
        }
    }

    /// Sets memory, word `row * num_banks + bank`. Words that are 0 or missing in `memory` keep their value.
    pub fn set_memory(&mut self, memory: &[u32]) {
        match self {
            Scoreboard::Probe(scoreboard) => scoreboard.set_memory(memory),
            Scoreboard::Ports(scoreboard) => scoreboard.set_memory(memory),
        }
    }

    /// Returns why the unit does not support these inputs. `None` if it does, or is this project's.
    pub fn refuses(&self, i: &In) -> Option<String> {
        match self {
            Scoreboard::Probe(_) => None,
            Scoreboard::Ports(scoreboard) => scoreboard.refuses(i),
        }
    }

    /// Replaces the memory of a unit that is not this project's, word `row * num_banks + bank`.
    pub fn replace_memory(&mut self, memory: &[u32]) {
        match self {
            Scoreboard::Probe(_) => {}
            Scoreboard::Ports(scoreboard) => scoreboard.replace_memory(memory),
        }
    }

    /// Starts to record everything as a trace that `atoms check` reads.
    ///
    /// # Errors
    /// The I/O error, if the header cannot be written.
    pub fn record(&mut self, to: Box<dyn Write + Send>) -> io::Result<()> {
        match self {
            Scoreboard::Probe(scoreboard) => scoreboard.record(to),
            Scoreboard::Ports(scoreboard) => scoreboard.record(to),
        }
    }

    /// Completes the recording. `monitor` knows if every request is done.
    ///
    /// # Errors
    /// The first I/O error of the recording.
    pub fn finish_recording(&mut self, monitor: &Monitor) -> io::Result<()> {
        match self {
            Scoreboard::Probe(scoreboard) => scoreboard.finish_recording(monitor),
            Scoreboard::Ports(scoreboard) => scoreboard.finish_recording(),
        }
    }

    /// Returns the number of answers checked so far.
    pub fn answers(&self) -> u64 {
        match self {
            Scoreboard::Probe(scoreboard) => scoreboard.answers(),
            Scoreboard::Ports(scoreboard) => scoreboard.judged(),
        }
    }

    /// Checks the transactions of one cycle.
    ///
    /// # Errors
    /// [`OracleViolation`] if the oracle rejects an answer that appeared in the cycle, or if an answer is
    /// missing.
    pub fn see(&mut self, cycle: &Cycle<'_>) -> Result<(), OracleViolation> {
        match self {
            Scoreboard::Probe(scoreboard) => scoreboard.see(cycle),
            Scoreboard::Ports(scoreboard) => scoreboard.see(cycle),
        }
    }

    /// Checks the whole memory at the end, word `row * num_banks + bank`. `monitor` knows if a request is left
    /// without an answer.
    ///
    /// # Errors
    /// [`OracleViolation`] with a request that was not answered, or with the first word that has a wrong
    /// value.
    pub fn finish(&mut self, memory: &[u32], monitor: &Monitor) -> Result<(), OracleViolation> {
        match self {
            Scoreboard::Probe(scoreboard) => scoreboard.finish(memory, monitor),
            Scoreboard::Ports(scoreboard) => scoreboard.finish(memory),
        }
    }
}
