//! Bits, bytes, shifts, selection and moves.

use super::args::{Args, Reading, blank};
use super::{Decoded, Failure};
use crate::alu::{AluOp, BoolOp, IntType, Path};
use crate::instruction::Operation;
use crate::register::PredSource;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = match base.strip_prefix('U') {
        Some(name) => (Path::Uniform, name),
        None => (Path::Vector, base),
    };
    match name {
        "LOP3" => lop3(args, path),
        "PLOP3" => plop3(args, path),
        "SHF" => shf(args, path),
        "SEL" => sel(args, path),
        "MOV" => mov(args, path),
        "PRMT" => prmt(args, path),
        "POPC" => one_operand(args, path, AluOp::PopCount),
        "BREV" => one_operand(args, path, AluOp::BitReverse),
        "FLO" => {
            let kind = if args.modifier("U32") { IntType::U32 } else { IntType::S32 };
            let shift_amount = args.modifier("SH");
            one_operand(args, path, AluOp::FindLeadingOne { kind, shift_amount })
        }
        _ => Err(Failure::Lacking),
    }
}

fn one_operand(args: &mut Args<'_, '_>, path: Path, op: AluOp) -> Decoded<Operation> {
    let mut alu = blank(op, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}

/// `MOV d, a[, mask]`
fn mov(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
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

/// `SHF.L|R[.W].type[.HI] d, a, b, c`
fn shf(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let left = args.modifier("L");
    if !left && !args.modifier("R") {
        return Err(Failure::Lacking);
    }
    let wrap = args.modifier("W");
    let kind = args.choose(|m| match m {
        "U32" => Some(IntType::U32),
        "S32" => Some(IntType::S32),
        "U64" => Some(IntType::U64),
        "S64" => Some(IntType::S64),
        _ => None,
    });
    let kind = kind.ok_or(Failure::Lacking)?;
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

/// `SEL d, a, b, p`
fn sel(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let mut alu = blank(AluOp::Select, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.p[0] = args.pred()?;
    Ok(Operation::Alu(alu))
}

/// `PRMT d, a, selector, c`
fn prmt(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let mut alu = blank(AluOp::Permute, path);
    alu.dst = args.dst(path, 1)?;
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.c = args.source(Reading::Int)?;
    Ok(Operation::Alu(alu))
}
