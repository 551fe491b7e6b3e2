//! Conversions between integers and floats, and among each.

use super::args::{Args, Reading, blank};
use super::arith::path_of;
use super::float::{float_mode, result, rounding};
use super::{Decoded, Failure};
use crate::kernel::alu::{AluOp, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{FloatFormat, HalfFormat, IntSize, Rounding};
use crate::kernel::source::Source;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = path_of(base);
    match name {
        "I2F" | "I2FP" => int_to_float(args, path),
        "F2I" => float_to_int(args, path),
        "F2F" => float_to_float(args, path),
        "F2FP" => pack_halves(args, path),
        "FRND" => round_float(args, path),
        "I2I" => int_to_int(args, path),
        _ => Err(Failure::Lacking),
    }
}

fn float_format(name: &str) -> Option<FloatFormat> {
    Some(match name {
        "F16" => FloatFormat::F16,
        "BF16" => FloatFormat::Bf16,
        "F32" => FloatFormat::F32,
        "F64" => FloatFormat::F64,
        _ => return None,
    })
}

fn int_size(name: &str) -> Option<IntSize> {
    let (bits, signed) = match name {
        "U8" => (8, false),
        "S8" => (8, true),
        "U16" => (16, false),
        "S16" => (16, true),
        "U32" => (32, false),
        "S32" => (32, true),
        "U64" => (64, false),
        "S64" => (64, true),
        _ => return None,
    };
    Some(IntSize { bits, signed })
}

const S32: IntSize = IntSize { bits: 32, signed: true };

fn float_source(args: &mut Args<'_, '_>, format: FloatFormat) -> Decoded<Source> {
    match format {
        FloatFormat::F64 => args.source_pair(Reading::F64),
        FloatFormat::F32 => args.source(Reading::F32),
        FloatFormat::F16 | FloatFormat::Bf16 => args.source(Reading::Int),
    }
}

/// `I2F[.to][.from][.RP] d, a`, `I2FP.F32.from d, a`
fn int_to_float(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let to = args.choose(float_format).unwrap_or(FloatFormat::F32);
    let from = args.choose(int_size).unwrap_or(S32);
    let round = rounding(args);
    let op = AluOp::IntToFloat { from, to, round };
    let mut alu = result(args, op, path, if to.wide() { 2 } else { 1 })?;
    alu.a = if from.bits == 64 { args.source_pair(Reading::Int64)? } else { args.source(Reading::Int)? };
    Ok(Operation::Alu(alu))
}

/// To a whole number: `.TRUNC`, `.FLOOR`, `.CEIL`; to the nearest without, or with `.ROUND`.
fn whole(args: &mut Args<'_, '_>) -> Rounding {
    args.choose(|m| match m {
        "TRUNC" => Some(Rounding::Zero),
        "FLOOR" => Some(Rounding::Down),
        "CEIL" => Some(Rounding::Up),
        "ROUND" => Some(Rounding::Nearest),
        _ => None,
    })
    .unwrap_or(Rounding::Nearest)
}

/// `F2I[.FTZ][.to][.from][.TRUNC][.NTZ] d, a`
fn float_to_int(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let flush = args.modifier("FTZ");
    let to = args.choose(int_size).unwrap_or(S32);
    let from = args.choose(float_format).unwrap_or(FloatFormat::F32);
    let round = whole(args);
    let nan_to_zero = args.modifier("NTZ");
    let op = AluOp::FloatToInt { from, to, round, flush, nan_to_zero };
    let mut alu = result(args, op, path, if to.bits == 64 { 2 } else { 1 })?;
    alu.a = float_source(args, from)?;
    Ok(Operation::Alu(alu))
}

/// `F2F.to.from[.FTZ][.RM][.SAT] d, a`
fn float_to_float(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let to = args.choose(float_format).ok_or(Failure::Lacking)?;
    let from = args.choose(float_format).ok_or(Failure::Lacking)?;
    let mode = float_mode(args);
    let op = AluOp::FloatToFloat { from, to, mode };
    let mut alu = result(args, op, path, if to.wide() { 2 } else { 1 })?;
    alu.a = float_source(args, from)?;
    Ok(Operation::Alu(alu))
}

/// `F2FP[.F16|.BF16][.F32].PACK_AB[.RZ][.RELU] d, a, b`: `a` goes to the high half.
fn pack_halves(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    if !args.modifier("PACK_AB") {
        return Err(Failure::Lacking);
    }
    let format = if args.modifier("BF16") { HalfFormat::Bf16 } else { HalfFormat::F16 };
    args.ignore(&["F16", "F32"]);
    let (round, relu) = (rounding(args), args.modifier("RELU"));
    let mut alu = result(args, AluOp::PackHalves { format, round, relu }, path, 1)?;
    alu.a = args.source(Reading::F32)?;
    alu.b = args.source(Reading::F32)?;
    Ok(Operation::Alu(alu))
}

/// `FRND[.F64][.FTZ][.TRUNC] d, a`
fn round_float(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let format = args.choose(float_format).unwrap_or(FloatFormat::F32);
    let flush = args.modifier("FTZ");
    let round = whole(args);
    let op = AluOp::FRound { format, round, flush };
    let mut alu = result(args, op, path, if format.wide() { 2 } else { 1 })?;
    alu.a = float_source(args, format)?;
    Ok(Operation::Alu(alu))
}

/// `I2I.to.from[.SAT] d, a`
fn int_to_int(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let narrow = |size: IntSize| (size.bits < 64).then_some(size).ok_or(Failure::Lacking);
    let to = args.choose(int_size).ok_or(Failure::Lacking).and_then(narrow)?;
    let from = args.choose(int_size).unwrap_or(S32);
    let from = narrow(from)?;
    let saturate = args.modifier("SAT");
    let mut alu = blank(AluOp::IntToInt { from, to, saturate }, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}
