//! Mutation score and surviving mutants.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::mutate::{Explained, Explanation, Fate, Kill, KillCheck, Mutant, StageTally};

/// A mutant and its result.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct MutantReport {
    pub key: String,
    pub place: String,
    pub module: String,
    /// Changed lines in the form of a patch.
    pub diff: String,
    /// First kill. None if the mutant survives.
    pub kill: Option<Kill>,
    pub kills: usize,
    /// Reason why the mutant need not be killed. None if the mutant is not on the list of explained mutants.
    pub explanation: Option<Explanation>,
}

/// Result of an evaluation of mutants.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct MutationReport {
    pub stages: Vec<StageTally>,
    pub mutants: Vec<MutantReport>,
    /// True if survivors of the first stage ran on every stage, so that mutants killed by only one run can be
    /// listed.
    pub counted: bool,
    /// Keys in the list of explained mutants for which no mutant exists any more.
    pub stale: Vec<String>,
}

/// A report with its score, as `--json` prints it.
#[derive(Serialize, schemars::JsonSchema)]
pub struct MutationResult<'a> {
    score: f64,
    killed: usize,
    equivalent: usize,
    report: &'a MutationReport,
}

impl MutationReport {
    /// Builds the report for `mutants`. `source` returns the text of a file; `all` has the keys of all
    /// existing mutants.
    pub fn new<'a>(
        mutants: &[Mutant],
        fates: &[Fate],
        stages: Vec<StageTally>,
        explained: &Explained,
        source: impl Fn(&str) -> &'a str,
        all: &[String],
    ) -> MutationReport {
        let one = |(mutant, fate): (&Mutant, &Fate)| {
            let key = mutant.to_string();
            MutantReport {
                place: format!("{}:{}", mutant.site.file, mutant.site.line),
                module: mutant.site.module.clone(),
                diff: mutant.diff(source(&mutant.site.file)),
                kill: fate.kill.clone(),
                kills: fate.kills,
                explanation: explained.of(&key).cloned(),
                key,
            }
        };
        MutationReport {
            stages,
            mutants: mutants.iter().zip(fates).map(one).collect(),
            counted: false,
            stale: explained.stale(all.iter().map(String::as_str)).into_iter().map(str::to_owned).collect(),
        }
    }

    pub fn result(&self) -> MutationResult<'_> {
        let (score, killed, equivalent) = (self.score(), self.killed(), self.equivalent());
        MutationResult { score, killed, equivalent, report: self }
    }

    fn those(&self, wanted: impl Fn(&MutantReport) -> bool) -> Vec<&MutantReport> {
        self.mutants.iter().filter(|one| wanted(one)).collect()
    }

    /// Returns survivors that are not in the list of explained mutants.
    pub fn unlisted(&self) -> Vec<&MutantReport> {
        self.those(|one| one.kill.is_none() && one.explanation.is_none())
    }

    /// Returns mutants of the list of explained mutants that were killed. Their explanation is wrong.
    pub fn refuted(&self) -> Vec<&MutantReport> {
        self.those(|one| one.kill.is_some() && one.explanation.is_some())
    }

    pub fn killed(&self) -> usize {
        self.those(|one| one.kill.is_some()).len()
    }

    /// Counts mutants that are proved equivalent to the RTL.
    pub fn equivalent(&self) -> usize {
        self.survive_as(|explanation| matches!(explanation, Explanation::Proved(_)))
    }

    fn survive_as(&self, as_what: impl Fn(&Explanation) -> bool) -> usize {
        self.those(|one| one.kill.is_none() && one.explanation.as_ref().is_some_and(&as_what)).len()
    }

    /// Returns killed mutants in per cent of all mutants that are not proved equivalent.
    pub fn score(&self) -> f64 {
        100.0 * self.killed() as f64 / (self.mutants.len() - self.equivalent()).max(1) as f64
    }

    /// True if the list of explained mutants has every survivor and nothing else.
    pub fn is_as_listed(&self) -> bool {
        self.unlisted().is_empty() && self.refuted().is_empty() && self.stale.is_empty()
    }

    /// Returns mutants that survived the first stage and that only one run kills.
    pub fn weak(&self) -> Vec<&MutantReport> {
        let hard = |kill: &Kill| kill.stage.is_some_and(|stage| stage > 0);
        self.those(|one| self.counted && one.kills == 1 && one.kill.as_ref().is_some_and(hard))
    }
}

fn paragraph(f: &mut fmt::Formatter<'_>, title: &str, mutants: &[&MutantReport]) -> fmt::Result {
    if mutants.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title}")?;
    for one in mutants {
        writeln!(f, "\n{}  {}", one.place, one.key)?;
        if let Some(Kill { stage: Some(_), by, requests, cycle, .. }) = &one.kill {
            writeln!(f, "    killed by {by}, request {requests}, cycle {cycle}")?;
        }
        for line in one.diff.lines() {
            writeln!(f, "    {line}")?;
        }
    }
    Ok(())
}

impl fmt::Display for MutationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<32} {:>8} {:>9} {:>7} {:>7}", "stage", "requests", "cycles", "alive", "killed")?;
        for StageTally { name, requests, cycles, before, killed, .. } in &self.stages {
            writeln!(f, "{name:<32} {requests:>8} {cycles:>9} {before:>7} {killed:>7}")?;
        }
        let mut checks: BTreeMap<KillCheck, usize> = BTreeMap::new();
        for kill in self.mutants.iter().filter_map(|one| one.kill.as_ref()) {
            *checks.entry(kill.check).or_default() += 1;
        }
        let checks: Vec<String> = checks
            .iter()
            .map(|(check, count)| format!("{} {count}", format!("{check:?}").to_lowercase()))
            .collect();
        let survivors = self.mutants.len() - self.killed();
        writeln!(f, "\n{} mutants, {} killed ({})", self.mutants.len(), self.killed(), checks.join(", "))?;
        if survivors > 0 {
            writeln!(
                f,
                "{survivors} survive: {} proved equivalent, {} argued equivalent, {} listed without explanation, {} not in the list of explained mutants",
                self.equivalent(),
                self.survive_as(|explanation| matches!(explanation, Explanation::Argued(_))),
                self.survive_as(|explanation| *explanation == Explanation::Open),
                self.unlisted().len()
            )?;
        }
        if self.counted {
            writeln!(f, "{} survived the first stage and were killed by only one run", self.weak().len())?;
        }
        writeln!(
            f,
            "score {:.2} %: killed {} of {} mutants that are not proved equivalent",
            self.score(),
            self.killed(),
            self.mutants.len() - self.equivalent()
        )?;
        paragraph(f, "survivors that are not in the list of explained mutants", &self.unlisted())?;
        paragraph(
            f,
            "in the list of explained mutants, but killed: delete them from the list",
            &self.refuted(),
        )?;
        paragraph(f, "killed by only one run", &self.weak())?;
        for key in &self.stale {
            writeln!(f, "in the list of explained mutants, but no such mutant exists: {key}")?;
        }
        Ok(())
    }
}
