//! Runs tests on the machines of one worker.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use atoms_cosim::case::recorder::Recorder;
use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_coverage::episode::Episode;
use atoms_coverage::steer::Steering;
use atoms_coverage::{Map, Model, Sampler};
use atoms_monitor::Cycle;
use atoms_monitor::Listener;
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::{Profile, Stimulus};
use atoms_verilated::{Coverage, Library};
use bitvec::vec::BitVec;

use crate::plan::{Job, Test, Tests, derive_seed};
use crate::run::journal::{Pulse, WorkerJournal};
use crate::run::result::{Status, Work};
use crate::run::state::Find;
use crate::run::timing::RtlBuild;
use crate::triage::test_failure::{FailedRun, TestFailure};

#[derive(Debug)]
pub struct Context {
    pub tests: Tests,
    pub rtl_dir: PathBuf,
    pub rtl: RtlBuild,
    /// RTL library of each configuration in [`Tests::configs`].
    pub libraries: Vec<Library>,
    pub model: Model,
    /// Bins that each configuration can hit.
    pub reachable: Vec<BitVec>,
    /// Bins that steering ignores, since the corpus of the run hits them.
    pub baseline: BitVec,
}

#[derive(Debug)]
pub struct TestOutcome {
    pub status: Status,
    pub work: Work,
    pub hits: Map,
    /// Random runs that hit bins which no earlier run of the test had hit.
    pub finds: Vec<Find>,
    /// Coverage of RTL lines and cover properties; `None` if not measured.
    pub rtl: Option<Coverage>,
    /// Failure; `None` if the test passed.
    pub failed: Option<Box<FailedRun>>,
    pub took: Duration,
}

impl Context {
    fn first_episode(&self, test: &Test) -> Option<Episode> {
        match &test.job {
            Job::Series { stimulus, seed, requests, .. } => Some(Episode {
                config: self.tests.configs[test.config].name.clone(),
                profile: (**stimulus).clone(),
                seed: derive_seed(*seed, "0"),
                requests: *requests,
                towards: None,
            }),
            Job::Episodes(episodes) => episodes.first().cloned(),
            Job::Case(_) | Job::Kernel { .. } => None,
        }
    }
}

impl TestOutcome {
    pub fn passed(work: Work, took: Duration) -> Self {
        let (hits, finds) = (Map::default(), Vec::new());
        TestOutcome { status: Status::Passed, work, hits, finds, rtl: None, failed: None, took }
    }

    /// Makes the outcome of a test that did not run to its end.
    pub fn ended(test: &Test, failure: TestFailure, took: Duration) -> Self {
        let (status, failed) = (Status::of(&failure), FailedRun::new(failure, &test.entry, 0));
        TestOutcome { failed: Some(Box::new(failed)), status, ..TestOutcome::passed(Work::default(), took) }
    }
}

/// Machines of one worker, created when a test first needs a configuration.
#[derive(Debug)]
pub struct Runner<'a> {
    context: &'a Context,
    journal: Option<&'a WorkerJournal>,
    benches: HashMap<usize, Bench>,
}

#[derive(Debug)]
struct Bench {
    entry: String,
    named: NamedConfig,
    session: Session<Lockstep, Observers>,
}

#[derive(Debug)]
struct Observers {
    pulse: Option<Pulse>,
    sampler: Box<Sampler>,
    /// True if the current run counts bins.
    counts: bool,
    recorder: Recorder,
}

impl Listener for Observers {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        self.pulse.cycle(cycle);
        if self.counts {
            self.sampler.cycle(cycle);
        }
        self.recorder.cycle(cycle);
    }

    fn restart(&mut self) {
        self.sampler.restart();
        self.recorder.restart();
    }
}

#[derive(Debug)]
struct Run {
    hits: Map,
    work: Work,
    failed: Option<Box<FailedRun>>,
}

#[derive(Debug)]
struct Sum {
    work: Work,
    hits: Map,
    finds: Vec<Find>,
}

type Ended = Result<(), Box<FailedRun>>;

impl<'a> Runner<'a> {
    /// Creates a worker without machines. The worker records its tasks in `journal`.
    pub fn new(context: &'a Context, journal: Option<&'a WorkerJournal>) -> Self {
        Runner { context, journal, benches: HashMap::new() }
    }

    pub fn run(&mut self, test: &Test) -> TestOutcome {
        let began = Instant::now();
        let mut sum =
            Sum { work: Work::default(), hits: Map::new(self.context.model.bins()), finds: Vec::new() };
        let ended = self.job(test, began, &mut sum);
        // With configurations from the command line, a kernel that does not fit is skipped. In the
        // configurations of the plan itself, such a kernel is an error.
        let skipped = self.context.tests.other_configs
            && matches!(&ended, Err(failed) if matches!(failed.failure, TestFailure::DoesNotFit(_)));
        let failed = ended.err().filter(|_| !skipped);
        TestOutcome {
            status: match &failed {
                None if skipped => Status::Skipped,
                None => Status::Passed,
                Some(failed) => Status::of(&failed.failure),
            },
            work: sum.work,
            hits: sum.hits,
            finds: sum.finds,
            rtl: self.rtl_coverage(test.config),
            failed,
            took: began.elapsed(),
        }
    }

    /// Returns the RTL coverage since the last call, and resets it.
    fn rtl_coverage(&mut self, config: usize) -> Option<Coverage> {
        let machine = self.benches.get_mut(&config)?.session.machine_mut();
        let coverage = machine.coverage().ok()?;
        machine.zero_coverage().ok()?;
        Some(coverage)
    }

    fn job(&mut self, test: &Test, began: Instant, sum: &mut Sum) -> Ended {
        let (context, journal) = (self.context, self.journal);
        let at = |episode: &Episode| {
            if let Some(journal) = journal {
                journal.test(test.index, test.timeout, Some(episode));
            }
        };
        // Write the journal first, since the constructor of the machine runs the RTL.
        if let Some(first) = context.first_episode(test) {
            at(&first);
        }
        let bench = match self.benches.entry(test.config) {
            std::collections::hash_map::Entry::Occupied(there) => there.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                let made = Bench::new(context, journal, test.config);
                free.insert(made.map_err(|failure| without_run(failure.into(), &test.entry))?)
            }
        };
        bench.entry.clone_from(&test.entry);
        bench.session.set_deadline(began.checked_add(test.timeout));
        match &test.job {
            Job::Series { stimulus, seed, episodes, requests, steer } => {
                let mut steering = Steering::towards(context.reachable[test.config].clone());
                for nth in 0..*episodes {
                    let own = derive_seed(*seed, &nth.to_string());
                    let hit = context.baseline.clone() | sum.hits.hit();
                    let counts = steering.counts(nth, &hit);
                    let (aim, towards) = if *steer && nth > 0 {
                        steering.next(&context.model, &hit, own)
                    } else {
                        (Profile::default(), None)
                    };
                    let profile = if towards.is_some() { aim } else { (**stimulus).clone() };
                    let (config, profile) = (bench.named.name.clone(), bench.named.limit(&profile));
                    let episode = Episode { config, profile, seed: own, requests: *requests, towards };
                    at(&episode);
                    bench.episode(&episode, counts, sum)?;
                }
                Ok(())
            }
            Job::Episodes(episodes) => episodes.iter().try_for_each(|episode| {
                let episode = Episode { profile: bench.named.limit(&episode.profile), ..episode.clone() };
                at(&episode);
                bench.episode(&episode, true, sum)
            }),
            Job::Case(path) => bench.case(path, sum),
            Job::Kernel { file, launch } => bench.kernel(file, launch, sum),
        }
    }
}

fn without_run(failure: TestFailure, entry: &str) -> Box<FailedRun> {
    Box::new(FailedRun::new(failure, entry, 0))
}

impl Bench {
    fn new(context: &Context, journal: Option<&WorkerJournal>, config: usize) -> Result<Self, Failure> {
        let named = context.tests.configs[config].clone();
        let rtl = context.libraries[config].instantiate()?;
        let observers = Observers {
            pulse: journal.map(WorkerJournal::pulse),
            sampler: Box::new(match named.unit {
                Some(_) => Sampler::of_ports(&named.config),
                None => Sampler::new(&named.config),
            }),
            counts: false,
            recorder: Recorder::new(&named.config),
        };
        let (mut session, ()) = Session::new(Lockstep::of(rtl, &named)?, None).listened_by(observers);
        // Discard coverage of the constructor, which would otherwise be counted once for each worker.
        if context.libraries[config].variant().has_coverage() {
            session.machine_mut().zero_coverage()?;
        }
        Ok(Bench { entry: String::new(), session, named })
    }

    fn episode(&mut self, episode: &Episode, counts: bool, sum: &mut Sum) -> Ended {
        let mut stimulus = episode.stimulus(&self.named.config);
        let run = self.run(counts, |session| drive(session, &mut stimulus))?;
        let hits = run.hits.hit().clone();
        let candidates = sum.hits.merge(&run.hits);
        if !candidates.is_empty() {
            sum.finds.push(Find { episode: episode.clone(), candidates, hits });
        }
        sum.end(run, Some(episode))
    }

    fn case(&mut self, path: &Path, sum: &mut Sum) -> Ended {
        let read = |path: &Path| -> Result<Case, String> {
            let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
            serde_json::from_str(&text).map_err(|error| error.to_string())
        };
        let cannot =
            |reason| without_run(TestFailure::Cannot(format!("`{}`: {reason}", path.display())), &self.entry);
        let case = read(path).map_err(cannot)?;
        let run = self.run(true, |session| drive(session, &mut CaseStimulus::new(&case)))?;
        sum.hits.merge(&run.hits);
        sum.end(run, None)
    }

    fn kernel(&mut self, file: &Path, launch: &Path, sum: &mut Sum) -> Ended {
        let run = self.run(true, |session| crate::triage::kernel::run(session, file, launch, None))?;
        sum.hits.merge(&run.hits);
        sum.end(run, None)
    }

    /// Executes one run from reset with all listeners; counts bins if `counts` is true.
    fn run(
        &mut self,
        counts: bool,
        drive: impl FnOnce(&mut Session<Lockstep, Observers>) -> Result<(), TestFailure>,
    ) -> Result<Run, Box<FailedRun>> {
        let session = &mut self.session;
        session.machine_mut().restart().map_err(|failure| without_run(failure.into(), &self.entry))?;
        session.restart(Some(Scoreboard::of(&self.named.config, self.named.unit.as_deref())));
        session.listener().counts = counts;
        let mut failure = drive(session).err();
        if let Some(TestFailure::Session(failure)) = &mut failure {
            failure.name_config(&self.named.name);
        }
        let mut work = Work::default();
        work.add_run(&session.tally(), counts);
        let cycle = session.machine().cycles();
        let observers = session.listener();
        let hits = if counts { observers.sampler.take() } else { Map::default() };
        let failed = failure.map(|failure| {
            let recorder = std::mem::replace(&mut observers.recorder, Recorder::new(&self.named.config));
            let recorder = Some(Box::new(recorder));
            Box::new(FailedRun { recorder, ..FailedRun::new(failure, &self.entry, cycle) })
        });
        Ok(Run { hits, work, failed })
    }
}

impl Sum {
    fn end(&mut self, run: Run, episode: Option<&Episode>) -> Ended {
        self.work += run.work;
        run.failed.map_or(Ok(()), |mut failed| {
            failed.episode = episode.cloned();
            Err(failed)
        })
    }
}

fn drive(
    session: &mut Session<Lockstep, Observers>,
    stimulus: &mut impl Stimulus,
) -> Result<(), TestFailure> {
    session.run(stimulus, u64::MAX, |_| {})?;
    Ok(())
}
