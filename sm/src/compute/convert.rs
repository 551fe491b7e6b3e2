//! Conversions between integer and float types. Source: [PTX] cvt.

use super::format::{exact, flushed, limited, nan, round_of, rounded};
use super::{int, ones};
use atoms_isa::{ByteFloat, FloatMode, FloatType, Rounding, Type};
use rustc_apfloat::{Float, ieee};

fn int_to_float(to: FloatType, round: Rounding, number: i128) -> u64 {
    fn of<F: Float>(round: Rounding, number: i128) -> u64 {
        F::from_i128_r(number, round_of(round)).value.to_bits() as u64
    }
    match to {
        FloatType::F64 => of::<ieee::Double>(round, number),
        FloatType::F32 if round == Rounding::Nearest => u64::from((number as f32).to_bits()),
        FloatType::F32 | FloatType::F32x2 => of::<ieee::Single>(round, number),
        FloatType::Bf16 | FloatType::Bf16x2 => of::<ieee::BFloat>(round, number),
        FloatType::F16 | FloatType::F16x2 => of::<ieee::Half>(round, number),
    }
}

fn to_whole(round: Rounding, value: f64) -> f64 {
    match round {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        Rounding::Zero => value.trunc(),
    }
}

/// Converts a float to an integer, saturated to the range of the type.
fn float_to_int(to: Type, round: Rounding, nan_to_zero: bool, value: f64) -> u64 {
    if value.is_nan() {
        let zero = nan_to_zero || to.bits() < 32;
        return if zero { 0 } else { 1 << (to.bits() - 1) };
    }
    // The cast saturates to the range of i128, which contains every target type.
    int::limited(to, to_whole(round, value) as i128) as u64
}

/// Converts `a` to another type. A signed result is sign-extended to 64 bits, because its register may be
/// wider than the type.
pub(super) fn convert(
    from: Type,
    to: Type,
    mode: FloatMode,
    integral: bool,
    nan_to_zero: bool,
    a: u64,
) -> u64 {
    // Only binary32 has a flush mode.
    let flush = |ty: FloatType, bits: u64| flushed(ty, mode.flush && ty == FloatType::F32, bits);
    let Some(float) = from.as_float() else {
        let number = int::number(from, a);
        return match (to.as_float(), mode.saturate) {
            (Some(to), _) => limited(to, mode, int_to_float(to, mode.round, number)),
            (None, true) => extended(to, int::limited(to, number) as u64),
            (None, false) => extended(to, number as u64),
        };
    };
    if (from, to, mode) == (Type::Bf16, Type::F32, FloatMode::PLAIN) && !integral {
        // Conversion from bf16 to binary32 is a shift, as in compiled code of every architecture, so a NaN
        // keeps its bits.
        return (a & 0xffff) << 16;
    }
    let value = exact(float, flush(float, a & ones(from.bits())));
    let Some(to) = to.as_float() else {
        return extended(to, float_to_int(to, mode.round, nan_to_zero, value));
    };
    // A float rounded to a whole number has an exact representation in every format.
    let (value, round) = match integral {
        true => (to_whole(mode.round, value).copysign(value), Rounding::Nearest),
        false => (value, mode.round),
    };
    let value = match mode.saturate {
        true if value > 0.0 => value.min(1.0),
        true => 0.0,
        false => value,
    };
    let mode = FloatMode { relu: mode.relu, ..FloatMode::PLAIN };
    limited(to, mode, flush(to, rounded(to, round, value)))
}

fn extended(ty: Type, bits: u64) -> u64 {
    let width = ty.bits().min(64);
    if ty.signed() { ((bits << (64 - width)) as i64 >> (64 - width)) as u64 } else { bits & ones(width) }
}

/// Packs two binary32 values as halves, `a` in the high half.
pub(super) fn pack(half: FloatType, mode: FloatMode, a: u64, b: u64) -> u64 {
    let [high, low] = [a, b].map(|bits| convert(Type::F32, half.into(), mode, false, false, bits));
    high << 16 | low
}

/// Packs two values as bytes, `a` high, under the low half of `c`. `a` and `b` are binary32, or `a` holds two
/// binary16.
pub(super) fn pack_bytes(to: ByteFloat, from: FloatType, relu: bool, [a, b, c]: [u64; 3]) -> u64 {
    let values = if from == FloatType::F32 { [a, b] } else { [a >> 16, a] };
    let half = from.half().unwrap_or(from);
    let [high, low] = values.map(|bits| byte_of(to, relu, exact(half, bits & ones(half.bits()))));
    (c & 0xffff) << 16 | high << 8 | low
}

pub(super) fn unpack_bytes(from: ByteFloat, relu: bool, a: u64) -> u64 {
    let mode = FloatMode { relu, ..FloatMode::PLAIN };
    let half = |byte: u64| {
        // The bits of an e4m3 value, shifted into a binary16, represent the value times 2^-8: the exponent
        // bias is 7 in e4m3 and 15 in binary16.
        let bits = match from {
            ByteFloat::E5m2 => byte << 8,
            ByteFloat::E4m3 if byte & 0x7f == 0x7f => nan(FloatType::F16),
            ByteFloat::E4m3 => {
                let magnitude = exact(FloatType::F16, (byte & 0x7f) << 7) * 256.0;
                rounded(FloatType::F16, Rounding::Nearest, magnitude) | (byte & 0x80) << 8
            }
        };
        let bits = if exact(FloatType::F16, bits).is_nan() { nan(FloatType::F16) } else { bits };
        limited(FloatType::F16, mode, bits)
    };
    half(a >> 8 & 0xff) << 16 | half(a & 0xff)
}

/// Rounds to the nearest value of the format, saturated to its largest finite value.
fn byte_of(to: ByteFloat, relu: bool, value: f64) -> u64 {
    let (digits, least_exponent, greatest) = match to {
        ByteFloat::E4m3 => (3, -6, 0x7e),
        ByteFloat::E5m2 => (2, -14, 0x7b),
    };
    if value.is_nan() {
        return 0x7f;
    }
    if relu && value.is_sign_negative() {
        return 0;
    }
    let magnitude = value.abs().min(65536.0);
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least_exponent);
    let units = (magnitude * f64::from(digits - exponent).exp2()).round_ties_even();
    // Each power of two covers 2^`digits` codes.
    let codes = units as u64 + (((exponent - least_exponent) as u64) << digits);
    codes.min(greatest) | u64::from(value.is_sign_negative()) << 7
}

pub(super) fn to_half_toward_zero(bits: u64) -> u64 {
    let mode = FloatMode { round: Rounding::Zero, ..FloatMode::PLAIN };
    convert(Type::F32, Type::F16, mode, false, false, bits)
}
