//! What a run made of the unit: the figures of a report.

use serde::Serialize;

use super::banks::BankUsage;
use super::distribution::Distribution;
use super::retries::RetryUsage;
use super::stack::CycleStack;

/// What a run made of the unit.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UsageReport {
    /// Clock cycles, those of reset among them.
    pub cycles: u64,
    /// Where they went; adds up to `cycles`.
    pub stack: CycleStack,
    /// What was done per cycle.
    pub throughput: Throughput,
    /// The warp port.
    pub warp: WarpUsage,
    /// The cluster port.
    pub cluster: ClusterUsage,
    /// Suspended waits.
    pub waits: WaitUsage,
    /// Cycles in which a port holds something up.
    pub back_pressure: BackPressure,
    /// Passes held back.
    pub hazards: HazardUsage,
    /// Requests that wait in the queue of the warp port, one count a cycle.
    pub warp_queue: Distribution,
    /// Likewise of the cluster port.
    pub cluster_queue: Distribution,
    /// The banks.
    pub banks: BankUsage,
    /// Operations that may fail, in order of the operation table; those never answered are left out.
    pub retries: Vec<RetryUsage>,
}

/// What was done per cycle, over all cycles and both ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Throughput {
    /// Passes issued; the unit can issue one a cycle.
    pub passes_per_cycle: f64,
    /// Requests answered, or carried out where they owe no response.
    pub requests_per_cycle: f64,
    /// Lanes served.
    pub lane_operations_per_cycle: f64,
    /// Words that the banks served, over all that they could.
    pub bank_utilisation: f64,
}

/// The warp port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct WarpUsage {
    /// Requests accepted.
    pub accepted: u64,
    /// Requests whose response or wake-up was taken.
    pub answered: u64,
    /// Of these, the ones that fault.
    pub faults: u64,
    /// Requests that a reset dropped.
    pub dropped: u64,
    /// Lanes served by passes issued.
    pub lane_operations: u64,
    /// Passes of each request whose last pass was issued; 0 under a fault or without an active lane.
    pub passes: Distribution,
    /// Passes issued beyond the first of each request.
    pub conflicts: u64,
    /// Cycles of requests answered, but for those that were suspended.
    pub latency: LatencyUsage,
}

/// The cluster port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ClusterUsage {
    /// Requests accepted.
    pub accepted: u64,
    /// Requests whose response was taken.
    pub answered: u64,
    /// Requests carried out that owe no response (spec 4.7).
    pub posted: u64,
    /// Responses with a fault that were taken.
    pub faults: u64,
    /// Requests that a reset dropped.
    pub dropped: u64,
    /// Lanes served, one for each request without a fault.
    pub lane_operations: u64,
    /// Cycles of requests answered.
    pub latency: LatencyUsage,
    /// Cycles of posted requests, which end in the last stage of the pipeline.
    pub posted_latency: LatencyUsage,
}

/// Cycles from the edge that accepts a request to the edge that takes its answer, and its three parts, which add up to it
/// request by request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LatencyUsage {
    /// All of them.
    pub total: Distribution,
    /// Until its first pass is issued; at least 2.
    pub queueing: Distribution,
    /// From there until its last pass is issued: 0 for one pass.
    pub service: Distribution,
    /// From there until its answer is taken.
    pub answer: Distribution,
}

/// Requests suspended in MBAR.TRY_WAIT (spec 6.3). Cycles are counted from the one in which the request is suspended to the
/// one in which its wake-up is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct WaitUsage {
    /// Requests suspended.
    pub suspended: u64,
    /// Cycles of those woken, since their phase was complete.
    pub woken: Distribution,
    /// Cycles of those whose limit had passed.
    pub timed_out: Distribution,
}

/// Cycles in which valid is high and ready is low, at each port; several ports may be held up in one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct BackPressure {
    /// A warp request is refused: its queue is full.
    pub warp_requests: u64,
    /// A cluster request is refused, likewise.
    pub cluster_requests: u64,
    /// A write of the CTA table waits: a request of its slot is inside.
    pub table_writes: u64,
    /// A warp response is not taken.
    pub warp_responses: u64,
    /// A cluster response is not taken.
    pub cluster_responses: u64,
    /// A wake-up is not taken.
    pub wake_ups: u64,
}

/// Passes held back at issue, since an older pass may write a word that they need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct HazardUsage {
    /// The configuration forwards words instead: there are none.
    pub forwarding: bool,
    /// Cycles in which the first pass of a request is held back.
    pub first_pass: u64,
    /// Cycles in which a further one is.
    pub between_passes: u64,
}
