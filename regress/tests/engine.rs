//! Tests of the scheduler with trivial tests: order, stop, panics and overhead.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use atoms_coverage::Map;
use atoms_regress::plan::{Job, Test};
use atoms_regress::run::result::{self, Status};
use atoms_regress::run::scheduler::{self, Collect, Limits, Worker};
use atoms_regress::run::worker::TestOutcome;
use atoms_regress::triage::death::Death;
use atoms_regress::triage::test_failure::{FailedRun, TestFailure};

fn test(index: u64) -> Test {
    Test {
        index,
        name: format!("entry/default/{index}"),
        entry: "entry".to_string(),
        config: 0,
        job: Job::Case(PathBuf::new()),
        timeout: Duration::from_secs(1),
        cost: 1,
    }
}

fn passed() -> TestOutcome {
    TestOutcome { hits: Map::new(10_000), ..TestOutcome::passed(result::Work::default(), Duration::ZERO) }
}

/// Worker that sleeps less for later tests, so that results arrive out of order.
struct Sleepy;

impl Worker for Sleepy {
    type Bundle = u64;

    fn test(&mut self, test: &Test) -> TestOutcome {
        std::thread::sleep(Duration::from_micros(300 * (test.index % 7)));
        match test.index % 1_000 {
            13 => panic!("unlucky"),
            14 => TestOutcome::ended(test, TestFailure::Cannot("no".to_string()), Duration::ZERO),
            _ => passed(),
        }
    }

    fn bundle(&mut self, test: &Test, _: &FailedRun) -> u64 {
        assert_ne!(test.index, 1_014, "a bundle that cannot be made");
        test.index
    }
}

#[derive(Default)]
struct Taken {
    tests: Vec<(u64, Status)>,
    bundles: Vec<(u64, Result<u64, String>)>,
    last: u64,
    enough: Option<usize>,
    full_at: Option<u64>,
    most_ahead: u64,
}

impl Collect for Taken {
    type Bundle = u64;
    type Error = &'static str;

    fn test(&mut self, index: u64) -> Option<Test> {
        self.most_ahead = self.most_ahead.max(index - self.tests.len() as u64);
        (index < self.last).then(|| test(index))
    }

    fn known(&mut self, test: &Test) -> Option<TestOutcome> {
        let crash = || TestFailure::Died { death: Death::Signal(6), beside_others: false };
        (test.index == 5).then(|| TestOutcome::ended(test, crash(), Duration::ZERO))
    }

    fn take(&mut self, test: &Test, outcome: TestOutcome) -> Result<Option<Box<FailedRun>>, &'static str> {
        if self.full_at == Some(test.index) {
            return Err("the disk is full");
        }
        self.tests.push((test.index, outcome.status));
        Ok(outcome.failed)
    }

    fn bundled(&mut self, test: &Test, bundle: Result<u64, String>) -> Result<(), &'static str> {
        self.bundles.push((test.index, bundle));
        Ok(())
    }

    fn tick(&mut self) -> Result<(), &'static str> {
        Ok(())
    }

    fn enough(&self) -> bool {
        self.enough.is_some_and(|enough| self.tests.len() >= enough)
    }
}

fn run(jobs: usize, taken: &mut Taken, stop: &AtomicBool) -> (Result<(), &'static str>, u64) {
    let made = AtomicU64::new(0);
    let limits = Limits { jobs, until: None, stop };
    let worker = |_| {
        made.fetch_add(1, Ordering::SeqCst);
        Sleepy
    };
    let ended = scheduler::run(0..u64::MAX, &limits, worker, taken);
    (ended, made.into_inner())
}

#[test]
fn results_are_taken_in_order_whatever_the_number_of_workers() {
    let mut first = None;
    for jobs in [1, 2, 5] {
        let mut taken = Taken { last: 2_020, ..Taken::default() };
        let (ended, made) = run(jobs, &mut taken, &AtomicBool::new(false));
        ended.expect("nothing is in the way");
        // Each panic replaces the worker, which adds to `made`.
        assert_eq!(made, jobs as u64 + 3, "{jobs} workers");
        let all: Vec<_> = (0..2_020).collect();
        assert_eq!(taken.tests.iter().map(|(index, _)| *index).collect::<Vec<_>>(), all);
        assert!(taken.most_ahead <= 64 * jobs as u64, "{} ahead with {jobs} workers", taken.most_ahead);
        taken.bundles.sort_by_key(|(index, _)| *index);
        let (good, bad): (Vec<_>, Vec<_>) = taken.bundles.iter().partition(|(_, bundle)| bundle.is_ok());
        assert_eq!(good.len(), 6, "two each of crashes known, panics and failures: {good:?}");
        assert!(bad[0].1.as_ref().is_err_and(|words| words.contains("a bundle that cannot be made")));
        let statuses: Vec<_> = taken.tests.clone();
        assert_eq!(first.get_or_insert_with(|| statuses.clone()), &statuses);
    }
}

#[test]
fn what_is_enough_is_enough_for_any_number_of_workers() {
    for jobs in [1, 3] {
        let mut taken = Taken { last: u64::MAX, enough: Some(100), ..Taken::default() };
        run(jobs, &mut taken, &AtomicBool::new(false)).0.expect("nothing is in the way");
        assert_eq!(taken.tests.len(), 100, "{jobs} workers");
    }
}

#[test]
fn a_stopped_run_is_the_beginning_of_the_plan() {
    let stop = AtomicBool::new(false);
    let mut taken = Taken { last: u64::MAX, ..Taken::default() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::SeqCst);
        });
        run(2, &mut taken, &stop).0.expect("nothing is in the way");
    });
    assert!(!taken.tests.is_empty());
    assert!(taken.tests.iter().enumerate().all(|(at, (index, _))| at as u64 == *index));
}

#[test]
fn an_error_of_the_collector_ends_the_run() {
    let mut taken = Taken { last: u64::MAX, full_at: Some(40), ..Taken::default() };
    assert_eq!(run(2, &mut taken, &AtomicBool::new(false)).0, Err("the disk is full"));
    assert_eq!(taken.tests.len(), 40);
}

/// The overhead of a test is far below a millisecond, so that tests may be short.
#[test]
fn a_test_that_does_nothing_costs_next_to_nothing() {
    struct Idle;
    impl Worker for Idle {
        type Bundle = u64;
        fn test(&mut self, _: &Test) -> TestOutcome {
            passed()
        }
        fn bundle(&mut self, _: &Test, _: &FailedRun) -> u64 {
            0
        }
    }
    let tests = 20_000;
    let mut taken = Taken { last: tests, ..Taken::default() };
    let limits = Limits { jobs: 2, until: None, stop: &AtomicBool::new(false) };
    let began = Instant::now();
    scheduler::run(0..u64::MAX, &limits, |_| Idle, &mut taken).expect("nothing is in the way");
    let each = began.elapsed() / tests as u32;
    assert_eq!(taken.tests.len() as u64, tests);
    assert!(each < Duration::from_millis(1), "{each:?} a test");
}
