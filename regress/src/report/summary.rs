//! What a regression came to: all that reports are made of.
//!
//! [`Summary`] is the same for the same plan, seed and RTL on any machine, any number of workers, and
//! any executor; what depends on the machine is in [`Timing`]. `summary.json` is a [`Summary`], with
//! the schema in `docs/schema/cover.json`.

use serde::{Deserialize, Serialize};

use crate::coverage::summary::{FunctionalCoverage, RtlCoverageSummary};
use crate::run::timing::Timing;
use crate::run::totals::{Cell, PartTotals, Totals};
pub use crate::triage::bucket::Bucket;
use crate::triage::signature::{FailureKind, Signature};

/// Version of the format of `summary.json`; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 2;

/// What a regression came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of ATOMS that ran it.
    pub version: String,
    /// Name of the plan.
    pub plan: String,
    /// Profile of the plan that was run.
    pub profile: String,
    /// Seed of the plan.
    pub seed: u64,
    /// Hash of the RTL's sources.
    pub rtl: String,
    /// Whether every test of the plan was run.
    pub complete: bool,
    /// All tests.
    pub totals: Totals,
    /// The same by entry of the plan, in its order.
    pub entries: Vec<PartTotals>,
    /// The same by configuration, in the order of `rtl/configs.toml`.
    pub configs: Vec<PartTotals>,
    /// The same by entry and configuration, where there are tests; in the order of entries, then of
    /// configurations.
    pub cells: Vec<Cell>,
    /// What failed, the buckets with most tests first.
    pub buckets: Vec<Bucket>,
    /// What the configurations say about the causes of the failures, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Functional coverage.
    pub coverage: FunctionalCoverage,
    /// Coverage of the RTL's source, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtl_coverage: Option<RtlCoverageSummary>,
    /// Runs in the corpus, after it was minimised.
    pub corpus: u64,
}

/// What a regression comes to in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every test of the plan was run and passed, and coverage suffices.
    Passed,
    /// Every test of the plan was run and passed, but the gate does not let it through.
    Uncovered,
    /// What was run has passed, but not every test of the plan was run, or there was none.
    Incomplete,
    /// A test did not pass.
    Failed,
}

impl Verdict {
    /// `PASSED`, `COVERAGE INSUFFICIENT`, `INCOMPLETE`, `FAILED`.
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
    /// What it comes to. What weighs more hides what weighs less: a test that failed, then tests that
    /// were not run, then the gate.
    pub fn verdict(&self) -> Verdict {
        if self.totals.not_passed() > 0 {
            Verdict::Failed
        } else if !self.complete || self.totals.ran() == 0 {
            Verdict::Incomplete
        } else if self.coverage.gate.as_ref().is_some_and(|gate| !gate.passed) {
            Verdict::Uncovered
        } else {
            Verdict::Passed
        }
    }

    /// The bucket of a test, by the key that its result has.
    pub fn bucket(&self, key: &Signature) -> Option<&Bucket> {
        self.buckets.iter().find(|bucket| bucket.key == *key || bucket.found_as.contains(key))
    }
}

/// Buckets of one kind that likely have one cause: those of some were seen in configurations of the first only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cause {
    /// Kind of failure.
    pub kind: FailureKind,
    /// Keys of the buckets, the one seen in most configurations first.
    pub buckets: Vec<Signature>,
    /// Configurations in which the first was seen.
    pub failing: Vec<String>,
    /// Configurations that ran its entries and passed.
    pub passing: Vec<String>,
    /// Parameters that tell the ones from the others best; none if no single one does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub separations: Vec<Separation>,
}

/// How one parameter tells configurations that fail from those that pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Separation {
    /// Name of the parameter, as in `rtl/configs.toml`.
    pub parameter: String,
    /// What holds in all configurations that fail: `= true`, `>= 4`.
    pub fails_where: String,
    /// Configurations that fail.
    pub fails: u64,
    /// Configurations in which it holds, those that pass included.
    pub of: u64,
    /// Values of the parameter where it does not hold, all of which pass.
    pub passes_where: String,
    /// Configurations in which it does not hold.
    pub passes: u64,
}

impl Cause {
    /// Which configurations fail, in a sentence without its end.
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

/// An earlier run of the same plan, a line of `history.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// Plan and profile.
    pub plan: String,
    /// Hash of the RTL's sources.
    pub rtl: String,
    /// Seed of the plan.
    pub seed: u64,
    /// Its tests.
    pub totals: Totals,
    /// Buckets of failures.
    pub buckets: u64,
    /// Bins hit, and bins.
    pub coverage: (u64, u64),
    /// Seconds of wall time.
    pub wall_s: f64,
}

impl TrendPoint {
    /// This run, as later ones will see it.
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
