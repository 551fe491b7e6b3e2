//! Bit-exact float arithmetic for every format and rounding mode. Each format has one NaN. Subnormals are
//! kept unless the mode flushes them.
//!
//! The host computes binary32 and binary64 with round-to-nearest-even (IEEE 754). Everything else is computed
//! in software.

use super::format::{exact, flushed, limited, nan, one, round_of, rounded, sign_bit};
use super::ones;
use atoms_isa::{FloatMode, FloatOp, FloatTest, FloatType, MinMax, MinMaxOf, MufuFunction, Rounding};
use rustc_apfloat::{Float, ieee};
use std::cmp::Ordering;

/// Computes a float operation; for a packed type, on both elements. With `widen`, computes only the low
/// elements, in binary32. `min` selects minimum instead of maximum.
pub(super) fn float(
    op: FloatOp,
    ty: FloatType,
    mode: FloatMode,
    widen: bool,
    operands: [u64; 3],
    min: bool,
) -> u64 {
    if let Some(half) = ty.half() {
        if widen {
            // Conversion from a half to binary32 is exact.
            let single = |v: u64| u64::from((exact(half, v) as f32).to_bits());
            return float(op, FloatType::F32, mode, false, operands.map(single), min);
        }
        let bits = half.bits();
        let of = |shift: u32| float(op, half, mode, false, operands.map(|v| v >> shift & ones(bits)), min);
        return of(0) | of(bits) << bits;
    }
    let operands = operands.map(|v| flushed(ty, mode.flush, v & ones(ty.bits())));
    let [a, b, c] = operands;
    let round = mode.round;
    let by_host = |f: fn(f64) -> f64| rounded(ty, round, f(exact(ty, a)));
    let result = match op {
        FloatOp::Abs => a & !sign_bit(ty),
        FloatOp::Neg => a ^ sign_bit(ty),
        FloatOp::CopySign => (b & !sign_bit(ty)) | (a & sign_bit(ty)),
        FloatOp::MinMax(how) => {
            let two = min_max(min, how, ty, a, b);
            let three = matches!(how.of, MinMaxOf::Three | MinMaxOf::ThreeMagnitudes);
            if three { min_max(min, how, ty, two, c) } else { two }
        }
        FloatOp::Add => arithmetic(Arithmetic::Add, ty, round, operands),
        FloatOp::Sub => arithmetic(Arithmetic::Sub, ty, round, operands),
        FloatOp::Mul => arithmetic(Arithmetic::Mul, ty, round, operands),
        FloatOp::Fma => arithmetic(Arithmetic::Fma, ty, round, operands),
        FloatOp::Div => arithmetic(Arithmetic::Div, ty, round, operands),
        FloatOp::Rcp | FloatOp::Rsqrt if ty == FloatType::F64 && mode.flush => {
            u64::from(of_high_word(op, (a >> 32) as u32)) << 32
        }
        FloatOp::Rcp => arithmetic(Arithmetic::Div, ty, round, [one(ty), a, 0]),
        FloatOp::Sqrt => sqrt(ty, round, a),
        FloatOp::Rsqrt => by_host(|x| 1.0 / x.sqrt()),
        FloatOp::Sin => by_host(f64::sin),
        FloatOp::Cos => by_host(f64::cos),
        FloatOp::Lg2 => by_host(f64::log2),
        FloatOp::Ex2 => by_host(f64::exp2),
        FloatOp::Tanh => by_host(f64::tanh),
    };
    limited(ty, mode, result)
}

/// Operations that round their result to the format of the operands.
#[derive(Clone, Copy)]
enum Arithmetic {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
}

fn arithmetic(op: Arithmetic, ty: FloatType, round: Rounding, operands: [u64; 3]) -> u64 {
    let bits = match (ty, round) {
        (FloatType::F32, Rounding::Nearest) => {
            let [a, b, c] = operands.map(|v| f32::from_bits(v as u32));
            let result = match op {
                Arithmetic::Sub => a - b,
                Arithmetic::Mul => a * b,
                Arithmetic::Fma => a.mul_add(b, c),
                Arithmetic::Div => a / b,
                Arithmetic::Add => a + b,
            };
            (!result.is_nan()).then_some(result.to_bits().into())
        }
        (FloatType::F64, Rounding::Nearest) => {
            let [a, b, c] = operands.map(f64::from_bits);
            let result = match op {
                Arithmetic::Sub => a - b,
                Arithmetic::Mul => a * b,
                Arithmetic::Fma => a.mul_add(b, c),
                Arithmetic::Div => a / b,
                Arithmetic::Add => a + b,
            };
            (!result.is_nan()).then_some(result.to_bits())
        }
        (FloatType::F32 | FloatType::F32x2, _) => software::<ieee::Single>(op, round, operands),
        (FloatType::F64, _) => software::<ieee::Double>(op, round, operands),
        (FloatType::Bf16 | FloatType::Bf16x2, _) => software::<ieee::BFloat>(op, round, operands),
        (FloatType::F16 | FloatType::F16x2, _) => software::<ieee::Half>(op, round, operands),
    };
    bits.unwrap_or(nan(ty))
}

/// Returns `None` for a NaN.
fn software<F: Float>(op: Arithmetic, round: Rounding, operands: [u64; 3]) -> Option<u64> {
    let [a, b, c] = operands.map(|v| F::from_bits(v.into()));
    let round = round_of(round);
    let result = match op {
        Arithmetic::Sub => a.sub_r(b, round),
        Arithmetic::Mul => a.mul_r(b, round),
        Arithmetic::Fma => a.mul_add_r(b, c, round),
        Arithmetic::Div => a.div_r(b, round),
        Arithmetic::Add => a.add_r(b, round),
    };
    (!result.value.is_nan()).then_some(result.value.to_bits() as u64)
}

/// Square root in any rounding mode, derived from the host's result in round-to-nearest.
pub(super) fn sqrt(ty: FloatType, rounding: Rounding, a: u64) -> u64 {
    let x = exact(ty, a);
    let root = x.sqrt();
    // For square roots of 24-bit significands, binary64 is precise enough to decide the rounding.
    if ty != FloatType::F64 || rounding == Rounding::Nearest || !root.is_normal() {
        return rounded(ty, rounding, root);
    }
    // Scaling by a power of four keeps the residue of very small operands exact.
    let (x, scaled) =
        if x < 2.0_f64.powi(-900) { (x * 2.0_f64.powi(200), root * 2.0_f64.powi(100)) } else { (x, root) };
    let residue = scaled.mul_add(scaled, -x);
    let up = rounding == Rounding::Up;
    match residue.partial_cmp(&0.0) {
        Some(Ordering::Less) if up => root.next_up().to_bits(),
        Some(Ordering::Greater) if !up => root.next_down().to_bits(),
        _ => root.to_bits(),
    }
}

/// Minimum or maximum. A NaN loses to a number unless the NaN mode says otherwise. -0 is less than +0.
fn min_max(min: bool, how: MinMax, ty: FloatType, a: u64, b: u64) -> u64 {
    let sign = sign_bit(ty);
    let signs = (a ^ b) & sign;
    let magnitudes = matches!(how.of, MinMaxOf::TwoMagnitudes | MinMaxOf::ThreeMagnitudes);
    let [x, y] = if magnitudes { [a & !sign, b & !sign] } else { [a, b] };
    let [fx, fy] = [x, y].map(|v| exact(ty, v));
    let chosen = match (fx.is_nan(), fy.is_nan()) {
        (true, true) => return nan(ty),
        (true, _) | (_, true) if how.nan => return nan(ty),
        (true, false) => y,
        (false, true) => x,
        (false, false) if fx.total_cmp(&fy).is_lt() == min => x,
        (false, false) => y,
    };
    if how.of == MinMaxOf::TwoMagnitudes { (chosen & !sign) | signs } else { chosen }
}

/// Compares two floats. `None` if one is a NaN.
pub(super) fn order(ty: FloatType, flush: bool, a: u64, b: u64) -> Option<Ordering> {
    let [a, b] = [a, b].map(|v| exact(ty, flushed(ty, flush, v & ones(ty.bits()))));
    a.partial_cmp(&b)
}

pub(super) fn test(test: FloatTest, ty: FloatType, a: u64) -> bool {
    let a = a & ones(ty.bits());
    let number = exact(ty, a);
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

/// True if a binary32 quotient computed with reciprocal, products and remainders may be wrong. This is the
/// case if an operand is zero, subnormal, infinite or NaN, or if an intermediate result would be subnormal or
/// infinite.
pub(super) fn division_is_hard(a: u32, b: u32) -> bool {
    let exponent = |bits: u32| (bits >> 23 & 0xff) as i32;
    let (ea, eb) = (exponent(a), exponent(b));
    // These ranges keep the reciprocal, the remainder and the quotient normal.
    !(26..=253).contains(&ea) || !(1..=252).contains(&eb) || !(-125..=125).contains(&(ea - eb))
}

/// MUFU: function of a binary32, or of the high word of a binary64.
pub(super) fn mufu(function: MufuFunction, bits: u32) -> u32 {
    let mode = FloatMode { flush: true, ..FloatMode::PLAIN };
    let single = |op: FloatOp| float(op, FloatType::F32, mode, false, [bits.into(), 0, 0], false) as u32;
    let of_turns = |f: fn(f64) -> f64| {
        let turns = exact(FloatType::F32, flushed(FloatType::F32, true, bits.into()));
        let value = rounded(FloatType::F32, Rounding::Nearest, f(std::f64::consts::TAU * turns.fract()));
        flushed(FloatType::F32, true, value) as u32
    };
    match function {
        // One division in the format of the operand, so the result is rounded once.
        MufuFunction::Rcp => single(FloatOp::Rcp),
        MufuFunction::Rsq => single(FloatOp::Rsqrt),
        MufuFunction::Sqrt => single(FloatOp::Sqrt),
        MufuFunction::Ex2 => single(FloatOp::Ex2),
        MufuFunction::Lg2 => single(FloatOp::Lg2),
        MufuFunction::Sin => of_turns(f64::sin),
        MufuFunction::Cos => of_turns(f64::cos),
        // `tanh.approx.f32` compiles to this instruction without further code for subnormals, so the
        // instruction keeps subnormals.
        MufuFunction::Tanh => {
            float(FloatOp::Tanh, FloatType::F32, FloatMode::PLAIN, false, [bits.into(), 0, 0], false) as u32
        }
        MufuFunction::Rcp64High => of_high_word(FloatOp::Rcp, bits),
        MufuFunction::Rsq64High => of_high_word(FloatOp::Rsqrt, bits),
    }
}

/// Computes a function of a binary64 whose low word is zero, and returns the high word of the result. Flushes
/// subnormals, because `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` compile to this instruction without
/// further code.
fn of_high_word(op: FloatOp, bits: u32) -> u32 {
    let whole = flushed(FloatType::F64, true, u64::from(bits) << 32);
    let result = float(op, FloatType::F64, FloatMode::PLAIN, false, [whole, 0, 0], false);
    (flushed(FloatType::F64, true, result) >> 32) as u32
}
