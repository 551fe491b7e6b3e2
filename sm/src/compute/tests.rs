//! Compares arithmetic with the host's, and with algebraic identities.

use super::convert::{convert, pack, pack_bytes, unpack_bytes};
use super::float::{division_is_hard, float, mufu, sqrt};
use super::format::{flushed, nan, round_of};
use super::int::int;
use super::ones;
use crate::launch::Element;
use atoms_isa::{
    ByteFloat, FloatMode, FloatOp, FloatType, IntOp, MinMax, MufuFunction, ProductPart, Rounding, Type,
};
use proptest::prelude::*;
use rustc_apfloat::ieee::{self, Double, Single};
use rustc_apfloat::{Float, FloatConvert};

/// Values near the points at which rounding, overflow and underflow change.
fn single() -> impl Strategy<Value = u32> {
    let special = [0, 1, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000];
    let near = (prop::sample::select(special.to_vec()), any::<bool>(), 0..3_u32)
        .prop_map(|(bits, sign, add)| (bits + add) | u32::from(sign) << 31);
    // Operands of similar magnitude, so that sums cancel and round.
    let like = (0x3f00_0000..0x4080_0000_u32, any::<bool>()).prop_map(|(b, s)| b | u32::from(s) << 31);
    prop_oneof![near, like, any::<u32>()]
}

fn double() -> impl Strategy<Value = u64> {
    let like = (0x3fe0_0000_0000_0000..0x4010_0000_0000_0000_u64, any::<bool>())
        .prop_map(|(b, s)| b | u64::from(s) << 63);
    prop_oneof![like, any::<u64>()]
}

fn half() -> impl Strategy<Value = u16> {
    let special = [0, 1, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7e00];
    let near = (prop::sample::select(special.to_vec()), any::<bool>())
        .prop_map(|(bits, sign)| bits | u16::from(sign) << 15);
    prop_oneof![near, any::<u16>()]
}

const ROUNDINGS: [Rounding; 4] = [Rounding::Nearest, Rounding::Down, Rounding::Up, Rounding::Zero];
const N: Rounding = Rounding::Nearest;

fn rounding(round: Rounding) -> FloatMode {
    FloatMode { round, ..FloatMode::PLAIN }
}

fn of(op: FloatOp, ty: FloatType, mode: FloatMode, operands: [u64; 3]) -> u64 {
    float(op, ty, mode, false, operands, false)
}

fn f32_of(op: FloatOp, mode: FloatMode, operands: [f32; 3]) -> f32 {
    f32::from_bits(of(op, FloatType::F32, mode, operands.map(|v| v.to_bits().into())) as u32)
}

/// Checks a directed rounding against a binary64 result, which is more precise than binary32.
fn directed(round: Rounding, exact: f64, result: f32) -> bool {
    let result = f64::from(result);
    match round {
        Rounding::Nearest => true,
        Rounding::Down => result <= exact,
        Rounding::Up => result >= exact,
        Rounding::Zero => result.abs() <= exact.abs(),
    }
}

fn plain(op: IntOp, ty: Type, operands: [u64; 4]) -> u64 {
    int(op, ty, [false; 2], operands, [false; 3], 0).value
}

fn least(op: IntOp, ty: Type, operands: [u64; 4]) -> u64 {
    int(op, ty, [false; 2], operands, [true; 3], 0).value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Host arithmetic equals software IEEE arithmetic.
    #[test]
    fn binary32(a in single(), b in single(), c in single()) {
        let reference = |value: Single| if value.is_nan() { nan(FloatType::F32) } else { value.to_bits() as u64 };
        let round = round_of(N);
        let [x, y, z] = [a, b, c].map(|bits| Single::from_bits(bits.into()));
        let result = |op| of(op, FloatType::F32, FloatMode::PLAIN, [a, b, c].map(u64::from));
        prop_assert_eq!(result(FloatOp::Add), reference(x.add_r(y, round).value));
        prop_assert_eq!(result(FloatOp::Sub), reference(x.sub_r(y, round).value));
        prop_assert_eq!(result(FloatOp::Mul), reference(x.mul_r(y, round).value));
        prop_assert_eq!(result(FloatOp::Div), reference(x.div_r(y, round).value));
        prop_assert_eq!(result(FloatOp::Fma), reference(x.mul_add_r(y, z, round).value));
    }

    /// The product of two binary32 values is exact in binary64. A directed rounding must be on its side of
    /// the product, and adjacent to the result in round-to-nearest.
    #[test]
    fn directed_roundings(a in single(), b in single()) {
        let [fa, fb] = [a, b].map(f32::from_bits);
        let exact = f64::from(fa) * f64::from(fb);
        if !exact.is_finite() {
            return Ok(());
        }
        for round in ROUNDINGS {
            let result = f32_of(FloatOp::Mul, rounding(round), [fa, fb, 0.0]);
            prop_assert!(directed(round, exact, result), "{:?} {} {}", round, exact, result);
            let nearest = exact as f32;
            let close = [nearest, nearest.next_up(), nearest.next_down()].contains(&result);
            prop_assert!(close || nearest.is_infinite(), "{:?} {} {}", round, exact, result);
        }
    }

    #[test]
    fn flushing_and_limiting(a in single(), b in single()) {
        let flush = |v: f32| f32::from_bits(flushed(FloatType::F32, true, v.to_bits().into()) as u32);
        let [fa, fb] = [a, b].map(f32::from_bits);
        let mode = FloatMode { flush: true, ..FloatMode::PLAIN };
        let sum = f32_of(FloatOp::Add, mode, [fa, fb, 0.0]);
        prop_assert!(!sum.is_subnormal());
        let plain = f32_of(FloatOp::Add, FloatMode::PLAIN, [flush(fa), flush(fb), 0.0]);
        prop_assert_eq!(sum.to_bits(), flush(plain).to_bits());
        let mode = FloatMode { saturate: true, ..FloatMode::PLAIN };
        let limited = f32_of(FloatOp::Mul, mode, [fa, fb, 0.0]);
        prop_assert!((0.0..=1.0).contains(&limited), "{}", limited);
    }

    #[test]
    fn binary64(a in double(), b in double(), c in double()) {
        let [x, y, z] = [a, b, c].map(|bits| Double::from_bits(bits.into()));
        let expected = |value: Double| if value.is_nan() { nan(FloatType::F64) } else { value.to_bits() as u64 };
        for round in ROUNDINGS {
            let result = |op| of(op, FloatType::F64, rounding(round), [a, b, c]);
            let software = round_of(round);
            prop_assert_eq!(result(FloatOp::Add), expected(x.add_r(y, software).value));
            prop_assert_eq!(result(FloatOp::Mul), expected(x.mul_r(y, software).value));
            prop_assert_eq!(result(FloatOp::Fma), expected(x.mul_add_r(y, z, software).value));
        }
    }

    /// If `division_is_hard` is false, the short sequence of compiled code gives the quotient: reciprocal,
    /// one Newton step, quotient, remainder, correction.
    #[test]
    fn short_division(a in prop_oneof![single(), 0x0d00_0000_u32..0x7f00_0000], b in prop_oneof![single(), 0x0100_0000_u32..0x7e00_0000]) {
        if division_is_hard(a, b) {
            return Ok(());
        }
        let fma = |a, b, c| f32_of(FloatOp::Fma, FloatMode::PLAIN, [a, b, c]);
        let [fa, fb] = [a, b].map(f32::from_bits);
        let start = f32::from_bits(mufu(MufuFunction::Rcp, b));
        let error = fma(-fb, start, 1.0);
        let reciprocal = fma(start, error, start);
        let quotient = fma(fa, reciprocal, 0.0);
        let remainder = fma(-fb, quotient, fa);
        let better = fma(reciprocal, remainder, quotient);
        let remainder = fma(-fb, better, fa);
        let result = fma(reciprocal, remainder, better);
        prop_assert_eq!(result.to_bits(), (fa / fb).to_bits(), "{} / {}", fa, fb);
    }

    #[test]
    fn extremes(a in single(), b in single()) {
        let [fa, fb] = [a, b].map(f32::from_bits);
        for min in [true, false] {
            let pick = |nan| {
                let op = FloatOp::MinMax(MinMax { nan, ..MinMax::default() });
                let operands = [a.into(), b.into(), 0];
                f32::from_bits(float(op, FloatType::F32, FloatMode::PLAIN, false, operands, min) as u32)
            };
            let host = if min { fa.min(fb) } else { fa.max(fb) };
            prop_assert!(pick(false) == host || (pick(false).is_nan() && host.is_nan()));
            prop_assert_eq!(pick(true).is_nan(), fa.is_nan() || fb.is_nan());
        }
    }

    /// The sum of two halves is exact in binary64, so one rounding gives the reference.
    #[test]
    fn binary16(a in half(), b in half()) {
        let element = Element::F16;
        let expected = |value: f64| if value.is_nan() { nan(FloatType::F16) } else { element.from_float(value) };
        let (fa, fb) = (element.to_float(a.into()), element.to_float(b.into()));
        let both = [a, b, 0].map(|v| u64::from(v) << 16 | u64::from(v));
        for (op, value) in [(FloatOp::Add, fa + fb), (FloatOp::Mul, fa * fb)] {
            let result = of(op, FloatType::F16x2, FloatMode::PLAIN, both);
            prop_assert_eq!((result >> 16, result & 0xffff), (expected(value), expected(value)));
        }
    }

    /// Same for bfloat16, with integers, for which the host's binary32 is exact.
    #[test]
    fn bfloat16(a in -100_i16..100, b in -100_i16..100) {
        let bits = |value: i16| u64::from((f32::from(value)).to_bits() >> 16);
        let sum = of(FloatOp::Add, FloatType::Bf16, FloatMode::PLAIN, [bits(a), bits(b), 0]);
        prop_assert_eq!(f32::from_bits((sum as u32) << 16), f32::from(a + b));
    }

    /// `.F32` gives the binary32 result of the low halves.
    #[test]
    fn in_binary32(a in half(), b in half()) {
        let value = |bits: u16| Element::F16.to_float(bits.into()) as f32;
        let operands = [a.into(), b.into(), 0];
        let sum = float(FloatOp::Add, FloatType::F16x2, FloatMode::PLAIN, true, operands, false) as u32;
        let expected = value(a) + value(b);
        prop_assert!(sum == expected.to_bits() || expected.is_nan());
    }

    /// The square of a root rounded in a direction is on that side of the operand; the square of its
    /// neighbour is on the other side.
    #[test]
    fn directed_roots(bits in 1..0x7ff0_0000_0000_0000_u64) {
        let wide = |bits: u64| -> ieee::Quad { Double::from_bits(bits.into()).convert(&mut false).value };
        let exact = |root: u64| (wide(root) * wide(root)).value.partial_cmp(&wide(bits));
        use std::cmp::Ordering::{Equal, Greater, Less};
        let down = sqrt(FloatType::F64, Rounding::Down, bits);
        let up = sqrt(FloatType::F64, Rounding::Up, bits);
        prop_assert!(matches!(exact(down), Some(Less | Equal)), "{down:#x}");
        prop_assert!(matches!(exact(up), Some(Greater | Equal)), "{up:#x}");
        prop_assert!(up == down || up == down + 1);
    }

    /// The host's casts also round to nearest and saturate.
    #[test]
    fn as_the_host(bits in any::<u64>(), value in any::<f32>(), double in any::<f64>()) {
        let of = |from, to, bits| convert(from, to, FloatMode::PLAIN, false, false, bits);
        let to_f32 = |from| of(from, Type::F32, bits) as u32;
        prop_assert_eq!(to_f32(Type::U32), (bits as u32 as f32).to_bits());
        prop_assert_eq!(to_f32(Type::S32), (bits as i32 as f32).to_bits());
        prop_assert_eq!(to_f32(Type::U64), (bits as f32).to_bits());
        prop_assert_eq!(to_f32(Type::S64), (bits as i64 as f32).to_bits());
        prop_assert_eq!(of(Type::U64, Type::F64, bits), (bits as f64).to_bits());
        prop_assert_eq!(of(Type::S64, Type::F64, bits), (bits as i64 as f64).to_bits());
        let cut = |from, to, bits| convert(from, to, rounding(Rounding::Zero), false, true, bits);
        let single = u64::from(value.to_bits());
        prop_assert_eq!(cut(Type::F32, Type::U32, single), u64::from(value as u32));
        prop_assert_eq!(cut(Type::F32, Type::S32, single) as u32, value as i32 as u32);
        prop_assert_eq!(cut(Type::F64, Type::U64, double.to_bits()), double as u64);
        prop_assert_eq!(cut(Type::F64, Type::S64, double.to_bits()), double as i64 as u64);
        if !double.is_nan() {
            prop_assert_eq!(of(Type::F64, Type::F32, double.to_bits()), u64::from((double as f32).to_bits()));
        }
        if !value.is_nan() {
            prop_assert_eq!(of(Type::F32, Type::F64, single), f64::from(value).to_bits());
        }
    }

    /// Rounding up gives the smallest float that is not below the value, rounding down the largest that is
    /// not above.
    #[test]
    fn rounding_up_and_down(value in any::<u32>()) {
        let of = |round| {
            f32::from_bits(convert(Type::U32, Type::F32, rounding(round), false, false, value.into()) as u32)
        };
        let (up, down) = (of(Rounding::Up), of(Rounding::Down));
        prop_assert!(f64::from(up) >= f64::from(value) && f64::from(down) <= f64::from(value));
        prop_assert!(f64::from(up.next_down()) < f64::from(value) || value == 0);
        prop_assert!(f64::from(down.next_up()) > f64::from(value));
        prop_assert_eq!(of(Rounding::Zero), down);
    }

    #[test]
    fn halves(a in -70000.0_f32..70000.0, b in -1.0e-4_f32..1.0e-4) {
        let [high, low] = [a, b].map(|v| u64::from(v.to_bits()));
        let word = pack(FloatType::F16, FloatMode::PLAIN, high, low);
        prop_assert_eq!(word >> 16, Element::F16.from_float(a.into()));
        prop_assert_eq!(word & 0xffff, Element::F16.from_float(b.into()));
        let mode = FloatMode { relu: true, ..FloatMode::PLAIN };
        let not_a_number = f32::NAN.to_bits().into();
        let relu = pack(FloatType::Bf16, mode, high, not_a_number);
        prop_assert_eq!(relu & 0xffff, nan(FloatType::Bf16));
        prop_assert!(a > 0.0 || relu >> 16 == 0);
    }

    #[test]
    fn whole_numbers(value in -1.0e10_f64..1.0e10) {
        let of = |round| f64::from_bits(convert(Type::F64, Type::F64, rounding(round), true, false, value.to_bits()));
        prop_assert_eq!(of(Rounding::Zero), value.trunc());
        prop_assert_eq!(of(Rounding::Down), value.floor());
        prop_assert_eq!(of(Rounding::Up), value.ceil());
        prop_assert_eq!(of(N), value.round_ties_even());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn integers(a in any::<u64>(), b in any::<u64>(), c in any::<u64>(), by in 0..200_u32) {
        use ProductPart::{High, Low, Wide};
        let of = |op, ty| plain(op, ty, [a, b, c, 0]);
        let (sa, sb, sc) = (a as i32, b as i32, c as i32);
        let (ua, ub) = (a as u32, b as u32);
        let word = |v: i32| u64::from(v as u32);
        prop_assert_eq!(of(IntOp::Add, Type::S32), word(sa.wrapping_add(sb)));
        prop_assert_eq!(of(IntOp::Sub, Type::U64), a.wrapping_sub(b));
        prop_assert_eq!(of(IntOp::Mul(Low), Type::U64), a.wrapping_mul(b));
        prop_assert_eq!(of(IntOp::Mul(High), Type::U64), ((u128::from(a) * u128::from(b)) >> 64) as u64);
        prop_assert_eq!(of(IntOp::Mul(Wide), Type::S32), (i64::from(sa) * i64::from(sb)) as u64);
        prop_assert_eq!(of(IntOp::Mad(Low), Type::S32), word(sa.wrapping_mul(sb).wrapping_add(sc)));
        prop_assert_eq!(least(IntOp::MinMax, Type::S64, [a, b, c, 0]), (a as i64).min(b as i64) as u64);
        prop_assert_eq!(of(IntOp::MinMax, Type::U16), u64::from((a as u16).max(b as u16)));
        prop_assert_eq!(of(IntOp::Popc, Type::B32), u64::from(ua.count_ones()));
        prop_assert_eq!(of(IntOp::Clz, Type::B64), u64::from(a.leading_zeros()));
        prop_assert_eq!(of(IntOp::Div, Type::S32), word(sa.checked_div(sb).unwrap_or(i32::MIN)));
        prop_assert_eq!(of(IntOp::Rem, Type::U32), u64::from(ua.checked_rem(ub).unwrap_or(ua)));
        let shifted = |op, ty| plain(op, ty, [a, by.into(), 0, 0]);
        prop_assert_eq!(shifted(IntOp::Shl, Type::B64), a.checked_shl(by).unwrap_or(0));
        prop_assert_eq!(shifted(IntOp::Shr, Type::U32), u64::from(ua.checked_shr(by).unwrap_or(0)));
        prop_assert_eq!(shifted(IntOp::Shr, Type::S64), ((a as i64) >> by.min(63)) as u64);
        let saturated = int(IntOp::Add, Type::S32, [true, false], [a, b, 0, 0], [false; 3], 0).value;
        prop_assert_eq!(saturated, word(sa.saturating_add(sb)));
    }

    /// A sum with carry of two words equals the sum in twice the width.
    #[test]
    fn carries_go_on(a in any::<u64>(), b in any::<u64>(), c in any::<u64>(), d in any::<u64>()) {
        let [high, low] = [(a, c), (b, d)].map(|(a, b)| [a, b, 0, 0]);
        for (op, whole) in [
            (IntOp::Add3, (u128::from(a) << 64 | u128::from(b)).wrapping_add(u128::from(c) << 64 | u128::from(d))),
            (IntOp::SubBorrow, (u128::from(a) << 64 | u128::from(b)).wrapping_sub(u128::from(c) << 64 | u128::from(d))),
        ] {
            let low = int(op, Type::U64, [false; 2], low, [false; 3], 0);
            let high = int(op, Type::U64, [false; 2], high, [low.preds[0], false, false], 0);
            prop_assert_eq!(u128::from(high.value) << 64 | u128::from(low.value), whole);
        }
    }

    #[test]
    fn fields(a in any::<u64>(), b in any::<u64>(), first in 0..64_u64, count in 0..65_u64) {
        let put = plain(IntOp::Bfi, Type::B64, [a, b, first, count]);
        let there = (64 - first).min(count) as u32;
        let taken = plain(IntOp::Bfe, Type::U64, [put, first, count, 0]);
        prop_assert_eq!(taken, a & ones(there));
        let mask = ones(there) << first;
        prop_assert_eq!(put & !mask, b & !mask);
    }
}

/// Decodes the magnitude of a byte format from its fields. `None` for a NaN.
fn magnitude(format: ByteFloat, code: u64) -> Option<f64> {
    let (digits, bias) = if format == ByteFloat::E4m3 { (3, 7) } else { (2, 15) };
    let exponent = (code >> digits) as i32;
    let fraction = (code & ((1 << digits) - 1)) as f64 / f64::from(1 << digits);
    match (format, code) {
        (ByteFloat::E4m3, 0x7f) | (ByteFloat::E5m2, 0x7d..) => None,
        (ByteFloat::E5m2, 0x7c) => Some(f64::INFINITY),
        _ if exponent == 0 => Some(fraction * 2.0_f64.powi(1 - bias)),
        _ => Some((1.0 + fraction) * 2.0_f64.powi(exponent - bias)),
    }
}

/// Finds the nearest finite byte value by exhaustive search. Ties go to the even code.
fn nearest_byte(format: ByteFloat, value: f64) -> u64 {
    if value.is_nan() {
        return 0x7f;
    }
    let distances = (0..0x80).filter_map(|code| {
        let finite = magnitude(format, code).filter(|magnitude| magnitude.is_finite())?;
        Some(((finite - value.abs().min(1e9)).abs(), code & 1, code))
    });
    let (.., code) = distances.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).unwrap();
    code | u64::from(value.is_sign_negative()) << 7
}

const BYTES: [ByteFloat; 2] = [ByteFloat::E4m3, ByteFloat::E5m2];

#[test]
fn every_byte_becomes_its_half() {
    for (format, code) in BYTES.into_iter().flat_map(|format| (0..0x100).map(move |code| (format, code))) {
        let word = unpack_bytes(format, false, code << 8 | code);
        let half = word & 0xffff;
        assert_eq!(word >> 16, half);
        let expected = match magnitude(format, code & 0x7f) {
            None => 0x7fff,
            Some(value) => Element::F16.from_float(value) | (code & 0x80) << 8,
        };
        assert_eq!(half, expected, "{format:?} {code:#x}");
        let relu = unpack_bytes(format, true, code) & 0xffff;
        assert_eq!(relu, if half >> 15 == 1 { 0 } else { half }, "{format:?} {code:#x}");
    }
}

#[test]
fn every_half_becomes_the_nearest_byte() {
    for (format, half) in BYTES.into_iter().flat_map(|format| (0..0x1_0000).map(move |half| (format, half))) {
        let expected = nearest_byte(format, Element::F16.to_float(half));
        let word = pack_bytes(format, FloatType::F16x2, false, [half << 16 | half, 0, 0xabcd]);
        assert_eq!(word, 0xabcd_0000 | expected << 8 | expected, "{format:?} {half:#x}");
    }
}

#[test]
fn singles_around_every_middle_become_the_nearest_byte() {
    for (format, code) in BYTES.into_iter().flat_map(|format| (0..0x7e).map(move |code| (format, code))) {
        let neighbours = [code, code + 1].map(|code| magnitude(format, code));
        let [Some(below), Some(above)] = neighbours else { continue };
        let middle = if above.is_finite() { ((below + above) / 2.0) as f32 } else { f32::MAX };
        for value in [middle, middle.next_up(), middle.next_down(), -middle, middle.next_up() * 1.5] {
            let expected = nearest_byte(format, value.into());
            let word = pack_bytes(format, FloatType::F32, false, [value.to_bits().into(), 0, 0]);
            assert_eq!(word, expected << 8, "{format:?} {value}");
            let relu = pack_bytes(format, FloatType::F32, true, [0, value.to_bits().into(), 0]);
            assert_eq!(relu, if value < 0.0 { 0 } else { expected }, "{format:?} {value}");
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
    assert_eq!(u64::from(mufu(MufuFunction::Rsq, (-1.0_f32).to_bits())), nan(FloatType::F32));
    assert_eq!(mufu(MufuFunction::Rcp64High, 0x4010_0000), 0x3fd0_0000);
    assert_eq!(mufu(MufuFunction::Rsq64High, 0x4010_0000), 0x3fe0_0000);
}

#[test]
fn what_is_no_number() {
    let single = u64::from(f32::NAN.to_bits());
    let to_int = |from, to, zero, bits| convert(from, to, FloatMode::PLAIN, false, zero, bits);
    assert_eq!(to_int(Type::F32, Type::S32, true, single), 0);
    assert_eq!(to_int(Type::F32, Type::S32, false, single) as u32, 0x8000_0000);
    assert_eq!(to_int(Type::F64, Type::U64, false, f64::NAN.to_bits()), 1 << 63);
    assert_eq!(to_int(Type::F32, Type::F16, false, single), 0x7fff);
}
