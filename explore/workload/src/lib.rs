//! Workloads for the unit, each with a definition of one unit of work.
//!
//! A generated workload is a closed loop: each warp waits for its answer, computes, and sends the next
//! request ([`Generated`]). Other workloads are kernels ([`KernelWorkload`]) and recorded traces
//! ([`Replay`]). Generated workloads know their expected result.

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

#[derive(Clone, Debug)]
pub enum Workload {
    Generated(Generated),
    Kernel(Box<KernelWorkload>),
    Trace {
        name: String,
        /// SHA-256 of the trace's text.
        hash: String,
        replay: Box<Replay>,
        gaps: Gaps,
    },
}

/// Identity of a workload in a report. Equal identity and equal seed give equal work.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WorkloadIdentity {
    pub name: String,
    /// Definition of one unit of work.
    pub unit: String,
    /// Parameters by name; for a kernel or a trace, only the hash of its text.
    pub settings: BTreeMap<String, serde_json::Value>,
}

impl Workload {
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
