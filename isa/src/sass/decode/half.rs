//! Packed halves.

use super::args::Args;
use super::float::comparison;
use super::{Decoded, Failure};
use crate::kernel::compute::{ComparePart, Compute, ComputeOp, FloatOp, MinMax, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{FloatMode, Rounding, Type};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["MMA"]);
    let ty = if args.modifier("BF16_V2") { Type::Bf16x2 } else { Type::F16x2 };
    let bits = move |value: f64| match ty {
        Type::Bf16x2 => ((value as f32).to_bits() >> 16) as u16,
        _ => f16_bits(value),
    };
    let path = Path::Vector;
    let mut compute = match base {
        "HADD2" | "HMUL2" | "HFMA2" => {
            let op = match base {
                "HADD2" => FloatOp::Add,
                "HMUL2" => FloatOp::Mul,
                _ => FloatOp::Fma,
            };
            let op = arithmetic(args, op, ty);
            args.result(op, path, false)?
        }
        "HMNMX2" => {
            let how = MinMax { nan: args.modifier("NAN"), xor_sign_abs: false };
            args.result(ComputeOp::float(FloatOp::MinMax(how), ty, FloatMode::PLAIN), path, false)?
        }
        "HSETP2" => {
            let (compare, combine) = comparison(args)?;
            let flush = args.modifier("FTZ");
            let part = if args.modifier("H_AND") { ComparePart::BothHalves } else { ComparePart::Whole };
            let op = ComputeOp::Compare { compare, ty, combine, flush, result: None, part };
            let pred_dst = [args.pred_dst()?, args.pred_dst()?];
            Compute { pred_dst, ..Compute::new(op, path) }
        }
        "HSET2" => {
            let result = Some(if args.modifier("BF") { ty } else { Type::U16 });
            let (compare, combine) = comparison(args)?;
            let (flush, part) = (args.modifier("FTZ"), ComparePart::Whole);
            let op = ComputeOp::Compare { compare, ty, combine, flush, result, part };
            args.result(op, path, false)?
        }
        _ => return Err(Failure::Lacking),
    };
    compute.sources[0] = args.source_halves(bits)?;
    compute.sources[1] = args.source_halves(bits)?;
    match base {
        "HFMA2" => compute.sources[2] = args.source_halves(bits)?,
        "HMNMX2" | "HSETP2" | "HSET2" => compute.p[0] = args.pred()?,
        _ => {}
    }
    Ok(Operation::Compute(compute))
}

/// `[.F32][.FTZ][.SAT|.RELU]`
fn arithmetic(args: &mut Args<'_, '_>, op: FloatOp, ty: Type) -> ComputeOp {
    let (saturate, relu) = (args.modifier("SAT"), args.modifier("RELU"));
    let (widen, flush) = (args.modifier("F32"), args.modifier("FTZ"));
    let mode = FloatMode { round: Rounding::Nearest, flush, saturate, relu: relu && !saturate };
    ComputeOp::Float { op, ty, mode, widen }
}

/// Bits of a binary16 that text states exactly; what it cannot hold is cut off.
fn f16_bits(value: f64) -> u16 {
    let sign = ((value.to_bits() >> 48) & 0x8000) as u16;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7fff;
    }
    if magnitude >= 65536.0 {
        return sign | 0x7c00;
    }
    // Multiples of 2^-24 below 2^-14, else ten bits after the leading one.
    let exponent = (((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(-14);
    let units = (magnitude * f64::from(10 - exponent).exp2()) as u16;
    sign | (units + (((exponent + 14) as u16) << 10))
}

#[cfg(test)]
mod tests {
    use super::f16_bits;

    #[test]
    fn binary16_of_text() {
        let cases = [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (9.5367431640625e-07, 0x0010),
            (6.103515625e-05, 0x0400),
            (1023.0 / 16_777_216.0, 0x03ff),
            (f64::INFINITY, 0x7c00),
        ];
        for (value, bits) in cases {
            assert_eq!(f16_bits(value), bits, "{value}");
        }
    }
}
