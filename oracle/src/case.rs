//! A request and its answer, and the lanes of it that are explained together.

use crate::access::Access;
use crate::lanes::lanes_of;
use crate::order::Order;
use crate::request::{MAX_LANES, Response, SerialRequest};

/// Most words that lanes explained together can name: 32 lanes of 64 bits each in one bank group.
pub(crate) const UNIT_WORDS: usize = 2 * MAX_LANES;

/// A request without fault and the answer to it.
pub(crate) struct Case<'a> {
    pub(crate) access: &'a Access,
    pub(crate) req: &'a SerialRequest,
    pub(crate) resp: &'a Response,
    /// The order in which its lanes must go, if it is known and makes a difference.
    pub(crate) order: Option<Order>,
}

/// Lanes that are explained together, and the words they name.
pub(crate) struct Unit {
    /// The lanes.
    pub(crate) lanes: u32,
    /// Words in use of `words`.
    pub(crate) count: usize,
    /// Indices of the words, each once.
    pub(crate) words: [u32; UNIT_WORDS],
    /// Where in `words` each lane's first word stands; its others follow.
    pub(crate) at: [u8; MAX_LANES],
}

impl Unit {
    pub(crate) fn new() -> Self {
        Unit { lanes: 0, count: 0, words: [0; UNIT_WORDS], at: [0; MAX_LANES] }
    }

    /// Makes this the unit of the lowest lane of `rest`.
    pub(crate) fn gather(&mut self, access: &Access, rest: u32) {
        let key = access.key[rest.trailing_zeros() as usize & 31];
        let same = access.key.iter().enumerate().fold(0, |mask, (l, &k)| mask | u32::from(k == key) << l);
        self.lanes = rest & same;
        self.count = 0;
        let words_each = words_each(access);
        for lane in lanes_of(self.lanes) {
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

/// What the lanes of a unit leave.
pub(crate) enum Final {
    /// The words in the buffer given.
    Words,
    /// One of the values in the list given, in the unit's first words.
    OneOf,
}

pub(crate) fn words_each(access: &Access) -> usize {
    access.size.bytes().div_ceil(4) as usize
}

/// The value that words hold, the low word first.
pub(crate) fn join(words: &[u32]) -> u128 {
    words.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word))
}

/// Puts a value into words, the low word first.
pub(crate) fn split(value: u128, words: &mut [u32]) {
    for (i, word) in words.iter_mut().enumerate() {
        *word = (value >> (32 * i)) as u32;
    }
}
