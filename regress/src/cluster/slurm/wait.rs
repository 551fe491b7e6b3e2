//! Waiting for shards, and submitting again those that were lost.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::super::cut::Shard;
use super::super::error::ClusterError;
use super::super::results::Results;
use super::queue::{Queue, State};
use super::{Slurm, Try};

/// Pauses between two looks: a tenth of the time that has gone, within these.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// A shard that ended without a result and is not submitted again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The shard.
    pub shard: u32,
    /// Its tests.
    pub tests: Shard,
    /// How often it was submitted.
    pub attempts: u32,
    /// How it ended, in Slurm's word: `CANCELLED`.
    pub state: String,
    /// What is wrong with its result file, if there is one.
    pub problem: Option<String>,
    /// What it printed, if that can be read here.
    pub log: Option<PathBuf>,
    /// The end of that.
    pub last_lines: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lost { shard, tests, attempts, state, .. } = self;
        let times = if *attempts == 1 { "attempt" } else { "attempts" };
        let last = tests.end.saturating_sub(1);
        write!(f, "shard {shard} (tests {} to {last}): {state} after {attempts} {times}", tests.first)?;
        if let Some(problem) = &self.problem {
            write!(f, "; {problem}")?;
        }
        match &self.log {
            None => write!(f, "; it left no log: can compute nodes write the output folder?"),
            Some(log) => {
                write!(f, "; `{}` ends:", log.display())?;
                self.last_lines.lines().try_for_each(|line| write!(f, "\n    {line}"))
            }
        }
    }
}

/// How waiting ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    /// Every shard has a valid result, and no job merges them any more.
    Done,
    /// An end was asked for. Jobs go on.
    Interrupted,
    /// Nothing is queued or running, and these have no result.
    Lost(Vec<Lost>),
}

impl Slurm {
    /// Waits until every shard has a result, gives the number of those that have one after each look, and submits again what
    /// was lost, unless it was cancelled, it was lost too often, or no shard has come to a result,
    /// since the cause is then common to all. Ends early when `stop` is set, from another thread or a
    /// signal handler.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] when Slurm has not answered for longer than [`patience`], or refuses a
    /// submission.
    ///
    /// [`patience`]: super::Options::patience
    pub fn wait(&mut self, stop: &AtomicBool, see: &mut dyn FnMut(u32)) -> Result<WaitOutcome, ClusterError> {
        let begun = Instant::now();
        let mut results = Results::default();
        // Since when shards have been over without a result.
        let mut over = BTreeMap::new();
        let mut heard = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            // The queue first: a task that ends between the two looks has left its result.
            let queue = match self.queue() {
                Ok(queue) => Some(queue),
                Err(error) if heard.elapsed() > self.jobs.options.patience => return Err(error),
                Err(_) => None,
            };
            let problems = results.look(&self.out, &self.manifest)?;
            see(results.count());
            let done = results.count() == self.manifest.count();
            match queue {
                Some(queue) => {
                    heard = Instant::now();
                    if done && !queue.merging {
                        self.drop_pending_merges()?;
                        // It may have begun between the two.
                        if !self.queue()?.merging {
                            return Ok(WaitOutcome::Done);
                        }
                    }
                    if !done && let Some(lost) = self.look_after(&results, &queue, &mut over)? {
                        return Ok(WaitOutcome::Lost(
                            lost.iter().map(|s| self.lost(*s, &queue, &problems)).collect(),
                        ));
                    }
                }
                None if done => return Ok(WaitOutcome::Done),
                None => {}
            }
            pause((begun.elapsed() / 10).clamp(PAUSES.0, PAUSES.1), stop);
        }
        Ok(WaitOutcome::Interrupted)
    }

    /// Submits again what was lost; gives what has no result when there is nothing to wait for.
    fn look_after(
        &mut self,
        results: &Results,
        queue: &Queue,
        over: &mut BTreeMap<u32, Instant>,
    ) -> Result<Option<Vec<u32>>, ClusterError> {
        let (mut again, mut lost, mut wait) = (Vec::new(), Vec::new(), false);
        let options = &self.jobs.options;
        for shard in results.missing(&self.manifest) {
            if let Some(task) = queue.task(shard).filter(|task| task.state.is_live()) {
                // Another process may have submitted it.
                let tried = self.tries.entry(shard).or_default();
                if tried.job != task.job {
                    *tried = Try { count: tried.count.max(1), job: task.job.clone() };
                }
                over.remove(&shard);
                wait = true;
                continue;
            }
            if over.entry(shard).or_insert_with(Instant::now).elapsed() < options.settle {
                wait = true;
                continue;
            }
            let tries = self.tries.get(&shard).map_or(0, |tried| tried.count);
            let cancelled = self.end(shard, queue) == "CANCELLED";
            match cancelled || tries >= options.attempts {
                true => lost.push(shard),
                false => again.push(shard),
            }
        }
        if !again.is_empty() && (results.count() > 0 || self.manifest.count() == 1) {
            self.submit_these(&again, queue)?;
            again.iter().for_each(|shard| _ = over.remove(shard));
            return Ok(None);
        }
        if wait {
            return Ok(None);
        }
        lost.extend(again);
        lost.sort_unstable();
        Ok(Some(lost))
    }

    /// How a shard ended, in Slurm's word.
    fn end<'a>(&self, shard: u32, queue: &'a Queue) -> &'a str {
        let job = self.tries.get(&shard).map(|tried| tried.job.as_str());
        // What is known of an earlier job says nothing of the last.
        let task = queue.task(shard).filter(|task| job.is_none_or(|job| job == task.job));
        match task.map(|task| &task.state).or_else(|| queue.whole(job?)) {
            Some(State::Ended(word)) => word,
            Some(_) => "RUNNING",
            None => "gone from the queue",
        }
    }

    fn lost(&self, shard: u32, queue: &Queue, problems: &[ClusterError]) -> Lost {
        let task = queue.task(shard);
        let log = task.map(|task| self.log(&task.job, task.index)).filter(|log| log.is_file());
        let of_shard = |error: &&ClusterError| matches!(error, ClusterError::Shard(of, ..) if *of == shard);
        Lost {
            shard,
            tests: self.manifest.shard(shard).unwrap_or(Shard { first: 0, end: 0 }),
            attempts: self.tries.get(&shard).map_or(0, |tried| tried.count),
            state: self.end(shard, queue).to_string(),
            problem: problems.iter().find(of_shard).map(ToString::to_string),
            last_lines: log.as_deref().map(last_lines).unwrap_or_default(),
            log,
        }
    }
}

/// Sleeps, but for a tenth of a second at most after `stop` was set.
fn pause(time: Duration, stop: &AtomicBool) {
    let end = Instant::now() + time;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(Duration::from_millis(100)));
    }
}

/// The last lines of a file, as far as they can be read.
fn last_lines(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(4096)))?;
        let mut bytes = Vec::new();
        file.take(4096).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(8)..).unwrap_or_default().join("\n")
}
