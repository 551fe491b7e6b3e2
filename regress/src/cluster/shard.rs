//! Cuts a regression into shards and merges their results.
//!
//! A shard runs like a whole run, in a folder of its own, which becomes its result. A merge passes the
//! records of all shards, in order, to a new state. The result equals that of a run in one process.

use std::collections::BTreeMap;
use std::path::Path;

use fs_err as fs;
use walkdir::WalkDir;

use crate::cluster::{ClusterError, Cut, FORMAT, Manifest, Results, Shard, result};
use crate::plan::Tests;
use crate::report::finish::finish;
use crate::report::summary::Summary;
use crate::run::state::RegressionState;
use crate::run::store::{self, RunCheckpoint, RunHeader, Store, StoreError};
use crate::run::timing::Timing;
use crate::run::worker::Context;
use crate::triage::bucket::Bucket;
use crate::triage::layout::FAILURES;
use crate::triage::signature::Signature;
use crate::whole_file::unique;

/// Cuts a run into shards and writes the manifest to the output folder.
///
/// # Errors
/// [`ClusterError`].
pub fn cut(out: &Path, tests: &Tests, header: &RunHeader, cut: Cut) -> Result<Manifest, ClusterError> {
    let endless = |what: &str| {
        let message = format!(
            "profile `{}` has a budget of {what}, but shards are cut before the tests run; \
             use a budget of tests or requests",
            tests.profile
        );
        Err(ClusterError::Refused(message))
    };
    if tests.settings.wall.is_some() {
        return endless("wall time");
    }
    let Some(count) = tests.count().filter(|_| tests.settings.cycles.is_none()) else {
        return endless("cycles");
    };
    let seconds = |index| tests.test(index).map_or(0.0, |test| test.seconds());
    let manifest = Manifest {
        format: FORMAT,
        plan: tests.plan.clone(),
        profile: tests.profile.clone(),
        seed: tests.seed,
        origin: header.origin.clone(),
        text: header.text.clone(),
        tests: count,
        shards: cut.shards(count, seconds),
    };
    manifest.create(out)?;
    Ok(manifest)
}

/// # Errors
/// [`StoreError`].
pub fn begin(work: &Path, context: &Context, header: &RunHeader, shard: Shard) -> Result<(), StoreError> {
    let mut store = Store::create(work, header, true, true)?;
    store.checkpoint(&context.state(shard.first), &Timing::default(), false)
}

/// Merges the results of all shards into the output folder, and writes the reports.
///
/// # Errors
/// [`ClusterError`]; lists shards without a result.
pub fn merge(
    out: &Path,
    manifest: &Manifest,
    context: &Context,
    header: &RunHeader,
) -> Result<Summary, ClusterError> {
    Results::expect_all(out, manifest)?;
    let began = store::checkpoint(out)?.timing;
    // Write to a draft folder first, so that an interrupted merge leaves the output folder unchanged.
    let draft = unique(&out.join("merge"));
    let mut store = Store::create(&draft, header, false, true)?;
    let mut state = context.state(0);
    let rtl = context.rtl.clone();
    let mut timing = Timing { wall_s: 0.0, busy_s: 0.0, slowest: Vec::new(), rtl, ..began };
    for number in 0..manifest.count() {
        let own = result::verify(out, manifest, number)?;
        let folder = result::folder(out, number);
        for (record, took) in store::records(&folder)?.zip(store::durations(&folder)?) {
            let (record, _) = state.take(record?);
            store.push(&record, took?.ms)?;
        }
        state.count_hits(&own.state.hits);
        state.rtl.merge(&own.state.rtl);
        take_bundles(&mut state, own.state.buckets, &folder.join(FAILURES), &draft.join(FAILURES))?;
        timing.add(&own.timing);
    }
    let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    timing.wall_s = now.unwrap_or_default().as_secs().saturating_sub(timing.started) as f64;
    store.checkpoint(&state, &timing, true)?;
    let checkpoint = RunCheckpoint { complete: true, state, timing, ..RunCheckpoint::default() };
    let summary = finish(context, header, &checkpoint, &draft, out)?;
    take_place(&draft, out)?;
    crate::cluster::sweep(out, manifest)?;
    Ok(summary)
}

/// Copies the bundles of buckets whose first test belongs to this shard.
fn take_bundles(
    state: &mut RegressionState,
    buckets: BTreeMap<Signature, Bucket>,
    from: &Path,
    to: &Path,
) -> Result<(), StoreError> {
    let mut new: Vec<_> = buckets.into_iter().collect();
    new.sort_by_key(|(_, theirs)| theirs.first);
    for (key, theirs) in new {
        let Some(ours) = state.buckets.get_mut(&key).filter(|ours| ours.first == theirs.first) else {
            continue;
        };
        if let Some(name) = theirs.bundle.as_deref().and_then(|bundle| Path::new(bundle).file_name()) {
            let place = to.join(name);
            // A bundle of this name may exist: minimizing gave an earlier bucket the same final signature.
            if !place.exists() {
                let from = from.join(theirs.first.to_string()).join(FAILURES);
                copy_folder(&from.join(name), &place)?;
            }
        }
        ours.closer(theirs);
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), StoreError> {
    for entry in WalkDir::new(from) {
        let path = entry.map_err(std::io::Error::from)?.into_path();
        let place = to.join(path.strip_prefix(from).unwrap_or(&path));
        if path.is_dir() {
            fs::create_dir_all(&place)?;
        } else {
            fs::copy(&path, &place)?;
        }
    }
    Ok(())
}

/// Moves everything in `draft` to `out`, replacing existing files and folders.
fn take_place(draft: &Path, out: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(draft)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        let place = out.join(name);
        if place.is_dir() {
            fs::remove_dir_all(&place)?;
        }
        fs::rename(&path, &place)?;
    }
    Ok(fs::remove_dir(draft)?)
}
