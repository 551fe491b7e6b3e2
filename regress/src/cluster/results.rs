use std::collections::BTreeSet;
use std::path::Path;

use fs_err as fs;

use super::error::{ClusterError, ShardProblem};
use super::manifest::Manifest;
use super::result;
use crate::report::command::quote;
use crate::whole_file::is_part;

/// Shards that have a valid result. Each result is verified until it is valid once, and then never again.
#[derive(Clone, Debug, Default)]
pub struct Results {
    valid: BTreeSet<u32>,
}

impl Results {
    /// Verifies the shards that were not valid before. Returns the defects of results that exist but cannot
    /// be used.
    ///
    /// # Errors
    /// [`ClusterError`] if the folder or a file in it cannot be read.
    pub fn look(&mut self, out: &Path, manifest: &Manifest) -> Result<Vec<ClusterError>, ClusterError> {
        let mut problems = Vec::new();
        for shard in 0..manifest.count() {
            if self.valid.contains(&shard) {
                continue;
            }
            match result::verify(out, manifest, shard) {
                Ok(_) => _ = self.valid.insert(shard),
                Err(ClusterError::Shard(_, _, ShardProblem::Absent)) => {}
                Err(error @ ClusterError::Shard(..)) => problems.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(problems)
    }

    pub fn has(&self, shard: u32) -> bool {
        self.valid.contains(&shard)
    }

    pub fn count(&self) -> u32 {
        u32::try_from(self.valid.len()).unwrap_or(u32::MAX)
    }

    pub fn missing(&self, manifest: &Manifest) -> Vec<u32> {
        (0..manifest.count()).filter(|shard| !self.valid.contains(shard)).collect()
    }

    /// Checks that every shard has a valid result, before a merge.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] with the numbers of the shards without a valid result.
    pub fn expect_all(out: &Path, manifest: &Manifest) -> Result<(), ClusterError> {
        let mut results = Results::default();
        let problems = results.look(out, manifest)?;
        let missing = results.missing(manifest);
        if missing.is_empty() {
            return Ok(());
        }
        Err(ClusterError::Refused(format!(
            "{} of {} shards have no valid result: {}{}\nrun them with `atoms regress resume {}`",
            missing.len(),
            manifest.count(),
            ranges(&missing).replace(',', ", "),
            problems.iter().map(|problem| format!("\n  {problem}")).collect::<String>(),
            quote(&out.to_string_lossy())
        )))
    }
}

/// Deletes the work folders of tasks that died before publishing. A task that still runs then finds a
/// published result of its shard.
///
/// # Errors
/// [`ClusterError::Refused`] if a shard has no result yet, since a running task may still need its work
/// folder.
pub fn sweep(out: &Path, manifest: &Manifest) -> Result<(), ClusterError> {
    Results::expect_all(out, manifest)?;
    let shards = out.join("shards");
    // Interrupted merges leave draft folders in the output folder itself, interrupted tasks below `shards/`.
    for folder in [out, &shards] {
        sweep_folder(folder)?;
    }
    Ok(())
}

fn sweep_folder(folder: &Path) -> Result<(), ClusterError> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.file_name().is_some_and(|name| is_part(&name.to_string_lossy())) {
            continue;
        }
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Formats ascending numbers as Slurm expects them: `3,5-7`.
pub(super) fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}
