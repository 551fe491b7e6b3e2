//! Workers, and the collector that takes their results in the order of the plan.
//!
//! Tests go to the workers over one channel and results come back over another. The collector hands
//! out test `n + window` only when the result of test `n` has been taken: what waits out of order is
//! bounded, and what has been taken is at any moment the beginning of the plan.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded, unbounded};

use crate::plan::Test;
use crate::run::worker::TestOutcome;
use crate::triage::test_failure::{FailedRun, TestFailure};

/// What runs tests; one for each thread.
pub trait Worker {
    /// What a failure is made into.
    type Bundle: Send;

    /// Runs a test.
    fn test(&mut self, test: &Test) -> TestOutcome;

    /// Triages a failure.
    fn bundle(&mut self, test: &Test, failed: &FailedRun) -> Self::Bundle;
}

/// What the collector does with results.
pub trait Collect {
    /// What a failure is made into.
    type Bundle: Send;
    /// Why it cannot go on.
    type Error;

    /// Test `index`; `None` behind the last.
    fn test(&mut self, index: u64) -> Option<Test>;

    /// The outcome of a test that was run before, if it was: it is not run again.
    fn known(&mut self, test: &Test) -> Option<TestOutcome>;

    /// Takes the next result. Gives a failed run back that is to be triaged.
    ///
    /// # Errors
    /// The run ends with it; what was taken before stays.
    fn take(&mut self, test: &Test, outcome: TestOutcome) -> Result<Option<Box<FailedRun>>, Self::Error>;

    /// Takes what a failure was made into, or the words of the panic that came of it.
    ///
    /// # Errors
    /// As [`Collect::take`].
    fn bundled(&mut self, test: &Test, bundle: Result<Self::Bundle, String>) -> Result<(), Self::Error>;

    /// Called between results, some times a second at most, with the number of tests at work.
    ///
    /// # Errors
    /// As [`Collect::take`].
    fn tick(&mut self) -> Result<(), Self::Error>;

    /// Whether what was taken suffices.
    fn enough(&self) -> bool;
}

/// How a run is ended before its last test.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Workers.
    pub jobs: usize,
    /// No test is begun after this.
    pub until: Option<Instant>,
    /// Set to have no further test begun.
    pub stop: &'a AtomicBool,
}

/// Tests ahead of the oldest that has no result, for each worker.
const WINDOW_PER_JOB: u64 = 64;

/// Time between calls of [`Collect::tick`].
const TICK: Duration = Duration::from_millis(200);

enum Task {
    Test(Box<Test>),
    Bundle(Box<Test>, Box<FailedRun>),
}

enum Done<B> {
    Test(Box<Test>, Box<TestOutcome>),
    Bundle(Box<Test>, Result<B, String>),
}

/// Runs the tests of `range` on workers that `work` makes, one a thread, and hands their results to
/// `collect` in order. Tests at work when the run is stopped are finished and taken.
///
/// # Errors
/// That of `collect`; workers have come to rest by then.
pub fn run<W, C>(
    range: Range<u64>,
    limits: &Limits,
    work: impl Fn(usize) -> W + Sync,
    collect: &mut C,
) -> Result<(), C::Error>
where
    W: Worker<Bundle = C::Bundle>,
    C: Collect,
{
    let jobs = limits.jobs.max(1);
    // A short queue: what is in it when the run is stopped is still run.
    let (tasks, queue) = bounded::<Task>(jobs);
    let (results, arrivals) = unbounded();
    thread::scope(|scope| {
        for worker in 0..jobs {
            let (queue, results, work) = (queue.clone(), results.clone(), &work);
            scope.spawn(move || serve(worker, work, &queue, &results));
        }
        drop((queue, results));
        let ended = collect_all(range, limits, collect, &tasks, &arrivals);
        // Workers end when their channel is closed.
        drop(tasks);
        ended
    })
}

fn collect_all<C: Collect>(
    range: Range<u64>,
    limits: &Limits,
    collect: &mut C,
    tasks: &Sender<Task>,
    arrivals: &Receiver<Done<C::Bundle>>,
) -> Result<(), C::Error> {
    let window = limits.jobs.max(1) as u64 * WINDOW_PER_JOB;
    let (mut next_out, mut next_in, mut end) = (range.start, range.start, range.end);
    let mut early = BTreeMap::new();
    let mut waiting: VecDeque<Task> = VecDeque::new();
    let mut at_work = 0_u64;
    // One after the other, in the order of the plan: of two failures that turn out to be one, the first
    // stays.
    let mut triage: VecDeque<Task> = VecDeque::new();
    let mut triaging = false;
    let mut ticked = Instant::now();
    loop {
        let stopped = limits.stop.load(Ordering::Relaxed)
            || limits.until.is_some_and(|until| Instant::now() >= until)
            || collect.enough();
        if stopped {
            end = end.min(next_out);
        }
        while waiting.is_empty() && next_out < end && next_out < next_in + window {
            let Some(test) = collect.test(next_out) else {
                end = next_out;
                break;
            };
            next_out += 1;
            match collect.known(&test) {
                Some(outcome) => drop(early.insert(test.index, (Box::new(test), Box::new(outcome)))),
                None => waiting.push_back(Task::Test(Box::new(test))),
            }
            hand_out(&mut waiting, tasks, &mut at_work);
        }
        if !hand_out(&mut waiting, tasks, &mut at_work) {
            return Ok(());
        }
        while let Some((test, outcome)) = early.remove(&next_in) {
            next_in += 1;
            // What comes behind the test that was enough was begun in vain.
            if collect.enough() {
                continue;
            }
            if let Some(failed) = collect.take(&test, *outcome)? {
                triage.push_back(Task::Bundle(test, failed));
            }
        }
        if !triaging && let Some(task) = triage.pop_front() {
            triaging = true;
            waiting.push_front(task);
            continue;
        }
        if at_work == 0 && waiting.is_empty() && next_in >= end {
            return Ok(());
        }
        if ticked.elapsed() >= TICK {
            collect.tick()?;
            ticked = Instant::now();
        }
        // With nothing at work, something waits that the next turn hands out.
        if at_work == 0 {
            continue;
        }
        let done = match arrivals.recv_timeout(TICK) {
            Ok(done) => done,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        at_work -= 1;
        match done {
            Done::Test(test, outcome) => drop(early.insert(test.index, (test, outcome))),
            Done::Bundle(test, bundle) => {
                triaging = false;
                collect.bundled(&test, bundle)?;
            }
        }
    }
}

/// Gives workers what they have room for. False when there are none any more.
fn hand_out(waiting: &mut VecDeque<Task>, tasks: &Sender<Task>, at_work: &mut u64) -> bool {
    while let Some(task) = waiting.pop_front() {
        match tasks.try_send(task) {
            Ok(()) => *at_work += 1,
            Err(TrySendError::Full(task)) => {
                waiting.push_front(task);
                return true;
            }
            Err(TrySendError::Disconnected(_)) => return false,
        }
    }
    true
}

/// One worker's life.
fn serve<W: Worker>(
    worker: usize,
    work: &(impl Fn(usize) -> W + Sync),
    queue: &Receiver<Task>,
    results: &Sender<Done<W::Bundle>>,
) {
    let mut own = work(worker);
    for task in queue {
        let done = match task {
            Task::Test(test) => {
                let began = Instant::now();
                let outcome = catch_unwind(AssertUnwindSafe(|| own.test(&test))).unwrap_or_else(|panic| {
                    // Its machines may be in any state.
                    own = work(worker);
                    TestOutcome::ended(&test, TestFailure::Panicked(words(&*panic)), began.elapsed())
                });
                Done::Test(test, Box::new(outcome))
            }
            Task::Bundle(test, failed) => {
                let bundle = catch_unwind(AssertUnwindSafe(|| own.bundle(&test, &failed)));
                Done::Bundle(test, bundle.map_err(|panic| words(&*panic)))
            }
        };
        if results.send(done).is_err() {
            return;
        }
    }
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_string()
}
