//! Measures the points of a sweep, on all cores.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use atoms_cosim::configs::NamedConfig;
use atoms_cosim::rtl::{self, BuildStep, RtlBuildError, RtlIdentity};
use atoms_cosim::session::Failure;
use atoms_cosim::usage::Usage;
use atoms_verilated::{Library, Variant};

use super::kept::{KeptPoint, PointStore};
use super::outcome::PointOutcome;
use super::plan::SweepPoint;
use crate::measure::{Behind, Judging, Trial, TrialError, TrialLimits, measure};
use crate::workload::{Generated, Workload, WorkloadError};

/// Which points are measured on the RTL, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certify {
    /// Every one.
    #[default]
    All,
    /// None: their figures are the model's, and marked.
    None,
}

/// A point, measured.
#[derive(Debug)]
pub struct Measured {
    /// The point.
    pub point: SweepPoint,
    /// What it came to, or why it came to nothing.
    pub outcome: Result<PointOutcome, String>,
    /// RTL and model were in lockstep, and the oracle accepted every answer.
    pub certified: bool,
    /// It was measured before.
    pub kept: bool,
}

/// How far a sweep is.
#[derive(Clone, Debug)]
pub enum SweepProgress<'a> {
    /// RTL of a configuration is being built.
    Build(&'a BuildStep),
    /// So many points of all are measured, these of them before.
    #[allow(missing_docs)] // fields as said
    Points { done: usize, of: usize, kept: usize },
}

/// Why a sweep was not carried out. What was measured is kept.
#[derive(Debug, thiserror::Error)]
pub enum SweepRunError {
    /// A workload, or one of its settings.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The RTL of a configuration.
    #[error("the RTL of `{0}` cannot be had")]
    Rtl(String, #[source] Box<RtlBuildError>),
    /// The store, or the RTL's sources.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It was interrupted.
    #[error("interrupted; the same command goes on from here")]
    Interrupted,
}

/// How a sweep is carried out.
#[derive(Clone, Copy, Debug)]
pub struct SweepRun<'a> {
    /// Seed of all workloads.
    pub seed: u64,
    /// Folder of the RTL.
    pub rtl_dir: &'a Path,
    /// Which points are measured on it.
    pub certify: Certify,
    /// Threads.
    pub jobs: usize,
    /// What was measured before, and is now.
    pub store: &'a PointStore,
    /// Set when it is to end early.
    pub interrupt: Option<&'static AtomicBool>,
}

/// The workload of a point.
pub(super) fn workload(point: &SweepPoint) -> Result<Workload, WorkloadError> {
    let mut generated = Generated::named(&point.workload)?;
    for (name, value) in &point.settings {
        generated.set(name, value)?;
    }
    Ok(Workload::Generated(generated))
}

/// Measures every point; gives them in their order. A point that comes to nothing says why, and the others go on.
///
/// # Errors
/// [`SweepRunError`].
pub fn sweep(
    run: &SweepRun<'_>,
    points: Vec<SweepPoint>,
    progress: &mut dyn FnMut(SweepProgress<'_>),
) -> Result<Vec<Measured>, SweepRunError> {
    // Settings that do not exist are said before anything runs.
    let workloads = points.iter().map(workload).collect::<Result<Vec<_>, _>>()?;
    let identity = RtlIdentity::of(run.rtl_dir).map_err(|error| {
        SweepRunError::Rtl(
            points.first().map_or_else(String::new, |point| point.config.name.clone()),
            Box::new(error.into()),
        )
    })?;
    let limits = TrialLimits { interrupt: run.interrupt, ..TrialLimits::default() };
    let trial =
        |at: usize| Trial { config: &points[at].config, workload: &workloads[at], seed: run.seed, limits };
    let wanted = run.certify == Certify::All;
    let before: Vec<Option<KeptPoint>> = (0..points.len())
        .map(|at| run.store.get(&trial(at), &identity).filter(|kept| kept.certified || !wanted))
        .collect();
    let open: Vec<usize> = (0..points.len()).filter(|at| before[*at].is_none()).collect();
    let libraries = if wanted { libraries(run, &open, &points, progress)? } else { BTreeMap::new() };
    let kept = points.len() - open.len();
    progress(SweepProgress::Points { done: kept, of: points.len(), kept });
    let (next, stop) = (&AtomicUsize::new(0), &AtomicBool::new(false));
    let (sender, results) = mpsc::channel();
    let mut outcomes: Vec<Option<Result<KeptPoint, TrialError>>> =
        before.into_iter().map(|kept| kept.map(Ok)).collect();
    let failed = std::thread::scope(|scope| {
        for _ in 0..run.jobs.clamp(1, open.len().max(1)) {
            let sender = sender.clone();
            let (open, trial, libraries, identity, points) = (&open, &trial, &libraries, &identity, &points);
            scope.spawn(move || {
                while let Some(at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let trial = trial(*at);
                    let (behind, judged) = match libraries.get(&points[*at].config.name) {
                        Some(library) => (Behind::Lockstep(library), Judging::Yes),
                        None => (Behind::Model, Judging::No),
                    };
                    let usage = Usage::new(&points[*at].config.config);
                    let (measured, usage) = measure(&trial, behind, judged, usage);
                    let outcome = measured.map(|measurement| KeptPoint {
                        outcome: PointOutcome { measurement, usage: usage.report().into() },
                        certified: judged == Judging::Yes,
                    });
                    let stored = match &outcome {
                        Ok(point) => run.store.put(&trial, identity, point),
                        Err(_) => Ok(()),
                    };
                    if sender.send((*at, outcome, stored)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let (mut done, mut failed) = (kept, None);
        for (at, outcome, stored) in results {
            match (outcome, stored) {
                (Err(TrialError::Run(Failure::Interrupted(_))), _) => {
                    failed = Some(SweepRunError::Interrupted)
                }
                (_, Err(error)) => failed = Some(error.into()),
                (outcome, Ok(())) => outcomes[at] = Some(outcome),
            }
            if failed.is_some() {
                stop.store(true, Ordering::Relaxed);
                continue;
            }
            done += 1;
            progress(SweepProgress::Points { done, of: points.len(), kept });
        }
        failed
    });
    if let Some(failed) = failed {
        return Err(failed);
    }
    let measured = points.into_iter().zip(outcomes).enumerate().map(|(at, (point, outcome))| {
        let outcome = outcome.unwrap_or_else(|| Err(TrialError::Wrong("it was not measured".to_string())));
        let certified = outcome.as_ref().is_ok_and(|kept| kept.certified);
        let outcome = outcome.map(|kept| kept.outcome).map_err(|error| error.to_string());
        Measured { point, outcome, certified, kept: open.binary_search(&at).is_err() }
    });
    Ok(measured.collect())
}

/// The RTL of each configuration with a point to be measured, by name.
fn libraries(
    run: &SweepRun<'_>,
    open: &[usize],
    points: &[SweepPoint],
    progress: &mut dyn FnMut(SweepProgress<'_>),
) -> Result<BTreeMap<String, Library>, SweepRunError> {
    let configs: BTreeMap<&str, &NamedConfig> =
        open.iter().map(|at| (points[*at].config.name.as_str(), &points[*at].config)).collect();
    let configs: Vec<NamedConfig> = configs.into_values().cloned().collect();
    let built = rtl::libraries(run.rtl_dir, &configs, Variant::Fast, &mut |step| {
        progress(SweepProgress::Build(step))
    })
    .map_err(|failed| SweepRunError::Rtl(failed.0.name.clone(), Box::new(failed.1)))?;
    Ok(configs.into_iter().map(|config| config.name).zip(built).collect())
}
