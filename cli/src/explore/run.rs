//! `atoms explore run`: measures one point.

use std::path::Path;

use atoms_cosim::internals::Depth;
use atoms_cosim::machine::Failure;
use atoms_cosim::rtl::RtlIdentity;
use atoms_explore::calibrate::{GpuProfile, GpuTime, RoundCounts};
use atoms_explore::certificate::{Certificate, certify};
use atoms_explore::measure::{
    Behind, Judging, Measurement, Trial, TrialError, TrialLimits, estimate, measure,
};
use atoms_explore::report::TrialReport;
use atoms_isa::Program;
use atoms_run::kernel::source::{self, Wanted};
use atoms_sm::Launch;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::hash;
use atoms_workload::{GENERATED, Gaps, Generated, KernelWorkload, Replay, Workload};
use schemars::JsonSchema;
use serde::Serialize;

use super::calibrate;
use crate::args::On;
use crate::args::explore::{ExploreRunArgs, TraceGaps};
use crate::files::Files;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::interrupt;
use crate::output::{out, outln, print_json};

pub(crate) fn run(args: &ExploreRunArgs) -> Result<Verdict, CliError> {
    let mut files = machine::files();
    let workload = workload(args, &mut files)?;
    files.check()?;
    let config = machine::config(&args.point.name())?;
    let limits = TrialLimits {
        cycles: args.until,
        watchdog_cycles: args.patience,
        interrupt: Some(interrupt::seen()),
    };
    let trial = Trial { config: &config, workload: &workload, seed: args.seed, limits };
    match on(args, &trial)? {
        Ok((measurement, certificate)) => {
            let time = args.gpu.as_ref().map(|gpu| time(gpu, &trial)).transpose()?;
            let report = TrialReport {
                trial: &trial,
                on: args.on.name(),
                measurement: &measurement,
                certificate: certificate.as_ref(),
                gpu: time.as_ref().map(|(profile, time)| (profile, time)),
                rtl: machine::rtl_used(),
            };
            if args.json {
                print_json(&report.result())?;
            } else {
                out!("{}", report.text())?;
            }
            Ok(Verdict::Agree)
        }
        Err(TrialError::Run(Failure::Interrupted(_))) => Ok(Verdict::Interrupted),
        Err(error) if error.is_finding() => {
            print_finding(args, &config, &error)?;
            Ok(Verdict::Disagree)
        }
        Err(error) => Err(error.into()),
    }
}

/// Measurement, with a certificate if it ran in lockstep.
type Measured = Result<(Measurement, Option<Certificate>), TrialError>;

fn on(args: &ExploreRunArgs, trial: &Trial<'_>) -> Result<Measured, CliError> {
    Ok(match args.on {
        On::Model => estimate(trial).map(|measurement| (measurement, None)),
        On::Rtl => {
            let library = machine::library(trial.config, Depth::Ports)?;
            let (measured, ()) = measure(trial, Behind::Rtl(&library), Judging::Yes, ());
            measured.map(|measurement| (measurement, None))
        }
        On::Lockstep => {
            let library = machine::library(trial.config, Depth::Ports)?;
            let rtl = machine::rtl_used().ok_or_else(|| message!("no RTL was used"))?;
            certify(trial, &library, rtl).map(|certificate| (certificate.measurement, Some(certificate)))
        }
    })
}

fn time(gpu: &str, trial: &Trial<'_>) -> Result<(GpuProfile, GpuTime), CliError> {
    let Workload::Generated(generated) = trial.workload else {
        return Err(message!("--gpu is for a generated workload"));
    };
    let profile = calibrate::profile(gpu)?;
    let counts = RoundCounts::of(generated, trial.config, trial.seed)?;
    let time = profile.time(&counts).map_err(CliError::message)?;
    Ok((profile, time))
}

fn workload(args: &ExploreRunArgs, files: &mut Files) -> Result<Workload, CliError> {
    let path = Path::new(&args.workload);
    let generated = GENERATED.iter().any(|kind| kind.name == args.workload);
    let trace = path.extension().is_some_and(|ending| ending == "jsonl");
    let meant = |option: &str, what: &str, given: bool| {
        let message = format!("{option} is for {what}, but `{}` is not {what}", args.workload);
        if given { Err(CliError::message(message)) } else { Ok(()) }
    };
    let is_file = trace || args.launch.is_some() || path.exists();
    meant("--launch", "a kernel", args.launch.is_some() && (generated || trace))?;
    meant("--gaps", "a recorded trace", args.gaps.is_some() && !trace)?;
    meant("--with", "a generated workload", !args.with.is_empty() && is_file && !generated)?;
    if generated || !is_file {
        return self::generated(args);
    }
    files.reads("the workload", path);
    if trace {
        let text = std::fs::read(path).map_err(CliError::reading(path))?;
        let replay = Replay::read(&text[..]).map_err(|error| message!("`{}`: {error}", path.display()))?;
        let gaps = match args.gaps {
            Some(TraceGaps::Recorded) => Gaps::Recorded,
            Some(TraceGaps::None) | None => Gaps::None,
        };
        let name = args.workload.clone();
        return Ok(Workload::Trace { name, hash: hash([&text]), replay: Box::new(replay), gaps });
    }
    let Some(launch_path) = &args.launch else {
        return Err(message!(
            "`{}` is a kernel: add --launch FILE.toml; `atoms run {0}` prints a launch file to edit",
            args.workload
        ));
    };
    files.reads("the launch file", launch_path);
    let launch = Launch::from_file(launch_path)?;
    let text = source::read(path, launch.arch, Wanted::Code)?;
    let program = Program::read(&args.workload, &text, launch.arch)
        .map_err(|error| CliError::Listing(Box::new(error)))?;
    let kernel = launch.kernel(&program)?.clone();
    let launch_text = std::fs::read_to_string(launch_path).map_err(CliError::reading(launch_path))?;
    let unit = args.unit.unwrap_or_default();
    Ok(Workload::Kernel(Box::new(KernelWorkload::new(kernel, launch, unit, [&text, &launch_text]))))
}

fn generated(args: &ExploreRunArgs) -> Result<Workload, CliError> {
    let mut workload = Generated::named(&args.workload)
        .map_err(|error| message!("{error}; and no kernel file or trace file has this name"))?;
    let stated = args.with.iter().map(|setting| match setting.split_once('=') {
        Some((name, value)) => Ok((name.trim(), value.trim())),
        None => Err(message!("--with {setting}: expected NAME=VALUE, such as warps=16")),
    });
    workload.set_all(stated.collect::<Result<Vec<_>, _>>()?)?;
    Ok(Workload::Generated(workload))
}

/// Result for a configuration and workload whose run failed, so that it has no measurement.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FindingResult<'a> {
    error: String,
    config: &'a str,
    repeat: String,
    rtl: Option<&'a RtlIdentity>,
}

fn print_finding(args: &ExploreRunArgs, config: &NamedConfig, error: &TrialError) -> Result<(), CliError> {
    let mut repeat = format!(
        "atoms explore run {} --config {} --seed {} --on {}",
        args.workload,
        config.name,
        args.seed,
        args.on.name()
    );
    for setting in &args.with {
        repeat += &format!(" --with {setting}");
    }
    if let Some(launch) = &args.launch {
        repeat += &format!(" --launch {}", machine::shell(launch));
    }
    let TrialLimits { cycles, watchdog_cycles, .. } = TrialLimits::default();
    if args.until != cycles {
        repeat += &format!(" --until {}", args.until);
    }
    if args.patience != watchdog_cycles {
        repeat += &format!(" --patience {}", args.patience);
    }
    if args.gaps == Some(TraceGaps::Recorded) {
        repeat += " --gaps recorded";
    }
    if args.json {
        let (error, config) = (error.to_string(), &config.name);
        return print_json(&FindingResult { error, config, repeat, rtl: machine::rtl_used() });
    }
    outln!("{error}\n  repeat   {repeat}")
}
