//! Implementations with the ports of the unit: the model, the RTL, or both in lockstep.

use std::ops::Range;

use atoms_model::diagnosis::Watch;
use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_stimulus::unit::ForeignUnit;
use atoms_verilated::{Rtl, RtlError, Snapshot};
use atoms_wave_write::WaveError;

pub use crate::inputs::LastCycle;
use crate::internals::{Internals, RegisterAccess, RegisterDifference};
use crate::mismatch::Mismatch;
use crate::scoreboard::OracleViolation;

/// Reason why a run of a machine failed, from the comparison in lockstep to the report.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Outputs or probe of RTL and model differ.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// A register has different values in RTL and model. Only a run with [`RegisterAccess::Compare`] reports
    /// this.
    #[error("{0}")]
    Register(Box<RegisterDifference>),
    /// The RTL stopped, for example at a failed assertion, or does not support the call.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// RTL that follows the model diverged from it. To find the difference, repeat the run in step: from this
    /// snapshot of the RTL, or from reset if there is none.
    #[error("RTL and model differ; repeat the run cycle by cycle to find the first difference")]
    FollowerDiverged(Option<Snapshot>),
    /// The oracle rejects what the unit did.
    #[error("{0}")]
    Oracle(Box<OracleViolation>),
    /// No response or wake-up came for too long, although the driver took all that came.
    #[error("no progress: {waiting} requests unanswered for {cycles} cycles, at cycle {cycle}")]
    #[allow(missing_docs)] // fields as the message says
    Stuck { waiting: u64, cycles: u64, cycle: u64 },
    /// A port accepted nothing for too long, although no request was inside.
    #[error(
        "no progress: `{ready}` was 0 for {cycles} cycles, although no request was inside, at cycle {cycle}"
    )]
    #[allow(missing_docs)] // fields as the message says
    Refused { ready: &'static str, cycles: u64, cycle: u64 },
    /// The wall-clock limit of the run passed. The run noticed it in this cycle.
    #[error("time limit of the run exceeded, at cycle {0}")]
    OutOfTime(u64),
    /// The user or the caller interrupted the run. The run noticed it in this cycle.
    #[error("interrupted at cycle {0}")]
    Interrupted(u64),
    /// The run sends what the declaration of the unit does not allow. Has the reason.
    #[error("the unit does not support a request of this run: {0}")]
    Undeclared(String),
    /// The unit is not this project's, and has no operation that sets its memory to the values of a case.
    #[error("the unit has no operation that writes the memory of the case")]
    CannotWrite,
    /// No checkpoint exists from which to replay.
    #[error("the run cannot be replayed: no checkpoint was taken")]
    NoCheckpoint,
    /// Writing the wave failed.
    #[error(transparent)]
    Trace(#[from] WaveError),
}

impl From<OracleViolation> for Failure {
    fn from(violation: OracleViolation) -> Self {
        Failure::Oracle(Box::new(violation))
    }
}

impl Failure {
    /// Returns true for a finding about the unit. Returns false if the failure says nothing about the unit.
    pub fn is_finding(&self) -> bool {
        matches!(
            self,
            Failure::Mismatch(_)
                | Failure::Register(_)
                | Failure::Rtl(RtlError::Stopped(_))
                | Failure::Oracle(_)
                | Failure::Stuck { .. }
                | Failure::Refused { .. }
        )
    }

    /// Adds the name of the configuration to the report of a mismatch.
    pub fn name_config(&mut self, config: &str) {
        if let Failure::Mismatch(mismatch) = self {
            mismatch.config = config.to_string();
        }
    }
}

/// Implementation of the unit's ports. One call runs one clock.
pub trait Machine {
    /// Returns the configuration of the unit.
    fn config(&self) -> &Config;

    /// Runs one clock. [`Machine::out`] and [`Machine::probe`] then return the values before the clock edge.
    ///
    /// # Errors
    /// [`Failure`]. The machine cannot continue the run after that.
    fn cycle(&mut self, i: &In) -> Result<(), Failure>;

    /// Waits for cycles in the background. Afterwards all their failures have been reported.
    ///
    /// # Errors
    /// Same as [`Machine::cycle`].
    fn catch_up(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns the last cycle.
    fn last(&self) -> &LastCycle;

    /// Returns the outputs of the last cycle.
    fn out(&self) -> &Out {
        &self.last().out
    }

    /// Returns the probe of the last cycle.
    fn probe(&self) -> &Probe {
        &self.last().probe
    }

    /// Returns the number of cycles run.
    fn cycles(&self) -> u64 {
        self.last().cycles
    }

    /// Sets all of memory. The index of a word is `row * num_banks + bank`.
    ///
    /// # Errors
    /// [`Failure::Rtl`] unless `words` is as long as the memory.
    fn load_memory(&mut self, words: &[u32]) -> Result<(), Failure>;

    /// Returns the declaration of the unit, if it is not this project's. Then there is no probe, and memory is
    /// accessed through the ports.
    fn foreign(&self) -> Option<&ForeignUnit> {
        None
    }

    /// Returns all of memory, in the order of [`Machine::load_memory`]. Empty if the unit is not this project's and
    /// has no operation to read it.
    ///
    /// # Errors
    /// [`Failure::Mismatch`] if the memories of RTL and model differ.
    fn read_memory(&mut self) -> Result<Vec<u32>, Failure>;

    /// Returns the memory word at `index`, for messages. Returns 0 if the word cannot be read.
    fn word(&self, index: usize) -> u32;

    /// Records every use of an mbarrier object that PTX leaves undefined (spec 6.9), from now on. The model
    /// does this; a machine without a model records nothing.
    fn watch(&mut self) {}

    /// Stops recording uses of mbarrier objects.
    fn unwatch(&mut self) {}

    /// Returns the recorded uses. `None` unless [`Machine::watch`] was called and there is a model.
    fn watched(&self) -> Option<&Watch> {
        None
    }

    /// Returns the names of the sides in waves, the RTL first.
    fn sides(&self) -> &'static [&'static str];

    /// Returns outputs and probe of the second side in the last cycle, if the sides diverged.
    fn other_side(&self) -> Option<(&Out, &Probe)> {
        None
    }

    /// Returns the number of passes of the request at issue. `None` without a model: the RTL does not compute
    /// this number before the passes.
    fn passes_at_issue(&self) -> Option<u32> {
        None
    }

    /// Adds internals to waves, in the cycles of `window`.
    ///
    /// # Errors
    /// [`RtlError::NoWaves`] unless there is RTL built as the wave variant. The RTL determines the widths of
    /// the model's registers.
    fn show_inside(&mut self, _window: Range<u64>) -> Result<(), Failure> {
        Err(RtlError::NoWaves.into())
    }

    /// Returns the RTL and its internals, if internals are read.
    fn internals(&self) -> Option<(&Rtl, &Internals)> {
        None
    }
}

/// The reference model alone.
#[derive(Clone, Debug)]
pub struct ModelMachine {
    unit: Unit,
    last: LastCycle,
}

impl ModelMachine {
    /// Creates a model after reset with a memory of zeros. `config` must have passed [`Config::check`].
    pub fn new(config: Config) -> Self {
        ModelMachine { unit: Unit::new(config), last: LastCycle::default() }
    }

    /// Returns the reference model of this machine.
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

/// The RTL without a model.
#[derive(Debug)]
pub struct RtlMachine {
    rtl: Rtl,
    config: Config,
    last: LastCycle,
    internals: Option<Box<Internals>>,
}

impl RtlMachine {
    /// Resets `rtl`, built for `config`, and sets its memory to zeros.
    ///
    /// # Errors
    /// [`RtlError::Stopped`] if the RTL does not come out of reset.
    pub fn new(mut rtl: Rtl, config: Config) -> Result<Self, RtlError> {
        rtl.reset()?;
        rtl.clear_memory();
        Ok(RtlMachine { rtl, config, last: LastCycle::default(), internals: None })
    }

    /// Returns the RTL, to set it up for another run. The cycle count restarts at 0.
    pub fn set_up(&mut self) -> &mut Rtl {
        self.last = LastCycle::default();
        &mut self.rtl
    }

    /// Reads internals from now on, in the cycles that `looking` selects.
    ///
    /// # Errors
    /// Same as [`Internals::open`].
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
