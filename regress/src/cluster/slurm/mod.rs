//! Shards as array jobs of Slurm.
//!
//! What is done is told by result files alone; Slurm is asked, in one query, what is queued or running,
//! so that no shard is submitted twice without need, and how the others ended, so that people can be
//! told. A shard that is submitted twice all the same costs time and nothing else.
//!
//! In the output folder, under `slurm/`: `jobs.json` with what jobs are called, the two batch scripts, and `log/` with
//! what each task printed, by the numbers that Slurm gave it.

mod jobs;
mod queue;
mod script;
mod wait;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::error::ClusterError;
use super::manifest::Manifest;
use super::results::Results;
pub use super::tools::Tools;
use super::tools::unexpected;
use crate::report::command::quote;
use jobs::Jobs;
use queue::{Limits, Queue};
pub use wait::{Lost, WaitOutcome};

/// How jobs are submitted. Kept in the output folder, so that it need not be repeated to resume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The program that runs a shard with `regress shard OUT N` and merges with `regress merge OUT`.
    pub program: PathBuf,
    /// Where it runs.
    pub folder: PathBuf,
    /// Partition; that of the site unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Account that is charged; that of the user unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Limit of a task's wall time, as Slurm writes it; that of the partition unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<String>,
    /// Processors of a task, which the program finds in `SLURM_CPUS_PER_TASK`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_per_task: Option<u32>,
    /// More arguments of `sbatch`, after all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// How often [`Slurm::wait`] submits a shard that ends without a result before it gives up.
    pub attempts: u32,
    /// How long [`Slurm::wait`] gives the file system to show the result of a task that has ended, and
    /// accounting to hear of one that was submitted.
    pub settle: Duration,
    /// How long [`Slurm::wait`] goes on while Slurm does not answer.
    pub patience: Duration,
}

impl Options {
    /// Everything as the site has it.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Options {
            program: program.into(),
            folder: folder.into(),
            partition: None,
            account: None,
            time_limit: None,
            cpus_per_task: None,
            args: Vec::new(),
            attempts: 3,
            // Network file systems may show a folder as it was half a minute ago.
            settle: Duration::from_secs(30),
            patience: Duration::from_secs(900),
        }
    }

    /// Those with which the shards of an output folder were handed to Slurm the last time, if they were.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] when the file that keeps them is damaged.
    pub fn of(out: &Path) -> Result<Option<Self>, ClusterError> {
        Ok(Jobs::read(out)?.map(|jobs| jobs.options))
    }
}

/// What was submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submitted {
    /// Shards, in ascending order.
    pub shards: Vec<u32>,
    /// Array jobs they are in.
    pub jobs: Vec<String>,
    /// The job that merges once all are over; none if there was nothing to submit.
    pub merge: Option<String>,
    /// Shards with a valid result.
    pub done: u32,
    /// Shards that were queued or running before.
    pub live: u32,
}

/// The shards of one output folder on Slurm.
#[derive(Debug)]
pub struct Slurm {
    tools: Tools,
    out: PathBuf,
    manifest: Manifest,
    jobs: Jobs,
    limits: Limits,
    tries: BTreeMap<u32, Try>,
}

/// What this process knows of a shard's submissions.
#[derive(Clone, Debug, Default)]
struct Try {
    /// How often it saw it submitted.
    count: u32,
    /// The array job it was in last.
    job: String,
}

impl Slurm {
    /// Gets ready to submit the shards of `out`, or to look after them again. Without `options`, those of
    /// the last time hold.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] when Slurm is not there, does not answer, or shards were never submitted from
    /// here and there are no options; [`ClusterError::Io`] when the folder cannot be written.
    pub fn open(tools: Tools, out: &Path, options: Option<Options>) -> Result<Self, ClusterError> {
        let manifest = Manifest::read(out)?;
        let out = fs::canonicalize(out)?;
        // Before anything is written: that there is no Slurm is the first message.
        let limits = Limits::ask(&tools)?;
        for folder in ["shards", "slurm/log"] {
            let folder = out.join(folder);
            fs::create_dir_all(&folder)?;
        }
        let jobs = Jobs::open(&out, options, limits.max_array)?;
        script::write(&out, &jobs.options)?;
        Ok(Slurm { tools, out, manifest, jobs, limits, tries: BTreeMap::new() })
    }

    /// Submits the shards that have no valid result and are neither queued nor running, and a job that
    /// merges when all are over. At the beginning these are all shards, later what is missing.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] with Slurm's own words; what it took before stays submitted.
    pub fn submit(&mut self) -> Result<Submitted, ClusterError> {
        // The queue first: a task that ends between the two looks has left its result.
        let queue = self.queue()?;
        let mut results = Results::default();
        results.look(&self.out, &self.manifest)?;
        let missing = results.missing(&self.manifest);
        let live = missing.iter().filter(|shard| queue.is_live(**shard)).count();
        let shards: Vec<u32> = missing.into_iter().filter(|shard| !queue.is_live(*shard)).collect();
        let mut submitted = self.submit_these(&shards, &queue)?;
        submitted.done = results.count();
        submitted.live = u32::try_from(live).unwrap_or(u32::MAX);
        Ok(submitted)
    }

    fn submit_these(&mut self, shards: &[u32], queue: &Queue) -> Result<Submitted, ClusterError> {
        let mut submitted = Submitted { shards: shards.to_vec(), ..Submitted::default() };
        if shards.is_empty() {
            return Ok(submitted);
        }
        for array in self.jobs.arrays(shards) {
            let script = self.out.join(script::SHARD);
            let name = self.jobs.name(array.base);
            let job = self.sbatch(
                &name,
                &["--requeue".into(), format!("--array={}", array.tasks)],
                &[script.to_string_lossy().into_owned(), array.base.to_string()],
            )?;
            for shard in array.shards {
                let tried = self.tries.entry(shard).or_default();
                (tried.count, tried.job) = (tried.count + 1, job.clone());
            }
            submitted.jobs.push(job);
        }
        // Those that waited for fewer tasks would find results missing.
        self.drop_pending_merges()?;
        let after = submitted.jobs.iter().cloned().chain(queue.live_jobs());
        let after = after.fold("--dependency=afterany".to_string(), |list, job| list + ":" + &job);
        let script = self.out.join(script::MERGE).to_string_lossy().into_owned();
        submitted.merge = Some(self.sbatch(&self.jobs.merge_name(), &[after], &[script])?);
        Ok(submitted)
    }

    /// Submits a job; gives its number.
    fn sbatch(&self, name: &str, how: &[String], script: &[String]) -> Result<String, ClusterError> {
        let options = &self.jobs.options;
        let log = if script.len() > 1 { "%A_%a" } else { "%j" };
        let mut args = vec![
            "--parsable".to_string(),
            format!("--job-name={name}"),
            // A path from there, since Slurm would expand `%` in one from the root.
            format!("--chdir={}", self.out.display()),
            format!("--output=slurm/log/{log}.log"),
            "--open-mode=append".to_string(),
        ];
        let given = [
            ("partition", options.partition.clone()),
            ("account", options.account.clone()),
            ("time", options.time_limit.clone()),
            ("cpus-per-task", options.cpus_per_task.map(|cpus| cpus.to_string())),
        ];
        args.extend(given.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?))));
        args.extend_from_slice(how);
        args.extend_from_slice(&options.args);
        args.extend_from_slice(script);
        let answer = self.tools.run("sbatch", &args)?;
        // `12` or, where there are several clusters, `12;cluster`; sites print greetings before it.
        let number = answer.lines().last().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        match !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
            true => Ok(number.to_string()),
            false => Err(unexpected("sbatch", &args, &answer, "the number of a job")),
        }
    }

    fn queue(&self) -> Result<Queue, ClusterError> {
        Queue::ask(&self.tools, &self.limits, &self.jobs, self.manifest.count())
    }

    fn drop_pending_merges(&self) -> Result<(), ClusterError> {
        let args = ["--quiet".into(), "--state=PENDING".into(), format!("--name={}", self.jobs.merge_name())];
        self.tools.run("scancel", &args)?;
        Ok(())
    }

    /// What is said when waiting is stopped.
    pub fn come_back(&self) -> String {
        let out = quote(&self.out.to_string_lossy());
        let names = self.jobs.names(self.manifest.count()).join(",");
        format!(
            "jobs go on; come back with `atoms regress resume {out}`, or cancel them with `scancel --name={names},{}`",
            self.jobs.merge_name()
        )
    }

    /// What a task printed.
    fn log(&self, job: &str, task: u32) -> PathBuf {
        self.out.join("slurm/log").join(format!("{job}_{task}.log"))
    }
}

#[cfg(test)]
mod tests;
