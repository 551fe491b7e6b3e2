//! Decoders of arithmetic on packed 16-bit floats.

use super::Decoded;
use super::args::Args;
use super::float::comparison;
use crate::kernel::compute::{ComparePart, Compute, ComputeOp, FloatOp, MinMax};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{FloatMode, FloatType, Rounding, Type};

fn format(args: &mut Args<'_, '_>) -> FloatType {
    args.ignore(&["MMA"]);
    if args.modifier("BF16_V2") { FloatType::Bf16x2 } else { FloatType::F16x2 }
}

fn halves<const N: usize>(args: &mut Args<'_, '_>, ty: FloatType, mut compute: Compute) -> Decoded<Compute> {
    let bits = |value: f64| match ty {
        FloatType::Bf16x2 => ((value as f32).to_bits() >> 16) as u16,
        _ => f16_bits(value),
    };
    for source in compute.sources.iter_mut().take(N) {
        *source = args.source_halves(bits)?;
    }
    Ok(compute)
}

/// Decodes `HADD2[.F32][.FTZ][.SAT|.RELU] d, a, b`, `HFMA2... d, a, b, c`
pub(super) fn arithmetic<const N: usize>(args: &mut Args<'_, '_>, op: FloatOp) -> Decoded<Operation> {
    let ty = format(args);
    let (saturate, relu) = (args.modifier("SAT"), args.modifier("RELU"));
    let (widen, flush) = (args.modifier("F32"), args.modifier("FTZ"));
    let mode = FloatMode { round: Rounding::Nearest, flush, saturate, relu: relu && !saturate };
    let compute = args.result(ComputeOp::Float { op, ty, mode, widen }, false)?;
    halves::<N>(args, ty, compute).map(Operation::Compute)
}

fn chosen(args: &mut Args<'_, '_>, ty: FloatType, compute: Compute) -> Decoded<Operation> {
    let mut compute = halves::<2>(args, ty, compute)?;
    compute.p[0] = args.pred()?;
    Ok(Operation::Compute(compute))
}

/// Decodes `HMNMX2[.FTZ][.NAN] d, a, b, p`
pub(super) fn hmnmx2(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = format(args);
    let how = MinMax { nan: args.modifier("NAN"), ..MinMax::default() };
    let mode = FloatMode { flush: args.modifier("FTZ"), ..FloatMode::PLAIN };
    let compute = args.result(ComputeOp::float(FloatOp::MinMax(how), ty, mode), false)?;
    chosen(args, ty, compute)
}

/// Decodes `HSETP2.cmp.bool[.FTZ][.H_AND] p, q, a, b, p`
pub(super) fn hsetp2(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = format(args);
    let (compare, combine) = comparison(args)?;
    let flush = args.modifier("FTZ");
    let part = if args.modifier("H_AND") { ComparePart::BothHalves } else { ComparePart::Whole };
    let op = ComputeOp::Compare { compare, ty: ty.into(), combine, flush, result: None, part };
    let compute = args.pred_results(op)?;
    chosen(args, ty, compute)
}

/// Decodes `HSET2[.BF].cmp.bool[.FTZ] d, a, b, p`
pub(super) fn hset2(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = format(args);
    let result = Some(if args.modifier("BF") { ty.into() } else { Type::U16 });
    let (compare, combine) = comparison(args)?;
    let (flush, part) = (args.modifier("FTZ"), ComparePart::Whole);
    let compute =
        args.result(ComputeOp::Compare { compare, ty: ty.into(), combine, flush, result, part }, false)?;
    chosen(args, ty, compute)
}

/// Converts a number in the text to binary16. The text is exact; if it has more bits than binary16, these are
/// truncated.
fn f16_bits(value: f64) -> u16 {
    let sign = ((value.to_bits() >> 48) & 0x8000) as u16;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7fff;
    }
    if magnitude >= 65536.0 {
        return sign | 0x7c00;
    }
    // Below 2^-14, the lowest bit of a binary16 is 2^-24. Above, the lowest bit is ten bits below the leading
    // one.
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
