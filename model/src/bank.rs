//! The banks of shared memory. Twin of all instances of `rtl/atoms_bank.sv`.

/// Every bank's words, flat: word `row * num_banks + bank`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Banks {
    words: Vec<u32>,
    // log2 of the number of banks: a shift is a third of a multiplication in every access.
    bank_bits: u32,
}

impl Banks {
    /// Memory of zeros.
    pub(crate) fn new(num_banks: u32, num_rows: u32) -> Self {
        Banks { words: vec![0; (num_banks * num_rows) as usize], bank_bits: num_banks.trailing_zeros() }
    }

    /// Word of `bank` at `row`.
    #[inline(always)]
    pub(crate) fn read(&self, bank: usize, row: u16) -> u32 {
        self.words[(usize::from(row) << self.bank_bits) + bank]
    }

    /// Sets the word of `bank` at `row`.
    #[inline(always)]
    pub(crate) fn write(&mut self, bank: usize, row: u16, word: u32) {
        self.words[(usize::from(row) << self.bank_bits) + bank] = word;
    }

    /// All words.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// All words, to be set.
    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }
}
