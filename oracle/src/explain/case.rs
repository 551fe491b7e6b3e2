//! A request and its answer, and the lanes of it that are explained together.

use atoms_ops::Op;

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
pub(crate) struct LaneGroup {
    /// The lanes.
    pub(crate) lanes: u32,
    /// Words in use of `words`.
    pub(crate) count: usize,
    /// Indices of the words, each once.
    pub(crate) words: [u32; UNIT_WORDS],
    /// Where in `words` each lane's first word stands; its others follow.
    pub(crate) at: [u8; MAX_LANES],
    /// The lane that CAST.SPIN must select, if it is known (spec 5.4).
    pub(crate) selected: Option<usize>,
}

impl LaneGroup {
    pub(crate) fn new() -> Self {
        LaneGroup { lanes: 0, count: 0, words: [0; UNIT_WORDS], at: [0; MAX_LANES], selected: None }
    }

    /// Makes this the unit of these lanes, which have one key.
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

/// The lanes of an access that are explained together: one set for each key, by their lowest lanes.
pub(crate) struct Units {
    sets: [u32; MAX_LANES],
    count: usize,
}

impl Units {
    /// `lanes_of_key` has a place for every key, and holds zeros before and after.
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

/// Values of the words of a unit, in their order, and room for those of the next one: to clear it takes longer than to
/// judge a unit.
pub(crate) struct Values {
    /// Before the request.
    pub(crate) before: [u32; UNIT_WORDS],
    /// Afterwards, as they were seen.
    pub(crate) seen: [u32; UNIT_WORDS],
    /// Afterwards, as the lanes leave them.
    pub(crate) left: [u32; UNIT_WORDS],
}

impl Values {
    pub(crate) fn new() -> Self {
        Values { before: [0; UNIT_WORDS], seen: [0; UNIT_WORDS], left: [0; UNIT_WORDS] }
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
    if let [word] = *words {
        return word.into(); // most have no more, and to shift 128 bits takes long
    }
    words.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word))
}

/// Puts a value into words, the low word first.
pub(crate) fn split(value: u128, words: &mut [u32]) {
    if let [word] = words {
        *word = value as u32;
        return;
    }
    for (i, word) in words.iter_mut().enumerate() {
        *word = (value >> (32 * i)) as u32;
    }
}
