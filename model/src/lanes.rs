//! Iterators over the lanes and banks of a mask. They bound each number, so that the compiler needs no index
//! check where the number is used.

use crate::port::{MAX_BANKS, MAX_LANES};

/// Lanes of a mask, ascending.
#[inline(always)]
pub fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize & (MAX_LANES - 1);
            mask &= mask - 1;
            lane
        })
    })
}

/// Lanes of a mask, descending.
#[inline(always)]
pub(crate) fn lanes_downwards(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = (31 - mask.leading_zeros() as usize) & (MAX_LANES - 1);
            mask &= !(1 << lane);
            lane
        })
    })
}

/// Banks of a mask, ascending.
#[inline(always)]
pub fn banks(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bank = mask.trailing_zeros() as usize & (MAX_BANKS - 1);
            mask &= mask - 1;
            bank
        })
    })
}

/// First banks of the accesses in a mask, ascending. The mask covers whole, aligned accesses of `words`
/// words.
#[inline(always)]
pub fn accesses(mut mask: u64, words: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let first = mask.trailing_zeros() as usize & (MAX_BANKS - words);
            mask &= !(((1 << words) - 1) << first);
            first
        })
    })
}

/// Bank of the first word of each lane's access, and byte within that word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstWords {
    bank: [u8; MAX_LANES],
    byte: [u8; MAX_LANES],
}

impl FirstWords {
    pub(crate) const NONE: FirstWords = FirstWords { bank: [0; MAX_LANES], byte: [0; MAX_LANES] };

    #[inline(always)]
    pub(crate) fn bank(&self, lane: usize) -> usize {
        usize::from(self.bank[lane]) & (MAX_BANKS - 1)
    }

    #[inline(always)]
    pub(crate) fn byte(&self, lane: usize) -> u8 {
        self.byte[lane]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, bank: u32, byte: u32) {
        self.bank[lane] = bank as u8;
        self.byte[lane] = byte as u8;
    }
}
