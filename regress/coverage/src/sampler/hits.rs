//! Counts while sampling: one array, no questions asked.

use crate::cross::{Key, Numbered};
use crate::groups::BINS;
use crate::map::Map;

/// Hits of every bin since the last [`Hits::take`].
#[derive(Clone, Debug)]
pub(super) struct Hits {
    counts: Box<[u32]>,
}

impl Hits {
    pub(super) fn new() -> Self {
        Hits { counts: vec![0; BINS].into() }
    }

    /// Counts a hit of the bin of group `C` with these values.
    #[inline(always)]
    pub(super) fn hit<C: Numbered>(&mut self, _group: C, key: C::Key) {
        let count = &mut self.counts[C::FIRST + key.at()];
        *count = count.saturating_add(1);
    }

    /// Number of a bin, from which those of the fastest dimensions are a step away.
    #[inline(always)]
    pub(super) fn base<C: Numbered>(_group: C, key: C::Key) -> usize {
        C::FIRST + key.at()
    }

    /// Counts a hit of the bin with this number.
    #[inline(always)]
    pub(super) fn hit_at(&mut self, bin: usize) {
        if let Some(count) = self.counts.get_mut(bin) {
            *count = count.saturating_add(1);
        }
    }

    /// Counts several hits of a bin.
    pub(super) fn add<C: Numbered>(&mut self, _group: C, key: C::Key, hits: u32) {
        let count = &mut self.counts[C::FIRST + key.at()];
        *count = count.saturating_add(hits);
    }

    /// Hands the counts over and starts at zero.
    pub(super) fn take(&mut self) -> Map {
        let map = Map::of(&self.counts);
        self.counts.fill(0);
        map
    }
}
