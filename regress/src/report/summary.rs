//! What a regression came to: all that reports are made of.
//!
//! [`Summary`] is the same for the same plan, seed and RTL on any machine, any number of workers, and
//! any executor; what depends on the machine is in [`Timing`]. `summary.json` is a [`Summary`], with
//! the schema in `docs/summary.schema.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coverage::bin_name;
use crate::run::result::{Status, Work};

/// Version of the format of `summary.json`; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// What a regression came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub entries: Vec<Part>,
    /// The same by configuration, in the order of `rtl/configs.toml`.
    pub configs: Vec<Part>,
    /// The same by entry and configuration, where there are tests; in the order of entries, then of
    /// configurations.
    pub cells: Vec<Cell>,
    /// What failed, the buckets with most tests first.
    pub buckets: Vec<Bucket>,
    /// What the configurations say about the causes of the failures, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Functional coverage.
    pub coverage: Coverage,
    /// Coverage of the RTL's source, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtl_coverage: Option<RtlCoverage>,
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
        let tests = self.totals.tests();
        if self.totals.passed < tests {
            Verdict::Failed
        } else if !self.complete || tests == 0 {
            Verdict::Incomplete
        } else if self.coverage.gate.as_ref().is_some_and(|gate| !gate.passed) {
            Verdict::Uncovered
        } else {
            Verdict::Passed
        }
    }

    /// The bucket of a test, by the key that its result has.
    pub fn bucket(&self, key: &str) -> Option<&Bucket> {
        let mut buckets = self.buckets.iter();
        buckets.find(|bucket| bucket.key == key || bucket.found_as.iter().any(|other| other == key))
    }
}

/// Counts of tests, and what they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Tests by how they ended.
    pub passed: u64,
    /// See [`Status::Failed`].
    pub failed: u64,
    /// See [`Status::TimedOut`].
    pub timed_out: u64,
    /// See [`Status::Crashed`].
    pub crashed: u64,
    /// See [`Status::Error`].
    pub error: u64,
    /// What they did.
    pub work: Work,
}

impl Totals {
    /// Counts one test.
    pub fn add(&mut self, status: Status, work: Work) {
        *match status {
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::TimedOut => &mut self.timed_out,
            Status::Crashed => &mut self.crashed,
            Status::Error => &mut self.error,
        } += 1;
        self.work += work;
    }

    /// Tests that ended this way.
    pub fn of(&self, status: Status) -> u64 {
        match status {
            Status::Passed => self.passed,
            Status::Failed => self.failed,
            Status::TimedOut => self.timed_out,
            Status::Crashed => self.crashed,
            Status::Error => self.error,
        }
    }

    /// All tests.
    pub fn tests(&self) -> u64 {
        Status::ALL.into_iter().map(|status| self.of(status)).sum()
    }

    /// Tests that did not pass.
    pub fn not_passed(&self) -> u64 {
        self.tests() - self.passed
    }
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.crashed += other.crashed;
        self.error += other.error;
        self.work += other.work;
    }
}

/// Some of the tests: an entry of the plan, or a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its tests.
    pub totals: Totals,
}

/// The tests of one entry in one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Name of the entry.
    pub entry: String,
    /// Name of the configuration.
    pub config: String,
    /// Its tests.
    pub totals: Totals,
}

/// Tests that failed in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// Key: what tells it from other buckets, readable: `mismatch probe.wr_data ATOMS.MAX`.
    pub key: String,
    /// Keys that results of its tests have, where shrinking led to another key than theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_as: Vec<String>,
    /// What differs, or which promise is broken: a field of the ports or of the probe, a rule of the
    /// oracle, an assertion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Operation of the request in which it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// How its tests ended.
    pub status: Status,
    /// Tests in it.
    pub tests: u64,
    /// Index of the first of them.
    pub first: u64,
    /// Name of the first.
    pub first_name: String,
    /// Configurations it was seen in.
    pub configs: Vec<String>,
    /// The failure of the first in its own words: of the smaller case, if there is one.
    pub text: String,
    /// Folder of the bundle, relative to the output folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// Files in the bundle, the one to open first at the front.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Requests of the smaller case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// One line that reproduces it.
    pub repeat: String,
}

#[cfg(test)]
impl Bucket {
    /// An empty bucket with this key.
    pub(crate) fn of_key(key: &str) -> Bucket {
        Bucket {
            key: key.to_string(),
            found_as: Vec::new(),
            what: None,
            op: None,
            status: Status::Failed,
            tests: 1,
            first: 0,
            first_name: String::new(),
            configs: Vec::new(),
            text: String::new(),
            bundle: None,
            files: Vec::new(),
            requests: None,
            repeat: String::new(),
        }
    }
}

/// Buckets of one kind that likely have one cause: those of some were seen in configurations of the first only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Kind of failure: the first word of the buckets' keys.
    pub kind: String,
    /// Keys of the buckets, the one seen in most configurations first.
    pub buckets: Vec<String>,
    /// Configurations in which the first was seen.
    pub failing: Vec<String>,
    /// Configurations that ran its entries and passed.
    pub passing: Vec<String>,
    /// Parameters that tell the ones from the others best; none if no single one does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub separations: Vec<Separation>,
}

/// How one parameter tells configurations that fail from those that pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Functional coverage: bins that some configuration of the plan can hit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Bins.
    pub bins: u64,
    /// Of them, those hit.
    pub hit: u64,
    /// Of those not hit, those that a waiver excuses.
    pub waived: u64,
    /// By group, in the order of `docs/coverage.md`.
    pub groups: Vec<GroupCoverage>,
    /// What the gate says, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// Coverage of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupCoverage {
    /// Name of the group.
    pub name: String,
    /// Why its dimensions are crossed.
    pub reason: String,
    /// Clause of the specification.
    pub clause: String,
    /// Dimensions, slowest first, with the names of their values.
    pub dimensions: Vec<(String, Vec<String>)>,
    /// Bins that some configuration of the plan can hit.
    pub bins: u64,
    /// Of them, those hit.
    pub hit: u64,
    /// Of those not hit, those waived.
    pub waived: u64,
    /// Hits of each combination of values, the last dimension fastest; none where there is no bin.
    pub counts: Vec<Option<u32>>,
    /// What is waived among the bins not hit: places in `counts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

impl GroupCoverage {
    /// Bins that nothing hit and no waiver excuses.
    pub fn missing(&self) -> u64 {
        self.bins.saturating_sub(self.hit).saturating_sub(self.waived)
    }

    /// The name of the bin at a place in `counts`.
    pub fn bin_name(&self, at: usize) -> Option<String> {
        bin_name(&self.name, self.dimensions.iter().map(|(_, values)| values.as_slice()), at)
    }
}

/// Places that one reason excuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiver {
    /// Why nothing needs to hit them.
    pub reason: String,
    /// Which they are, in ascending order.
    pub places: Vec<u32>,
}

/// Whether coverage suffices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// Whether it does.
    pub passed: bool,
    /// Names of bins neither hit nor waived, and lines and cover properties of the RTL likewise.
    pub missing: Vec<String>,
    /// Waivers of what was hit all the same, or of what does not exist: to be taken out of the list.
    pub stale: Vec<String>,
}

/// Coverage of the RTL's source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RtlCoverage {
    /// By file.
    pub files: Vec<FileCoverage>,
    /// Cover properties: name with module, and how often each held.
    pub covers: Vec<(String, u64)>,
    /// Cover properties that never held and are waived: name with module, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived_covers: Vec<(String, String)>,
}

/// Coverage of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileCoverage {
    /// Name, as in `rtl/`.
    pub name: String,
    /// Line number and how often its least frequent point ran.
    pub lines: Vec<(u32, u64)>,
    /// Toggle points, and those of them that went both ways; absent unless measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toggles: Option<(u64, u64)>,
    /// What is waived among the lines that never ran: line numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

impl FileCoverage {
    /// Lines that ran.
    pub fn hit(&self) -> u64 {
        self.lines.iter().filter(|(_, count)| *count > 0).count() as u64
    }

    /// Lines that never ran, and are waived.
    pub fn waived(&self) -> u64 {
        let never = self.lines.iter().filter(|(_, count)| *count == 0);
        never.filter(|(line, _)| self.waiver(*line).is_some()).count() as u64
    }

    /// Lines that never ran and that no waiver excuses.
    pub fn missing(&self) -> u64 {
        (self.lines.len() as u64).saturating_sub(self.hit()).saturating_sub(self.waived())
    }

    /// Why a line need not run, if it is waived.
    pub fn waiver(&self, line: u32) -> Option<&str> {
        let waiver = self.waivers.iter().find(|waiver| waiver.places.contains(&line))?;
        Some(&waiver.reason)
    }
}

/// The RTL of a run, and what building it took, before and beside its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RtlBuild {
    /// Its folder, or `built in`.
    pub place: String,
    /// Libraries that were not in the cache.
    pub libraries: u64,
    /// Seconds until all were there.
    pub seconds: f64,
}

/// What depends on the machine and the hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// Seconds of wall time, all parts of an interrupted run together.
    pub wall_s: f64,
    /// Workers.
    pub jobs: u32,
    /// `local` or `slurm`.
    pub executor: String,
    /// Seconds spent in tests, all workers together.
    pub busy_s: f64,
    /// The slowest tests: name and seconds.
    pub slowest: Vec<(String, f64)>,
    /// The RTL. Its time is part of no other.
    #[serde(default)]
    pub rtl: RtlBuild,
}

/// Tests named as the slowest.
const SLOWEST: usize = 10;

impl Timing {
    /// Counts a test that took `seconds`.
    pub fn count(&mut self, name: &str, seconds: f64) {
        self.busy_s += seconds;
        self.slow(name, seconds);
    }

    /// Adds the time that another process spent in tests of the same run.
    pub fn add(&mut self, other: &Timing) {
        self.busy_s += other.busy_s;
        self.jobs = self.jobs.max(other.jobs);
        for (name, seconds) in &other.slowest {
            self.slow(name, *seconds);
        }
    }

    fn slow(&mut self, name: &str, seconds: f64) {
        let at = self.slowest.partition_point(|(_, other)| *other >= seconds);
        if at < SLOWEST {
            self.slowest.insert(at, (name.to_string(), seconds));
            self.slowest.truncate(SLOWEST);
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
