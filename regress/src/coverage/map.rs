//! What was hit, how often.

use bitvec::vec::BitVec;

/// Hits of every bin of a [`Model`](super::Model).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    counts: Vec<u32>,
    hit: BitVec,
}

impl Map {
    /// Nothing hit, of `bins` bins.
    pub fn new(bins: usize) -> Self {
        Map { counts: vec![0; bins], hit: BitVec::repeat(false, bins) }
    }

    /// Bins, hit or not.
    pub fn bins(&self) -> usize {
        self.counts.len()
    }

    /// Counts a hit; counts stay at their largest value.
    #[inline]
    pub fn count(&mut self, bin: usize) {
        self.counts[bin] = self.counts[bin].saturating_add(1);
        self.hit.set(bin, true);
    }

    /// Hits of a bin.
    pub fn hits(&self, bin: usize) -> u32 {
        self.counts.get(bin).copied().unwrap_or(0)
    }

    /// Which bins were hit.
    pub fn hit(&self) -> &BitVec {
        &self.hit
    }

    /// Adds the hits of another map of the same model. Gives the bins that only the other had hit.
    pub fn merge(&mut self, other: &Map) -> Vec<usize> {
        let new = other.hit.iter_ones().filter(|bin| !self.hit[*bin]).collect();
        for bin in other.hit.iter_ones() {
            self.counts[bin] = self.counts[bin].saturating_add(other.counts[bin]);
        }
        self.hit |= &other.hit;
        new
    }

    /// Bins hit, with their hits, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.hit.iter_ones().map(|bin| (bin, self.counts[bin]))
    }
}
