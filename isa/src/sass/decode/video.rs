//! Decoders of integer arithmetic on packed bytes and halves, and of combined operations such as an addition
//! and a minimum.

use super::args::Args;
use super::arith::{HALVES, int_type, no_choices};
use super::{Decoded, Failure};
use crate::kernel::compute::{ComputeOp, IntOp};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{DotPieces, Type};

/// Decodes `VABSDIFF[.U32] d, a, b, c`
pub(super) fn vabsdiff(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = if args.modifier("U32") { Type::U32 } else { Type::S32 };
    args.ignore(&["S32"]);
    args.plain::<3>(ComputeOp::int(IntOp::Sad, ty), Type::B32)
}

/// Decodes `VABSDIFF4[.U8] d, a, b, c` returns the absolute differences of four bytes. `VABSDIFF4[.U8].ACC d,
/// a, b, c` returns their sum plus `c`. Bytes are signed without `.U8`. Source: listings of `vabsdiff4`.
pub(super) fn vabsdiff4(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = if args.modifier("U8") { Type::U8x4 } else { Type::S8x4 };
    args.ignore(&["S8"]);
    let op = if args.modifier("ACC") { IntOp::SadParts } else { IntOp::AbsDiff };
    let mut compute = args.result(ComputeOp::int(op, ty), false)?;
    args.sources_of::<3>(Type::B32, &mut compute)?;
    Ok(Operation::Compute(compute))
}

/// Decodes `VIADDMNMX[.U32|.U16x2|.S16x2][.RELU] d, [p, q,] a, b, c, p`
pub(super) fn min_max(args: &mut Args<'_, '_>, op: IntOp) -> Decoded<Operation> {
    let ty = args.choose(int_type).or_else(|| args.one_of(HALVES)).unwrap_or(Type::S32);
    if ty.wide() {
        return Err(Failure::Unsupported);
    }
    let op = ComputeOp::Int { op, ty, saturate: false, relu: args.modifier("RELU") };
    let compute = args.result(op, false)?;
    no_choices(args)?;
    args.chosen::<3>(compute, ty)
}

/// Decodes `IDP.4A.type.type d, a, b, c`, `IDP.2A.LO|HI.type.type d, a, b, c`
pub(super) fn dot(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let pieces = match args.first_modifier() {
        Some("4A") => DotPieces::Bytes,
        Some("2A") if args.modifier("LO") => DotPieces::HalvesLow,
        Some("2A") if args.modifier("HI") => DotPieces::HalvesHigh,
        _ => return Err(Failure::Unsupported),
    };
    dot_of(args, pieces)
}

/// Decodes `IDP4A.type.type d, a, b, c`
pub(super) fn dot_of_bytes(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["4A"]);
    dot_of(args, DotPieces::Bytes)
}

fn dot_of(args: &mut Args<'_, '_>, pieces: DotPieces) -> Decoded<Operation> {
    let bytes = [("U8", false), ("S8", true)];
    let first = if pieces == DotPieces::Bytes { bytes } else { [("U16", false), ("S16", true)] };
    let mut sign = |names| args.one_of(names).ok_or(Failure::Unsupported);
    let signed = [sign(&first)?, sign(&bytes)?];
    args.plain::<3>(ComputeOp::Dot { pieces, signed }, Type::B32)
}

/// Decodes `I2IP.type.S32.SAT d, a, b, c`
pub(super) fn pack(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("S32")?;
    args.require("SAT")?;
    let op =
        args.choose(|name| ComputeOp::pack_int(&name.to_ascii_lowercase())).ok_or(Failure::Unsupported)?;
    args.plain::<3>(op, Type::B32)
}
