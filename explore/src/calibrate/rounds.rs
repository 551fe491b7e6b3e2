//! Equations of measurements. The model runs the workload of each measurement, and a law predicts its time.

use std::collections::HashMap;

use atoms_stimulus::configs::NamedConfig;

use super::counts::RoundCounts;
use super::fit::{Equation, Solution, TooFew, names};
use super::law::{CostLaw, CycleSum, GpuConstant};
use super::measurement::{GpuMeasurement, MeasuredOrder, MeasuredWorkload, Metric};

const SEED: u64 = 1;

/// Cache of counted rounds. The model runs each workload once.
pub(super) struct Rounds<'a> {
    config: &'a NamedConfig,
    known: HashMap<String, Result<Vec<RoundCounts>, String>>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(config: &'a NamedConfig) -> Self {
        Rounds { config, known: HashMap::new() }
    }

    pub(super) fn unit(&self) -> &str {
        &self.config.name
    }

    fn of(&mut self, workload: &MeasuredWorkload) -> Result<Vec<RoundCounts>, String> {
        let config = self.config;
        let count = || {
            workload.parts.iter().map(|part| RoundCounts::of(part, config, SEED)).collect::<Result<_, _>>()
        };
        let known = self.known.entry(workload.text.clone());
        known.or_insert_with(|| count().map_err(|error| error.to_string())).clone()
    }

    /// Returns a measurement as an equation of a law. Atomics of the baseline of a ratio are relaxed.
    pub(super) fn equation(&mut self, row: &GpuMeasurement, law: CostLaw) -> Result<Equation, String> {
        let workload = row.workload.as_ref().ok_or("no generated workload describes this measurement")?;
        let mut sums = |workload: &MeasuredWorkload, order: MeasuredOrder| -> Result<Vec<CycleSum>, String> {
            let cycles = |round: &RoundCounts| {
                let sum = law.round(round, order);
                if row.metric == Metric::Throughput { sum.busy_per(round.units) } else { sum }
            };
            Ok(self.of(workload)?.iter().map(cycles).collect())
        };
        let of = sums(workload, row.order)?;
        let to = row.baseline.as_ref().map(|baseline| sums(baseline, MeasuredOrder::Relaxed)).transpose()?;
        let value = in_cycles(row.metric, row.value);
        Ok(Equation { of, to, value, tolerance: row.tolerance / 100.0 })
    }

    pub(super) fn predicted(
        &mut self,
        row: &GpuMeasurement,
        law: CostLaw,
        fitted: &Result<Solution, TooFew>,
    ) -> Result<f64, String> {
        if let Some(why) = &row.left_out {
            return Err(why.clone());
        }
        if row.metric == Metric::Passes {
            let rule = law.rule().ok_or("the law `queue` does not count passes")?;
            let mut passes = |workload: &Option<MeasuredWorkload>| match workload {
                Some(workload) => Ok::<_, String>(self.of(workload)?[0].passes_per_request(rule)),
                None => Ok(1.0),
            };
            return Ok(passes(&row.workload)? / passes(&row.baseline)?);
        }
        let equation = self.equation(row, law)?;
        if equation.to.is_some() && equation.depends_on().len() == 1 {
            return Ok(in_cycles(row.metric, equation.at(&[1.0; GpuConstant::ALL.len()])));
        }
        let solution = fitted.as_ref().map_err(|_| "too few figures")?;
        let missing: Vec<GpuConstant> = equation
            .depends_on()
            .into_iter()
            .filter(|constant| !solution.fitted.contains(constant))
            .collect();
        if !missing.is_empty() {
            return Err(format!("no fitted figure depends on {}", names(&missing)));
        }
        if !solution.in_cycles && equation.to.is_none() {
            return Err("all fitted figures are ratios, so cycles cannot be predicted".to_string());
        }
        Ok(in_cycles(row.metric, equation.at(&solution.values)))
    }
}

/// Converts a figure to cycles, or to a ratio of cycles. The function is its own inverse.
fn in_cycles(metric: Metric, value: f64) -> f64 {
    match metric {
        Metric::Latency | Metric::Passes => value,
        Metric::Throughput => 1.0 / value,
    }
}
