//! What memory and CTA table hold, as ports and probe have shown it.

use atoms_model::Config;

use crate::cross::BinValue;
use crate::groups::pipeline::Writer;
use crate::groups::values::Width;

/// One word of memory, and how it came about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    pub(super) value: u32,
    // Bits 1:0 width and 4:2 kind of the write, 5 part of a live object, 31:6 step of the pipeline.
    history: u32,
}

const LIVE: u32 = 1 << 5;
const STEP_SHIFT: u32 = 6;

/// Steps after which [`Shadow::forget`] is due.
pub(super) const STEPS: u32 = (1 << (32 - STEP_SHIFT)) - 1;
/// The first step: so far from none that words never written are not taken for young ones.
pub(super) const FIRST_STEP: u32 = 16;

impl Word {
    /// Steps of the pipeline since it was written, by what, and how wide.
    #[inline(always)]
    pub(super) fn age(self, step: u32) -> u32 {
        step.wrapping_sub(self.history >> STEP_SHIFT)
    }

    pub(super) fn writer(self) -> (Writer, Width) {
        let kind = (self.history >> 2 & 7) as usize;
        (Writer::of(kind.min(Writer::COUNT - 1)), Width::of((self.history & 3) as usize))
    }

    #[inline(always)]
    pub(super) fn live(self) -> bool {
        self.history & LIVE != 0
    }
}

/// A write's marks on the words it writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks(u32);

impl Marks {
    pub(super) fn new(step: u32, writer: Writer, width: Width) -> Self {
        Marks(step << STEP_SHIFT | (writer.index() as u32) << 2 | width.index() as u32)
    }
}

/// Memory, word `row * banks + bank`.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    words: Vec<Word>,
    // Per pair of words: completions since a request asked, up to 3.
    since: Vec<u8>,
    banks: usize,
}

impl Shadow {
    pub(super) fn new(config: &Config) -> Self {
        let banks = config.num_banks as usize;
        let words = banks * config.num_rows as usize;
        Shadow { words: vec![Word::default(); words], since: vec![0; words / 2], banks }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(Word::default());
        self.since.fill(0);
    }

    /// Forgets when words were written.
    pub(super) fn forget(&mut self) {
        for word in &mut self.words {
            word.history &= LIVE;
        }
    }

    #[inline(always)]
    pub(super) fn read(&self, row: u16, bank: usize) -> Word {
        self.words.get(usize::from(row) * self.banks + bank).copied().unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn write(&mut self, row: u16, bank: usize, value: u32, marks: Marks) {
        if let Some(word) = self.words.get_mut(usize::from(row) * self.banks + bank) {
            *word = Word { value, history: marks.0 | word.history & LIVE };
        }
    }

    /// Makes a pair of words a live object, or none.
    pub(super) fn set_live(&mut self, row: u16, low: usize, live: bool) {
        for bank in [low, low | 1] {
            if let Some(word) = self.words.get_mut(usize::from(row) * self.banks + bank) {
                word.history = word.history & !LIVE | if live { LIVE } else { 0 };
            }
        }
    }

    /// Completions at the object since a request asked.
    pub(super) fn since(&mut self, row: u16, low: usize) -> Option<&mut u8> {
        self.since.get_mut((usize::from(row) * self.banks + low) / 2)
    }
}
