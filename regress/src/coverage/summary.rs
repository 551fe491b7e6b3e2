//! Coverage figures of reports.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use atoms_coverage::bin_name;

/// Functional coverage, over the bins that at least one configuration of the plan can hit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Coverage")]
pub struct FunctionalCoverage {
    /// Number of bins that the plan can hit.
    pub bins: u64,
    /// Number of bins hit.
    pub hit: u64,
    /// Number of bins that were not hit and are waived.
    pub waived: u64,
    /// Coverage of each group, in the order of `docs/coverage.md`.
    pub groups: Vec<GroupCoverage>,
    /// Result of the coverage gate; absent without a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// Coverage of one group of bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GroupCoverage {
    /// Name of the coverage group.
    pub name: String,
    /// Reason for crossing these dimensions.
    pub reason: String,
    /// Clause of the specification that the group covers.
    pub clause: String,
    /// Dimensions, slowest first, with the names of their values.
    pub dimensions: Vec<(String, Vec<String>)>,
    /// Number of bins that at least one configuration of the plan can hit.
    pub bins: u64,
    /// Number of bins hit.
    pub hit: u64,
    /// Number of bins that were not hit and are waived.
    pub waived: u64,
    /// Hits of each combination of values, last dimension fastest; `null` if the combination is not a bin.
    pub counts: Vec<Option<u32>>,
    /// Waived bins that were not hit, as indices into `counts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaivedPlaces>,
}

impl FunctionalCoverage {
    /// Writes the coverage in the YAML form of cocotb-coverage: one item for each group.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn cocotb_yaml(&self, out: &mut impl Write) -> io::Result<()> {
        let share = |hit: u64, bins: u64| 100.0 * hit as f64 / bins.max(1) as f64;
        let item = |out: &mut dyn Write, name: &str, hit: u64, bins: u64, kind: &str| {
            writeln!(out, "{name}:\n  type: <class 'cocotb_coverage.coverage.{kind}'>\n  size: {bins}")?;
            writeln!(out, "  coverage: {hit}\n  cover_percentage: {:.2}", share(hit, bins))
        };
        item(out, "atoms", self.hit, self.bins, "CoverItem")?;
        for group in &self.groups {
            item(out, &format!("atoms.{}", group.name), group.hit, group.bins, "CoverPoint")?;
            writeln!(out, "  weight: 1\n  at_least: 1\n  bins:_hits:")?;
            for (at, hits) in group.counts.iter().enumerate().filter_map(|(at, hits)| Some((at, (*hits)?))) {
                // A name between quotation marks is the same in JSON and YAML.
                let name = serde_json::to_string(&group.bin_name(at).unwrap_or_default())?;
                writeln!(out, "    {name}: {hits}")?;
            }
        }
        Ok(())
    }
}

impl GroupCoverage {
    /// Returns the number of bins that are neither hit nor waived.
    pub fn missing(&self) -> u64 {
        self.bins.saturating_sub(self.hit).saturating_sub(self.waived)
    }

    pub fn bin_name(&self, at: usize) -> Option<String> {
        bin_name(&self.name, self.dimensions.iter().map(|(_, values)| values.as_slice()), at)
    }
}

/// Bins or lines waived for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Waiver")]
pub struct WaivedPlaces {
    /// Reason of the waiver.
    pub reason: String,
    /// Indices of bins or line numbers, in ascending order.
    pub places: Vec<u32>,
}

/// Result of the coverage gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Gate {
    /// True if every bin, and every measured line and cover property, is hit or waived.
    pub passed: bool,
    /// Names of bins, lines and cover properties that are neither hit nor waived.
    pub missing: Vec<String>,
    /// Waivers to remove from the list, because their target was hit or does not exist.
    pub stale: Vec<String>,
}

/// Coverage of the RTL sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "RtlCoverage")]
pub struct RtlCoverageSummary {
    /// Coverage of each source file.
    pub files: Vec<FileCoverage>,
    /// Name with module and hit count of each cover property.
    pub covers: Vec<(String, u64)>,
    /// Name with module of each cover property that was never hit and is waived, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived_covers: Vec<(String, String)>,
}

/// Line and toggle coverage of one source file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileCoverage {
    /// File name in `rtl/`.
    pub name: String,
    /// Line number, and count of the least executed point on the line.
    pub lines: Vec<(u32, u64)>,
    /// Number of toggle points, and of those that changed in both directions; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toggles: Option<(u64, u64)>,
    /// Waived lines that never ran, by line number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaivedPlaces>,
}

impl FileCoverage {
    pub fn hit(&self) -> u64 {
        self.lines.iter().filter(|(_, count)| *count > 0).count() as u64
    }

    /// Returns the number of lines that never ran and are waived.
    pub fn waived(&self) -> u64 {
        let never = self.lines.iter().filter(|(_, count)| *count == 0);
        never.filter(|(line, _)| self.waiver(*line).is_some()).count() as u64
    }

    /// Returns the number of lines that never ran and are not waived.
    pub fn missing(&self) -> u64 {
        (self.lines.len() as u64).saturating_sub(self.hit()).saturating_sub(self.waived())
    }

    pub fn waiver(&self, line: u32) -> Option<&str> {
        let waiver = self.waivers.iter().find(|waiver| waiver.places.contains(&line))?;
        Some(&waiver.reason)
    }
}
