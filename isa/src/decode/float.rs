//! Floats: binary32, packed halves, binary64, conversions.

use super::args::{Args, Reading, blank};
use super::arith::combine;
use super::{Decoded, Failure};
use crate::alu::{Alu, AluOp, Compare, FloatCompare, HalfFormat, IntType, MufuFunction, Path};
use crate::instruction::Operation;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    match base {
        "FADD" | "FMUL" => binary(base, args),
        "FFMA" => {
            let flush = args.modifier("FTZ");
            let mut alu = vector(args, AluOp::FFma { flush }, 1)?;
            alu.a = args.source(Reading::F32)?;
            alu.b = args.source(Reading::F32)?;
            alu.c = args.source(Reading::F32)?;
            Ok(Operation::Alu(alu))
        }
        "FSETP" => fsetp(args),
        "FMNMX" | "FSEL" => {
            let flush = args.modifier("FTZ");
            let op = if base == "FSEL" { AluOp::FSelect } else { AluOp::FMinMax { flush } };
            let mut alu = vector(args, op, 1)?;
            alu.a = args.source(Reading::F32)?;
            alu.b = args.source(Reading::F32)?;
            alu.p[0] = args.pred()?;
            Ok(Operation::Alu(alu))
        }
        "MUFU" => {
            if !args.modifier("RCP") {
                return Err(Failure::Lacking);
            }
            let mut alu = vector(args, AluOp::Mufu(MufuFunction::Rcp), 1)?;
            alu.a = args.source(Reading::F32)?;
            Ok(Operation::Alu(alu))
        }
        "I2F" => {
            let kind = if args.modifier("U32") { IntType::U32 } else { IntType::S32 };
            args.ignore(&["S32"]);
            let up = args.modifier("RP");
            let mut alu = vector(args, AluOp::IntToFloat { kind, up }, 1)?;
            alu.a = args.source(Reading::Int)?;
            Ok(Operation::Alu(alu))
        }
        "F2I" => {
            let flush = args.modifier("FTZ");
            let kind = if args.modifier("U32") { IntType::U32 } else { IntType::S32 };
            if !args.modifier("TRUNC") {
                return Err(Failure::Lacking);
            }
            args.ignore(&["NTZ", "S32"]);
            let mut alu = vector(args, AluOp::FloatToInt { kind, flush }, 1)?;
            alu.a = args.source(Reading::F32)?;
            Ok(Operation::Alu(alu))
        }
        "HADD2" | "HMUL2" | "HFMA2" => halves(base, args),
        "DADD" | "DMUL" | "DFMA" => double(base, args),
        _ => Err(Failure::Lacking),
    }
}

fn vector(args: &mut Args<'_, '_>, op: AluOp, registers: u8) -> Decoded<Alu> {
    let mut alu = blank(op, Path::Vector);
    alu.dst = args.dst(Path::Vector, registers)?;
    Ok(alu)
}

/// `FADD[.FTZ] d, a, b`
fn binary(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let flush = args.modifier("FTZ");
    let op = if base == "FADD" { AluOp::FAdd { flush } } else { AluOp::FMul { flush } };
    let mut alu = vector(args, op, 1)?;
    alu.a = args.source(Reading::F32)?;
    alu.b = args.source(Reading::F32)?;
    Ok(Operation::Alu(alu))
}

/// `FSETP.cmp[.FTZ].bool p, q, a, b, p`
fn fsetp(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let compare = args.choose(|name| {
        let (name, unordered) = match name {
            "LTU" | "EQU" | "LEU" | "GTU" | "NEU" | "GEU" => (&name[..2], true),
            _ => (name, false),
        };
        super::arith::compare(name).map(|compare| match compare {
            Compare::True => FloatCompare { compare, unordered: true },
            _ => FloatCompare { compare, unordered },
        })
    });
    let Some(compare) = compare else { return Err(Failure::Lacking) };
    let flush = args.modifier("FTZ");
    let Some(combine) = args.choose(combine) else { return Err(Failure::Lacking) };
    let mut alu = blank(AluOp::FSetP { compare, combine, flush }, Path::Vector);
    alu.pred_dst = [args.pred_dst()?, args.pred_dst()?];
    alu.a = args.source(Reading::F32)?;
    alu.b = args.source(Reading::F32)?;
    alu.p[0] = args.pred()?;
    Ok(Operation::Alu(alu))
}

/// `HADD2[.F32|.BF16_V2] d, a, b`, `HFMA2[.MMA][.BF16_V2] d, a, b, c`
fn halves(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["MMA"]);
    let format = if args.modifier("BF16_V2") { HalfFormat::Bf16 } else { HalfFormat::F16 };
    let op = match base {
        "HADD2" => AluOp::HAdd2(format),
        "HMUL2" => AluOp::HMul2(format),
        _ => AluOp::HFma2(format),
    };
    let bits = move |value: f64| match format {
        HalfFormat::F16 => f16_bits(value),
        HalfFormat::Bf16 => ((value as f32).to_bits() >> 16) as u16,
    };
    let mut alu = vector(args, op, 1)?;
    alu.a = args.source_halves(bits)?;
    alu.b = args.source_halves(bits)?;
    if base == "HFMA2" {
        alu.c = args.source_halves(bits)?;
    }
    Ok(Operation::Alu(alu))
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

fn double(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = match base {
        "DADD" => AluOp::DAdd,
        "DMUL" => AluOp::DMul,
        _ => AluOp::DFma,
    };
    let mut alu = vector(args, op, 2)?;
    alu.a = args.source_pair(Reading::F64)?;
    alu.b = args.source_pair(Reading::F64)?;
    if base == "DFMA" {
        alu.c = args.source_pair(Reading::F64)?;
    }
    Ok(Operation::Alu(alu))
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
