//! Interface between a core and shared memory.

use crate::config::Config;
use crate::port::{In, Out};
use crate::unit::Unit;
use std::convert::Infallible;

/// Instruction that issues a warp request, for waves and messages.
#[derive(Clone, Copy, Debug)]
pub struct RequestOrigin<'a> {
    /// Index of the CTA in the grid.
    pub cta: u32,
    /// Index of the warp in the CTA.
    pub warp: u32,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Line of the instruction in the kernel's text, from 1.
    pub line: u32,
    /// Text of the instruction in the kernel.
    pub text: &'a str,
}

/// The unit's ports, advanced one clock at a time. The implementation is already reset.
///
/// The handshakes are those of [`In`] and [`Out`]. A request is accepted in a cycle in which valid and ready
/// are both high. Every accepted request is answered exactly once, under its tag.
pub trait MemoryPort {
    /// Error that ends a run, such as a mismatch of RTL and model. The run returns the error unchanged.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Lanes of a request: a power of two up to 32.
    fn lanes(&self) -> u32;
    /// Rows: words per bank.
    fn rows(&self) -> u32;
    /// Number of banks; a row has 4 bytes per bank.
    fn banks(&self) -> u32;
    /// Number of slots in the CTA table.
    fn cta_slots(&self) -> u32;

    /// Drives `inputs` for one clock. Returns the outputs of that clock, before its edge.
    ///
    /// # Errors
    /// Any error of the implementation; the run ends with this error.
    fn cycle(&mut self, inputs: &In) -> Result<&Out, Self::Error>;

    /// Sets the origin of the warp request that is offered from the next [`MemoryPort::cycle`] on, until it
    /// is accepted. The default implementation ignores the origin.
    fn offer_from(&mut self, _origin: &RequestOrigin<'_>) {}

    /// Reads the word at byte address `4 * (row * banks + bank)` of shared memory after the last clock, for
    /// messages. The bank hash is undone ([`word_index`]).
    fn word(&self, row: u32, bank: u32) -> u32;
}

/// Index in [`crate::Unit::memory`] of the word whose address selects `bank` of `row` before the bank hash
/// (spec 1.2).
pub fn word_index(config: &Config, row: u32, bank: u32) -> usize {
    let hash = if config.bank_hash { (row & (config.num_banks / 4 - 1)) << 2 } else { 0 };
    row as usize * config.num_banks as usize + (bank ^ hash) as usize
}

/// The model alone, which reports no errors.
impl MemoryPort for Unit {
    type Error = Infallible;

    fn lanes(&self) -> u32 {
        self.config().num_lanes
    }

    fn rows(&self) -> u32 {
        self.config().num_rows
    }

    fn banks(&self) -> u32 {
        self.config().num_banks
    }

    fn cta_slots(&self) -> u32 {
        self.config().num_cta_slots
    }

    fn cycle(&mut self, inputs: &In) -> Result<&Out, Infallible> {
        Ok(self.clock(inputs))
    }

    fn word(&self, row: u32, bank: u32) -> u32 {
        self.memory()[word_index(self.config(), row, bank)]
    }
}

#[cfg(test)]
mod tests {
    use atoms_ops::{Op, Size};

    use super::*;

    /// A core reads each word at the address it wrote, with the bank hash on.
    #[test]
    fn a_unit_is_a_port() {
        let config = Config {
            num_lanes: 8,
            num_banks: 16,
            num_rows: 12,
            num_cta_slots: 3,
            bank_hash: true,
            ..Config::default()
        };
        let mut unit = Unit::new(config);
        assert_eq!(unit.config(), &config);
        assert_eq!((unit.lanes(), unit.rows(), unit.banks(), unit.cta_slots()), (8, 12, 16, 3));
        let mut i = In { rst_n: 1, rsp_ready: 1, ..In::default() };
        (i.cta_valid, i.cta_enable, i.cta_size) = (1, 1, 12 * config.row_bytes());
        let Ok(_) = unit.cycle(&i);
        i.cta_valid = 0;
        for row in 0..12 {
            (i.req_valid, i.req_op, i.req_size, i.req_mask) = (1, Op::Store as u8, Size::B128 as u8, 0b1111);
            for lane in 0..4 {
                let word = 16 * row + 4 * lane;
                i.req_ra[lane as usize] = 4 * word;
                i.req_b[lane as usize] = (0..4).fold(0, |b, at| b | u128::from(word + at + 1) << (32 * at));
            }
            let mut answers = 0;
            for _ in 0..20 {
                let Ok(out) = unit.cycle(&i);
                answers += out.rsp_valid;
                if out.req_ready == 1 {
                    i.req_valid = 0;
                }
            }
            assert_eq!(answers, 1);
        }
        for (word, (row, bank)) in (0..12).flat_map(|row| (0..16).map(move |bank| (row, bank))).enumerate() {
            assert_eq!(unit.word(row, bank), word as u32 + 1, "row {row} bank {bank}");
        }
        let mut held = unit.memory().to_vec();
        held.sort_unstable();
        assert_eq!(held, (1..=192).collect::<Vec<_>>());
        assert_ne!(unit.memory(), held, "the hash moves words");
    }
}
