//! Experiments with the RTL: switches on one mutant at a time, in failing and in further runs.

use std::collections::{BTreeMap, BTreeSet};

use atoms_cosim::mismatch::ComparedSignal;
use atoms_cosim::rtl;
use atoms_verilated::RtlError;

use super::CauseError;
use super::evidence::{Evidence, InForce, prior};
use crate::build::{Recording, Reply, SchemataBench, SchemataRtl, Switch};
use crate::schemata::{MutationOperator, RtlLine};

/// Number of cycles before the failing cycle in which single-cycle mutants are tried. The failing cycle is
/// tried too.
const WINDOW: u64 = 6;
/// Highest number of mutants that are tried in further runs.
const VALIDATED: usize = 80;
/// Weight of [`Trial::gain`] in the ranking.
const GAIN: f64 = 3.0;
/// Weight of a mutant that repairs all runs. It exceeds all other weights together.
const MENDS: f64 = 20.0;
/// Distance assigned to a line that the signal does not depend on, in units of [`crate::schemata::DataFlow`].
const UNREACHED: u32 = 300;

/// A planted defect: its switch, and the operator numbers that the mutated text still offers at the same
/// site.
#[derive(Clone, Debug)]
pub(super) struct Defect {
    pub(super) switch: Switch,
    pub(super) offered: Vec<u8>,
}

/// One mutant and its results in every failing run.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) site: usize,
    value: u8,
    /// Value of the site in the other cycles, for a mutant that is active in one cycle only.
    otherwise: u8,
    pub(super) operator: MutationOperator,
    in_force: InForce,
    /// Effect of the mutant in each failing run.
    pub(super) evidence: Vec<Evidence>,
    /// True if RTL and model agree with this mutant in every failing and every further run.
    pub(super) mends: bool,
    /// True if a further run fails earlier with the mutant than without it.
    refuted: bool,
    /// Delay of the failure in further runs, averaged over the runs. 1 is the delay of the best mutant, 0 is
    /// no delay.
    gain: f64,
}

impl Trial {
    pub(super) fn weight(&self) -> f64 {
        if self.mends {
            return MENDS + prior(self.operator);
        }
        let sum: f64 = (0..self.evidence.len()).map(|run| self.weight_in(run)).sum();
        sum / self.evidence.len().max(1) as f64 * self.relevance() + GAIN * self.gain + prior(self.operator)
    }

    fn weight_in(&self, run: usize) -> f64 {
        let weight = self.evidence[run].weight();
        if self.refuted { weight.min(Evidence::Alike.weight()) } else { weight }
    }

    /// Returns a factor that lowers the weight of a mutant without effect in some failing runs, because a
    /// real cause matters in all of them.
    fn relevance(&self) -> f64 {
        let matters = self.evidence.iter().filter(|evidence| **evidence != Evidence::Nothing).count();
        (matters as f64 / self.evidence.len().max(1) as f64).powi(2)
    }

    /// Joint weight of all mutants of one line. Takes the best mutant of each run, because the best may
    /// differ from run to run.
    pub(super) fn joint_weight(line: &[&Trial]) -> f64 {
        let runs = line.first().map_or(0, |trial| trial.evidence.len());
        let most = |value: &dyn Fn(&Trial) -> f64| line.iter().map(|trial| value(trial)).fold(0.0, f64::max);
        let mean = (0..runs).map(|run| most(&|trial| trial.weight_in(run))).sum::<f64>() / runs.max(1) as f64;
        mean * most(&Trial::relevance) + GAIN * most(&|trial| trial.gain)
    }
}

#[derive(Debug)]
pub(super) struct Experiments<'a> {
    schemata: &'a SchemataRtl,
    benches: Vec<SchemataBench>,
    further: &'a [Recording],
    defect: Option<&'a Defect>,
    /// For each line: the sum of its distances from the signals that differ first, and the number of these
    /// signals that depend on it.
    slice: BTreeMap<RtlLine, (u32, u32)>,
    /// Number of signals that differ first, summed over all failing runs.
    differing: u32,
}

impl<'a> Experiments<'a> {
    pub(super) fn new(
        schemata: &'a SchemataRtl,
        further: &'a [Recording],
        defect: Option<&'a Defect>,
        threads: usize,
    ) -> Result<Self, RtlError> {
        let benches = (0..threads.max(1)).map(|_| schemata.bench()).collect::<Result<_, _>>()?;
        Ok(Experiments { schemata, benches, further, defect, slice: BTreeMap::new(), differing: 0 })
    }

    pub(super) fn trials_at(&self, number: usize) -> Vec<Trial> {
        let site = &self.schemata.sites[number];
        let defect = self.defect.filter(|defect| defect.switch.site == number);
        let own = defect.map_or(0, |defect| defect.switch.value);
        let trial = |value, otherwise, operator, in_force| Trial {
            site: number,
            value,
            otherwise,
            operator,
            in_force,
            evidence: Vec::new(),
            mends: false,
            refuted: false,
            gain: 0.0,
        };
        let mut found = Vec::new();
        for (value, operator) in site.operators() {
            if defect.is_none_or(|defect| value != own && defect.offered.contains(&value)) {
                found.push(trial(value, own, operator, InForce::Always));
            } else if value == own && defect.is_some_and(|defect| defect.offered.contains(&0)) {
                // Undoing the defect counts as one of the mutants.
                found.push(trial(0, own, operator, InForce::Always));
            }
        }
        if let Some((value, operator)) = site.flip(own) {
            found.push(trial(value, own, operator, InForce::Once));
        }
        // Try the condition as true in one cycle only, and as false in one cycle only.
        if let Some([on, off]) = site.constants() {
            found.push(trial(on, off, MutationOperator::AlwaysFalse, InForce::Once));
            found.push(trial(off, on, MutationOperator::AlwaysTrue, InForce::Once));
        }
        found
    }

    pub(super) fn as_it_is(&self) -> Vec<Switch> {
        self.defect.iter().map(|defect| defect.switch).collect()
    }

    /// Runs `trial`: one reply if the mutant is always active, else one for each cycle in which it is tried.
    fn replies(
        bench: &mut SchemataBench,
        defect: Option<&Defect>,
        trial: &Trial,
        failed: u64,
        run: &Recording,
    ) -> Result<Vec<Reply>, RtlError> {
        let only_in: Vec<Option<(u64, u8)>> = match trial.in_force {
            InForce::Always => vec![None],
            InForce::Once => {
                (failed.saturating_sub(WINDOW)..=failed).map(|cycle| Some((cycle, trial.otherwise))).collect()
            }
        };
        let reply = |only_in| {
            // Set the defect's switch first, because only the last switch may be limited to one cycle.
            let own = Switch { site: trial.site, value: trial.value, only_in };
            let switches: Vec<Switch> = defect.iter().map(|defect| defect.switch).chain([own]).collect();
            bench.reply(&switches, run)
        };
        only_in.into_iter().map(reply).collect()
    }

    /// Tries all mutants in a failing run.
    ///
    /// # Errors
    /// [`CauseError::Agrees`] if the run does not fail.
    pub(super) fn run(&mut self, run: &Recording, trials: &mut [Trial]) -> Result<(), CauseError> {
        let defect = self.as_it_is();
        let before = self.benches[0].reply(&defect, run)?;
        let Some(failed) = before.cycle() else { return Err(CauseError::Agrees) };
        self.trace_back(&before);
        let size = trials.len().div_ceil(self.benches.len()).max(1);
        let (schemata, defect, before) = (self.schemata, self.defect, &before);
        std::thread::scope(|scope| {
            let mut workers = Vec::new();
            let mut rest = trials;
            for bench in &mut self.benches {
                // All trials of a site go to one thread.
                let end = (size.min(rest.len())..rest.len()).find(|at| rest[*at].site != rest[*at - 1].site);
                let (part, behind) = rest.split_at_mut(end.unwrap_or(rest.len()));
                rest = behind;
                workers
                    .push(scope.spawn(move || try_all(schemata, bench, defect, before, failed, run, part)));
            }
            for worker in workers {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            Ok(())
        })
    }

    /// Adds the lines on which the signals that differ first depend.
    fn trace_back(&mut self, before: &Reply) {
        let Reply::Differs(_, differences) = before else { return };
        let signals: BTreeSet<String> = differences.iter().filter_map(|one| port(one.signal)).collect();
        for signal in signals {
            self.differing += 1;
            for (line, distance) in self.schemata.flow.distances(rtl::TOP, &signal) {
                let (sum, number) = self.slice.entry(line).or_default();
                *sum += distance;
                *number += 1;
            }
        }
    }

    /// Returns the mean distance of a line from the signals that differ first. One assignment counts 10.
    pub(super) fn distance(&self, file: &str, line: usize) -> f64 {
        let (sum, number) = self.slice.get(&(file.to_owned(), line)).copied().unwrap_or_default();
        f64::from(sum + (self.differing - number) * UNREACHED) / f64::from(self.differing.max(1))
    }

    /// Measures how much later further runs fail with the best mutants. Further runs continue after their
    /// first difference, so a mutant that only hides the failure gains little.
    pub(super) fn validate(&mut self, trials: &mut [Trial]) -> Result<(), CauseError> {
        let mut best: Vec<&mut Trial> =
            trials.iter_mut().filter(|trial| trial.weight() >= Evidence::Alike.weight()).collect();
        best.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        best.truncate(VALIDATED);
        let mut mends: Vec<bool> = best
            .iter()
            .map(|trial| trial.evidence.iter().all(|evidence| *evidence == Evidence::Agrees))
            .collect();
        let defect = self.as_it_is();
        for run in self.further {
            let failed = self.benches[0].reply(&defect, run)?.cycle();
            let mut gains = Vec::new();
            for (trial, mends) in best.iter_mut().zip(&mut mends) {
                if trial.in_force == InForce::Once && failed.is_none() {
                    continue;
                }
                let replies =
                    Self::replies(&mut self.benches[0], self.defect, trial, failed.unwrap_or(0), run)?;
                let cycle = |reply: &Reply| reply.cycle().unwrap_or(run.cycles() + 1);
                let furthest = replies.iter().map(cycle).max().unwrap_or(0);
                *mends &= furthest > run.cycles();
                // A mutant that breaks cycles which agreed without it does not repair anything.
                trial.refuted |=
                    trial.in_force == InForce::Always && furthest < failed.unwrap_or(run.cycles());
                gains.push(failed.map_or(0, |failed| furthest.saturating_sub(failed)));
            }
            let most = gains.iter().copied().max().unwrap_or(0).max(1);
            if failed.is_some() {
                for (trial, gain) in best.iter_mut().zip(gains) {
                    trial.gain += gain as f64 / most as f64 / self.further.len() as f64;
                }
            }
        }
        for (trial, mends) in best.into_iter().zip(mends) {
            trial.mends = mends && trial.in_force == InForce::Always;
        }
        Ok(())
    }

    /// Returns the share of a line's mutants that change nothing before a further run fails. A line that was
    /// active in cycles that agreed is unlikely to be the cause.
    pub(super) fn quiet_before(&mut self, file: &str, line: usize) -> Result<f64, CauseError> {
        let sites = self.schemata.sites.iter().enumerate();
        let sites = sites.filter(|(_, site)| site.line == line && site.file == file);
        let trials: Vec<Trial> = sites.flat_map(|(number, _)| self.trials_at(number)).collect();
        let defect = self.as_it_is();
        let (mut quiet, mut all) = (0, 0);
        for run in self.further {
            let Some(failed) = self.benches[0].reply(&defect, run)?.cycle() else { continue };
            for trial in trials.iter().filter(|trial| trial.in_force == InForce::Always) {
                for reply in Self::replies(&mut self.benches[0], self.defect, trial, failed, run)? {
                    all += 1;
                    quiet += u32::from(reply.cycle().is_none_or(|cycle| cycle >= failed));
                }
            }
        }
        Ok(f64::from(quiet) / f64::from(all.max(1)))
    }
}

/// Tries `trials`, which are ordered by site.
fn try_all(
    schemata: &SchemataRtl,
    bench: &mut SchemataBench,
    defect: Option<&Defect>,
    before: &Reply,
    failed: u64,
    run: &Recording,
    trials: &mut [Trial],
) -> Result<(), CauseError> {
    // Sites whose inverted value has no effect when it is always active. Such an inversion hardly has an
    // effect in a single cycle.
    let mut idle = BTreeSet::new();
    for trial in trials {
        let mut best = Evidence::Nothing;
        if trial.in_force == InForce::Always || !idle.contains(&trial.site) {
            for reply in Experiments::replies(bench, defect, trial, failed, run)? {
                best = best.max(Evidence::of(before, failed, &reply, trial.in_force));
            }
        }
        let flip = schemata.sites[trial.site].flip(trial.otherwise).map(|(value, _)| value);
        if trial.in_force == InForce::Always && flip == Some(trial.value) && best == Evidence::Nothing {
            idle.insert(trial.site);
        }
        trial.evidence.push(best);
    }
    Ok(())
}

/// Returns the RTL port of a compared signal. None for memory.
fn port(signal: ComparedSignal) -> Option<String> {
    match signal {
        ComparedSignal::Output(field) => Some(format!("{}_o", field.field().name)),
        ComparedSignal::Probe(field) => Some(format!("probe_{}_o", field.field().name)),
        ComparedSignal::Memory => None,
    }
}
