//! Which jobs belong to an output folder.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::super::error::ClusterError;
use super::super::results::ranges;
use super::Options;
use crate::whole_file::{random, write_whole};

/// Characters in a list of tasks, far below what a command line may have.
const LIST_CHARS: usize = 30_000;

/// `slurm/jobs.json`: what jobs are called, and how they are submitted. Jobs are found by their names
/// and not by numbers, which would have to be written down after each submission, so that one that
/// was submitted just before its client was killed is found again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jobs {
    /// What no other output folder has.
    id: String,
    /// Shards whose tasks have numbers from 0 in one array: the largest that Slurm allows, as it was when
    /// the first shard was submitted.
    stride: u32,
    /// Seconds from 1970 until the first submission.
    since: u64,
    pub(super) options: Options,
}

/// Shards that are submitted as one array job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    /// Shard of task 0.
    pub(super) base: u32,
    /// Tasks as Slurm takes them: `0,3-7`.
    pub(super) tasks: String,
    pub(super) shards: Vec<u32>,
}

fn path(out: &Path) -> PathBuf {
    out.join("slurm/jobs.json")
}

/// The error when what was kept of earlier submissions cannot be used.
fn unusable(path: &Path, problem: &str) -> ClusterError {
    ClusterError::Slurm(format!("`{}` cannot be used: {problem}", path.display()))
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl Jobs {
    /// What was submitted from an output folder, if anything was.
    pub(super) fn read(out: &Path) -> Result<Option<Jobs>, ClusterError> {
        let path = path(out);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
                unusable(&path, &format!("{error}; remove it, and what runs will be submitted once more"))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn open(out: &Path, options: Option<Options>, max_array: u32) -> Result<Jobs, ClusterError> {
        let path = path(out);
        let there = Jobs::read(out)?;
        let jobs = match (there.clone(), options) {
            (Some(there), Some(options)) => Jobs { options, ..there },
            (Some(there), None) => there,
            (None, Some(options)) => {
                let id = format!("{:08x}", random() as u32);
                Jobs { id, stride: max_array.max(1), since: now(), options }
            }
            (None, None) => {
                return Err(unusable(
                    &path,
                    "these shards were never submitted; begin with `--executor slurm`",
                ));
            }
        };
        if jobs.stride == 0 {
            return Err(unusable(&path, "`stride` is 0, expected at least 1"));
        }
        if there.as_ref() != Some(&jobs) {
            let text = serde_json::to_string_pretty(&jobs).map_err(io::Error::from)? + "\n";
            write_whole(&path, text)?;
        }
        Ok(jobs)
    }

    /// Time since the first submission.
    pub(super) fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.since))
    }

    /// Name of the array jobs whose task 0 is shard `base`.
    pub(super) fn name(&self, base: u32) -> String {
        format!("atoms-{}.{base}", self.id)
    }

    /// Name of jobs that merge.
    pub(super) fn merge_name(&self) -> String {
        format!("atoms-{}.merge", self.id)
    }

    /// Names of array jobs.
    pub(super) fn names(&self, shards: u32) -> Vec<String> {
        (0..shards.max(1)).step_by(self.stride as usize).map(|base| self.name(base)).collect()
    }

    /// Shard of task 0, by the name of a job.
    pub(super) fn base(&self, name: &str) -> Option<u32> {
        name.strip_prefix("atoms-")?.strip_prefix(&self.id)?.strip_prefix('.')?.parse().ok()
    }

    /// Shards in array jobs, as few as can be.
    pub(super) fn arrays(&self, shards: &[u32]) -> Vec<Array> {
        let mut arrays = Vec::new();
        for same in shards.chunk_by(|a, b| a / self.stride == b / self.stride) {
            // A list of single numbers, each with a comma.
            let most = LIST_CHARS / 11;
            for part in same.chunks(most) {
                let base = part.first().map_or(0, |first| first / self.stride * self.stride);
                let tasks: Vec<u32> = part.iter().map(|shard| shard - base).collect();
                arrays.push(Array { base, tasks: ranges(&tasks), shards: part.to_vec() });
            }
        }
        arrays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_fit_and_find_their_shards_again() {
        let jobs = Jobs { id: "ab".into(), stride: 6, since: 0, options: Options::new("atoms", "/") };
        let arrays = jobs.arrays(&[0, 1, 2, 5, 6, 13, 14]);
        let shown: Vec<_> = arrays.iter().map(|a| (a.base, a.tasks.as_str())).collect();
        assert_eq!(shown, [(0, "0-2,5"), (6, "0"), (12, "1-2")]);
        assert_eq!(jobs.names(14), ["atoms-ab.0", "atoms-ab.6", "atoms-ab.12"]);
        for base in [0, 6, 12] {
            assert_eq!(jobs.base(&jobs.name(base)), Some(base));
        }
        assert_eq!(jobs.base("atoms-ac.0"), None);
        assert_eq!(jobs.base(&jobs.merge_name()), None);

        let wide = Jobs { stride: 4_000_001, ..jobs };
        let every_other: Vec<u32> = (0..20_000).map(|n| 2 * n).collect();
        let arrays = wide.arrays(&every_other);
        assert!(arrays.iter().all(|array| array.tasks.len() <= LIST_CHARS), "{}", arrays.len());
        let again: Vec<u32> = arrays.into_iter().flat_map(|array| array.shards).collect();
        assert_eq!(again, every_other);
    }
}
