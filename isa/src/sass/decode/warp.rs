//! Votes, shuffles, reductions and special registers.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::Path;
use crate::kernel::control::{FloatRedux, ReduxOp, ShuffleMode, VoteMode, WarpOp};
use crate::kernel::instruction::Operation;
use crate::kernel::register::{Pred, Reg};
use crate::kernel::special::SpecialRegister;
use crate::sass::operand::OperandKind;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = match base {
        "S2R" => return special(args, Path::Vector),
        "S2UR" => return special(args, Path::Uniform),
        "CS2R" => return special(args, Path::Vector),
        "CS2UR" => return special(args, Path::Uniform),
        "MATCH" => matching(args)?,
        "B2R" => barrier_result(args)?,
        "VOTE" => vote(args, Path::Vector)?,
        "VOTEU" => vote(args, Path::Uniform)?,
        "SHFL" => shfl(args)?,
        "R2UR" => {
            // The lane whose value is taken is the same with and without .BROADCAST.
            args.ignore(&["BROADCAST"]);
            let accumulate = args.modifier("OR");
            let differs = args.pred_dst_if_any()?.unwrap_or(Pred::PT);
            WarpOp::ToUniform { differs, accumulate, dst: args.ureg()?, src: args.source(Reading::Int)? }
        }
        "ELECT" => WarpOp::Elect { pred_dst: args.pred_dst()?, dst: args.ureg()? },
        _ => redux(args)?,
    };
    if base == "ELECT" && args.pred()? != crate::kernel::register::PredSource::TRUE {
        return Err(Failure::Lacking);
    }
    Ok(Operation::Warp(op))
}

/// `S2R d, SR_TID.X`; `CS2R[.32] d, SRZ` fills a pair without `.32`.
fn special(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let wide = !args.modifier("32") && (args.mnemonic_is("CS2R") || args.mnemonic_is("CS2UR"));
    let dst = args.dst(path, if wide { 2 } else { 1 })?;
    let name = args.name()?;
    let Some(register) = SpecialRegister::from_name(name) else {
        if name.starts_with("SR") {
            return Err(Failure::Lacking);
        }
        let message = format!("`{name}` is not a special register");
        return args.wrong(args.last_range(), message, "special registers are SR_TID.X, SR_LANEID, ...");
    };
    if wide && !register.pair() {
        return Err(Failure::Lacking);
    }
    Ok(Operation::Special { path, dst, wide, register })
}

/// `VOTE.mode [d,] p, p`, `VOTEU.mode [d,] up, p`
fn vote(args: &mut Args<'_, '_>, path: Path) -> Decoded<WarpOp> {
    let mode = args.choose(|m| match m {
        "ALL" => Some(VoteMode::All),
        "ANY" => Some(VoteMode::Any),
        "EQ" => Some(VoteMode::Eq),
        _ => None,
    });
    let mode = mode.ok_or(Failure::Lacking)?;
    let has_dst = matches!(args.peek(), Some(OperandKind::Reg(_)));
    match path {
        Path::Vector => {
            let dst = if has_dst { args.reg()? } else { Reg::RZ };
            Ok(WarpOp::Vote { mode, dst, pred_dst: args.pred_dst()?, src: args.pred()? })
        }
        Path::Uniform => {
            let dst = if has_dst { args.ureg()? } else { crate::kernel::register::UReg::URZ };
            Ok(WarpOp::VoteUniform { mode, dst, pred_dst: args.pred_dst()?, src: args.pred()? })
        }
    }
}

/// `MATCH.ANY[.U64] d, a`, `MATCH.ALL[.U64] p, d, a`
fn matching(args: &mut Args<'_, '_>) -> Decoded<WarpOp> {
    let all = args.modifier("ALL");
    if !all && !args.modifier("ANY") {
        return Err(Failure::Lacking);
    }
    let wide = args.modifier("U64");
    args.ignore(&["U32"]);
    let pred_dst = args.pred_dst_if_any()?.unwrap_or(Pred::PT);
    Ok(WarpOp::Match {
        all,
        wide,
        pred_dst,
        dst: args.reg()?,
        src: args.reg_group(if wide { 2 } else { 1 })?,
    })
}

/// `B2R.RESULT d[, p]`
fn barrier_result(args: &mut Args<'_, '_>) -> Decoded<WarpOp> {
    if !args.modifier("RESULT") {
        return Err(Failure::Lacking);
    }
    Ok(WarpOp::BarrierResult { dst: args.reg()?, pred_dst: args.pred_dst_if_any()?.unwrap_or(Pred::PT) })
}

/// `SHFL.mode p, d, a, lane, control`
fn shfl(args: &mut Args<'_, '_>) -> Decoded<WarpOp> {
    let mode = args.choose(|m| match m {
        "IDX" => Some(ShuffleMode::Idx),
        "UP" => Some(ShuffleMode::Up),
        "DOWN" => Some(ShuffleMode::Down),
        "BFLY" => Some(ShuffleMode::Butterfly),
        _ => None,
    });
    let mode = mode.ok_or(Failure::Lacking)?;
    let pred_dst = args.pred_dst_if_any()?.unwrap_or(Pred::PT);
    Ok(WarpOp::Shuffle {
        mode,
        pred_dst,
        dst: args.reg()?,
        src: args.reg()?,
        lane: args.source(Reading::Int)?,
        control: args.source(Reading::Int)?,
    })
}

/// `REDUX.op[.S32] ud, a`, `CREDUX.MAXABS.F32[.NAN] ud, a`
fn redux(args: &mut Args<'_, '_>) -> Decoded<WarpOp> {
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
        return Err(Failure::Lacking);
    }
    // Without an operation REDUX is a conjunction.
    let op = op.unwrap_or(ReduxOp::And);
    Ok(WarpOp::Redux { op, dst: args.ureg()?, src: args.reg()? })
}
