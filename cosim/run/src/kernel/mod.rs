//! Runs kernels on the unit, with checks for uses that PTX leaves undefined and for races.

pub mod finding;
pub mod orders;
pub mod profile;
pub mod races;
pub mod report;
pub mod result;
pub mod source;
pub mod undefined;

use std::fmt::Write as _;

use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::rtl::RtlIdentity;
use atoms_cosim::session::Tally;
use atoms_cosim::usage::UsageReport;
use atoms_isa::{Arch, Kernel};
use atoms_ops::OPS;
use atoms_sm::races::{RaceChecks, Races, Text};
use atoms_sm::{Buffer, Launch, Observer, Outcome, RunError, RunReport, Schedule, SmConfig};
use atoms_stimulus::configs::NamedConfig;

use crate::setup::{self, Implementation, LOCKSTEP, RunFiles, Setup, SetupError};
use crate::{grouped, usage};
use finding::KernelFinding;
use races::RacesFound;
use report::Timelines;
use result::{BufferResult, OracleResult, PrintedResult, RunFailureResult, RunResult};
use undefined::{RequestLog, UndefinedUses};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// True to report uses of mbarrier objects and lanes that PTX leaves undefined. The RTL alone cannot
    /// report any.
    pub undefined: bool,
    /// Races, narrow scopes and missing proxy fences to report.
    pub races: RaceChecks,
}

#[derive(Debug)]
pub struct KernelRun<'k> {
    /// Report at the end of the kernel, or the reason why the kernel did not end.
    pub outcome: Result<RunReport, RunError<Failure>>,
    pub cycles: u64,
    pub tally: Tally,
    pub usage: Option<UsageReport>,
    /// Undefined uses. None if the run did not check for them.
    pub undefined: Option<UndefinedUses<'k>>,
    /// Races. None if the run did not check for them.
    pub races: Option<RacesFound<'k>>,
    pub files: RunFiles,
    kernel: &'k Kernel,
    launch: &'k Launch,
    config: &'k NamedConfig,
    on: &'static str,
}

/// Kernel to run, and the way to run it.
#[derive(Clone, Copy, Debug)]
pub struct KernelJob<'s, 'k> {
    pub setup: &'s Setup<'k>,
    pub kernel: &'k Kernel,
    pub launch: &'k Launch,
    pub checks: Checks,
    /// Order of the run. `None` for the default order.
    pub schedule: Option<&'s Schedule>,
}

impl<'k> KernelJob<'_, 'k> {
    /// Runs the kernel on the implementation of the setup.
    ///
    /// If the follower of a lockstep run diverges, the kernel runs again in step, to find the first difference.
    ///
    /// # Errors
    /// [`SetupError`]. A failure of the run is part of the result.
    pub fn run(&self) -> Result<KernelRun<'k>, SetupError> {
        let setup = self.setup;
        match &setup.implementation {
            Implementation::Lockstep(library) => {
                let mut run = self.on(setup.lockstep(library)?, None)?;
                if let Err(RunError::Port(Failure::FollowerDiverged(snapshot))) = &mut run.outcome {
                    run = self.on(setup.lockstep_in_step(library, snapshot.take())?, None)?;
                }
                Ok(run)
            }
            Implementation::Model => self.on(setup.model(), None),
            Implementation::Rtl(library) => self.on(setup.rtl(library)?, None),
        }
    }

    /// Repeats the run on the model, if it has races, and returns the timelines of their warps.
    ///
    /// # Errors
    /// [`SetupError`].
    pub fn timelines(&self, findings: &[KernelFinding<'k>]) -> Result<Timelines<'k>, SetupError> {
        let mut timelines = Timelines::new(self.kernel, findings);
        if timelines.is_empty() {
            return Ok(timelines);
        }
        let Setup { config, interrupt, .. } = *self.setup;
        let model = Setup { oracle: false, interrupt, ..Setup::new(config, Implementation::Model) };
        let checks = Checks { undefined: false, races: RaceChecks::NONE };
        KernelJob { setup: &model, checks, ..*self }.on(model.model(), Some(&mut timelines))?;
        Ok(timelines)
    }

    fn on<M: Machine>(
        &self,
        machine: M,
        observer: Option<&mut dyn Observer>,
    ) -> Result<KernelRun<'k>, SetupError> {
        let KernelJob { setup, kernel, launch, checks, schedule } = *self;
        let mut session = setup.session(machine)?;
        if checks.undefined {
            session.machine_mut().watch();
        }
        let mut requests = session.machine().watched().is_some().then(|| RequestLog::new(kernel));
        // PTX defines more ordering than machine code shows, so the race check depends on the text of the
        // kernel.
        let text = if kernel.of_ptx() { Text::Ptx } else { Text::Machine };
        let mut races = checks.races.any().then(|| Races::new(kernel, text));
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(observer.map(|observer| observer as &mut dyn Observer));
        observers.extend(requests.as_mut().map(|requests| requests as &mut dyn Observer));
        observers.extend(races.as_mut().map(|races| races as &mut dyn Observer));
        let config = SmConfig::default();
        let outcome =
            atoms_sm::run_scheduled(kernel, launch, &mut session, &config, schedule, &mut observers);
        let outcome = match outcome {
            Ok(report) => session.judge_memory().map(|()| report).map_err(RunError::Port),
            // A kernel error may result from a difference that the follower has not reached yet, so let the
            // follower catch up first.
            Err(RunError::Kernel(error)) => match session.machine_mut().catch_up() {
                Ok(()) => Err(RunError::Kernel(error)),
                Err(failure) => Err(RunError::Port(failure)),
            },
            failed => failed,
        };
        let files = setup.finish(&mut session)?;
        let usage = setup::usage(&mut session);
        let undefined = session.machine().watched().zip(requests.as_ref());
        Ok(KernelRun {
            outcome,
            cycles: session.machine().cycles(),
            tally: session.tally(),
            usage,
            undefined: undefined.map(|(watch, requests)| UndefinedUses::new(watch, requests)),
            races: races.as_ref().map(|races| RacesFound::new(kernel, races, checks.races)),
            files,
            kernel,
            launch,
            config: setup.config,
            on: setup.implementation.name(),
        })
    }
}

impl KernelRun<'_> {
    pub fn has_undefined(&self) -> bool {
        self.undefined.as_ref().is_some_and(|undefined| !undefined.is_empty())
    }

    /// True if a check of the order of accesses found an error, not only hints.
    pub fn has_races(&self) -> bool {
        self.races.as_ref().is_some_and(RacesFound::has_errors)
    }

    pub fn name_config(&mut self) {
        if let Err(RunError::Port(failure)) = &mut self.outcome {
            failure.name_config(&self.config.name);
        }
    }

    /// Formats `report`, the report of this run. `forward_of` is the PTX target if the kernel runs as a later
    /// architecture.
    pub fn text(&self, report: &RunReport, forward_of: Option<Arch>) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, report, forward_of);
        text
    }

    fn write(&self, text: &mut String, report: &RunReport, forward_of: Option<Arch>) -> std::fmt::Result {
        let s = &report.statistics;
        writeln!(
            text,
            "{} ({}) on {}, configuration {}: {} CTA{} of {} threads",
            self.kernel.name,
            self.kernel.arch,
            self.on,
            self.config.name,
            self.launch.ctas(),
            if self.launch.ctas() == 1 { "" } else { "s" },
            self.launch.threads(),
        )?;
        if let Some(target) = forward_of {
            writeln!(
                text,
                "  target     {target}; compiled for {}, as drivers compile PTX for later architectures",
                self.kernel.arch
            )?;
        }
        writeln!(
            text,
            "  ran        {} warp instructions, {} shared-memory requests in {} cycles",
            grouped(s.warp_instructions),
            grouped(s.shared_requests),
            grouped(s.cycles)
        )?;
        writeln!(
            text,
            "  passes     {} ({:.2} per request), {} of them conflicts",
            grouped(s.passes),
            s.passes as f64 / (s.shared_requests.max(1)) as f64,
            grouped(s.conflicts)
        )?;
        let by_op: Vec<_> = OPS
            .iter()
            .zip(&s.requests_by_op)
            .filter(|(_, count)| **count > 0)
            .map(|(row, count)| format!("{} {}", row.name, grouped(*count)))
            .collect();
        writeln!(text, "  requests   {}", by_op.join(", "))?;
        if s.suspended + s.copies + s.cluster_requests > 0 {
            writeln!(
                text,
                "  waits      {} requests suspended; the phase of {} completed before their limit",
                grouped(s.suspended),
                grouped(s.woken)
            )?;
            writeln!(
                text,
                "  copies     {} of {} bytes; {} cluster requests",
                grouped(s.copies),
                grouped(s.copied_bytes),
                grouped(s.cluster_requests)
            )?;
        }
        if s.spin_attempts > 0 {
            writeln!(
                text,
                "  spin       {} of {} lanes stored ({:.1} %)",
                grouped(s.spin_successes),
                grouped(s.spin_attempts),
                100.0 * s.spin_successes as f64 / s.spin_attempts as f64
            )?;
        }
        for (format, threads) in &s.printed {
            writeln!(text, "  printf     {format:?} by {} threads (values not shown)", grouped(*threads))?;
        }
        text.push_str(&profile::text(self.kernel, &s.instructions));
        if let Some(report) = &self.usage {
            text.push_str(&usage::text(report));
        }
        if self.on == LOCKSTEP {
            writeln!(
                text,
                "  lockstep   rtl and model agree in every output and every probe bit of all {} cycles",
                grouped(self.tally.cycles)
            )?;
        }
        writeln!(
            text,
            "  oracle     accepts all {} responses and the final memory",
            grouped(self.tally.judged)
        )?;
        for buffer in &report.buffers {
            write_outcome(text, buffer)?;
        }
        if !report.checked() {
            writeln!(
                text,
                "  result     not checked: the launch file states no result (`expect`, docs/launch-files.md)"
            )?;
        }
        if let Some(races) = &self.races {
            let found = match races.count() + self.undefined.as_ref().map_or(0, UndefinedUses::count) {
                0 => "no finding".to_string(),
                1 => "1 finding".to_string(),
                found => format!("{} findings", grouped(found as u64)),
            };
            let limit = if self.kernel.of_ptx() { "" } else { "; only PTX shows order in a warp" };
            writeln!(text, "  checks     {found}{limit}")?;
        }
        Ok(())
    }

    /// Returns `report`, the report of this run, as a JSON value.
    pub fn result<'r>(
        &'r self,
        report: &'r RunReport,
        forward_of: Option<Arch>,
        rtl: Option<&'r RtlIdentity>,
    ) -> RunResult<'r> {
        let s = &report.statistics;
        RunResult {
            agree: true,
            checked: report.checked(),
            as_expected: report.checked().then(|| report.as_expected()),
            kernel: &self.kernel.name,
            arch: self.kernel.arch.to_string(),
            on: self.on,
            config: &self.config.name,
            rtl,
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
            judged: self.tally.judged,
            oracle: OracleResult { accepts: true, memory: Some(true) },
            undefined: self.undefined.as_ref().map(UndefinedUses::result),
            buffers: report.buffers.iter().map(BufferResult::of).collect(),
            target: forward_of.map(|target| target.to_string()),
            races: self.races.as_ref().map(RacesFound::result),
            printed: s
                .printed
                .iter()
                .map(|(format, threads)| PrintedResult { format, threads: *threads })
                .collect(),
            usage: self.usage.as_ref(),
        }
    }

    /// Returns `failure`, the failure of this run, as a JSON value. `repeat` is the command that reproduces
    /// the failure.
    pub fn failure_result<'r>(
        &'r self,
        failure: &'r RunError<Failure>,
        repeat: String,
        rtl: Option<&'r RtlIdentity>,
    ) -> RunFailureResult<'r> {
        RunFailureResult {
            agree: false,
            cycle: self.cycles,
            report: failure.to_string(),
            deadlock: match failure {
                RunError::Kernel(error) => error.deadlock(),
                RunError::Port(_) => None,
            },
            repeat,
            undefined: self.undefined.as_ref().map(UndefinedUses::result),
            judged: self.tally.judged,
            oracle: OracleResult {
                accepts: !matches!(failure, RunError::Port(Failure::Oracle(_))),
                memory: None,
            },
            rtl,
            races: self.races.as_ref().map(RacesFound::result),
        }
    }
}

fn write_outcome(text: &mut String, buffer: &Buffer) -> std::fmt::Result {
    match &buffer.outcome {
        Outcome::Open => {}
        Outcome::Met { compared } => {
            writeln!(
                text,
                "  expected   {}: all {} elements as expected",
                buffer.name,
                grouped(*compared as u64)
            )?;
        }
        Outcome::Differs { index, expected, found, differing, compared } => writeln!(
            text,
            "  expected   {}: {} of {} elements differ; the first is [{index}]: expected {expected}, found {found}",
            buffer.name,
            grouped(*differing as u64),
            grouped(*compared as u64),
        )?,
        Outcome::OtherValues { missing, surplus, lacking, compared } => {
            let say =
                |what: &str, value: &Option<String>| value.as_ref().map(|value| format!("{what} {value}"));
            let said = [say("for example", missing), say("found instead:", surplus)];
            writeln!(
                text,
                "  expected   {}: {} of {} expected values are missing: {}",
                buffer.name,
                grouped(*lacking as u64),
                grouped(*compared as u64),
                said.into_iter().flatten().collect::<Vec<_>>().join(", "),
            )?;
        }
    }
    Ok(())
}
