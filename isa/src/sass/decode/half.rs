//! Packed halves.

use super::args::{Args, blank};
use super::float::{comparison, result};
use super::{Decoded, Failure};
use crate::kernel::alu::{AluOp, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{HalfFormat, HalfLimit, HalfMode};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["MMA"]);
    let format = if args.modifier("BF16_V2") { HalfFormat::Bf16 } else { HalfFormat::F16 };
    let bits = move |value: f64| match format {
        HalfFormat::F16 => f16_bits(value),
        HalfFormat::Bf16 => ((value as f32).to_bits() >> 16) as u16,
    };
    let path = Path::Vector;
    let mut alu = match base {
        "HADD2" | "HMUL2" | "HFMA2" => {
            let mode = mode(args, format);
            let op = match base {
                "HADD2" => AluOp::HAdd2(mode),
                "HMUL2" => AluOp::HMul2(mode),
                _ => AluOp::HFma2(mode),
            };
            result(args, op, path, 1)?
        }
        "HMNMX2" => {
            let nan = args.modifier("NAN");
            result(args, AluOp::HMinMax2 { format, nan }, path, 1)?
        }
        "HSETP2" => {
            let (compare, combine) = comparison(args)?;
            let (flush, both) = (args.modifier("FTZ"), args.modifier("H_AND"));
            let mut alu = blank(AluOp::HSetP2 { format, compare, combine, both, flush }, path);
            alu.pred_dst = [args.pred_dst()?, args.pred_dst()?];
            alu
        }
        "HSET2" => {
            let one = args.modifier("BF");
            let (compare, combine) = comparison(args)?;
            let flush = args.modifier("FTZ");
            result(args, AluOp::HSet2 { format, compare, combine, flush, one }, path, 1)?
        }
        _ => return Err(Failure::Lacking),
    };
    alu.a = args.source_halves(bits)?;
    alu.b = args.source_halves(bits)?;
    match base {
        "HFMA2" => alu.c = args.source_halves(bits)?,
        "HMNMX2" | "HSETP2" | "HSET2" => alu.p[0] = args.pred()?,
        _ => {}
    }
    Ok(Operation::Alu(alu))
}

/// `[.F32][.FTZ][.SAT|.RELU]`
fn mode(args: &mut Args<'_, '_>, format: HalfFormat) -> HalfMode {
    let limit = match (args.modifier("SAT"), args.modifier("RELU")) {
        (true, _) => HalfLimit::Saturate,
        (_, true) => HalfLimit::Relu,
        _ => HalfLimit::None,
    };
    HalfMode { format, single: args.modifier("F32"), flush: args.modifier("FTZ"), limit }
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
