//! What a point came to.

use std::collections::BTreeMap;

use atoms_cosim::usage::UsageReport;
use serde::{Deserialize, Serialize};

use crate::cost::{FigureOrigin, UnitCost};
use crate::measure::Measurement;

/// Results of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointOutcome {
    pub measurement: Measurement,
    pub usage: PointUsage,
    /// What its unit costs; `None` with [`CostMode::None`](super::CostMode::None).
    pub cost: Option<PointCost>,
}

/// What is kept of a [`UnitCost`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointCost {
    /// Area without memories, in thousands of gate equivalents.
    pub area_kge: f64,
    /// The memories, by the assumption of [`crate::cost::MemoryCost`].
    pub memory_kge: f64,
    /// Share of the area that is fitted, not measured.
    pub area_fitted: f64,
    /// Relative error of the area; `None` if that of a fitted module is unknown.
    pub area_error: Option<f64>,
    /// Clock that the slowest path allows, in MHz, and where that comes from; `None` where the table has too few points.
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
    /// Gives the relative error of a fitted area; `None` if it is measured, infinite if unknown.
    pub fn fitted_area_error(&self) -> Option<f64> {
        (self.area_fitted > 0.0).then(|| self.area_error.unwrap_or(f64::INFINITY))
    }

    /// Gives the relative error of a fitted clock; `None` if it is measured, infinite if unknown.
    pub fn fitted_clock_error(&self) -> Option<f64> {
        match self.clock.as_ref()?.1 {
            FigureOrigin::Fitted { error, .. } => Some(error.unwrap_or(f64::INFINITY)),
            FigureOrigin::Mapped | FigureOrigin::Cached | FigureOrigin::Table => None,
        }
    }

    /// Tells whether the area is measured, or which share is fitted with which error.
    pub fn area_from(&self) -> String {
        match self.fitted_area_error() {
            None => "measured".to_string(),
            Some(error) => format!("{:.0} % fitted{}", 100.0 * self.area_fitted, plus_minus(error)),
        }
    }

    /// Tells whether the clock is measured, or fitted with which error; empty without a clock.
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
    /// Millions of units of work in a second; `None` without a clock.
    pub fn units_per_microsecond(&self) -> Option<f64> {
        let (mhz, _) = self.cost.as_ref()?.clock.as_ref()?;
        Some(self.measurement.units_per_kilocycle() / 1000.0 * mhz)
    }
}

/// What is kept of a [`UsageReport`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointUsage {
    /// Cycles by class ([`atoms_cosim::usage::CycleClass::key`]); they add up to all cycles.
    pub stack: BTreeMap<String, u64>,
    /// Cycles from acceptance of a warp request to its answer, of requests that were not suspended: mean, and percentiles.
    pub latency_mean: Option<f64>,
    pub latency_p50: Option<u64>,
    pub latency_p99: Option<u64>,
    /// Words that the banks served, over all that they could.
    pub bank_utilisation: f64,
    /// Cycles of an interval of `served_over_time`.
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
