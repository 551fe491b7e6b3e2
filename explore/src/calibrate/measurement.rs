//! Table of measurements of GPUs. Each row is a figure with its source and provenance.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use atoms_workload::{Generated, WorkloadValue};

const PUBLISHED: &str = include_str!("../../data/silicon.csv");

/// Quantity that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Metric: SM cycles per round, in which each warp completes one unit of work. Rounds do not overlap.
    Latency,
    /// Metric: lane operations per SM cycle, with enough requests in flight to saturate the unit.
    Throughput,
    /// Metric: number of passes per request.
    Passes,
}

impl Metric {
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Latency => "cycles",
            Metric::Throughput => "lanes/cycle",
            Metric::Passes => "passes",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureUse {
    /// Use: constants are fitted to the figure.
    #[default]
    Fit,
    /// Use: the figure is compared with the prediction, but no constant is fitted to it.
    Compare,
}

/// Provenance of a figure.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum Provenance {
    /// Source: measured for this table, or read in the source itself.
    #[default]
    S,
    /// Inferred from figures of class `S`.
    I,
    /// Abstract: read only in an abstract or a summary.
    A,
    /// Remembered: the source was not found. Do not rely on it.
    R,
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Memory order of the atomics of a workload. The scope is the CTA, except where the name ends in `gpu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum MeasuredOrder {
    #[default]
    #[serde(rename = "relaxed")]
    Relaxed,
    #[serde(rename = "acquire")]
    Acquire,
    #[serde(rename = "release")]
    Release,
    #[serde(rename = "acq_rel")]
    AcquireRelease,
    #[serde(rename = "release.gpu")]
    ReleaseGpu,
    #[serde(rename = "acq_rel.gpu")]
    AcquireReleaseGpu,
}

/// Sequence of workloads that each warp runs in one round.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(into = "String")]
pub struct MeasuredWorkload {
    /// Text in the table, such as `contend op=mbar.arrive + contend op=mbar.test_wait`.
    pub text: String,
    #[schemars(skip)]
    pub parts: Vec<Generated>,
}

/// Default parameters of a measured workload: one warp, and enough rounds for a steady state.
const DEFAULTS: [(&str, &str); 2] = [("warps", "1"), ("units", "16")];

impl MeasuredWorkload {
    /// Parses the text of a table cell: generated workloads, separated by ` + `.
    ///
    /// # Errors
    /// A message if a workload or a parameter is unknown or malformed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split(" + ").map(|part| {
            let mut words = part.split_whitespace();
            let name = words.next().ok_or("expected a workload, such as `contend op=cas contention=8`")?;
            let mut generated = Generated::named(name).map_err(|error| error.to_string())?;
            let stated = words.map(|word| {
                word.split_once('=').ok_or(format!("`{word}`: expected NAME=VALUE, such as op=cas"))
            });
            let stated = stated.collect::<Result<Vec<_>, String>>()?;
            for (name, value) in DEFAULTS {
                generated.set(name, value).map_err(|error| error.to_string())?;
            }
            generated.set_all(stated).map_err(|error| error.to_string())?;
            Ok(generated)
        });
        Ok(MeasuredWorkload { text: text.to_string(), parts: parts.collect::<Result<_, String>>()? })
    }
}

impl From<MeasuredWorkload> for String {
    fn from(workload: MeasuredWorkload) -> Self {
        workload.text
    }
}

/// Returns the value of a parameter that is a whole number; 1 if the workload has no such parameter.
pub(super) fn whole(workload: &Generated, name: &str) -> u32 {
    let found = workload.settings().find(|(parameter, _)| parameter.name == name);
    match found {
        Some((_, WorkloadValue::Whole(value))) => value,
        _ => 1,
    }
}

/// A measured figure of a GPU.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct GpuMeasurement {
    /// Line number of the measurement in the CSV table.
    pub line: u64,
    pub figure: String,
    pub gpu: String,
    /// Number of the statement in `docs/calibration.md` that the figure belongs to.
    pub anchor: Option<u32>,
    /// Measured workload; `None` if no generated workload describes it.
    pub workload: Option<MeasuredWorkload>,
    pub order: MeasuredOrder,
    pub metric: Metric,
    /// Workload whose figure is the divisor if `value` is a ratio; `None` otherwise.
    pub baseline: Option<MeasuredWorkload>,
    /// Value in the unit of the metric, or a ratio.
    pub value: f64,
    /// Expected error in percent.
    pub tolerance: f64,
    #[serde(rename = "use")]
    pub purpose: FigureUse,
    /// Provenance of the figure.
    pub mark: Provenance,
    /// Confidence that the figure describes the workload: `high`, `mid`, `low` or empty.
    pub confidence: String,
    pub source: String,
    /// Reason why the figure is not used; `None` if the figure is used.
    pub left_out: Option<String>,
}

impl GpuMeasurement {
    pub(super) fn is_fitted(&self) -> bool {
        self.purpose == FigureUse::Fit && self.left_out.is_none() && self.metric != Metric::Passes
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MeasurementError {
    #[error("column `{0}` is missing; required columns: {required}; optional columns: {optional}",
        required = REQUIRED.join(", "), optional = OPTIONAL.join(", "))]
    NoColumn(&'static str),
    #[error("column `{0}` is unknown; known columns: {required}, {optional}",
        required = REQUIRED.join(", "), optional = OPTIONAL.join(", "))]
    UnknownColumn(String),
    #[error("line {0}: {1}")]
    Row(u64, String),
    #[error("the file has no measurement; add a line per measurement after the column names")]
    Empty,
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

const REQUIRED: [&str; 3] = ["workload", "metric", "value"];
const OPTIONAL: [&str; 11] = [
    "figure",
    "gpu",
    "anchor",
    "order",
    "baseline",
    "tolerance",
    "use",
    "mark",
    "confidence",
    "source",
    "left_out",
];

/// One row of the CSV table. A field is `None` if its column is empty or missing.
#[derive(Debug, Deserialize)]
struct Row {
    figure: Option<String>,
    gpu: Option<String>,
    anchor: Option<u32>,
    workload: Option<String>,
    order: Option<MeasuredOrder>,
    metric: Metric,
    baseline: Option<String>,
    value: f64,
    tolerance: Option<f64>,
    #[serde(rename = "use")]
    purpose: Option<FigureUse>,
    mark: Option<Provenance>,
    confidence: Option<String>,
    source: Option<String>,
    left_out: Option<String>,
}

const LEAST: f64 = 1e-6;
const MOST: f64 = 1e9;

/// Default tolerance of a measurement, in percent.
const TOLERANCE: f64 = 5.0;

impl Row {
    fn measurement(self, line: u64) -> Result<GpuMeasurement, String> {
        let workload = |text: Option<String>| text.map(|text| MeasuredWorkload::parse(&text)).transpose();
        let within = |name: &str, value: f64| match (LEAST..=MOST).contains(&value) {
            true => Ok(value),
            false => Err(format!("{name} is {value}: expected {LEAST} to {MOST}")),
        };
        let measured = workload(self.workload)?;
        if measured.is_none() && self.left_out.is_none() {
            return Err("expected a `workload`, or a reason in `left_out`".to_string());
        }
        let baseline = workload(self.baseline)?;
        for workload in measured.iter().chain(&baseline) {
            if workload.parts.len() > 1 && self.metric != Metric::Latency {
                return Err(format!("`{}`: a sequence of workloads needs metric `latency`", workload.text));
            }
        }
        Ok(GpuMeasurement {
            line,
            figure: self.figure.unwrap_or_else(|| format!("line {line}")),
            gpu: self.gpu.unwrap_or_else(|| "gpu".to_string()),
            anchor: self.anchor,
            workload: measured,
            order: self.order.unwrap_or_default(),
            metric: self.metric,
            baseline,
            value: within("value", self.value)?,
            tolerance: within("tolerance", self.tolerance.unwrap_or(TOLERANCE))?,
            purpose: self.purpose.unwrap_or_default(),
            mark: self.mark.unwrap_or_default(),
            confidence: self.confidence.unwrap_or_default(),
            source: self.source.unwrap_or_default(),
            left_out: self.left_out,
        })
    }
}

pub fn published() -> Vec<GpuMeasurement> {
    read_measurements(PUBLISHED.as_bytes()).expect("a test reads the committed table")
}

/// Reads a table of measurements in CSV, with column names in the first line.
///
/// # Errors
/// [`MeasurementError`] with the line.
pub fn read_measurements(text: impl io::Read) -> Result<Vec<GpuMeasurement>, MeasurementError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text);
    let header = reader.headers()?.clone();
    if let Some(missing) = REQUIRED.iter().find(|name| !header.iter().any(|column| column == **name)) {
        return Err(MeasurementError::NoColumn(missing));
    }
    let known = |column: &&str| REQUIRED.contains(column) || OPTIONAL.contains(column);
    if let Some(unknown) = header.iter().find(|column| !known(column)) {
        return Err(MeasurementError::UnknownColumn(unknown.to_string()));
    }
    let mut found = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let row: Row = record.deserialize(Some(&header)).map_err(|error| match error.kind() {
            // For an unknown enum value, serde reports the value but not the column.
            csv::ErrorKind::Deserialize { err, .. } => match err.field().map(|at| at as usize) {
                Some(at) => {
                    let (column, value) = (header.get(at).unwrap_or(""), record.get(at).unwrap_or(""));
                    MeasurementError::Row(line, format!("{column} is `{value}`: {}", err.kind()))
                }
                None => MeasurementError::Row(line, err.kind().to_string()),
            },
            _ => MeasurementError::Csv(error),
        })?;
        found.push(row.measurement(line).map_err(|why| MeasurementError::Row(line, why))?);
    }
    if found.is_empty() { Err(MeasurementError::Empty) } else { Ok(found) }
}
