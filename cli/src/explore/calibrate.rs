//! `atoms explore calibrate`: fits constants of GPUs to measurements.

use std::fs::File;
use std::path::Path;

use atoms_cosim::embedded::rtl_dir;
use atoms_explore::calibrate::{Calibration, GpuProfile, calibrate, published, read_measurements};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::explore::CalibrateArgs;
use crate::args::point;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{outln, print_json};

#[derive(Serialize, JsonSchema)]
pub(crate) struct CalibrateResult<'a> {
    calibrations: &'a [Calibration],
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<Verdict, CliError> {
    let mut files = machine::files();
    if let Some(file) = &args.file {
        files.reads("the measurements", file);
    }
    if let Some(out) = &args.out {
        files.writes("--output", out);
    }
    files.check()?;
    let mut measurements = match &args.file {
        None => published(),
        Some(path) => read_measurements(File::open(path).map_err(CliError::reading(path))?)
            .map_err(|error| message!("`{}`: {error}", path.display()))?,
    };
    if let Some(gpu) = &args.gpu {
        let mut known: Vec<_> = measurements.iter().map(|one| one.gpu.clone()).collect();
        measurements.retain(|one| one.gpu == *gpu);
        known.dedup();
        if measurements.is_empty() {
            return Err(message!(
                "no measurement is of GPU `{gpu}`; there are measurements of {}",
                known.join(", ")
            ));
        }
    }
    let config = args.config.as_ref().map(|config| machine::config(&point(config, &args.set))).transpose()?;
    let found = calibrate(&measurements, &rtl_dir(), config.as_ref())?;
    if let (Some(path), true) = (&args.file, found.iter().all(|one| one.constants.is_empty())) {
        let why = found.iter().find_map(|one| one.too_few.as_deref());
        let why = why.unwrap_or("no measurement of latency or throughput has `fit` in column `use`");
        return Err(message!("`{}`: {why}", path.display()));
    }
    if let Some(out) = &args.out {
        write(out, &found)?;
    }
    if args.json {
        print_json(&CalibrateResult { calibrations: &found })?;
        return Ok(Verdict::Agree);
    }
    for (at, one) in found.iter().enumerate() {
        outln!("{}{}", if at == 0 { "" } else { "\n" }, one.to_string().trim_end())?;
    }
    Ok(Verdict::Agree)
}

fn write(out: &Path, found: &[Calibration]) -> Result<(), CliError> {
    let [one] = found else {
        let gpus: Vec<_> = found.iter().map(|one| &one.gpu[..]).collect();
        return Err(message!("--output is for one GPU, not for {}; choose one with --gpu", gpus.join(", ")));
    };
    std::fs::write(out, one.profile().to_text()).map_err(CliError::writing(out))
}

/// Loads the constants of `--gpu`: an output file of `atoms explore calibrate`, or published figures.
pub(crate) fn profile(name: &str) -> Result<GpuProfile, CliError> {
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") {
        let text = std::fs::read_to_string(path).map_err(CliError::reading(path))?;
        return GpuProfile::from_text(&text).map_err(|error| message!("`{name}`: {error}"));
    }
    let mut measurements = published();
    measurements.retain(|one| one.gpu == name);
    let found = calibrate(&measurements, &rtl_dir(), None)?;
    let known = || "`atoms explore calibrate` lists the GPUs with published figures; for another GPU, give a FILE.toml of its --output";
    match &found[..] {
        [one] if !one.constants.is_empty() => Ok(one.profile()),
        [one] => Err(message!(
            "{name}: {}; {}",
            one.too_few.as_deref().unwrap_or("no constant can be fitted to its published figures"),
            known()
        )),
        _ => Err(message!("no GPU `{name}`; {}", known())),
    }
}
