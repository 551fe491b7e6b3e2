//! Summary of a regression, the source of all reports.
//!
//! [`Summary`] depends only on plan, seed and RTL, not on machine, number of workers or executor. Figures
//! that depend on the machine are in [`Timing`]. `summary.json` is a [`Summary`] with the schema
//! `docs/schema/cover.json`.

use serde::{Deserialize, Serialize};

use crate::coverage::summary::{FunctionalCoverage, RtlCoverageSummary};
use crate::run::timing::Timing;
use crate::run::totals::{Cell, PartTotals, Totals};
pub use crate::triage::bucket::Bucket;
use crate::triage::signature::{FailureKind, Signature};

/// Version of the format of `summary.json`; raise it when a field changes its meaning or is removed.
pub const FORMAT: u32 = 2;

/// Summary of a regression.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// Version of the format of this file.
    pub format: u32,
    /// Version of ATOMS that ran the tests.
    pub version: String,
    /// Name of the plan.
    pub plan: String,
    /// Name of the profile.
    pub profile: String,
    /// Seed of the plan.
    pub seed: u64,
    /// Hash of the RTL sources.
    pub rtl: String,
    /// True if all tests of the plan, or as many as the budget allows, have run.
    pub complete: bool,
    /// Totals of all tests.
    pub totals: Totals,
    /// Totals of each plan entry, in plan order.
    pub entries: Vec<PartTotals>,
    /// Totals of each configuration, in the order of `rtl/configs.toml`.
    pub configs: Vec<PartTotals>,
    /// Totals of each entry in each configuration that has tests, sorted by entry, then configuration.
    pub cells: Vec<Cell>,
    /// Failure buckets, largest number of tests first.
    pub buckets: Vec<Bucket>,
    /// Likely causes of failures, from a comparison of configurations; empty with fewer than two
    /// configurations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Coverage of the functional coverage groups.
    pub coverage: FunctionalCoverage,
    /// Coverage of the RTL sources; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtl_coverage: Option<RtlCoverageSummary>,
    /// Number of runs in the corpus, after minimizing the corpus.
    pub corpus: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The run is complete, no test failed, and the coverage gate, if any, passed.
    Passed,
    /// The run is complete and no test failed, but the coverage gate failed.
    Uncovered,
    /// No test failed, but the run is not complete or no test ran.
    Incomplete,
    Failed,
}

impl Verdict {
    /// Returns the name in reports: `PASSED`, `COVERAGE INSUFFICIENT`, `INCOMPLETE` or `FAILED`.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "PASSED",
            Verdict::Uncovered => "COVERAGE INSUFFICIENT",
            Verdict::Incomplete => "INCOMPLETE",
            Verdict::Failed => "FAILED",
        }
    }
}

impl Summary {
    /// Returns the most severe verdict. A failed test is more severe than tests that did not run, and those
    /// are more severe than a failed gate.
    pub fn verdict(&self) -> Verdict {
        if self.totals.not_passed() > 0 {
            Verdict::Failed
        } else if !self.complete || self.totals.ran() == 0 && !self.is_of_files() {
            Verdict::Incomplete
        } else if self.coverage.gate.as_ref().is_some_and(|gate| !gate.passed) {
            Verdict::Uncovered
        } else {
            Verdict::Passed
        }
    }

    /// Returns true if only files of testbenches were merged, without a run.
    pub fn is_of_files(&self) -> bool {
        self.complete && self.rtl.is_empty()
    }

    /// Returns the bucket of a failed test, by the raw signature in its result.
    pub fn bucket(&self, key: &Signature) -> Option<&Bucket> {
        self.buckets.iter().find(|bucket| bucket.key == *key || bucket.found_as.contains(key))
    }
}

/// Buckets of one kind that likely have one cause. All of them fail only in configurations in which the first
/// one fails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cause {
    /// Kind of failure of all these buckets.
    pub kind: FailureKind,
    /// Signatures of the buckets; the bucket that fails in most configurations comes first.
    pub buckets: Vec<Signature>,
    /// Configurations in which the first bucket fails.
    pub failing: Vec<String>,
    /// Configurations that ran the plan entries of the first bucket without failures.
    pub passing: Vec<String>,
    /// Parameters that best separate failing from passing configurations; empty if no parameter does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub separations: Vec<Separation>,
}

/// Condition on one parameter that separates failing from passing configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Separation {
    /// Name of the parameter, as in `rtl/configs.toml`.
    pub parameter: String,
    /// Condition that holds in all failing configurations: `= true`, `>= 4`.
    pub fails_where: String,
    /// Number of failing configurations.
    pub fails: u64,
    /// Number of configurations in which the condition holds, passing ones included.
    pub of: u64,
    /// Values of the parameter for which the condition does not hold; all configurations with these values
    /// pass.
    pub passes_where: String,
    /// Number of configurations in which the condition does not hold.
    pub passes: u64,
}

impl Cause {
    pub fn text(&self) -> String {
        let (failing, passing) = (self.failing.len(), self.passing.len());
        if passing == 0 {
            return format!("fails in each of {failing} configurations that ran it");
        }
        let one = |s: &Separation| {
            let Separation { parameter, fails_where, fails, of, passes_where, passes } = s;
            format!(
                "fails where {parameter} {fails_where} ({fails} of {of}), passes where {passes_where} ({passes} of {passes})"
            )
        };
        match self.separations.is_empty() {
            true => format!(
                "fails in {failing} of {} configurations; no single parameter separates them",
                failing + passing
            ),
            false => self.separations.iter().map(one).collect::<Vec<_>>().join("; or "),
        }
    }
}

/// Figures of one run for the trend: a line of `history.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// Start of the run, in seconds since 1970.
    pub started: u64,
    /// Name of the plan and of the profile, separated by a space.
    pub plan: String,
    pub rtl: String,
    pub seed: u64,
    pub totals: Totals,
    pub buckets: u64,
    /// Number of bins hit, and number of all bins.
    pub coverage: (u64, u64),
    pub wall_s: f64,
}

impl TrendPoint {
    pub fn of(summary: &Summary, timing: &Timing) -> TrendPoint {
        TrendPoint {
            started: timing.started,
            plan: format!("{} {}", summary.plan, summary.profile),
            rtl: summary.rtl.clone(),
            seed: summary.seed,
            totals: summary.totals,
            buckets: summary.buckets.len() as u64,
            coverage: (summary.coverage.hit, summary.coverage.bins),
            wall_s: timing.wall_s,
        }
    }
}
