//! The buckets of a run: which failures are one.

use serde::{Deserialize, Serialize};

use crate::failure::bucket::Key;
use crate::failure::bundle::BundleInfo;

/// What is known of one raw key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Key of the failures as they were met.
    pub raw: Key,
    /// Index of the first test in the plan that failed so.
    pub first: u64,
    /// Final key, and what the bundle of that first test says; none where no bundle could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<BundleInfo>,
}

impl Known {
    /// Key of the bucket: the final one, where there is one.
    pub fn key(&self) -> &Key {
        self.bundle.as_ref().map_or(&self.raw, |bundle| &bundle.key)
    }
}

/// Raw keys that are one bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket<'a> {
    /// Its final key.
    pub key: &'a Key,
    /// The first test's.
    pub first: &'a Known,
    /// All raw keys in it, that of the first test first.
    pub raws: Vec<&'a Key>,
}

/// Raw keys met in a run or a shard, in the order of the tests that met them first.
///
/// Failures whose smallest cases have the same key are one bucket. What the first test of a raw key came
/// to decides for all tests of that key, so that merged shards come to what one process comes to: the
/// first test of all is in its shard the first, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets {
    known: Vec<Known>,
}

impl Buckets {
    /// Whether a failure with this raw key was met before; if not, it is to be shrunk and added.
    pub fn knows(&self, raw: &Key) -> bool {
        self.known.iter().any(|known| known.raw == *raw)
    }

    /// Takes what the first test of a raw key came to; of two, the one of the earlier test stays.
    pub fn add(&mut self, new: Known) {
        if let Some(at) = self.known.iter().position(|known| known.raw == new.raw) {
            if self.known[at].first <= new.first {
                return;
            }
            self.known.remove(at);
        }
        let at = self.known.partition_point(|known| (known.first, &known.raw) < (new.first, &new.raw));
        self.known.insert(at, new);
    }

    /// Takes those of another shard of the same plan.
    pub fn merge(&mut self, other: Buckets) {
        other.known.into_iter().for_each(|known| self.add(known));
    }

    /// The raw keys, in order of first tests.
    pub fn known(&self) -> &[Known] {
        &self.known
    }

    /// Key of the bucket that failures with this raw key are in.
    pub fn key_of(&self, raw: &Key) -> Option<&Key> {
        self.known.iter().find(|known| known.raw == *raw).map(Known::key)
    }

    /// The buckets, in order of first tests.
    pub fn buckets(&self) -> Vec<Bucket<'_>> {
        let mut buckets: Vec<Bucket<'_>> = Vec::new();
        for known in &self.known {
            match buckets.iter_mut().find(|bucket| bucket.key == known.key()) {
                Some(bucket) => bucket.raws.push(&known.raw),
                None => buckets.push(Bucket { key: known.key(), first: known, raws: vec![&known.raw] }),
            }
        }
        buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(raw: &str, first: u64, last: &str) -> Known {
        let bundle = BundleInfo {
            key: Key::undefined(last),
            cycle: 1,
            requests: Some(1),
            text: String::new(),
            repeat: String::new(),
            folder: String::new(),
        };
        Known { raw: Key::undefined(raw), first, bundle: Some(bundle) }
    }

    #[test]
    fn what_shrinks_to_one_is_one_in_any_order_of_shards() {
        let all = [known("a", 3, "x"), known("b", 5, "y"), known("c", 9, "x"), known("a", 12, "z")];
        let mut merged: Vec<Buckets> = Vec::new();
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            let mut shards = order.map(|at| {
                let mut shard = Buckets::default();
                shard.add(all[at].clone());
                shard
            });
            let mut buckets = std::mem::take(&mut shards[0]);
            shards.into_iter().skip(1).for_each(|shard| buckets.merge(shard));
            merged.push(buckets);
        }
        assert!(merged.iter().all(|buckets| *buckets == merged[0]));
        let found: Vec<_> = merged[0]
            .buckets()
            .iter()
            .map(|b| {
                (
                    b.key.to_string(),
                    b.first.first,
                    b.raws.iter().map(|raw| raw.to_string()).collect::<Vec<_>>(),
                )
            })
            .collect();
        let undefined = |text: &str| format!("undefined {text}");
        assert_eq!(
            found,
            [
                (undefined("x"), 3, vec![undefined("a"), undefined("c")]),
                (undefined("y"), 5, vec![undefined("b")]),
            ]
        );
        assert!(merged[0].knows(&Key::undefined("c")) && !merged[0].knows(&Key::undefined("x")));
        assert_eq!(merged[0].key_of(&Key::undefined("c")), Some(&Key::undefined("x")));
    }
}
