//! Sets up a machine and the session that drives it.

use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use atoms_cosim::follower::FollowerMode;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, ModelMachine, RtlMachine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_cosim::trace::Trace;
use atoms_cosim::usage::{Usage, UsageReport};
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{Library, Snapshot};

#[derive(Clone, Debug)]
pub enum Implementation {
    /// RTL and model, compared in every cycle.
    Lockstep(Library),
    Model,
    Rtl(Library),
}

pub(crate) const LOCKSTEP: &str = "lockstep";

impl Implementation {
    pub fn name(&self) -> &'static str {
        match self {
            Implementation::Lockstep(_) => LOCKSTEP,
            Implementation::Model => "model",
            Implementation::Rtl(_) => "rtl",
        }
    }
}

/// Machine and session to set up, and files that the run writes.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    pub config: &'a NamedConfig,
    pub implementation: Implementation,
    /// True to run the RTL on its own thread, following the model. Used in lockstep only.
    pub parallel: bool,
    /// True to check every response with the oracle.
    pub oracle: bool,
    /// Wave to write. The file extension selects VCD or FST.
    pub trace: Option<&'a Path>,
    /// Cycles in the wave. None for all cycles.
    pub window: Option<Range<u64>>,
    /// True to show registers and internal signals of the RTL in the wave. The library must be built for it.
    pub internals: bool,
    /// Recording to write, in the format that `atoms check` reads. Needs the oracle.
    pub record: Option<&'a Path>,
    pub usage: bool,
    /// Flag that ends the run when it is set.
    pub interrupt: Option<&'static AtomicBool>,
}

impl<'a> Setup<'a> {
    /// Setup with the oracle, on one thread, without files.
    pub fn new(config: &'a NamedConfig, implementation: Implementation) -> Setup<'a> {
        Setup {
            config,
            implementation,
            parallel: false,
            oracle: true,
            trace: None,
            window: None,
            internals: false,
            record: None,
            usage: false,
            interrupt: None,
        }
    }
}

/// Reason why a run could not be set up, or why its files could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Machine(#[from] Failure),
    #[error("cannot write `{}`", path.display())]
    #[allow(missing_docs)] // fields as the message says
    Write { path: PathBuf, source: io::Error },
}

impl SetupError {
    /// Converts an I/O error of writing `path`, for `map_err`.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> SetupError + '_ {
        |source| SetupError::Write { path: path.to_path_buf(), source }
    }
}

#[derive(Clone, Debug, Default)]
pub struct RunFiles {
    /// Path of the wave, and the number of cycles in it.
    pub wave: Option<(PathBuf, u64)>,
    pub recording: Option<PathBuf>,
}

pub(crate) type MeasuredSession<M> = Session<M, Option<Usage>>;

impl Setup<'_> {
    /// Creates RTL and model for a lockstep run. The RTL follows the model by some cycles, which is faster
    /// than running both in step.
    pub(crate) fn lockstep(&self, library: &Library) -> Result<Lockstep, Failure> {
        let mut machine = Lockstep::of(library.instantiate()?, self.config)?;
        let mode = if self.parallel { FollowerMode::OnItsOwnThread } else { FollowerMode::InTurns };
        machine.set_following(Some(mode))?;
        Ok(machine)
    }

    /// Creates RTL and model that run in step. Used to find the first difference after a follower diverged.
    /// Starts at `snapshot`, or after reset if there is none.
    pub(crate) fn lockstep_in_step(
        &self,
        library: &Library,
        snapshot: Option<Snapshot>,
    ) -> Result<Lockstep, Failure> {
        let mut machine = Lockstep::of(library.instantiate()?, self.config)?;
        if let Some(snapshot) = snapshot {
            machine.join_at(snapshot);
        }
        Ok(machine)
    }

    pub(crate) fn rtl(&self, library: &Library) -> Result<RtlMachine, Failure> {
        Ok(RtlMachine::new(library.instantiate().map_err(Failure::Rtl)?, self.config.config)?)
    }

    pub(crate) fn model(&self) -> ModelMachine {
        ModelMachine::new(self.config.config)
    }

    pub(crate) fn session<M: Machine>(&self, mut machine: M) -> Result<MeasuredSession<M>, SetupError> {
        let mut scoreboard = self.oracle.then(|| Scoreboard::of(machine.config(), machine.foreign()));
        if let (Some(scoreboard), Some(path)) = (&mut scoreboard, self.record) {
            let file = File::create(path).map_err(SetupError::writing(path))?;
            scoreboard.record(Box::new(BufWriter::new(file))).map_err(SetupError::writing(path))?;
        }
        let mut trace = None;
        if let Some(path) = self.trace {
            let window = self.window.clone().unwrap_or(0..u64::MAX);
            if self.internals {
                machine.show_inside(window.clone())?;
            }
            trace = Some(Trace::create(path, &machine, None).map_err(Failure::Trace)?.within(window));
        }
        let usage = self.usage.then(|| Usage::new(machine.config()));
        let (mut session, ()) = Session::new(machine, scoreboard).listened_by(usage);
        session.set_trace(trace);
        if let Some(interrupt) = self.interrupt {
            session.set_interrupt(interrupt);
        }
        Ok(session)
    }

    pub(crate) fn finish<M: Machine>(
        &self,
        session: &mut MeasuredSession<M>,
    ) -> Result<RunFiles, SetupError> {
        let mut files = RunFiles::default();
        if let Some(trace) = session.take_trace() {
            files.wave = Some((trace.path().to_path_buf(), trace.cycles()));
            trace.finish().map_err(Failure::Trace)?;
        }
        if let (Some(_), Some(path)) = (session.scoreboard(), self.record) {
            session.finish_recording().map_err(SetupError::writing(path))?;
            files.recording = Some(path.to_path_buf());
        }
        Ok(files)
    }
}

pub(crate) fn usage<M: Machine>(session: &mut MeasuredSession<M>) -> Option<UsageReport> {
    session.listener().as_ref().map(Usage::report)
}
