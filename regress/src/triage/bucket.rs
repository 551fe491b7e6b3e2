//! Tests that failed alike: one record from the first failure to the reports.
//!
//! The collector makes a [`Bucket`] of the first result with a raw signature, and joins those after it. A worker makes
//! the [`bundle`](super::bundle) of its first failure and gives back the bucket with what that showed. The summary
//! joins those whose smallest cases fail alike.

use std::collections::BTreeSet;

use atoms_cosim::machine::Failure;
use serde::{Deserialize, Serialize};

use crate::triage::death::Death;
use crate::triage::signature::Signature;
use crate::triage::test_failure::TestFailure;

/// How a test ended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Three voices agree, and what was expected came out.
    #[default]
    Passed,
    /// A finding: they disagree, an assertion of the RTL failed, or an expectation is not met.
    Failed,
    /// It took longer than its limit of wall time.
    TimedOut,
    /// The process that ran it died, or the worker panicked.
    Crashed,
    /// Could not run: a file cannot be read, RTL does not build.
    Error,
    /// A kernel that does not fit a configuration that was chosen in place of the plan's.
    Skipped,
}

impl Status {
    /// How a test ends that fails in this way.
    pub fn of(failure: &TestFailure) -> Status {
        match failure {
            TestFailure::Session(Failure::OutOfTime(_)) => Status::TimedOut,
            TestFailure::Session(failure) if failure.is_finding() => Status::Failed,
            TestFailure::Expectation { .. } | TestFailure::Undefined(_) | TestFailure::Kernel { .. } => {
                Status::Failed
            }
            TestFailure::Died { death: Death::Hung(_), .. } => Status::TimedOut,
            TestFailure::Died { .. } | TestFailure::Panicked(_) => Status::Crashed,
            TestFailure::Session(_) | TestFailure::Cannot(_) | TestFailure::DoesNotFit(_) => Status::Error,
        }
    }

    /// Every status, in the order of reports.
    pub const ALL: [Status; 6] =
        [Status::Passed, Status::Failed, Status::TimedOut, Status::Crashed, Status::Error, Status::Skipped];

    /// `passed`, `failed`, `timed out`, `crashed`, `error`, `skipped`.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::TimedOut => "timed out",
            Status::Crashed => "crashed",
            Status::Error => "error",
            Status::Skipped => "skipped",
        }
    }
}

/// Tests that failed in the same way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Bucket {
    /// Key: what tells it from other buckets.
    pub key: Signature,
    /// Keys that results of its tests have, where shrinking led to another key than theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_as: Vec<Signature>,
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
    /// The line of the RTL that is its likeliest cause: `atoms_alu.sv:60  result[i] = ...`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// One line that reproduces it.
    pub repeat: String,
    /// Entries of its tests, while the run goes on: what its causes are found by. Not in reports.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(skip)]
    pub entries: BTreeSet<String>,
}

impl Bucket {
    /// Takes what a closer look at its first failure gave: the key, the words and the bundle of the smallest case.
    pub fn closer(&mut self, looked: Bucket) {
        let Bucket { tests, configs, entries, .. } = std::mem::take(self);
        *self = Bucket { tests, configs, entries, ..looked };
    }

    /// Takes the tests of another one in.
    pub fn join(&mut self, other: Bucket) {
        self.tests += other.tests;
        self.entries.extend(other.entries);
        self.found_as.extend(other.found_as);
        for config in other.configs {
            if !self.configs.contains(&config) {
                self.configs.push(config);
            }
        }
    }
}
