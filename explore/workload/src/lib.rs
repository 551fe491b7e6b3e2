//! Workloads: what the unit is given to do, and what one unit of work is.
//!
//! Generated ones are closed loops: each warp waits for its answer, computes, and asks again ([`Generated`]). Beside
//! them stand kernels ([`KernelWorkload`]) and recorded traces ([`Replay`]). Each knows what must come out.

#![forbid(unsafe_code)]

mod closed_loop;
mod draw;
mod generated;
mod kernel;
mod page;
mod parameter;
mod program;
mod replay;
mod threads;

use std::collections::BTreeMap;

use serde::Serialize;

pub use closed_loop::{ClosedLoop, GivenUp, Pacing, PortCounts};
pub use generated::{GENERATED, Generated, GeneratedKind, common_parameters};
pub use kernel::{KernelUnit, KernelWorkload};
pub use page::with_workload_tables;
pub use parameter::{WorkloadParameter, WorkloadParameterKind, WorkloadValue};
pub use program::{Answer, Next, WarpPort, WarpProgram, WorkCounts, WorkloadError};
pub use replay::{Gaps, Replay, ReplayStimulus, TraceReplayError};

/// Something that the unit is given to do.
#[derive(Clone, Debug)]
pub enum Workload {
    Generated(Generated),
    Kernel(Box<KernelWorkload>),
    Trace {
        /// Its name in reports.
        name: String,
        /// SHA-256 of its text.
        hash: String,
        replay: Box<Replay>,
        gaps: Gaps,
    },
}

/// Which workload it was, for a report: with the same, and the same seed, the same is done.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WorkloadIdentity {
    pub name: String,
    /// What one unit of work is.
    pub unit: String,
    /// Parameters by name; of a kernel or a trace, the hash of its text.
    pub settings: BTreeMap<String, serde_json::Value>,
}

impl Workload {
    /// Gives the identity for reports.
    pub fn identity(&self) -> WorkloadIdentity {
        let hash = |hash: &str| BTreeMap::from([("hash".to_string(), hash.into())]);
        match self {
            Workload::Generated(generated) => WorkloadIdentity {
                name: generated.kind().name.to_string(),
                unit: generated.kind().unit.to_string(),
                settings: generated
                    .settings()
                    .map(|(parameter, value)| (parameter.name.to_string(), serde_json::json!(value)))
                    .collect(),
            },
            Workload::Kernel(kernel) => WorkloadIdentity {
                name: kernel.kernel.name.clone(),
                unit: kernel.unit.to_string(),
                settings: hash(&kernel.hash),
            },
            Workload::Trace { name, hash: text, gaps, .. } => {
                let mut settings = hash(text);
                let gaps = match gaps {
                    Gaps::None => "none",
                    Gaps::Recorded => "recorded",
                };
                settings.insert("gaps".to_string(), gaps.into());
                WorkloadIdentity { name: name.clone(), unit: "one request".to_string(), settings }
            }
        }
    }
}
