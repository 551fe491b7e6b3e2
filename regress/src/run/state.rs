//! What a regression has come to so far.
//!
//! Tests are taken in the order of the plan. A shard of a cluster has a state of its own, of its tests
//! alone; taking the shards' records in order gives the state of a run in one process, bit for bit.

use std::collections::{BTreeMap, BTreeSet};

use bitvec::vec::BitVec;
use serde::{Deserialize, Serialize};

use crate::coverage::Map;
use crate::coverage::rtl::RtlMap;
use crate::episode::Episode;
use crate::run::result::{Status, TestResult};
use crate::run::totals::{Cell, PartTotals, Totals};
use crate::triage::bundle::BundleInfo;

/// What a state takes in of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestRecord {
    /// The result; its `new_bins` counts those new to the state that gave the record.
    pub result: TestResult,
    /// Bins it hit, or at least all of those that the receiving state may not have.
    pub candidates: Vec<usize>,
    /// Episodes that hit something that no run before them in the test had hit.
    pub finds: Vec<Find>,
}

/// An episode and what it hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Find {
    /// The episode.
    pub episode: Episode,
    /// Bins that no run before it had hit.
    pub candidates: Vec<usize>,
    /// All bins that it hit.
    #[serde(with = "bits")]
    pub hits: BitVec,
}

/// Tests that failed alike, as far as can be seen before their failures are made small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawBucket {
    /// How the first ended.
    pub status: Status,
    /// Tests in it.
    pub tests: u64,
    /// The first.
    pub first: u64,
    /// Its name.
    pub first_name: String,
    /// Its failure, in its own words.
    pub text: String,
    /// Configurations, in the order they were met.
    pub configs: Vec<String>,
    /// Entries of its tests.
    pub entries: BTreeSet<String>,
    /// The bundle of the first, once it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<BundleInfo>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_bundle: Option<String>,
}

/// What a regression has come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Tests taken: those from [`State::from`] to here.
    pub next: u64,
    /// First test.
    pub from: u64,
    /// All tests.
    pub totals: Totals,
    /// By entry.
    pub entries: Vec<PartTotals>,
    /// By configuration.
    pub configs: Vec<PartTotals>,
    /// By entry and configuration, in the order they were met.
    pub cells: Vec<Cell>,
    /// Bins hit, and how often.
    pub hits: Map,
    /// Lines and cover properties of the RTL, where they are counted.
    #[serde(default, skip_serializing_if = "RtlMap::is_empty")]
    pub rtl: RtlMap,
    /// Failures, by raw key.
    pub buckets: BTreeMap<String, RawBucket>,
    /// Episodes that hit something new.
    pub corpus: Vec<Find>,
    #[serde(skip)]
    seen: BitVec,
}

/// Buckets kept; what comes after is in the totals and in the results, but has no bucket.
const MOST_BUCKETS: usize = 1_000;

impl State {
    /// Before test `from`, of a model with `bins` bins.
    pub fn new(from: u64, bins: usize, entries: &[String], configs: &[String]) -> Self {
        let part = |name: &String| PartTotals { name: name.clone(), totals: Totals::default() };
        State {
            from,
            next: from,
            entries: entries.iter().map(part).collect(),
            configs: configs.iter().map(part).collect(),
            hits: Map::new(bins),
            seen: BitVec::repeat(false, bins),
            ..State::default()
        }
    }

    /// A state read back.
    pub fn revived(mut self) -> Self {
        self.seen = self.hits.hit().clone();
        self
    }

    /// Takes in the next test; [`State::count_hits`] takes its hits. Gives the record as it is to be kept,
    /// and whether its bucket is a new one.
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

    /// Adds hits of bins, in any order.
    pub fn count_hits(&mut self, hits: &Map) {
        self.hits.merge(hits);
        self.seen |= hits.hit();
    }

    /// Takes what the first failure of a bucket was made into, of test `first`.
    pub fn bundled(&mut self, first: u64, bundle: Result<BundleInfo, String>) {
        let Some(bucket) = self.buckets.values_mut().find(|bucket| bucket.first == first) else { return };
        match bundle {
            Ok(bundle) => bucket.bundle = Some(bundle),
            Err(reason) => bucket.no_bundle = Some(reason),
        }
    }

    fn bucket(&mut self, result: &TestResult) -> bool {
        let Some(failure) = &result.failure else { return false };
        if let Some(bucket) = self.buckets.get_mut(&failure.bucket) {
            bucket.tests += 1;
            bucket.entries.insert(result.entry.clone());
            if !bucket.configs.contains(&result.config) {
                bucket.configs.push(result.config.clone());
            }
            return false;
        }
        if self.buckets.len() >= MOST_BUCKETS {
            return false;
        }
        let bucket = RawBucket {
            status: result.status,
            tests: 1,
            first: result.index,
            first_name: result.name.clone(),
            text: failure.text.clone(),
            configs: vec![result.config.clone()],
            entries: [result.entry.clone()].into(),
            bundle: None,
            no_bundle: None,
        };
        self.buckets.insert(failure.bucket.clone(), bucket);
        true
    }
}

/// Sets of bins on disk: 64 to 16 hexadecimal digits.
mod bits {
    use bitvec::vec::BitVec;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(bits: &BitVec, to: S) -> Result<S::Ok, S::Error> {
        let word =
            |chunk: &bitvec::slice::BitSlice| chunk.iter_ones().fold(0_u64, |word, bit| word | 1 << bit);
        let digits: String = bits.chunks(64).map(|chunk| format!("{:016x}", word(chunk))).collect();
        (bits.len(), digits).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BitVec, D::Error> {
        let (length, digits) = <(usize, String)>::deserialize(from)?;
        let mut bits = BitVec::with_capacity(length);
        for chunk in digits.as_bytes().chunks(16) {
            let text = str::from_utf8(chunk).map_err(Error::custom)?;
            let word = u64::from_str_radix(text, 16).map_err(Error::custom)?;
            bits.extend((0..64).map(|bit| word >> bit & 1 == 1));
        }
        if bits.len() < length {
            return Err(Error::custom(format!("{} of {length} bins", bits.len())));
        }
        bits.truncate(length);
        Ok(bits)
    }
}
