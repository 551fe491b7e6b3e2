//! Corpus of the episodes that are needed to hit all bins. Regressions add episodes, and the next regression
//! replays them first.
//!
//! Bins of all configurations are merged. An entry knows all bins that it hits, and [`Corpus::minimise`]
//! chooses which entry is kept for which bin.

mod file;

use bitvec::vec::BitVec;

pub use file::{CorpusError, FORMAT, Read};

use crate::episode::Episode;

#[derive(Clone, Debug, PartialEq)]
pub struct KeptEpisode {
    pub episode: Episode,
    /// Name of the test that found the episode.
    pub found_by: String,
    /// Bins that the episode is known to hit. For an entry read from a file: only the bins that no earlier
    /// entry of the file hits.
    pub hit: BitVec,
}

impl KeptEpisode {
    /// Returns the cost of a run in warp requests, including the start of the run.
    fn cost(&self) -> u64 {
        self.episode.requests.saturating_add(START)
    }
}

/// Cost of starting a run (reset and clearing memory), in warp requests.
const START: u64 = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    entries: Vec<KeptEpisode>,
    covered: BitVec,
}

impl Corpus {
    pub fn new(bins: usize) -> Self {
        Corpus { entries: Vec::new(), covered: BitVec::repeat(false, bins) }
    }

    pub fn entries(&self) -> &[KeptEpisode] {
        &self.entries
    }

    pub fn covered(&self) -> &BitVec {
        &self.covered
    }

    pub fn requests(&self) -> u64 {
        self.entries.iter().map(|entry| entry.episode.requests).sum()
    }

    /// Adds an episode if it hits bins that the corpus does not cover yet. Returns the number of these bins.
    pub fn add(&mut self, episode: &Episode, hit: &BitVec, found_by: &str) -> usize {
        let new = hit.iter_ones().filter(|bin| self.covered.get(*bin).is_some_and(|bit| !*bit)).count();
        if new > 0 {
            let mut hit = hit.clone();
            hit.resize(self.covered.len(), false);
            self.covered |= &hit;
            self.entries.push(KeptEpisode { episode: episode.clone(), found_by: found_by.to_string(), hit });
        }
        new
    }

    /// Adds the episodes of `other` that hit bins not covered here. If two episodes hit the same bin, the
    /// first one merged stays until the corpus is minimised.
    pub fn merge(&mut self, other: &Corpus) -> usize {
        other.entries.iter().map(|entry| self.add(&entry.episode, &entry.hit, &entry.found_by)).sum()
    }

    /// Reduces the corpus to few cheap episodes that cover the same bins. The choice is greedy: most new bins
    /// for its cost first. Then drops episodes whose bins are all hit by others.
    pub fn minimise(&mut self) {
        let mut left = self.covered.clone();
        let mut from = std::mem::take(&mut self.entries);
        while left.any() {
            let gain = |entry: &KeptEpisode| (entry.hit.clone() & &left).count_ones() as u64;
            let gains = from.iter().map(|entry| (gain(entry), entry.cost()));
            // Compare the ratios of new bins to cost by cross multiplication. If two ratios are equal, the
            // cheaper entry wins, then the first one.
            let best = gains.enumerate().max_by(|(at, (gain, cost)), (other_at, (other, other_cost))| {
                let (this, that) =
                    (u128::from(*gain) * u128::from(*other_cost), u128::from(*other) * u128::from(*cost));
                this.cmp(&that).then(other_cost.cmp(cost)).then(other_at.cmp(at))
            });
            let Some((at, _)) = best.filter(|(_, (gain, _))| *gain > 0) else { break };
            let entry = from.remove(at);
            left &= !entry.hit.clone();
            self.entries.push(entry);
        }
        self.drop_needless();
    }

    /// Drops episodes whose bins are all hit by others, the costliest first.
    fn drop_needless(&mut self) {
        for at in self.costliest_first() {
            if self.needed(at).not_any() {
                // Mark the entry as empty and remove it later, so that indices stay valid.
                self.entries[at].hit.fill(false);
            }
        }
        self.entries.retain(|entry| entry.hit.any());
    }

    /// Minimises the corpus, then shortens each episode as far as it still hits the bins it is needed for.
    /// `run` returns the hits of an episode, or None if it cannot run.
    ///
    /// A binary search finds the length, because a shorter episode is a prefix of the longer one.
    pub fn shrink(&mut self, mut run: impl FnMut(&Episode) -> Option<BitVec>) {
        self.minimise();
        for at in self.costliest_first() {
            let needed = self.needed(at);
            if needed.not_any() {
                self.entries[at].hit.fill(false);
                continue;
            }
            let mut enough = self.entries[at].episode.requests;
            let mut too_few = 0;
            while too_few + 1 < enough {
                let requests = too_few + (enough - too_few) / 2;
                let episode = Episode { requests, ..self.entries[at].episode.clone() };
                let hit = run(&episode).map(|mut hit| {
                    hit.resize(needed.len(), false);
                    hit
                });
                match hit.filter(|hit| (needed.clone() & !hit.clone()).not_any()) {
                    Some(hit) => {
                        enough = requests;
                        self.entries[at].hit = hit;
                        self.entries[at].episode = episode;
                    }
                    None => too_few = requests,
                }
            }
        }
        self.entries.retain(|entry| entry.hit.any());
        self.count_covered();
        self.minimise();
    }

    fn costliest_first(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.entries.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.entries[*at].cost()));
        order
    }

    /// Returns the bins of entry `at` that no other entry hits.
    fn needed(&self, at: usize) -> BitVec {
        let mut needed = self.entries[at].hit.clone();
        for (other, entry) in self.entries.iter().enumerate() {
            if other != at {
                needed &= !entry.hit.clone();
            }
        }
        needed
    }

    fn count_covered(&mut self) {
        self.covered.fill(false);
        for entry in &self.entries {
            self.covered |= &entry.hit;
        }
    }
}

#[cfg(test)]
mod tests;
