//! Constants of a GPU as a file, and times computed from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::counts::RoundCounts;
use super::law::{CostLaw, GpuConstant};
use super::measurement::{MeasuredOrder, Provenance};
use crate::least_squares::dot;

/// Constants of a GPU, stored as a TOML file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuProfile {
    pub gpu: String,
    /// Name of the unit configuration that represents the GPU.
    pub unit: String,
    /// Weakest provenance of the fitted measurements.
    pub mark: Provenance,
    /// Unit of the constants: `cycles` of the SM, or a baseline's time if every fitted measurement is a ratio.
    pub counted_in: String,
    /// Root mean square of the relative errors of the fitted measurements; `None` in files of earlier versions.
    pub residual: Option<f64>,
    /// True if some fitted measurement keeps the unit busy in every cycle.
    #[serde(default)]
    pub saturated: bool,
    /// Values of the constants that the measurements determine.
    pub cycles: BTreeMap<GpuConstant, f64>,
    /// Standard error of each constant.
    #[serde(default)]
    pub errors: BTreeMap<GpuConstant, f64>,
    /// Per constant: the largest number of times that a round of a fitted measurement counts the constant.
    #[serde(default)]
    pub largest: BTreeMap<GpuConstant, f64>,
}

/// Predicted time of a workload on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GpuTime {
    /// Cycles of the SM for all rounds.
    pub cycles: f64,
    /// Lowest and highest cycles within one standard error; `None` if the profile is of an earlier version.
    pub range: Option<(f64, f64)>,
    /// Each way in which the workload exceeds the range of the fitted measurements.
    pub outside: Vec<String>,
}

impl GpuProfile {
    /// Reads a profile from the text of a file.
    ///
    /// # Errors
    /// A parser message with line and column.
    pub fn from_text(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    pub fn to_text(&self) -> String {
        let text = toml::to_string(self).expect("names and numbers can be written");
        format!(
            "# Written by `atoms explore calibrate --output`; docs/calibration.md explains the constants.\n{text}"
        )
    }

    /// Predicts the time of all rounds of a workload.
    ///
    /// The range assumes the worst case, in which all constants are off in the same direction, and adds the
    /// error of the law itself.
    ///
    /// # Errors
    /// When a required constant is unknown, or the constants are not in cycles.
    pub fn time(&self, counts: &RoundCounts) -> Result<GpuTime, String> {
        if self.counted_in != "cycles" {
            return Err(format!(
                "the constants of {} are not in cycles, but in {}",
                self.gpu, self.counted_in
            ));
        }
        let round = CostLaw::Unit.round(counts, MeasuredOrder::Relaxed);
        let constants = GpuConstant::ALL.map(|constant| self.cycles.get(&constant).copied());
        let unknown = |constant: &&GpuConstant| {
            round.alone[**constant as usize] > 0.0 && constants[**constant as usize].is_none()
        };
        if let Some(constant) = GpuConstant::ALL.iter().find(unknown) {
            return Err(format!(
                "the workload needs constant `{}` of {}, which is not known",
                constant.name(),
                self.gpu
            ));
        }
        let constants = constants.map(Option::unwrap_or_default);
        let errors = GpuConstant::ALL.map(|constant| self.errors.get(&constant).copied().unwrap_or_default());
        let round_counts = round.at(&constants);
        let cycles = counts.rounds * dot(round_counts, &constants);
        let range = self.residual.map(|residual| {
            let error = (counts.rounds * dot(round_counts, &errors)).hypot(residual * cycles);
            ((cycles - error).max(0.0), cycles + error)
        });
        let outside = if self.residual.is_none() {
            Vec::new()
        } else if round.is_saturated(&constants) {
            let never = "warps keep the unit busy in every cycle, as in no fitted measurement";
            (!self.saturated).then(|| never.to_string()).into_iter().collect()
        } else {
            GpuConstant::ALL.iter().filter_map(|constant| self.beyond(*constant, round_counts)).collect()
        };
        Ok(GpuTime { cycles, range, outside })
    }

    fn beyond(&self, constant: GpuConstant, round_counts: &[f64]) -> Option<String> {
        let (count, most) = (round_counts[constant as usize], *self.largest.get(&constant)?);
        // Counts are means, so equal counts may differ by rounding.
        (count > most * 1.001).then(|| {
            format!(
                "`{}` counts {count:.1} times in a round, in measurements at most {most:.1}",
                constant.name()
            )
        })
    }
}
