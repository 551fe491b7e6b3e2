//! Values that retry loops update, and the arithmetic on them. Written from PTX's text, not from what runs kernels
//! here: the two are compared.

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use serde::{Deserialize, Serialize};

use crate::instruction::Update;

/// Type of a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    S64,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// IEEE binary16.
    F16,
    /// Two of IEEE binary16.
    F16x2,
    /// bfloat16.
    Bf16,
    /// Two of bfloat16.
    Bf16x2,
}

impl Value {
    /// Bytes in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            Value::U16 | Value::F16 | Value::Bf16 => 2,
            Value::F32 | Value::F16x2 | Value::Bf16x2 => 4,
            Value::U64 | Value::S64 | Value::F64 => 8,
        }
    }

    /// Bits of the integer `n`, from -8 to 8, as a value of this type, in every element. Sums of them are exact, so
    /// that the order of additions makes no difference.
    pub fn of_small(self, n: i8) -> u64 {
        debug_assert!((-8..=8).contains(&n), "{n} is small");
        let wide = i128::from(n);
        let twice = |bits: u128| (bits as u64) << 16 | bits as u64;
        match self {
            Value::U16 => u64::from(n as u16),
            Value::U64 | Value::S64 => n as u64,
            Value::F32 => u64::from(f32::from(n).to_bits()),
            Value::F64 => f64::from(n).to_bits(),
            Value::F16 => Half::from_i128(wide).value.to_bits() as u64,
            Value::F16x2 => twice(Half::from_i128(wide).value.to_bits()),
            Value::Bf16 => BFloat::from_i128(wide).value.to_bits() as u64,
            Value::Bf16x2 => twice(BFloat::from_i128(wide).value.to_bits()),
        }
    }

    /// What stands in memory after an update of `old`.
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

    /// Whether two values are the same, where one that is no number has no certain bits.
    pub fn same(self, a: u64, b: u64) -> bool {
        fn equal<F: Float>(a: u64, b: u64) -> bool {
            let nan = |bits: u64| F::from_bits(bits.into()).is_nan();
            a == b || nan(a) && nan(b)
        }
        let halves = |equal: fn(u64, u64) -> bool| equal(a >> 16, b >> 16) && equal(a & 0xffff, b & 0xffff);
        match self {
            Value::U16 | Value::U64 | Value::S64 => a == b,
            Value::F32 => equal::<Single>(a, b),
            Value::F64 => equal::<Double>(a, b),
            Value::F16 => equal::<Half>(a, b),
            Value::Bf16 => equal::<BFloat>(a, b),
            Value::F16x2 => halves(equal::<Half>),
            Value::Bf16x2 => halves(equal::<BFloat>),
        }
    }

    fn less(self, a: u64, b: u64) -> bool {
        if self == Value::S64 { (a as i64) < b as i64 } else { a < b }
    }

    /// Rounds to nearest even and keeps subnormals (spec 7.3).
    fn sum(self, a: u64, b: u64) -> u64 {
        fn small<F: Float>(a: u64, b: u64) -> u64 {
            (F::from_bits(a.into()) + F::from_bits(b.into())).value.to_bits() as u64
        }
        fn pair<F: Float>(a: u64, b: u64) -> u64 {
            small::<F>(a >> 16, b >> 16) << 16 | small::<F>(a & 0xffff, b & 0xffff)
        }
        match self {
            Value::U16 => a.wrapping_add(b) & 0xffff,
            Value::U64 | Value::S64 => a.wrapping_add(b),
            Value::F32 => u64::from((f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits()),
            Value::F64 => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
            Value::F16 => small::<Half>(a, b),
            Value::F16x2 => pair::<Half>(a, b),
            Value::Bf16 => small::<BFloat>(a, b),
            Value::Bf16x2 => pair::<BFloat>(a, b),
        }
    }
}
