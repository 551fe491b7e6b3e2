//! Figures of a point: what plots, tables and findings can be about.

use super::outcome::PointOutcome;

/// A figure of a measured point.
#[derive(Debug)]
pub struct Figure {
    /// Name in sweep files, CSV and JSON.
    pub name: &'static str,
    /// What an axis says, with the unit.
    pub label: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// More is better; nothing where neither is.
    pub more_is_better: Option<bool>,
    /// Of a point; `None` where it has none.
    pub of: fn(&PointOutcome) -> Option<f64>,
}

/// Every figure.
#[rustfmt::skip]
pub const FIGURES: &[Figure] = &[
    Figure { name: "throughput", label: "units of work per 1,000 cycles", about: "Units of work in a thousand cycles, from reset to the last answer.", more_is_better: Some(true), of: |p| Some(p.measurement.units_per_kilocycle()) },
    Figure { name: "cycles", label: "cycles", about: "Clock cycles from reset to the last answer.", more_is_better: Some(false), of: |p| Some(p.measurement.cycles as f64) },
    Figure { name: "cycles_per_unit", label: "cycles per unit of work", about: "Cycles for a unit of work, of all warps together.", more_is_better: Some(false), of: |p| (p.measurement.units > 0).then(|| p.measurement.cycles as f64 / p.measurement.units as f64) },
    Figure { name: "requests", label: "requests", about: "Requests of warps.", more_is_better: None, of: |p| Some(p.measurement.requests as f64) },
    Figure { name: "passes_per_request", label: "passes per request", about: "Passes of a warp request: 1 without conflicts.", more_is_better: Some(false), of: |p| Some(p.measurement.passes_per_request()) },
    Figure { name: "retries_per_success", label: "retries per success", about: "How often a lane tried again until it succeeded.", more_is_better: Some(false), of: |p| p.measurement.retries_per_success() },
    Figure { name: "latency_mean", label: "cycles to the answer, mean", about: "Cycles from acceptance of a request to its answer, without those suspended.", more_is_better: Some(false), of: |p| p.usage.latency_mean },
    Figure { name: "latency_p50", label: "cycles to the answer, median", about: "As above: half of the requests take at most so many.", more_is_better: Some(false), of: |p| p.usage.latency_p50.map(|cycles| cycles as f64) },
    Figure { name: "latency_p99", label: "cycles to the answer, 99 %", about: "As above: 99 of 100 requests take at most so many.", more_is_better: Some(false), of: |p| p.usage.latency_p99.map(|cycles| cycles as f64) },
    Figure { name: "throughput_per_second", label: "million units of work per second", about: "Units of work in a second, at the clock that the slowest path allows in standard cells.", more_is_better: Some(true), of: PointOutcome::units_per_microsecond },
    Figure { name: "area", label: "area in kGE, without memories", about: "Gates and flip-flops of the unit in thousands of gate equivalents (docs/cost.md).", more_is_better: Some(false), of: |p| p.cost.as_ref().map(|cost| cost.area_kge) },
    Figure { name: "area_with_memory", label: "area in kGE, memories at 1 GE a bit", about: "As above, and the memories by an assumption.", more_is_better: Some(false), of: |p| p.cost.as_ref().map(|cost| cost.area_kge + cost.memory_kge) },
    Figure { name: "clock", label: "clock in MHz", about: "What the slowest path allows.", more_is_better: Some(true), of: |p| Some(p.cost.as_ref()?.clock.as_ref()?.0) },
    Figure { name: "bank_utilisation", label: "share of bank cycles used", about: "Words that the banks served, over all that they could.", more_is_better: Some(true), of: |p| Some(p.usage.bank_utilisation) },
];

impl Figure {
    /// It comes from the cost of the unit: a point without one does not have it.
    pub fn needs_cost(&self) -> bool {
        ["throughput_per_second", "area", "area_with_memory", "clock"].contains(&self.name)
    }

    /// The figure called so.
    pub fn named(name: &str) -> Option<&'static Figure> {
        FIGURES.iter().find(|figure| figure.name == name)
    }
}
