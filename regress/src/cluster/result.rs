//! The result of a shard: the output folder of its run, in its place when it is whole.
//!
//! A shard runs like a whole run, in a folder of its own that no other task has. When its last test is written
//! down, `shard.json` is put beside its records and the folder is renamed to `shards/N.result`. A valid
//! result stays when another task of the same shard comes later: of two tasks that run at once, one result is
//! kept.

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

/// Whose results they are, and what of them lies in files of its own: `shard.json`, the last file written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    shard: u32,
    tests: Shard,
    /// Hash of the manifest.
    manifest: String,
    /// Files under `failures/`, sorted.
    failures: Vec<String>,
}

const PUBLICATION: &str = "shard.json";

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is the result of the shard.
    New,
    /// Another task of the same shard was first; its result stays.
    AlreadyThere,
}

/// The result of a shard in an output folder.
pub fn folder(out: &Path, shard: u32) -> PathBuf {
    out.join("shards").join(format!("{shard}.result"))
}

/// The folder in which one task runs a shard, and no other does. A merge removes what a dead task leaves.
pub fn work_folder(out: &Path, shard: u32) -> PathBuf {
    unique(&out.join("shards").join(format!("{shard}.work")))
}

/// Puts what a shard came to in `work` in its place, unless a valid result is there.
///
/// # Errors
/// [`ClusterError::Refused`] when something else made the manifest, a test has no result, or there is no such
/// shard.
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
    // What is there and is not valid makes room.
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

/// Whether a shard has a valid result: whole, of this manifest, with the bundles of its failures.
///
/// # Errors
/// [`ClusterError::Shard`] with what is wrong; [`ClusterError::Refused`] when there is no such shard.
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
        return Err(format!("is of something else: {}", differences.join("; ")));
    }
    let found: Publication = store::read(&path.join(PUBLICATION)).map_err(damaged)?;
    let expected = manifest.hash();
    if found.manifest != expected {
        return Err(format!("is of another manifest: {}, expected {expected}", found.manifest));
    }
    if found.shard != shard {
        return Err(format!("is of shard {}", found.shard));
    }
    if found.tests != tests {
        let last = found.tests.end.saturating_sub(1);
        return Err(format!("has tests {} to {last}, of another cut", found.tests.first));
    }
    let checkpoint = store::verified(path).map_err(damaged)?;
    check_tests(&checkpoint, tests).map_err(|problem| format!("has {problem}"))?;
    let failures = path.join(FAILURES);
    match found.failures.into_iter().find(|name| !failures.join(name).is_file()) {
        Some(name) => Err(format!("names `{name}` among its failures, which is not there")),
        None => Ok(checkpoint),
    }
}

/// Whether each test of a shard has its result: tests are written down in order, each once.
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

/// Names of the files below a folder as seen from it, sorted; none if it is not there.
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

/// Makes sure that all files of a folder are on the disk.
fn sync_tree(folder: &Path) -> io::Result<()> {
    files_below(folder)?.into_iter().try_for_each(|name| File::open(folder.join(name))?.sync_all())
}

#[cfg(test)]
pub(super) mod tests;
