//! Search for points that are best in several figures at once, by NSGA-II.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use atoms_stimulus::configs::ConfigsError;
use heuropt::core::rng::Rng;
use heuropt::prelude::*;

use super::figure::{Figure, FigureValue};
use super::plan::{Impossible, SearchFile, SweepError, SweepFile, SweepPoint, SweepSpace};
use super::run::{Bench, Certify, Measured, SweepProgress, SweepRun, SweepRunError, sweep, workload};

/// Distribution indices of simulated binary crossover and polynomial mutation (Deb and others, 2002). Low
/// indices make children differ more from their parents, which suits parameters with few values.
const SPREAD: (f64, f64) = (5.0, 5.0);
/// Probability of crossover.
const CROSSED: f64 = 0.9;

#[derive(Debug)]
pub struct Searched {
    pub measured: Vec<Measured>,
    pub impossible: Vec<Impossible>,
}

/// Searches for the points that are best in all goals, on the model alone. With [`Certify::All`], the points
/// on the front are then certified on the RTL. Equal seeds give equal searches.
///
/// # Errors
/// [`SweepRunError`].
pub fn search(
    run: &SweepRun<'_>,
    file: &SweepFile,
    path: &Path,
    search: &SearchFile,
    progress: &mut (dyn FnMut(SweepProgress<'_>) + Send),
) -> Result<Searched, SweepRunError> {
    let space = file.space(path, run.rtl_dir, search)?;
    let goals: Vec<&Figure> = search.goals.iter().filter_map(|goal| Figure::named(goal)).collect();
    let bench = Bench::new(run)?;
    let most = search.population * (search.generations + 1);
    let of =
        Candidates { bench, space, goals, most, state: Mutex::default(), progress: Mutex::new(progress) };
    // The search works on shares: a share from 0 to 1 selects a value of a parameter by its index.
    let bounds = vec![(0.0, 1.0); of.space.sizes().len()];
    let config =
        Nsga2Config { population_size: search.population, generations: search.generations, seed: run.seed };
    let variation = CompositeVariation {
        crossover: SimulatedBinaryCrossover::new(bounds.clone(), SPREAD.0, CROSSED),
        mutation: PolynomialMutation::new(bounds.clone(), SPREAD.1, 1.0 / bounds.len() as f64),
    };
    let threads = rayon::ThreadPoolBuilder::new().num_threads(run.jobs.max(1)).build();
    let threads = threads.map_err(|error| SweepRunError::Io(std::io::Error::other(error)))?;
    let variation = Unseen { variation, sizes: of.space.sizes(), seen: BTreeSet::new() };
    threads.install(|| Nsga2::new(config, RealBounds::new(bounds), variation).run(&of));
    let Candidates { goals, state, progress, .. } = of;
    let SearchState { failure, known, impossible } =
        state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(failure) = failure {
        return Err(failure);
    }
    if run.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        return Err(SweepRunError::Interrupted);
    }
    let mut measured: Vec<Measured> = known.into_values().flatten().collect();
    if run.certify == Certify::All {
        let all: Vec<&Measured> = measured.iter().collect();
        let best: Vec<usize> =
            [false, true].into_iter().flat_map(|fitted| front(&all, &goals, fitted).best).collect();
        let points = best.iter().map(|at| measured[*at].point.clone()).collect();
        let progress = progress.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (at, certified) in best.into_iter().zip(sweep(run, points, progress)?) {
            measured[at] = certified;
        }
    }
    let impossible = impossible.into_iter().map(|(rule, points)| Impossible { rule, points }).collect();
    Ok(Searched { measured, impossible })
}

#[derive(Debug, Default)]
pub(crate) struct Front {
    /// Pareto-optimal points: no other point is better in one figure and at least as good in all others.
    pub(crate) best: BTreeSet<usize>,
    /// Points that others beat by less than the error of fitted figures.
    pub(crate) within_error: BTreeSet<usize>,
}

/// Finds the front of the points with fitted figures, or of the points with measured figures.
pub(crate) fn front(measured: &[&Measured], goals: &[&Figure], fitted: bool) -> Front {
    let values = |(at, one): (usize, &&Measured)| {
        let outcome = one.outcome.as_ref().ok().filter(|_| one.is_fitted(goals) == fitted)?;
        Some((at, goals.iter().map(|goal| goal.value(outcome)).collect::<Option<Vec<_>>>()?))
    };
    let candidates: Vec<_> = measured.iter().enumerate().filter_map(values).collect();
    let mut front = Front::default();
    for (at, own) in &candidates {
        let beaten = |beats: fn(&FigureValue, &FigureValue) -> bool| {
            candidates.iter().any(|(_, rival)| {
                let mut pairs = rival.iter().zip(own);
                pairs.clone().all(|(rival, own)| !own.is_better(rival))
                    && pairs.any(|(rival, own)| beats(rival, own))
            })
        };
        if !beaten(FigureValue::is_better) {
            front.best.insert(*at);
        } else if !beaten(FigureValue::leads) {
            front.within_error.insert(*at);
        }
    }
    front
}

fn objectives(goals: &[&Figure]) -> ObjectiveSpace {
    let objective = |goal: &&Figure| match goal.more_is_better {
        Some(true) => Objective::maximize(goal.name),
        Some(false) | None => Objective::minimize(goal.name),
    };
    ObjectiveSpace::new(goals.iter().map(objective).collect())
}

fn choice(shares: &[f64], sizes: &[usize]) -> Vec<usize> {
    let value = |(share, values): (&f64, &usize)| ((share * *values as f64) as usize).min(values - 1);
    shares.iter().zip(sizes).map(value).collect()
}

const DRAWS: usize = 32;

/// Variation that prefers children not seen before. Parameters have few values, and measuring a point twice
/// gives nothing new.
struct Unseen<V> {
    variation: V,
    sizes: Vec<usize>,
    seen: BTreeSet<Vec<usize>>,
}

impl<V: Variation<Vec<f64>>> Variation<Vec<f64>> for Unseen<V> {
    fn vary(&mut self, parents: &[Vec<f64>], rng: &mut Rng) -> Vec<Vec<f64>> {
        self.seen.extend(parents.iter().map(|parent| choice(parent, &self.sizes)));
        for _ in 0..DRAWS {
            let mut children = self.variation.vary(parents, rng);
            children.retain(|child| self.seen.insert(choice(child, &self.sizes)));
            if !children.is_empty() {
                return children;
            }
        }
        self.variation.vary(parents, rng)
    }
}

struct Candidates<'a, 'p> {
    bench: Bench<'a>,
    space: SweepSpace,
    goals: Vec<&'static Figure>,
    most: usize,
    state: Mutex<SearchState>,
    progress: Mutex<&'p mut (dyn FnMut(SweepProgress<'_>) + Send)>,
}

#[derive(Default)]
struct SearchState {
    /// Results, keyed by indices of parameter values; `None` for a point that breaks a rule.
    known: BTreeMap<Vec<usize>, Option<Measured>>,
    impossible: BTreeMap<String, u64>,
    failure: Option<SweepRunError>,
}

impl Candidates<'_, '_> {
    fn state(&self) -> std::sync::MutexGuard<'_, SearchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn measure(&self, point: SweepPoint) -> Result<Measured, SweepRunError> {
        let workload = workload(&point)?;
        let kept = self.bench.kept(&point, &workload, false);
        let (was_kept, outcome) = match kept {
            Some(kept) => (true, Ok(kept)),
            None => (false, self.bench.measure(&point, &workload, None)?),
        };
        self.bench.measured(point, outcome.map_err(|error| error.to_string()), was_kept)
    }

    /// Returns the values of the goals; `None` if the point does not have all of them.
    fn figures(&self, one: Option<&Measured>) -> Option<Vec<f64>> {
        let outcome = one?.outcome.as_ref().ok()?;
        self.goals.iter().map(|goal| (goal.of)(outcome)).collect()
    }
}

impl Problem for Candidates<'_, '_> {
    type Decision = Vec<f64>;

    fn objectives(&self) -> ObjectiveSpace {
        objectives(&self.goals)
    }

    fn evaluate(&self, shares: &Vec<f64>) -> Evaluation {
        let nothing = || Evaluation::constrained(vec![0.0; self.goals.len()], 1.0);
        let choice = choice(shares, &self.space.sizes());
        {
            let state = self.state();
            if let Some(known) = state.known.get(&choice) {
                return self.figures(known.as_ref()).map_or_else(nothing, Evaluation::new);
            }
            let interrupted = self.bench.run.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
            if interrupted || state.failure.is_some() {
                return nothing();
            }
        }
        let measured = match self.space.point(&choice) {
            Ok(point) => self.measure(point).map(Some),
            Err(SweepError::Config(ConfigsError::Value(_, rule))) => {
                *self.state().impossible.entry(rule.to_string()).or_default() += 1;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        };
        let done = {
            let mut state = self.state();
            match measured {
                Ok(measured) => drop(state.known.insert(choice.clone(), measured)),
                Err(error) => drop(state.failure.get_or_insert(error)),
            }
            state.known.len()
        };
        let progress = &mut *self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress(SweepProgress::Points { done, of: self.most, kept: 0 });
        self.figures(self.state().known.get(&choice).and_then(Option::as_ref))
            .map_or_else(nothing, Evaluation::new)
    }
}
