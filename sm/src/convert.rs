//! Conversions between integers and floats, and among each. Source: [PTX] cvt.

use crate::float::{self, round_of};
use atoms_isa::{FloatFormat, FloatMode, HalfFormat, IntSize, Rounding};
use rustc_apfloat::{Float, FloatConvert, ieee};

/// The integer of this type in the low bits.
pub(crate) fn integer(size: IntSize, bits: u64) -> i128 {
    let shift = 128 - u32::from(size.bits);
    let wide = i128::from(bits) << shift;
    if size.signed { wide >> shift } else { ((wide as u128) >> shift) as i128 }
}

/// The nearest integer in the range of a type.
pub(crate) fn limited(size: IntSize, number: i128) -> i128 {
    let bits = u32::from(size.bits);
    let (least, most) =
        if size.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    number.clamp(least, most)
}

/// The value of a float, exactly.
pub(crate) fn exact(format: FloatFormat, bits: u64) -> f64 {
    fn widen<F: FloatConvert<ieee::Double>>(bits: u64) -> f64 {
        let mut exact = false;
        f64::from_bits(F::from_bits(u128::from(bits)).convert(&mut exact).value.to_bits() as u64)
    }
    match format {
        FloatFormat::F16 => widen::<ieee::Half>(bits & 0xffff),
        FloatFormat::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        FloatFormat::F32 => f64::from(f32::from_bits(bits as u32)),
        FloatFormat::F64 => f64::from_bits(bits),
    }
}

/// A value in a format: the one NaN that it has, or rounded.
pub(crate) fn rounded(format: FloatFormat, round: Rounding, value: f64) -> u64 {
    fn narrow<F: Float>(round: Rounding, value: f64) -> u64
    where
        ieee::Double: FloatConvert<F>,
    {
        let double = ieee::Double::from_bits(u128::from(value.to_bits()));
        let mut exact = false;
        let narrow: F = double.convert_r(round_of(round), &mut exact).value;
        narrow.to_bits() as u64
    }
    if value.is_nan() {
        return float::nan(format);
    }
    match format {
        FloatFormat::F16 => narrow::<ieee::Half>(round, value),
        FloatFormat::Bf16 => narrow::<ieee::BFloat>(round, value),
        FloatFormat::F32 if round == Rounding::Nearest => u64::from((value as f32).to_bits()),
        FloatFormat::F32 => narrow::<ieee::Single>(round, value),
        FloatFormat::F64 => value.to_bits(),
    }
}

/// An integer as a float.
pub(crate) fn int_to_float(from: IntSize, to: FloatFormat, round: Rounding, bits: u64) -> u64 {
    fn number<F: Float>(round: Rounding, number: i128) -> u64 {
        F::from_i128_r(number, round_of(round)).value.to_bits() as u64
    }
    let value = integer(from, bits);
    match to {
        FloatFormat::F16 => number::<ieee::Half>(round, value),
        FloatFormat::Bf16 => number::<ieee::BFloat>(round, value),
        FloatFormat::F32 if round == Rounding::Nearest => u64::from((value as f32).to_bits()),
        FloatFormat::F32 => number::<ieee::Single>(round, value),
        FloatFormat::F64 => number::<ieee::Double>(round, value),
    }
}

/// A whole number.
fn to_whole(round: Rounding, value: f64) -> f64 {
    match round {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        Rounding::Zero => value.trunc(),
    }
}

fn flushed(format: FloatFormat, flush: bool, bits: u64) -> u64 {
    match format {
        FloatFormat::F32 => u64::from(float::flush_if(flush, f32::from_bits(bits as u32)).to_bits()),
        FloatFormat::F16 | FloatFormat::Bf16 | FloatFormat::F64 => bits,
    }
}

/// A float as an integer, limited to its range; 64 bits, or extended to 32.
pub(crate) fn float_to_int(
    from: FloatFormat,
    to: IntSize,
    round: Rounding,
    flush: bool,
    nan_to_zero: bool,
    bits: u64,
) -> u64 {
    let value = exact(from, flushed(from, flush, bits));
    if value.is_nan() {
        let zero = nan_to_zero || to.bits < 32;
        return if zero { 0 } else { 1 << (to.bits - 1) };
    }
    // Rust's conversion limits to the range of i128, which holds those of all types.
    let number = limited(to, to_whole(round, value) as i128);
    if to.bits == 64 { number as u64 } else { u64::from(number as u32) }
}

/// A float rounded to a whole number.
pub(crate) fn whole(format: FloatFormat, round: Rounding, flush: bool, bits: u64) -> u64 {
    let value = exact(format, flushed(format, flush, bits));
    // Whole numbers that a rounding can give are exact in every format.
    rounded(format, Rounding::Nearest, to_whole(round, value).copysign(value))
}

/// A float in another format.
pub(crate) fn float_to_float(from: FloatFormat, to: FloatFormat, mode: FloatMode, bits: u64) -> u64 {
    let value = exact(from, flushed(from, mode.flush, bits));
    let value = if mode.saturate { if value > 0.0 { value.min(1.0) } else { 0.0 } } else { value };
    flushed(to, mode.flush, rounded(to, mode.round, value))
}

/// Two binary32 as packed halves, `a` high.
pub(crate) fn pack_halves(format: HalfFormat, round: Rounding, relu: bool, a: u32, b: u32) -> u32 {
    let format = float::of_half(format);
    let half = |bits: u32| {
        let value = f64::from(f32::from_bits(bits));
        let value = if relu { value.max(0.0) } else { value };
        rounded(format, round, value) as u32
    };
    half(a) << 16 | half(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const U32: IntSize = IntSize { bits: 32, signed: false };
    const S32: IntSize = IntSize { bits: 32, signed: true };
    const U64: IntSize = IntSize { bits: 64, signed: false };
    const S64: IntSize = IntSize { bits: 64, signed: true };
    const N: Rounding = Rounding::Nearest;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// As the host converts, which rounds to nearest and limits.
        #[test]
        fn as_the_host(bits in any::<u64>(), float in any::<f32>(), double in any::<f64>()) {
            let f32_of = |from| int_to_float(from, FloatFormat::F32, N, bits) as u32;
            prop_assert_eq!(f32_of(U32), (bits as u32 as f32).to_bits());
            prop_assert_eq!(f32_of(S32), (bits as i32 as f32).to_bits());
            prop_assert_eq!(f32_of(U64), (bits as f32).to_bits());
            prop_assert_eq!(f32_of(S64), (bits as i64 as f32).to_bits());
            let f64_of = |from| int_to_float(from, FloatFormat::F64, N, bits);
            prop_assert_eq!(f64_of(U64), (bits as f64).to_bits());
            prop_assert_eq!(f64_of(S64), (bits as i64 as f64).to_bits());
            let cut = |from, to, bits| float_to_int(from, to, Rounding::Zero, false, true, bits);
            let single = u64::from(float.to_bits());
            prop_assert_eq!(cut(FloatFormat::F32, U32, single), u64::from(float as u32));
            prop_assert_eq!(cut(FloatFormat::F32, S32, single), u64::from(float as i32 as u32));
            prop_assert_eq!(cut(FloatFormat::F64, U64, double.to_bits()), double as u64);
            prop_assert_eq!(cut(FloatFormat::F64, S64, double.to_bits()), double as i64 as u64);
            if !double.is_nan() {
                let narrow = float_to_float(FloatFormat::F64, FloatFormat::F32, FloatMode::PLAIN, double.to_bits());
                prop_assert_eq!(narrow, u64::from((double as f32).to_bits()));
            }
            if !float.is_nan() {
                let wide = float_to_float(FloatFormat::F32, FloatFormat::F64, FloatMode::PLAIN, single);
                prop_assert_eq!(wide, f64::from(float).to_bits());
            }
        }

        /// Up means: the least float that is not below; down the other way.
        #[test]
        fn rounding_up_and_down(value in any::<u32>()) {
            let of = |round| f32::from_bits(int_to_float(U32, FloatFormat::F32, round, value.into()) as u32);
            let (up, down) = (of(Rounding::Up), of(Rounding::Down));
            prop_assert!(f64::from(up) >= f64::from(value) && f64::from(down) <= f64::from(value));
            prop_assert!(f64::from(up.next_down()) < f64::from(value) || value == 0);
            prop_assert!(f64::from(down.next_up()) > f64::from(value));
            prop_assert_eq!(of(Rounding::Zero), down);
        }

        /// A binary32 packed to a half is the nearest one.
        #[test]
        fn halves(a in -70000.0_f32..70000.0, b in -1.0e-4_f32..1.0e-4) {
            let word = pack_halves(HalfFormat::F16, N, false, a.to_bits(), b.to_bits());
            let element = crate::launch::Element::F16;
            prop_assert_eq!(u64::from(word >> 16), element.from_float(a.into()));
            prop_assert_eq!(u64::from(word & 0xffff), element.from_float(b.into()));
            let relu = pack_halves(HalfFormat::Bf16, N, true, a.to_bits(), f32::NAN.to_bits());
            prop_assert_eq!(relu & 0xffff, 0);
            prop_assert!(a > 0.0 || relu == 0);
        }

        #[test]
        fn whole_numbers(value in -1.0e10_f64..1.0e10) {
            let of = |round| f64::from_bits(whole(FloatFormat::F64, round, false, value.to_bits()));
            prop_assert_eq!(of(Rounding::Zero), value.trunc());
            prop_assert_eq!(of(Rounding::Down), value.floor());
            prop_assert_eq!(of(Rounding::Up), value.ceil());
            prop_assert_eq!(of(N), value.round_ties_even());
        }
    }

    #[test]
    fn what_is_no_number() {
        let nan = u64::from(f32::NAN.to_bits());
        assert_eq!(float_to_int(FloatFormat::F32, S32, N, false, true, nan), 0);
        assert_eq!(float_to_int(FloatFormat::F32, S32, N, false, false, nan), 0x8000_0000);
        assert_eq!(float_to_int(FloatFormat::F64, U64, N, false, false, f64::NAN.to_bits()), 1 << 63);
        assert_eq!(float_to_float(FloatFormat::F32, FloatFormat::F16, FloatMode::PLAIN, nan), 0x7fff);
    }
}
