//! Accumulated state of a regression.
//!
//! The state takes tests in plan order. Each shard of a cluster run has a state of its own tests only. Taking
//! the records of all shards in order gives exactly the state of a run in one process.

use std::collections::{BTreeMap, BTreeSet};

use bitvec::vec::BitVec;
use serde::{Deserialize, Serialize};

use crate::coverage::rtl::RtlMap;
use crate::run::result::TestResult;
use crate::run::totals::{Cell, PartTotals, Totals};
use crate::triage::bucket::Bucket;
use crate::triage::signature::Signature;
use atoms_coverage::Map;
use atoms_coverage::episode::Episode;

/// Result and coverage of one test, as the state takes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestRecord {
    /// The result; `new_bins` counts bins that were new to the state that returned the record.
    pub result: TestResult,
    /// Bins hit by the test. May omit bins that the receiving state has already.
    pub candidates: Vec<usize>,
    /// Episodes that hit bins which no earlier run of the test had hit.
    pub finds: Vec<Find>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Find {
    pub episode: Episode,
    /// Bins that no earlier run had hit.
    pub candidates: Vec<usize>,
    pub hits: BitVec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegressionState {
    /// Index of the next test; tests from [`RegressionState::from`] up to it have been taken.
    pub next: u64,
    pub from: u64,
    pub totals: Totals,
    pub entries: Vec<PartTotals>,
    pub configs: Vec<PartTotals>,
    /// Totals of each entry and configuration, in the order of their first test.
    pub cells: Vec<Cell>,
    pub hits: Map,
    /// Coverage of RTL lines and cover properties; empty if not measured.
    #[serde(default, skip_serializing_if = "RtlMap::is_empty")]
    pub rtl: RtlMap,
    /// Failure buckets by raw signature.
    #[serde(with = "pairs")]
    pub buckets: BTreeMap<Signature, Bucket>,
    pub corpus: Vec<Find>,
    #[serde(skip)]
    seen: BitVec,
}

/// Serializes a map as a list of pairs, since keys of JSON objects are text. Also reads an object, the format
/// of earlier versions.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_untagged::UntaggedEnumVisitor;

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<K, V>, D::Error> {
        UntaggedEnumVisitor::new()
            .seq(|pairs| Ok(pairs.deserialize::<Vec<(K, V)>>()?.into_iter().collect()))
            .map(|object| object.deserialize())
            .deserialize(deserializer)
    }
}

/// Maximum number of buckets. Later failures count in totals and results only.
const MOST_BUCKETS: usize = 1_000;

impl RegressionState {
    pub fn new(from: u64, bins: usize, entries: &[String], configs: &[String]) -> Self {
        let part = |name: &String| PartTotals { name: name.clone(), totals: Totals::default() };
        RegressionState {
            from,
            next: from,
            entries: entries.iter().map(part).collect(),
            configs: configs.iter().map(part).collect(),
            hits: Map::new(bins),
            seen: BitVec::repeat(false, bins),
            ..RegressionState::default()
        }
    }

    /// Restores the fields that are not serialized.
    pub fn revived(mut self) -> Self {
        self.seen = self.hits.hit().clone();
        self
    }

    /// Adds the next test, except its hits of bins, which [`RegressionState::count_hits`] adds. Returns the record
    /// to store, and true if the failure opened a new bucket.
    pub fn take(&mut self, mut record: TestRecord) -> (TestRecord, bool) {
        let fresh = |seen: &BitVec, bin: &usize| seen.get(*bin).is_some_and(|seen| !*seen);
        record.candidates.retain(|bin| fresh(&self.seen, bin));
        for bin in &record.candidates {
            self.seen.set(*bin, true);
        }
        let mut claimed: BTreeSet<usize> = record.candidates.iter().copied().collect();
        record.finds.retain_mut(|find| {
            find.candidates.retain(|bin| claimed.remove(bin));
            !find.candidates.is_empty()
        });
        self.corpus.extend(record.finds.iter().cloned());
        let result = &mut record.result;
        result.new_bins = record.candidates.len() as u32;
        self.next = result.index + 1;
        self.totals.add(result.status, result.work);
        for (parts, name) in [(&mut self.entries, &result.entry), (&mut self.configs, &result.config)] {
            if let Some(part) = parts.iter_mut().find(|part| part.name == *name) {
                part.totals.add(result.status, result.work);
            }
        }
        let at = self.cells.iter().position(|c| c.entry == result.entry && c.config == result.config);
        let at = at.unwrap_or_else(|| {
            let (entry, config) = (result.entry.clone(), result.config.clone());
            self.cells.push(Cell { entry, config, totals: Totals::default() });
            self.cells.len() - 1
        });
        self.cells[at].totals.add(result.status, result.work);
        let new = self.bucket(&record.result);
        (record, new)
    }

    /// Adds hits of bins; the order of calls does not matter.
    pub fn count_hits(&mut self, hits: &Map) {
        self.hits.merge(hits);
        self.seen |= hits.hit();
    }

    /// Takes the triage result of test `first`, the first of its bucket, or the reason for a missing bundle.
    pub fn bundled(&mut self, first: u64, looked: Result<Bucket, String>) {
        let Some(bucket) = self.buckets.values_mut().find(|bucket| bucket.first == first) else { return };
        match looked {
            Ok(looked) => bucket.closer(looked),
            Err(reason) => bucket.text += &format!("\nno bundle: {reason}"),
        }
    }

    /// Counts a result in its bucket. Returns true if the bucket is new.
    fn bucket(&mut self, result: &TestResult) -> bool {
        let Some(failure) = &result.failure else { return false };
        let bucket = Bucket {
            key: failure.bucket.clone(),
            status: result.status,
            tests: 1,
            first: result.index,
            first_name: result.name.clone(),
            text: failure.text.clone(),
            configs: vec![result.config.clone()],
            entries: [result.entry.clone()].into(),
            ..Bucket::default()
        };
        if let Some(there) = self.buckets.get_mut(&failure.bucket) {
            there.join(bucket);
            return false;
        }
        let room = self.buckets.len() < MOST_BUCKETS;
        if room {
            self.buckets.insert(failure.bucket.clone(), bucket);
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::triage::signature::FailureKind;

    #[test]
    fn buckets_are_read_back_also_from_earlier_versions() {
        let key = Signature::new(FailureKind::Crash, "signal 6");
        let bucket = Bucket { key: key.clone(), first: 7, ..Bucket::default() };
        let state = RegressionState { buckets: [(key.clone(), bucket)].into(), ..RegressionState::default() };
        let mut saved = serde_json::to_value(&state).expect("it serializes");
        assert_eq!(serde_json::from_value::<RegressionState>(saved.clone()).expect("it reads back"), state);
        let mut bucket = saved["buckets"][0][1].take();
        bucket["key"] = json!("crash signal 6");
        saved["buckets"] = json!({ "crash signal 6": bucket });
        let read: RegressionState = serde_json::from_value(saved).expect("text is read");
        let (raw, bucket) = read.buckets.first_key_value().expect("a bucket");
        assert!(key.is_of(raw) && key.is_of(&bucket.key) && bucket.first == 7, "{read:?}");
    }
}
