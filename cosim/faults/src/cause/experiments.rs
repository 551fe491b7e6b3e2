//! Experiments with the RTL: one operator at a time, in failing runs and in others.

use std::collections::{BTreeMap, BTreeSet};

use atoms_cosim::mismatch::ComparedSignal;
use atoms_cosim::rtl;
use atoms_verilated::RtlError;

use super::CauseError;
use super::evidence::{Evidence, InForce, prior};
use crate::build::{Recording, Reply, SchemataBench, SchemataRtl, Switch};
use crate::schemata::{MutationOperator, RtlLine};

/// Cycles up to the failure in which operators are tried by themselves, less one.
const WINDOW: u64 = 6;
/// Alterations that are tried in further runs.
const VALIDATED: usize = 80;
/// What getting further in them weighs.
const GAIN: f64 = 3.0;
/// What an operator weighs that mends everything: more than all else together.
const MENDS: f64 = 20.0;
/// Distance, in the units of [`crate::schemata::DataFlow`], of a line that a signal does not depend on.
const UNREACHED: u32 = 300;

/// A defect that was planted: its switch, and what the altered text offers to be altered at the same site.
#[derive(Clone, Debug)]
pub(super) struct Defect {
    pub(super) switch: Switch,
    pub(super) offered: Vec<u8>,
}

/// One operator, tried in every failing run.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) site: usize,
    value: u8,
    /// What the site is switched to in the other cycles, where it is in force once.
    otherwise: u8,
    pub(super) operator: MutationOperator,
    in_force: InForce,
    /// What it does, by failing run.
    pub(super) evidence: Vec<Evidence>,
    /// RTL and model agree with it in every failing and every further run.
    pub(super) mends: bool,
    /// It breaks what works without it.
    refuted: bool,
    /// How much further it gets than without it, as a share of the best, on average of the further runs.
    gain: f64,
}

impl Trial {
    /// What it says for its line.
    pub(super) fn weight(&self) -> f64 {
        if self.mends {
            return MENDS + prior(self.operator);
        }
        let sum: f64 = (0..self.evidence.len()).map(|run| self.weight_in(run)).sum();
        sum / self.evidence.len().max(1) as f64 * self.relevance() + GAIN * self.gain + prior(self.operator)
    }

    /// What it says in one failing run.
    fn weight_in(&self, run: usize) -> f64 {
        let weight = self.evidence[run].weight();
        if self.refuted { weight.min(Evidence::Alike.weight()) } else { weight }
    }

    /// One cause matters in every failing run.
    fn relevance(&self) -> f64 {
        let matters = self.evidence.iter().filter(|evidence| **evidence != Evidence::Nothing).count();
        (matters as f64 / self.evidence.len().max(1) as f64).powi(2)
    }

    /// What several of one line say together: run by run, since one may say something in one and another in the next.
    pub(super) fn joint_weight(line: &[&Trial]) -> f64 {
        let runs = line.first().map_or(0, |trial| trial.evidence.len());
        let most = |value: &dyn Fn(&Trial) -> f64| line.iter().map(|trial| value(trial)).fold(0.0, f64::max);
        let mean = (0..runs).map(|run| most(&|trial| trial.weight_in(run))).sum::<f64>() / runs.max(1) as f64;
        mean * most(&Trial::relevance) + GAIN * most(&|trial| trial.gain)
    }
}

/// Experiments with one RTL, and what they have shown.
#[derive(Debug)]
pub(super) struct Experiments<'a> {
    schemata: &'a SchemataRtl,
    /// One for each thread.
    benches: Vec<SchemataBench>,
    further: &'a [Recording],
    defect: Option<&'a Defect>,
    /// Of each line, the sum of its distances from the signals that differ first, and from how many of them it is reached.
    slice: BTreeMap<RtlLine, (u32, u32)>,
    /// Signals that differ first, in all failing runs.
    differing: u32,
}

impl<'a> Experiments<'a> {
    /// With so many threads.
    pub(super) fn new(
        schemata: &'a SchemataRtl,
        further: &'a [Recording],
        defect: Option<&'a Defect>,
        threads: usize,
    ) -> Result<Self, RtlError> {
        let benches = (0..threads.max(1)).map(|_| schemata.bench()).collect::<Result<_, _>>()?;
        Ok(Experiments { schemata, benches, further, defect, slice: BTreeMap::new(), differing: 0 })
    }

    /// What is tried at a site.
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
                // The text as it was is an operator of the altered one.
                found.push(trial(0, own, operator, InForce::Always));
            }
        }
        if let Some((value, operator)) = site.flip(own) {
            found.push(trial(value, own, operator, InForce::Once));
        }
        // A condition that holds in one cycle, or in all but one.
        if let Some([on, off]) = site.constants() {
            found.push(trial(on, off, MutationOperator::AlwaysFalse, InForce::Once));
            found.push(trial(off, on, MutationOperator::AlwaysTrue, InForce::Once));
        }
        found
    }

    /// The switches of the defect alone.
    pub(super) fn as_it_is(&self) -> Vec<Switch> {
        self.defect.iter().map(|defect| defect.switch).collect()
    }

    /// What the RTL does in `run` with `trial`, in force as it is to be; one reply for each cycle in which it is tried.
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
            // That of the defect first, since only the last one may be in force once.
            let own = Switch { site: trial.site, value: trial.value, only_in };
            let switches: Vec<Switch> = defect.iter().map(|defect| defect.switch).chain([own]).collect();
            bench.reply(&switches, run)
        };
        only_in.into_iter().map(reply).collect()
    }

    /// Tries everything in a failing run.
    ///
    /// # Errors
    /// [`CauseError::Agrees`] if it does not fail.
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

    /// Adds the lines that the signals depend on that differ first.
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

    /// Distance of a line from the signals that differ first, on average; assignments count 10.
    pub(super) fn distance(&self, file: &str, line: usize) -> f64 {
        let (sum, number) = self.slice.get(&(file.to_owned(), line)).copied().unwrap_or_default();
        f64::from(sum + (self.differing - number) * UNREACHED) / f64::from(self.differing.max(1))
    }

    /// How far the operators that look best get in further runs, which go on behind their first difference: one that
    /// only hides the failure does not get far.
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
                // What agreed before the operator is right as it is.
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

    /// Share of the operators of a line that change nothing before a further run fails. A cause that was active in cycles
    /// in which everything agreed is unlikely.
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

/// Tries `trials`, which are in the order of their sites.
fn try_all(
    schemata: &SchemataRtl,
    bench: &mut SchemataBench,
    defect: Option<&Defect>,
    before: &Reply,
    failed: u64,
    run: &Recording,
    trials: &mut [Trial],
) -> Result<(), CauseError> {
    // Sites whose flip changes nothing when it is in force throughout: in one cycle it hardly does.
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

/// Port of the RTL that is compared.
fn port(signal: ComparedSignal) -> Option<String> {
    match signal {
        ComparedSignal::Output(field) => Some(format!("{}_o", field.field().name)),
        ComparedSignal::Probe(field) => Some(format!("probe_{}_o", field.field().name)),
        ComparedSignal::Memory => None,
    }
}
