//! Measures the points of a sweep, on all cores.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use atoms_cosim::machine::Failure;
use atoms_cosim::rtl::{self, BuildStep, RtlIdentity};
use atoms_cosim::usage::Usage;
use atoms_stimulus::configs::{ConfigsError, NamedConfig};
use atoms_verilated::{BuildError, Library, Variant};
use atoms_workload::{Generated, Workload, WorkloadError};

use super::figure::Figure;
use super::kept::{KeptPoint, PointStore};
use super::outcome::{PointCost, PointOutcome};
use super::plan::{SweepError, SweepPoint};
use crate::cost::{CostError, UnitCost};
use crate::measure::{Behind, Judging, Trial, TrialError, TrialLimits, measure};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certify {
    #[default]
    All,
    /// Certify no point: all figures come from the model and are marked as estimates.
    None,
}

#[derive(Debug)]
pub struct Measured {
    pub point: SweepPoint,
    pub outcome: Result<PointOutcome, String>,
    /// True if RTL and model agreed in lockstep and the oracle accepted every answer.
    pub certified: bool,
    /// True if the result was stored by an earlier sweep.
    pub kept: bool,
}

impl Measured {
    /// True if one of these figures is fitted for this point. Fitted and measured values are never ranked
    /// together.
    pub(crate) fn is_fitted(&self, figures: &[&Figure]) -> bool {
        let fitted = |outcome| figures.iter().any(|figure| figure.fitted_error(outcome).is_some());
        self.outcome.as_ref().is_ok_and(fitted)
    }
}

#[derive(Clone, Debug)]
pub enum SweepProgress<'a> {
    Build(&'a BuildStep),
    /// Number of points done, and of all points; `kept` points come from the store of earlier results.
    Points {
        done: usize,
        of: usize,
        kept: usize,
    },
}

/// Reason why a sweep stopped. Results so far are stored.
#[derive(Debug, thiserror::Error)]
pub enum SweepRunError {
    #[error(transparent)]
    File(#[from] SweepError),
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error("cannot build or load the RTL of `{0}`")]
    Rtl(String, #[source] Box<BuildError>),
    #[error(transparent)]
    Sources(#[from] BuildError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Configs(#[from] ConfigsError),
    #[error(transparent)]
    Cost(#[from] CostError),
    #[error("interrupted; run the same command to continue")]
    Interrupted,
}

pub type CostOf<'a> = &'a (dyn Fn(&NamedConfig) -> Result<UnitCost, CostError> + Sync);

#[derive(Clone, Copy)]
pub struct SweepRun<'a> {
    pub seed: u64,
    pub rtl_dir: &'a Path,
    pub certify: Certify,
    pub cost: Option<CostOf<'a>>,
    pub jobs: usize,
    pub store: &'a PointStore,
    pub interrupt: Option<&'static AtomicBool>,
}

pub(super) fn workload(point: &SweepPoint) -> Result<Workload, WorkloadError> {
    let mut generated = Generated::named(&point.workload)?;
    generated.set_all(point.settings.iter().map(|(name, value)| (&name[..], &value[..])))?;
    Ok(Workload::Generated(generated))
}

pub(super) struct Bench<'a> {
    pub(super) run: &'a SweepRun<'a>,
    identity: RtlIdentity,
    costs: Mutex<BTreeMap<String, PointCost>>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(run: &'a SweepRun<'a>) -> Result<Self, SweepRunError> {
        let identity = RtlIdentity::of(run.rtl_dir)?;
        Ok(Bench { run, identity, costs: Mutex::default() })
    }

    fn trial<'t>(&self, point: &'t SweepPoint, workload: &'t Workload) -> Trial<'t> {
        let limits = TrialLimits { interrupt: self.run.interrupt, ..TrialLimits::default() };
        Trial { config: &point.config, workload, seed: self.run.seed, limits }
    }

    /// Returns the stored result of a point. If `certified` is set, an uncertified result does not count.
    pub(super) fn kept(&self, point: &SweepPoint, workload: &Workload, certified: bool) -> Option<KeptPoint> {
        let kept = self.run.store.get(&self.trial(point, workload), &self.identity);
        kept.filter(|kept| kept.certified || !certified)
    }

    /// Measures a point, in lockstep with a library or else on the model. The inner error concerns only this
    /// point.
    pub(super) fn measure(
        &self,
        point: &SweepPoint,
        workload: &Workload,
        library: Option<&Library>,
    ) -> Result<Result<KeptPoint, TrialError>, SweepRunError> {
        let trial = self.trial(point, workload);
        let (behind, judged) = match library {
            Some(library) => (Behind::Lockstep(library), Judging::Yes),
            None => (Behind::Model, Judging::No),
        };
        let (measured, usage) = measure(&trial, behind, judged, Usage::new(&point.config.config));
        let outcome = measured.map(|measurement| KeptPoint {
            measurement,
            usage: usage.report().into(),
            certified: judged == Judging::Yes,
        });
        match outcome {
            Err(TrialError::Run(Failure::Interrupted(_))) => Err(SweepRunError::Interrupted),
            Ok(point) => {
                self.run.store.put(&trial, &self.identity, &point)?;
                Ok(Ok(point))
            }
            error => Ok(error),
        }
    }

    /// Returns the cost of a unit, computed once per configuration.
    pub(super) fn cost(&self, config: &NamedConfig) -> Result<Option<PointCost>, SweepRunError> {
        let Some(cost_of) = self.run.cost else { return Ok(None) };
        let costs = || self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = costs().get(&config.name) {
            return Ok(Some(known.clone()));
        }
        let cost = PointCost::from(&cost_of(config)?);
        costs().insert(config.name.clone(), cost.clone());
        Ok(Some(cost))
    }

    pub(super) fn measured(
        &self,
        point: SweepPoint,
        outcome: Result<KeptPoint, String>,
        kept: bool,
    ) -> Result<Measured, SweepRunError> {
        let certified = outcome.as_ref().is_ok_and(|kept| kept.certified);
        let outcome = match outcome {
            Ok(KeptPoint { measurement, usage, .. }) => {
                Ok(PointOutcome { measurement, usage, cost: self.cost(&point.config)? })
            }
            Err(reason) => Err(reason),
        };
        Ok(Measured { point, outcome, certified, kept })
    }
}

/// Measures every point, in order. A failed point has the reason as its outcome, and the sweep continues.
///
/// # Errors
/// [`SweepRunError`].
pub fn sweep(
    run: &SweepRun<'_>,
    points: Vec<SweepPoint>,
    progress: &mut dyn FnMut(SweepProgress<'_>),
) -> Result<Vec<Measured>, SweepRunError> {
    // Report unknown settings before anything runs.
    let workloads = points.iter().map(workload).collect::<Result<Vec<_>, _>>()?;
    let bench = &Bench::new(run)?;
    let wanted = run.certify == Certify::All;
    let before: Vec<Option<KeptPoint>> =
        points.iter().zip(&workloads).map(|(point, workload)| bench.kept(point, workload, wanted)).collect();
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
            let (open, workloads, libraries, points) = (&open, &workloads, &libraries, &points);
            scope.spawn(move || {
                while let Some(at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let library = libraries.get(&points[*at].config.name);
                    let outcome = bench.measure(&points[*at], &workloads[*at], library);
                    if sender.send((*at, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let (mut done, mut failed) = (kept, None);
        for (at, outcome) in results {
            match outcome {
                Ok(outcome) => outcomes[at] = Some(outcome),
                Err(error) => {
                    failed = Some(error);
                    stop.store(true, Ordering::Relaxed);
                    continue;
                }
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
        let outcome =
            outcome.unwrap_or_else(|| Err(TrialError::Wrong("the point was not measured".to_string())));
        let kept = open.binary_search(&at).is_err();
        bench.measured(point, outcome.map_err(|error| error.to_string()), kept)
    });
    measured.collect()
}

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
