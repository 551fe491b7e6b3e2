//! Shards of a regression, and how they become the run that one process would have made.
//!
//! A shard runs like a whole run, in a folder of its own, and publishes its records. A merge takes the
//! records of all shards in order through a state of its own, which makes of them what it would have made
//! of the tests themselves.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cluster::record::{self, Published, Reader, Writer};
use crate::cluster::{ClusterError, Cut, FORMAT, Manifest, Results, Shard, unique};
use crate::coverage::Map;
use crate::coverage::rtl::RtlMap;
use crate::plan::Tests;
use crate::report::finish::{FinishError, finish};
use crate::report::summary::Summary;
use crate::run::state::{RawBucket, Record as TestRecord, State};
use crate::run::store::{self, Checkpoint, Header, Store, StoreError, reading, writing};
use crate::run::timing::Timing;
use crate::run::worker::Context;
use crate::triage::layout::FAILURES;

/// A line of a shard's result file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A test.
    Test {
        /// What it came to.
        record: Box<TestRecord>,
        /// Wall time in milliseconds.
        ms: f64,
    },
    /// What all its tests covered, and the buckets of their failures; behind the tests.
    End {
        /// Hits of bins.
        hits: Map,
        /// Lines and cover properties of the RTL.
        rtl: RtlMap,
        /// Buckets by raw key.
        buckets: Vec<(String, RawBucket)>,
        /// Times.
        timing: Box<Timing>,
    },
}

impl record::Record for Record {
    fn result_of(&self) -> Option<u64> {
        match self {
            Record::Test { record, .. } => Some(record.result.index),
            Record::End { .. } => None,
        }
    }
}

/// Why a shard or a merge does not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The plan ends in a way that shards cannot.
    #[error("{0}")]
    Endless(String),
    /// The folder of the cluster run.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A folder of results.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reports.
    #[error(transparent)]
    Finish(#[from] FinishError),
}

/// Cuts a run into shards: writes the manifest of the output folder.
///
/// # Errors
/// [`ShardError`].
pub fn cut(out: &Path, tests: &Tests, header: &Header, cut: Cut) -> Result<Manifest, ShardError> {
    let endless = |what: &str| {
        let message = format!(
            "profile `{}` has a budget of {what}, which is known only while tests run: shards are cut before; \
             give it tests or requests",
            tests.profile
        );
        Err(ShardError::Endless(message))
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

/// The folder in which one task runs a shard; nobody else's. What a dead task leaves is tidied away by a
/// merge.
pub fn work_folder(out: &Path, shard: u32) -> PathBuf {
    unique(&out.join("shards").join(format!("{shard}.work")))
}

/// Makes the folder in which a shard is run.
///
/// # Errors
/// [`StoreError`].
pub fn begin(work: &Path, context: &Context, header: &Header, shard: Shard) -> Result<(), StoreError> {
    let mut store = Store::create(work, header, true, true)?;
    store.checkpoint(&context.state(shard.first), &Timing::default(), false)
}

/// Publishes what a shard came to, and takes its folder away.
///
/// # Errors
/// [`ShardError`].
pub fn publish(
    out: &Path,
    manifest: &Manifest,
    header: &Header,
    shard: u32,
    work: &Path,
) -> Result<Published, ShardError> {
    let mut writer = Writer::<Record>::new(out, manifest, &header.origin, shard)?;
    let mut durations = store::durations(work)?;
    for record in store::records(work)? {
        let ms = durations.next().transpose()?.map_or(0.0, |took| took.ms);
        writer.write(&Record::Test { record: Box::new(record?), ms })?;
    }
    let Checkpoint { state, timing, .. } = store::checkpoint(work)?;
    let failures = work.join(FAILURES);
    if failures.is_dir() {
        copy_folder(&failures, writer.failures()?)?;
    }
    let buckets = state.buckets.into_iter().collect();
    writer.write(&Record::End { hits: state.hits, rtl: state.rtl, buckets, timing: Box::new(timing) })?;
    let published = writer.publish()?;
    fs::remove_dir_all(work).map_err(writing(work))?;
    Ok(published)
}

/// Brings the results of all shards together in the output folder, and writes the reports.
///
/// # Errors
/// [`ShardError`]: [`ClusterError::Missing`] names shards that have no result.
pub fn merge(
    out: &Path,
    manifest: &Manifest,
    context: &Context,
    header: &Header,
) -> Result<Summary, ShardError> {
    Results::expect_all(out, manifest)?;
    let began = store::checkpoint(out)?.timing;
    // Beside its place, so that who looks at the folder sees an old state or the new one.
    let draft = unique(&out.join("merge"));
    let mut store = Store::create(&draft, header, false, true)?;
    let mut state = context.state(0);
    let rtl = context.rtl.clone();
    let mut timing = Timing { wall_s: 0.0, busy_s: 0.0, slowest: Vec::new(), rtl, ..began };
    for number in 0..manifest.count() {
        for record in Reader::<Record>::new(out, manifest, number)? {
            match record? {
                Record::Test { record, ms } => {
                    let (record, _) = state.take(*record);
                    store.push(&record, ms)?;
                }
                Record::End { hits, rtl, buckets, timing: own } => {
                    state.count_hits(&hits);
                    state.rtl.merge(&rtl);
                    take_bundles(&mut state, buckets, &failures_of(out, number), &draft.join(FAILURES))?;
                    timing.add(&own);
                }
            }
        }
    }
    let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    timing.wall_s = now.unwrap_or_default().as_secs().saturating_sub(timing.started) as f64;
    store.checkpoint(&state, &timing, true)?;
    let checkpoint = Checkpoint { complete: true, state, timing, ..Checkpoint::default() };
    let summary = finish(context, header, &checkpoint, &draft, out)?;
    take_place(&draft, out)?;
    crate::cluster::sweep(out, manifest)?;
    Ok(summary)
}

fn failures_of(out: &Path, shard: u32) -> PathBuf {
    out.join("shards").join(format!("{shard}.{FAILURES}"))
}

/// Takes the bundles of those buckets whose first test is this shard's.
fn take_bundles(
    state: &mut State,
    buckets: Vec<(String, RawBucket)>,
    from: &Path,
    to: &Path,
) -> Result<(), StoreError> {
    let mut new: Vec<_> = buckets.into_iter().collect();
    new.sort_by_key(|(_, theirs)| theirs.first);
    for (key, theirs) in new {
        let Some(ours) = state.buckets.get_mut(&key).filter(|ours| ours.first == theirs.first) else {
            continue;
        };
        if let Some(bundle) = &theirs.bundle {
            let place = to.join(&bundle.folder);
            // Another failure that turned out to be the same was first.
            if !place.exists() {
                let from = from.join(theirs.first.to_string()).join(FAILURES);
                copy_folder(&from.join(&bundle.folder), &place)?;
            }
        }
        (ours.bundle, ours.no_bundle) = (theirs.bundle, theirs.no_bundle);
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(to).map_err(writing(to))?;
    for entry in fs::read_dir(from).map_err(reading(from))? {
        let path = entry.map_err(reading(from))?.path();
        let Some(name) = path.file_name() else { continue };
        let place = to.join(name);
        if path.is_dir() {
            copy_folder(&path, &place)?;
        } else {
            fs::copy(&path, &place).map_err(writing(&place))?;
        }
    }
    Ok(())
}

/// Moves everything in `draft` to `out`, in the place of what is there.
fn take_place(draft: &Path, out: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(draft).map_err(reading(draft))? {
        let path = entry.map_err(reading(draft))?.path();
        let Some(name) = path.file_name() else { continue };
        let place = out.join(name);
        if place.is_dir() {
            fs::remove_dir_all(&place).map_err(writing(&place))?;
        }
        fs::rename(&path, &place).map_err(writing(&place))?;
    }
    fs::remove_dir(draft).map_err(writing(draft))
}
