//! `atoms explore sweep`: measures many points and writes a report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::rtl::RtlIdentity;
use atoms_explore::cost::{CostQuestion, CostTools, MappingGoal, ToolChoice, estimate};
use atoms_explore::report::{SweepReport, check_folder, check_plots, file};
use atoms_explore::sweep::{
    Certify, CostMode, Impossible, PointStore, SearchFile, Searched, SweepFile, SweepPoints, SweepProgress,
    SweepRun, SweepRunError, search, sweep,
};
use atoms_regress::cluster::slurm::{ArrayJob, SlurmCommands, SlurmOptions, WaitOutcome};
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Environment;
use schemars::JsonSchema;
use serde::Serialize;

use super::cost;
use crate::args::explore::{CertifyArg, PointShard, SweepArgs};
use crate::args::regress::Executor;
use crate::machine::{self, shell};
use crate::output::error::{CliError, Verdict, message};
use crate::output::interrupt;
use crate::output::progress::{bar, build_step, grouped};
use crate::output::{note, outln, print_json};

#[derive(Serialize, JsonSchema)]
pub(crate) struct SweepResult<'a> {
    about: &'a str,
    points: usize,
    certified: usize,
    failed: usize,
    impossible: u64,
    findings: &'a [String],
    rtl: &'a RtlIdentity,
    out: &'a Path,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ShardResult {
    shard: u32,
    of: u32,
    points: usize,
    failed: usize,
}

pub(crate) fn run(args: &SweepArgs) -> Result<Verdict, CliError> {
    let environment = Environment::from_process();
    let name = args.file.file_stem().unwrap_or_default();
    let out = args.out.clone().unwrap_or_else(|| environment.target.join("explore").join(name));
    let mut files = machine::files();
    files.reads("the sweep", &args.file).writes("--output", &out);
    files.check()?;
    if args.shard.is_none() {
        check_folder(&out)?;
    }
    let rtl_dir = rtl_dir();
    let plan = SweepFile::read(&args.file)?;
    let seed = args.seed.unwrap_or(plan.seed);
    let rtl = RtlIdentity::of(&rtl_dir)?;
    let store = PointStore::new(&environment.store.join("explore-points"))?;
    let tools = match plan.cost {
        CostMode::Mapped => cost_tools()?,
        CostMode::Fitted | CostMode::None => None,
    };
    let cost = |config: &NamedConfig| {
        let question = CostQuestion::whole(&rtl_dir, config);
        match &tools {
            Some(tools) => cost::measured(&question, tools, MappingGoal::default()),
            None => estimate(&question),
        }
    };
    let run = SweepRun {
        seed,
        rtl_dir: &rtl_dir,
        certify: match args.certify {
            CertifyArg::All => Certify::All,
            CertifyArg::None => Certify::None,
        },
        cost: (plan.cost != CostMode::None).then_some(&cost),
        jobs: args.jobs.map_or_else(atoms_verilated::cores, |jobs| jobs as usize),
        store: &store,
        interrupt: Some(interrupt::seen()),
    };
    if plan.search.is_none() {
        let found = plan.points(&args.file, &rtl_dir)?;
        check_plots(&plan.plot, &found.points)?;
    }
    if args.executor == Executor::Slurm && !on_slurm(args, &plan, &out)? {
        return Ok(Verdict::Interrupted);
    }
    if let Some(shard) = args.shard {
        return measure_shard(&run, &plan, args, shard);
    }
    let measured = match &plan.search {
        Some(goals) => searched(&run, &plan, args, goals),
        None => {
            let found = plan.points(&args.file, &rtl_dir)?;
            tell(&found.impossible);
            swept(&run, found)
        }
    };
    let Some(Searched { measured, impossible }) = measured? else { return Ok(Verdict::Interrupted) };
    let report = SweepReport {
        about: &plan.about,
        file: &shell(&args.file),
        seed,
        rtl: &rtl,
        measured: &measured,
        impossible: &impossible,
        plots: &plan.plots(),
    };
    let findings = report.write(&out)?;
    let failed: Vec<_> = measured.iter().filter(|one| one.outcome.is_err()).collect();
    let certified = measured.iter().filter(|one| one.certified).count();
    let verdict = if failed.is_empty() { Verdict::Agree } else { Verdict::Disagree };
    if args.json {
        print_json(&SweepResult {
            about: &plan.about,
            points: measured.len(),
            certified,
            failed: failed.len(),
            impossible: impossible.iter().map(|one| one.points).sum(),
            findings: &findings,
            rtl: &rtl,
            out: &out,
        })?;
        return Ok(verdict);
    }
    outln!("{}", plan.about)?;
    for finding in &findings {
        outln!("  {finding}")?;
    }
    let kept = measured.iter().filter(|one| one.kept).count() as u64;
    let before =
        if kept > 0 { format!(", {} of them measured before", grouped(kept)) } else { String::new() };
    outln!("  points       {}{before}", grouped(measured.len() as u64))?;
    outln!("  certified    {} in lockstep, every answer accepted by the oracle", grouped(certified as u64))?;
    for one in &failed {
        let labels: Vec<_> = one.point.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let reason = one.outcome.as_ref().err().map_or("", String::as_str);
        outln!("  failed       {}: {reason}", labels.join(", "))?;
    }
    outln!("  report       {}", PathBuf::from(&out).join(file::PAGE).display())?;
    outln!("  rtl          {rtl}")?;
    Ok(verdict)
}

/// Finds the tools for `cost = "mapped"`. Without the tools, prints a note, and the caller estimates the
/// cost.
fn cost_tools() -> Result<Option<CostTools>, CliError> {
    match cost::tools(&ToolChoice::from_process()) {
        Ok(tools) => Ok(Some(tools)),
        Err(error) if error.is_missing() => {
            note!("atoms: area and clock are estimates: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Measures the points as tasks of an array job, which save them in the store. Returns false if interrupted.
fn on_slurm(args: &SweepArgs, plan: &SweepFile, out: &Path) -> Result<bool, CliError> {
    if plan.search.is_some() {
        return Err(message!("a search runs in one process: remove `--executor slurm`"));
    }
    let program = std::env::current_exe()?;
    let mut task = format!(
        "exec {} explore sweep {} --shard $SLURM_ARRAY_TASK_ID/{}",
        shell(&program),
        shell(&args.file),
        args.shards
    );
    if let Some(seed) = args.seed {
        task += &format!(" --seed {seed}");
    }
    if args.certify == CertifyArg::None {
        task += " --certify none";
    }
    if let Some(jobs) = args.jobs {
        task += &format!(" --jobs {jobs}");
    }
    std::fs::create_dir_all(out)?;
    // No time for a slow shared file system: the points are only read after the job has ended.
    let options = SlurmOptions { args: args.slurm_arg.clone(), settle: Duration::ZERO };
    let job = ArrayJob::new(SlurmCommands::default(), options, (out, "slurm-%a.log"), &task, &task)?;
    if !job.is_live()? {
        let number = job.submit(&(1..=args.shards).collect::<Vec<_>>())?;
        note!("atoms: {} tasks submitted as {number}", args.shards);
    }
    // A Slurm task also fails if one of its points has no measurement. The caller then measures the missing
    // points itself.
    let outcome = job.wait(interrupt::seen(), || Ok(false))?;
    if outcome == WaitOutcome::Cancelled {
        note!(
            "atoms: interrupted, the Slurm job was cancelled; run the same command again to measure the missing points"
        );
    }
    Ok(outcome != WaitOutcome::Cancelled)
}

/// Measures a shard of the points. A run without `--shard` finds the results in the store.
fn measure_shard(
    run: &SweepRun<'_>,
    plan: &SweepFile,
    args: &SweepArgs,
    shard: PointShard,
) -> Result<Verdict, CliError> {
    if plan.search.is_some() {
        return Err(message!(
            "a search has no shards, because each generation depends on the last: remove --shard"
        ));
    }
    let mut found = plan.points(&args.file, run.rtl_dir)?;
    let mut place = 0..;
    found.points.retain(|_| place.next().is_some_and(|place| shard.has(place)));
    let Some(Searched { measured, .. }) = swept(run, found)? else { return Ok(Verdict::Interrupted) };
    let failed = measured.iter().filter(|one| one.outcome.is_err()).count();
    let kept = measured.len() - failed;
    if args.json {
        print_json(&ShardResult { shard: shard.number, of: shard.of, points: measured.len(), failed })?;
    } else {
        outln!(
            "shard {} of {}: {} measured and kept, {failed} failed",
            shard.number,
            shard.of,
            counted(kept as u64)
        )?;
    }
    Ok(if failed == 0 { Verdict::Agree } else { Verdict::Disagree })
}

fn swept(run: &SweepRun<'_>, found: SweepPoints) -> Result<Option<Searched>, CliError> {
    let bar = bar(found.points.len() as u64, "points");
    let measured = sweep(run, found.points, &mut |progress| match progress {
        SweepProgress::Build(step) => bar.suspend(|| build_step(step)),
        SweepProgress::Points { done, .. } => bar.set_position(done as u64),
    });
    bar.finish_and_clear();
    match measured {
        Ok(measured) => Ok(Some(Searched { measured, impossible: found.impossible })),
        Err(error) => unless_interrupted(error),
    }
}

fn searched(
    run: &SweepRun<'_>,
    plan: &SweepFile,
    args: &SweepArgs,
    goals: &SearchFile,
) -> Result<Option<Searched>, CliError> {
    let bar = bar((goals.population * (goals.generations + 1)) as u64, "points at most");
    let found = search(run, plan, &args.file, goals, &mut |progress| match progress {
        SweepProgress::Build(step) => bar.suspend(|| build_step(step)),
        SweepProgress::Points { done, of, .. } => {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        }
    });
    bar.finish_and_clear();
    match found {
        Ok(found) => {
            tell(&found.impossible);
            Ok(Some(found))
        }
        Err(error) => unless_interrupted(error),
    }
}

fn unless_interrupted(error: SweepRunError) -> Result<Option<Searched>, CliError> {
    match error {
        SweepRunError::Interrupted => {
            note!("atoms: {error}");
            Ok(None)
        }
        error => Err(error.into()),
    }
}

fn tell(impossible: &[Impossible]) {
    for Impossible { rule, points } in impossible {
        note!("atoms: {} skipped as impossible: {rule}", counted(*points));
    }
}

fn counted(points: u64) -> String {
    format!("{} point{}", grouped(points), if points == 1 { "" } else { "s" })
}
