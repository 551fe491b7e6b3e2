//! JSON results of `atoms run`.

use std::collections::BTreeMap;

use atoms_cosim::rtl::RtlIdentity;
use atoms_cosim::usage::UsageReport;
use atoms_sm::{Buffer, DeadlockReport, Outcome};
use schemars::JsonSchema;
use serde::Serialize;

use super::profile::LineResult;
use super::races::RacesResult;
use super::undefined::UndefinedResult;

#[derive(Serialize, JsonSchema)]
pub struct RunResult<'r> {
    pub agree: bool,
    pub checked: bool,
    pub as_expected: Option<bool>,
    pub kernel: &'r str,
    pub arch: String,
    pub on: &'static str,
    pub config: &'r str,
    pub rtl: Option<&'r RtlIdentity>,
    pub cycles: u64,
    pub warp_instructions: u64,
    pub shared_requests: u64,
    pub cluster_requests: u64,
    pub suspended: u64,
    pub woken: u64,
    pub copies: u64,
    pub copied_bytes: u64,
    pub passes: u64,
    pub conflicts: u64,
    /// Number of requests for each operation name.
    pub requests: BTreeMap<&'static str, u64>,
    pub instructions: Vec<LineResult<'r>>,
    pub spin_attempts: u64,
    pub spin_successes: u64,
    pub judged: u64,
    pub oracle: OracleResult,
    pub undefined: Option<UndefinedResult<'r>>,
    pub buffers: Vec<BufferResult<'r>>,
    /// Target of the PTX, if the kernel runs as a later architecture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races: Option<RacesResult<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<PrintedResult<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<&'r UsageReport>,
}

#[derive(Serialize, JsonSchema)]
pub struct RunFailureResult<'r> {
    pub agree: bool,
    pub cycle: u64,
    pub report: String,
    /// Objects at which threads wait, if the kernel ended in a deadlock or livelock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<&'r DeadlockReport>,
    pub repeat: String,
    pub undefined: Option<UndefinedResult<'r>>,
    pub judged: u64,
    pub oracle: OracleResult,
    pub rtl: Option<&'r RtlIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races: Option<RacesResult<'r>>,
}

#[derive(Serialize, JsonSchema)]
pub struct InterruptedResult {
    pub agree: bool,
    pub interrupted: bool,
    pub cycle: u64,
    pub judged: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct OracleResult {
    pub accepts: bool,
    /// True if the oracle also accepts the memory at the end. Left out if the run did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct PrintedResult<'r> {
    pub format: &'r str,
    pub threads: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct BufferResult<'r> {
    pub name: &'r str,
    pub bytes: usize,
    pub outcome: OutcomeResult<'r>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OutcomeResult<'r> {
    Open(&'static str),
    Met { met: usize },
    Differs { index: usize, expected: &'r str, found: &'r str, differing: usize, compared: usize },
    OtherValues { missing: Option<&'r str>, surplus: Option<&'r str>, lacking: usize, compared: usize },
}

impl<'r> BufferResult<'r> {
    pub fn of(buffer: &'r Buffer) -> Self {
        let outcome = match &buffer.outcome {
            Outcome::Open => OutcomeResult::Open("open"),
            Outcome::Met { compared } => OutcomeResult::Met { met: *compared },
            Outcome::Differs { index, expected, found, differing, compared } => OutcomeResult::Differs {
                index: *index,
                expected,
                found,
                differing: *differing,
                compared: *compared,
            },
            Outcome::OtherValues { missing, surplus, lacking, compared } => OutcomeResult::OtherValues {
                missing: missing.as_deref(),
                surplus: surplus.as_deref(),
                lacking: *lacking,
                compared: *compared,
            },
        };
        BufferResult { name: &buffer.name, bytes: buffer.bytes.len(), outcome }
    }
}
