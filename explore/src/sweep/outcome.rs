//! What a point came to.

use std::collections::BTreeMap;

use atoms_cosim::usage::UsageReport;
use serde::{Deserialize, Serialize};

use crate::measure::Measurement;

/// What a point came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointOutcome {
    /// What was counted.
    pub measurement: Measurement,
    /// What the run made of the unit.
    pub usage: PointUsage,
}

/// What is kept of a [`UsageReport`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointUsage {
    /// Cycles by class ([`atoms_cosim::usage::CycleClass::key`]); they add up to all cycles.
    pub stack: BTreeMap<String, u64>,
    /// Cycles from acceptance of a warp request to its answer, of requests that were not suspended: mean, and percentiles.
    pub latency_mean: Option<f64>,
    /// See above.
    pub latency_p50: Option<u64>,
    /// See above.
    pub latency_p99: Option<u64>,
    /// Words that the banks served, over all that they could.
    pub bank_utilisation: f64,
    /// Cycles of an interval of the below.
    pub interval_cycles: u64,
    /// `[interval][bank]`: words served.
    pub served_over_time: Vec<Vec<u64>>,
}

impl From<UsageReport> for PointUsage {
    fn from(report: UsageReport) -> Self {
        let latency = &report.warp.latency.total;
        PointUsage {
            stack: report.stack.iter().map(|(class, cycles)| (class.key().to_string(), cycles)).collect(),
            latency_mean: latency.mean(),
            latency_p50: latency.percentile(50),
            latency_p99: latency.percentile(99),
            bank_utilisation: report.throughput.bank_utilisation,
            interval_cycles: report.banks.interval_cycles,
            served_over_time: report.banks.served_over_time,
        }
    }
}
