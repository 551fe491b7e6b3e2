//! From the state of a run to its summary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bitvec::vec::BitVec;

use crate::coverage::Model;
use crate::coverage::rtl::RtlItem;
use crate::coverage::summary::{FunctionalCoverage, Gate, GroupCoverage, RtlCoverageSummary, WaivedPlaces};
use crate::coverage::waivers::Waivers;
use crate::report::cause::causes;
use crate::report::summary::{Bucket, FORMAT, Summary};
use crate::run::state::{RawBucket, State};
use crate::run::store::{RunCheckpoint, RunHeader};
use crate::run::totals::PartTotals;
use crate::run::worker::Context;
use crate::triage::layout::FAILURES;

/// Summary of a run in the output folder `dir`.
pub fn summarize(
    context: &Context,
    header: &RunHeader,
    checkpoint: &RunCheckpoint,
    waivers: &Waivers,
    gate: Option<Gate>,
    dir: &Path,
) -> Summary {
    let state = &checkpoint.state;
    let place = |parts: &[PartTotals], name: &str| parts.iter().position(|part| part.name == name);
    let mut cells = state.cells.clone();
    cells.sort_by_key(|cell| (place(&state.entries, &cell.entry), place(&state.configs, &cell.config)));
    let (buckets, entries_of) = buckets(state, dir);
    let causes = causes(&buckets, &entries_of, &cells, &context.tests.configs);
    Summary {
        format: FORMAT,
        version: header.origin.version.clone(),
        plan: context.tests.plan.clone(),
        profile: context.tests.profile.clone(),
        seed: header.seed,
        rtl: header.origin.rtl.clone(),
        complete: checkpoint.complete,
        totals: state.totals,
        entries: state.entries.clone(),
        configs: state.configs.clone(),
        cells,
        buckets,
        causes,
        coverage: coverage(&context.model, &context.reachable_by_any(), state, waivers, gate),
        rtl_coverage: context
            .tests
            .settings
            .rtl_coverage
            .variant()
            .has_coverage()
            .then(|| rtl_coverage(state, waivers)),
        corpus: state.corpus.len() as u64,
    }
}

/// Buckets, those with most tests first. Failures whose smallest cases fail alike are one.
/// With the entries of the tests of each, by its key.
fn buckets(state: &State, dir: &Path) -> (Vec<Bucket>, BTreeMap<String, BTreeSet<String>>) {
    let mut entries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut raws: Vec<(&String, &RawBucket)> = state.buckets.iter().collect();
    raws.sort_by_key(|(_, raw)| raw.first);
    let mut found: BTreeMap<&str, Bucket> = BTreeMap::new();
    for (raw_key, raw) in raws {
        let bundle = raw.bundle.as_ref();
        let key = bundle.map_or(raw_key.as_str(), |bundle| bundle.key.as_str());
        entries.entry(key.to_string()).or_default().extend(raw.entries.iter().cloned());
        let bucket = found.entry(key).or_insert_with(|| {
            let (what, op) =
                bundle.map(|bundle| (bundle.what.clone(), bundle.op.clone())).unwrap_or_default();
            let folder = bundle.map(|bundle| format!("{FAILURES}/{}", bundle.folder));
            let mut text = bundle.map_or(&raw.text, |bundle| &bundle.text).clone();
            if let Some(reason) = &raw.no_bundle {
                text += &format!("\nno bundle: {reason}");
            }
            Bucket {
                key: key.to_string(),
                found_as: Vec::new(),
                what,
                op,
                status: raw.status,
                tests: 0,
                first: raw.first,
                first_name: raw.first_name.clone(),
                configs: Vec::new(),
                text,
                files: folder.as_ref().map_or_else(Vec::new, |folder| files(&dir.join(folder))),
                bundle: folder,
                requests: bundle.and_then(|bundle| bundle.requests),
                repeat: bundle.map_or_else(String::new, |bundle| bundle.repeat.clone()),
            }
        });
        bucket.tests += raw.tests;
        if raw_key != key {
            bucket.found_as.push(raw_key.clone());
        }
        for config in raw.configs.iter().filter(|config| !bucket.configs.contains(config)).collect::<Vec<_>>()
        {
            bucket.configs.push(config.clone());
        }
    }
    let mut buckets: Vec<_> = found.into_values().collect();
    buckets.sort_by_key(|bucket| (std::cmp::Reverse(bucket.tests), bucket.first));
    (buckets, entries)
}

/// Files of a bundle by name, its page first; folders in it are not for looking at.
fn files(bundle: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(bundle).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_by_key(|name| (!name.ends_with(".html"), name.clone()));
    names
}

/// Coverage of bins, of those that are `reachable`.
pub(crate) fn coverage(
    model: &Model,
    reachable: &BitVec,
    state: &State,
    waivers: &Waivers,
    gate: Option<Gate>,
) -> FunctionalCoverage {
    let is = |set: &BitVec, bin: usize| set.get(bin).is_some_and(|is| *is);
    let mut all = FunctionalCoverage { gate, ..FunctionalCoverage::default() };
    for group in &model.groups {
        let mut own = GroupCoverage {
            name: group.name.to_string(),
            reason: group.reason.to_string(),
            clause: group.clause.to_string(),
            dimensions: group.dimensions.iter().map(|d| (d.name.to_string(), d.values.clone())).collect(),
            ..GroupCoverage::default()
        };
        for bin in group.first..group.first + group.len() {
            let hits = state.hits.hits(bin);
            let there = is(reachable, bin);
            own.counts.push(there.then_some(hits));
            own.bins += u64::from(there);
            own.hit += u64::from(there && hits > 0);
            if there
                && hits == 0
                && let Some(waiver) = waivers.bin(&group.bin_name(bin - group.first))
            {
                own.waived += 1;
                waive(&mut own.waivers, &waiver.reason, (bin - group.first) as u32);
            }
        }
        all.bins += own.bins;
        all.hit += own.hit;
        all.waived += own.waived;
        all.groups.push(own);
    }
    all
}

/// Coverage of the RTL's source, with what is waived of it.
pub(crate) fn rtl_coverage(state: &State, waivers: &Waivers) -> RtlCoverageSummary {
    let mut all = state.rtl.summary();
    for item in state.rtl.uncovered() {
        let Some(waiver) = waivers.item(&item) else { continue };
        match item {
            RtlItem::Cover(name) => all.waived_covers.push((name, waiver.reason.clone())),
            RtlItem::Line { file, line } => {
                if let Some(file) = all.files.iter_mut().find(|there| there.name == file) {
                    waive(&mut file.waivers, &waiver.reason, line);
                }
            }
        }
    }
    all
}

/// Adds a place to those with the same reason.
fn waive(list: &mut Vec<WaivedPlaces>, reason: &str, at: u32) {
    match list.iter_mut().find(|waiver| waiver.reason == reason) {
        Some(waiver) => waiver.places.push(at),
        None => list.push(WaivedPlaces { reason: reason.to_string(), places: vec![at] }),
    }
}
