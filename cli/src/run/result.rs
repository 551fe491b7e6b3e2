//! Results of `atoms run` as JSON.

use std::collections::BTreeMap;

use atoms_cosim::rtl::RtlIdentity;
use atoms_cosim::usage::UsageReport;
use atoms_sm::{Buffer, Outcome};
use schemars::JsonSchema;
use serde::Serialize;

use crate::run::profile::LineResult;
use crate::run::races::RacesResult;
use crate::run::undefined::UndefinedResult;

#[derive(Serialize, JsonSchema)]
pub(crate) struct RunResult<'r> {
    pub(crate) agree: bool,
    pub(crate) checked: bool,
    pub(crate) as_expected: Option<bool>,
    pub(crate) kernel: &'r str,
    pub(crate) arch: String,
    pub(crate) on: &'static str,
    pub(crate) config: &'r str,
    pub(crate) rtl: Option<&'r RtlIdentity>,
    pub(crate) cycles: u64,
    pub(crate) warp_instructions: u64,
    pub(crate) shared_requests: u64,
    pub(crate) cluster_requests: u64,
    pub(crate) suspended: u64,
    pub(crate) woken: u64,
    pub(crate) copies: u64,
    pub(crate) copied_bytes: u64,
    pub(crate) passes: u64,
    pub(crate) conflicts: u64,
    /// Requests by the name of their operation.
    pub(crate) requests: BTreeMap<&'static str, u64>,
    pub(crate) instructions: Vec<LineResult<'r>>,
    pub(crate) spin_attempts: u64,
    pub(crate) spin_successes: u64,
    pub(crate) judged: u64,
    pub(crate) oracle: OracleResult,
    pub(crate) undefined: Option<UndefinedResult<'r>>,
    pub(crate) buffers: Vec<BufferResult<'r>>,
    /// Architecture of PTX that runs as a later one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) races: Option<RacesResult<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) printed: Vec<PrintedResult<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<&'r UsageReport>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct RunFailureResult<'r> {
    pub(crate) agree: bool,
    pub(crate) cycle: u64,
    pub(crate) report: String,
    pub(crate) repeat: String,
    pub(crate) undefined: Option<UndefinedResult<'r>>,
    pub(crate) judged: u64,
    pub(crate) oracle: OracleResult,
    pub(crate) rtl: Option<&'r RtlIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) races: Option<RacesResult<'r>>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct InterruptedResult {
    pub(crate) agree: bool,
    pub(crate) interrupted: bool,
    pub(crate) cycle: u64,
    pub(crate) judged: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct OracleResult {
    pub(crate) accepts: bool,
    /// The oracle also accepts memory at the end; left out if the run did not get there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct PrintedResult<'r> {
    pub(crate) format: &'r str,
    pub(crate) threads: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct BufferResult<'r> {
    pub(crate) name: &'r str,
    pub(crate) bytes: usize,
    pub(crate) outcome: OutcomeResult<'r>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OutcomeResult<'r> {
    Open(&'static str),
    Met { met: usize },
    Differs { index: usize, expected: &'r str, found: &'r str, differing: usize, compared: usize },
    OtherValues { missing: Option<&'r str>, surplus: Option<&'r str>, lacking: usize, compared: usize },
}

impl<'r> BufferResult<'r> {
    pub(crate) fn of(buffer: &'r Buffer) -> Self {
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
