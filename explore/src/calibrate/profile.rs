//! Constants of a GPU as a file, and times that follow from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::counts::RoundCounts;
use super::law::{CostLaw, GpuConstant};
use super::measurement::{MeasuredOrder, Provenance};
use crate::least_squares::dot;

/// Constants of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuProfile {
    /// The GPU.
    pub gpu: String,
    /// Configuration of the unit that stands for it.
    pub unit: String,
    /// The least that is known of where a figure comes from that they are fitted to.
    pub mark: Provenance,
    /// What the constants are counted in: `cycles` of the SM, unless they were fitted to ratios alone.
    pub counted_in: String,
    /// The constants that are known.
    pub cycles: BTreeMap<GpuConstant, f64>,
}

impl GpuProfile {
    /// The profile in a file.
    ///
    /// # Errors
    /// What is wrong, with line and column.
    pub fn from_text(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The profile as a file.
    pub fn to_text(&self) -> String {
        let text = toml::to_string(self).expect("names and numbers can be written");
        format!(
            "# Written by `atoms explore calibrate --out`; docs/calibration.md says what the constants are.\n{text}"
        )
    }

    /// Cycles of the SM for all rounds of a workload.
    ///
    /// # Errors
    /// When constants that it depends on are not known, or are no cycles.
    pub fn cycles(&self, counts: &RoundCounts) -> Result<f64, String> {
        if self.counted_in != "cycles" {
            return Err(format!("the constants of {} are in {}", self.gpu, self.counted_in));
        }
        let round = CostLaw::Unit.round(counts, MeasuredOrder::Relaxed);
        let constants = GpuConstant::ALL.map(|constant| self.cycles.get(&constant).copied());
        let unknown = |constant: &&GpuConstant| {
            round.alone[**constant as usize] > 0.0 && constants[**constant as usize].is_none()
        };
        if let Some(constant) = GpuConstant::ALL.iter().find(unknown) {
            return Err(format!("`{}` of {} is not known, and it counts here", constant.name(), self.gpu));
        }
        let constants = constants.map(Option::unwrap_or_default);
        Ok(counts.rounds * dot(round.at(&constants), &constants))
    }
}
