//! Arithmetic on the values that retry loops update. Written from the text of PTX, independently of the core:
//! a replay compares the two.

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use serde::{Deserialize, Serialize};

/// Function that a retry loop computes from the value in memory and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Stores the third operand if the value equals the second operand.
    Cas,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    U16,
    U64,
    S64,
    F32,
    F64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
}

impl ValueType {
    pub const fn bytes(self) -> u32 {
        match self {
            ValueType::U16 | ValueType::F16 | ValueType::Bf16 => 2,
            ValueType::F32 | ValueType::F16x2 | ValueType::Bf16x2 => 4,
            ValueType::U64 | ValueType::S64 | ValueType::F64 => 8,
        }
    }

    /// Bits of the integer `n`, from -8 to 8, as a value of this type, in every element. Sums of such values
    /// are exact, so the order of additions makes no difference.
    pub fn of_small(self, n: i8) -> u64 {
        debug_assert!((-8..=8).contains(&n), "{n} is small");
        let wide = i128::from(n);
        let twice = |bits: u128| (bits as u64) << 16 | bits as u64;
        match self {
            ValueType::U16 => u64::from(n as u16),
            ValueType::U64 | ValueType::S64 => n as u64,
            ValueType::F32 => u64::from(f32::from(n).to_bits()),
            ValueType::F64 => f64::from(n).to_bits(),
            ValueType::F16 => Half::from_i128(wide).value.to_bits() as u64,
            ValueType::F16x2 => twice(Half::from_i128(wide).value.to_bits()),
            ValueType::Bf16 => BFloat::from_i128(wide).value.to_bits() as u64,
            ValueType::Bf16x2 => twice(BFloat::from_i128(wide).value.to_bits()),
        }
    }

    pub fn updated(self, update: Update, old: u64, b: u64, c: u64) -> u64 {
        match update {
            Update::Add => self.sum(old, b),
            Update::Min if self.less(b, old) => b,
            Update::Max if self.less(old, b) => b,
            Update::Min | Update::Max => old,
            Update::And => old & b,
            Update::Or => old | b,
            Update::Xor => old ^ b,
            Update::Cas if old == b => c,
            Update::Cas => old,
        }
    }

    /// Replaces each NaN element by all ones: the bits of a NaN are not specified.
    pub fn canonical(self, bits: u64) -> u64 {
        fn one<F: Float>(bits: u64, ones: u64) -> u64 {
            if F::from_bits(bits.into()).is_nan() { ones } else { bits }
        }
        let halves = |one: fn(u64, u64) -> u64| one(bits >> 16, 0xffff) << 16 | one(bits & 0xffff, 0xffff);
        match self {
            ValueType::U16 | ValueType::U64 | ValueType::S64 => bits,
            ValueType::F32 => one::<Single>(bits, u32::MAX.into()),
            ValueType::F64 => one::<Double>(bits, u64::MAX),
            ValueType::F16 => one::<Half>(bits, 0xffff),
            ValueType::Bf16 => one::<BFloat>(bits, 0xffff),
            ValueType::F16x2 => halves(one::<Half>),
            ValueType::Bf16x2 => halves(one::<BFloat>),
        }
    }

    /// Applies [`ValueType::canonical`] to every value in memory.
    pub fn canonical_words(self, words: &[u32]) -> Vec<u32> {
        let canonical = |bits: u64| self.canonical(bits);
        match self.bytes() {
            8 => {
                let pair = |pair: &[u32]| canonical(u64::from(pair[1]) << 32 | u64::from(pair[0]));
                words.chunks_exact(2).map(pair).flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect()
            }
            4 => words.iter().map(|word| canonical((*word).into()) as u32).collect(),
            _ => {
                let halves = |word: u64| canonical(word >> 16) << 16 | canonical(word & 0xffff);
                words.iter().map(|word| halves((*word).into()) as u32).collect()
            }
        }
    }

    fn less(self, a: u64, b: u64) -> bool {
        if self == ValueType::S64 { (a as i64) < b as i64 } else { a < b }
    }

    /// Adds with rounding to nearest even; keeps subnormals (spec 7.3).
    fn sum(self, a: u64, b: u64) -> u64 {
        fn small<F: Float>(a: u64, b: u64) -> u64 {
            (F::from_bits(a.into()) + F::from_bits(b.into())).value.to_bits() as u64
        }
        fn pair<F: Float>(a: u64, b: u64) -> u64 {
            small::<F>(a >> 16, b >> 16) << 16 | small::<F>(a & 0xffff, b & 0xffff)
        }
        match self {
            ValueType::U16 => a.wrapping_add(b) & 0xffff,
            ValueType::U64 | ValueType::S64 => a.wrapping_add(b),
            ValueType::F32 => u64::from((f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits()),
            ValueType::F64 => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
            ValueType::F16 => small::<Half>(a, b),
            ValueType::F16x2 => pair::<Half>(a, b),
            ValueType::Bf16 => small::<BFloat>(a, b),
            ValueType::Bf16x2 => pair::<BFloat>(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Update, ValueType};

    #[test]
    fn floats_that_are_no_numbers_have_no_certain_bits() {
        for (value, one, other) in [
            (ValueType::F32, 0x7fc0_0000, 0xff80_0001),
            (ValueType::F64, 0x7ff8 << 48, 0x7ff0_0000_0000_0001),
            (ValueType::F16, 0x7e00, 0xfc01),
            (ValueType::Bf16, 0x7fc0, 0xff81),
            (ValueType::F16x2, 0x7e00_3c00, 0xfc01_3c00),
        ] {
            assert_eq!(value.canonical(one), value.canonical(other), "{value:?}");
        }
        assert_ne!(
            ValueType::F16x2.canonical(0x7e00_3c00),
            ValueType::F16x2.canonical(0x7e00_3c01),
            "the other half counts"
        );
        assert_ne!(
            ValueType::F32.canonical(0x7f80_0000),
            ValueType::F32.canonical(0xff80_0000),
            "infinities are numbers"
        );
        assert_eq!(
            ValueType::F16.canonical_words(&[0x7e01_7e02]),
            ValueType::F16.canonical_words(&[0x7e03_ffff])
        );
        assert_eq!(ValueType::F64.canonical_words(&[1, 0x7ff0_0000, 3, 4]), [u32::MAX, u32::MAX, 3, 4]);
    }

    #[test]
    fn small_sums_are_exact_in_every_type() {
        for value in [
            ValueType::F32,
            ValueType::F64,
            ValueType::F16,
            ValueType::F16x2,
            ValueType::Bf16,
            ValueType::Bf16x2,
            ValueType::S64,
        ] {
            let sum = value.updated(Update::Add, value.of_small(-3), value.of_small(8), 0);
            assert_eq!(sum, value.of_small(5), "{value:?}");
        }
        let subnormal = ValueType::F32.updated(Update::Add, 1, 1, 0);
        assert_eq!(subnormal, 2, "subnormals are kept (spec 7.3)");
    }
}
