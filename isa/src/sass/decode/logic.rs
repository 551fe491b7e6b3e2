//! Bits, bytes, shifts, selection and moves.

use super::args::Args;
use super::{Decoded, Failure, Targets};
use crate::kernel::compute::{BoolOp, Compute, ComputeOp, IntOp, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{PermuteMode, Type};
use crate::kernel::register::{Pred, PredSource};
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
            args.plain::<2>(ComputeOp::Mask { wrap }, path)
        }
        "SGXT" => {
            let wrap = args.modifier("W");
            args.ignore(&["C", "S32"]);
            let signed = !args.modifier("U32");
            args.plain::<2>(ComputeOp::Extend { signed, wrap }, path)
        }
        "POPC" => args.plain::<1>(ComputeOp::int(IntOp::Popc, Type::B32), path),
        "BREV" => args.plain::<1>(ComputeOp::int(IntOp::Brev, Type::B32), path),
        "FLO" => {
            let ty = if args.modifier("U32") { Type::U32 } else { Type::S32 };
            args.ignore(&["S32"]);
            let shift_amount = args.modifier("SH");
            args.plain::<1>(ComputeOp::int(IntOp::Bfind { shift_amount }, ty), path)
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
    let mut compute = args.result(ComputeOp::Move, path, true)?;
    let index = if args.left() > 0 { args.target(targets)? } else { targets.at + 1 };
    compute.sources[0] = Source::pair(Value::Imm(i64::from(index) * i64::from(INSTRUCTION_BYTES)));
    Ok(Operation::Compute(compute))
}

/// `MOV d, a[, mask]`, `MOV.64 d, a`
fn mov(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    if args.modifier("64") {
        let mut compute = args.result(ComputeOp::Move, path, true)?;
        args.sources_of::<1>(Type::B64, &mut compute)?;
        return Ok(Operation::Compute(compute));
    }
    if !args.modifiers_left().is_empty() {
        return Err(Failure::Lacking);
    }
    let mov = args.plain::<1>(ComputeOp::Move, path)?;
    if args.left() > 0 && args.number(0xf)? != 0xf {
        return Err(Failure::Lacking);
    }
    Ok(mov)
}

/// `LOP3.LUT[.PAND] [p,] d, a, b, c, table, p`
fn lop3(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    args.ignore(&["LUT"]);
    let combine = if args.modifier("PAND") { BoolOp::And } else { BoolOp::Or };
    let pred = args.pred_dst_if_any()?;
    let mut compute = args.result(ComputeOp::Move, path, false)?;
    compute.pred_dst[0] = pred.unwrap_or(Pred::PT);
    args.sources_of::<3>(Type::B32, &mut compute)?;
    compute.op = ComputeOp::Lop3 { table: args.number(0xff)? as u8, ty: Type::B32, combine };
    compute.p[0] = args.pred_if_any().unwrap_or(PredSource::FALSE);
    Ok(Operation::Compute(compute))
}

/// `PLOP3.LUT p, q, p, p, p, table, table`
fn plop3(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    args.ignore(&["LUT"]);
    let pred_dst = [args.pred_dst()?, args.pred_dst()?];
    let p = [args.pred()?, args.pred()?, args.pred()?];
    let op = ComputeOp::PredLogic { tables: [args.number(0xff)? as u8, args.number(0xff)? as u8] };
    Ok(Operation::Compute(Compute { pred_dst, p, ..Compute::new(op, path) }))
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
    let op = ComputeOp::PredLogic { tables: [table(false), table(true)] };
    let pred_dst = [args.pred_dst()?, args.pred_dst()?];
    let p = [args.pred()?, args.pred()?, args.pred()?];
    Ok(Operation::Compute(Compute { pred_dst, p, ..Compute::new(op, path) }))
}

/// `SHF.L|R[.W].type[.HI] d, a, b, c`
fn shf(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let left = args.modifier("L");
    if !left && !args.modifier("R") {
        return Err(Failure::Lacking);
    }
    let wrap = args.modifier("W");
    let ty = args.choose(super::arith::int_type).ok_or(Failure::Lacking)?;
    let high = args.modifier("HI");
    args.plain::<3>(ComputeOp::Funnel { left, ty, high, wrap }, path)
}

/// `SEL[.64] d, a, b, p`
fn sel(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let ty = if args.modifier("64") { Type::B64 } else { Type::B32 };
    let mut compute = args.result(ComputeOp::Select { ty, flush: false }, path, ty.wide())?;
    args.sources_of::<2>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    Ok(Operation::Compute(compute))
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
    args.plain::<3>(ComputeOp::Permute(mode.unwrap_or(PermuteMode::Index)), path)
}
