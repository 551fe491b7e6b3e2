//! Counts of tests: of all, of an entry, of a configuration.

use serde::{Deserialize, Serialize};

use crate::run::result::{Status, Work};

/// Counts of tests, and what they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// See [`Status::Skipped`].
    #[serde(default)]
    pub skipped: u64,
    /// What they did.
    pub work: Work,
}

impl Totals {
    /// Counts one test.
    pub fn add(&mut self, status: Status, work: Work) {
        *self.count(status) += 1;
        self.work += work;
    }

    /// Tests that ended this way.
    pub fn of(mut self, status: Status) -> u64 {
        *self.count(status)
    }

    fn count(&mut self, status: Status) -> &mut u64 {
        match status {
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::TimedOut => &mut self.timed_out,
            Status::Crashed => &mut self.crashed,
            Status::Error => &mut self.error,
            Status::Skipped => &mut self.skipped,
        }
    }

    /// All tests.
    pub fn tests(&self) -> u64 {
        Status::ALL.into_iter().map(|status| self.of(status)).sum()
    }

    /// Tests that were run.
    pub fn ran(&self) -> u64 {
        self.tests() - self.skipped
    }

    /// Tests that were run and did not pass.
    pub fn not_passed(&self) -> u64 {
        self.ran() - self.passed
    }
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.crashed += other.crashed;
        self.error += other.error;
        self.skipped += other.skipped;
        self.work += other.work;
    }
}

/// Some of the tests: an entry of the plan, or a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Part")]
pub struct PartTotals {
    /// Its name.
    pub name: String,
    /// Its tests.
    pub totals: Totals,
}

/// The tests of one entry in one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cell {
    /// Name of the entry.
    pub entry: String,
    /// Name of the configuration.
    pub config: String,
    /// Its tests.
    pub totals: Totals,
}
