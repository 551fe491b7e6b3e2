//! JSON results of `atoms cosim`.

use atoms_cosim::case::Case;
use atoms_cosim::rtl::RtlIdentity;
use atoms_cosim::session::Tally;
use atoms_cosim::usage::UsageReport;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub struct CosimResult<'r> {
    pub agree: bool,
    #[serde(flatten)]
    pub tally: &'r Tally,
    pub rtl: Option<&'r RtlIdentity>,
    pub on: &'static str,
    pub config: &'r str,
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<&'r UsageReport>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct CosimFailureResult<'r> {
    pub agree: bool,
    pub cycle: u64,
    pub report: &'r str,
    pub repeat: &'r str,
    /// Minimized case, or null if minimization found none.
    pub case: Option<&'r Case>,
    pub rtl: Option<&'r RtlIdentity>,
}

/// Result of a case that was read from a file.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CaseResult {
    Agrees {
        agree: bool,
        config: String,
        cycles: u64,
        requests: u64,
        cluster_requests: u64,
        judged: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Box<UsageReport>>,
    },
    Fails {
        agree: bool,
        cycle: u64,
        report: String,
        case: Case,
    },
}
