//! Shadow of memory, updated from the observed bank writes.

use atoms_model::Config;
use atoms_model::lanes::banks;
use atoms_monitor::BankPorts;

use super::APART;
use crate::groups::pipeline::Writer;
use crate::groups::values::Width;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    pub(super) value: u32,
    // Bit 0: 1 if the word belongs to a live mbarrier object. Bits 31:1: pipeline step of the last write,
    // modulo 2^31.
    history: u32,
}

const LIVE: u32 = 1;

impl Word {
    /// Returns the number of pipeline steps since the last write.
    #[inline(always)]
    pub(super) fn age(self, step: u32) -> u32 {
        (step << 1).wrapping_sub(self.history & !LIVE) >> 1
    }

    #[inline(always)]
    pub(super) fn live(self) -> bool {
        self.history & LIVE != 0
    }
}

/// Word `row * banks + bank` is the word in that row and bank.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    words: Vec<Word>,
    // For each pair of words: completions since a request last asked, at most 2.
    since: Vec<u8>,
    banks: usize,
    /// Kind and width of the last writers, by step modulo [`APART`].
    writers: [(Writer, Width); APART as usize],
}

impl Shadow {
    pub(super) fn new(config: &Config) -> Self {
        let banks = config.num_banks as usize;
        let words = banks * config.num_rows as usize;
        let writers = [(Writer::Store, Width::Word); APART as usize];
        Shadow { words: vec![Word::default(); words], since: vec![0; words / 2], banks, writers }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(Word::default());
        self.since.fill(0);
    }

    #[inline(always)]
    pub(super) fn read(&self, row: u16, bank: usize) -> Word {
        self.words.get(self.index(row, bank)).copied().unwrap_or_default()
    }

    /// Returns kind and width of the pass that wrote in `step`, which must be one of the last [`APART`]
    /// steps.
    pub(super) fn writer(&self, step: u32) -> (Writer, Width) {
        self.writers[(step % APART) as usize]
    }

    #[inline(always)]
    pub(super) fn write(&mut self, written: &BankPorts<'_>, step: u32, by: (Writer, Width)) {
        self.writers[(step % APART) as usize] = by;
        for bank in banks(written.written) {
            let index = self.index(written.rows[bank], bank);
            if let Some(word) = self.words.get_mut(index) {
                *word = Word { value: written.values[bank], history: step << 1 | word.history & LIVE };
            }
        }
    }

    pub(super) fn set_live(&mut self, row: u16, low: usize, live: bool) {
        let index = self.index(row, low);
        for word in self.words.iter_mut().skip(index).take(2) {
            word.history = word.history & !LIVE | u32::from(live);
        }
    }

    /// Counter of completions at the object since a request last asked, at most 2.
    pub(super) fn since(&mut self, row: u16, low: usize) -> Option<&mut u8> {
        let index = self.index(row, low) / 2;
        self.since.get_mut(index)
    }

    #[inline(always)]
    fn index(&self, row: u16, bank: usize) -> usize {
        usize::from(row) * self.banks + bank
    }
}
