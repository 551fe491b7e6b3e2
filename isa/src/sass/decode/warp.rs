//! Decoders of votes, shuffles, reductions and special registers.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::Path;
use crate::kernel::control::{FloatRedux, ReduxOp, VoteMode, WarpOp};
use crate::kernel::instruction::Operation;
use crate::kernel::register::{Pred, PredSource, Reg, UReg};
use crate::kernel::special::SpecialRegister;
use crate::sass::operand::OperandKind;

/// Decodes `R2UR[.OR] [p,] ud, a`. The value is that of the lowest active lane, with and without
/// `.BROADCAST`.
pub(super) fn to_uniform(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["BROADCAST"]);
    let accumulate = args.modifier("OR");
    let differs = args.pred_dst_if_any()?.unwrap_or(Pred::PT);
    let (dst, src) = (args.ureg()?, args.source(Reading::Int)?);
    Ok(Operation::Warp(WarpOp::ToUniform { differs, accumulate, dst, src }))
}

/// Decodes `ELECT p, ud, PT`
pub(super) fn elect(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = WarpOp::Elect { pred_dst: args.pred_dst()?, dst: args.ureg()? };
    if args.pred()? != PredSource::TRUE {
        return Err(Failure::Unsupported);
    }
    Ok(Operation::Warp(op))
}

/// Decodes `S2R d, SR_TID.X`, `CS2R[.32] d, SRZ`. If `pair` is true and there is no `.32`, the result is a
/// register pair.
pub(super) fn special(args: &mut Args<'_, '_>, pair: bool) -> Decoded<Operation> {
    let wide = !args.modifier("32") && pair;
    let dst = args.dst(if wide { 2 } else { 1 })?;
    let name = args.name()?;
    let Some(register) = SpecialRegister::from_name(name) else {
        if name.starts_with("SR") {
            return Err(Failure::Unsupported);
        }
        let message = format!("`{name}` is not a special register");
        return args.wrong(args.last_range(), message, "special registers are SR_TID.X, SR_LANEID, ...");
    };
    if wide && !register.pair() {
        return Err(Failure::Unsupported);
    }
    Ok(Operation::Special { path: args.path, dst, wide, register })
}

/// Decodes `VOTE.mode [d,] p, p`, `VOTEU.mode [d,] up, p`
pub(super) fn vote(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let modes = [("ALL", VoteMode::All), ("ANY", VoteMode::Any), ("EQ", VoteMode::Eq)];
    let mode = args.one_of(&modes).ok_or(Failure::Unsupported)?;
    let has_dst = matches!(args.peek(), Some(OperandKind::Reg(_)));
    Ok(Operation::Warp(match args.path {
        Path::Vector => {
            let dst = if has_dst { args.reg()? } else { Reg::RZ };
            WarpOp::Vote { mode, dst, pred_dst: args.pred_dst()?, src: args.pred()? }
        }
        Path::Uniform => {
            let dst = if has_dst { args.ureg()? } else { UReg::URZ };
            WarpOp::VoteUniform { mode, dst, pred_dst: args.pred_dst()?, src: args.pred()? }
        }
    }))
}

/// Decodes `MATCH.ANY[.U64] d, a`, `MATCH.ALL[.U64] p, d, a`
pub(super) fn matching(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let all = args.modifier("ALL");
    if !all {
        args.require("ANY")?;
    }
    let wide = args.modifier("U64");
    args.ignore(&["U32"]);
    let pred_dst = args.pred_dst_if_any()?.unwrap_or(Pred::PT);
    let (dst, src) = (args.reg()?, args.reg_group(if wide { 2 } else { 1 })?);
    Ok(Operation::Warp(WarpOp::Match { all, wide, pred_dst, dst, src }))
}

/// Decodes `B2R.RESULT d[, p]`
pub(super) fn barrier_result(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("RESULT")?;
    let (dst, pred_dst) = (args.reg()?, args.pred_dst_if_any()?.unwrap_or(Pred::PT));
    Ok(Operation::Warp(WarpOp::BarrierResult { dst, pred_dst }))
}

/// Decodes `SHFL.mode p, d, a, lane, control`
pub(super) fn shfl(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let mode = args.named()?;
    let pred_dst = args.pred_dst_if_any()?.unwrap_or(Pred::PT);
    let (dst, src) = (args.reg()?, args.reg()?);
    let (lane, control) = (args.source(Reading::Int)?, args.source(Reading::Int)?);
    Ok(Operation::Warp(WarpOp::Shuffle { mode, pred_dst, dst, src, lane, control }))
}

/// Decodes `REDUX.op[.S32] ud, a`, `CREDUX.MAXABS.F32[.NAN] ud, a`
pub(super) fn redux(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let signed = args.modifier("S32");
    let single = args.modifier("F32");
    let nan = single && args.modifier("NAN");
    let [plain, absolute] = [false, true].map(|absolute| FloatRedux { absolute, nan });
    let op = args.choose(|m| match m {
        "MIN" if single => Some(ReduxOp::MinF(plain)),
        "MAX" if single => Some(ReduxOp::MaxF(plain)),
        "MINABS" if single => Some(ReduxOp::MinF(absolute)),
        "MAXABS" if single => Some(ReduxOp::MaxF(absolute)),
        _ if single => None,
        "SUM" => Some(ReduxOp::Sum),
        "MIN" => Some(if signed { ReduxOp::MinS } else { ReduxOp::MinU }),
        "MAX" => Some(if signed { ReduxOp::MaxS } else { ReduxOp::MaxU }),
        "AND" => Some(ReduxOp::And),
        "OR" => Some(ReduxOp::Or),
        "XOR" => Some(ReduxOp::Xor),
        _ => None,
    });
    if single && op.is_none() {
        return Err(Failure::Unsupported);
    }
    // REDUX without an operation in its modifiers is a bitwise AND.
    let op = op.unwrap_or(ReduxOp::And);
    Ok(Operation::Warp(WarpOp::Redux { op, dst: args.ureg()?, src: args.reg()? }))
}
