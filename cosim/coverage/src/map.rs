//! Hit counts of all bins.

use bitvec::vec::BitVec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    counts: Vec<u32>,
    hit: BitVec,
}

impl Map {
    pub fn new(bins: usize) -> Self {
        Map { counts: vec![0; bins], hit: BitVec::repeat(false, bins) }
    }

    pub fn of(counts: &[u32]) -> Self {
        Map { counts: counts.to_vec(), hit: counts.iter().map(|count| *count != 0).collect() }
    }

    pub fn bins(&self) -> usize {
        self.counts.len()
    }

    /// Counts a hit. The counter saturates.
    #[inline]
    pub fn count(&mut self, bin: usize) {
        self.counts[bin] = self.counts[bin].saturating_add(1);
        self.hit.set(bin, true);
    }

    pub fn hits(&self, bin: usize) -> u32 {
        self.counts.get(bin).copied().unwrap_or(0)
    }

    pub fn hit(&self) -> &BitVec {
        &self.hit
    }

    /// Adds the hits of another map of the same model. Returns the bins that only `other` had hit.
    pub fn merge(&mut self, other: &Map) -> Vec<usize> {
        let new = other.hit.iter_ones().filter(|bin| !self.hit[*bin]).collect();
        for bin in other.hit.iter_ones() {
            self.counts[bin] = self.counts[bin].saturating_add(other.counts[bin]);
        }
        self.hit |= &other.hit;
        new
    }

    /// Returns the bins with hits and their counts, in bin order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.hit.iter_ones().map(|bin| (bin, self.counts[bin]))
    }
}

/// Saved form: the number of bins, and only the bins with hits.
#[derive(Serialize, Deserialize)]
struct Saved {
    bins: usize,
    hits: Vec<(usize, u32)>,
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Saved { bins: self.bins(), hits: self.iter().collect() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Saved { bins, hits } = Saved::deserialize(from)?;
        let mut map = Map::new(bins);
        for (bin, count) in hits {
            if bin >= bins {
                return Err(serde::de::Error::custom(format!("bin {bin} of {bins}")));
            }
            map.counts[bin] = count;
            map.hit.set(bin, count > 0);
        }
        Ok(map)
    }
}
