//! What can stand behind the unit's ports: the model, the RTL, or both in lockstep.

use std::ops::Range;

use atoms_model::diagnosis::Watch;
use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_verilated::{Rtl, RtlError, Snapshot};
use atoms_wave_write::WaveError;

pub use crate::inputs::LastCycle;
use crate::internals::{Internals, RegisterAccess, RegisterDifference};
use crate::mismatch::Mismatch;
use crate::scoreboard::OracleViolation;

/// Reason why a run of a machine failed, from the comparison in lockstep to the report.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// RTL and model differ.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// A register differs, and [`RegisterAccess::Compare`] was asked for.
    #[error("{0}")]
    Register(Box<RegisterDifference>),
    /// The RTL stopped itself, with a failed assertion for instance, or cannot do what was asked.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// The RTL that follows the model diverged from it. A run with both abreast finds the difference: from this
    /// snapshot of the RTL, or from reset.
    #[error("RTL and model came apart; the run is to be repeated cycle by cycle")]
    FollowerDiverged(Option<Snapshot>),
    /// The oracle rejects what the unit did.
    #[error("{0}")]
    Oracle(Box<OracleViolation>),
    /// An answer did not come, although every answer that did was taken.
    #[error("no progress: {waiting} requests unanswered for {cycles} cycles, at cycle {cycle}")]
    #[allow(missing_docs)] // fields as the message says
    Stuck { waiting: u64, cycles: u64, cycle: u64 },
    /// The wall time given to the run is over, as was noticed in this cycle.
    #[error("not done within its time, at cycle {0}")]
    OutOfTime(u64),
    /// The run was told to end, as was noticed in this cycle.
    #[error("interrupted at cycle {0}")]
    Interrupted(u64),
    /// There is no earlier state to replay from.
    #[error("the run cannot be replayed: no checkpoint was taken")]
    NoCheckpoint,
    /// The wave cannot be written.
    #[error(transparent)]
    Trace(#[from] WaveError),
}

impl From<OracleViolation> for Failure {
    fn from(violation: OracleViolation) -> Self {
        Failure::Oracle(Box::new(violation))
    }
}

impl Failure {
    /// Returns true for a finding about the unit, false if the run says nothing about it.
    pub fn is_finding(&self) -> bool {
        matches!(
            self,
            Failure::Mismatch(_)
                | Failure::Register(_)
                | Failure::Rtl(RtlError::Stopped(_))
                | Failure::Oracle(_)
                | Failure::Stuck { .. }
        )
    }

    /// Adds the name of the configuration to the report of a mismatch.
    pub fn name_config(&mut self, config: &str) {
        if let Failure::Mismatch(mismatch) = self {
            mismatch.config = config.to_string();
        }
    }
}

/// Something with the ports of the unit, one call a clock.
pub trait Machine {
    /// Its configuration.
    fn config(&self) -> &Config;

    /// Runs one clock with inputs `i`; [`Machine::out`] and [`Machine::probe`] then give what it
    /// drove before the clock edge.
    ///
    /// # Errors
    /// [`Failure`]; the machine is then of no further use.
    fn cycle(&mut self, i: &In) -> Result<(), Failure>;

    /// Waits for what runs behind: afterwards all that [`Machine::cycle`] had to say has been said.
    ///
    /// # Errors
    /// As [`Machine::cycle`].
    fn catch_up(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The cycle last run.
    fn last(&self) -> &LastCycle;

    /// Outputs of the cycle last run.
    fn out(&self) -> &Out {
        &self.last().out
    }

    /// Probe of the cycle last run.
    fn probe(&self) -> &Probe {
        &self.last().probe
    }

    /// Cycles run.
    fn cycles(&self) -> u64 {
        self.last().cycles
    }

    /// Sets all of memory: word `row * num_banks + bank`.
    ///
    /// # Errors
    /// [`Failure::Rtl`] unless `words` has as many words as the memory.
    fn load_memory(&mut self, words: &[u32]) -> Result<(), Failure>;

    /// All of memory, in the order of [`Machine::load_memory`].
    ///
    /// # Errors
    /// [`Failure::Mismatch`] when RTL and model differ.
    fn read_memory(&mut self) -> Result<Vec<u32>, Failure>;

    /// One word of memory by its index there, for messages; 0 where it cannot be read.
    fn word(&self, index: usize) -> u32;

    /// From now on names every use of an mbarrier object that PTX leaves undefined (spec 6.9). It is
    /// the model that names them: where there is none, nothing is.
    fn watch(&mut self) {}

    /// From now on names nothing.
    fn unwatch(&mut self) {}

    /// What was named; `None` unless [`Machine::watch`] was called and there is a model.
    fn watched(&self) -> Option<&Watch> {
        None
    }

    /// Names of its sides in waves, the RTL first.
    fn sides(&self) -> &'static [&'static str];

    /// What the second side drove in the cycle last run, if that was not what [`Machine::out`] and
    /// [`Machine::probe`] give.
    fn other_side(&self) -> Option<(&Out, &Probe)> {
        None
    }

    /// Passes that the request at issue takes in all, where a side has planned them: the RTL finds out as it goes.
    fn passes_at_issue(&self) -> Option<u32> {
        None
    }

    /// From now on, what is inside goes into waves as well, in the cycles of `window`.
    ///
    /// # Errors
    /// [`RtlError::NoWaves`] unless there is an RTL, built as the wave variant: the model's registers have the widths
    /// of the RTL's.
    fn show_inside(&mut self, _window: Range<u64>) -> Result<(), Failure> {
        Err(RtlError::NoWaves.into())
    }

    /// The RTL, and what is inside, if it is looked at.
    fn internals(&self) -> Option<(&Rtl, &Internals)> {
        None
    }
}

/// The model alone.
#[derive(Clone, Debug)]
pub struct ModelMachine {
    unit: Unit,
    last: LastCycle,
}

impl ModelMachine {
    /// A model after reset with a memory of zeros. `config` must have passed [`Config::check`].
    pub fn new(config: Config) -> Self {
        ModelMachine { unit: Unit::new(config), last: LastCycle::default() }
    }

    /// The model.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }
}

impl Machine for ModelMachine {
    fn config(&self) -> &Config {
        self.unit.config()
    }

    fn cycle(&mut self, i: &In) -> Result<(), Failure> {
        self.last.out = *self.unit.evaluate(i);
        self.unit.probe(&mut self.last.probe);
        self.unit.tick(i);
        self.last.cycles += 1;
        Ok(())
    }

    fn last(&self) -> &LastCycle {
        &self.last
    }

    fn load_memory(&mut self, words: &[u32]) -> Result<(), Failure> {
        self.unit.memory_mut().copy_from_slice(words);
        Ok(())
    }

    fn read_memory(&mut self) -> Result<Vec<u32>, Failure> {
        Ok(self.unit.memory().to_vec())
    }

    fn watch(&mut self) {
        self.unit.watch();
    }

    fn unwatch(&mut self) {
        self.unit.unwatch();
    }

    fn watched(&self) -> Option<&Watch> {
        self.unit.watched()
    }

    fn word(&self, index: usize) -> u32 {
        self.unit.memory().get(index).copied().unwrap_or(0)
    }

    fn sides(&self) -> &'static [&'static str] {
        &["model"]
    }

    fn passes_at_issue(&self) -> Option<u32> {
        self.unit.passes_at_issue()
    }
}

/// The RTL alone.
#[derive(Debug)]
pub struct RtlMachine {
    rtl: Rtl,
    config: Config,
    last: LastCycle,
    internals: Option<Box<Internals>>,
}

impl RtlMachine {
    /// `rtl`, built for `config`, after reset and with a memory of zeros.
    ///
    /// # Errors
    /// [`RtlError::Stopped`] when it does not come out of reset.
    pub fn new(mut rtl: Rtl, config: Config) -> Result<Self, RtlError> {
        rtl.reset()?;
        rtl.clear_memory();
        Ok(RtlMachine { rtl, config, last: LastCycle::default(), internals: None })
    }

    /// The RTL, to be set up for another run: cycles are counted from here.
    pub fn set_up(&mut self) -> &mut Rtl {
        self.last = LastCycle::default();
        &mut self.rtl
    }

    /// Looks inside from now on, as said.
    ///
    /// # Errors
    /// As [`Internals::open`].
    pub fn look_inside(&mut self, looking: RegisterAccess) -> Result<(), Failure> {
        self.internals = Some(Box::new(Internals::open(&mut self.rtl, None, looking)?));
        Ok(())
    }
}

impl Machine for RtlMachine {
    fn config(&self) -> &Config {
        &self.config
    }

    fn cycle(&mut self, i: &In) -> Result<(), Failure> {
        let LastCycle { out, probe, cycles } = &mut self.last;
        match self.internals.as_mut().filter(|internals| internals.looks_at(*cycles)) {
            None => self.rtl.cycle(i, out, probe)?,
            Some(internals) => {
                let outcome = self.rtl.cycle_inside(i, out, probe);
                internals.see(&self.rtl, None);
                outcome?;
            }
        }
        *cycles += 1;
        Ok(())
    }

    fn last(&self) -> &LastCycle {
        &self.last
    }

    fn load_memory(&mut self, words: &[u32]) -> Result<(), Failure> {
        Ok(self.rtl.write_memory(words)?)
    }

    fn read_memory(&mut self) -> Result<Vec<u32>, Failure> {
        Ok(self.rtl.read_memory())
    }

    fn word(&self, index: usize) -> u32 {
        let banks = self.config.num_banks as usize;
        self.rtl.read_word(index % banks, index / banks).unwrap_or(0)
    }

    fn sides(&self) -> &'static [&'static str] {
        &["rtl"]
    }

    fn show_inside(&mut self, window: Range<u64>) -> Result<(), Failure> {
        self.look_inside(RegisterAccess::Show(window))
    }

    fn internals(&self) -> Option<(&Rtl, &Internals)> {
        Some((&self.rtl, self.internals.as_deref()?))
    }
}
