//! Figures of a point: what plots, tables and findings can be about.

use crate::measure::Measurement;

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
    pub of: fn(&Measurement) -> Option<f64>,
}

/// Every figure.
#[rustfmt::skip]
pub const FIGURES: &[Figure] = &[
    Figure { name: "throughput", label: "units of work per 1,000 cycles", about: "Units of work in a thousand cycles, from reset to the last answer.", more_is_better: Some(true), of: |m| Some(m.units_per_kilocycle()) },
    Figure { name: "cycles", label: "cycles", about: "Clock cycles from reset to the last answer.", more_is_better: Some(false), of: |m| Some(m.cycles as f64) },
    Figure { name: "cycles_per_unit", label: "cycles per unit of work", about: "Cycles for a unit of work, of all warps together.", more_is_better: Some(false), of: |m| (m.units > 0).then(|| m.cycles as f64 / m.units as f64) },
    Figure { name: "requests", label: "requests", about: "Requests of warps.", more_is_better: None, of: |m| Some(m.requests as f64) },
    Figure { name: "passes_per_request", label: "passes per request", about: "Passes of a warp request: 1 without conflicts.", more_is_better: Some(false), of: |m| Some(m.passes_per_request()) },
    Figure { name: "retries_per_success", label: "retries per success", about: "How often a lane tried again until it succeeded.", more_is_better: Some(false), of: Measurement::retries_per_success },
];

impl Figure {
    /// The figure called so.
    pub fn named(name: &str) -> Option<&'static Figure> {
        FIGURES.iter().find(|figure| figure.name == name)
    }
}
