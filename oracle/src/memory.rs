//! Memory with partly unknown words: the combinations of values that earlier requests may have left.
//!
//! Lanes without results may leave one of several values, and a recording need not show memory after each
//! request. Words with dependent values form a region. A region lists all combinations of values that are
//! still possible. Regions are independent of each other. Results of later requests exclude combinations. A
//! word with one remaining value is known again.

use std::collections::{BTreeMap, HashMap};

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

    pub(crate) fn regions(&self) -> impl Iterator<Item = &Region> {
        self.regions.values()
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
         (`after`) to narrow them",
        u64::from(word) * 4
    ))
}
