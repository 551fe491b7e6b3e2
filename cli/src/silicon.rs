//! `atoms silicon`: checks and compares captures of GPUs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use atoms_cosim::internals::Depth;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_silicon::capture::{Capture, CaptureError, Code, ProgramOutcome};
use atoms_silicon::judge::RefusedAnswer;
use atoms_silicon::observe;
use atoms_silicon::program::{Clock, Reading};
use atoms_silicon::report::{self, CaptureReport, OracleFinding};
use atoms_silicon::times;

use crate::args::silicon::{Against, SiliconCommand, SiliconReportArgs, SiliconShowArgs, SiliconTraceArgs};
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::interrupt;
use crate::output::progress::{bar, grouped};
use crate::output::{note, out, outln};

pub(crate) fn silicon(command: &SiliconCommand) -> Result<Verdict, CliError> {
    match command {
        SiliconCommand::Report(args) => full(args),
        SiliconCommand::Show(args) => show(args),
        SiliconCommand::Profile { capture, csv } => profile(capture, *csv),
        SiliconCommand::Trace(args) => trace(args),
    }
}

fn open(path: &Path) -> Result<Capture, CliError> {
    let file = File::open(path).map_err(CliError::reading(path))?;
    read(path, file)
}

fn read(path: &Path, file: impl Read) -> Result<Capture, CliError> {
    let capture = Capture::read(file).map_err(|error| match error {
        CaptureError::Read(source) => CliError::reading(path)(source),
        other => message!("{}: it {other}", path.display()),
    })?;
    if capture.end.is_none() {
        note!(
            "{}: the capture is incomplete: it has answers of {} programs",
            path.display(),
            capture.records.len()
        );
    }
    Ok(capture)
}

pub(crate) fn check(path: &Path, file: impl Read, json: bool) -> Result<Verdict, CliError> {
    let report = report::judge(&read(path, file)?);
    if json {
        outln!("{}", as_json(&report)?)?;
        return Ok(verdict(&report));
    }
    let judged = &report.oracle;
    let name = path.display();
    if report.agrees() {
        outln!(
            "{name}: accepted; {} programs of {}, {} steps, {} not judged",
            grouped(report.programs.answered),
            report.header.device.name,
            grouped(judged.accepted),
            grouped(judged.open)
        )?;
    } else {
        outln!(
            "{name}: rejected; {} of {} steps",
            grouped(judged.refused),
            grouped(judged.refused + judged.accepted)
        )?;
        findings(&judged.findings)?;
    }
    Ok(verdict(&report))
}

fn verdict(report: &CaptureReport) -> Verdict {
    if report.agrees() { Verdict::Agree } else { Verdict::Disagree }
}

fn as_json(report: &CaptureReport) -> Result<String, CliError> {
    Ok(serde_json::to_string_pretty(report)?)
}

fn full(args: &SiliconReportArgs) -> Result<Verdict, CliError> {
    let capture = open(&args.capture)?;
    let mut report = report::judge(&capture);
    let config = machine::config(&args.point.name())?;
    let bar = bar(capture.records.len() as u64, "programs");
    let progress = |done: usize| bar.set_position(done as u64);
    report.replayed = match args.on {
        Against::Nothing => None,
        Against::Model => {
            let port = || Ok::<_, CliError>(Session::new(ModelMachine::new(config.config), None));
            Some(report::replay(&capture, port, progress)?)
        }
        Against::Lockstep => {
            let library = machine::library(&config, Depth::Ports)?;
            let port = || {
                let scoreboard = Scoreboard::new(&config.config, &[]);
                let machine = Lockstep::new(library.instantiate()?, config.config)?;
                let mut session = Session::new(machine, Some(scoreboard));
                session.set_interrupt(interrupt::seen());
                Ok::<_, CliError>(session)
            };
            Some(report::replay(&capture, port, progress)?)
        }
    };
    bar.finish_and_clear();
    if args.json {
        outln!("{}", as_json(&report)?)?;
    } else {
        print(&report, args)?;
    }
    Ok(verdict(&report))
}

fn print(report: &CaptureReport, args: &SiliconReportArgs) -> Result<(), CliError> {
    let header = &report.header;
    outln!(
        "{} (sm_{}), driver {}, {}: {}",
        header.device.name,
        header.device.arch(),
        header.driver,
        header.date,
        if report.agrees() { "agrees" } else { "DISAGREES" }
    )?;
    let programs = &report.programs;
    outln!(
        "  programs   {} answered, {} skipped, {} failed",
        grouped(programs.answered),
        grouped(programs.skipped),
        programs.failed.len()
    )?;
    for (name, why) in &programs.failed {
        outln!("    {name}: {why}")?;
    }
    if let Some(why) = &report.stopped {
        outln!("  stopped    {why}")?;
    }
    let oracle = &report.oracle;
    outln!(
        "  oracle     accepts {} steps, rejects {}, does not judge {}",
        grouped(oracle.accepted),
        grouped(oracle.refused),
        grouped(oracle.open)
    )?;
    if let Some(replayed) = &report.replayed {
        outln!(
            "  own runs   {} steps compared, {} cases differ, {} programs not run",
            grouped(replayed.compared),
            grouped(replayed.different),
            replayed.failed.len()
        )?;
        for (name, why) in &replayed.failed {
            outln!("    {name}: {why}")?;
        }
    }
    if !oracle.findings.is_empty() {
        outln!("\nAnswers that the specification forbids")?;
        findings(&oracle.findings)?;
    }
    if !oracle.undefined.is_empty() {
        outln!("\nAnswers that the specification forbids, but PTX allows")?;
        findings(&oracle.undefined)?;
    }
    let titles = [
        ("Answers that differ from the simulated unit", false),
        ("Answers that differ from the simulated unit where PTX allows both", true),
    ];
    for (title, undefined) in titles {
        let of = report.replayed.iter().flat_map(|r| &r.differences).filter(|d| d.undefined == undefined);
        for (number, d) in of.enumerate() {
            if number == 0 {
                outln!("\n{title}")?;
            }
            outln!("  {}, case {}, step {} ({})", d.program, d.case, d.step, d.instruction)?;
            outln!("    {}: captured {}, here {}", d.what, d.captured, d.ours)?;
        }
    }
    outln!("\nQuestions")?;
    for answered in &report.answers {
        wrapped(&format!("{}? (spec {})", answered.asks, answered.clauses.join(", ")), "  ")?;
        for line in &answered.answer {
            wrapped(line, "    ")?;
        }
    }
    timing(report, args.timings)
}

fn wrapped(text: &str, indent: &str) -> Result<(), CliError> {
    let deeper = format!("{indent}  ");
    let options = textwrap::Options::new(80).initial_indent(indent).subsequent_indent(&deeper);
    for line in textwrap::wrap(text, options) {
        outln!("{line}")?;
    }
    Ok(())
}

fn findings(findings: &[OracleFinding]) -> Result<(), CliError> {
    for finding in findings {
        let OracleFinding { program, refusal: RefusedAnswer { case, step, instruction, clause, text } } =
            finding;
        outln!("  {clause}: {program}, case {case}, step {step} ({instruction})")?;
        wrapped(text, "    ")?;
    }
    Ok(())
}

fn timing(report: &CaptureReport, all: bool) -> Result<(), CliError> {
    if !report.fits.is_empty() {
        outln!("\nCycles of an operation with conflicting lanes: for one lane, for each further lane,")?;
        outln!("and largest deviation of a measurement from this line")?;
    }
    for fit in &report.fits {
        let name = format!("{} on {}", fit.of, fit.on);
        outln!("  {name:<46} {:>8.1} {:>+8.2} {:>8.1}", fit.base, fit.per_lane, fit.residual)?;
    }
    if all {
        outln!("\nAll times, and half of the difference between smallest and largest reading")?;
        for t in &report.timings {
            let unit = match t.clock {
                Clock::Cycles => "cycles",
                Clock::Nanoseconds => "ns",
            };
            let name = format!("{}, {}, {} warps", t.of, t.contention, t.warps);
            outln!("  {name:<62} {:>9.1} {unit} {:>7.1}", t.each, t.spread)?;
        }
    }
    Ok(())
}

fn profile(path: &Path, csv: bool) -> Result<Verdict, CliError> {
    let capture = open(path)?;
    let timings = times::timings(&capture);
    let fits = times::fits(&timings);
    if fits.is_empty() {
        return Err(message!("{}: no program that measures time has an answer", path.display()));
    }
    let header = &capture.header;
    if csv {
        for line in atoms_silicon::measurements::csv(&header.device.name, &timings) {
            outln!("{line}")?;
        }
        return Ok(Verdict::Agree);
    }
    outln!("# Cycles of an operation, one warp: base + per_lane * (lanes - 1). The residual is the")?;
    outln!("# largest deviation of a measurement from this line.")?;
    outln!(
        "gpu = {:?}\narch = \"sm_{}\"\ndriver = {:?}",
        header.device.name,
        header.device.arch(),
        header.driver
    )?;
    for fit in &fits {
        outln!("\n[[time]]\nof = {:?}\non = {:?}", fit.of, fit.on)?;
        outln!("base = {:.2}\nper_lane = {:.3}\nresidual = {:.2}", fit.base, fit.per_lane, fit.residual)?;
    }
    Ok(Verdict::Agree)
}

fn show(args: &SiliconShowArgs) -> Result<Verdict, CliError> {
    let capture = open(&args.capture)?;
    let Some(name) = &args.program else {
        for record in &capture.records {
            outln!("{}: {}", record.program.name, came_of(&record.outcome))?;
        }
        return Ok(Verdict::Agree);
    };
    let record = capture.record(name).ok_or_else(|| unknown(name, &args.capture))?;
    let program = &record.program;
    outln!("// {}\n// {} (spec {})", program.name, program.asks, program.clauses.join(", "))?;
    outln!("// {} launches: {}\n", program.launches.len(), came_of(&record.outcome))?;
    outln!("{}", program.ptx)?;
    match &record.code {
        Some(Code::Sass(sass)) => outln!("{sass}")?,
        Some(Code::Cubin(bytes)) => outln!(
            "// machine code: only a cubin of {} bytes, because nvdisasm was not installed",
            bytes.len()
        )?,
        None => outln!("// machine code: not in the capture")?,
    }
    Ok(Verdict::Agree)
}

fn came_of(outcome: &ProgramOutcome) -> String {
    match outcome {
        ProgramOutcome::Outputs(outputs) => {
            format!("answered, {} bytes", grouped(outputs.iter().map(|b| b.0.len() as u64).sum()))
        }
        ProgramOutcome::Skipped(why) => format!("skipped: {why}"),
        ProgramOutcome::Failed(why) => format!("failed: {why}"),
        ProgramOutcome::TimedOut(seconds) => format!("still running after {seconds} s"),
    }
}

fn unknown(name: &str, capture: &Path) -> CliError {
    let path = capture.display();
    message!("{path}: no program `{name}`; `atoms silicon show {path}` lists the programs")
}

fn trace(args: &SiliconTraceArgs) -> Result<Verdict, CliError> {
    let capture = open(&args.capture)?;
    let record = capture.record(&args.program).ok_or_else(|| unknown(&args.program, &args.capture))?;
    let Some(outputs) = record.outputs() else {
        let why = came_of(&record.outcome);
        return Err(message!("`{}` has no answers: {why}", args.program));
    };
    if record.program.launches.iter().all(|launch| matches!(launch.reading, Reading::Times(_))) {
        return Err(message!("`{}` only measures time: it has no requests to print", args.program));
    }
    let outputs: Vec<Vec<u8>> = outputs.into_iter().map(<[u8]>::to_vec).collect();
    let text = observe::write_trace(Vec::new(), &record.program, &outputs)?;
    out!("{}", String::from_utf8_lossy(&text))?;
    Ok(Verdict::Agree)
}
