//! Operands B and C of operations on plain memory.

use atoms_ops::Size;
use rand::{Rng, RngExt};

use crate::profile::weights::choices;

choices! {
    /// Kind of numbers that the operands of a request are.
    Values, "values" {
        /// Operands 0, 1 or 2, so that comparisons match and bounds are met.
        Few "few" 4;
        /// Each word is a corner (see `corners`), a small number or any number, drawn separately.
        Mixed "mixed" 3;
        /// Operands at which operations change behaviour, such as 0 and the largest number.
        Corners "corners" 0;
        /// Operands from 0 to 63.
        Counts "counts" 0;
        /// Encodings at which floating point changes behaviour, of 16, 32 and 64 bits.
        Floats "floats" 0;
        /// Operands with any bits.
        Any "any" 0;
        /// Operands 0, 1 or 2, the same for all lanes.
        Uniform "uniform" 0;
        /// A value last seen in memory, plus or minus one, or with one bit changed. The same for all lanes.
        Seen "seen" 1;
    }
}

const CORNERS: [u32; 8] = [0, 1, 2, 3, i32::MAX as u32, i32::MIN as u32, u32::MAX, u32::MAX - 1];

/// Zeros, ones, infinities, NaNs, and the least and greatest normal and subnormal numbers. A word is an f32,
/// the upper word of an f64, or a pair of f16 or bf16.
const FLOATS: [u32; 22] = [
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0x0000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0x3ff0_0000,
    0x7ff0_0000,
    0x7ff8_0000,
    0x0010_0000,
    0x3c00_3c00,
    0x7c00_fc00,
    0x7e00_0001,
    0x03ff_0400,
    0x7bff_fbff,
    0x8000_0001,
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands {
    pub(crate) kind: Values,
    /// Common value of all lanes, for kinds that have one.
    pub(crate) all: u128,
}

impl Operands {
    fn word(self, rng: &mut impl Rng) -> u32 {
        match self.kind {
            Values::Mixed => match rng.random_range(0..4) {
                0 => CORNERS[rng.random_range(0..CORNERS.len())],
                1 => rng.random_range(0..4),
                2 => rng.random_range(0..64),
                _ => rng.random(),
            },
            Values::Few | Values::Uniform | Values::Seen => rng.random_range(0..3),
            Values::Corners => CORNERS[rng.random_range(0..CORNERS.len())],
            Values::Counts => rng.random_range(0..64),
            Values::Floats => FLOATS[rng.random_range(0..FLOATS.len())],
            Values::Any => rng.random(),
        }
    }

    /// Returns the kind of operand C that goes with this operand B. Where the comparison holds, C is another
    /// value, or the same value so that the next lane's comparison holds too.
    pub(crate) fn to_store(self, rng: &mut impl Rng) -> Operands {
        match self.kind {
            Values::Seen | Values::Uniform if rng.random() => self,
            Values::Seen => Operands { kind: Values::Mixed, ..self },
            Values::Uniform => Operands { all: rng.random_range(0..3), ..self },
            _ => self,
        }
    }

    #[inline]
    pub(crate) fn draw(self, size: Size, rng: &mut impl Rng) -> u128 {
        match self.kind {
            Values::Few | Values::Counts => self.word(rng).into(),
            Values::Uniform | Values::Seen => self.all,
            Values::Corners if rng.random() => {
                // Use the corners of the full access width.
                let ones = u128::MAX >> (128 - 8 * size.bytes());
                [0, 1, ones >> 1, (ones >> 1) + 1, ones][rng.random_range(0..5)]
            }
            _ => (0..size.bytes().div_ceil(4)).fold(0, |value, _| value << 32 | u128::from(self.word(rng))),
        }
    }
}
