//! Finding a word among some hundreds that are known when the crate is compiled.

/// Slots; a power of two, several times as many as there are words.
const SLOTS: usize = 1024;

/// Positions of words in their table, by hash; built at compile time.
pub(crate) struct Index([u16; SLOTS]);

const EMPTY: u16 = u16::MAX;

/// FNV-1a, the high bits folded into the low ones.
const fn hash(word: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    let mut i = 0;
    while i < word.len() {
        hash = (hash ^ word[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    (hash ^ hash >> 15) as usize % SLOTS
}

impl Index {
    pub(crate) const fn new() -> Index {
        Index([EMPTY; SLOTS])
    }

    /// The index with one more word, which stands at `position` in its table.
    pub(crate) const fn with(mut self, word: &str, position: usize) -> Index {
        let mut slot = hash(word.as_bytes());
        while self.0[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        self.0[slot] = position as u16;
        self
    }

    /// The position that is the word's, as `is` says.
    pub(crate) fn find(&self, word: &str, is: impl Fn(usize) -> bool) -> Option<usize> {
        let start = hash(word.as_bytes());
        let (before, from) = self.0.split_at(start);
        let slots = from.iter().chain(before);
        slots.take_while(|p| **p != EMPTY).map(|p| usize::from(*p)).find(|p| is(*p))
    }
}
