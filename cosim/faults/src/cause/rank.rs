//! Ranks lines by the results of experiments.

use std::collections::BTreeMap;
use std::fmt;

use atoms_cosim::campaign::Campaign;
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::Effort;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Failure;
use atoms_cosim::session::Session;
use atoms_stimulus::Profile;

use super::CauseError;
use super::evidence::Evidence;
use super::experiments::{Defect, Experiments, Trial};
use crate::build::{Recording, SchemataRtl, Switch};
use crate::schemata::MutationOperator;

/// Number of random runs that a repair must pass, and warp requests in each.
const FURTHER_RUNS: u64 = 4;
const FURTHER_REQUESTS: u64 = 150;
/// Weight of a line's closeness to the signals that differ first, and the distance at which half of it is
/// left.
const CLOSENESS: f64 = 1.5;
const HALF_WAY: f64 = 30.0;
/// Number of top lines whose activity before the failure is checked, and weight of a line that is quiet then.
const COMPARED: usize = 30;
const QUIET: f64 = 2.5;

/// A line that may be the cause of the failure.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct CauseSuspect {
    /// Source file, relative to the RTL folder.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Module or package of the line.
    pub module: String,
    /// Text of the line, trimmed.
    pub source: String,
    /// Expression that was mutated, as written.
    pub text: String,
    /// Mutation operator, in words such as `negated`.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub operator: MutationOperator,
    /// True if RTL and model agree with the mutant in all failing and all further runs.
    pub mends: bool,
    /// Effect of the mutant in each failing run. The run of the given case comes first.
    pub evidence: Vec<Evidence>,
    /// Mean distance from the signals that differ first, in assignments.
    pub distance: f64,
    /// Score for the ranking. Only the order has a meaning; a larger score is a likelier cause.
    pub score: f64,
}

impl CauseSuspect {
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Returns place and source, such as `atoms_alu.sv:60  result[i] = ...`.
    pub fn headline(&self) -> String {
        format!("{}  {}", self.place(), self.source)
    }
}

/// Formats the first `count` suspects, two lines each: place and source, then the evidence.
pub fn listed(suspects: &[CauseSuspect], count: usize) -> String {
    if suspects.is_empty() {
        return "no suspect line found: no mutant changes the run before the failure\n".to_string();
    }
    let one = |(at, suspect): (usize, &CauseSuspect)| {
        format!("{:>3}. {}\n     {suspect}\n", at + 1, suspect.headline())
    };
    suspects.iter().take(count).enumerate().map(one).collect()
}

/// Writes the evidence: `old[i] > b[i]` with `>=` as its operator: RTL and model agree, in all further runs
/// too.
impl fmt::Display for CauseSuspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}: RTL and model ", self.text, self.operator)?;
        if self.mends {
            return f.write_str("agree, in all further runs too");
        }
        let Some((first, others)) = self.evidence.split_first() else { return Ok(()) };
        f.write_str(first.words())?;
        if !others.is_empty() {
            let same = others.iter().filter(|other| *other == first).count();
            write!(f, ", also in {same} of {} other failing runs", others.len())?;
        }
        Ok(())
    }
}

/// Returns the lines that may cause the failure of `case`, the likeliest first. Uses all cores.
///
/// # Errors
/// [`CauseError`]; [`CauseError::Agrees`] if the case does not fail.
pub fn list(schemata: &SchemataRtl, case: &Case) -> Result<Vec<CauseSuspect>, CauseError> {
    investigate(schemata, case, &further_runs(schemata)?, None, atoms_verilated::cores())
}

/// Ranks causes like [`list`], for the RTL with a planted mutant. The ranking treats the mutated text as the
/// text of the source. The mutant's operator must have an inverse.
///
/// # Errors
/// As for [`list`].
pub fn list_with(
    schemata: &SchemataRtl,
    case: &Case,
    defect: Switch,
) -> Result<Vec<CauseSuspect>, CauseError> {
    let values = schemata.sites[defect.site].operators().into_iter().map(|(value, _)| value);
    let defect = Defect { switch: defect, offered: [0].into_iter().chain(values).collect() };
    investigate(schemata, case, &further_runs(schemata)?, Some(&defect), atoms_verilated::cores())
}

pub(super) fn investigate(
    schemata: &SchemataRtl,
    case: &Case,
    further: &[Recording],
    defect: Option<&Defect>,
    threads: usize,
) -> Result<Vec<CauseSuspect>, CauseError> {
    let mut experiments = Experiments::new(schemata, further, defect, threads)?;
    let run = Recording::of_case(&schemata.config.config, case)?;
    let mut trials: Vec<Trial> =
        (0..schemata.sites.len()).flat_map(|site| experiments.trials_at(site)).collect();
    experiments.run(&run, &mut trials)?;
    trials.retain(|trial| trial.evidence[0] > Evidence::Earlier);
    // Find other cases in which the same RTL fails, because the cause matters in all of them.
    for seed in 1..=FURTHER_RUNS {
        let other = fails(schemata, &further_campaign(schemata, seed), &experiments.as_it_is())?;
        if let Some(other) = other.filter(|other| other != case) {
            match experiments.run(&Recording::of_case(&schemata.config.config, &other)?, &mut trials) {
                // The failure depends on registers that a reset does not change, and they have other values
                // in this run.
                Ok(()) | Err(CauseError::Agrees) => {}
                Err(error) => return Err(error),
            }
        }
    }
    experiments.validate(&mut trials)?;
    let mut suspects = by_line(schemata, &experiments, &trials);
    for suspect in suspects.iter_mut().take(COMPARED) {
        suspect.score += QUIET * experiments.quiet_before(&suspect.file, suspect.line)?;
    }
    sort(&mut suspects);
    Ok(suspects)
}

/// Merges the mutants of each line into one suspect, described by its best mutant.
fn by_line(schemata: &SchemataRtl, experiments: &Experiments<'_>, trials: &[Trial]) -> Vec<CauseSuspect> {
    let mut lines: BTreeMap<(&str, usize), Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        let site = &schemata.sites[trial.site];
        lines.entry((&site.file, site.line)).or_default().push(trial);
    }
    let suspect = |line: &Vec<&Trial>| {
        let best = line.iter().max_by(|a, b| a.weight().total_cmp(&b.weight()))?;
        let site = &schemata.sites[best.site];
        let distance = experiments.distance(&site.file, site.line);
        Some(CauseSuspect {
            file: site.file.clone(),
            line: site.line,
            module: site.module.clone(),
            source: schemata.line(&site.file, site.line),
            text: site.text.clone(),
            operator: best.operator,
            mends: best.mends,
            evidence: best.evidence.clone(),
            distance: distance / 10.0,
            score: best.weight().max(Trial::joint_weight(line)) + CLOSENESS / (1.0 + distance / HALF_WAY),
        })
    };
    let mut suspects: Vec<CauseSuspect> = lines.values().filter_map(suspect).collect();
    sort(&mut suspects);
    suspects
}

fn sort(suspects: &mut [CauseSuspect]) {
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score));
}

fn as_text<S: serde::Serializer>(operator: &MutationOperator, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(operator)
}

fn further_campaign(schemata: &SchemataRtl, seed: u64) -> Campaign {
    Campaign {
        config: schemata.config.clone(),
        profile: Profile::default(),
        seed,
        requests: FURTHER_REQUESTS,
        until: u64::MAX,
    }
}

pub(super) fn further_runs(schemata: &SchemataRtl) -> Result<Vec<Recording>, CauseError> {
    let run = |seed| {
        Recording::of_stimulus(&schemata.config.config, &mut further_campaign(schemata, seed).stimulus())
    };
    Ok((1..=FURTHER_RUNS).map(run).collect::<Result<_, Failure>>()?)
}

/// Returns a small case that shows the failure of a run of `campaign`. None if RTL and model agree in that
/// run.
///
/// # Errors
/// [`CauseError::NoCase`] if no small case was found. [`CauseError::Run`] if the run fails other than by a
/// difference.
pub fn failing_case(schemata: &SchemataRtl, campaign: &Campaign) -> Result<Option<Case>, CauseError> {
    failing_case_with(schemata, campaign, &[])
}

fn failing_case_with(
    schemata: &SchemataRtl,
    campaign: &Campaign,
    switches: &[Switch],
) -> Result<Option<Case>, CauseError> {
    let machine = Lockstep::new(schemata.altered(switches)?, schemata.config.config)?;
    let Err(mut failed) = campaign.run(Session::new(machine, None), |_| {}) else { return Ok(None) };
    match failed.small_case(None, Effort::default()) {
        _ if !matches!(failed.failure, Failure::Mismatch(_)) => Err(failed.failure.into()),
        Ok(small) => Ok(Some(small.case)),
        Err(spent) => Err(CauseError::NoCase(spent)),
    }
}

/// Works like [`failing_case`], for the RTL with these mutants. Also returns None if no small case was found.
pub(super) fn fails(
    schemata: &SchemataRtl,
    campaign: &Campaign,
    switches: &[Switch],
) -> Result<Option<Case>, CauseError> {
    match failing_case_with(schemata, campaign, switches) {
        Err(CauseError::NoCase(_) | CauseError::Run(_)) => Ok(None),
        found => found,
    }
}
