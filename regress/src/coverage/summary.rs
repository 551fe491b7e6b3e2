//! What was covered, as reports have it.

use serde::{Deserialize, Serialize};

use atoms_coverage::bin_name;

/// Functional coverage: bins that some configuration of the plan can hit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Coverage")]
pub struct FunctionalCoverage {
    /// Bins.
    pub bins: u64,
    /// Of them, those hit.
    pub hit: u64,
    /// Of those not hit, those that a waiver excuses.
    pub waived: u64,
    /// By group, in the order of `docs/coverage.md`.
    pub groups: Vec<GroupCoverage>,
    /// What the gate says, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// Coverage of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GroupCoverage {
    /// Name of the group.
    pub name: String,
    /// Why its dimensions are crossed.
    pub reason: String,
    /// Clause of the specification.
    pub clause: String,
    /// Dimensions, slowest first, with the names of their values.
    pub dimensions: Vec<(String, Vec<String>)>,
    /// Bins that some configuration of the plan can hit.
    pub bins: u64,
    /// Of them, those hit.
    pub hit: u64,
    /// Of those not hit, those waived.
    pub waived: u64,
    /// Hits of each combination of values, the last dimension fastest; none where there is no bin.
    pub counts: Vec<Option<u32>>,
    /// What is waived among the bins not hit: places in `counts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaivedPlaces>,
}

impl GroupCoverage {
    /// Bins that nothing hit and no waiver excuses.
    pub fn missing(&self) -> u64 {
        self.bins.saturating_sub(self.hit).saturating_sub(self.waived)
    }

    /// The name of the bin at a place in `counts`.
    pub fn bin_name(&self, at: usize) -> Option<String> {
        bin_name(&self.name, self.dimensions.iter().map(|(_, values)| values.as_slice()), at)
    }
}

/// Places that one reason excuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Waiver")]
pub struct WaivedPlaces {
    /// Why nothing needs to hit them.
    pub reason: String,
    /// Which they are, in ascending order.
    pub places: Vec<u32>,
}

/// Whether coverage suffices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Gate {
    /// Whether it does.
    pub passed: bool,
    /// Names of bins neither hit nor waived, and lines and cover properties of the RTL likewise.
    pub missing: Vec<String>,
    /// Waivers of what was hit all the same, or of what does not exist: to be taken out of the list.
    pub stale: Vec<String>,
}

/// Coverage of the RTL's source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "RtlCoverage")]
pub struct RtlCoverageSummary {
    /// By file.
    pub files: Vec<FileCoverage>,
    /// Cover properties: name with module, and how often each held.
    pub covers: Vec<(String, u64)>,
    /// Cover properties that never held and are waived: name with module, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived_covers: Vec<(String, String)>,
}

/// Coverage of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileCoverage {
    /// Name, as in `rtl/`.
    pub name: String,
    /// Line number and how often its least frequent point ran.
    pub lines: Vec<(u32, u64)>,
    /// Toggle points, and those of them that went both ways; absent unless measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toggles: Option<(u64, u64)>,
    /// What is waived among the lines that never ran: line numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaivedPlaces>,
}

impl FileCoverage {
    /// Lines that ran.
    pub fn hit(&self) -> u64 {
        self.lines.iter().filter(|(_, count)| *count > 0).count() as u64
    }

    /// Lines that never ran, and are waived.
    pub fn waived(&self) -> u64 {
        let never = self.lines.iter().filter(|(_, count)| *count == 0);
        never.filter(|(line, _)| self.waiver(*line).is_some()).count() as u64
    }

    /// Lines that never ran and that no waiver excuses.
    pub fn missing(&self) -> u64 {
        (self.lines.len() as u64).saturating_sub(self.hit()).saturating_sub(self.waived())
    }

    /// Why a line need not run, if it is waived.
    pub fn waiver(&self, line: u32) -> Option<&str> {
        let waiver = self.waivers.iter().find(|waiver| waiver.places.contains(&line))?;
        Some(&waiver.reason)
    }
}
