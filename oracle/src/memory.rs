//! Memory with partly unknown words: the combinations of values that earlier requests may have left.
//!
//! Lanes without results may leave one of several values, and a recording need not show memory after each
//! request. Words with dependent values form a region. A region lists all combinations of values that are
//! still possible. Regions are independent of each other. Results of later requests exclude combinations. A
//! word with one remaining value is known again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::rejection::Rejection;

/// Maximum number of combinations of values that the checker follows per group of dependent words.
pub const MAX_WORLDS: usize = 4096;

/// Words with dependent values.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// Indices of the words, ascending.
    pub(crate) words: Vec<u32>,
    /// One entry per combination still possible: the values in the order of `words`.
    pub(crate) worlds: Vec<Vec<u32>>,
}

impl Region {
    /// The same region with words in ascending order.
    fn sorted(&self) -> Region {
        let mut columns: Vec<usize> = (0..self.words.len()).collect();
        columns.sort_unstable_by_key(|&column| self.words[column]);
        let words = columns.iter().map(|&column| self.words[column]).collect();
        let sorted = |world: &Vec<u32>| columns.iter().map(|&column| world[column]).collect();
        Region { words, worlds: self.worlds.iter().map(sorted).collect() }
    }

    /// Splits off every word whose value is independent of the other words.
    fn independent_parts(mut self) -> Vec<Region> {
        let mut parts = Vec::new();
        let mut column = 0;
        while column < self.words.len() {
            let values: BTreeSet<u32> = self.worlds.iter().map(|world| world[column]).collect();
            let without = |world: &Vec<u32>| [&world[..column], &world[column + 1..]].concat();
            let others: BTreeSet<Vec<u32>> = self.worlds.iter().map(without).collect();
            if values.len() * others.len() == self.worlds.len() {
                let word = self.words.remove(column);
                self.worlds = others.into_iter().collect();
                parts.push(Region {
                    words: vec![word],
                    worlds: values.iter().map(|&value| vec![value]).collect(),
                });
            } else {
                column += 1;
            }
        }
        parts.push(self);
        parts
    }
}

/// Memory image. The index of a word is its physical byte address / 4.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// Value of each word. For an unknown word, one of its possible values.
    words: Vec<u32>,
    /// Region of each unknown word.
    region_of: HashMap<u32, u32>,
    /// Ordered map, so that the reported rejection is deterministic.
    regions: BTreeMap<u32, Region>,
    next: u32,
}

impl Memory {
    pub(crate) fn new(words: u32) -> Self {
        let words = vec![0; words as usize];
        Memory { words, region_of: HashMap::new(), regions: BTreeMap::new(), next: 0 }
    }

    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Value of a word; 0 beyond the memory.
    pub(crate) fn word(&self, word: u32) -> u32 {
        self.words.get(word as usize).copied().unwrap_or(0)
    }

    /// Sets a word, which is then known. Ignores words beyond the memory. All other words of its region keep
    /// their possible values.
    pub(crate) fn set(&mut self, word: u32, value: u32) {
        if !self.is_known(word)
            && let Some(mut region) = self.region_of.get(&word).and_then(|id| self.regions.get(id)).cloned()
        {
            let column = region.words.iter().position(|&w| w == word).unwrap_or(0);
            region.worlds.iter_mut().for_each(|world| world[column] = 0);
            self.put(region);
        }
        if let Some(word) = self.words.get_mut(word as usize) {
            *word = value;
        }
    }

    /// Adds the possible values of another memory. Returns false if too many combinations result; without
    /// `widen`, also if the memories differ.
    pub(crate) fn merge(&mut self, other: &Memory, widen: bool) -> bool {
        let differs = |&at: &usize| self.words[at] != other.words[at];
        let mut words: Vec<u32> = (0..self.words.len()).filter(differs).map(|at| at as u32).collect();
        let regions = self.regions.values().chain(other.regions.values());
        words.extend(regions.flat_map(|region| &region.words));
        if words.is_empty() {
            return true;
        }
        words.sort_unstable();
        words.dedup();
        let (Ok(mine), Ok(theirs)) = (self.joined(&words), other.joined(&words)) else { return false };
        let (mut worlds, theirs) = (mine.sorted().worlds, theirs.sorted().worlds);
        let before = (worlds.len(), theirs.len());
        worlds.extend(theirs);
        worlds.sort_unstable();
        worlds.dedup();
        if worlds.len() > MAX_WORLDS || !widen && (worlds.len(), worlds.len()) != before {
            return false;
        }
        for region in (Region { words, worlds }).independent_parts() {
            self.put(region);
        }
        true
    }

    pub(crate) fn is_known(&self, word: u32) -> bool {
        self.regions.is_empty() || !self.region_of.contains_key(&word)
    }

    /// Possible values of the word, unordered and with duplicates.
    pub(crate) fn values(&self, word: u32) -> impl Iterator<Item = u32> {
        let region = self.region_of.get(&word).and_then(|id| self.regions.get(id));
        let column = region.and_then(|region| region.words.iter().position(|&w| w == word)).unwrap_or(0);
        let known = region.is_none().then(|| self.word(word));
        let worlds = region.map_or(&[][..], |region| &region.worlds);
        known.into_iter().chain(worlds.iter().map(move |world| world[column]))
    }

    pub(crate) fn possible(&self, word: u32) -> Vec<u32> {
        let mut values: Vec<u32> = self.values(word).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Judges the memory at the end of a run: the `listed` words, and all words of regions that `got` returns.
    pub(crate) fn judge_end(
        &self,
        mut listed: impl Iterator<Item = (u32, u32)>,
        got: impl Fn(u32) -> Option<u32>,
    ) -> Result<(), Rejection> {
        let wrong = |&(word, got): &(u32, u32)| got != self.word(word) && self.is_known(word);
        if let Some((word, got)) = listed.find(wrong) {
            return Err(Rejection::wrong_end(word, self.word(word), 1, got));
        }
        for region in self.regions.values() {
            let seen: Vec<Option<u32>> = region.words.iter().map(|&word| got(word)).collect();
            let fits = |world: &&Vec<u32>| world.iter().zip(&seen).all(|(w, s)| s.is_none_or(|s| s == *w));
            if region.worlds.iter().find(fits).is_some() {
                continue;
            }
            // Report a word whose value alone is impossible, if there is one.
            let wrong = |&column: &usize| {
                seen[column].is_some_and(|s| region.worlds.iter().all(|world| world[column] != s))
            };
            let columns = 0..region.words.len();
            let differs = |&column: &usize| seen[column].is_some_and(|s| s != region.worlds[0][column]);
            if let Some(column) = columns.clone().find(wrong).or_else(|| columns.clone().find(differs)) {
                let (word, expected) = (region.words[column], region.worlds[0][column]);
                let got = seen[column].unwrap_or(0);
                return Err(Rejection::wrong_end(word, expected, region.worlds.len(), got));
            }
        }
        Ok(())
    }

    /// Combines `words` and all their regions into one region.
    ///
    /// The old regions stay until [`Memory::put`] replaces them.
    pub(crate) fn joined(&self, words: &[u32]) -> Result<Region, Rejection> {
        let mut ids: Vec<u32> = words.iter().filter_map(|w| self.region_of.get(w)).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let mut joined = Region { words: Vec::new(), worlds: vec![Vec::new()] };
        for region in ids.iter().filter_map(|id| self.regions.get(id)) {
            if joined.worlds.len() * region.worlds.len() > MAX_WORLDS {
                return Err(too_many(words[0]));
            }
            joined.words.extend(&region.words);
            let pairs = joined.worlds.iter().flat_map(|a| region.worlds.iter().map(move |b| (a, b)));
            joined.worlds = pairs.map(|(a, b)| [a.as_slice(), b].concat()).collect();
        }
        for &word in words.iter().filter(|w| !self.region_of.contains_key(w)) {
            joined.words.push(word);
            joined.worlds.iter_mut().for_each(|world| world.push(self.word(word)));
        }
        Ok(joined)
    }

    /// Replaces every region that shares a word with `region`. Words with a single value become known.
    pub(crate) fn put(&mut self, mut region: Region) {
        for word in &region.words {
            if let Some(id) = self.region_of.remove(word) {
                self.regions.remove(&id);
            }
        }
        region.worlds.sort_unstable();
        region.worlds.dedup();
        let Some(one) = region.worlds.first().cloned() else { return };
        for (&word, &value) in region.words.iter().zip(&one) {
            if let Some(held) = self.words.get_mut(word as usize) {
                *held = value;
            }
        }
        let open: Vec<usize> = (0..region.words.len())
            .filter(|&column| region.worlds.iter().any(|world| world[column] != one[column]))
            .collect();
        if open.is_empty() {
            return;
        }
        let words: Vec<u32> = open.iter().map(|&column| region.words[column]).collect();
        let worlds = region.worlds.iter().map(|w| open.iter().map(|&column| w[column]).collect()).collect();
        self.region_of.extend(words.iter().map(|&word| (word, self.next)));
        self.regions.insert(self.next, Region { words, worlds });
        self.next = self.next.wrapping_add(1);
    }
}

pub(crate) fn too_many(word: u32) -> Rejection {
    Rejection::undecided(format_args!(
        "at word {word} (byte {:#x}) more than {MAX_WORLDS} combinations of values are possible; record the words written \
         (`after`) to reduce their number",
        u64::from(word) * 4
    ))
}
