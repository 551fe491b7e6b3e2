//! Float arithmetic, bit for bit: to nearest even, subnormals kept unless flushed, one NaN.

use atoms_isa::{Compare, FloatCompare, HalfFormat};
use rustc_apfloat::{Float, Round, ieee};

/// The only NaN that binary32 arithmetic gives. Source: [PTX] floating-point instructions.
const NAN32: u32 = 0x7fff_ffff;
/// The only NaN that packed half arithmetic gives, in either format.
const NAN16: u16 = 0x7fff;
/// The only NaN that binary64 arithmetic gives. Source: chosen, x86's and PTX's default NaN.
const NAN64: u64 = 0x7ff8_0000_0000_0000;

fn one_nan(value: f32) -> f32 {
    if value.is_nan() { f32::from_bits(NAN32) } else { value }
}

fn one_nan64(value: f64) -> u64 {
    if value.is_nan() { NAN64 } else { value.to_bits() }
}

/// A subnormal becomes zero of the same sign.
pub(crate) fn flush(value: f32) -> f32 {
    if value.is_subnormal() { 0.0_f32.copysign(value) } else { value }
}

/// Flushes if asked to.
pub(crate) fn flush_if(wanted: bool, value: f32) -> f32 {
    if wanted { flush(value) } else { value }
}

pub(crate) fn add(a: f32, b: f32) -> f32 {
    one_nan(a + b)
}

pub(crate) fn mul(a: f32, b: f32) -> f32 {
    one_nan(a * b)
}

pub(crate) fn fma(a: f32, b: f32, c: f32) -> f32 {
    one_nan(a.mul_add(b, c))
}

/// Reciprocal to nearest even. The GPU's is within one unit in the last place of it. [CHOSEN]
pub(crate) fn rcp(a: f32) -> f32 {
    flush(one_nan(1.0 / flush(a)))
}

/// Minimum or maximum: a NaN loses against a number, and -0 is less than +0.
pub(crate) fn min_max(min: bool, a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => f32::from_bits(NAN32),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let less = a.total_cmp(&b).is_lt();
            if less == min { a } else { b }
        }
    }
}

pub(crate) fn compare(how: FloatCompare, a: f32, b: f32) -> bool {
    let Some(order) = a.partial_cmp(&b) else {
        return how.unordered;
    };
    match how.compare {
        Compare::False => false,
        Compare::Lt => order.is_lt(),
        Compare::Eq => order.is_eq(),
        Compare::Le => order.is_le(),
        Compare::Gt => order.is_gt(),
        Compare::Ne => order.is_ne(),
        Compare::Ge => order.is_ge(),
        Compare::True => true,
    }
}

pub(crate) fn add64(a: u64, b: u64) -> u64 {
    one_nan64(f64::from_bits(a) + f64::from_bits(b))
}

pub(crate) fn mul64(a: u64, b: u64) -> u64 {
    one_nan64(f64::from_bits(a) * f64::from_bits(b))
}

pub(crate) fn fma64(a: u64, b: u64, c: u64) -> u64 {
    one_nan64(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)))
}

/// An integer as binary32, to nearest even or up.
pub(crate) fn from_int(value: i64, up: bool) -> f32 {
    let nearest = value as f32;
    if up && (nearest as i64) < value { nearest.next_up() } else { nearest }
}

fn halves(a: u32, b: u32, c: u32, each: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let low = each(a as u16, b as u16, c as u16);
    let high = each((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
    u32::from(high) << 16 | u32::from(low)
}

fn bits16<F: Float>(value: F) -> u16 {
    if value.is_nan() { NAN16 } else { value.to_bits() as u16 }
}

fn add16<F: Float>(a: u16, b: u16) -> u16 {
    let sum = F::from_bits(a.into()).add_r(F::from_bits(b.into()), Round::NearestTiesToEven);
    bits16(sum.value)
}

fn mul16<F: Float>(a: u16, b: u16) -> u16 {
    let product = F::from_bits(a.into()).mul_r(F::from_bits(b.into()), Round::NearestTiesToEven);
    bits16(product.value)
}

fn fma16<F: Float>(a: u16, b: u16, c: u16) -> u16 {
    let (b, c) = (F::from_bits(b.into()), F::from_bits(c.into()));
    bits16(F::from_bits(a.into()).mul_add_r(b, c, Round::NearestTiesToEven).value)
}

pub(crate) fn halves_add(format: HalfFormat, a: u32, b: u32) -> u32 {
    match format {
        HalfFormat::F16 => halves(a, b, 0, |a, b, _| add16::<ieee::Half>(a, b)),
        HalfFormat::Bf16 => halves(a, b, 0, |a, b, _| add16::<ieee::BFloat>(a, b)),
    }
}

pub(crate) fn halves_mul(format: HalfFormat, a: u32, b: u32) -> u32 {
    match format {
        HalfFormat::F16 => halves(a, b, 0, |a, b, _| mul16::<ieee::Half>(a, b)),
        HalfFormat::Bf16 => halves(a, b, 0, |a, b, _| mul16::<ieee::BFloat>(a, b)),
    }
}

pub(crate) fn halves_fma(format: HalfFormat, a: u32, b: u32, c: u32) -> u32 {
    match format {
        HalfFormat::F16 => halves(a, b, c, fma16::<ieee::Half>),
        HalfFormat::Bf16 => halves(a, b, c, fma16::<ieee::BFloat>),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustc_apfloat::ieee::{Double, Half, Single};

    /// Bits near the places where rounding, overflow and underflow change.
    fn single() -> impl Strategy<Value = u32> {
        let special = [0, 1, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000];
        let near = (prop::sample::select(special.to_vec()), any::<bool>(), 0..3_u32)
            .prop_map(|(bits, sign, add)| (bits + add) | u32::from(sign) << 31);
        // Operands of like size, so that sums cancel and round.
        let like = (0x3f00_0000..0x4080_0000_u32, any::<bool>()).prop_map(|(b, s)| b | u32::from(s) << 31);
        prop_oneof![near, like, any::<u32>()]
    }

    fn half() -> impl Strategy<Value = u16> {
        let special = [0, 1, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7e00];
        let near = (prop::sample::select(special.to_vec()), any::<bool>())
            .prop_map(|(bits, sign)| bits | u16::from(sign) << 15);
        prop_oneof![near, any::<u16>()]
    }

    fn reference(value: Single) -> u32 {
        if value.is_nan() { NAN32 } else { value.to_bits() as u32 }
    }

    fn of(bits: u32) -> Single {
        Single::from_bits(bits.into())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// The host's arithmetic is IEEE's, checked against arithmetic in software.
        #[test]
        fn binary32(a in single(), b in single(), c in single()) {
            let round = Round::NearestTiesToEven;
            let [fa, fb, fc] = [a, b, c].map(f32::from_bits);
            prop_assert_eq!(add(fa, fb).to_bits(), reference(of(a).add_r(of(b), round).value));
            prop_assert_eq!(mul(fa, fb).to_bits(), reference(of(a).mul_r(of(b), round).value));
            prop_assert_eq!(fma(fa, fb, fc).to_bits(), reference(of(a).mul_add_r(of(b), of(c), round).value));
        }

        #[test]
        fn binary64(a in any::<u64>(), b in any::<u64>()) {
            let of = |bits: u64| Double::from_bits(bits.into());
            let sum = of(a).add_r(of(b), Round::NearestTiesToEven).value;
            prop_assert_eq!(add64(a, b), if sum.is_nan() { NAN64 } else { sum.to_bits() as u64 });
        }

        /// The sum of two halves is exact in binary64: rounding it once is right.
        #[test]
        fn binary16(a in half(), b in half()) {
            let element = crate::element::Element::F16;
            let sum = element.to_float(a.into()) + element.to_float(b.into());
            let expected = if sum.is_nan() { NAN16 } else { element.from_float(sum) as u16 };
            prop_assert_eq!(add16::<Half>(a, b), expected);
            let product = element.to_float(a.into()) * element.to_float(b.into());
            let expected = if product.is_nan() { NAN16 } else { element.from_float(product) as u16 };
            prop_assert_eq!(mul16::<Half>(a, b), expected);
        }

        /// Up means: the least float that is not below.
        #[test]
        fn rounding_up(value in any::<u32>()) {
            let up = from_int(value.into(), true);
            prop_assert!(f64::from(up) >= f64::from(value));
            prop_assert!(f64::from(up.next_down()) < f64::from(value) || value == 0);
        }
    }
}
