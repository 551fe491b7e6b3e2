//! `atoms cosim`: runs random requests through RTL, model and oracle.

use std::path::Path;
use std::time::Duration;

use atoms_cosim::campaign::{Campaign, Failed, SmallCase, opinion_of_the_rtl};
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::Effort;
use atoms_cosim::internals::Depth;
use atoms_cosim::session::Tally;
use atoms_cosim::usage::UsageReport;
use atoms_ops::{OPS, Op};
use atoms_run::random::{self, CaseRun, FailureFiles, RandomRun, RunCounts};
use atoms_run::result::{CaseResult, CosimFailureResult, CosimResult};
use atoms_run::usage;
use atoms_stimulus::Profile;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Environment;

use crate::args::{CosimArgs, On, OnFail, RandomArgs};
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::interrupt;
use crate::output::progress::{bar, grouped};
use crate::output::{out, outln, print_json, print_lines};

/// Limits for minimizing, about 20 seconds in the configuration `default`.
const EFFORT: Effort = Effort { cycles: 5_000_000, time: Duration::from_secs(60) };

pub(crate) fn cosim(mut args: CosimArgs) -> Result<Verdict, CliError> {
    let unit = args.unit.as_deref().map(machine::use_unit).transpose()?;
    if unit.is_some() {
        if args.machine.on == On::Model || args.no_oracle {
            return Err(message!(
                "--unit: only the oracle can check another unit; remove --on model and --no-oracle"
            ));
        }
        // Runs as lockstep does, without a model.
        args.machine.on = On::Lockstep;
    }
    let args = &args;
    if let Some(path) = &args.case {
        return repeat_case(args, path);
    }
    if args.on_fail.is_some() && args.machine.on != On::Lockstep {
        return Err(message!(
            "--on-fail is for lockstep: --on {} only reports what the oracle rejects; remove --on-fail",
            args.machine.on.name()
        ));
    }
    let campaign =
        campaign(&args.random, machine::config(&unit.unwrap_or_else(|| args.machine.point.name()))?)?;
    let mut files = machine::files();
    if let Some(file) = profile_file(&args.random) {
        files.reads("the profile", file);
    }
    args.unit.iter().for_each(|file| _ = files.reads("the unit", file));
    machine::outputs(&args.machine, &mut files);
    if args.machine.on == On::Lockstep && on_fail(args) != OnFail::Report {
        let FailureFiles { wave, case } = failure_files(&campaign);
        files.writes_wave("the wave of a failure", &wave).writes("the case of a failure", &case);
    }
    files.check()?;
    let setup = machine::setup(&campaign.config, &args.machine, !args.no_oracle)?;
    let bar = bar(campaign.requests, "requests");
    let run = random::run(&setup, &campaign, |tally| bar.set_position(tally.requests))?;
    bar.finish_and_clear();
    match run {
        RandomRun::Agrees(counts) => {
            let RunCounts { tally, usage, files } = *counts;
            let lines = machine::lines(&files, tally.cycles);
            agreed(args, &campaign, &tally, usage.as_ref(), &lines).map(interrupt::or)
        }
        RandomRun::Fails { failure, cycle, files } if failure.is_finding() => {
            let lines = machine::lines(&files, cycle);
            let repeat = repeat_line(args, &campaign, cycle);
            print_failure(args, &failure.to_string(), &repeat, cycle, &lines, None)?;
            Ok(Verdict::Disagree)
        }
        RandomRun::Fails { failure, .. } => Err(failure.into()),
        RandomRun::Differs(failed) => disagreed(args, &campaign, *failed),
    }
}

pub(crate) fn campaign(args: &RandomArgs, config: NamedConfig) -> Result<Campaign, CliError> {
    Ok(Campaign {
        config,
        profile: profile(args)?,
        seed: args.seed,
        requests: args.requests,
        until: args.until.unwrap_or(u64::MAX),
    })
}

fn on_fail(args: &CosimArgs) -> OnFail {
    args.on_fail.unwrap_or(OnFail::Shrink)
}

fn failure_files(campaign: &Campaign) -> FailureFiles {
    FailureFiles::of(campaign, &Environment::from_process().target)
}

pub(crate) fn profile_file(args: &RandomArgs) -> Option<&Path> {
    args.profile.as_deref().filter(|profile| is_file(profile)).map(Path::new)
}

fn is_file(profile: &str) -> bool {
    profile.ends_with(".toml")
}

fn profile(args: &RandomArgs) -> Result<Profile, CliError> {
    let profile = match args.profile.as_deref() {
        None => Profile::default(),
        Some(file) if is_file(file) => {
            let text = std::fs::read_to_string(file).map_err(CliError::reading(Path::new(file)))?;
            Profile::from_toml(&text).map_err(|error| message!("{file}: {error}"))?
        }
        Some(name) => Profile::named(name)?,
    };
    Ok(profile.with_ops(&ops(&args.ops)?))
}

/// Returns the named operations, ignoring case. `MBAR` and other prefixes select all operations that start with
/// the prefix and a dot.
pub(crate) fn ops(names: &[String]) -> Result<Vec<Op>, CliError> {
    let mut ops = Vec::new();
    for name in names {
        let upper = name.to_uppercase();
        let group = format!("{upper}.");
        match Op::from_name(&upper) {
            Some(op) => ops.push(op),
            None if OPS.iter().any(|row| row.name.starts_with(&group)) => {
                ops.extend(OPS.iter().filter(|row| row.name.starts_with(&group)).map(|row| row.op));
            }
            None => {
                let known: Vec<_> = OPS.iter().map(|row| row.name).collect();
                let known = known.join(", ");
                return Err(message!(
                    "no operation `{name}`; there are {known}, and MBAR for all mbarrier operations"
                ));
            }
        }
    }
    Ok(ops)
}

fn agreed(
    args: &CosimArgs,
    campaign: &Campaign,
    tally: &Tally,
    usage: Option<&UsageReport>,
    lines: &[String],
) -> Result<Verdict, CliError> {
    if args.json {
        print_json(&CosimResult {
            agree: true,
            tally,
            rtl: machine::rtl_used(),
            on: if args.unit.is_some() { On::Rtl } else { args.machine.on }.name(),
            config: &campaign.config.name,
            seed: campaign.seed,
            usage,
            interrupted: interrupt::asked(),
        })?;
        return Ok(Verdict::Agree);
    }
    if interrupt::asked() {
        outln!(
            "interrupted after {} of {} warp requests",
            grouped(tally.requests),
            grouped(campaign.requests)
        )?;
    }
    outln!(
        "configuration {}, seed {}: {} warp requests, {} cluster requests in {} cycles",
        campaign.config.name,
        campaign.seed,
        grouped(tally.requests),
        grouped(tally.cluster_requests),
        grouped(tally.cycles),
    )?;
    match args.unit {
        None => outln!("  {} passes, {} faults", grouped(tally.passes), grouped(tally.faults))?,
        Some(_) => outln!("  {} faults", grouped(tally.faults))?,
    }
    if tally.resets > 0 {
        outln!("  {} cycles of reset dropped {} requests", grouped(tally.resets), grouped(tally.dropped))?;
    }
    if tally.phases + tally.wake_ups + tally.time_outs > 0 {
        outln!(
            "  {} phases completed, {} waits woken, {} timed out",
            grouped(tally.phases),
            grouped(tally.wake_ups),
            grouped(tally.time_outs)
        )?;
    }
    if let Some(usage) = usage {
        out!("{}", usage::text(usage))?;
    }
    if args.machine.on == On::Lockstep && args.unit.is_none() {
        outln!("  rtl and model agree in every output and every probe bit of every cycle")?;
    }
    if tally.judged > 0 {
        outln!("  oracle accepts all {} responses", grouped(tally.judged))?;
    }
    print_lines(lines)?;
    Ok(Verdict::Agree)
}

fn unit_option(args: &CosimArgs) -> Option<String> {
    args.unit.as_ref().map(|file| format!(" --unit {}", machine::shell(file)))
}

fn repeat_line(args: &CosimArgs, campaign: &Campaign, cycle: u64) -> String {
    let of = unit_option(args).unwrap_or_else(|| format!(" --config {}", campaign.config.name));
    let mut line = format!(
        "atoms cosim{of} --seed {} --requests {} --until {}",
        campaign.seed,
        campaign.requests,
        cycle + 1
    );
    if args.machine.on != On::Lockstep {
        line += &format!(" --on {}", args.machine.on.name());
    }
    if let Some(profile) = &args.random.profile {
        line += &format!(" --profile {profile}");
    }
    if !args.random.ops.is_empty() {
        line += &format!(" --ops {}", args.random.ops.join(","));
    }
    line
}

fn disagreed(args: &CosimArgs, campaign: &Campaign, mut failed: Failed) -> Result<Verdict, CliError> {
    if !failed.failure.is_finding() {
        return Err(failed.failure.into());
    }
    let repeat = repeat_line(args, campaign, failed.cycle);
    let files = failure_files(campaign);
    let mut lines: Vec<_> = machine::rtl_used().map(|rtl| format!("rtl      {rtl}")).into_iter().collect();
    if on_fail(args) != OnFail::Report {
        let from = files.write_wave(&mut failed)?;
        lines.push(format!("trace    {}, from cycle {from}", machine::shell(&files.wave)));
    }
    let mut small = None;
    if on_fail(args) == OnFail::Shrink {
        match random::minimize(&mut failed, campaign, !args.no_oracle, EFFORT, &files.case)? {
            Ok(found) => {
                let unit = unit_option(args).unwrap_or_default();
                lines.push(format!("smaller  atoms cosim --case {}{unit}", machine::shell(&files.case)));
                lines.push(format!("         found in {}", found.spent));
                small = Some(found);
            }
            Err(spent) => {
                lines.push(format!(
                    "smaller  could not be minimized in {spent}; repeat with the command above"
                ));
            }
        }
    }
    let opinion = small.as_ref().and_then(|small| opinion(args, &campaign.config, &small.case));
    failed.failure.name_config(&campaign.config.name);
    let text = failed.failure.to_string();
    print_failure(args, &text, &repeat, failed.cycle, &lines, small.as_ref())?;
    if let Some(opinion) = opinion.filter(|_| !args.json) {
        outln!("the oracle, checking the RTL without the model:\n{opinion}")?;
    }
    Ok(Verdict::Disagree)
}

fn opinion(args: &CosimArgs, config: &NamedConfig, case: &Case) -> Option<String> {
    if args.no_oracle || config.unit.is_some() {
        return None;
    }
    let library = machine::library(config, Depth::Ports).ok()?;
    opinion_of_the_rtl(&library, &config.config, case).map(|objection| objection.to_string())
}

fn print_failure(
    args: &CosimArgs,
    text: &str,
    repeat: &str,
    cycle: u64,
    lines: &[String],
    small: Option<&SmallCase>,
) -> Result<(), CliError> {
    if args.json {
        let (case, rtl) = (small.map(|small| &small.case), machine::rtl_used());
        return print_json(&CosimFailureResult { agree: false, cycle, report: text, repeat, case, rtl });
    }
    outln!("{text}")?;
    outln!("  repeat   {repeat}")?;
    print_lines(lines)?;
    if let Some(SmallCase { case, failure, .. }) = small {
        let plural = if case.warps.len() == 1 { "" } else { "s" };
        outln!("the minimized case, {} warp request{plural}:", case.warps.len())?;
        for request in &case.warps {
            outln!("  {request}")?;
        }
        for change in &case.changes {
            outln!("  after {} warp and {} cluster requests: {change}", change.warps, change.clusters)?;
        }
        outln!("{failure}")?;
    }
    Ok(())
}

pub(crate) fn case(path: &Path) -> Result<Case, CliError> {
    let text = std::fs::read_to_string(path).map_err(CliError::reading(path))?;
    serde_json::from_str(&text).map_err(|error| message!("`{}`: {error}", path.display()))
}

fn repeat_case(args: &CosimArgs, path: &Path) -> Result<Verdict, CliError> {
    let case = case(path)?;
    let mut files = machine::files();
    files.reads("the case", path);
    machine::outputs(&args.machine, &mut files);
    files.check()?;
    let config = machine::config(&case.config)?;
    let setup = machine::setup(&config, &args.machine, !args.no_oracle)?;
    let CaseRun { outcome, usage, files } = random::repeat(&setup, &case)?;
    let cycles = outcome.as_ref().map_or_else(|(_, cycle)| *cycle, |tally| tally.cycles);
    let lines = machine::lines(&files, cycles);
    let (verdict, result, text) = match outcome {
        Ok(Tally { cycles, requests, cluster_requests, judged, .. }) => {
            let mut text = format!(
                "case {}: {requests} warp requests, {cluster_requests} cluster requests in {cycles} cycles: {} agree",
                path.display(),
                match (&args.unit, args.no_oracle) {
                    (Some(_), _) => "rtl and oracle",
                    (None, true) => "rtl, model",
                    (None, false) => "rtl, model and oracle",
                },
            );
            if let Some(usage) = &usage {
                text = text + "\n" + usage::text(usage).trim_end();
            }
            let (agree, config, usage) = (true, config.name.clone(), usage.map(Box::new));
            let result =
                CaseResult::Agrees { agree, config, cycles, requests, cluster_requests, judged, usage };
            (Verdict::Agree, result, text)
        }
        Err((failure, cycle)) if failure.is_finding() => {
            let report = failure.to_string();
            let result = CaseResult::Fails { agree: false, cycle, report: report.clone(), case };
            (Verdict::Disagree, result, report)
        }
        Err((failure, _)) => return Err(failure.into()),
    };
    if args.json {
        print_json(&result)?;
    } else {
        outln!("{text}")?;
        print_lines(&lines)?;
    }
    Ok(verdict)
}
