//! JSON reports: `summary.json` and the output of `--json`.

use serde::Serialize;

use crate::report::summary::Summary;
use crate::run::timing::Timing;

/// Returns the text of `summary.json`; equal summaries give equal bytes.
pub fn pretty(summary: &Summary) -> String {
    text(summary)
}

/// Result of a regression, as `--json` prints it.
#[derive(Serialize, schemars::JsonSchema)]
pub struct RegressionResult<'a> {
    pub summary: &'a Summary,
    pub timing: &'a Timing,
    /// Path of the HTML report.
    pub page: &'a str,
}

impl RegressionResult<'_> {
    pub fn json(&self) -> String {
        text(self)
    }
}

fn text(value: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(value).expect("keys are strings and nothing fails to serialize");
    text.push('\n');
    text
}
