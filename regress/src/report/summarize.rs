use bitvec::vec::BitVec;

use crate::coverage::rtl::RtlItem;
use crate::coverage::summary::{FunctionalCoverage, Gate, GroupCoverage, RtlCoverageSummary, WaivedPlaces};
use crate::coverage::waivers::Waivers;
use crate::report::cause::causes;
use crate::report::summary::{Bucket, FORMAT, Summary};
use crate::run::state::RegressionState;
use crate::run::store::{RunCheckpoint, RunHeader};
use crate::run::totals::PartTotals;
use crate::run::worker::Context;
use atoms_coverage::Model;

pub fn summarize(
    context: &Context,
    header: &RunHeader,
    checkpoint: &RunCheckpoint,
    waivers: &Waivers,
    gate: Option<Gate>,
) -> Summary {
    let state = &checkpoint.state;
    let place = |parts: &[PartTotals], name: &str| parts.iter().position(|part| part.name == name);
    let mut cells = state.cells.clone();
    cells.sort_by_key(|cell| (place(&state.entries, &cell.entry), place(&state.configs, &cell.config)));
    let mut buckets = buckets(state);
    let causes = causes(&buckets, &cells, &context.tests.configs);
    buckets.iter_mut().for_each(|bucket| bucket.entries.clear());
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

/// Merges the buckets whose minimized cases have equal signatures. Sorts by number of tests, largest first.
fn buckets(state: &RegressionState) -> Vec<Bucket> {
    let mut raws: Vec<_> = state.buckets.iter().collect();
    raws.sort_by_key(|(_, raw)| raw.first);
    let mut found: Vec<Bucket> = Vec::new();
    for (raw_key, raw) in raws {
        let mut bucket = raw.clone();
        bucket.found_as.extend(Some(raw_key.clone()).filter(|raw_key| *raw_key != bucket.key));
        match found.iter_mut().find(|there| there.key == bucket.key) {
            Some(there) => there.join(bucket),
            None => found.push(bucket),
        }
    }
    found.sort_by_key(|bucket| (std::cmp::Reverse(bucket.tests), bucket.first));
    found
}

pub(crate) fn coverage(
    model: &Model,
    reachable: &BitVec,
    state: &RegressionState,
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
        // Another unit has groups without a bin.
        if own.bins > 0 {
            all.groups.push(own);
        }
    }
    all
}

pub(crate) fn rtl_coverage(state: &RegressionState, waivers: &Waivers) -> RtlCoverageSummary {
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

fn waive(list: &mut Vec<WaivedPlaces>, reason: &str, at: u32) {
    match list.iter_mut().find(|waiver| waiver.reason == reason) {
        Some(waiver) => waiver.places.push(at),
        None => list.push(WaivedPlaces { reason: reason.to_string(), places: vec![at] }),
    }
}
