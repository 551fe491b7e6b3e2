//! Figures of a point, for plots, tables and findings.

use super::outcome::PointOutcome;

#[derive(Debug)]
pub struct Figure {
    pub name: &'static str,
    pub label: &'static str,
    pub about: &'static str,
    /// True if more is better, false if less is better; `None` if neither, so that the figure is never
    /// ranked.
    pub more_is_better: Option<bool>,
    pub of: fn(&PointOutcome) -> Option<f64>,
    /// Part of the cost that the figure depends on; `None` for measured figures.
    pub from: Option<CostPart>,
}

#[derive(Clone, Copy, Debug)]
pub enum CostPart {
    Area,
    Clock,
}

#[rustfmt::skip]
pub const FIGURES: &[Figure] = &[
    Figure { name: "throughput", label: "units of work per 1,000 cycles", about: "Units of work per 1,000 cycles, from reset to the last answer.", more_is_better: Some(true), of: |p| Some(p.measurement.units_per_kilocycle()), from: None },
    Figure { name: "cycles", label: "cycles", about: "Clock cycles from reset to the last answer.", more_is_better: Some(false), of: |p| Some(p.measurement.cycles as f64), from: None },
    Figure { name: "cycles_per_unit", label: "cycles per unit of work", about: "Clock cycles divided by the units of work of all warps.", more_is_better: Some(false), of: |p| (p.measurement.units > 0).then(|| p.measurement.cycles as f64 / p.measurement.units as f64), from: None },
    Figure { name: "requests", label: "requests", about: "Number of requests of all warps.", more_is_better: None, of: |p| Some(p.measurement.requests as f64), from: None },
    Figure { name: "passes_per_request", label: "passes per request", about: "Mean number of passes per warp request: 1 without conflicts.", more_is_better: Some(false), of: |p| Some(p.measurement.passes_per_request()), from: None },
    Figure { name: "retries_per_success", label: "retries per success", about: "Failed attempts of lanes per successful attempt.", more_is_better: Some(false), of: |p| p.measurement.retries_per_success(), from: None },
    Figure { name: "latency_mean", label: "cycles to the answer, mean", about: "Mean cycles from acceptance of a request to its answer, without suspended requests.", more_is_better: Some(false), of: |p| p.usage.latency_mean, from: None },
    Figure { name: "latency_p50", label: "cycles to the answer, median", about: "Median cycles from acceptance of a request to its answer, without suspended requests.", more_is_better: Some(false), of: |p| p.usage.latency_p50.map(|cycles| cycles as f64), from: None },
    Figure { name: "latency_p99", label: "cycles to the answer, 99 %", about: "99 % of the requests get their answer within this many cycles of acceptance; without suspended requests.", more_is_better: Some(false), of: |p| p.usage.latency_p99.map(|cycles| cycles as f64), from: None },
    Figure { name: "throughput_per_second", label: "million units of work per second", about: "Millions of units of work per second, at the maximum clock frequency of the unit in standard cells.", more_is_better: Some(true), of: PointOutcome::units_per_microsecond, from: Some(CostPart::Clock) },
    Figure { name: "area", label: "area in kGE, without memories", about: "Gates and flip-flops of the unit in thousands of gate equivalents (docs/cost.md).", more_is_better: Some(false), of: |p| p.cost.as_ref().map(|cost| cost.area_kge), from: Some(CostPart::Area) },
    Figure { name: "area_with_memory", label: "area in kGE, memories at 1 GE a bit", about: "Area of gates and flip-flops, plus an assumed 1 gate equivalent per bit of memory, in thousands of gate equivalents.", more_is_better: Some(false), of: |p| p.cost.as_ref().map(|cost| cost.area_kge + cost.memory_kge), from: Some(CostPart::Area) },
    Figure { name: "clock", label: "clock in MHz", about: "Maximum clock frequency that the slowest path of the unit allows.", more_is_better: Some(true), of: |p| Some(p.cost.as_ref()?.clock.as_ref()?.0), from: Some(CostPart::Clock) },
    Figure { name: "bank_utilisation", label: "share of bank cycles used", about: "Words that the banks served, divided by the maximum possible: one word per bank and cycle.", more_is_better: Some(true), of: |p| Some(p.usage.bank_utilisation), from: None },
];

impl Figure {
    /// Returns the relative error of a fitted value; `None` if the value is measured. An unknown error is
    /// infinite.
    pub fn fitted_error(&self, point: &PointOutcome) -> Option<f64> {
        let cost = point.cost.as_ref()?;
        match self.from? {
            CostPart::Area => cost.fitted_area_error(),
            CostPart::Clock => cost.fitted_clock_error(),
        }
    }

    pub(crate) fn value(&self, point: &PointOutcome) -> Option<FigureValue> {
        let (value, error) = ((self.of)(point)?, self.fitted_error(point).unwrap_or(0.0));
        Some(FigureValue { value, error, more_is_better: self.more_is_better == Some(true) })
    }

    pub fn named(name: &str) -> Option<&'static Figure> {
        FIGURES.iter().find(|figure| figure.name == name)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FigureValue {
    pub(crate) value: f64,
    /// Relative error: 0 for a measured value, infinite if unknown.
    pub(crate) error: f64,
    pub(crate) more_is_better: bool,
}

impl FigureValue {
    /// Compares the values without their errors.
    pub(crate) fn is_better(&self, other: &FigureValue) -> bool {
        if self.more_is_better { self.value > other.value } else { self.value < other.value }
    }

    /// True if the value is better even if both values are off by their errors.
    pub(crate) fn leads(&self, other: &FigureValue) -> bool {
        let low = |one: &FigureValue| one.value * (1.0 - one.error);
        let high = |one: &FigureValue| one.value * (1.0 + one.error);
        if self.more_is_better { low(self) > high(other) } else { high(self) < low(other) }
    }
}
