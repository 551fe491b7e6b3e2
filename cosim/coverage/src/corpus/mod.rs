//! Episodes that hit what no other hits: found by a regression, replayed first by the next one.
//!
//! Bins are those of all configurations together. Which entry is kept for which bin is not fixed: an
//! entry knows all bins it hits, as far as it was run, and [`Corpus::minimise`] chooses.

mod file;

use bitvec::vec::BitVec;

pub use file::{CorpusError, FORMAT, Read};

use crate::episode::Episode;

/// An episode and what it hits.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptEpisode {
    pub episode: Episode,
    /// Test that found it, by name.
    pub found_by: String,
    /// Bins it hits, as far as is known: a corpus read from a file knows only those it is kept for.
    pub hit: BitVec,
}

impl KeptEpisode {
    /// What it costs to run, in warp requests: its own, and what starting a run costs.
    fn cost(&self) -> u64 {
        self.episode.requests.saturating_add(START)
    }
}

/// Warp requests that take as long as to start a run over: reset, and memory set to zeros.
const START: u64 = 20;

/// Episodes, the most useful first once they are minimised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    entries: Vec<KeptEpisode>,
    covered: BitVec,
}

impl Corpus {
    /// A corpus without episodes, for a model of `bins` bins.
    pub fn new(bins: usize) -> Self {
        Corpus { entries: Vec::new(), covered: BitVec::repeat(false, bins) }
    }

    pub fn entries(&self) -> &[KeptEpisode] {
        &self.entries
    }

    /// Bins that some episode hits.
    pub fn covered(&self) -> &BitVec {
        &self.covered
    }

    /// Warp requests of all episodes.
    pub fn requests(&self) -> u64 {
        self.entries.iter().map(|entry| entry.episode.requests).sum()
    }

    /// Adds an episode if it hits a bin that none before it does; gives the number of such bins.
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

    /// Adds what another corpus hits beyond this one. The order of merging decides which of two episodes
    /// for one bin stays, until both are minimised together.
    pub fn merge(&mut self, other: &Corpus) -> usize {
        other.entries.iter().map(|entry| self.add(&entry.episode, &entry.hit, &entry.found_by)).sum()
    }

    /// Leaves as few and as cheap episodes as a greedy choice finds that hit all the bins the corpus does:
    /// the one with most new bins for its requests first, and none that the others make needless.
    pub fn minimise(&mut self) {
        let mut left = self.covered.clone();
        let mut from = std::mem::take(&mut self.entries);
        while left.any() {
            let gain = |entry: &KeptEpisode| (entry.hit.clone() & &left).count_ones() as u64;
            let gains = from.iter().map(|entry| (gain(entry), entry.cost()));
            // Most bins a request, by cross multiplication; of equals the first.
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

    /// Drops episodes all of whose bins others hit, the costliest first.
    fn drop_needless(&mut self) {
        for at in self.costliest_first() {
            if self.needed(at).not_any() {
                // Not taken out yet: numbers of the others would change.
                self.entries[at].hit.fill(false);
            }
        }
        self.entries.retain(|entry| entry.hit.any());
    }

    /// Minimises, and makes each episode as short as it can be with what it is needed for: `run` runs one
    /// and gives what it hits, or nothing if it cannot be run.
    ///
    /// A shorter episode is the beginning of the longer one, so what it hits, it hits too.
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

    /// Bins that no other entry hits.
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
