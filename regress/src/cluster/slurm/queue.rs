//! What Slurm says of our jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::jobs::Jobs;
use crate::cluster::error::ClusterError;
use crate::cluster::tools::{Tools, unexpected};

/// What the site allows and has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Tasks have numbers below this.
    pub(super) max_array: u32,
    /// Whether jobs that ended long ago can be asked for.
    pub(super) accounting: bool,
}

impl Limits {
    pub(super) fn ask(tools: &Tools) -> Result<Limits, ClusterError> {
        // Where jobs cannot be submitted, that is the message, and not that something else is missing.
        tools.run("sbatch", &["--version".into()])?;
        let args = ["show".to_string(), "config".to_string()];
        let text = tools.run("scontrol", &args)?;
        let value = |name: &str| {
            let line =
                text.lines().find(|line| line.split('=').next().is_some_and(|key| key.trim() == name))?;
            Some(line.split_once('=')?.1.trim().to_string())
        };
        let size = value("MaxArraySize").unwrap_or_default();
        let max_array = size.parse().ok().filter(|size| *size > 0).ok_or_else(|| {
            let expected = "a line `MaxArraySize = N` with N from 1, as where array jobs are allowed";
            unexpected("scontrol", &args, &format!("MaxArraySize = {size}"), expected)
        })?;
        let accounting = value("AccountingStorageType").is_some_and(|kind| kind.ends_with("slurmdbd"));
        Ok(Limits { max_array, accounting })
    }
}

/// Where a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for a machine.
    Pending,
    /// It has one.
    Running,
    /// It is over; in Slurm's words, how: `FAILED`.
    Ended(String),
}

impl State {
    fn new(word: &str) -> State {
        // `CANCELLED by 1000`, `COMPLETED+`.
        let word = word.split([' ', '+']).next().unwrap_or_default();
        match word {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
                State::Pending
            }
            "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "LAUNCH_FAILED"
            | "NODE_FAIL" | "OUT_OF_MEMORY" | "PREEMPTED" | "RECONFIG_FAIL" | "REVOKED" | "TIMEOUT" => {
                State::Ended(word.to_string())
            }
            // CONFIGURING, COMPLETING, SUSPENDED and what other versions know: it has a machine, or may have.
            _ => State::Running,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        !matches!(self, State::Ended(_))
    }
}

/// A shard in a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Number of the array job.
    pub(super) job: String,
    /// Number in the array.
    pub(super) index: u32,
    pub(super) state: State,
}

/// What is queued and running, and how what is over ended as far as Slurm remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// The newest of each shard, but one that is queued or running before one that is over.
    tasks: BTreeMap<u32, Task>,
    jobs: BTreeSet<String>,
    /// How array jobs ended of which Slurm no longer says which tasks they had: cancelled before any
    /// task had begun.
    whole: BTreeMap<String, State>,
    /// Whether a job that merges has a machine.
    pub(super) merging: bool,
}

impl Queue {
    pub(super) fn ask(
        tools: &Tools,
        limits: &Limits,
        jobs: &Jobs,
        shards: u32,
    ) -> Result<Queue, ClusterError> {
        let names = format!("--name={},{}", jobs.names(shards).join(","), jobs.merge_name());
        let (tool, args) = match limits.accounting {
            true => ("sacct", accounting_args(names, jobs)),
            false => ("squeue", queue_args(names)),
        };
        let text = tools.run(tool, &args)?;
        Queue::parse(&text, jobs, shards)
            .map_err(|line| unexpected(tool, &args, &line, "`JOB_TASK|NAME|STATE|REASON` in each line"))
    }

    /// Reads lines `JOB_TASK|NAME|STATE|REASON`; the line if there is one that is none.
    fn parse(text: &str, jobs: &Jobs, shards: u32) -> Result<Queue, String> {
        let mut queue = Queue::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut words = line.splitn(4, '|').map(str::trim);
            let (Some(id), Some(name), Some(state), Some(_)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                return Err(line.to_string());
            };
            let state = State::new(state);
            if name == jobs.merge_name() {
                queue.merging |= state == State::Running;
                continue;
            }
            let (Some(base), Some((job, tasks))) = (jobs.base(name), id.split_once('_')) else { continue };
            if state.is_live() {
                queue.jobs.insert(job.to_string());
            }
            if tasks == "N/A" {
                queue.whole.insert(job.to_string(), state);
                continue;
            }
            for index in indices(tasks).ok_or_else(|| line.to_string())? {
                let Some(shard) = base.checked_add(index).filter(|shard| *shard < shards) else { continue };
                let task = Task { job: job.to_string(), index, state: state.clone() };
                let age = |task: &Task| (task.state.is_live(), task.job.parse::<u64>().unwrap_or(0));
                match queue.tasks.get(&shard) {
                    Some(there) if age(there) > age(&task) => {}
                    _ => _ = queue.tasks.insert(shard, task),
                }
            }
        }
        Ok(queue)
    }

    pub(super) fn task(&self, shard: u32) -> Option<&Task> {
        self.tasks.get(&shard)
    }

    /// How a whole array job ended, if that is all that Slurm knows.
    pub(super) fn whole(&self, job: &str) -> Option<&State> {
        self.whole.get(job)
    }

    /// Whether a shard is queued or running.
    pub(super) fn is_live(&self, shard: u32) -> bool {
        self.task(shard).is_some_and(|task| task.state.is_live())
    }

    /// Array jobs of which something is queued or running.
    pub(super) fn live_jobs(&self) -> impl Iterator<Item = String> {
        self.jobs.iter().cloned()
    }
}

/// The queue, with what ended within the last minutes.
fn queue_args(names: String) -> Vec<String> {
    // `%F_%K` and not `%i`, which for a requeued array is the number of one task.
    ["--noheader", "--array", "--states=all", "--format=%F_%K|%j|%T|%r"]
        .map(str::to_string)
        .into_iter()
        .chain([names])
        .collect()
}

/// Accounting since before the first submission.
fn accounting_args(names: String, jobs: &Jobs) -> Vec<String> {
    let seconds = jobs.age().as_secs() + 3600;
    let since = format!("--starttime=now-{seconds}seconds");
    ["--allocations", "--noheader", "--parsable2", "--format=JobID,JobName,State,Reason"]
        .map(str::to_string)
        .into_iter()
        .chain([since, names])
        .collect()
}

/// Numbers of tasks: `3`, or `[0-3,7,9-21:4%2]` of those that have not begun.
fn indices(text: &str) -> Option<Vec<u32>> {
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    // How many may run at once.
    let text = text.split('%').next().unwrap_or_default();
    let mut found = Vec::new();
    for part in text.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        let step: usize = step.parse().ok().filter(|step| *step > 0)?;
        // Slurm has no larger arrays; a number beyond is no number of a task.
        if last >= 4_000_001 {
            return None;
        }
        found.extend((first..=last).step_by(step));
    }
    Some(found)
}
