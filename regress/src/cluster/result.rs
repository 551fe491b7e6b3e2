//! Result of a shard: the output folder of its run, published by renaming.
//!
//! A task runs its shard like a whole run, in a folder that no other task uses. After the last test, the task
//! adds `shard.json` and renames the folder to `shards/N.result`. A valid result is never replaced, so that
//! only the first of two concurrent tasks publishes its result.

use std::io;
use std::path::{Path, PathBuf};

use fs_err::{self as fs, File};
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::cut::Shard;
use super::error::{ClusterError, ShardProblem};
use super::manifest::Manifest;
use crate::run::origin::Origin;
use crate::run::store::{self, RunCheckpoint, StoreError};
use crate::triage::layout::FAILURES;
use crate::whole_file::{sync_folder, unique};

/// Identity of a result, and its bundle files: `shard.json`, the last file written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    shard: u32,
    tests: Shard,
    manifest: String,
    /// Files below `failures/`, sorted, relative to that folder.
    failures: Vec<String>,
}

const PUBLICATION: &str = "shard.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    New,
    /// Another task has already published a valid result, which is kept.
    AlreadyThere,
}

pub fn folder(out: &Path, shard: u32) -> PathBuf {
    out.join("shards").join(format!("{shard}.result"))
}

/// Returns a folder name that no other task uses, in which to run a shard. A merge deletes folders of dead
/// tasks.
pub fn work_folder(out: &Path, shard: u32) -> PathBuf {
    unique(&out.join("shards").join(format!("{shard}.work")))
}

/// Publishes the run in `work` as the result of its shard, unless a valid result exists.
///
/// # Errors
/// [`ClusterError::Refused`] if the origin differs from the manifest, a test has no result, or the shard does
/// not exist.
pub fn publish(
    out: &Path,
    manifest: &Manifest,
    here: &Origin,
    shard: u32,
    work: &Path,
) -> Result<Published, ClusterError> {
    manifest.admit(out, here)?;
    let tests = manifest.shard(shard)?;
    let checkpoint = store::checkpoint(work)?;
    check_tests(&checkpoint, tests)
        .map_err(|problem| ClusterError::Refused(format!("shard {shard}: {problem}")))?;
    sync_tree(work)?;
    let failures = files_below(&work.join(FAILURES))?;
    let publication = Publication { shard, tests, manifest: manifest.hash(), failures };
    store::replace(&work.join(PUBLICATION), &publication)?;
    let target = folder(out, shard);
    // Remove an invalid result, since the rename below needs the name.
    if verify(out, manifest, shard).is_err() && target.exists() {
        let aside = unique(&target);
        let _ = fs::rename(&target, &aside);
        let _ = if aside.is_dir() { fs::remove_dir_all(&aside) } else { fs::remove_file(&aside) };
    }
    let renamed = fs::rename(work, &target);
    sync_folder(&target);
    match renamed {
        Ok(()) => Ok(Published::New),
        Err(_) if verify(out, manifest, shard).is_ok() => {
            let _ = fs::remove_dir_all(work);
            Ok(Published::AlreadyThere)
        }
        Err(error) => Err(error.into()),
    }
}

/// Verifies the result of a shard: complete, undamaged, of this manifest, and with the bundles of its
/// failures.
///
/// # Errors
/// [`ClusterError::Shard`] with the defect; [`ClusterError::Refused`] if the shard does not exist.
pub fn verify(out: &Path, manifest: &Manifest, shard: u32) -> Result<RunCheckpoint, ClusterError> {
    let tests = manifest.shard(shard)?;
    let path = folder(out, shard);
    if !path.exists() {
        return Err(ClusterError::Shard(shard, path, ShardProblem::Absent));
    }
    check(&path, manifest, shard, tests)
        .map_err(|problem| ClusterError::Shard(shard, path, ShardProblem::Unusable(problem)))
}

fn check(path: &Path, manifest: &Manifest, shard: u32, tests: Shard) -> Result<RunCheckpoint, String> {
    let damaged = |error: StoreError| format!("is damaged: {error}");
    let theirs = store::header(path).map_err(damaged)?.origin;
    let differences = manifest.origin.differences(&theirs, "manifest", "result");
    if !differences.is_empty() {
        return Err(format!("was made with another program, RTL or input file: {}", differences.join("; ")));
    }
    let found: Publication = store::read(&path.join(PUBLICATION)).map_err(damaged)?;
    let expected = manifest.hash();
    if found.manifest != expected {
        return Err(format!("belongs to another manifest: hash {}, expected {expected}", found.manifest));
    }
    if found.shard != shard {
        return Err(format!("belongs to shard {}", found.shard));
    }
    if found.tests != tests {
        let last = found.tests.end.saturating_sub(1);
        return Err(format!("has tests {} to {last}, which are not those of this shard", found.tests.first));
    }
    let checkpoint = store::verified(path).map_err(damaged)?;
    check_tests(&checkpoint, tests).map_err(|problem| format!("has {problem}"))?;
    let failures = path.join(FAILURES);
    match found.failures.into_iter().find(|name| !failures.join(name).is_file()) {
        Some(name) => Err(format!("lists the failure file `{name}`, which is missing")),
        None => Ok(checkpoint),
    }
}

/// Checks that each test of a shard has a result. Tests are recorded once and in order, so the range
/// suffices.
fn check_tests(checkpoint: &RunCheckpoint, tests: Shard) -> Result<(), String> {
    let state = &checkpoint.state;
    if state.from != tests.first || state.next > tests.end {
        let last = |end: u64| end.saturating_sub(1);
        return Err(format!(
            "results of tests {} to {}, expected {} to {}",
            state.from,
            last(state.next),
            tests.first,
            last(tests.end)
        ));
    }
    if state.next < tests.end {
        return Err(format!("no result of tests {} to {}", state.next, tests.end - 1));
    }
    Ok(())
}

/// Lists the files below a folder, relative and sorted; empty if the folder does not exist.
fn files_below(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    if !folder.is_dir() {
        return Ok(names);
    }
    for entry in WalkDir::new(folder) {
        let path = entry?.into_path();
        if !path.is_dir() {
            names.push(path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn sync_tree(folder: &Path) -> io::Result<()> {
    files_below(folder)?.into_iter().try_for_each(|name| File::open(folder.join(name))?.sync_all())
}

#[cfg(test)]
pub(super) mod tests;
