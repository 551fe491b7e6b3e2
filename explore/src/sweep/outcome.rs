//! Results of a point.

use std::collections::BTreeMap;

use atoms_cosim::usage::UsageReport;
use serde::{Deserialize, Serialize};

use crate::cost::{FigureOrigin, UnitCost};
use crate::measure::Measurement;

#[derive(Clone, Debug, PartialEq)]
pub struct PointOutcome {
    pub measurement: Measurement,
    pub usage: PointUsage,
    /// Cost of the point's unit; `None` with [`CostMode::None`](super::CostMode::None).
    pub cost: Option<PointCost>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointCost {
    /// Area without memories, in thousands of gate equivalents.
    pub area_kge: f64,
    /// Assumed area of the memories, in thousands of gate equivalents; see [`crate::cost::MemoryCost`].
    pub memory_kge: f64,
    /// Share of the area that is fitted, from 0 to 1.
    pub area_fitted: f64,
    /// Relative error of the area; `None` if the error of a fitted module is unknown.
    pub area_error: Option<f64>,
    /// Maximum clock in MHz, and its origin; `None` if the table has too few points.
    pub clock: Option<(f64, FigureOrigin)>,
}

impl From<&UnitCost> for PointCost {
    fn from(cost: &UnitCost) -> Self {
        PointCost {
            area_kge: cost.gate_equivalents / 1000.0,
            memory_kge: cost.memory.gate_equivalents / 1000.0,
            area_fitted: cost.fitted_share,
            area_error: cost.area_error(),
            clock: cost.path.as_ref().map(|path| (path.mhz, path.origin.clone())),
        }
    }
}

impl PointCost {
    /// Returns the relative error of a fitted area; `None` if the area is measured, infinite if the error is
    /// unknown.
    pub fn fitted_area_error(&self) -> Option<f64> {
        (self.area_fitted > 0.0).then(|| self.area_error.unwrap_or(f64::INFINITY))
    }

    /// Returns the relative error of a fitted clock; `None` if the clock is measured, infinite if the error
    /// is unknown.
    pub fn fitted_clock_error(&self) -> Option<f64> {
        match self.clock.as_ref()?.1 {
            FigureOrigin::Fitted { error, .. } => Some(error.unwrap_or(f64::INFINITY)),
            FigureOrigin::Mapped | FigureOrigin::Cached | FigureOrigin::Table => None,
        }
    }

    pub fn area_from(&self) -> String {
        match self.fitted_area_error() {
            None => "measured".to_string(),
            Some(error) => format!("{:.0} % fitted{}", 100.0 * self.area_fitted, plus_minus(error)),
        }
    }

    pub fn clock_from(&self) -> String {
        match (&self.clock, self.fitted_clock_error()) {
            (None, _) => String::new(),
            (Some(_), None) => "measured".to_string(),
            (Some(_), Some(error)) => format!("fitted{}", plus_minus(error)),
        }
    }
}

fn plus_minus(error: f64) -> String {
    if error.is_finite() { format!(" +-{:.0} %", 100.0 * error) } else { String::new() }
}

impl PointOutcome {
    /// Returns units of work per microsecond; `None` without a clock.
    pub fn units_per_microsecond(&self) -> Option<f64> {
        let (mhz, _) = self.cost.as_ref()?.clock.as_ref()?;
        Some(self.measurement.units_per_kilocycle() / 1000.0 * mhz)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointUsage {
    /// Cycles by class ([`atoms_cosim::usage::CycleClass::key`]). The classes add up to all cycles.
    pub stack: BTreeMap<String, u64>,
    /// Cycles from acceptance of a warp request to its answer, without suspended requests: mean and
    /// percentiles.
    pub latency_mean: Option<f64>,
    pub latency_p50: Option<u64>,
    pub latency_p99: Option<u64>,
    /// Words that the banks served, as a share of the maximum.
    pub bank_utilisation: f64,
    /// Length in cycles of an interval of `served_over_time`.
    pub interval_cycles: u64,
    /// Words served, as `[interval][bank]`.
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
