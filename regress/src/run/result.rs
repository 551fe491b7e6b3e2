use atoms_cosim::session::Tally;
use serde::{Deserialize, Serialize};

pub use crate::triage::bucket::Status;
use crate::triage::signature::Signature;
use atoms_coverage::episode::Episode;

/// Amount of work of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Work {
    /// Number of simulation runs, each from reset.
    pub episodes: u64,
    /// Number of runs from reset that counted bins of functional coverage.
    pub counted: u64,
    /// Number of clock cycles.
    pub cycles: u64,
    /// Number of warp requests answered.
    pub requests: u64,
    /// Number of cluster requests answered.
    pub cluster_requests: u64,
    /// Number of answers that the oracle checked.
    pub judged: u64,
}

impl Work {
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// Raw signature, taken before the case is minimized.
    pub bucket: Signature,
    /// Clock cycle of the failure, counted from the reset of its run.
    pub cycle: u64,
    pub text: String,
    /// Random run that failed; `None` for directed cases and kernels, which the test name identifies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Episode>,
}

/// Result of one test: a line of `results.jsonl`. Depends only on plan, seed and RTL, not on the machine or
/// the number of workers. It therefore contains no wall time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// Index of the test in the plan, from 0.
    pub index: u64,
    /// `ENTRY/CONFIG/SERIES` for random tests, `ENTRY/CONFIG/FILE` for the others.
    pub name: String,
    pub entry: String,
    pub config: String,
    pub status: Status,
    pub work: Work,
    /// Number of bins that this test was the first in plan order to hit.
    pub new_bins: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureRecord>,
}
