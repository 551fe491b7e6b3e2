//! Formats of floats: their values, and how a value is brought into one.

use super::ones;
use atoms_isa::{FloatMode, Rounding, Type};
use rustc_apfloat::{Float, FloatConvert, Round, ieee};

/// The only NaN that arithmetic gives in a format. Source: [PTX] floating-point instructions; of binary64 chosen, x86's
/// and PTX's default NaN.
pub(super) fn nan(ty: Type) -> u64 {
    match ty {
        Type::F64 => 0x7ff8_0000_0000_0000,
        Type::F32 => 0x7fff_ffff,
        _ => 0x7fff,
    }
}

/// The rounding as the software arithmetic names it.
pub(super) fn round_of(round: Rounding) -> Round {
    match round {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
        Rounding::Zero => Round::TowardZero,
    }
}

pub(super) fn sign_bit(ty: Type) -> u64 {
    1 << (ty.bits() - 1)
}

/// 1.0 in this type.
pub(super) fn one(ty: Type) -> u64 {
    match ty {
        Type::F64 => 1.0_f64.to_bits(),
        Type::F32 => 1.0_f32.to_bits().into(),
        Type::Bf16 | Type::Bf16x2 => 0x3f80,
        _ => 0x3c00,
    }
}

/// What a comparison gives as a value: 1.0 or all ones if it holds.
pub(super) fn truth(to: Type, holds: bool) -> u64 {
    match holds {
        false => 0,
        true if to.float() => one(to),
        true => ones(to.bits()),
    }
}

/// A subnormal becomes zero of its sign, if asked; integers stay.
pub(super) fn flushed(ty: Type, wanted: bool, bits: u64) -> u64 {
    let digits = match ty {
        Type::F64 => 52,
        Type::F32 => 23,
        Type::Bf16 => 7,
        _ => 10,
    };
    let sign = sign_bit(ty);
    let subnormal = (bits & (sign - 1)) >> digits == 0;
    if wanted && subnormal { bits & sign } else { bits }
}

/// Flushes and limits a result as asked.
pub(super) fn limited(ty: Type, mode: FloatMode, bits: u64) -> u64 {
    let mut bits = flushed(ty, mode.flush, bits);
    if !mode.saturate && !mode.relu {
        return bits;
    }
    let number = exact(ty, bits);
    if mode.saturate {
        bits = match number {
            n if n >= 1.0 => one(ty),
            n if n > 0.0 => bits,
            _ => 0,
        };
    }
    if mode.relu && (number < 0.0 || bits == sign_bit(ty)) { 0 } else { bits }
}

/// The value of a float, exactly.
pub(super) fn exact(ty: Type, bits: u64) -> f64 {
    fn widen<F: FloatConvert<ieee::Double>>(bits: u64) -> f64 {
        let mut exact = false;
        f64::from_bits(F::from_bits(u128::from(bits)).convert(&mut exact).value.to_bits() as u64)
    }
    match ty {
        Type::F64 => f64::from_bits(bits),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        Type::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        _ => widen::<ieee::Half>(bits & 0xffff),
    }
}

/// A value in a format: the one NaN that it has, or rounded.
pub(super) fn rounded(ty: Type, round: Rounding, value: f64) -> u64 {
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
        return nan(ty);
    }
    match ty {
        Type::F64 => value.to_bits(),
        Type::F32 if round == Rounding::Nearest => u64::from((value as f32).to_bits()),
        Type::F32 => narrow::<ieee::Single>(round, value),
        Type::Bf16 => narrow::<ieee::BFloat>(round, value),
        _ => narrow::<ieee::Half>(round, value),
    }
}
