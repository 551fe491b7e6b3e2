//! What of a run depends on the machine and the hour.

use serde::{Deserialize, Serialize};

/// The RTL of a run, and what building it took, before and beside its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RtlBuild {
    /// Its folder, or `built in`.
    pub place: String,
    /// Libraries that were not in the cache.
    pub libraries: u64,
    /// Seconds until all were there.
    pub seconds: f64,
    /// Commit of the checkout with the RTL, with `(dirty)` behind it where files differ; empty outside of one.
    #[serde(default)]
    pub commit: String,
    /// Versions of Verilator and the C++ compiler; empty where the machine has none.
    #[serde(default)]
    pub tools: String,
}

impl RtlBuild {
    /// The folder, and the commit if it is known.
    pub fn origin(&self) -> String {
        match self.commit.as_str() {
            "" => self.place.clone(),
            commit => format!("{}, commit {commit}", self.place),
        }
    }
}

/// What depends on the machine and the hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
