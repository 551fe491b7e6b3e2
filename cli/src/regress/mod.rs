//! `atoms regress`: runs the tests of a plan.

pub(crate) mod repro;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atoms_cosim::embedded::rtl_dir;
use atoms_regress::cluster::result::{Published, publish, verify, work_folder};
use atoms_regress::cluster::shard;
use atoms_regress::cluster::slurm::{SlurmCommands, SlurmOptions, SlurmShards, WaitOutcome};
use atoms_regress::cluster::{Cut, Manifest};
use atoms_regress::plan::{PlanChoice, Tests};
use atoms_regress::report;
use atoms_regress::report::finish::finish;
use atoms_regress::report::json::RegressionResult;
use atoms_regress::report::summary::Summary;
use atoms_regress::run::journal::Suspect;
use atoms_regress::run::scheduler::Limits;
use atoms_regress::run::session::{self, RunProgress, RunRequest};
use atoms_regress::run::store::{self, RunHeader, Store};
use atoms_regress::run::supervisor::{ControlPipe, StopMode, SupervisorEvent, listen, supervise};
use atoms_regress::run::timing::Timing;
use atoms_regress::run::worker::Context;
use atoms_verilated::Environment;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::points;
use crate::args::regress::{ClusterArgs, CutArgs, Executor, RegressArgs, RegressCommand, Workers};
use crate::machine::{self, shell};
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::{build_step, grouped};
use crate::output::{note, out, outln};

pub(crate) fn regress(args: &RegressArgs) -> Result<Verdict, CliError> {
    match &args.command {
        None => begin(args),
        Some(RegressCommand::Resume { out, workers, json, cluster }) => {
            let (tests, header) = again(out)?;
            let whole = Whole { out, workers, json: *json };
            // Resume with the executor of the first start, even if no job was submitted yet.
            if store::checkpoint(out)?.timing.executor == SLURM {
                let options = cluster.over(SlurmOptions::of(out)?);
                return on_slurm(&whole, &prepare(tests)?, &header, options);
            }
            whole.run(&prepare(tests)?, &header)
        }
        Some(RegressCommand::Merge { out, json }) => {
            let (tests, header) = again(out)?;
            let workers = Workers { jobs: None };
            merge(&Whole { out, workers: &workers, json: *json }, &prepare(tests)?, &header)
        }
        Some(RegressCommand::Shard { out, shard, workers }) => run_shard(out, *shard, workers),
        Some(RegressCommand::Worker { out, workers, end, records, alone, bundle }) => match alone {
            Some(index) => run_alone(out, *index, *bundle),
            None => worker(out, workers, *end, *records),
        },
    }
}

/// Reads the tests and header of an existing output folder.
fn again(out: &Path) -> Result<(Tests, RunHeader), CliError> {
    if let Some(unit) = store::header(out)?.unit {
        machine::use_unit(&unit)?;
    }
    Ok(RunRequest::again(out, rtl_dir())?)
}

/// Builds the RTL with visible progress. The worker process then finds it in the cache.
fn prepare(tests: Tests) -> Result<Context, CliError> {
    Ok(session::prepare(tests, &rtl_dir(), &mut build_step)?)
}

fn plan(args: &RegressArgs) -> Result<PathBuf, CliError> {
    if let Some(plan) = &args.plan {
        return Ok(plan.clone());
    }
    let places = [PathBuf::from("regress.toml"), rtl_dir().with_file_name("regress.toml")];
    places.into_iter().find(|plan| plan.is_file()).ok_or_else(|| {
        message!(
            "no plan: name one, as in `atoms regress PLAN.toml`, or run in a checkout, which has a regress.toml"
        )
    })
}

fn begin(args: &RegressArgs) -> Result<Verdict, CliError> {
    let profile = match (args.smoke, args.nightly) {
        (true, _) => Some("smoke".to_string()),
        (_, true) => Some("nightly".to_string()),
        _ => args.profile.clone(),
    };
    let plan = plan(args)?;
    let configs = match &args.unit {
        Some(unit) => vec![machine::use_unit(unit)?],
        None => points(&args.config, &args.set),
    };
    let choice = PlanChoice { profile, seed: args.seed, tags: args.tag.clone(), configs };
    let request = RunRequest { plan, choice, rtl_dir: rtl_dir(), unit: args.unit.clone() };
    let (tests, header) = request.tests()?;
    if args.list {
        return list(&tests);
    }
    if args.executor == Executor::Local && (args.cut.given() || args.cluster != ClusterArgs::default()) {
        return Err(message!("cluster options are for --executor slurm: add it, or remove these options"));
    }
    let default = || Environment::from_process().target.join("regress").join(&tests.profile);
    let out = args.out.clone().unwrap_or_else(default);
    // Reports and messages contain the path in commands to paste.
    if out.to_string_lossy().chars().any(char::is_control) {
        let out = out.display().to_string();
        return Err(message!(
            "--output: `{}` has control characters; choose another folder name",
            out.escape_debug()
        ));
    }
    let whole = Whole { out: &out, workers: &args.workers, json: args.json };
    let executor = match args.executor {
        Executor::Local => "local",
        Executor::Slurm => SLURM,
    };
    let mut files = machine::files();
    args.unit.iter().for_each(|file| _ = files.reads("the unit", file));
    files.reads("the plan", &request.plan).writes("--output", &out).check()?;
    session::create(&out, &tests, &header, executor, args.force)?;
    match args.executor {
        Executor::Local => whole.run(&prepare(tests)?, &header),
        Executor::Slurm => {
            let options = args.cluster.over(SlurmOptions::default());
            shard::cut(&out, &tests, &header, args.cut.cut())?;
            on_slurm(&whole, &prepare(tests)?, &header, options)
        }
    }
}

/// Prints index and name of each test. If only a budget ends the run, prints only the tests that always run.
fn list(tests: &Tests) -> Result<Verdict, CliError> {
    let most = tests.count().unwrap_or(u64::MAX);
    let mut index = 0;
    while index < most
        && let Some(test) = tests.test(index)
    {
        if tests.count().is_none() && index >= tests.fixed_count() {
            outln!("... and more, until the budget is used up")?;
            break;
        }
        outln!("{:6} {}", test.index, report::text::plain(&test.name))?;
        index += 1;
    }
    Ok(Verdict::Agree)
}

struct Whole<'a> {
    out: &'a Path,
    workers: &'a Workers,
    json: bool,
}

impl Whole<'_> {
    fn run(&self, context: &Context, header: &RunHeader) -> Result<Verdict, CliError> {
        match supervised(self.out, self.workers, &[])? {
            Ended::ByItself => {}
            Ended::AtOnce => goes_on(self.out),
            // The worker has already printed the error.
            Ended::Failed => return Ok(Verdict::NotAsked),
        }
        let mut checkpoint = store::checkpoint(self.out)?;
        checkpoint.timing.rtl = context.rtl.clone();
        let summary = finish(context, header, &checkpoint, self.out, self.out)?;
        self.report(&summary, &checkpoint.timing)
    }

    /// Converts bundle paths from relative to the output folder to relative to the current folder.
    fn as_seen_from_here(&self, summary: &Summary) -> Summary {
        let mut summary = summary.clone();
        for bucket in &mut summary.buckets {
            if let Some(bundle) = &mut bucket.bundle {
                *bundle = shell(&self.out.join(&*bundle));
                bucket.repeat = format!("{} repro {bundle}", report::command::program());
            }
        }
        summary
    }

    fn report(&self, summary: &Summary, timing: &Timing) -> Result<Verdict, CliError> {
        let page = shell(&self.out.join("report.html"));
        let said = if self.json {
            outln!("{}", RegressionResult { summary, timing, page: &page }.json())
        } else {
            out!("{}", report::text::report(&self.as_seen_from_here(summary), timing, &page))
        };
        if let Err(error) = said {
            if !matches!(error, CliError::ClosedPipe) {
                note!("regress: the results are in {}", shell(self.out));
            }
            return Err(error);
        }
        if !summary.complete {
            goes_on(self.out);
        }
        Ok(Verdict::of_regression(summary))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The process ended by itself: no test was left, or the run was told to start no more tests.
    ByItself,
    /// A second signal ended the run during its tests.
    AtOnce,
    /// The worker could not run the tests.
    Failed,
}

/// Runs the remaining tests of `folder` in a worker process, and restarts the worker if it dies.
fn supervised(folder: &Path, workers: &Workers, more: &[String]) -> Result<Ended, CliError> {
    let pipe = Arc::new(ControlPipe::default());
    let held = Arc::clone(&pipe);
    let asked = move || match held.stop() {
        StopMode::Finish => {
            note!("regress: finishes the running tests; press Ctrl-C again to stop immediately")
        }
        StopMode::End => note!("regress: stops immediately"),
    };
    ctrlc::set_handler(asked)?;
    let program = std::env::current_exe()?;
    let command = |more: &[String]| {
        let mut command = Command::new(&program);
        command.args(["regress", "worker"]).args(more).arg("--").arg(folder);
        command
    };
    let mut whole = vec!["--jobs".to_string(), jobs(workers).to_string()];
    whole.extend_from_slice(more);
    let alone = |suspect| {
        let (index, bundle) = match suspect {
            Suspect::Test(index) => (index, None),
            Suspect::Bundle(index) => (index, Some("--bundle".to_string())),
        };
        let mut arguments = vec!["--alone".to_string(), index.to_string()];
        arguments.extend(bundle);
        command(&arguments)
    };
    let status = supervise(folder, || command(&whole), alone, &pipe, tell)?;
    Ok(match status.success() {
        true => Ended::ByItself,
        false if pipe.is_stopping() => Ended::AtOnce,
        false => Ended::Failed,
    })
}

fn run_shard(out: &Path, number: u32, workers: &Workers) -> Result<Verdict, CliError> {
    let (tests, header) = again(out)?;
    let manifest = Manifest::read(out)?;
    manifest.admit(out, &header.origin)?;
    let tests_of = manifest.shard(number)?;
    if verify(out, &manifest, number).is_ok() {
        outln!("shard {number} already has a result")?;
        return Ok(Verdict::Agree);
    }
    let context = prepare(tests)?;
    let work = work_folder(out, number);
    shard::begin(&work, &context, &header, tests_of)?;
    let more = ["--records".to_string(), "--end".to_string(), tests_of.end.to_string()];
    if supervised(&work, workers, &more)? == Ended::Failed {
        return Ok(Verdict::NotAsked);
    }
    let complete = store::checkpoint(&work)?.state.next >= tests_of.end;
    if !complete {
        let _ = std::fs::remove_dir_all(&work);
        return Err(message!("shard {number} was stopped before its last test"));
    }
    match publish(out, &manifest, &header.origin, number, &work)? {
        Published::New => outln!("shard {number}: {} tests", tests_of.end - tests_of.first)?,
        Published::AlreadyThere => {
            outln!("shard {number}: another task has published a result, which is kept")?;
        }
    }
    Ok(Verdict::Agree)
}

const SLURM: &str = "slurm";

/// Submits the shards without a result, waits for them, and merges all results.
fn on_slurm(
    whole: &Whole<'_>,
    context: &Context,
    header: &RunHeader,
    options: SlurmOptions,
) -> Result<Verdict, CliError> {
    let manifest = Manifest::read(whole.out)?;
    manifest.admit(whole.out, &header.origin)?;
    let program = std::env::current_exe()?;
    let commands = SlurmCommands::default();
    let shards = SlurmShards::new(commands, whole.out, &program, options)?;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || asked.store(true, Ordering::SeqCst))?;
    if let Some((submitted, job)) = shards.submit()? {
        note!("regress: {} shards submitted as {job}", submitted.len());
    }
    let bar = crate::output::progress::bar(u64::from(manifest.count()), "shards");
    let outcome = shards.wait(&stop, &mut |done| bar.set_position(u64::from(done)));
    bar.finish_and_clear();
    match outcome? {
        (WaitOutcome::Done, _) => merge(whole, context, header),
        (WaitOutcome::Cancelled, _) => {
            note!("regress: the job was cancelled");
            goes_on(whole.out);
        }
        (WaitOutcome::Ended, missing) => {
            let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
            Err(message!(
                "shards without a result:\n{}\nrun them with `{} regress resume {}`",
                missing.join("\n"),
                report::command::program(),
                shell(whole.out)
            ))
        }
    }
}

fn merge(whole: &Whole<'_>, context: &Context, header: &RunHeader) -> Result<Verdict, CliError> {
    let manifest = Manifest::read(whole.out)?;
    manifest.admit(whole.out, &header.origin)?;
    let summary = shard::merge(whole.out, &manifest, context, header)?;
    let timing = store::checkpoint(whole.out)?.timing;
    whole.report(&summary, &timing)
}

fn tell(event: &SupervisorEvent) {
    match event {
        SupervisorEvent::Died { how, suspects } => {
            note!("regress: the process died ({how}); tests in progress, which now run alone: {suspects}");
        }
        SupervisorEvent::Hung { tests } => {
            let tests = tests.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            note!("regress: the process was killed: no progress in test {tests}");
        }
        SupervisorEvent::GoesOn { crashed } => {
            note!("regress: continues without the tests that crash: {}", crashed.len());
        }
    }
}

fn jobs(workers: &Workers) -> usize {
    workers.jobs.map_or_else(atoms_verilated::cores, |jobs| jobs as usize)
}

/// Entry point of the worker process. Resumes from the checkpoint in `out`.
fn worker(out: &Path, workers: &Workers, end: Option<u64>, records: bool) -> Result<Verdict, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    // A terminal sends Ctrl-C to all its processes. The parent process decides the reaction.
    let on_signal = Arc::clone(&stop);
    ctrlc::set_handler(move || on_signal.store(true, Ordering::SeqCst))?;
    let on_pull = Arc::clone(&stop);
    // Listen to the parent process before the RTL build, so that a build also ends with the parent process.
    std::thread::spawn(move || listen(std::io::stdin().lock(), || on_pull.store(true, Ordering::SeqCst)));
    let context = prepare(again(out)?.0)?;
    let (store, checkpoint) = Store::reopen(out, records)?;
    let limits = Limits { jobs: jobs(workers), until: None, stop: &stop };
    let bar = bar();
    let mut show = |progress: &RunProgress| show(&bar, progress);
    let range = 0..end.unwrap_or(u64::MAX);
    let outcome = session::run(&context, range, store, Some(checkpoint), &limits, &mut show);
    bar.finish_and_clear();
    outcome?;
    Ok(Verdict::Agree)
}

/// Prints how to resume the interrupted run, and exits.
fn goes_on(out: &Path) -> ! {
    note!("interrupted: continue with `{} regress resume {}`", report::command::program(), shell(out));
    std::process::exit(Verdict::INTERRUPTED);
}

fn run_alone(out: &Path, index: u64, bundle: bool) -> Result<Verdict, CliError> {
    std::thread::spawn(|| listen(std::io::stdin().lock(), || ()));
    let context = prepare(again(out)?.0)?;
    session::alone(&context, index, bundle, out)?;
    Ok(Verdict::Agree)
}

fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn show(bar: &ProgressBar, progress: &RunProgress) {
    let seconds = progress.elapsed.as_secs_f64();
    let (hit, bins) = progress.bins;
    let mut text = grouped(progress.done);
    if let Some(tests) = progress.tests {
        text += &format!("/{}", grouped(tests));
        bar.set_length(tests);
        bar.set_position(progress.done);
    } else if let Some(left) = progress.left {
        let left_s = left.as_secs();
        bar.set_length(progress.elapsed.as_secs() + left_s);
        bar.set_position(progress.elapsed.as_secs());
    }
    text += &format!(" tests, {:.1}/s", progress.done as f64 / seconds.max(0.001));
    match progress.failures {
        0 => {}
        failures => text += &format!(", {failures} failed in {} buckets", progress.buckets),
    }
    if bins > 0 {
        text += &format!(", {:.1} % of bins", 100.0 * hit as f64 / bins as f64);
    }
    bar.set_message(text);
    bar.tick();
}

/// Default length of a shard in minutes.
const SHARD_MINUTES: f64 = 10.0;

impl CutArgs {
    fn cut(&self) -> Cut {
        match self.shards {
            Some(shards) => Cut::Count(shards),
            None => Cut::Seconds(60.0 * self.shard_minutes.unwrap_or(SHARD_MINUTES)),
        }
    }

    fn given(&self) -> bool {
        self.shards.is_some() || self.shard_minutes.is_some()
    }
}

impl ClusterArgs {
    /// Returns `options` with the arguments of this command added or replaced.
    fn over(&self, options: SlurmOptions) -> SlurmOptions {
        let SlurmOptions { mut args, settle } = options;
        let given = [
            ("partition", self.partition.clone()),
            ("account", self.account.clone()),
            ("time", self.time_limit.clone()),
            ("cpus-per-task", self.cpus_per_task.map(|cpus| cpus.to_string())),
        ];
        args.extend(given.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?))));
        args.extend(self.slurm_arg.iter().cloned());
        SlurmOptions { args, settle: self.settle.map_or(settle, std::time::Duration::from_secs_f64) }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        cluster: ClusterArgs,
    }

    /// Repeated options override earlier ones, because `sbatch` takes the last option of a name.
    #[test]
    fn options_given_again_override_and_others_stay() {
        let over = |arguments: &[&str], before: &SlurmOptions| {
            let line = Line::try_parse_from([&["atoms"], arguments].concat()).expect("it can be parsed");
            line.cluster.over(before.clone())
        };
        let first =
            ["--partition", "short", "--account=a", "--slurm-arg=--nice", "--settle", "2", "--time-limit=9"];
        let first = over(&first, &SlurmOptions::default());
        let args = ["--cpus-per-task=1", "--partition=short", "--account=a", "--time=9", "--nice"];
        assert_eq!(first.args, args);
        assert_eq!(first.settle, std::time::Duration::from_secs(2));
        assert_eq!(over(&[], &first), first);
        let again = over(&["--cpus-per-task=4", "--slurm-arg=--comment=x"], &first);
        assert_eq!(again.args, [&args[..], &["--cpus-per-task=4", "--comment=x"]].concat());
    }
}
