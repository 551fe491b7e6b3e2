//! The banks of shared memory. Twin of all instances of `rtl/atoms_bank.sv`.

/// Words of all banks in one array: word `row * num_banks + bank`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Banks {
    words: Vec<u32>,
    // log2 of the number of banks. A shift takes a third of the time of a multiplication, in every access.
    bank_bits: u32,
}

impl Banks {
    pub(crate) fn new(num_banks: u32, num_rows: u32) -> Self {
        Banks { words: vec![0; (num_banks * num_rows) as usize], bank_bits: num_banks.trailing_zeros() }
    }

    #[inline(always)]
    pub(crate) fn read(&self, bank: usize, row: u16) -> u32 {
        self.words[(usize::from(row) << self.bank_bits) + bank]
    }

    #[inline(always)]
    pub(crate) fn write(&mut self, bank: usize, row: u16, word: u32) {
        self.words[(usize::from(row) << self.bank_bits) + bank] = word;
    }

    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }
}
