//! A request with its answer, and the groups of its lanes that are explained together.

use atoms_ops::Op;

use crate::access::Access;
use crate::lanes::lanes_of;
use crate::order::Order;
use crate::request::{MAX_LANES, Response, SerialRequest};

/// Maximum number of words that one group of lanes can access: 32 lanes of 64 bits each in one bank group.
pub(crate) const UNIT_WORDS: usize = 2 * MAX_LANES;

pub(crate) struct Case<'a> {
    pub(crate) access: &'a Access,
    pub(crate) req: &'a SerialRequest,
    pub(crate) resp: &'a Response,
    /// Required order of the lanes, if known and relevant.
    pub(crate) order: Option<Order>,
}

pub(crate) struct LaneGroup {
    pub(crate) lanes: u32,
    /// Number of used entries of `words`.
    pub(crate) count: usize,
    /// Indices of the words, each listed once.
    pub(crate) words: [u32; UNIT_WORDS],
    /// Index in `words` of each lane's first word; the lane's other words follow.
    pub(crate) at: [u8; MAX_LANES],
    /// Lane that CAST.SPIN must select, if known (spec 5.4).
    pub(crate) selected: Option<usize>,
}

impl LaneGroup {
    pub(crate) fn new() -> Self {
        LaneGroup { lanes: 0, count: 0, words: [0; UNIT_WORDS], at: [0; MAX_LANES], selected: None }
    }

    /// Sets this group to `lanes`, which all have the same key.
    pub(crate) fn gather(&mut self, access: &Access, lanes: u32) {
        let words_each = words_each(access);
        let first = access.word[lanes.trailing_zeros() as usize & 31];
        self.lanes = lanes;
        self.words.iter_mut().zip(first..).take(words_each).for_each(|(word, index)| *word = index);
        self.count = words_each;
        self.at = [0; MAX_LANES];
        if access.op != Op::CastSpin {
            return;
        }
        for lane in lanes_of(lanes) {
            let word = access.word[lane];
            let known = (0..self.count).step_by(words_each).find(|&at| self.words[at] == word);
            let at = known.unwrap_or(self.count);
            self.at[lane] = at as u8;
            if known.is_none() {
                for i in 0..words_each {
                    self.words[at + i] = word + i as u32;
                }
                self.count += words_each;
            }
        }
    }
}

/// Groups of an access: one mask of lanes per key, ordered by the lowest lane.
pub(crate) struct Units {
    sets: [u32; MAX_LANES],
    count: usize,
}

impl Units {
    /// `lanes_of_key` has an entry for every key, all zero before and after the call.
    pub(crate) fn of(access: &Access, lanes_of_key: &mut [u32]) -> Self {
        for lane in lanes_of(access.lanes) {
            lanes_of_key[access.key[lane] as usize] |= 1 << lane;
        }
        let mut units = Units { sets: [0; MAX_LANES], count: 0 };
        for lane in lanes_of(access.lanes) {
            let lanes = std::mem::take(&mut lanes_of_key[access.key[lane] as usize]);
            if lanes != 0 {
                units.sets[units.count] = lanes;
                units.count += 1;
            }
        }
        units
    }

    pub(crate) fn sets(&self) -> &[u32] {
        &self.sets[..self.count]
    }
}

/// Values of the words of a group, in the order of its words. The buffers are reused without clearing,
/// because clearing takes longer than judging a group.
pub(crate) struct Values {
    pub(crate) before: [u32; UNIT_WORDS],
    pub(crate) seen: [u32; UNIT_WORDS],
    pub(crate) left: [u32; UNIT_WORDS],
}

impl Values {
    pub(crate) fn new() -> Self {
        Values { before: [0; UNIT_WORDS], seen: [0; UNIT_WORDS], left: [0; UNIT_WORDS] }
    }
}

pub(crate) enum Final {
    /// The lanes leave one value per word: the values in the buffer `left`.
    Words,
    /// The lanes leave one of the values in the list `choices`, in the first words of the group.
    OneOf,
}

pub(crate) fn words_each(access: &Access) -> usize {
    access.size.bytes().div_ceil(4) as usize
}

/// Combines words into one value, low word first.
pub(crate) fn join(words: &[u32]) -> u128 {
    if let [word] = *words {
        return word.into(); // the usual case, and much faster than a 128-bit shift
    }
    words.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word))
}

/// Splits a value into words, low word first.
pub(crate) fn split(value: u128, words: &mut [u32]) {
    if let [word] = words {
        *word = value as u32;
        return;
    }
    for (i, word) in words.iter_mut().enumerate() {
        *word = (value >> (32 * i)) as u32;
    }
}
