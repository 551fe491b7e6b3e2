//! What one test came to.

use atoms_cosim::session::Tally;
use serde::{Deserialize, Serialize};

pub use crate::triage::bucket::Status;
use crate::triage::signature::Signature;
use atoms_coverage::episode::Episode;

/// How much a test did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Work {
    /// Runs from reset.
    pub episodes: u64,
    /// Runs that counted what they hit of the bins.
    pub counted: u64,
    /// Clock cycles.
    pub cycles: u64,
    /// Warp requests answered.
    pub requests: u64,
    /// Cluster requests answered.
    pub cluster_requests: u64,
    /// Answers that the oracle judged.
    pub judged: u64,
}

impl Work {
    /// Adds one run from reset, which counted bins or did not.
    pub fn add_run(&mut self, tally: &Tally, counted: bool) {
        *self += Work {
            episodes: 1,
            counted: counted.into(),
            cycles: tally.cycles,
            requests: tally.requests,
            cluster_requests: tally.cluster_requests,
            judged: tally.judged,
        };
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.episodes += other.episodes;
        self.counted += other.counted;
        self.cycles += other.cycles;
        self.requests += other.requests;
        self.cluster_requests += other.cluster_requests;
        self.judged += other.judged;
    }
}

/// What failed in a test: enough to put it into a bucket and to say what it was in a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// Bucket, by its key as it was before shrinking.
    pub bucket: Signature,
    /// Cycle in which it showed, counted from the reset of its run.
    pub cycle: u64,
    /// What was found, in the words of the failure; several lines.
    pub text: String,
    /// The run that failed; none for directed tests and kernels, which their name says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Episode>,
}

/// What one test came to: a line of `results.jsonl`. The same for the same plan, seed and RTL on any
/// machine and any number of workers; what time it took is therefore not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// Number of the test in its plan, from 0.
    pub index: u64,
    /// `ENTRY/CONFIG/SERIES` for random tests, `ENTRY/CONFIG/FILE` for the others.
    pub name: String,
    /// Entry of the plan.
    pub entry: String,
    /// Configuration.
    pub config: String,
    /// How it ended.
    pub status: Status,
    /// What it did until then.
    pub work: Work,
    /// Bins that no test before it in the plan had hit.
    pub new_bins: u32,
    /// What failed, unless it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureRecord>,
}
