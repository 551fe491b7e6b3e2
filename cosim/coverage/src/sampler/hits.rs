//! Hit counters of a sampler.

use crate::cross::{Key, Numbered};
use crate::groups::BINS;
use crate::map::Map;

#[derive(Clone, Debug)]
pub(super) struct Hits(Box<[u32; BINS]>);

impl Hits {
    pub(super) fn new() -> Self {
        Hits(Box::new([0; BINS]))
    }

    #[inline(always)]
    pub(super) fn hit<C: Numbered>(&mut self, _group: C, key: C::Key) {
        let count = &mut self.0[C::FIRST + key.at()];
        *count = count.saturating_add(1);
    }

    /// Returns the counts and resets them to zero.
    pub(super) fn take(&mut self) -> Map {
        let map = Map::of(&self.0[..]);
        self.0.fill(0);
        map
    }
}
