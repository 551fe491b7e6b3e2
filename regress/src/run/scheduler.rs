//! Worker threads, and the collector that takes their results in plan order.
//!
//! Tests go to the workers over one channel and results come back over another. The scheduler starts test
//! `n + window` only after the collector has taken the result of test `n`. This bounds the number of results
//! that wait for an earlier one. The results taken are always a prefix of the plan.

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

pub trait Worker {
    type Bundle: Send;

    fn test(&mut self, test: &Test) -> TestOutcome;

    fn bundle(&mut self, test: &Test, failed: &FailedRun) -> Self::Bundle;
}

/// Consumer of results in plan order.
pub trait Collect {
    type Bundle: Send;
    type Error;

    /// Returns test `index`; `None` after the last test.
    fn test(&mut self, index: u64) -> Option<Test>;

    /// Returns the outcome of a test that must not run again, because it crashed before.
    fn known(&mut self, test: &Test) -> Option<TestOutcome>;

    /// Takes the next result. Returns the failed run if it needs triage.
    ///
    /// # Errors
    /// An error ends the run; results taken before it stay.
    fn take(&mut self, test: &Test, outcome: TestOutcome) -> Result<Option<Box<FailedRun>>, Self::Error>;

    /// Takes the result of triage, or the message of a panic during triage.
    ///
    /// # Errors
    /// As [`Collect::take`].
    fn bundled(&mut self, test: &Test, bundle: Result<Self::Bundle, String>) -> Result<(), Self::Error>;

    /// Runs between results, at most every 200 ms.
    ///
    /// # Errors
    /// As [`Collect::take`].
    fn tick(&mut self) -> Result<(), Self::Error>;

    /// Returns true if the budget is used up, so that no further result is needed.
    fn enough(&self) -> bool;
}

/// Number of worker threads, and conditions that stop a run early.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    pub jobs: usize,
    /// Time after which no test starts.
    pub until: Option<Instant>,
    /// When true, no further test starts.
    pub stop: &'a AtomicBool,
}

/// Tests, for each worker, that may start ahead of the oldest test without a result.
const WINDOW_PER_JOB: u64 = 64;

const TICK: Duration = Duration::from_millis(200);

enum Task {
    Test(Box<Test>),
    Bundle(Box<Test>, Box<FailedRun>),
}

enum Done<B> {
    Test(Box<Test>, Box<TestOutcome>),
    Bundle(Box<Test>, Result<B, String>),
}

/// Runs the tests of `range` on one thread per worker and hands the results to `collect` in plan order.
/// `work` creates each worker. A stopped run still finishes the tests in progress and takes their results.
///
/// # Errors
/// Returns the error of `collect`, after all workers have ended.
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
    // Keep the queue short, since tests in the queue still run after a stop.
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
    // Triage one failure at a time, in plan order: if minimizing shows that two failures are the same, the
    // first one stays.
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
            // Drop results after the test that used up the budget.
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
        // Without tests in progress, the next iteration hands out a waiting task.
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

/// Sends tasks until the queue is full. Returns false if all workers have ended.
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
                    // Replace the worker, since the panic may have left its machines in any state.
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

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message").to_string()
}
