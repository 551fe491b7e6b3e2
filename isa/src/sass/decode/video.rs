//! Integer arithmetic on bytes and halves, or of more than one step.

use super::args::{Args, Reading, blank};
use super::arith::{halves, int_type, no_choices};
use super::{Decoded, Failure};
use crate::kernel::alu::{AluOp, IntType, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{DotPieces, IntSize};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = super::arith::path_of(base);
    match name {
        "VABSDIFF" => {
            let kind = if args.modifier("U32") { IntType::U32 } else { IntType::S32 };
            args.ignore(&["S32"]);
            three_operands(args, path, AluOp::AbsDiff(kind))
        }
        "VABSDIFF4" => {
            let signed = args.modifier("S8");
            args.ignore(&["U8"]);
            let accumulate = args.modifier("ACC");
            three_operands(args, path, AluOp::AbsDiff4 { signed, accumulate })
        }
        "VIADDMNMX" => min_max(args, path, |kind, relu| AluOp::AddMinMax { kind, relu }),
        "VIMNMX3" => min_max(args, path, |kind, relu| AluOp::IMinMax3 { kind, relu }),
        "IDP" => dot(args, path),
        "IDP4A" => {
            args.ignore(&["4A"]);
            dot_of(args, path, DotPieces::Bytes)
        }
        _ => pack(args, path),
    }
}

fn three_operands(args: &mut Args<'_, '_>, path: Path, op: AluOp) -> Decoded<Operation> {
    let mut alu = blank(op, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.c = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}

/// `VIADDMNMX[.U32|.U16x2|.S16x2][.RELU] d, [p, q,] a, b, c, p`
fn min_max(args: &mut Args<'_, '_>, path: Path, op: impl Fn(IntType, bool) -> AluOp) -> Decoded<Operation> {
    let kind = args.choose(|m| int_type(m).or(halves(m))).unwrap_or(IntType::S32);
    if kind.wide() {
        return Err(Failure::Lacking);
    }
    let relu = args.modifier("RELU");
    let mut alu = blank(op(kind, relu), path);
    alu.dst = args.dst(path, 1)?;
    no_choices(args)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.c = args.source(Reading::Int)?;
    alu.p[0] = args.pred()?;
    Ok(Operation::Alu(alu))
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
    three_operands(args, path, AluOp::Dot { pieces, signed })
}

/// `I2IP.type.S32.SAT d, a, b, c`
fn pack(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let to = args.choose(|m| match m {
        "U8" => Some(IntSize { bits: 8, signed: false }),
        "S8" => Some(IntSize { bits: 8, signed: true }),
        "U16" => Some(IntSize { bits: 16, signed: false }),
        "S16" => Some(IntSize { bits: 16, signed: true }),
        _ => None,
    });
    let to = to.ok_or(Failure::Lacking)?;
    if !args.modifier("S32") || !args.modifier("SAT") {
        return Err(Failure::Lacking);
    }
    three_operands(args, path, AluOp::PackInt(to))
}
