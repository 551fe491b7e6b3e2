//! `atoms run`: a kernel on the unit.

pub(crate) mod profile;
pub(crate) mod races;
pub(crate) mod result;
pub(crate) mod undefined;

use std::path::{Path, PathBuf};

use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::usage::UsageReport;
use atoms_isa::{Arch, Kernel, Program};
use atoms_ops::OPS;
use atoms_sm::races::{Races, Text};
use atoms_sm::{Buffer, Launch, LaunchError, Observer, Outcome, RunError, RunReport, SmConfig};
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Snapshot;

use crate::args::{On, RunArgs, Undefined as Level};
use crate::kernel_text::{self, Wanted};
use crate::machine::{self, MeasuredSession};
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::grouped;
use crate::output::{note, out, outln, print_json};
use crate::run::races::Found;
use crate::run::result::{
    BufferResult, InterruptedResult, OracleResult, PrintedResult, RunFailureResult, RunResult,
};
use crate::run::undefined::{Requests, Undefined};
use crate::usage;

pub(crate) fn run(args: &RunArgs) -> Result<Verdict, CliError> {
    let dumps = dumps(&args.dump)?;
    let Some(level) = args.undefined() else {
        return Err(message!("--check: only one of off, warn and strict can be meant"));
    };
    if level == Level::Strict && args.machine.on == On::Rtl {
        return Err(message!("--check strict: the RTL names nothing; add --on lockstep or --on model"));
    }
    let name = args.listing.display().to_string();
    let launch = args.launch.as_deref().map(Launch::from_file).transpose()?;
    let arch = args.arch.or(launch.as_ref().and_then(|l| l.arch));
    let text = kernel_text::read(&args.listing, arch, Wanted::Code)?;
    let program = Program::read(&name, &text, arch).map_err(|error| CliError::Listing(Box::new(error)))?;
    if let Some(arch) = args.arch.filter(|arch| *arch != program.arch) {
        return Err(message!(
            "--arch {arch}: the listing is for {}; only PTX is run on another architecture",
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
                "--dump {name}: the launch has no buffer of that name; there are {}",
                known.join(", ")
            ));
        }
    }
    let mut files = machine::files();
    files.reads("the kernel", &args.listing).reads("the launch file", path);
    for file in &launch.files {
        files.reads("a file of the launch", file);
    }
    machine::outputs(&args.machine, &mut files);
    for (name, file) in &dumps {
        files.writes(format!("--dump {name}"), file);
    }
    files.check()?;
    let config = machine::config(&args.machine.point.name())?;
    let forward_of = program.forward_of;
    let ask =
        KernelRun { args, path, level, kernel, forward_of, launch: &launch, config: &config, dumps: &dumps };
    match args.machine.on {
        On::Lockstep => ask.or_again(machine::lockstep_on_threads(&config, &args.machine)?, |snapshot| {
            ask.on(machine::lockstep_again(&config, &args.machine, snapshot)?)
        }),
        On::Model => ask.on(machine::model(&config)),
        On::Rtl => ask.on(machine::rtl_machine(&config, args.machine.depth())?),
    }
}

/// Prints a launch file to begin with.
fn begin(name: &str, program: &Program) -> Result<Verdict, CliError> {
    let Some(kernel) = program.kernels.first() else {
        return Err(message!("{name}: there is no kernel in it"));
    };
    out!("{}", atoms_sm::template(kernel))?;
    let others =
        program.kernels.iter().skip(1).map(|k| &k.name).chain(program.unread.iter().map(|k| &k.name));
    let others: Vec<_> = others.map(String::as_str).collect();
    let more =
        if others.is_empty() { String::new() } else { format!("; there are also {}", others.join(", ")) };
    note!(
        "atoms: on standard output is a launch file for `{}`, to be filled in (docs/launch-files.md) and given with \
         --launch{more}",
        kernel.name
    );
    Ok(Verdict::Agree)
}

/// `NAME=FILE` pairs.
fn dumps(args: &[String]) -> Result<Vec<(String, PathBuf)>, CliError> {
    let pair = |arg: &String| match arg.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_string(), file.into())),
        _ => Err(message!("--dump {arg}: expected NAME=FILE, such as out=out.bin")),
    };
    args.iter().map(pair).collect()
}

struct KernelRun<'a> {
    args: &'a RunArgs,
    /// Where the launch file is.
    path: &'a Path,
    level: Level,
    kernel: &'a Kernel,
    /// As in [`Program`].
    forward_of: Option<Arch>,
    launch: &'a Launch,
    config: &'a NamedConfig,
    dumps: &'a [(String, PathBuf)],
}

impl KernelRun<'_> {
    fn on<M: Machine>(&self, machine: M) -> Result<Verdict, CliError> {
        self.or_again(machine, |snapshot| Err(Failure::FollowerDiverged(snapshot).into()))
    }

    /// Runs the kernel, and reports; `again` repeats a run whose follower diverged, from this snapshot or from reset.
    fn or_again<M: Machine>(
        &self,
        machine: M,
        again: impl FnOnce(Option<Snapshot>) -> Result<Verdict, CliError>,
    ) -> Result<Verdict, CliError> {
        let mut session = machine::session(machine, &self.args.machine, true)?;
        if self.level != Level::Off {
            session.machine_mut().watch();
        }
        let mut requests = session.machine().watched().is_some().then(|| Requests::new(self.kernel));
        let mut races = self.args.scopes().then(|| Races::new(self.kernel, self.text()));
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(requests.as_mut().map(|requests| requests as &mut dyn Observer));
        observers.extend(races.as_mut().map(|races| races as &mut dyn Observer));
        let config = SmConfig::default();
        let outcome = atoms_sm::run_observed(self.kernel, self.launch, &mut session, &config, &mut observers);
        let outcome = match outcome {
            Ok(report) => session.judge_memory().map(|()| report).map_err(RunError::Port),
            // What the kernel did wrong may be the consequence of a difference that is yet to be found.
            Err(RunError::Kernel(error)) => match session.machine_mut().catch_up() {
                Ok(()) => Err(RunError::Kernel(error)),
                Err(failure) => Err(RunError::Port(failure)),
            },
            failed => failed,
        };
        if let Err(RunError::Port(Failure::FollowerDiverged(snapshot))) = outcome {
            // Its files are complete before others take their place.
            drop(session);
            return again(snapshot);
        }
        let lines = machine::finish(&mut session, &self.args.machine)?;
        let usage = machine::usage(&mut session);
        let undefined = session.machine().watched().zip(requests.as_ref());
        let undefined = undefined.map(|(watch, requests)| Undefined::new(watch, requests));
        let undefined = undefined.as_ref();
        let named = undefined.is_some_and(|undefined| !undefined.is_empty());
        let found = races.as_ref().map(|races| Found::new(self.kernel, races));
        let found = found.as_ref();
        let raced = found.is_some_and(|found| !found.is_empty());
        // JSON carries them, but only a report is JSON.
        let report = match &outcome {
            Ok(_) => true,
            Err(RunError::Port(failure)) => failure.is_finding(),
            Err(RunError::Kernel(_)) => false,
        };
        let json = self.args.json && report;
        if let Some(undefined) = undefined
            && named
            && !json
        {
            note!("{}", undefined.text().trim_end());
        }
        if let Some(found) = found
            && raced
            && !json
        {
            note!("{}", found.text().trim_end());
        }
        match outcome {
            Ok(report) => {
                self.write_dumps(&report)?;
                let wrong = raced || (named && self.level == Level::Strict);
                let verdict = if report.as_expected() && !wrong { Verdict::Agree } else { Verdict::Disagree };
                if self.args.json {
                    print_json(&self.result(&report, &session, undefined, found, usage.as_ref()))?;
                } else {
                    self.print(&report, &session, usage.as_ref(), &lines, raced)?;
                }
                Ok(verdict)
            }
            Err(RunError::Port(Failure::Interrupted(cycle))) => {
                self.print_interrupted(cycle, session.tally().judged, &lines)?;
                Ok(Verdict::Interrupted)
            }
            Err(RunError::Port(failure)) if failure.is_finding() => {
                self.print_failure(failure, &session, &lines, (undefined, found))?;
                Ok(Verdict::Disagree)
            }
            Err(RunError::Port(failure)) => Err(failure.into()),
            Err(RunError::Kernel(error)) => Err(message!("{error}")),
        }
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
        outln!("interrupted at cycle {}: nothing differs so far", grouped(cycle))?;
        outln!("  oracle     accepts all {} answers", grouped(judged))?;
        for line in lines {
            outln!("  {line}")?;
        }
        Ok(())
    }

    fn print<M: Machine>(
        &self,
        report: &RunReport,
        session: &MeasuredSession<M>,
        usage: Option<&UsageReport>,
        lines: &[String],
        raced: bool,
    ) -> Result<(), CliError> {
        let s = &report.statistics;
        let tally = session.tally();
        outln!(
            "{} ({}) on {}, configuration {}: {} CTA{} of {} threads",
            self.kernel.name,
            self.kernel.arch,
            self.args.machine.on.name(),
            self.config.name,
            self.launch.ctas(),
            if self.launch.ctas() == 1 { "" } else { "s" },
            self.launch.threads(),
        )?;
        if let Some(target) = self.forward_of {
            outln!(
                "  target     {target}; PTX of it runs as {}, as drivers compile it forward",
                self.kernel.arch
            )?;
        }
        outln!(
            "  ran        {} warp instructions, {} shared-memory requests in {} cycles",
            grouped(s.warp_instructions),
            grouped(s.shared_requests),
            grouped(s.cycles)
        )?;
        outln!(
            "  passes     {}, {} of them conflicts ({:.2} passes a request)",
            grouped(s.passes),
            grouped(s.conflicts),
            s.passes as f64 / (s.shared_requests.max(1)) as f64
        )?;
        let by_op: Vec<_> = OPS
            .iter()
            .zip(&s.requests_by_op)
            .filter(|(_, count)| **count > 0)
            .map(|(row, count)| format!("{} {}", row.name, grouped(*count)))
            .collect();
        outln!("  requests   {}", by_op.join(", "))?;
        if s.suspended + s.copies + s.cluster_requests > 0 {
            outln!(
                "  waits      {} suspended, {} of them until their phase was complete",
                grouped(s.suspended),
                grouped(s.woken)
            )?;
            outln!(
                "  copies     {} of {} bytes; {} cluster requests",
                grouped(s.copies),
                grouped(s.copied_bytes),
                grouped(s.cluster_requests)
            )?;
        }
        if s.spin_attempts > 0 {
            outln!(
                "  spin       {} of {} lanes stored ({:.1} %)",
                grouped(s.spin_successes),
                grouped(s.spin_attempts),
                100.0 * s.spin_successes as f64 / s.spin_attempts as f64
            )?;
        }
        for (format, threads) in &s.printed {
            outln!("  printf     {format:?} by {} threads, values left out", grouped(*threads))?;
        }
        out!("{}", profile::text(self.kernel, &s.instructions))?;
        if let Some(usage) = usage {
            out!("{}", usage::text(usage))?;
        }
        match self.args.machine.on {
            On::Lockstep => outln!(
                "  lockstep   rtl and model agree in every output and every probe bit of all {} cycles",
                grouped(tally.cycles)
            )?,
            On::Model | On::Rtl => {}
        }
        outln!("  oracle     accepts all {} answers, and the memory at the end", grouped(tally.judged))?;
        for buffer in &report.buffers {
            print_outcome(buffer)?;
        }
        if !report.checked() {
            outln!("  result     not checked: the launch expects nothing (`expect`, docs/launch-files.md)")?;
        }
        if self.args.scopes() {
            outln!("  scopes     {}", if raced { "races found, named on stderr" } else { "no race found" })?;
        }
        for (name, path) in self.dumps {
            outln!("  dump       {name} in {}", path.display())?;
        }
        for line in lines {
            outln!("  {line}")?;
        }
        Ok(())
    }

    fn print_failure<M: Machine>(
        &self,
        mut failure: Failure,
        session: &MeasuredSession<M>,
        lines: &[String],
        (undefined, found): (Option<&Undefined<'_>>, Option<&Found<'_>>),
    ) -> Result<(), CliError> {
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
        match &args.machine.trace {
            Some(path) => repeat += &format!(" --trace {}", machine::shell(path)),
            None => repeat += " --trace target/failure.vcd",
        }
        failure.name_config(&self.config.name);
        if args.json {
            return print_json(&RunFailureResult {
                agree: false,
                cycle: session.machine().cycles(),
                report: failure.to_string(),
                repeat,
                undefined: undefined.map(Undefined::result),
                judged: session.tally().judged,
                oracle: OracleResult { accepts: !matches!(failure, Failure::Oracle(_)), memory: None },
                rtl: machine::rtl_used(),
                races: found.map(Found::result),
            });
        }
        outln!("{failure}")?;
        outln!("  repeat   {repeat}")?;
        for line in lines {
            outln!("  {line}")?;
        }
        Ok(())
    }

    fn result<'r, M: Machine>(
        &'r self,
        report: &'r RunReport,
        session: &MeasuredSession<M>,
        undefined: Option<&'r Undefined<'_>>,
        found: Option<&'r Found<'_>>,
        usage: Option<&'r UsageReport>,
    ) -> RunResult<'r> {
        let s = &report.statistics;
        RunResult {
            agree: true,
            checked: report.checked(),
            as_expected: report.checked().then(|| report.as_expected()),
            kernel: &self.kernel.name,
            arch: self.kernel.arch.to_string(),
            on: self.args.machine.on.name(),
            config: &self.config.name,
            rtl: machine::rtl_used(),
            cycles: s.cycles,
            warp_instructions: s.warp_instructions,
            shared_requests: s.shared_requests,
            cluster_requests: s.cluster_requests,
            suspended: s.suspended,
            woken: s.woken,
            copies: s.copies,
            copied_bytes: s.copied_bytes,
            passes: s.passes,
            conflicts: s.conflicts,
            requests: OPS.iter().map(|row| row.name).zip(s.requests_by_op.iter().copied()).collect(),
            instructions: profile::results(self.kernel, &s.instructions),
            spin_attempts: s.spin_attempts,
            spin_successes: s.spin_successes,
            judged: session.tally().judged,
            oracle: OracleResult { accepts: true, memory: Some(true) },
            undefined: undefined.map(Undefined::result),
            buffers: report.buffers.iter().map(BufferResult::of).collect(),
            target: self.forward_of.map(|target| target.to_string()),
            races: found.map(Found::result),
            printed: s
                .printed
                .iter()
                .map(|(format, threads)| PrintedResult { format, threads: *threads })
                .collect(),
            usage,
        }
    }

    /// What the text says of order: PTX says more than machine code.
    fn text(&self) -> Text {
        if self.kernel.of_ptx() { Text::Ptx } else { Text::Machine }
    }
}

fn print_outcome(buffer: &Buffer) -> Result<(), CliError> {
    match &buffer.outcome {
        Outcome::Open => {}
        Outcome::Met { compared } => {
            outln!("  expected   {}: all {} elements as expected", buffer.name, grouped(*compared as u64))?;
        }
        Outcome::Differs { index, expected, found, differing, compared } => outln!(
            "  expected   {}: {} of {} elements differ; the first is [{index}]: expected {expected}, found {found}",
            buffer.name,
            grouped(*differing as u64),
            grouped(*compared as u64),
        )?,
        Outcome::OtherValues { missing, surplus, lacking, compared } => {
            let say =
                |what: &str, value: &Option<String>| value.as_ref().map(|value| format!("{what} {value}"));
            let said = [say("missing is", missing), say("not expected is", surplus)];
            outln!(
                "  expected   {}: other values, {} of {} missing: {}",
                buffer.name,
                grouped(*lacking as u64),
                grouped(*compared as u64),
                said.into_iter().flatten().collect::<Vec<_>>().join(", "),
            )?;
        }
    }
    Ok(())
}
