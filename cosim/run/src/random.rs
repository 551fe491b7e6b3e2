//! Runs random requests and cases.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use atoms_cosim::campaign::{Campaign, Failed, SmallCase};
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::{Effort, Spent, run_case};
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::rtl::file_stem;
use atoms_cosim::session::Tally;
use atoms_cosim::usage::UsageReport;

use crate::setup::{self, Implementation, RunFiles, Setup, SetupError};

#[derive(Debug)]
pub enum RandomRun {
    /// RTL and model agree, and the oracle reports nothing.
    Agrees(Box<RunCounts>),
    /// RTL or model fails in a run without the other.
    Fails { failure: Failure, cycle: u64, files: RunFiles },
    /// A lockstep run fails. [`FailureFiles::write_wave`] and [`minimize`] process the failure further.
    Differs(Box<Failed>),
}

/// Counters and files of a run without failure.
#[derive(Debug)]
pub struct RunCounts {
    pub tally: Tally,
    pub usage: Option<UsageReport>,
    pub files: RunFiles,
}

/// Runs the random requests of `campaign` until all are answered, or until the campaign's limit of cycles.
///
/// If the follower of a lockstep run diverges, the run is repeated in step, to find the first difference.
///
/// # Errors
/// [`SetupError`].
pub fn run(
    setup: &Setup<'_>,
    campaign: &Campaign,
    mut progress: impl FnMut(&Tally),
) -> Result<RandomRun, SetupError> {
    let library = match &setup.implementation {
        Implementation::Lockstep(library) => library,
        Implementation::Model => return one_side(setup, campaign, setup.model(), progress),
        Implementation::Rtl(library) => return one_side(setup, campaign, setup.rtl(library)?, progress),
    };
    let mut outcome = campaign.run(setup.session(setup.lockstep(library)?)?, &mut progress);
    if let Err(failed) = &mut outcome
        && let Failure::FollowerDiverged(snapshot) = &mut failed.failure
    {
        let snapshot = snapshot.take();
        // Complete the files of this run before the next run replaces them.
        drop(outcome);
        outcome = campaign.run(setup.session(setup.lockstep_in_step(library, snapshot)?)?, progress);
    }
    match outcome {
        Ok((mut session, tally)) => {
            let files = setup.finish(&mut session)?;
            Ok(RandomRun::Agrees(Box::new(RunCounts { tally, usage: setup::usage(&mut session), files })))
        }
        Err(failed) => Ok(RandomRun::Differs(failed)),
    }
}

fn one_side<M: Machine>(
    setup: &Setup<'_>,
    campaign: &Campaign,
    machine: M,
    progress: impl FnMut(&Tally),
) -> Result<RandomRun, SetupError> {
    let mut session = setup.session(machine)?;
    let outcome = session.run(&mut campaign.stimulus(), campaign.until, progress);
    let files = setup.finish(&mut session)?;
    Ok(match outcome {
        Ok(tally) => {
            RandomRun::Agrees(Box::new(RunCounts { tally, usage: setup::usage(&mut session), files }))
        }
        Err(failure) => RandomRun::Fails { failure, cycle: session.machine().cycles(), files },
    })
}

#[derive(Debug)]
pub struct CaseRun {
    /// Counters, or the failure with its cycle.
    pub outcome: Result<Tally, (Failure, u64)>,
    pub usage: Option<UsageReport>,
    pub files: RunFiles,
}

/// Runs `case`. Lockstep compares every cycle, without a follower.
///
/// # Errors
/// [`SetupError`].
pub fn repeat(setup: &Setup<'_>, case: &Case) -> Result<CaseRun, SetupError> {
    match &setup.implementation {
        Implementation::Lockstep(library) => case_on(setup, setup.lockstep_in_step(library, None)?, case),
        Implementation::Model => case_on(setup, setup.model(), case),
        Implementation::Rtl(library) => case_on(setup, setup.rtl(library)?, case),
    }
}

fn case_on<M: Machine>(setup: &Setup<'_>, machine: M, case: &Case) -> Result<CaseRun, SetupError> {
    let mut session = setup.session(machine)?;
    let outcome = run_case(&mut session, case);
    let files = setup.finish(&mut session)?;
    let outcome = outcome.map_err(|failure| (failure, session.machine().cycles()));
    Ok(CaseRun { outcome, usage: setup::usage(&mut session), files })
}

#[derive(Clone, Debug)]
pub struct FailureFiles {
    pub wave: PathBuf,
    pub case: PathBuf,
}

impl FailureFiles {
    /// Names the files of `campaign`, in `failures/` below the folder `target`.
    pub fn of(campaign: &Campaign, target: &Path) -> Self {
        let stem = format!("{}-{}", file_stem(&campaign.config), campaign.seed);
        let dir = target.join("failures");
        FailureFiles { wave: dir.join(format!("{stem}.vcd")), case: dir.join(format!("{stem}.json")) }
    }

    /// Writes the wave of the cycles before the failure, and removes the case of an earlier failure. Returns
    /// the first cycle of the wave.
    ///
    /// # Errors
    /// [`SetupError`].
    pub fn write_wave(&self, failed: &mut Failed) -> Result<u64, SetupError> {
        let dir = self.wave.parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(dir).map_err(SetupError::writing(dir))?;
        let from = failed.write_trace(&self.wave)?;
        match std::fs::remove_file(&self.case) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(SetupError::writing(&self.case)(error)),
            _ => Ok(from),
        }
    }
}

/// Minimizes a failure to a case and writes the case to `path`. The oracle judges each trial run if `oracle`
/// is true. The inner error has the effort spent if no small case shows the failure.
///
/// # Errors
/// [`SetupError`] if the case cannot be written.
pub fn minimize(
    failed: &mut Failed,
    campaign: &Campaign,
    oracle: bool,
    effort: Effort,
    path: &Path,
) -> Result<Result<SmallCase, Spent>, SetupError> {
    let small = match failed.small_case(oracle.then(|| campaign.scoreboard()), effort) {
        Ok(small) => small,
        Err(spent) => return Ok(Err(spent)),
    };
    let text = serde_json::to_string_pretty(&small.case).map_err(std::io::Error::from);
    let text = text.map_err(SetupError::writing(path))?;
    std::fs::write(path, text + "\n").map_err(SetupError::writing(path))?;
    Ok(Ok(small))
}
