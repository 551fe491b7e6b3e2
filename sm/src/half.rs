//! Arithmetic on packed halves, bit for bit: to nearest even, one NaN.

use crate::convert::{exact, rounded};
use crate::float::{self, NAN16, of_half};
use atoms_isa::{FloatCompare, FloatFormat, FloatMode, HalfFormat, HalfLimit, HalfMode, Rounding};
use rustc_apfloat::{Float, Round, ieee};

fn bits16<F: Float>(value: F) -> u16 {
    if value.is_nan() { NAN16 } else { value.to_bits() as u16 }
}

pub(crate) fn add16<F: Float>(a: u16, b: u16) -> u16 {
    bits16(F::from_bits(a.into()).add_r(F::from_bits(b.into()), Round::NearestTiesToEven).value)
}

pub(crate) fn mul16<F: Float>(a: u16, b: u16) -> u16 {
    bits16(F::from_bits(a.into()).mul_r(F::from_bits(b.into()), Round::NearestTiesToEven).value)
}

fn fma16<F: Float>(a: u16, b: u16, c: u16) -> u16 {
    let (b, c) = (F::from_bits(b.into()), F::from_bits(c.into()));
    bits16(F::from_bits(a.into()).mul_add_r(b, c, Round::NearestTiesToEven).value)
}

/// Bits of 1.0.
pub(crate) fn one(format: HalfFormat) -> u16 {
    match format {
        HalfFormat::F16 => 0x3c00,
        HalfFormat::Bf16 => 0x3f80,
    }
}

fn flush(format: HalfFormat, wanted: bool, bits: u16) -> u16 {
    let exponent = match format {
        HalfFormat::F16 => 0x7c00,
        HalfFormat::Bf16 => 0x7f80,
    };
    if wanted && bits & exponent == 0 { bits & 0x8000 } else { bits }
}

fn limit(mode: HalfMode, bits: u16) -> u16 {
    let nan = exact(of_half(mode.format), bits.into()).is_nan();
    let negative = bits & 0x8000 != 0;
    match mode.limit {
        HalfLimit::None => bits,
        HalfLimit::Saturate if nan || negative => 0,
        // Positive numbers are in the order of their bits.
        HalfLimit::Saturate => bits.min(one(mode.format)),
        HalfLimit::Relu if negative && !nan => 0,
        HalfLimit::Relu => bits,
    }
}

/// What is done in one format: both halves, or the low ones in binary32.
fn apply(
    mode: HalfMode,
    operands: [u32; 3],
    half: impl Fn([u16; 3]) -> u16,
    single: impl Fn(FloatMode, [f32; 3]) -> f32,
) -> u32 {
    if mode.single {
        let format = of_half(mode.format);
        // Every half is exact in binary32.
        let values = operands.map(|word| exact(format, u64::from(word & 0xffff)) as f32);
        let saturate = mode.limit == HalfLimit::Saturate;
        let result = single(FloatMode { round: Rounding::Nearest, flush: mode.flush, saturate }, values);
        let relu = mode.limit == HalfLimit::Relu && result < 0.0;
        return if relu { 0 } else { result.to_bits() };
    }
    let each = |shift: u32| {
        let values = operands.map(|word| flush(mode.format, mode.flush, (word >> shift) as u16));
        u32::from(limit(mode, flush(mode.format, mode.flush, half(values))))
    };
    each(16) << 16 | each(0)
}

/// `a + b` in both halves.
pub(crate) fn add(mode: HalfMode, a: u32, b: u32) -> u32 {
    let half = |[a, b, _]: [u16; 3]| match mode.format {
        HalfFormat::F16 => add16::<ieee::Half>(a, b),
        HalfFormat::Bf16 => add16::<ieee::BFloat>(a, b),
    };
    apply(mode, [a, b, 0], half, |mode, [a, b, _]| float::add(mode, a, b))
}

/// `a * b` in both halves.
pub(crate) fn mul(mode: HalfMode, a: u32, b: u32) -> u32 {
    let half = |[a, b, _]: [u16; 3]| match mode.format {
        HalfFormat::F16 => mul16::<ieee::Half>(a, b),
        HalfFormat::Bf16 => mul16::<ieee::BFloat>(a, b),
    };
    apply(mode, [a, b, 0], half, |mode, [a, b, _]| float::mul(mode, a, b))
}

/// `a * b + c` in both halves, rounded once.
pub(crate) fn fma(mode: HalfMode, a: u32, b: u32, c: u32) -> u32 {
    let half = |[a, b, c]: [u16; 3]| match mode.format {
        HalfFormat::F16 => fma16::<ieee::Half>(a, b, c),
        HalfFormat::Bf16 => fma16::<ieee::BFloat>(a, b, c),
    };
    apply(mode, [a, b, c], half, |mode, [a, b, c]| float::fma(mode, a, b, c))
}

/// Minimum or maximum of both halves.
pub(crate) fn min_max(format: HalfFormat, min: bool, nan: bool, a: u32, b: u32) -> u32 {
    let wide = of_half(format);
    let each = |shift: u32| {
        let values = [a, b].map(|word| exact(wide, u64::from(word >> shift & 0xffff)) as f32);
        let result = float::min_max(min, nan, values[0], values[1]);
        rounded(wide, Rounding::Nearest, f64::from(result)) as u32
    };
    each(16) << 16 | each(0)
}

/// The comparison of the low and of the high halves.
pub(crate) fn compare(format: HalfFormat, how: FloatCompare, flushed: bool, a: u32, b: u32) -> [bool; 2] {
    let wide: FloatFormat = of_half(format);
    [0, 16].map(|shift| {
        let [a, b] =
            [a, b].map(|word| exact(wide, u64::from(flush(format, flushed, (word >> shift) as u16))));
        float::compare(how, a.partial_cmp(&b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Element;
    use proptest::prelude::*;

    fn half() -> impl Strategy<Value = u16> {
        let special = [0, 1, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7e00];
        let near = (prop::sample::select(special.to_vec()), any::<bool>())
            .prop_map(|(bits, sign)| bits | u16::from(sign) << 15);
        prop_oneof![near, any::<u16>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// The sum of two halves is exact in binary64: rounding it once is right.
        #[test]
        fn binary16(a in half(), b in half()) {
            let element = Element::F16;
            let of = |value: f64| if value.is_nan() { NAN16 } else { element.from_float(value) as u16 };
            let (fa, fb) = (element.to_float(a.into()), element.to_float(b.into()));
            prop_assert_eq!(add16::<ieee::Half>(a, b), of(fa + fb));
            prop_assert_eq!(mul16::<ieee::Half>(a, b), of(fa * fb));
        }

        /// The same of bfloat16 where the host's binary32 is exact enough: whole numbers.
        #[test]
        fn bfloat16(a in -100_i16..100, b in -100_i16..100) {
            let of = |value: i16| ((f32::from(value)).to_bits() >> 16) as u16;
            let sum = f32::from_bits(u32::from(add16::<ieee::BFloat>(of(a), of(b))) << 16);
            prop_assert_eq!(sum, f32::from(a + b));
        }

        /// `.F32` gives what binary32 gives of the low halves.
        #[test]
        fn in_binary32(a in half(), b in half()) {
            let mode = HalfMode {
                format: HalfFormat::F16,
                single: true,
                flush: false,
                limit: HalfLimit::None,
            };
            let value = |bits: u16| Element::F16.to_float(bits.into()) as f32;
            let sum = add(mode, a.into(), b.into());
            let expected = value(a) + value(b);
            prop_assert!(f32::from_bits(sum).to_bits() == expected.to_bits() || expected.is_nan());
        }
    }
}
