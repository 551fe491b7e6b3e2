//! Counts of hits while sampling.

use crate::cross::{Key, Numbered};
use crate::groups::BINS;
use crate::map::Map;

/// Hits of every bin since the last [`Hits::take`].
#[derive(Clone, Debug)]
pub(super) struct Hits(Box<[u32; BINS]>);

impl Hits {
    pub(super) fn new() -> Self {
        Hits(Box::new([0; BINS]))
    }

    /// Counts a hit of the bin of group `C` with these values.
    #[inline(always)]
    pub(super) fn hit<C: Numbered>(&mut self, _group: C, key: C::Key) {
        let count = &mut self.0[C::FIRST + key.at()];
        *count = count.saturating_add(1);
    }

    /// Returns the counts and starts at zero.
    pub(super) fn take(&mut self) -> Map {
        let map = Map::of(&self.0[..]);
        self.0.fill(0);
        map
    }
}
