//! Float arithmetic of every format and rounding.

use crate::{convert, float as single};
use atoms_isa::ptx::Type;
use atoms_isa::{FloatCompare, FloatFormat, FloatMode, FloatOp, FloatTest, MinMax, Rounding};
use rustc_apfloat::{Float, ieee};

/// What is done to operands and results besides rounding.
#[derive(Clone, Copy, Default)]
pub(super) struct After {
    /// Subnormals become zero.
    pub(super) flush: bool,
    /// Limited to 0.0 to 1.0; NaN becomes 0.
    pub(super) saturate: bool,
    /// What is negative becomes 0.
    pub(super) relu: bool,
}

pub(super) const fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64 | Type::F16x2 | Type::Bf16x2)
}

/// Type of the halves of a packed type.
pub(super) const fn half_of(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    }
}

/// Format of a float; none of an integer or a packed type.
pub(super) const fn format(ty: Type) -> Option<FloatFormat> {
    Some(match ty {
        Type::F16 => FloatFormat::F16,
        Type::Bf16 => FloatFormat::Bf16,
        Type::F32 => FloatFormat::F32,
        Type::F64 => FloatFormat::F64,
        _ => return None,
    })
}

/// As [`format`]; translation lets no other type come here.
const fn format_of(ty: Type) -> FloatFormat {
    match format(ty) {
        Some(format) => format,
        None => FloatFormat::F16,
    }
}

fn nan(ty: Type) -> u64 {
    single::nan(format_of(ty))
}

fn sign_bit(ty: Type) -> u64 {
    1 << (ty.bits() - 1)
}

/// 1.0 in this type.
fn one(ty: Type) -> u64 {
    match ty {
        Type::F64 => 1.0_f64.to_bits(),
        Type::F32 => 1.0_f32.to_bits().into(),
        Type::Bf16 => 0x3f80,
        _ => 0x3c00,
    }
}

/// What `set` gives: 1.0 or all ones if it holds.
pub(super) fn truth(to: Type, holds: bool) -> u64 {
    match to {
        _ if !holds => 0,
        Type::F16x2 => one(Type::F16),
        Type::Bf16x2 => one(Type::Bf16),
        Type::F16 | Type::Bf16 | Type::F32 | Type::F64 => one(to),
        _ => super::ones(to.bits()),
    }
}

/// The value, which binary64 holds exactly.
fn value(ty: Type, bits: u64) -> f64 {
    convert::exact(format_of(ty), bits)
}

/// Bits of a value, rounded once; a NaN is the one of the type.
fn bits(ty: Type, rounding: Rounding, value: f64) -> u64 {
    convert::rounded(format_of(ty), rounding, value)
}

/// A subnormal becomes zero of its sign.
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

/// Limits a result as asked.
pub(super) fn limited(ty: Type, after: After, bits: u64) -> u64 {
    let mut bits = flushed(ty, after.flush, bits);
    let number = value(ty, bits);
    if after.saturate {
        bits = match number {
            n if n >= 1.0 => one(ty),
            n if n > 0.0 => bits,
            _ => 0,
        };
    }
    if after.relu && (number < 0.0 || bits == sign_bit(ty)) { 0 } else { bits }
}

/// The operation, in both halves of a packed type.
pub(super) fn float(op: FloatOp, ty: Type, rounding: Rounding, after: After, operands: [u64; 3]) -> u64 {
    if let Some(half) = half_of(ty) {
        let of = |shift: u32| float(op, half, rounding, after, operands.map(|v| v >> shift & 0xffff));
        return of(0) | of(16) << 16;
    }
    let [a, b, c] = operands.map(|v| flushed(ty, after.flush, v & super::ones(ty.bits())));
    let result = match op {
        FloatOp::Abs => a & !sign_bit(ty),
        FloatOp::Neg => a ^ sign_bit(ty),
        FloatOp::CopySign => (b & !sign_bit(ty)) | (a & sign_bit(ty)),
        FloatOp::Min(how) => min_max(true, how, ty, a, b),
        FloatOp::Max(how) => min_max(false, how, ty, a, b),
        FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma | FloatOp::Div => {
            arithmetic(op, ty, rounding, a, b, c)
        }
        FloatOp::Rcp => arithmetic(FloatOp::Div, ty, rounding, one(ty), a, 0),
        FloatOp::Sqrt => sqrt(ty, rounding, a),
        FloatOp::Rsqrt => bits(ty, rounding, 1.0 / value(ty, a).sqrt()),
        FloatOp::Sin => bits(ty, rounding, value(ty, a).sin()),
        FloatOp::Cos => bits(ty, rounding, value(ty, a).cos()),
        FloatOp::Lg2 => bits(ty, rounding, value(ty, a).log2()),
        FloatOp::Ex2 => bits(ty, rounding, value(ty, a).exp2()),
        FloatOp::Tanh => bits(ty, rounding, value(ty, a).tanh()),
    };
    limited(ty, after, result)
}

fn arithmetic(op: FloatOp, ty: Type, round: Rounding, a: u64, b: u64, c: u64) -> u64 {
    let [fa, fb, fc] = [a, b, c].map(|v| f32::from_bits(v as u32));
    let mode = FloatMode { round, ..FloatMode::PLAIN };
    match (ty, op) {
        (Type::F32, FloatOp::Add) => single::add(mode, fa, fb).to_bits().into(),
        (Type::F32, FloatOp::Sub) => single::add(mode, fa, -fb).to_bits().into(),
        (Type::F32, FloatOp::Mul) => single::mul(mode, fa, fb).to_bits().into(),
        (Type::F32, FloatOp::Fma) => single::fma(mode, fa, fb, fc).to_bits().into(),
        (Type::F64, FloatOp::Add) => single::add64(round, a, b),
        (Type::F64, FloatOp::Sub) => single::add64(round, a, b ^ sign_bit(ty)),
        (Type::F64, FloatOp::Mul) => single::mul64(round, a, b),
        (Type::F64, FloatOp::Fma) => single::fma64(round, a, b, c),
        (Type::F64, _) => software::<ieee::Double>(op, round, ty, a, b, c),
        (Type::F32, _) => software::<ieee::Single>(op, round, ty, a, b, c),
        (Type::Bf16, _) => software::<ieee::BFloat>(op, round, ty, a, b, c),
        _ => software::<ieee::Half>(op, round, ty, a, b, c),
    }
}

fn software<F: Float>(op: FloatOp, rounding: Rounding, ty: Type, a: u64, b: u64, c: u64) -> u64 {
    let [a, b, c] = [a, b, c].map(|v| F::from_bits(v.into()));
    let round = single::round_of(rounding);
    let result = match op {
        FloatOp::Sub => a.sub_r(b, round),
        FloatOp::Mul => a.mul_r(b, round),
        FloatOp::Fma => a.mul_add_r(b, c, round),
        FloatOp::Div => a.div_r(b, round),
        _ => a.add_r(b, round),
    };
    if result.value.is_nan() { nan(ty) } else { result.value.to_bits() as u64 }
}

/// Square root of any rounding, from the host's to nearest.
fn sqrt(ty: Type, rounding: Rounding, a: u64) -> u64 {
    let x = value(ty, a);
    // The root of a number of 24 digits is no closer to another such than binary64 can tell.
    if ty != Type::F64 || rounding == Rounding::Nearest {
        return bits(ty, rounding, x.sqrt());
    }
    let root = x.sqrt();
    if !root.is_normal() {
        return bits(ty, rounding, root);
    }
    // A power of four more keeps the residue of the least numbers exact.
    let (x, scaled) =
        if x < 2.0_f64.powi(-900) { (x * 2.0_f64.powi(200), root * 2.0_f64.powi(100)) } else { (x, root) };
    let residue = scaled.mul_add(scaled, -x);
    let up = rounding == Rounding::Up;
    match residue.partial_cmp(&0.0) {
        Some(std::cmp::Ordering::Less) if up => root.next_up().to_bits(),
        Some(std::cmp::Ordering::Greater) if !up => root.next_down().to_bits(),
        _ => root.to_bits(),
    }
}

fn min_max(min: bool, how: MinMax, ty: Type, a: u64, b: u64) -> u64 {
    let sign = sign_bit(ty);
    let signs = (a ^ b) & sign;
    let [x, y] = if how.xor_sign_abs { [a & !sign, b & !sign] } else { [a, b] };
    let [fx, fy] = [x, y].map(|v| value(ty, v));
    let chosen = match (fx.is_nan(), fy.is_nan()) {
        (true, true) => return nan(ty),
        (true, _) | (_, true) if how.nan => return nan(ty),
        (true, false) => y,
        (false, true) => x,
        // -0 is less than +0.
        (false, false) if fx.total_cmp(&fy).is_lt() == min => x,
        (false, false) => y,
    };
    if how.xor_sign_abs { chosen | signs } else { chosen }
}

pub(super) fn compare(how: FloatCompare, ty: Type, flush: bool, a: u64, b: u64) -> bool {
    let [a, b] = [a, b].map(|v| value(ty, flushed(ty, flush, v & super::ones(ty.bits()))));
    single::compare(how, a.partial_cmp(&b))
}

pub(super) fn test(test: FloatTest, ty: Type, a: u64) -> bool {
    let a = a & super::ones(ty.bits());
    let number = value(ty, a);
    let subnormal = flushed(ty, true, a) != a;
    match test {
        FloatTest::Finite => number.is_finite(),
        FloatTest::Infinite => number.is_infinite(),
        FloatTest::Normal => number.is_finite() && !subnormal,
        FloatTest::Number => !number.is_nan(),
        FloatTest::NotANumber => number.is_nan(),
        FloatTest::Subnormal => subnormal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// A directed root squared lies on its side of the number, and its neighbour on the other.
        #[test]
        fn directed_roots(bits in 1..0x7ff0_0000_0000_0000_u64) {
            let exact = |root: u64| {
                let mut lossless = false;
                let wide: ieee::Quad =
                    rustc_apfloat::FloatConvert::convert(ieee::Double::from_bits(root.into()), &mut lossless).value;
                let of: ieee::Quad =
                    rustc_apfloat::FloatConvert::convert(ieee::Double::from_bits(bits.into()), &mut lossless).value;
                (wide * wide).value.partial_cmp(&of)
            };
            use std::cmp::Ordering::{Equal, Greater, Less};
            let down = sqrt(Type::F64, Rounding::Down, bits);
            let up = sqrt(Type::F64, Rounding::Up, bits);
            prop_assert!(matches!(exact(down), Some(Less | Equal)), "{down:#x}");
            prop_assert!(matches!(exact(up), Some(Greater | Equal)), "{up:#x}");
            prop_assert!(up == down || up == down + 1);
        }
    }
}
