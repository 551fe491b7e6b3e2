//! Regression in one process: runs tests on worker threads and stores results in an output folder.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use atoms_cosim::case::trials::Effort;
use atoms_cosim::rtl::{self, BuildStep};
use atoms_cosim::unit_folder::UnitFolderError;
use atoms_coverage::{CoverageFileError, Model};
use atoms_verilated::{BuildError, Environment, Progress as Step, Toolchain, Variant};
use bitvec::vec::BitVec;

use crate::coverage::waivers::{WaiverError, Waivers};
use crate::plan::{Job, Plan, PlanChoice, PlanError, Test, Tests};
use crate::run::journal::{self, Crash, WorkerJournal};
use crate::run::origin::Origin;
use crate::run::result::{FailureRecord, TestResult};
use crate::run::scheduler::{self, Collect, Limits, Worker};
use crate::run::state::{RegressionState, TestRecord};
use crate::run::store::{self, Bundles, RunCheckpoint, RunHeader, Store, StoreError};
use crate::run::timing::{RtlBuild, Timing};
use crate::run::worker::{Context, Runner, TestOutcome};
use crate::triage;
use crate::triage::bucket::Bucket;
use crate::triage::bundle::{BundleContext, Original};
use crate::triage::test_failure::FailedRun;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Building the RTL of this configuration failed.
    #[error("cannot build or load the RTL of `{0}`")]
    Rtl(String, #[source] Box<BuildError>),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file that results depend on, or a report, cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("waivers of the profile: {0}")]
    Waivers(#[from] WaiverError),
    /// A resumed run differs from the original run in plan, RTL, program or input files.
    #[error("{0}")]
    Changed(String),
    /// An output folder was named twice for one merge.
    #[error("`{}` is named twice, and its coverage would be counted twice", .0.display())]
    Twice(PathBuf),
    /// A file of coverage cannot be merged.
    #[error(transparent)]
    Coverage(#[from] CoverageFileError),
    /// The RTL folder of another unit cannot be written.
    #[error(transparent)]
    Unit(#[from] UnitFolderError),
    #[error("junit.xml: {0}")]
    Junit(#[from] quick_junit::SerializeError),
}

/// Maximum number of differences in an error message.
const DIFFERENCES: usize = 4;

#[derive(Clone, Debug)]
pub struct RunRequest {
    pub plan: PathBuf,
    pub choice: PlanChoice,
    pub rtl_dir: PathBuf,
    /// Declaration of another unit, whose RTL is in `rtl_dir`.
    pub unit: Option<PathBuf>,
}

impl RunRequest {
    /// Expands the plan into tests and makes the header of the output folder.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn tests(&self) -> Result<(Tests, RunHeader), SessionError> {
        let (plan, text) = Plan::read(&self.plan)?;
        let model = Model::standard();
        let tests = Tests::of(&self.plan, &plan, &self.choice, &self.rtl_dir, &model)?;
        // Check the waivers now: a mistake in them must not show hours later, when all tests have run.
        if let Some(path) = tests.waivers(&self.plan) {
            Waivers::read(&path, &self.rtl_dir, &model)?;
        }
        let header = RunHeader {
            format: store::FORMAT,
            origin: self.origin(&tests)?,
            plan: std::path::absolute(&self.plan).unwrap_or_else(|_| self.plan.clone()),
            text,
            profile: Some(tests.profile.clone()).filter(|_| !plan.profiles.is_empty()),
            seed: tests.seed,
            tags: self.choice.tags.clone(),
            configs: self.choice.configs.clone(),
            unit: self.unit.as_ref().map(std::path::absolute).transpose()?,
        };
        Ok((tests, header))
    }

    /// Reads the request stored in an output folder. Fails if plan, RTL, program or input files have changed.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn again(dir: &Path, rtl_dir: PathBuf) -> Result<(Tests, RunHeader), SessionError> {
        let was = store::header(dir)?;
        let choice = PlanChoice {
            profile: was.profile.clone(),
            seed: Some(was.seed),
            tags: was.tags.clone(),
            configs: was.configs.clone(),
        };
        let (tests, now) =
            RunRequest { plan: was.plan.clone(), choice, rtl_dir, unit: was.unit.clone() }.tests()?;
        let mut changed = was.origin.differences(&now.origin, "then", "now");
        if was.text != now.text {
            changed.push(format!("`{}` has changed", was.plan.display()));
        }
        if changed.is_empty() {
            return Ok((tests, now));
        }
        let help = "old and new results must not be mixed: start again with `atoms regress --force`";
        let more = changed.len().saturating_sub(DIFFERENCES);
        changed.truncate(DIFFERENCES);
        if more > 0 {
            changed.push(format!("{more} more"));
        }
        let changed = changed.join("; ");
        Err(SessionError::Changed(format!("cannot resume `{}`: {changed}; {help}", dir.display())))
    }

    fn origin(&self, tests: &Tests) -> Result<Origin, SessionError> {
        let rtl = rtl::rtl_hash(&self.rtl_dir)
            .map_err(|source| SessionError::Rtl("*".to_string(), Box::new(source)))?;
        // Relative to the plan, so that runs in two checkouts compare equal.
        let folder = self.plan.parent().unwrap_or(Path::new(""));
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let inputs = tests.files.iter().map(|path| (name(path), path.clone()));
        Ok(Origin::of_process(env!("CARGO_PKG_VERSION"), &rtl, inputs)?)
    }
}

/// Builds the RTL for `tests` and collects the other data that workers share.
///
/// # Errors
/// [`SessionError::Rtl`].
pub fn prepare(
    tests: Tests,
    rtl_dir: &Path,
    progress: &mut dyn FnMut(&BuildStep),
) -> Result<Context, SessionError> {
    let variant = tests.settings.rtl_coverage.variant();
    let began = Instant::now();
    let mut built = 0;
    let mut counting = |step: &BuildStep| {
        built += u64::from(matches!(step.step, Step::Built { .. }));
        progress(step);
    };
    let libraries = rtl::libraries(rtl_dir, &tests.configs, variant, &mut counting)
        .map_err(|failed| SessionError::Rtl(failed.0.name.clone(), Box::new(failed.1)))?;
    let seconds = began.elapsed().as_secs_f64();
    let tools = Toolchain::find(&Environment::from_process()).map_or_else(
        |_| String::new(),
        |tools| format!("Verilator {}, {}", tools.verilator.version, tools.compiler.identity),
    );
    let (place, commit) = (rtl::place(rtl_dir), commit(rtl_dir));
    let rtl = RtlBuild { place, libraries: built, seconds, commit, tools };
    let model = Model::standard();
    let reachable =
        tests.configs.iter().map(|named| model.reachable_by(&named.config, named.unit.as_deref())).collect();
    let baseline = tests.corpus.covered().clone();
    Ok(Context { tests, rtl_dir: rtl_dir.to_path_buf(), rtl, libraries, model, reachable, baseline })
}

/// Returns the commit of the checkout that contains `folder`, in the format of [`RtlBuild::commit`].
fn commit(folder: &Path) -> String {
    let described = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["describe", "--always", "--exclude=*", "--abbrev=12", "--dirty= (dirty)"])
        .output();
    let described = described.ok().filter(|output| output.status.success());
    described.map_or_else(String::new, |output| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// # Errors
/// [`StoreError`].
pub fn create(
    dir: &Path,
    tests: &Tests,
    header: &RunHeader,
    executor: &str,
    force: bool,
) -> Result<(), StoreError> {
    let mut store = Store::create(dir, header, false, force)?;
    let configs: Vec<_> = tests.configs.iter().map(|config| config.name.clone()).collect();
    let state = RegressionState::new(0, Model::standard().bins(), &tests.entries, &configs);
    let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let timing = Timing { started: started.as_secs(), executor: executor.to_string(), ..Timing::default() };
    store.checkpoint(&state, &timing, false)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RunProgress {
    /// Number of tests with a result.
    pub done: u64,
    /// Total number of tests; `None` if only wall time or cycles limit the run.
    pub tests: Option<u64>,
    pub failures: u64,
    pub buckets: u64,
    /// Number of bins hit, and of bins that the configurations of the plan can hit.
    pub bins: (u64, u64),
    /// Wall time since the start of this process.
    pub elapsed: Duration,
    /// Wall time that remains; `None` without a limit.
    pub left: Option<Duration>,
}

/// Runs the tests of `range` into `store`, starting after `checkpoint`. Returns the final checkpoint, which
/// is complete unless the run was stopped.
///
/// # Errors
/// [`StoreError`].
pub fn run(
    context: &Context,
    range: Range<u64>,
    mut store: Store,
    checkpoint: Option<RunCheckpoint>,
    limits: &Limits,
    progress: &mut dyn FnMut(&RunProgress),
) -> Result<RunCheckpoint, StoreError> {
    let (state, timing) = match checkpoint {
        Some(checkpoint) => (checkpoint.state, checkpoint.timing),
        None => (context.state(range.start), Timing::default()),
    };
    let began = Instant::now();
    let wall = context.tests.settings.wall.map(|wall| {
        // Subtract the wall time that the interrupted run has used.
        wall.saturating_sub(Duration::from_secs_f64(timing.wall_s))
    });
    let until = wall.and_then(|wall| began.checked_add(wall));
    let limits = Limits { until: [limits.until, until].into_iter().flatten().min(), ..*limits };
    let crashes = journal::crashes(store.dir())?;
    journal::clear(store.dir())?;
    let range = state.next..range.end;
    let timing = Timing { jobs: limits.jobs as u32, ..timing };
    let dir = store.dir().to_path_buf();
    // Open all journals here, so that an error ends the run before worker threads start.
    let journals =
        (0..limits.jobs).map(|worker| WorkerJournal::open(&dir, worker)).collect::<Result<Vec<_>, _>>()?;
    store.checkpoint(&state, &timing, false)?;
    let bundles = store.bundles();
    let worker = |worker: usize| Local {
        runner: Runner::new(context, Some(&journals[worker])),
        journal: &journals[worker],
        context,
        bundles: &bundles,
    };
    let mut collect = Collector {
        context,
        reachable: context.reachable_by_any(),
        store: &mut store,
        state,
        base: timing.clone(),
        timing,
        crashes,
        began,
        until: limits.until,
        saved: Instant::now(),
        progress,
        end: range.end,
        unbundled: 0,
    };
    let ended = scheduler::run(range.clone(), &limits, worker, &mut collect);
    let complete = ended.is_ok() && collect.complete(&range);
    collect.clock();
    let Collector { state, timing, unbundled, .. } = collect;
    // Save the results taken so far even after an error, unless some failures still lack a bundle.
    let saved = if unbundled == 0 { store.checkpoint(&state, &timing, complete) } else { Ok(()) };
    ended?;
    saved?;
    journal::clear(&dir)?;
    Ok(RunCheckpoint { complete, state, timing, ..RunCheckpoint::default() })
}

impl Context {
    pub fn state(&self, from: u64) -> RegressionState {
        let configs: Vec<_> = self.tests.configs.iter().map(|config| config.name.clone()).collect();
        RegressionState::new(from, self.model.bins(), &self.tests.entries, &configs)
    }

    pub fn reachable_by_any(&self) -> BitVec {
        self.reachable.iter().fold(BitVec::repeat(false, self.model.bins()), |any, one| any | one)
    }
}

struct Local<'a> {
    runner: Runner<'a>,
    journal: &'a WorkerJournal,
    context: &'a Context,
    bundles: &'a Bundles,
}

impl Worker for Local<'_> {
    type Bundle = Result<Bucket, String>;

    fn test(&mut self, test: &Test) -> TestOutcome {
        self.journal.test(test.index, test.timeout, None);
        let outcome = self.runner.run(test);
        self.journal.idle();
        outcome
    }

    fn bundle(&mut self, test: &Test, failed: &FailedRun) -> Self::Bundle {
        self.journal.bundle(test.index);
        let bundle = bundle(self.context, test, failed, &self.bundles.of(test.index));
        self.journal.idle();
        bundle
    }
}

const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

struct Collector<'a> {
    context: &'a Context,
    reachable: BitVec,
    store: &'a mut Store,
    state: RegressionState,
    /// Timing at the start of this process, non-zero in a resumed run.
    base: Timing,
    timing: Timing,
    crashes: BTreeMap<u64, Crash>,
    began: Instant,
    until: Option<Instant>,
    saved: Instant,
    progress: &'a mut dyn FnMut(&RunProgress),
    end: u64,
    /// Number of failures that still need triage.
    unbundled: u64,
}

impl Collector<'_> {
    fn clock(&mut self) {
        self.timing.wall_s = self.base.wall_s + self.began.elapsed().as_secs_f64();
    }

    /// Returns true if no test of the range remains within the budget.
    fn complete(&self, range: &Range<u64>) -> bool {
        let wall = self.context.tests.settings.wall.is_some()
            && self.until.is_some_and(|until| Instant::now() >= until);
        self.state.next >= range.end || !self.context.tests.has(self.state.next) || self.enough() || wall
    }

    fn tell(&mut self) {
        let totals = self.state.totals;
        let progress = RunProgress {
            done: self.state.next - self.state.from,
            tests: self.context.tests.count().map(|count| count.min(self.end) - self.state.from),
            failures: totals.not_passed(),
            buckets: self.state.buckets.len() as u64,
            bins: (self.state.hits.hit().count_ones() as u64, self.reachable.count_ones() as u64),
            elapsed: self.began.elapsed(),
            left: self.until.map(|until| until.saturating_duration_since(Instant::now())),
        };
        (self.progress)(&progress);
    }
}

impl Collect for Collector<'_> {
    type Bundle = Result<Bucket, String>;
    type Error = StoreError;

    fn test(&mut self, index: u64) -> Option<Test> {
        self.context.tests.test(index)
    }

    fn known(&mut self, test: &Test) -> Option<TestOutcome> {
        let crash = self.crashes.get(&test.index).filter(|crash| !crash.bundle)?;
        let mut outcome = TestOutcome::ended(test, crash.failure(), Duration::ZERO);
        if let Some(failed) = &mut outcome.failed {
            failed.episode.clone_from(&crash.episode);
        }
        Some(outcome)
    }

    fn take(&mut self, test: &Test, outcome: TestOutcome) -> Result<Option<Box<FailedRun>>, StoreError> {
        let TestOutcome { status, work, hits, finds, rtl, failed, took } = outcome;
        let failure = failed.as_ref().map(|failed| FailureRecord {
            bucket: failed.signature.clone(),
            cycle: failed.cycle,
            text: failed.failure.to_string(),
            episode: failed.episode.clone(),
        });
        let result = TestResult {
            index: test.index,
            name: test.name.clone(),
            entry: test.entry.clone(),
            config: self.context.tests.configs[test.config].name.clone(),
            status,
            work,
            new_bins: 0,
            failure,
        };
        let record = TestRecord { result, candidates: hits.hit().iter_ones().collect(), finds };
        let (record, new) = self.state.take(record);
        self.state.count_hits(&hits);
        if let Some(rtl) = rtl {
            self.state.rtl.add(&rtl);
        }
        self.store.push(&record, took.as_secs_f64() * 1e3)?;
        self.timing.count(&test.name, took.as_secs_f64());
        let mut failed = failed.filter(|_| new);
        if failed.is_some()
            && let Some(crash) = self.crashes.get(&test.index).filter(|crash| crash.bundle)
        {
            let reason = format!("the process that minimized the case died: {}", crash.death);
            self.state.bundled(test.index, Err(reason));
            failed = None;
        }
        self.unbundled += u64::from(failed.is_some());
        Ok(failed)
    }

    fn bundled(&mut self, test: &Test, bundle: Result<Self::Bundle, String>) -> Result<(), StoreError> {
        self.state.bundled(test.index, bundle.and_then(|bundle| bundle));
        self.unbundled = self.unbundled.saturating_sub(1);
        Ok(())
    }

    fn tick(&mut self) -> Result<(), StoreError> {
        self.clock();
        // No checkpoint while triage is pending: a resumed run triages only failures after its checkpoint.
        if self.unbundled == 0 && self.saved.elapsed() >= CHECKPOINT_EVERY {
            self.store.checkpoint(&self.state, &self.timing, false)?;
            self.saved = Instant::now();
        }
        self.tell();
        Ok(())
    }

    fn enough(&self) -> bool {
        self.context.tests.settings.cycles.is_some_and(|cycles| self.state.totals.work.cycles >= cycles)
    }
}

fn bundle(context: &Context, test: &Test, failed: &FailedRun, failures: &Path) -> Result<Bucket, String> {
    let case;
    let original = match (&failed.episode, &test.job) {
        (Some(episode), _) => Original::Episode(episode),
        (None, Job::Case(path)) => {
            let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
            case = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            Original::Case(&case)
        }
        (None, Job::Kernel { file, launch }) => Original::Kernel { listing: file, launch, arch: None },
        (None, Job::Series { .. } | Job::Episodes(_)) => {
            return Err("the test started no run that could be repeated".to_string());
        }
    };
    let config = &context.tests.configs[test.config];
    let mut library = context.libraries[test.config].clone();
    if !library.variant().has_snapshots() {
        // Minimizing needs snapshots, which RTL builds with coverage lack.
        library = rtl::library(&context.rtl_dir, config, Variant::Fast, &mut |_| {})
            .map_err(|error| error.to_string())?;
    }
    let about = BundleContext {
        test: &test.name,
        index: test.index,
        seed: context.tests.seed,
        config,
        rtl_dir: &context.rtl_dir,
        library: &library,
        original,
        effort: Effort::default(),
        // The search for causes knows only this project's RTL.
        causes: context.tests.settings.causes && config.unit.is_none(),
    };
    triage::bundle::bundle(&about, failed, failures).map_err(|error| error.to_string())
}

/// Runs one test, with triage of its failure if requested, and stores no result. Meant for tests that may
/// kill the process.
///
/// # Errors
/// [`StoreError`].
pub fn alone(context: &Context, index: u64, triage_too: bool, out: &Path) -> Result<(), StoreError> {
    let Some(test) = context.tests.test(index) else { return Ok(()) };
    let journal = WorkerJournal::open(out, 0)?;
    journal.test(index, test.timeout, None);
    let outcome = Runner::new(context, Some(&journal)).run(&test);
    if let (true, Some(failed)) = (triage_too, outcome.failed) {
        journal.bundle(index);
        let _ = bundle(context, &test, &failed, &out.join(store::ALONE));
    }
    Ok(())
}
