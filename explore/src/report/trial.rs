//! Report of the measurement of one point, as text and JSON.

use std::fmt::{self, Write as _};

use atoms_cosim::rtl::RtlIdentity;
use atoms_stimulus::configs::parameters;
use atoms_workload::{Workload, WorkloadIdentity};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use thousands::Separable as _;

use crate::calibrate::{GpuProfile, GpuTime};
use crate::certificate::Certificate;
use crate::measure::{Measurement, Trial};

#[derive(Clone, Copy, Debug)]
pub struct TrialReport<'a> {
    pub trial: &'a Trial<'a>,
    /// Implementation that was measured: `lockstep`, `rtl` or `model`.
    pub on: &'static str,
    pub measurement: &'a Measurement,
    pub certificate: Option<&'a Certificate>,
    pub gpu: Option<(&'a GpuProfile, &'a GpuTime)>,
    /// Measured RTL; `None` for a measurement of the model.
    pub rtl: Option<&'a RtlIdentity>,
}

impl<'a> TrialReport<'a> {
    pub fn result(&self) -> ExploreRunResult<'a> {
        let TrialReport { trial, measurement: m, .. } = *self;
        ExploreRunResult {
            workload: trial.workload.identity(),
            config: &trial.config.name,
            parameters: parameters(&trial.config.config),
            seed: trial.seed,
            on: self.on,
            measurement: MeasurementResult {
                counts: m,
                units_per_kilocycle: m.units_per_kilocycle(),
                passes_per_request: m.passes_per_request(),
                retries_per_success: m.retries_per_success(),
            },
            certificate: self.certificate,
            gpu: self.gpu.map(|(profile, time)| GpuResult { time, profile }),
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let TrialReport { trial, measurement: m, .. } = self;
        let identity = trial.workload.identity();
        writeln!(
            text,
            "{} on {}, configuration {}, seed {}: {} units of work in {} cycles",
            identity.name,
            self.on,
            trial.config.name,
            trial.seed,
            grouped(m.units),
            grouped(m.cycles),
        )?;
        writeln!(text, "  unit         {}", identity.unit)?;
        let with = changed_parameters(trial.workload);
        if !with.is_empty() {
            writeln!(text, "  with         {with}")?;
        }
        writeln!(text, "  throughput   {:.1} units per 1,000 cycles", m.units_per_kilocycle())?;
        if let Some((profile, time)) = self.gpu {
            write_time(text, profile, time)?;
        }
        writeln!(
            text,
            "  requests     {}, {} passes ({:.2} per request)",
            grouped(m.requests),
            grouped(m.passes),
            m.passes_per_request()
        )?;
        if let Some(retries) = m.retries_per_success() {
            writeln!(
                text,
                "  retries      {retries:.2} per success, {} of {} tries failed",
                grouped(m.retries),
                grouped(m.tries)
            )?;
        }
        writeln!(
            text,
            "  result       {}",
            match (trial.workload, m.checked) {
                (Workload::Trace { .. }, _) => "faults are as recorded; nothing else of a trace is checked",
                (_, true) => "as expected",
                (_, false) =>
                    "not checked: the launch file states no result (`expect`, docs/launch-files.md)",
            }
        )?;
        match self.certificate {
            Some(_) => writeln!(
                text,
                "  certificate  rtl and model agree in every output and every probe bit of all {} cycles\n               oracle \
             accepts all {} responses and the final memory",
                grouped(m.cycles),
                grouped(m.judged)
            )?,
            None if self.on == "rtl" => {
                writeln!(
                    text,
                    "  oracle       accepts all {} responses and the final memory",
                    grouped(m.judged)
                )?;
            }
            None => writeln!(
                text,
                "  certificate  none: estimate by the model alone; for a certificate, use --on lockstep"
            )?,
        }
        if let Some(rtl) = self.rtl {
            writeln!(text, "  rtl          {rtl}")?;
        }
        Ok(())
    }
}

fn grouped(number: u64) -> String {
    number.separate_with_commas()
}

fn write_time(text: &mut String, profile: &GpuProfile, time: &GpuTime) -> fmt::Result {
    let whole = |cycles: f64| grouped(cycles.round() as u64);
    let (gpu, cycles) = (&profile.gpu, whole(time.cycles));
    let range = time
        .range
        .map_or(", error unknown".to_string(), |(low, high)| format!(" ({} to {})", whole(low), whole(high)));
    writeln!(
        text,
        "  {gpu:<12} about {cycles} cycles of its SM{range}, weakest mark of the figures: {}",
        profile.mark
    )?;
    if !time.outside.is_empty() {
        writeln!(text, "  warning      outside the measurements that the constants are fitted to:")?;
    }
    for outside in &time.outside {
        writeln!(text, "                 {outside}")?;
    }
    if time.range.is_none() {
        writeln!(
            text,
            "  warning      the profile has no standard errors: write it again with `atoms explore calibrate --output`"
        )?;
    }
    Ok(())
}

/// Formats the workload parameters that differ from their defaults, in the syntax of `--with`.
fn changed_parameters(workload: &Workload) -> String {
    let Workload::Generated(generated) = workload else { return String::new() };
    let changed = generated.settings().filter(|(parameter, value)| parameter.default != *value);
    changed.map(|(parameter, value)| format!("{}={value}", parameter.name)).collect::<Vec<_>>().join(",")
}

/// Measurement of a point, for JSON.
#[derive(Serialize, JsonSchema)]
pub struct ExploreRunResult<'a> {
    workload: WorkloadIdentity,
    config: &'a str,
    parameters: Map<String, Value>,
    seed: u64,
    on: &'static str,
    measurement: MeasurementResult<'a>,
    certificate: Option<&'a Certificate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<GpuResult<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct MeasurementResult<'a> {
    #[serde(flatten)]
    counts: &'a Measurement,
    units_per_kilocycle: f64,
    passes_per_request: f64,
    retries_per_success: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct GpuResult<'a> {
    #[serde(flatten)]
    time: &'a GpuTime,
    profile: &'a GpuProfile,
}
