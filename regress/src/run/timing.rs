//! Figures of a run that depend on the machine.

use serde::{Deserialize, Serialize};

/// RTL of a run and the cost of building it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RtlBuild {
    /// Folder of the RTL sources, or `built in`.
    pub place: String,
    /// Number of libraries built, because the cache did not have them.
    pub libraries: u64,
    /// Seconds of wall time to build or load all libraries.
    pub seconds: f64,
    /// Commit of the checkout with the RTL, followed by `(dirty)` if files differ; empty outside a checkout.
    #[serde(default)]
    pub commit: String,
    /// Versions of Verilator and the C++ compiler; empty if not installed.
    #[serde(default)]
    pub tools: String,
}

impl RtlBuild {
    pub fn origin(&self) -> String {
        match self.commit.as_str() {
            "" => self.place.clone(),
            commit => format!("{}, commit {commit}", self.place),
        }
    }
}

/// Figures of a run that depend on the machine and the time of day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Timing {
    /// Start of the run, in seconds since 1970.
    pub started: u64,
    /// Seconds of wall time, summed over all parts of an interrupted run.
    pub wall_s: f64,
    /// Number of worker threads.
    pub jobs: u32,
    /// Executor of the run: `local` or `slurm`.
    pub executor: String,
    /// Seconds spent in tests, summed over all workers.
    pub busy_s: f64,
    /// The slowest tests, slowest first: name and seconds.
    pub slowest: Vec<(String, f64)>,
    /// RTL of the run. Its build time is not part of the other times.
    #[serde(default)]
    pub rtl: RtlBuild,
}

const SLOWEST: usize = 10;

impl Timing {
    pub fn count(&mut self, name: &str, seconds: f64) {
        self.busy_s += seconds;
        self.slow(name, seconds);
    }

    /// Adds the test times of another process of the same run.
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
