//! Figures of a usage report.

use serde::Serialize;

use super::banks::BankUsage;
use super::distribution::Distribution;
use super::retries::RetryUsage;
use super::stack::CycleStack;

/// Usage of the unit in one run.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UsageReport {
    /// Clock cycles, including reset cycles.
    pub cycles: u64,
    /// Cycles by class. The classes add up to `cycles`.
    pub stack: CycleStack,
    /// Work done per cycle.
    pub throughput: Throughput,
    /// Requests of the warp port.
    pub warp: WarpUsage,
    /// Requests of the cluster port.
    pub cluster: ClusterUsage,
    /// Requests suspended in MBAR.TRY_WAIT.
    pub waits: WaitUsage,
    /// Cycles in which a valid offer is not taken, by port.
    pub back_pressure: BackPressure,
    /// Cycles in which hazards hold back passes.
    pub hazards: HazardUsage,
    /// Requests in the queue of the warp port, counted once per cycle.
    pub warp_queue: Distribution,
    /// Requests in the queue of the cluster port, counted once per cycle.
    pub cluster_queue: Distribution,
    /// Words served and written, by bank.
    pub banks: BankUsage,
    /// Operations that may fail, in order of the operation table, except those never answered.
    pub retries: Vec<RetryUsage>,
}

/// Work done per cycle, over all cycles and both ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Throughput {
    /// Passes issued. The unit can issue one per cycle.
    pub passes_per_cycle: f64,
    /// Requests answered, or carried out if they owe no response.
    pub requests_per_cycle: f64,
    /// Lanes served by passes issued.
    pub lane_operations_per_cycle: f64,
    /// Words served by the banks, divided by the largest possible number.
    pub bank_utilisation: f64,
}

/// Figures of the warp port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct WarpUsage {
    /// Number of requests accepted.
    pub accepted: u64,
    /// Requests whose response or wake-up was taken.
    pub answered: u64,
    /// Answered requests with a fault.
    pub faults: u64,
    /// Requests that a reset dropped.
    pub dropped: u64,
    /// Lanes served by passes issued.
    pub lane_operations: u64,
    /// Passes of each request whose last pass was issued. 0 after a fault or without an active lane.
    pub passes: Distribution,
    /// Passes issued beyond the first of each request.
    pub conflicts: u64,
    /// Latency of answered requests, in cycles. Requests that were suspended do not count.
    pub latency: LatencyUsage,
}

/// Figures of the cluster port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ClusterUsage {
    /// Number of requests accepted.
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
    /// Latency of answered requests, in cycles.
    pub latency: LatencyUsage,
    /// Latency of posted requests, in cycles. A posted request ends in the last stage of the pipeline.
    pub posted_latency: LatencyUsage,
}

/// Latency in cycles, from the clock edge that accepts a request to the edge that takes its response. The
/// three parts of each request add up to its total.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LatencyUsage {
    /// Sum of the three parts.
    pub total: Distribution,
    /// From acceptance to the issue of the first pass. At least 2.
    pub queueing: Distribution,
    /// From the first pass to the issue of the last pass. 0 for a single pass.
    pub service: Distribution,
    /// From the issue of the last pass until the answer is taken.
    pub answer: Distribution,
}

/// Requests suspended in MBAR.TRY_WAIT (spec 6.3). Cycles count from the one in which the request is
/// suspended to the one in which its wake-up is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct WaitUsage {
    /// Number of requests suspended.
    pub suspended: u64,
    /// Cycles of requests that were woken because their phase was complete.
    pub woken: Distribution,
    /// Cycles of requests that timed out.
    pub timed_out: Distribution,
}

/// Cycles in which valid is high and ready is low, at each port. Several ports may count in the same cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct BackPressure {
    /// A warp request is refused because its queue is full.
    pub warp_requests: u64,
    /// A cluster request is refused because its queue is full.
    pub cluster_requests: u64,
    /// A CTA table write waits because a request of its slot is inside.
    pub table_writes: u64,
    /// A warp response is not taken.
    pub warp_responses: u64,
    /// A cluster response is not taken.
    pub cluster_responses: u64,
    /// A wake-up is not taken.
    pub wake_ups: u64,
}

/// Passes held back at issue because an older pass may write a word that they need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct HazardUsage {
    /// True if the configuration forwards words. There are then no such cycles.
    pub forwarding: bool,
    /// Cycles in which the first pass of a request is held back.
    pub first_pass: u64,
    /// Cycles in which a later pass of a request is held back.
    pub between_passes: u64,
}
