//! `atoms-capture`: runs test programs on a GPU and stores the answers in one file.
//!
//! The program needs only the GPU's driver, so this one file can be copied to the machine with the GPU.
//! `docs/silicon.md` describes the programs and the replay of a capture.

#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write, stderr, stdin};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};

use atoms_silicon::capture::{CaptureHeader, End};
use atoms_silicon::catalogue;
use atoms_silicon::causes;
use atoms_silicon::program::TestProgram;
use atoms_silicon::supervise::budget;
use atoms_silicon::supervise::supervisor::{self, CaptureProgress};
use atoms_silicon::supervise::worker::{self, WorkerTarget};
use clap::Parser;
use humantime::format_rfc3339_seconds;
use indicatif::{ProgressBar, ProgressStyle};

/// Run test programs for shared-memory atomics on a GPU and store the answers.
///
/// Needs only the GPU's driver. Check the file on any machine with `atoms silicon report FILE`.
#[derive(Parser)]
#[command(
    version,
    after_help = "Exit status: 0 every program for this GPU answered, 1 some failed, 2 none answered."
)]
struct Args {
    /// New file to write [default: capture-GPU-DATE.jsonl]
    #[arg(long = "output", alias = "out", value_name = "FILE")]
    out: Option<PathBuf>,

    /// Time limit for the whole run, in minutes
    #[arg(long, value_name = "M", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=1440))]
    minutes: u64,

    /// Number of the GPU, as the driver counts GPUs from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,

    /// Seed of the random operands
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Run only programs whose name contains TEXT; repeatable
    #[arg(long = "match", alias = "only", value_name = "TEXT")]
    only: Vec<String>,

    /// Time limit of a launch in seconds; after a timeout, the run continues with the next program
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    launch_seconds: u64,

    /// List the programs without running them
    #[arg(long)]
    dry_run: bool,

    /// Path of the driver library [default: libcuda.so of the system]
    #[arg(long, value_name = "PATH")]
    driver: Option<PathBuf>,

    /// Act as the worker process: call the driver for the parent process
    #[arg(long, hide = true, value_name = "DATE")]
    worker: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(code) => code,
        Err(message) => {
            // The parent process prints the worker's message with its own prefix, so the worker adds none.
            let name = if args.worker.is_some() { "" } else { "atoms-capture: " };
            let _ = writeln!(stderr(), "{name}{message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<ExitCode, String> {
    let mut programs = catalogue::programs(args.seed);
    for text in &args.only {
        if !programs.iter().any(|program| program.name.contains(text)) {
            return Err(format!(
                "--match {text}: no program name contains this text; --dry-run lists the names"
            ));
        }
    }
    if !args.only.is_empty() {
        programs.retain(|program| args.only.iter().any(|text| program.name.contains(text)));
    }
    if args.dry_run {
        return list(&programs).map(|()| ExitCode::SUCCESS).map_err(|error| error.to_string());
    }
    match &args.worker {
        Some(date) => work(args, date, &programs),
        None => capture(args, &programs),
    }
}

fn list(programs: &[TestProgram]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for program in programs {
        let launches = match program.launches.len() {
            1 => "1 launch".to_string(),
            n => format!("{n} launches"),
        };
        writeln!(out, "{}", program.name)?;
        writeln!(out, "    {} (spec {})", program.asks, program.clauses.join(", "))?;
        writeln!(out, "    sm_{} and later, {launches}", program.since)?;
    }
    let seconds = budget::seconds(programs);
    writeln!(out, "{} programs, at most about {} min", programs.len(), seconds.div_ceil(60))
}

fn work(args: &Args, date: &str, programs: &[TestProgram]) -> Result<ExitCode, String> {
    let launch_limit = Duration::from_secs(args.launch_seconds);
    let target = WorkerTarget { driver: args.driver.clone(), device: args.device, launch_limit };
    worker::work(&target, (args.seed, date.into()), programs, stdin().lock(), std::io::stdout())
        .map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn capture(args: &Args, programs: &[TestProgram]) -> Result<ExitCode, String> {
    let date = format_rfc3339_seconds(SystemTime::now()).to_string();
    let own = std::env::current_exe()
        .map_err(|error| format!("cannot find the executable file of this program: {error}"))?;
    let command = || {
        let mut command = Command::new(&own);
        command.args([
            "--worker",
            &date,
            "--seed",
            &args.seed.to_string(),
            "--device",
            &args.device.to_string(),
        ]);
        command.args(args.only.iter().flat_map(|text| ["--only", text]));
        command.args(["--launch-seconds", &args.launch_seconds.to_string()]);
        if let Some(driver) = &args.driver {
            command.arg("--driver").arg(driver);
        }
        command
    };
    let limit = Duration::from_secs(60 * args.minutes);
    let supervisor = supervisor::Supervisor::start(command, Duration::from_secs(args.launch_seconds))
        .map_err(|error| causes(&error))?;
    let header = supervisor.header().clone();
    let path = args.out.clone().unwrap_or_else(|| default_name(&header));
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let file = file.map_err(|error| {
        format!("cannot create {}: {error}; name another file with --output", path.display())
    })?;
    describe(&header, programs.len());
    let bar = bar(programs.len());
    let end = supervisor.capture(programs, limit, file, |CaptureProgress { done, next }| {
        bar.set_position(done as u64);
        bar.set_message(next.to_string());
    });
    bar.finish_and_clear();
    let (end, tally) = end.map_err(|error| causes(&error))?;
    Ok(summary(&path, &end, &tally))
}

fn default_name(header: &CaptureHeader) -> PathBuf {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
    };
    let day = header.date.split('T').next().unwrap_or("");
    PathBuf::from(format!("capture-{}-{}-{day}.jsonl", plain(&header.device.name), plain(&header.driver)))
}

fn describe(header: &CaptureHeader, programs: usize) {
    let device = &header.device;
    let _ = writeln!(
        stderr(),
        "{} (sm_{}), {} SMs, up to {} MHz, memory {} MHz; driver {}\n{programs} programs",
        device.name,
        device.arch(),
        device.multiprocessors,
        device.clock_khz / 1000,
        device.memory_clock_khz / 1000,
        header.driver,
    );
    if device.mig {
        let _ = writeln!(stderr(), "the GPU is a MIG instance: other instances may share its clocks");
    }
    if device.kernel_timeout {
        let _ = writeln!(
            stderr(),
            "the GPU drives a display: the system ends kernels that run for several seconds"
        );
    }
}

fn bar(programs: usize) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(programs as u64);
    if let Ok(style) = ProgressStyle::with_template("{pos}/{len} {wide_bar} {eta} left  {msg:.40}") {
        bar.set_style(style);
    }
    bar
}

fn summary(path: &std::path::Path, end: &End, tally: &supervisor::OutcomeTally) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(
        out,
        "{}: {} of {} programs answered, {} skipped, {} failed, {} timed out",
        path.display(),
        tally.answered,
        end.programs,
        tally.skipped,
        tally.failed.len(),
        tally.timed_out.len()
    );
    for (name, why) in tally.failed.iter().chain(&tally.timed_out) {
        let _ = writeln!(out, "  {name}: {why}");
    }
    if let Some(stopped) = &end.stopped {
        let _ = writeln!(out, "stopped early: {stopped}");
    }
    let _ = writeln!(out, "check the answers: atoms silicon report {}", path.display());
    let whole = end.stopped.is_none() && tally.failed.is_empty() && tally.timed_out.is_empty();
    match (tally.answered, whole) {
        (0, _) => ExitCode::from(2),
        (_, true) => ExitCode::SUCCESS,
        (_, false) => ExitCode::from(1),
    }
}
