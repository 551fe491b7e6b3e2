//! Identifier codes of signals in a VCD.

use std::collections::HashMap;

use crate::reader::Slot;

/// First and last character of a code.
const FIRST: u8 = b'!';
const LAST: u8 = b'~';
const CHARACTERS: usize = (LAST - FIRST) as usize + 1;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Codes {
    /// Slots by number of the code. Writers count through the codes, so most numbers are small.
    dense: Vec<u32>,
    /// Number of codes in `dense`.
    counted: usize,
    /// Codes whose number is too high for `dense`.
    sparse: HashMap<Box<[u8]>, u32>,
}

/// Entry of `dense` without a slot.
const NONE: u32 = u32::MAX;
/// Maximum length of a code with a number.
const NUMBERED: usize = 4;
/// Size limit of `dense`: entries per signal, plus a minimum.
const PER_SIGNAL: usize = 8;
const LEAST: usize = 1 << 12;

impl Codes {
    /// Returns the slot of a code. A new code gets a new slot.
    pub(super) fn insert(&mut self, code: &[u8]) -> Slot {
        if let Some(slot) = self.find(code) {
            return slot;
        }
        let slot = self.len() as u32;
        match number(code).filter(|number| *number < self.len() * PER_SIGNAL + LEAST) {
            Some(number) => {
                if self.dense.len() <= number {
                    self.dense.resize(number + 1, NONE);
                }
                self.dense[number] = slot;
                self.counted += 1;
            }
            None => {
                self.sparse.insert(code.into(), slot);
            }
        }
        Slot(slot)
    }

    #[inline]
    pub(super) fn find(&self, code: &[u8]) -> Option<Slot> {
        let dense = number(code).and_then(|number| self.dense.get(number)).filter(|slot| **slot != NONE);
        match dense {
            Some(slot) => Some(Slot(*slot)),
            None if self.sparse.is_empty() => None,
            None => self.sparse.get(code).map(|slot| Slot(*slot)),
        }
    }

    /// True if a code has a slot and is not a prefix of another code.
    pub(super) fn is_whole(&self, code: &[u8]) -> bool {
        let longer = |other: &[u8]| other.len() > code.len() && other.starts_with(code);
        // Numbers of codes with a common prefix are equal modulo a power of the number of characters.
        let counted = number(code).is_some_and(|number| {
            let apart = CHARACTERS.pow(code.len() as u32);
            self.dense.iter().skip(number).step_by(apart).skip(1).any(|slot| *slot != NONE)
        });
        self.find(code).is_some() && !counted && !self.sparse.keys().any(|other| longer(other))
    }

    pub(super) fn len(&self) -> usize {
        self.counted + self.sparse.len()
    }
}

/// Returns the number of a code in the order in which writers count: `!` is 1, `"` is 2, `!!` is the first
/// with two characters. The empty code is 0.
#[inline]
fn number(code: &[u8]) -> Option<usize> {
    if code.len() > NUMBERED {
        return None;
    }
    code.iter().rev().try_fold(0, |number, byte| {
        (FIRST..=LAST).contains(byte).then(|| number * CHARACTERS + usize::from(byte - FIRST) + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_the_slot_it_was_given() {
        let codes = ["!", "!!", "\"", "~~~~", "n0", "a_long_name", "~~~~~", "!!!!!!!!!!!!"];
        let mut table = Codes::default();
        for (slot, code) in (0..).zip(codes) {
            assert_eq!(table.find(code.as_bytes()), None);
            assert_eq!(table.insert(code.as_bytes()), Slot(slot));
        }
        for (slot, code) in (0..).zip(codes) {
            assert_eq!(table.find(code.as_bytes()), Some(Slot(slot)), "{code}");
            assert_eq!(table.insert(code.as_bytes()), Slot(slot));
        }
        assert_eq!(table.len(), codes.len());
        let whole = codes.map(|code| table.is_whole(code.as_bytes()));
        assert_eq!(whole, [false, false, true, false, true, true, true, true]);
        assert!(!table.is_whole(b"a_long_nam") && !table.is_whole(b"~") && !table.is_whole(b""));
        for unknown in ["", "#", "!\"", "~~~", "a long name", "\u{e4}"] {
            assert_eq!(table.find(unknown.as_bytes()), None, "{unknown}");
        }
    }
}
