//! Runs shards as a Slurm array job and waits for their results.
//!
//! Result files decide which shards are done. Slurm is only asked if the job is still queued or running.
//!
//! Files below `slurm/` in the output folder: `options.json`, and `log/N.log` with the output of task N.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cut::Shard;
use super::error::ClusterError;
use super::manifest::Manifest;
use super::results::{Results, ranges};
use crate::checksum::hex;
use crate::report::command::quote;
use crate::whole_file::write_whole;

/// Minimum and maximum pause between two queries. The pause is a tenth of the time since the first query.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Longest time without an answer of `squeue` before [`ArrayJob::wait`] fails.
const OUTAGE: Duration = Duration::from_secs(900);

/// Number of lines shown from the end of a task's log, and number of bytes read to find them.
const LOG_END: (usize, u64) = (8, 4096);

/// Environment variables for Slurm commands, in addition to those of this process.
#[derive(Clone, Debug, Default)]
pub struct SlurmCommands(pub Vec<(OsString, OsString)>);

impl SlurmCommands {
    fn run(&self, tool: &str, args: &[String]) -> Result<String, ClusterError> {
        let mut command = Command::new(tool);
        command.args(args).envs(self.0.iter().cloned()).stdin(Stdio::null());
        // A process group of its own, so that Ctrl-C interrupts only the waiting process, not the command.
        let output = command.process_group(0).output().map_err(|error| {
            ClusterError::Slurm(match error.kind() {
                io::ErrorKind::NotFound => format!(
                    "`{tool}` was not found on PATH: run `atoms` on a machine with Slurm's commands, or without `--executor slurm`"
                ),
                _ => format!("cannot start `{tool}`: {error}"),
            })
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let words = String::from_utf8_lossy(&output.stderr).trim().to_string();
        let words = if words.is_empty() { output.status.to_string() } else { words };
        let line = args.iter().fold(tool.to_string(), |line, arg| line + " " + &quote(arg));
        let hint = if words.contains("job array specification") {
            "; numbers of tasks must lie below MaxArraySize of this site: choose fewer with --shards"
        } else {
            ""
        };
        Err(ClusterError::Slurm(format!("`{line}` failed: {words}{hint}")))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmOptions {
    /// Arguments of `sbatch`; a later one overrides an earlier one.
    pub args: Vec<String>,
    /// Longest time until a shared file system shows files that another machine has written.
    pub settle: Duration,
}

impl Default for SlurmOptions {
    fn default() -> Self {
        // Without --cpus-per-task, a task would start a worker for each processor of its node.
        SlurmOptions { args: vec!["--cpus-per-task=1".to_string()], settle: Duration::from_secs(30) }
    }
}

impl SlurmOptions {
    fn path(out: &Path) -> PathBuf {
        out.join("slurm/options.json")
    }

    /// Reads the options of the last submission from an output folder; the default before the first
    /// submission.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] if the options file is damaged.
    pub fn of(out: &Path) -> Result<Self, ClusterError> {
        let path = Self::path(out);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                let path = path.display();
                ClusterError::Slurm(format!("`{path}` cannot be used: {error}; remove it to use the default"))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    Done,
    /// No task is queued or running, and some results are missing.
    Ended,
    /// The caller asked to stop, and the job was cancelled.
    Cancelled,
}

/// Slurm array job: tasks that run one command, distinguished by number.
#[derive(Clone, Debug)]
pub struct ArrayJob {
    commands: SlurmCommands,
    options: SlurmOptions,
    /// Job name, used to query and cancel the job.
    name: String,
    folder: PathBuf,
    log: String,
    command: String,
    outage: Duration,
}

impl ArrayJob {
    /// Creates a job whose tasks run `command` in a shell, in the current working folder.
    /// `$SLURM_ARRAY_TASK_ID` is the number of the task. The output goes to `log` below `folder`, where `%a`
    /// is the number of the task. Jobs with equal folder and `identity` count as one job, even if another
    /// process submitted them.
    ///
    /// # Errors
    /// [`ClusterError::Io`] if there is no working folder.
    pub fn new(
        commands: SlurmCommands,
        options: SlurmOptions,
        (folder, log): (&Path, &str),
        command: &str,
        identity: &str,
    ) -> Result<Self, ClusterError> {
        let folder = fs::canonicalize(folder)?;
        let name = hex(Sha256::digest(format!("{}\n{identity}", folder.display())));
        let command = format!(
            "echo \"task $SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME, job $SLURM_JOB_ID, \
             restarts ${{SLURM_RESTART_COUNT:-0}}\"\ncd {} && {command}",
            word(&std::env::current_dir()?)?
        );
        let (name, log) = (format!("atoms-{}", &name[..12]), log.to_string());
        Ok(ArrayJob { commands, options, name, folder, log, command, outage: OUTAGE })
    }

    /// # Errors
    /// [`ClusterError::Slurm`] if Slurm does not answer.
    pub fn is_live(&self) -> Result<bool, ClusterError> {
        let args = ["--noheader".to_string(), "--format=%i".to_string(), format!("--name={}", self.name)];
        Ok(!self.commands.run("squeue", &args)?.trim().is_empty())
    }

    /// Submits tasks with these numbers. Returns the number of the job.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] with Slurm's message.
    pub fn submit(&self, tasks: &[u32]) -> Result<String, ClusterError> {
        let mut args = vec![
            "--parsable".to_string(),
            format!("--job-name={}", self.name),
            // Slurm expands `%` in the log path but not in the working folder.
            format!("--chdir={}", self.folder.display()),
            format!("--output={}", self.log),
            "--open-mode=append".to_string(),
            "--requeue".to_string(),
            format!("--array={}", ranges(tasks)),
        ];
        args.extend(self.options.args.iter().cloned());
        args.push(format!("--wrap={}", self.command));
        let answer = self.commands.run("sbatch", &args)?;
        // The last line is `JOB` or `JOB;CLUSTER`. The site may print other lines before.
        let job = answer.lines().last().unwrap_or_default().split(';').next().unwrap_or_default();
        Ok(job.to_string())
    }

    /// Waits until `is_done` returns true or no task is left. Calls `is_done` after each query. Cancels the
    /// job when `stop` is set.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] if Slurm has not answered for 15 minutes; any error of `is_done`.
    pub fn wait(
        &self,
        stop: &AtomicBool,
        mut is_done: impl FnMut() -> Result<bool, ClusterError>,
    ) -> Result<WaitOutcome, ClusterError> {
        let begun = Instant::now();
        let (mut answered, mut seen_live) = (begun, begun);
        while !stop.load(Ordering::Relaxed) {
            // Query the queue before the results: a task that ends in between has already published its
            // result.
            let live = self.is_live();
            if is_done()? {
                return Ok(WaitOutcome::Done);
            }
            let now = Instant::now();
            match live {
                Ok(live) => {
                    answered = now;
                    if live {
                        seen_live = now;
                    } else if now - seen_live >= self.options.settle {
                        return Ok(WaitOutcome::Ended);
                    }
                }
                Err(error) if now - answered > self.outage => return Err(error),
                Err(_) => {}
            }
            let end = now + ((now - begun) / 10).clamp(PAUSES.0, PAUSES.1);
            while Instant::now() < end && !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        self.commands.run("scancel", &[format!("--name={}", self.name)])?;
        Ok(WaitOutcome::Cancelled)
    }
}

fn word(path: &Path) -> Result<String, ClusterError> {
    path.to_str().map(quote).ok_or_else(|| {
        let name = path.display();
        ClusterError::Slurm(format!("`{name}` is not UTF-8: choose a folder whose name is"))
    })
}

/// Shard without a valid result after its job has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingShard {
    pub shard: u32,
    pub tests: Shard,
    /// Defect of the result; `None` if there is no result.
    pub problem: Option<String>,
    /// Path and last lines of the task's log; `None` if the task left no log.
    pub log: Option<(PathBuf, String)>,
}

impl fmt::Display for MissingShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingShard { shard, tests, problem, log } = self;
        write!(f, "shard {shard} (tests {} to {})", tests.first, tests.end.saturating_sub(1))?;
        if let Some(problem) = problem {
            write!(f, ": {problem}")?;
        }
        match log {
            None => write!(f, "; it left no log: can compute nodes write the output folder?"),
            Some((log, lines)) => {
                write!(f, "; `{}` ends:", log.display())?;
                lines.lines().try_for_each(|line| write!(f, "\n    {line}"))
            }
        }
    }
}

#[derive(Debug)]
pub struct SlurmShards {
    out: PathBuf,
    manifest: Manifest,
    job: ArrayJob,
}

impl SlurmShards {
    /// Prepares the shards of `out`. Each task runs `PROGRAM regress shard OUT N`. Saves the options in the
    /// folder.
    ///
    /// # Errors
    /// [`ClusterError`] if the folder has no manifest or cannot be written.
    pub fn new(
        commands: SlurmCommands,
        out: &Path,
        program: &Path,
        options: SlurmOptions,
    ) -> Result<Self, ClusterError> {
        let manifest = Manifest::read(out)?;
        let out = fs::canonicalize(out)?;
        for folder in ["shards", "slurm/log"] {
            fs::create_dir_all(out.join(folder))?;
        }
        let text = serde_json::to_string_pretty(&options).map_err(io::Error::from)? + "\n";
        write_whole(&SlurmOptions::path(&out), text)?;
        // `exec` replaces the shell, so that Slurm's signals reach the program.
        let command = format!("exec {} regress shard {} $SLURM_ARRAY_TASK_ID", word(program)?, word(&out)?);
        let log = (&*out, "slurm/log/%a.log");
        let job = ArrayJob::new(commands, options, log, &command, &manifest.hash())?;
        Ok(SlurmShards { out, manifest, job })
    }

    /// Submits the shards without a valid result. Returns their numbers and the number of the job. Submits
    /// nothing if tasks of an earlier submission are queued or running.
    ///
    /// # Errors
    /// [`ClusterError::Slurm`] with Slurm's message.
    pub fn submit(&self) -> Result<Option<(Vec<u32>, String)>, ClusterError> {
        // Query the queue before the results: a task that ends in between has already published its result.
        let live = self.job.is_live()?;
        let mut results = Results::default();
        results.look(&self.out, &self.manifest)?;
        let missing = results.missing(&self.manifest);
        if live || missing.is_empty() {
            return Ok(None);
        }
        let job = self.job.submit(&missing)?;
        Ok(Some((missing, job)))
    }

    /// Waits for the results and passes their number to `see` after each check. Returns the shards that still
    /// have no result.
    ///
    /// # Errors
    /// As [`ArrayJob::wait`].
    pub fn wait(
        &self,
        stop: &AtomicBool,
        see: &mut dyn FnMut(u32),
    ) -> Result<(WaitOutcome, Vec<MissingShard>), ClusterError> {
        let mut results = Results::default();
        let mut problems = Vec::new();
        let outcome = self.job.wait(stop, || {
            problems = results.look(&self.out, &self.manifest)?;
            see(results.count());
            Ok(results.count() == self.manifest.count())
        })?;
        let missing = results.missing(&self.manifest).into_iter().map(|shard| {
            let of_shard =
                |error: &&ClusterError| matches!(error, ClusterError::Shard(of, ..) if *of == shard);
            let log = self.out.join(format!("slurm/log/{shard}.log"));
            Ok(MissingShard {
                shard,
                tests: self.manifest.shard(shard)?,
                problem: problems.iter().find(of_shard).map(ToString::to_string),
                log: last_lines(&log).ok().map(|lines| (log, lines)),
            })
        });
        Ok((outcome, missing.collect::<Result<_, ClusterError>>()?))
    }
}

fn last_lines(path: &Path) -> io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END.1)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(LOG_END.0)..].join("\n"))
}

#[cfg(test)]
mod tests;
