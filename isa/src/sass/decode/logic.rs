//! Decoders of bit, byte, shift, select and move instructions.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::{BoolOp, ComputeOp, IntOp};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{PermuteMode, Type};
use crate::kernel::register::{Pred, PredSource};
use crate::kernel::source::{HalfSelect, Source, Value};
use crate::sass::listing::INSTRUCTION_BYTES;

/// Decodes `BMSK[.C|.W] d, a, b`
pub(super) fn mask(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let wrap = args.modifier("W");
    args.ignore(&["C"]);
    args.plain::<2>(ComputeOp::Mask { wrap }, Type::B32)
}

/// Decodes `SGXT[.C|.W][.U32] d, a, b`
pub(super) fn extend(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let wrap = args.modifier("W");
    args.ignore(&["C", "S32"]);
    let signed = !args.modifier("U32");
    args.plain::<2>(ComputeOp::Extend { signed, wrap }, Type::B32)
}

/// Decodes `FLO[.U32][.SH] d, a`
pub(super) fn flo(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = if args.modifier("U32") { Type::U32 } else { Type::S32 };
    args.ignore(&["S32"]);
    let shift_amount = args.modifier("SH");
    args.plain::<1>(ComputeOp::int(IntOp::Bfind { shift_amount }, ty), Type::B32)
}

/// Decodes `LEPC d[, target]`: address of the target, or without a target that of the LEPC instruction.
/// Source: listings, whose code subtracts the offset of the LEPC instruction.
pub(super) fn program_counter(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    if !args.targets.regular {
        return Err(Failure::Unsupported);
    }
    let mut compute = args.result(ComputeOp::Move, true)?;
    let index = if args.left() > 0 { args.target()? } else { args.targets.at };
    compute.sources[0] = Source::pair(Value::Imm(i64::from(index) * i64::from(INSTRUCTION_BYTES)));
    Ok(Operation::Compute(compute))
}

/// Decodes `MOV d, a[, mask]`, `MOV.64 d, a`
pub(super) fn mov(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    if args.modifier("64") {
        return args.plain::<1>(ComputeOp::Move, Type::B64);
    }
    if !args.modifiers_left().is_empty() {
        return Err(Failure::Unsupported);
    }
    let mov = args.plain::<1>(ComputeOp::Move, Type::B32)?;
    if args.left() > 0 && args.number(0xf)? != 0xf {
        return Err(Failure::Unsupported);
    }
    Ok(mov)
}

/// Decodes `LOP3.LUT[.PAND] [p,] d, a, b, c, table, p`
pub(super) fn lop3(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["LUT"]);
    let combine = if args.modifier("PAND") { BoolOp::And } else { BoolOp::Or };
    let pred = args.pred_dst_if_any()?;
    let mut compute = args.result(ComputeOp::Move, false)?;
    compute.pred_dst[0] = pred.unwrap_or(Pred::PT);
    args.sources_of::<3>(Type::B32, &mut compute)?;
    compute.op = ComputeOp::Lop3 { table: args.number(0xff)? as u8, ty: Type::B32, combine };
    compute.p[0] = args.pred_if_any().unwrap_or(PredSource::FALSE);
    Ok(Operation::Compute(compute))
}

/// Decodes `PLOP3.LUT p, q, p, p, p, table, table`. An operand may be the sign bit of a register: `R4.SIGN`.
pub(super) fn plop3(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["LUT"]);
    let mut compute = args.pred_results(ComputeOp::Move)?;
    for (p, source) in compute.p.iter_mut().zip(&mut compute.sources) {
        if let Some(operand) = args.pred_if_any() {
            *p = operand;
            continue;
        }
        let operand = args.source_or_sign(Reading::Int)?;
        if operand != (Source { half: HalfSelect::Sign, ..Source::plain(operand.value) }) {
            return Err(Failure::Unsupported);
        }
        *source = operand;
    }
    compute.op = ComputeOp::PredLogic { tables: [args.number(0xff)? as u8, args.number(0xff)? as u8] };
    Ok(Operation::Compute(compute))
}

/// Decodes `PSETP.op.op p, q, p, p, p`: the two results are `(p0 op p1) op p2` and `!(p0 op p1) op p2`.
pub(super) fn psetp(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let mut op = || {
        let name = args.first_modifier().filter(|m| !m.bytes().any(|b| b.is_ascii_lowercase()));
        name.and_then(|name| name.parse().ok()).ok_or(Failure::Unsupported)
    };
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
    let mut compute = args.pred_results(ComputeOp::PredLogic { tables: [table(false), table(true)] })?;
    compute.p = [args.pred()?, args.pred()?, args.pred()?];
    Ok(Operation::Compute(compute))
}

/// Decodes `SHF.L|R[.W].type[.HI] d, a, b, c`
pub(super) fn shf(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let left = args.modifier("L");
    if !left {
        args.require("R")?;
    }
    let wrap = args.modifier("W");
    let ty = args.choose(super::arith::int_type).ok_or(Failure::Unsupported)?;
    let high = args.modifier("HI");
    args.plain::<3>(ComputeOp::Funnel { left, ty, high, wrap }, Type::B32)
}

/// Decodes `SEL[.64] d, a, b, p`
pub(super) fn sel(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = if args.modifier("64") { Type::B64 } else { Type::B32 };
    let compute = args.result(ComputeOp::Select { ty, flush: false }, ty.wide())?;
    args.chosen::<2>(compute, ty)
}

/// Decodes `PRMT[.mode] d, a, selector, c`
pub(super) fn prmt(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let mode = args.known().or_else(|| args.one_of(&[("IDX", PermuteMode::Index)]));
    args.plain::<3>(ComputeOp::Permute(mode.unwrap_or(PermuteMode::Index)), Type::B32)
}
