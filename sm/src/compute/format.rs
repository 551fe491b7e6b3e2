//! Float formats: conversion from and to exact values.

use super::ones;
use atoms_isa::{FloatMode, FloatType, Rounding, Type};
use rustc_apfloat::{Float, FloatConvert, Round, ieee};

/// Canonical NaN of a format, the only NaN that arithmetic returns. Source: [PTX] floating-point
/// instructions. For binary64, the value is a choice: the default NaN of x86 and PTX.
pub(super) fn nan(ty: FloatType) -> u64 {
    match ty {
        FloatType::F64 => 0x7ff8_0000_0000_0000,
        FloatType::F32 | FloatType::F32x2 => 0x7fff_ffff,
        FloatType::F16 | FloatType::F16x2 | FloatType::Bf16 | FloatType::Bf16x2 => 0x7fff,
    }
}

pub(super) fn round_of(round: Rounding) -> Round {
    match round {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
        Rounding::Zero => Round::TowardZero,
    }
}

pub(super) fn sign_bit(ty: FloatType) -> u64 {
    1 << (ty.bits() - 1)
}

pub(super) fn one(ty: FloatType) -> u64 {
    match ty {
        FloatType::F64 => 1.0_f64.to_bits(),
        FloatType::F32 | FloatType::F32x2 => 1.0_f32.to_bits().into(),
        FloatType::Bf16 | FloatType::Bf16x2 => 0x3f80,
        FloatType::F16 | FloatType::F16x2 => 0x3c00,
    }
}

/// Value of a comparison result: 1.0 or all ones for true, 0 for false.
pub(super) fn truth(to: Type, holds: bool) -> u64 {
    match (holds, to.as_float()) {
        (false, _) => 0,
        (true, Some(float)) => one(float),
        (true, None) => ones(to.bits()),
    }
}

/// Replaces a subnormal by a zero of the same sign, if `wanted`.
pub(super) fn flushed(ty: FloatType, wanted: bool, bits: u64) -> u64 {
    let digits = match ty {
        FloatType::F64 => 52,
        FloatType::F32 | FloatType::F32x2 => 23,
        FloatType::Bf16 | FloatType::Bf16x2 => 7,
        FloatType::F16 | FloatType::F16x2 => 10,
    };
    let sign = sign_bit(ty);
    let subnormal = (bits & (sign - 1)) >> digits == 0;
    if wanted && subnormal { bits & sign } else { bits }
}

/// Applies flush, saturation and relu of the mode.
pub(super) fn limited(ty: FloatType, mode: FloatMode, bits: u64) -> u64 {
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

pub(super) fn exact(ty: FloatType, bits: u64) -> f64 {
    fn widen<F: FloatConvert<ieee::Double>>(bits: u64) -> f64 {
        let mut exact = false;
        f64::from_bits(F::from_bits(u128::from(bits)).convert(&mut exact).value.to_bits() as u64)
    }
    match ty {
        FloatType::F64 => f64::from_bits(bits),
        FloatType::F32 | FloatType::F32x2 => f64::from(f32::from_bits(bits as u32)),
        FloatType::Bf16 | FloatType::Bf16x2 => f64::from(f32::from_bits((bits as u32) << 16)),
        FloatType::F16 | FloatType::F16x2 => widen::<ieee::Half>(bits & 0xffff),
    }
}

/// Rounds a value to a format. A NaN becomes the canonical NaN.
pub(super) fn rounded(ty: FloatType, round: Rounding, value: f64) -> u64 {
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
        FloatType::F64 => value.to_bits(),
        FloatType::F32 | FloatType::F32x2 if round == Rounding::Nearest => {
            u64::from((value as f32).to_bits())
        }
        FloatType::F32 | FloatType::F32x2 => narrow::<ieee::Single>(round, value),
        FloatType::Bf16 | FloatType::Bf16x2 => narrow::<ieee::BFloat>(round, value),
        FloatType::F16 | FloatType::F16x2 => narrow::<ieee::Half>(round, value),
    }
}
