//! Random run in lockstep. A failure gives a wave of its last cycles, and a small case that fails the same
//! way.

use std::collections::VecDeque;
use std::path::Path;

use atoms_model::Config;
use atoms_monitor::Listener;
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::{Profile, RandomStimulus, Stimulus};
use atoms_verilated::Library;

use crate::case::Case;
use crate::case::recorder::Recorder;
use crate::case::shrink::shrink;
use crate::case::trials::{Effort, Spent, Trials, run_case};
use crate::internals::RegisterAccess;
use crate::lockstep::Lockstep;
use crate::machine::{Failure, Machine, RtlMachine};
use crate::scoreboard::{OracleViolation, Scoreboard};
use crate::session::{Session, SessionCheckpoint, Tally};
use crate::trace::Trace;

/// Cycles in the wave before a failure. Enough for the longest pipeline, a full queue and a request with 32
/// passes.
pub const CYCLES_SHOWN: u64 = 64;

/// Cycles between checkpoints. A checkpoint costs about as much as 500 cycles, so less than 1 %.
const CYCLES_BETWEEN_CHECKPOINTS: u64 = 1 << 16;

/// Parameters of a random run.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Configuration of RTL and model.
    pub config: NamedConfig,
    /// Kinds of stimulus and their weights.
    pub profile: Profile,
    /// Seed of the stimulus. The same seed gives the same run.
    pub seed: u64,
    /// Number of warp requests to generate.
    pub requests: u64,
    /// Cycle at which the run ends at the latest.
    pub until: u64,
}

/// A failing case, minimized as far as the effort allowed.
#[derive(Debug)]
pub struct SmallCase {
    /// Case that fails from the start of a simulation.
    pub case: Case,
    /// Failure of the case, which may differ from that of the run.
    pub failure: Failure,
    /// Work that minimizing took.
    pub spent: Spent,
}

/// A run that failed, with the state that a wave or a small case needs.
#[derive(Debug)]
pub struct Failed {
    /// Failure that ended the run.
    pub failure: Failure,
    /// Cycle in which the failure was found.
    pub cycle: u64,
    session: Session<Lockstep>,
    checkpoints: VecDeque<(SessionCheckpoint, RandomStimulus)>,
    recorder: Recorder,
    config: String,
}

impl Campaign {
    /// Creates a scoreboard for the configuration, after reset with a memory of zeros.
    pub fn scoreboard(&self) -> Scoreboard {
        Scoreboard::of(&self.config.config, self.config.unit.as_deref())
    }

    /// Creates the stimulus of this campaign.
    pub fn stimulus(&self) -> RandomStimulus {
        RandomStimulus::new(self.config.config, &self.config.limit(&self.profile), self.seed, self.requests)
    }

    /// Runs in lockstep until every request is answered, the cycle limit is reached, or an interrupt comes.
    ///
    /// # Errors
    /// [`Failed`]. Call [`Failed::write_trace`] and [`Failed::small_case`] on it.
    pub fn run<L: Listener>(
        &self,
        session: Session<Lockstep, L>,
        mut progress: impl FnMut(&Tally),
    ) -> Result<(Session<Lockstep, L>, Tally), Box<Failed>> {
        let mut stimulus = self.stimulus();
        let (session, listener) = session.listened_by(());
        let (mut session, ()) = session.listened_by((Recorder::new(&self.config.config), listener));
        let mut checkpoints = VecDeque::new();
        let mut outcome = Ok(());
        while outcome.is_ok()
            && session.machine().cycles() < self.until
            && !(stimulus.finished() && session.is_idle())
        {
            let cycle = session.machine().cycles();
            if cycle.is_multiple_of(CYCLES_BETWEEN_CHECKPOINTS)
                && let Ok(checkpoint) = session.save()
            {
                checkpoints.push_back((checkpoint, stimulus.clone()));
                if checkpoints.len() > 2 {
                    checkpoints.pop_front();
                }
                progress(&session.tally());
            }
            outcome = session.step(&mut stimulus);
        }
        if outcome.is_ok() {
            outcome = session.settle_up();
        }
        let tally = session.tally();
        let (session, (recorder, listener)) = session.listened_by(());
        match outcome {
            Ok(()) | Err(Failure::Interrupted { .. }) => Ok((session.listened_by(listener).0, tally)),
            Err(failure) => Err(Box::new(Failed {
                failure,
                cycle: session.machine().cycles(),
                session,
                checkpoints,
                recorder,
                config: self.config.name.clone(),
            })),
        }
    }
}

impl Failed {
    /// Replays the cycles before the failure and writes a wave to `path`. Returns the first cycle of the
    /// wave.
    ///
    /// # Errors
    /// [`Failure::Trace`] if the file cannot be written, [`Failure::NoCheckpoint`] if there is no checkpoint.
    pub fn write_trace(&mut self, path: &Path) -> Result<u64, Failure> {
        // Replay from the oldest checkpoint: requests accepted long before the cycles to show may still be in
        // flight.
        let Some((checkpoint, stimulus)) = self.checkpoints.front() else {
            return Err(Failure::NoCheckpoint);
        };
        self.session.restore(checkpoint)?;
        let from = self.cycle.saturating_sub(CYCLES_SHOWN).max(checkpoint.cycles());
        let mut stimulus = stimulus.clone();
        if self.session.machine().internals().is_some() {
            let looking = RegisterAccess::Show(from..u64::MAX);
            self.session.machine_mut().look_inside(looking)?;
        }
        let trace = Trace::create(path, self.session.machine(), Some(self.cycle))?;
        self.session.set_trace(Some(trace.starting_at(from)));
        while self.session.machine().cycles() <= self.cycle {
            // The replay ends with the same failure.
            if self.session.step(&mut stimulus).is_err() || stimulus.finished() && self.session.is_idle() {
                break;
            }
        }
        if let Some(trace) = self.session.take_trace() {
            trace.finish()?;
        }
        Ok(from)
    }

    /// Finds and minimizes a case of the last requests that fails from reset. A given scoreboard checks it,
    /// too.
    ///
    /// # Errors
    /// The work spent, if no case fails: the failure needs more history or more work.
    pub fn small_case(&mut self, scoreboard: Option<Scoreboard>, effort: Effort) -> Result<SmallCase, Spent> {
        self.session.set_scoreboard(scoreboard);
        self.session.machine_mut().look_away();
        let mut trials = Trials::new(&mut self.session, effort);
        let mut fails = |case: &Case| trials.run(case).is_some_and(|failure| failure.is_finding());
        let Some(case) = self.recorder.candidates(&self.config).find(&mut fails) else {
            return Err(trials.spent());
        };
        let case = shrink(case, fails);
        let spent = trials.spent();
        let (failure, spent) = trials.finish(&case).ok_or(spent)?;
        Ok(SmallCase { case, failure, spent })
    }
}

/// Runs `case` on the RTL alone and returns the violation that the oracle finds. Lockstep only says that the
/// two sides differ: the oracle says if the RTL is wrong, and by which clause.
///
/// `None` if the oracle accepts everything, or if `library` has another configuration than `config`.
pub fn opinion_of_the_rtl(library: &Library, config: &Config, case: &Case) -> Option<Box<OracleViolation>> {
    let machine = RtlMachine::new(library.instantiate().ok()?, *config).ok()?;
    let mut session = Session::new(machine, Some(Scoreboard::new(config, &[])));
    match run_case(&mut session, case) {
        Err(Failure::Oracle(violation)) => Some(violation),
        _ => None,
    }
}
