//! Buckets: tests that failed in the same way.
//!
//! The collector opens a [`Bucket`] for the first result with a raw signature, and joins later results to it.
//! A worker writes the [`bundle`](super::bundle) of the first failure and returns the bucket with the
//! findings. The summary joins buckets whose minimized cases fail in the same way.

use std::collections::BTreeSet;

use atoms_cosim::machine::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::triage::death::Death;
use crate::triage::signature::Signature;
use crate::triage::test_failure::TestFailure;

/// Outcome of a test.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// RTL, model and oracle agree, and all expectations are met.
    #[default]
    Passed,
    /// RTL, model and oracle disagree, an RTL assertion failed, or an expectation is not met.
    Failed,
    /// The test exceeded its wall-time limit.
    TimedOut,
    /// The process that ran the test died, or the worker panicked.
    Crashed,
    /// The test could not run: a file cannot be read, or the RTL does not build.
    Error,
    /// The kernel does not fit a configuration that was chosen on the command line.
    Skipped,
}

impl Status {
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

    pub const ALL: [Status; 6] =
        [Status::Passed, Status::Failed, Status::TimedOut, Status::Crashed, Status::Error, Status::Skipped];

    /// Returns the name in reports: `passed`, `failed`, `timed out`, `crashed`, `error` or `skipped`.
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

/// Tests with the same failure signature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// Signature that identifies the bucket: that of the minimized case, if there is one.
    pub key: Signature,
    /// Raw signatures of the tests, if minimizing changed the signature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_as: Vec<Signature>,
    /// Status of the tests.
    pub status: Status,
    /// Number of tests in the bucket.
    pub tests: u64,
    /// Index of the first test, in plan order.
    pub first: u64,
    /// Name of the first test.
    pub first_name: String,
    /// Configurations in which the failure occurred.
    pub configs: Vec<String>,
    /// Message of the first failure: that of the minimized case, if there is one.
    pub text: String,
    /// Folder of the bundle, relative to the output folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// Files in the bundle, main page first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Number of requests in the minimized case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Likeliest cause, as a line of the RTL: `atoms_alu.sv:60  result[i] = ...`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// Command line that reproduces the failure.
    pub repeat: String,
    /// Plan entries of the tests, used to find causes. Empty in reports.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(skip)]
    pub entries: BTreeSet<String>,
}

impl Bucket {
    /// Replaces all fields except tests, configurations and entries by those of the triaged first failure.
    pub fn closer(&mut self, looked: Bucket) {
        let Bucket { tests, configs, entries, .. } = std::mem::take(self);
        *self = Bucket { tests, configs, entries, ..looked };
    }

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
