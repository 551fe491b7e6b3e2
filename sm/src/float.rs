//! Float arithmetic, bit for bit: one NaN for each format, subnormals kept unless flushed.
//!
//! The host rounds to nearest even as IEEE asks; other roundings are done in software.

use atoms_isa::{Compare, FloatCompare, FloatFormat, FloatMode, HalfFormat, MufuFunction, Rounding};
use rustc_apfloat::{Float, Round, ieee};
use std::cmp::Ordering;

/// The only NaN that binary32 arithmetic gives. Source: [PTX] floating-point instructions.
pub(crate) const NAN32: u32 = 0x7fff_ffff;
/// The only NaN that packed half arithmetic gives, in either format.
pub(crate) const NAN16: u16 = 0x7fff;
/// The only NaN that binary64 arithmetic gives. Source: chosen, x86's and PTX's default NaN.
const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// The only NaN that is given in a format.
pub(crate) fn nan(format: FloatFormat) -> u64 {
    match format {
        FloatFormat::F16 | FloatFormat::Bf16 => NAN16.into(),
        FloatFormat::F32 => NAN32.into(),
        FloatFormat::F64 => NAN64,
    }
}

/// The format of a half by itself.
pub(crate) fn of_half(format: HalfFormat) -> FloatFormat {
    match format {
        HalfFormat::F16 => FloatFormat::F16,
        HalfFormat::Bf16 => FloatFormat::Bf16,
    }
}

/// The rounding as the software arithmetic names it.
pub(crate) fn round_of(round: Rounding) -> Round {
    match round {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
        Rounding::Zero => Round::TowardZero,
    }
}

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

/// Operands and result as the mode says; `host` rounds to nearest, `software` as it is told.
fn in_mode<const N: usize>(
    mode: FloatMode,
    operands: [f32; N],
    host: impl Fn([f32; N]) -> f32,
    software: impl Fn([ieee::Single; N], Round) -> ieee::Single,
) -> f32 {
    let operands = operands.map(|v| flush_if(mode.flush, v));
    let result = if mode.round == Rounding::Nearest {
        host(operands)
    } else {
        let operands = operands.map(|v| ieee::Single::from_bits(u128::from(v.to_bits())));
        f32::from_bits(software(operands, round_of(mode.round)).to_bits() as u32)
    };
    let result = flush_if(mode.flush, one_nan(result));
    match mode.saturate {
        true if result > 0.0 => result.min(1.0),
        true => 0.0,
        false => result,
    }
}

pub(crate) fn add(mode: FloatMode, a: f32, b: f32) -> f32 {
    in_mode(mode, [a, b], |[a, b]| a + b, |[a, b], round| a.add_r(b, round).value)
}

pub(crate) fn mul(mode: FloatMode, a: f32, b: f32) -> f32 {
    in_mode(mode, [a, b], |[a, b]| a * b, |[a, b], round| a.mul_r(b, round).value)
}

pub(crate) fn fma(mode: FloatMode, a: f32, b: f32, c: f32) -> f32 {
    in_mode(mode, [a, b, c], |[a, b, c]| a.mul_add(b, c), |[a, b, c], round| a.mul_add_r(b, c, round).value)
}

/// Whether the quotient of two binary32 may come out wrong, rounded, from a reciprocal, products and remainders:
/// an operand is zero, subnormal, infinite or NaN, or something on the way would be subnormal or infinite.
pub(crate) fn division_is_hard(a: u32, b: u32) -> bool {
    let exponent = |bits: u32| (bits >> 23 & 0xff) as i32;
    let (ea, eb) = (exponent(a), exponent(b));
    // The reciprocal is normal, the remainder too, and the quotient.
    !(26..=253).contains(&ea) || !(1..=252).contains(&eb) || !(-125..=125).contains(&(ea - eb))
}

/// A function of the multi-function unit: of a binary32, or of the high word of a binary64.
pub(crate) fn mufu(function: MufuFunction, bits: u32) -> u32 {
    let single = |f: &dyn Fn(f64) -> f64| {
        let value = f64::from(flush(f32::from_bits(bits)));
        flush(one_nan(f(value) as f32)).to_bits()
    };
    let turns = |value: f64| std::f64::consts::TAU * value.fract();
    let high = |f: &dyn Fn(f64) -> f64| {
        let value = f64::from_bits(u64::from(bits) << 32);
        (one_nan64(f(value)) >> 32) as u32
    };
    match function {
        // Divided in its own format: rounded once.
        MufuFunction::Rcp => flush(one_nan(1.0 / flush(f32::from_bits(bits)))).to_bits(),
        MufuFunction::Rsq => single(&|x| 1.0 / x.sqrt()),
        MufuFunction::Sqrt => single(&f64::sqrt),
        MufuFunction::Ex2 => single(&f64::exp2),
        MufuFunction::Lg2 => single(&f64::log2),
        MufuFunction::Sin => single(&|x| turns(x).sin()),
        MufuFunction::Cos => single(&|x| turns(x).cos()),
        MufuFunction::Tanh => single(&f64::tanh),
        MufuFunction::Rcp64High => high(&|x| 1.0 / x),
        MufuFunction::Rsq64High => high(&|x| 1.0 / x.sqrt()),
    }
}

/// Minimum or maximum: a NaN loses against a number unless it is to win, and -0 is less than +0.
pub(crate) fn min_max(min: bool, nan: bool, a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => f32::from_bits(NAN32),
        (true, false) | (false, true) if nan => f32::from_bits(NAN32),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let less = a.total_cmp(&b).is_lt();
            if less == min { a } else { b }
        }
    }
}

/// A comparison, from the order of its operands; there is none if one is a NaN.
pub(crate) fn compare(how: FloatCompare, order: Option<Ordering>) -> bool {
    let Some(order) = order else {
        return how.unordered;
    };
    match how.compare {
        // `.NAN` holds for no order.
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

/// As [`in_mode`] for binary64, which is neither flushed nor limited.
fn in_mode64<const N: usize>(
    round: Rounding,
    operands: [u64; N],
    host: impl Fn([f64; N]) -> f64,
    software: impl Fn([ieee::Double; N], Round) -> ieee::Double,
) -> u64 {
    if round == Rounding::Nearest {
        return one_nan64(host(operands.map(f64::from_bits)));
    }
    let operands = operands.map(|v| ieee::Double::from_bits(u128::from(v)));
    one_nan64(f64::from_bits(software(operands, round_of(round)).to_bits() as u64))
}

pub(crate) fn add64(round: Rounding, a: u64, b: u64) -> u64 {
    in_mode64(round, [a, b], |[a, b]| a + b, |[a, b], round| a.add_r(b, round).value)
}

pub(crate) fn mul64(round: Rounding, a: u64, b: u64) -> u64 {
    in_mode64(round, [a, b], |[a, b]| a * b, |[a, b], round| a.mul_r(b, round).value)
}

pub(crate) fn fma64(round: Rounding, a: u64, b: u64, c: u64) -> u64 {
    in_mode64(
        round,
        [a, b, c],
        |[a, b, c]| a.mul_add(b, c),
        |[a, b, c], round| a.mul_add_r(b, c, round).value,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustc_apfloat::ieee::{Double, Single};

    /// Bits near the places where rounding, overflow and underflow change.
    fn single() -> impl Strategy<Value = u32> {
        let special = [0, 1, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000];
        let near = (prop::sample::select(special.to_vec()), any::<bool>(), 0..3_u32)
            .prop_map(|(bits, sign, add)| (bits + add) | u32::from(sign) << 31);
        // Operands of like size, so that sums cancel and round.
        let like = (0x3f00_0000..0x4080_0000_u32, any::<bool>()).prop_map(|(b, s)| b | u32::from(s) << 31);
        prop_oneof![near, like, any::<u32>()]
    }

    fn double() -> impl Strategy<Value = u64> {
        let like = (0x3fe0_0000_0000_0000..0x4010_0000_0000_0000_u64, any::<bool>())
            .prop_map(|(b, s)| b | u64::from(s) << 63);
        prop_oneof![like, any::<u64>()]
    }

    fn reference(value: Single) -> u32 {
        if value.is_nan() { NAN32 } else { value.to_bits() as u32 }
    }

    fn of(bits: u32) -> Single {
        Single::from_bits(bits.into())
    }

    /// The interval that a directed rounding leaves: results of binary64 are closer than those of binary32.
    fn directed(round: Rounding, exact: f64, result: f32) -> bool {
        let result = f64::from(result);
        match round {
            Rounding::Nearest => true,
            Rounding::Down => result <= exact,
            Rounding::Up => result >= exact,
            Rounding::Zero => result.abs() <= exact.abs(),
        }
    }

    const ROUNDINGS: [Rounding; 4] = [Rounding::Nearest, Rounding::Down, Rounding::Up, Rounding::Zero];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// The host's arithmetic is IEEE's, checked against arithmetic in software.
        #[test]
        fn binary32(a in single(), b in single(), c in single()) {
            let round = Round::NearestTiesToEven;
            let [fa, fb, fc] = [a, b, c].map(f32::from_bits);
            let mode = FloatMode::PLAIN;
            prop_assert_eq!(add(mode, fa, fb).to_bits(), reference(of(a).add_r(of(b), round).value));
            prop_assert_eq!(mul(mode, fa, fb).to_bits(), reference(of(a).mul_r(of(b), round).value));
            let fused = of(a).mul_add_r(of(b), of(c), round).value;
            prop_assert_eq!(fma(mode, fa, fb, fc).to_bits(), reference(fused));
        }

        /// The product of two binary32 is exact in binary64: a directed rounding keeps to its side of it, and is
        /// a neighbour of what rounding to nearest gives.
        #[test]
        fn directed_roundings(a in single(), b in single()) {
            let [fa, fb] = [a, b].map(f32::from_bits);
            let exact = f64::from(fa) * f64::from(fb);
            if !exact.is_finite() {
                return Ok(());
            }
            for round in ROUNDINGS {
                let result = mul(FloatMode { round, ..FloatMode::PLAIN }, fa, fb);
                prop_assert!(directed(round, exact, result), "{:?} {} {}", round, exact, result);
                let nearest = exact as f32;
                let close = [nearest, nearest.next_up(), nearest.next_down()].contains(&result);
                prop_assert!(close || nearest.is_infinite(), "{:?} {} {}", round, exact, result);
            }
        }

        #[test]
        fn flushing_and_limiting(a in single(), b in single()) {
            let [fa, fb] = [a, b].map(f32::from_bits);
            let flushed = add(FloatMode { flush: true, ..FloatMode::PLAIN }, fa, fb);
            prop_assert!(!flushed.is_subnormal());
            prop_assert_eq!(flushed.to_bits(), flush(add(FloatMode::PLAIN, flush(fa), flush(fb))).to_bits());
            let limited = mul(FloatMode { saturate: true, ..FloatMode::PLAIN }, fa, fb);
            prop_assert!((0.0..=1.0).contains(&limited), "{}", limited);
        }

        #[test]
        fn binary64(a in double(), b in double(), c in double()) {
            let of = |bits: u64| Double::from_bits(bits.into());
            let expected = |value: Double| if value.is_nan() { NAN64 } else { value.to_bits() as u64 };
            for round in ROUNDINGS {
                let software = round_of(round);
                prop_assert_eq!(add64(round, a, b), expected(of(a).add_r(of(b), software).value));
                prop_assert_eq!(mul64(round, a, b), expected(of(a).mul_r(of(b), software).value));
                prop_assert_eq!(fma64(round, a, b, c), expected(of(a).mul_add_r(of(b), of(c), software).value));
            }
        }

        /// Where the short sequence is let go its way, it gives the quotient: reciprocal, one step of it, quotient,
        /// remainder, correction; as compiled code does.
        #[test]
        fn short_division(a in prop_oneof![single(), 0x0d00_0000_u32..0x7f00_0000], b in prop_oneof![single(), 0x0100_0000_u32..0x7e00_0000]) {
            if division_is_hard(a, b) {
                return Ok(());
            }
            let mode = FloatMode::PLAIN;
            let [fa, fb] = [a, b].map(f32::from_bits);
            let start = f32::from_bits(mufu(MufuFunction::Rcp, b));
            let error = fma(mode, -fb, start, 1.0);
            let reciprocal = fma(mode, start, error, start);
            let quotient = fma(mode, fa, reciprocal, 0.0);
            let remainder = fma(mode, -fb, quotient, fa);
            let better = fma(mode, reciprocal, remainder, quotient);
            let remainder = fma(mode, -fb, better, fa);
            let result = fma(mode, reciprocal, remainder, better);
            prop_assert_eq!(result.to_bits(), (fa / fb).to_bits(), "{} / {}", fa, fb);
        }

        #[test]
        fn extremes(a in single(), b in single()) {
            let [fa, fb] = [a, b].map(f32::from_bits);
            for min in [true, false] {
                let result = min_max(min, false, fa, fb);
                let host = if min { fa.min(fb) } else { fa.max(fb) };
                prop_assert!(result == host || (result.is_nan() && host.is_nan()));
                prop_assert_eq!(min_max(min, true, fa, fb).is_nan(), fa.is_nan() || fb.is_nan());
            }
        }
    }

    #[test]
    fn functions() {
        let of = |function, value: f32| f32::from_bits(mufu(function, value.to_bits()));
        assert_eq!(of(MufuFunction::Rcp, 4.0), 0.25);
        assert_eq!(of(MufuFunction::Rcp, -0.0), f32::NEG_INFINITY);
        assert_eq!(of(MufuFunction::Rcp, f32::from_bits(1)), f32::INFINITY);
        assert_eq!(of(MufuFunction::Rsq, 16.0), 0.25);
        assert_eq!(of(MufuFunction::Sqrt, 2.25), 1.5);
        assert_eq!(of(MufuFunction::Ex2, -3.0), 0.125);
        assert_eq!(of(MufuFunction::Lg2, 8.0), 3.0);
        assert_eq!(of(MufuFunction::Sin, 0.25), 1.0);
        assert_eq!(of(MufuFunction::Cos, 0.5), -1.0);
        assert_eq!(of(MufuFunction::Tanh, 0.0), 0.0);
        assert_eq!(mufu(MufuFunction::Rsq, (-1.0_f32).to_bits()), NAN32);
        assert_eq!(mufu(MufuFunction::Rcp64High, 0x4010_0000), 0x3fd0_0000);
        assert_eq!(mufu(MufuFunction::Rsq64High, 0x4010_0000), 0x3fe0_0000);
    }
}
