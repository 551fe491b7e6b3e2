//! Memory whose words are not all known: the combinations of values that earlier requests can have left.
//!
//! Lanes that give no results may leave any of several values, and a recording need not show the
//! memory after each request. Words whose values hang together form a region with a list of the
//! combinations still possible; regions are independent of each other. Results that a later request
//! gives strike combinations out, and a word left with one value is known again.

use std::collections::{BTreeMap, HashMap};

use crate::rejection::Rejection;

/// Most combinations of values that the checker follows for words that hang together.
pub const MAX_WORLDS: usize = 4096;

/// Words that hang together.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// Word indices, ascending.
    pub(crate) words: Vec<u32>,
    /// Values in the order of `words`, one list for each combination still possible.
    pub(crate) worlds: Vec<Vec<u32>>,
}

/// The memory image by word index, physical byte address / 4.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// A word that is not known shows one of its values.
    words: Vec<u32>,
    /// The region of each word that is not known.
    region_of: HashMap<u32, u32>,
    /// Ordered, so that of several rejections the same one is found each time.
    regions: BTreeMap<u32, Region>,
    next: u32,
}

impl Memory {
    /// So many words, all zero.
    pub(crate) fn new(words: u32) -> Self {
        let words = vec![0; words as usize];
        Memory { words, region_of: HashMap::new(), regions: BTreeMap::new(), next: 0 }
    }

    /// Every word.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// The word; 0 beyond the memory.
    pub(crate) fn word(&self, word: u32) -> u32 {
        self.words.get(word as usize).copied().unwrap_or(0)
    }

    /// Sets a word, which is known then; nothing beyond the memory. Those it hung together with keep what they had.
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

    /// Whether the word has one possible value.
    pub(crate) fn is_known(&self, word: u32) -> bool {
        self.regions.is_empty() || !self.region_of.contains_key(&word)
    }

    /// The values that the word can have, in no order, and some of them more than once.
    pub(crate) fn values(&self, word: u32) -> impl Iterator<Item = u32> {
        let region = self.region_of.get(&word).and_then(|id| self.regions.get(id));
        let column = region.and_then(|region| region.words.iter().position(|&w| w == word)).unwrap_or(0);
        let known = region.is_none().then(|| self.word(word));
        let worlds = region.map_or(&[][..], |region| &region.worlds);
        known.into_iter().chain(worlds.iter().map(move |world| world[column]))
    }

    /// The values that the word can have, ascending.
    pub(crate) fn possible(&self, word: u32) -> Vec<u32> {
        let mut values: Vec<u32> = self.values(word).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// All regions, in order of age.
    pub(crate) fn regions(&self) -> impl Iterator<Item = &Region> {
        self.regions.values()
    }

    /// Joins every region that one of `words` is in, and the words that are known, into one region.
    ///
    /// The regions joined stay until [`Memory::put`] replaces them.
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

    /// Replaces every region that shares a word with this one by this one; words with one value
    /// become known.
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

/// The rejection that is no verdict.
pub(crate) fn too_many(word: u32) -> Rejection {
    Rejection::undecided(format_args!(
        "at word {word} (byte {:#x}) more than {MAX_WORLDS} combinations of values are possible; record the words written \
         (`after`) to narrow them",
        u64::from(word) * 4
    ))
}
