//! Integer arithmetic on bytes and halves, or of more than one step.

use super::args::Args;
use super::arith::{halves, int_type, no_choices, number_type};
use super::{Decoded, Failure};
use crate::kernel::compute::{ComputeOp, IntOp, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{DotPieces, Type};
use crate::kernel::source::Source;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = super::arith::path_of(base);
    match name {
        "VABSDIFF" => {
            let ty = if args.modifier("U32") { Type::U32 } else { Type::S32 };
            args.ignore(&["S32"]);
            args.plain::<3>(ComputeOp::int(IntOp::Sad, ty), path)
        }
        "VABSDIFF4" => {
            let ty = if args.modifier("S8") { Type::S8x4 } else { Type::U8x4 };
            args.ignore(&["U8"]);
            let accumulate = args.modifier("ACC");
            let mut compute = args.result(ComputeOp::int(IntOp::SadParts, ty), path, false)?;
            args.sources_of::<3>(Type::B32, &mut compute)?;
            if !accumulate {
                compute.sources[2] = Source::ZERO;
            }
            Ok(Operation::Compute(compute))
        }
        "VIADDMNMX" => min_max(args, path, IntOp::AddMinMax),
        "VIMNMX3" => min_max(args, path, IntOp::MinMax3),
        "IDP" => dot(args, path),
        "IDP4A" => {
            args.ignore(&["4A"]);
            dot_of(args, path, DotPieces::Bytes)
        }
        _ => pack(args, path),
    }
}

/// `VIADDMNMX[.U32|.U16x2|.S16x2][.RELU] d, [p, q,] a, b, c, p`
fn min_max(args: &mut Args<'_, '_>, path: Path, op: IntOp) -> Decoded<Operation> {
    let ty = args.choose(|m| int_type(m).or(halves(m))).unwrap_or(Type::S32);
    if ty.wide() {
        return Err(Failure::Lacking);
    }
    let op = ComputeOp::Int { op, ty, saturate: false, relu: args.modifier("RELU") };
    let mut compute = args.result(op, path, false)?;
    no_choices(args)?;
    args.sources_of::<3>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    Ok(Operation::Compute(compute))
}

/// `IDP.4A.type.type d, a, b, c`, `IDP.2A.LO|HI.type.type d, a, b, c`
fn dot(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let pieces = match args.first_modifier() {
        Some("4A") => DotPieces::Bytes,
        Some("2A") if args.modifier("LO") => DotPieces::HalvesLow,
        Some("2A") if args.modifier("HI") => DotPieces::HalvesHigh,
        _ => return Err(Failure::Lacking),
    };
    dot_of(args, path, pieces)
}

fn dot_of(args: &mut Args<'_, '_>, path: Path, pieces: DotPieces) -> Decoded<Operation> {
    let piece = if pieces == DotPieces::Bytes { ["U8", "S8"] } else { ["U16", "S16"] };
    let sign = |args: &mut Args<'_, '_>, names: [&str; 2]| {
        args.choose(|m| names.iter().position(|n| *n == m)).map(|at| at == 1).ok_or(Failure::Lacking)
    };
    let signed = [sign(args, piece)?, sign(args, ["U8", "S8"])?];
    args.plain::<3>(ComputeOp::Dot { pieces, signed }, path)
}

/// `I2IP.type.S32.SAT d, a, b, c`
fn pack(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let narrow = |name: &str| number_type(name).filter(|ty| !ty.float() && ty.bits() <= 16);
    let to = args.choose(narrow).ok_or(Failure::Lacking)?;
    if !args.modifier("S32") || !args.modifier("SAT") {
        return Err(Failure::Lacking);
    }
    args.plain::<3>(ComputeOp::PackInt(to), path)
}
