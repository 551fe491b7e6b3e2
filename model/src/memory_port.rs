//! What stands in front of shared memory, as a core sees it.

use crate::config::Config;
use crate::port::{In, Out};
use crate::unit::Unit;
use std::convert::Infallible;

/// The instruction that makes a warp request, for waves and messages.
#[derive(Clone, Copy, Debug)]
pub struct RequestOrigin<'a> {
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Line of the instruction in the kernel's text, from 1.
    pub line: u32,
    /// The instruction as written there.
    pub text: &'a str,
}

/// The unit's ports, one clock at a time. Handed over already reset.
///
/// Handshakes as documented at [`In`] and [`Out`]: a request is taken in a cycle in which valid and
/// ready are both high, and every request taken is answered once, under its tag.
pub trait MemoryPort {
    /// What the port itself can report, a disagreement of two sides for one. Comes out of
    /// the run unchanged.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Lanes of a request: a power of two up to 32.
    fn lanes(&self) -> u32;
    /// Words of one bank.
    fn rows(&self) -> u32;
    /// Banks; a row of all of them has 4 bytes per bank.
    fn banks(&self) -> u32;
    /// Slots of the CTA table.
    fn cta_slots(&self) -> u32;

    /// Drives `inputs` for one clock and gives the outputs of that clock, before its edge.
    ///
    /// # Errors
    /// Whatever the port has to report; the run ends with it.
    fn cycle(&mut self, inputs: &In) -> Result<&Out, Self::Error>;

    /// Names the origin of the warp request that is offered from the next call of [`MemoryPort::cycle`] on, until it is
    /// taken. A port that shows nothing ignores it.
    fn offer_from(&mut self, _origin: &RequestOrigin<'_>) {}

    /// The word at byte address `4 * (row * banks + bank)` of shared memory, for messages: as of the last
    /// clock, and wherever a bank hash has put it ([`word_index`]).
    fn word(&self, row: u32, bank: u32) -> u32;
}

/// Index in [`crate::Unit::memory`] of the word that addresses count as `bank` of `row`: the inverse of
/// the bank hash (spec 1.2).
pub fn word_index(config: &Config, row: u32, bank: u32) -> usize {
    let hash = if config.bank_hash { (row & (config.num_banks / 4 - 1)) << 2 } else { 0 };
    row as usize * config.num_banks as usize + (bank ^ hash) as usize
}

/// The model alone, which has nothing to report.
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

    /// A core sees words where it has put them, wherever the hash puts those.
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
