//! Decoders of conversions between and among integers and floats.

use super::args::{Args, Reading};
use super::arith::number_type;
use super::float::{float_mode, rounding};
use super::{Decoded, Failure};
use crate::kernel::compute::ComputeOp;
use crate::kernel::instruction::Operation;
use crate::kernel::number::{ByteFloat, FloatMode, FloatType, Rounding, Type};

/// Decodes `I2F[.to][.from][.RP] d, a`, `I2FP.F32.from d, a`
pub(super) fn to_float(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let to = args.choose(float).unwrap_or(Type::F32);
    let from = args.choose(int).unwrap_or(Type::S32);
    let mode = FloatMode { round: rounding(args), ..FloatMode::PLAIN };
    convert(args, from, to, mode, false)
}

/// Decodes `F2I[.FTZ][.to][.from][.TRUNC][.NTZ] d, a`
pub(super) fn to_int(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let flush = args.modifier("FTZ");
    let to = args.choose(int).unwrap_or(Type::S32);
    let from = args.choose(float).unwrap_or(Type::F32);
    let mode = FloatMode { round: whole(args), flush, ..FloatMode::PLAIN };
    convert(args, from, to, mode, false)
}

/// Decodes `F2F.to.from[.FTZ][.RM][.SAT] d, a`
pub(super) fn between_floats(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let to = args.choose(float).ok_or(Failure::Unsupported)?;
    let from = args.choose(float).ok_or(Failure::Unsupported)?;
    let mode = float_mode(args);
    convert(args, from, to, mode, false)
}

/// Decodes `FRND[.F64][.FTZ][.TRUNC] d, a`
pub(super) fn round(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = args.choose(float).unwrap_or(Type::F32);
    let flush = args.modifier("FTZ");
    let mode = FloatMode { round: whole(args), flush, ..FloatMode::PLAIN };
    convert(args, ty, ty, mode, true)
}

/// Decodes `I2I.to.from[.SAT] d, a`
pub(super) fn between_ints(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let narrow = |ty: Type| if ty.wide() { Err(Failure::Unsupported) } else { Ok(ty) };
    let to = args.choose(int).ok_or(Failure::Unsupported).and_then(narrow)?;
    let from = narrow(args.choose(int).unwrap_or(Type::S32))?;
    let mode = FloatMode { saturate: args.modifier("SAT"), ..FloatMode::PLAIN };
    convert(args, from, to, mode, false)
}

fn float(name: &str) -> Option<Type> {
    number_type(name).filter(|ty| ty.float())
}

fn int(name: &str) -> Option<Type> {
    number_type(name).filter(|ty| !ty.float())
}

fn convert(
    args: &mut Args<'_, '_>,
    from: Type,
    to: Type,
    mode: FloatMode,
    integral: bool,
) -> Decoded<Operation> {
    let nan_to_zero = from.float() && !to.float() && args.modifier("NTZ");
    let op = ComputeOp::Convert { from, to, mode, integral, nan_to_zero };
    let mut compute = args.result(op, to.wide())?;
    args.sources_of::<1>(from, &mut compute)?;
    Ok(Operation::Compute(compute))
}

/// Takes the modifier for the rounding to an integer: `.TRUNC`, `.FLOOR`, `.CEIL` or `.ROUND`. The default is
/// `.ROUND`, which rounds to nearest.
fn whole(args: &mut Args<'_, '_>) -> Rounding {
    let ways = [
        ("TRUNC", Rounding::Zero),
        ("FLOOR", Rounding::Down),
        ("CEIL", Rounding::Up),
        ("ROUND", Rounding::Nearest),
    ];
    args.one_of(&ways).unwrap_or(Rounding::Nearest)
}

/// Decodes `F2FP[.F16|.BF16][.F32].PACK_AB[.RZ][.RELU] d, a, b`: `a` becomes the high half of the result.
pub(super) fn pack_halves(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    if let Some(format) = args.known() {
        return bytes(args, format);
    }
    args.require("PACK_AB")?;
    let half = if args.modifier("BF16") { FloatType::Bf16 } else { FloatType::F16 };
    args.ignore(&["F16", "F32"]);
    let mode = FloatMode { round: rounding(args), relu: args.modifier("RELU"), ..FloatMode::PLAIN };
    let mut compute = args.result(ComputeOp::Pack { half, mode }, false)?;
    args.sources_of::<2>(Type::F32, &mut compute)?;
    Ok(Operation::Compute(compute))
}

/// Decodes `F2FP.SATFINITE[.RELU].E4M3|E5M2.F32.PACK_AB_MERGE_C d, a, b, c`,
/// `F2FP.SATFINITE[.RELU].E4M3|E5M2.F16.UNPACK_B_MERGE_C d, a, c`, `F2FP[.RELU].F16.E4M3|E5M2.UNPACK_B d, a`
fn bytes(args: &mut Args<'_, '_>, format: ByteFloat) -> Decoded<Operation> {
    let relu = args.modifier("RELU");
    let op = if args.modifier("UNPACK_B") {
        args.require("F16")?;
        ComputeOp::UnpackBytes { from: format, relu }
    } else {
        args.require("SATFINITE")?;
        let from = if args.modifier("F32") { FloatType::F32 } else { FloatType::F16x2 };
        args.require(if from == FloatType::F32 { "PACK_AB_MERGE_C" } else { "UNPACK_B_MERGE_C" })?;
        if from == FloatType::F16x2 {
            args.require("F16")?;
        }
        ComputeOp::PackBytes { to: format, from, relu }
    };
    let mut compute = args.result(op, false)?;
    match op {
        ComputeOp::PackBytes { from: FloatType::F32, .. } => args.sources_of::<2>(Type::F32, &mut compute)?,
        _ => compute.sources[0] = args.source(Reading::Int)?,
    }
    if matches!(op, ComputeOp::PackBytes { .. }) {
        compute.sources[2] = args.source(Reading::Int)?;
    }
    Ok(Operation::Compute(compute))
}
