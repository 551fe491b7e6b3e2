//! `atoms run`: runs a kernel on the unit.

use std::path::{Path, PathBuf};

use atoms_cosim::machine::Failure;
use atoms_isa::{Arch, Program};
use atoms_run::kernel::finding::KernelFinding;
use atoms_run::kernel::orders::{self, OrderKey, OrdersRequest};
use atoms_run::kernel::races::RacesFound;
use atoms_run::kernel::report::{self, KernelFile};
use atoms_run::kernel::result::InterruptedResult;
use atoms_run::kernel::source::{self, Wanted};
use atoms_run::kernel::undefined::UndefinedUses;
use atoms_run::kernel::{Checks, KernelJob, KernelRun};
use atoms_sm::{Launch, LaunchError, RunError, RunReport};
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::cores;
use clap::ValueEnum;

use crate::args::{On, RunArgs, Undefined as Level};
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::interrupt;
use crate::output::progress::{bar, grouped};
use crate::output::{note, out, outln, print_json, print_lines};

pub(crate) fn run(args: &RunArgs) -> Result<Verdict, CliError> {
    let dumps = dumps(&args.dump)?;
    let Some(level) = args.undefined() else {
        return Err(message!("--check: only one of off, warn and undefined can be given"));
    };
    if level == Level::Strict && args.machine.on == On::Rtl {
        return Err(message!(
            "--check undefined: the RTL does not report undefined uses; add --on lockstep or --on model"
        ));
    }
    if args.orders.is_some() && args.machine.on != On::Model {
        return Err(message!(
            "--orders runs on the model, not on {}; repeat a finding with --order KEY --on lockstep",
            args.machine.on.name()
        ));
    }
    let name = args.listing.display().to_string();
    let launch = args.launch.as_deref().map(Launch::from_file).transpose()?;
    let arch = args.arch.or(launch.as_ref().and_then(|l| l.arch));
    let text = source::read(&args.listing, arch, Wanted::Code)?;
    let program = Program::read(&name, &text, arch).map_err(|error| CliError::Listing(Box::new(error)))?;
    if let Some(arch) = args.arch.filter(|arch| *arch != program.arch) {
        return Err(message!(
            "--arch {arch}: the listing is for {}; only PTX can run on another architecture",
            program.arch
        ));
    }
    let (Some(launch), Some(path)) = (launch, args.launch.as_deref()) else {
        return begin(&name, &program);
    };
    let kernel = launch.kernel(&program).map_err(|error| match error {
        LaunchError::Unread(unread) => CliError::Listing(Box::new(unread.error)),
        other => other.into(),
    })?;
    for (name, _) in &dumps {
        if !launch.buffers().any(|param| param.name == *name) {
            let known: Vec<_> = launch.buffers().map(|param| param.name.as_str()).collect();
            return Err(message!(
                "--dump {name}: the launch file has no buffer of this name; it has {}",
                known.join(", ")
            ));
        }
    }
    let mut files = machine::files();
    files.reads("the kernel", &args.listing).reads("the launch file", path);
    for file in &launch.files {
        files.reads("a file named in the launch file", file);
    }
    machine::outputs(&args.machine, &mut files);
    for (name, file) in &dumps {
        files.writes(format!("--dump {name}"), file);
    }
    args.page.iter().for_each(|path| _ = files.writes("--page", path));
    args.sarif.iter().for_each(|path| _ = files.writes("--sarif", path));
    files.check()?;
    let config = machine::config(&args.machine.point.name())?;
    let forward_of = program.forward_of;
    let file = KernelFile { path: &args.listing, text: &text };
    let report = Report { args, path, file, level, forward_of, config: &config, dumps: &dumps };
    let fingerprint = || orders::fingerprint(&text, kernel, &launch, &config);
    let schedule = args.order.as_ref().map(|key| key.schedule(fingerprint())).transpose();
    let schedule = schedule.map_err(|error| message!("--order: {error}"))?;
    let setup = machine::setup(&config, &args.machine, true)?;
    let checks = Checks { undefined: level != Level::Off, races: args.races() };
    let job = KernelJob { setup: &setup, kernel, launch: &launch, checks, schedule };
    if let Some(count) = args.orders {
        let bar = bar(count, "orders");
        let (seed, fingerprint) = (args.seed, fingerprint());
        let request = OrdersRequest { orders: count, seed, workers: cores(), fingerprint };
        let found = orders::explore(job, &request, &|| bar.inc(1))?;
        bar.finish_and_clear();
        report.write_sarif(found.findings())?;
        let (strict, repeat) = (level == Level::Strict, |key: Option<&OrderKey>| report.command(key));
        if args.json {
            print_json(&found.result(strict, repeat))?;
        } else {
            out!("{}", found.text(repeat))?;
        }
        let verdict = if found.has_findings(strict) { Verdict::Disagree } else { Verdict::Agree };
        return Ok(interrupt::or(verdict));
    }
    let run = job.run()?;
    if args.sarif.is_some() {
        report.write_sarif(&run.findings())?;
    }
    if let Some(path) = &args.page {
        let findings = run.findings();
        let timelines = job.timelines(&findings)?;
        let text = run.outcome.as_ref().ok().map(|report| run.text(report, forward_of));
        let page = report::page(kernel, file, text.as_deref(), &findings, &timelines);
        std::fs::write(path, page).map_err(CliError::writing(path))?;
    }
    report.report(run)
}

fn begin(name: &str, program: &Program) -> Result<Verdict, CliError> {
    let Some(kernel) = program.kernels.first() else {
        return Err(message!("{name}: the file has no kernel"));
    };
    out!("{}", atoms_sm::template(kernel))?;
    let others =
        program.kernels.iter().skip(1).map(|k| &k.name).chain(program.unread.iter().map(|k| &k.name));
    let others: Vec<_> = others.map(String::as_str).collect();
    let more =
        if others.is_empty() { String::new() } else { format!("; the file also has {}", others.join(", ")) };
    note!(
        "atoms: printed a launch file for kernel `{}` on stdout; edit it (docs/launch-files.md) and pass it with \
         --launch{more}",
        kernel.name
    );
    Ok(Verdict::Agree)
}

fn dumps(args: &[String]) -> Result<Vec<(String, PathBuf)>, CliError> {
    let pair = |arg: &String| match arg.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_string(), file.into())),
        _ => Err(message!("--dump {arg}: expected NAME=FILE, such as out=out.bin")),
    };
    args.iter().map(pair).collect()
}

struct Report<'a> {
    args: &'a RunArgs,
    path: &'a Path,
    file: KernelFile<'a>,
    level: Level,
    /// Architecture that the PTX names, if it is too early and the kernel runs on a later one; see [`Program`].
    forward_of: Option<Arch>,
    config: &'a NamedConfig,
    dumps: &'a [(String, PathBuf)],
}

impl Report<'_> {
    fn report(&self, run: KernelRun<'_>) -> Result<Verdict, CliError> {
        let lines = machine::lines(&run.files, run.tally.cycles);
        // A JSON report includes undefined uses and races. An error is not printed as JSON: then print them here.
        let is_finding = |error: &RunError<Failure>| match error {
            RunError::Port(failure) => failure.is_finding(),
            RunError::Kernel(error) => error.deadlock().is_some(),
        };
        let is_report = run.outcome.as_ref().err().is_none_or(is_finding);
        if !(self.args.json && is_report) {
            let undefined = run.undefined.as_ref().filter(|_| run.has_undefined()).map(UndefinedUses::text);
            let races = run.races.as_ref().filter(|races| !races.is_empty()).map(RacesFound::text);
            for text in [undefined, races].into_iter().flatten() {
                note!("{}", text.trim_end());
            }
        }
        match &run.outcome {
            Ok(report) => {
                self.write_dumps(report)?;
                if self.args.json {
                    print_json(&run.result(report, self.forward_of, machine::rtl_used()))?;
                } else {
                    self.print(&run, report, &lines)?;
                }
                let wrong = run.has_races() || (run.has_undefined() && self.level == Level::Strict);
                Ok(if report.as_expected() && !wrong { Verdict::Agree } else { Verdict::Disagree })
            }
            Err(RunError::Port(Failure::Interrupted(cycle))) => {
                self.print_interrupted(*cycle, run.tally.judged, &lines)?;
                Ok(Verdict::Interrupted)
            }
            Err(error) if is_finding(error) => {
                self.print_failure(run, &lines)?;
                Ok(Verdict::Disagree)
            }
            Err(RunError::Port(failure)) => Err(CliError::of(failure)),
            Err(RunError::Kernel(error)) => Err(message!("{error}")),
        }
    }

    fn write_sarif<'f, 'k: 'f>(
        &self,
        findings: impl IntoIterator<Item = &'f KernelFinding<'k>>,
    ) -> Result<(), CliError> {
        let Some(path) = &self.args.sarif else { return Ok(()) };
        let log = report::sarif(self.file, findings, self.level == Level::Strict);
        std::fs::write(path, format!("{log:#}\n")).map_err(CliError::writing(path))
    }

    fn write_dumps(&self, report: &RunReport) -> Result<(), CliError> {
        for (name, path) in self.dumps {
            if let Some(buffer) = report.buffer(name) {
                std::fs::write(path, &buffer.bytes).map_err(CliError::writing(path))?;
            }
        }
        Ok(())
    }

    fn print_interrupted(&self, cycle: u64, judged: u64, lines: &[String]) -> Result<(), CliError> {
        if self.args.json {
            return print_json(&InterruptedResult { agree: true, interrupted: true, cycle, judged });
        }
        outln!("interrupted at cycle {}: no mismatch so far", grouped(cycle))?;
        outln!("  oracle     accepts all {} responses", grouped(judged))?;
        print_lines(lines)
    }

    fn print(&self, run: &KernelRun<'_>, report: &RunReport, lines: &[String]) -> Result<(), CliError> {
        out!("{}", run.text(report, self.forward_of))?;
        for (name, path) in self.dumps {
            outln!("  dump       {name} in {}", path.display())?;
        }
        print_lines(lines)
    }

    /// Returns the command that repeats the run in the order of `key`.
    fn command(&self, key: Option<&OrderKey>) -> String {
        let args = &self.args;
        let mut repeat = format!(
            "atoms run {} --launch {} --on {} --config {}",
            machine::shell(&args.listing),
            machine::shell(self.path),
            args.machine.on.name(),
            self.config.name
        );
        if let Some(arch) = args.arch {
            repeat += &format!(" --arch {arch}");
        }
        for check in args.check.iter().filter_map(ValueEnum::to_possible_value) {
            repeat += &format!(" --check {}", check.get_name());
        }
        if let Some(key) = key {
            repeat += &format!(" --order {key}");
        }
        match &args.machine.trace {
            Some(path) => repeat += &format!(" --trace {}", machine::shell(path)),
            None => repeat += " --trace target/failure.vcd",
        }
        repeat
    }

    fn print_failure(&self, mut run: KernelRun<'_>, lines: &[String]) -> Result<(), CliError> {
        let repeat = self.command(self.args.order.as_ref());
        run.name_config();
        let Err(failure) = &run.outcome else { return Ok(()) };
        if self.args.json {
            return print_json(&run.failure_result(failure, repeat, machine::rtl_used()));
        }
        outln!("{failure}")?;
        outln!("  repeat   {repeat}")?;
        print_lines(lines)
    }
}
