//! Test counts of a whole run, a plan entry or a configuration.

use serde::{Deserialize, Serialize};

use crate::run::result::{Status, Work};

/// Number of tests by status, and their work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Totals {
    /// Number of tests with [`Status::Passed`].
    pub passed: u64,
    /// Number of tests with [`Status::Failed`].
    pub failed: u64,
    /// Number of tests with [`Status::TimedOut`].
    pub timed_out: u64,
    /// Number of tests with [`Status::Crashed`].
    pub crashed: u64,
    /// Number of tests with [`Status::Error`].
    pub error: u64,
    /// Number of tests with [`Status::Skipped`].
    #[serde(default)]
    pub skipped: u64,
    /// Work of these tests together.
    pub work: Work,
}

impl Totals {
    pub fn add(&mut self, status: Status, work: Work) {
        *self.count(status) += 1;
        self.work += work;
    }

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

    /// Returns the number of all tests, skipped ones included.
    pub fn tests(&self) -> u64 {
        Status::ALL.into_iter().map(|status| self.of(status)).sum()
    }

    pub fn ran(&self) -> u64 {
        self.tests() - self.skipped
    }

    /// Returns the number of tests that ran and did not pass.
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

/// Totals of one plan entry or one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Part")]
pub struct PartTotals {
    /// Name of the plan entry or configuration.
    pub name: String,
    /// Totals of its tests.
    pub totals: Totals,
}

/// Totals of one plan entry in one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cell {
    /// Name of the plan entry.
    pub entry: String,
    /// Name of the configuration.
    pub config: String,
    /// Totals of the tests of this entry in this configuration.
    pub totals: Totals,
}
