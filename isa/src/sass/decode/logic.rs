//! Bits, bytes, shifts, selection and moves.

use super::args::{Args, Reading, blank};
use super::{Decoded, Failure, Targets};
use crate::kernel::alu::{AluOp, BoolOp, IntType, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::PermuteMode;
use crate::kernel::register::PredSource;
use crate::kernel::source::{Source, Value};
use crate::sass::listing::INSTRUCTION_BYTES;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = super::arith::path_of(base);
    match name {
        "LOP3" => lop3(args, path),
        "PLOP3" => plop3(args, path),
        "PSETP" => psetp(args, path),
        "SHF" => shf(args, path),
        "SEL" => sel(args, path),
        "MOV" => mov(args, path),
        "PRMT" => prmt(args, path),
        "BMSK" => {
            let wrap = args.modifier("W");
            args.ignore(&["C"]);
            two_operands(args, path, AluOp::BitMask { wrap })
        }
        "SGXT" => {
            let wrap = args.modifier("W");
            args.ignore(&["C", "S32"]);
            let signed = !args.modifier("U32");
            two_operands(args, path, AluOp::Extend { signed, wrap })
        }
        "POPC" => one_operand(args, path, AluOp::PopCount),
        "BREV" => one_operand(args, path, AluOp::BitReverse),
        "FLO" => {
            let kind = if args.modifier("U32") { IntType::U32 } else { IntType::S32 };
            args.ignore(&["S32"]);
            let shift_amount = args.modifier("SH");
            one_operand(args, path, AluOp::FindLeadingOne { kind, shift_amount })
        }
        _ => Err(Failure::Lacking),
    }
}

/// `LEPC d[, target]`: the address of the target, or of the next instruction (chosen).
pub(super) fn program_counter(
    base: &str,
    args: &mut Args<'_, '_>,
    targets: &Targets<'_>,
) -> Decoded<Operation> {
    if !targets.regular {
        return Err(Failure::Lacking);
    }
    let (path, _) = super::arith::path_of(base);
    let mut alu = blank(AluOp::Mov64, path);
    alu.dst = args.dst(path, 2)?;
    let index = if args.left() > 0 { args.target(targets)? } else { targets.at + 1 };
    alu.a = Source::plain(Value::Imm(i64::from(index) * i64::from(INSTRUCTION_BYTES)));
    Ok(Operation::Alu(alu))
}

fn one_operand(args: &mut Args<'_, '_>, path: Path, op: AluOp) -> Decoded<Operation> {
    let mut alu = blank(op, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}

fn two_operands(args: &mut Args<'_, '_>, path: Path, op: AluOp) -> Decoded<Operation> {
    let mut alu = blank(op, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}

/// `MOV d, a[, mask]`, `MOV.64 d, a`
fn mov(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    if args.modifier("64") {
        let mut alu = blank(AluOp::Mov64, path);
        alu.dst = args.dst(path, 2)?;
        alu.a = args.source_pair(Reading::Int64)?;
        return Ok(Operation::Alu(alu));
    }
    if !args.modifiers_left().is_empty() {
        return Err(Failure::Lacking);
    }
    let mov = one_operand(args, path, AluOp::Mov)?;
    if args.left() > 0 && args.number(0xf)? != 0xf {
        return Err(Failure::Lacking);
    }
    Ok(mov)
}

/// `LOP3.LUT[.PAND] [p,] d, a, b, c, table, p`
fn lop3(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    args.ignore(&["LUT"]);
    let combine = if args.modifier("PAND") { BoolOp::And } else { BoolOp::Or };
    let mut alu = blank(AluOp::Lop3 { table: 0, combine }, path);
    if let Some(pred) = args.pred_dst_if_any()? {
        alu.pred_dst[0] = pred;
    }
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.c = args.source(Reading::Int)?;
    alu.op = AluOp::Lop3 { table: args.number(0xff)? as u8, combine };
    alu.p[0] = args.pred_if_any().unwrap_or(PredSource::FALSE);
    Ok(Operation::Alu(alu))
}

/// `PLOP3.LUT p, q, p, p, p, table, table`
fn plop3(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    args.ignore(&["LUT"]);
    let mut alu = blank(AluOp::PLop3 { tables: [0; 2] }, path);
    alu.pred_dst = [args.pred_dst()?, args.pred_dst()?];
    alu.p = [args.pred()?, args.pred()?, args.pred()?];
    alu.op = AluOp::PLop3 { tables: [args.number(0xff)? as u8, args.number(0xff)? as u8] };
    Ok(Operation::Alu(alu))
}

/// `PSETP.op.op p, q, p, p, p`: `(p0 op p1) op p2`, and for the second result `!(p0 op p1) op p2`.
fn psetp(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let mut op = || args.first_modifier().and_then(super::arith::combine).ok_or(Failure::Lacking);
    let (first, second) = (op()?, op()?);
    let apply = |op: BoolOp, a: bool, b: bool| match op {
        BoolOp::And => a && b,
        BoolOp::Or => a || b,
        BoolOp::Xor => a != b,
    };
    let table = |inverse: bool| {
        (0..8_u8).fold(0, |table, at| {
            let bit = |n: u8| at >> n & 1 != 0;
            let inner = apply(first, bit(2), bit(1)) != inverse;
            table | u8::from(apply(second, inner, bit(0))) << at
        })
    };
    let mut alu = blank(AluOp::PLop3 { tables: [table(false), table(true)] }, path);
    alu.pred_dst = [args.pred_dst()?, args.pred_dst()?];
    alu.p = [args.pred()?, args.pred()?, args.pred()?];
    Ok(Operation::Alu(alu))
}

/// `SHF.L|R[.W].type[.HI] d, a, b, c`
fn shf(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let left = args.modifier("L");
    if !left && !args.modifier("R") {
        return Err(Failure::Lacking);
    }
    let wrap = args.modifier("W");
    let kind = args.choose(super::arith::int_type).ok_or(Failure::Lacking)?;
    let high = args.modifier("HI");
    let op =
        if left { AluOp::ShiftLeft { kind, high, wrap } } else { AluOp::ShiftRight { kind, high, wrap } };
    let mut alu = blank(op, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.c = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}

/// `SEL[.64] d, a, b, p`
fn sel(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let wide = args.modifier("64");
    let mut alu = blank(if wide { AluOp::Select64 } else { AluOp::Select }, path);
    alu.dst = args.dst(path, if wide { 2 } else { 1 })?;
    if wide {
        alu.a = args.source_pair(Reading::Int64)?;
        alu.b = args.source_pair(Reading::Int64)?;
    } else {
        alu.a = args.source(Reading::Int)?;
        alu.b = args.source(Reading::Int)?;
    }
    alu.p[0] = args.pred()?;
    Ok(Operation::Alu(alu))
}

/// `PRMT[.mode] d, a, selector, c`
fn prmt(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let mode = args.choose(|m| match m {
        "F4E" => Some(PermuteMode::Forward),
        "B4E" => Some(PermuteMode::Backward),
        "RC8" => Some(PermuteMode::Replicate8),
        "ECL" => Some(PermuteMode::EdgeLeft),
        "ECR" => Some(PermuteMode::EdgeRight),
        "RC16" => Some(PermuteMode::Replicate16),
        "IDX" => Some(PermuteMode::Index),
        _ => None,
    });
    let mut alu = blank(AluOp::Permute(mode.unwrap_or(PermuteMode::Index)), path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.c = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}
