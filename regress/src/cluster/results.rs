//! Which shards have a result.

use std::collections::BTreeSet;
use std::path::Path;

use fs_err as fs;

use super::error::{ClusterError, ShardProblem};
use super::manifest::Manifest;
use super::result;
use crate::report::command::quote;
use crate::whole_file::is_part;

/// Which shards have a valid result. Looks at each file until it was valid once, and no more.
#[derive(Clone, Debug, Default)]
pub struct Results {
    valid: BTreeSet<u32>,
}

impl Results {
    /// Looks at the shards that were not valid before. Gives what is wrong with those that are there and
    /// cannot be used.
    ///
    /// # Errors
    /// [`ClusterError`] when the folder or a file in it cannot be read.
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

    /// Whether a shard has one.
    pub fn has(&self, shard: u32) -> bool {
        self.valid.contains(&shard)
    }

    /// How many have one.
    pub fn count(&self) -> u32 {
        u32::try_from(self.valid.len()).unwrap_or(u32::MAX)
    }

    /// The shards that have none.
    pub fn missing(&self, manifest: &Manifest) -> Vec<u32> {
        (0..manifest.count()).filter(|shard| !self.valid.contains(shard)).collect()
    }

    /// Sees that every shard has a valid result: what a merge does first.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] with the numbers of those that have none.
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

/// Takes away what tasks left that died before they could publish. A task that is still running then
/// finds the result of another in its place.
///
/// # Errors
/// [`ClusterError::Refused`] when a shard has no result yet, since tasks may then still need theirs.
pub fn sweep(out: &Path, manifest: &Manifest) -> Result<(), ClusterError> {
    Results::expect_all(out, manifest)?;
    let shards = out.join("shards");
    // What merges left lies beside the folder of the shards.
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

/// Numbers in ascending order as a scheduler takes them: `3,5-7`.
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
