//! What a regression came to: all that reports are made of.
//!
//! [`Summary`] is the same for the same plan, seed and RTL on any machine, any number of workers, and
//! any executor; what depends on the machine is in [`Timing`]. `summary.json` is a [`Summary`], with
//! the schema in `docs/summary.schema.json`.

use serde::{Deserialize, Serialize};

use crate::result::{Status, Work};

/// Version of the format of `summary.json`; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// What a regression came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What failed, the buckets with most tests first.
    pub buckets: Vec<Bucket>,
    /// Functional coverage.
    pub coverage: Coverage,
    /// Coverage of the RTL's source, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtl_coverage: Option<RtlCoverage>,
    /// Runs in the corpus, after it was minimised.
    pub corpus: u64,
}

/// Counts of tests, and what they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Some of the tests: an entry of the plan, or a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its tests.
    pub totals: Totals,
}

/// Tests that failed in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// Key: what tells it from other buckets, readable: `mismatch probe.wr_data ATOMS.MAX`.
    pub key: String,
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
    /// Requests of the smaller case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// One line that reproduces it.
    pub repeat: String,
}

/// Functional coverage: bins that some configuration of the plan can hit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Bins.
    pub bins: u64,
    /// Of them, those hit.
    pub hit: u64,
    /// Of those not hit, those that a waiver excuses.
    pub waived: u64,
    /// By group.
    pub groups: Vec<GroupCoverage>,
    /// What the gate says, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// Coverage of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
}

/// Whether coverage suffices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Whether it does.
    pub passed: bool,
    /// Names of bins neither hit nor waived, and lines and cover properties of the RTL likewise.
    pub missing: Vec<String>,
    /// Waivers of what was hit all the same, or of what does not exist: to be taken out of the list.
    pub stale: Vec<String>,
}

/// Coverage of the RTL's source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RtlCoverage {
    /// By file.
    pub files: Vec<FileCoverage>,
    /// Cover properties: name with module, and how often each held.
    pub covers: Vec<(String, u64)>,
}

/// Coverage of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileCoverage {
    /// Name, as in `rtl/`.
    pub name: String,
    /// Line number and how often its least frequent point ran.
    pub lines: Vec<(u32, u64)>,
    /// Toggle points, and those of them that went both ways; absent unless measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toggles: Option<(u64, u64)>,
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
