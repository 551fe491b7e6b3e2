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

#[cfg(test)]
mod tests {
    use super::*;

    fn region(words: &[u32], worlds: &[&[u32]]) -> Region {
        Region { words: words.to_vec(), worlds: worlds.iter().map(|world| world.to_vec()).collect() }
    }

    /// One word with these possible values.
    fn one_of(word: u32, values: impl IntoIterator<Item = u32>) -> Region {
        Region { words: vec![word], worlds: values.into_iter().map(|value| vec![value]).collect() }
    }

    fn memory(regions: impl IntoIterator<Item = Region>) -> Memory {
        let mut memory = Memory::new(8);
        regions.into_iter().for_each(|region| memory.put(region));
        memory
    }

    type Worlds = (Vec<u32>, Vec<Vec<u32>>);

    fn plain(regions: impl IntoIterator<Item = Region>) -> Vec<Worlds> {
        regions.into_iter().map(|region| (region.words, region.worlds)).collect()
    }

    /// Regions of a memory, each with sorted words and values, in order of the first word.
    fn regions(memory: &Memory) -> Vec<Worlds> {
        let mut regions = plain(memory.regions.values().map(Region::sorted));
        regions.iter_mut().for_each(|(_, worlds)| worlds.sort_unstable());
        regions.sort_unstable();
        regions
    }

    fn parts(words: &[u32], worlds: &[&[u32]]) -> Vec<Worlds> {
        plain(region(words, worlds).independent_parts())
    }

    #[test]
    fn sorting_moves_values_with_their_words() {
        let sorted = region(&[7, 2, 5], &[&[70, 20, 50], &[71, 21, 51]]).sorted();
        assert_eq!(plain([sorted]), plain([region(&[2, 5, 7], &[&[20, 50, 70], &[21, 51, 71]])]));
    }

    #[test]
    fn words_with_all_combinations_become_parts() {
        let all = [&[1, 3][..], &[1, 4], &[1, 5], &[2, 3], &[2, 4], &[2, 5]];
        let expected = [one_of(6, [1, 2]), one_of(7, [3, 4, 5]), region(&[], &[&[]])];
        assert_eq!(parts(&[6, 7], &all), plain(expected));
    }

    /// 3 + 2 = 5: a sum in place of the product would split five of the six combinations.
    #[test]
    fn a_missing_combination_keeps_words_together() {
        let five = [&[1, 3][..], &[1, 4], &[1, 5], &[2, 3], &[2, 4]];
        assert_eq!(parts(&[6, 7], &five), plain([region(&[6, 7], &five)]));
        let two = [&[1, 3][..], &[2, 4]];
        assert_eq!(parts(&[6, 7], &two), plain([region(&[6, 7], &two)]));
    }

    #[test]
    fn independent_words_between_dependent_words_become_parts() {
        let world = |(a, b, c)| [a, b, c, a + 1];
        let all = [1, 2].map(|a| [(a, 5, 8), (a, 5, 9), (a, 6, 8), (a, 6, 9)].map(world));
        let all: Vec<&[u32]> = all.iter().flatten().map(<[u32; 4]>::as_slice).collect();
        let expected = [one_of(1, [5, 6]), one_of(2, [8, 9]), region(&[0, 3], &[&[1, 2], &[2, 3]])];
        assert_eq!(parts(&[0, 1, 2, 3], &all), plain(expected));
    }

    #[test]
    fn a_word_with_one_value_becomes_a_part() {
        let expected = [one_of(5, [9]), region(&[4, 6], &[&[1, 3], &[2, 4]])];
        assert_eq!(parts(&[4, 5, 6], &[&[1, 9, 3], &[2, 9, 4]]), plain(expected));
    }

    #[test]
    fn equal_memories_merge_in_any_order_of_words() {
        let mut mine = memory([region(&[3, 1], &[&[30, 10], &[31, 11]])]);
        let theirs = memory([region(&[1, 3], &[&[11, 31], &[10, 30]])]);
        assert!(mine.merge(&theirs, false));
        assert_eq!(regions(&mine), plain([region(&[1, 3], &[&[10, 30], &[11, 31]])]));
        assert!(memory([]).merge(&memory([]), false));
    }

    /// The first and the last word differ: the merged words depend on each other.
    #[test]
    fn words_that_differ_merge_into_one_region() {
        let (mut mine, mut theirs) = (memory([]), memory([]));
        [(0, 1), (7, 3), (4, 9)].into_iter().for_each(|(word, value)| mine.set(word, value));
        [(0, 2), (7, 5), (4, 9)].into_iter().for_each(|(word, value)| theirs.set(word, value));
        assert!(mine.merge(&theirs, true));
        assert_eq!(regions(&mine), plain([region(&[0, 7], &[&[1, 3], &[2, 5]])]));
        assert_eq!((mine.word(4), mine.is_known(4), mine.is_known(0)), (9, true, false));
    }

    #[test]
    fn independent_words_stay_apart_after_a_merge() {
        let (mut mine, mut theirs) = (memory([one_of(1, [3, 4])]), memory([one_of(1, [3, 4])]));
        mine.set(0, 1);
        theirs.set(0, 2);
        assert!(mine.merge(&theirs, true));
        assert_eq!(regions(&mine), plain([one_of(0, [1, 2]), one_of(1, [3, 4])]));
    }

    #[test]
    fn memories_that_differ_merge_only_with_widen() {
        let both = || memory([one_of(2, [5, 6])]);
        let only = |value| memory([one_of(2, [value])]);
        for (mine, theirs) in [(both(), only(5)), (only(6), both()), (only(5), only(6))] {
            let mut merged = mine.clone();
            assert!(!merged.merge(&theirs, false));
            assert_eq!(merged.possible(2), mine.possible(2), "unchanged");
            assert!(merged.merge(&theirs, true));
            assert_eq!(merged.possible(2), [5, 6]);
        }
    }

    #[test]
    fn a_merge_leaves_at_most_max_worlds() {
        let most = MAX_WORLDS as u32;
        let mut mine = memory([one_of(2, 1..most)]);
        assert!(mine.merge(&memory([one_of(2, [most])]), true));
        assert_eq!(mine.possible(2).len(), MAX_WORLDS);
        assert!(!mine.merge(&memory([one_of(2, [most + 1])]), true));
        assert_eq!(mine.possible(2).len(), MAX_WORLDS, "unchanged");
    }

    #[test]
    fn joined_regions_have_at_most_max_worlds() {
        let two = |values| memory([one_of(1, 0..64), one_of(2, 0..values)]);
        assert_eq!(two(64).joined(&[1, 2]).expect("64 x 64 combinations").worlds.len(), MAX_WORLDS);
        assert!(two(65).joined(&[1, 2]).expect_err("64 x 65 combinations").is_undecided());
        let (mut mine, mut theirs) = (two(65), memory([]));
        assert!(!mine.merge(&memory([]), true) && !theirs.merge(&two(65), true));
        assert_eq!((regions(&mine).len(), regions(&theirs).len()), (2, 0), "unchanged");
    }
}
