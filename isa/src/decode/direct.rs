//! Branches, barriers and fences.

use super::args::{Args, Reading};
use super::{Decoded, Failure, Targets};
use crate::control::{BlockBarrier, BranchCondition, Control};
use crate::instruction::Operation;
use crate::operand::OperandKind;
use crate::register::PredSource;
use crate::source::{Source, Value};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>, targets: &Targets<'_>) -> Decoded<Operation> {
    let control = match base {
        "BRA" => branch(args, targets)?,
        "EXIT" => Control::Exit,
        "BSSY" => {
            args.ignore(&["RECONVERGENT", "RELIABLE"]);
            let barrier = args.barrier()?;
            args.target(targets)?;
            Control::SetBarrier { barrier }
        }
        "BSYNC" => {
            args.ignore(&["RECONVERGENT", "RELIABLE"]);
            Control::SyncBarrier { barrier: args.barrier()? }
        }
        "BREAK" => {
            args.ignore(&["RELIABLE"]);
            Control::BreakBarrier { barrier: args.barrier()? }
        }
        "BMOV" => bmov(args)?,
        "WARPSYNC" => {
            // Colliding and exclusive forms differ in which threads may run meanwhile.
            if args.modifier("ALL") {
                Control::WarpSync { mask: Source::plain(Value::Imm(0xffff_ffff)) }
            } else {
                Control::WarpSync { mask: args.source(Reading::Int)? }
            }
        }
        "YIELD" => Control::Yield,
        "NANOSLEEP" => {
            args.ignore(&["WARP"]);
            let watch = args.modifier("SYNCS");
            Control::Sleep { watch, nanoseconds: args.source(Reading::Int)? }
        }
        "UCGABAR_ARV" => Control::ClusterArrive,
        "UCGABAR_WAIT" => Control::ClusterWait,
        "RPCMOV" => rpcmov(args)?,
        "FENCE" => {
            if !args.modifier("VIEW") || !args.modifier("ASYNC") {
                return Err(Failure::Lacking);
            }
            args.ignore(&["S", "G", "T"]);
            Control::Fence
        }
        "BAR" => bar(args)?,
        "NOP" => Control::Nop,
        "MEMBAR" => {
            args.ignore(&["SC", "ALL", "CTA", "GPU", "SYS", "VC"]);
            Control::Fence
        }
        "CCTL" => {
            if !args.modifier("IVALL") {
                return Err(Failure::Lacking);
            }
            Control::Fence
        }
        // ERRBAR, CGAERRBAR
        _ => Control::Fence,
    };
    Ok(Operation::Control(control))
}

/// `BRA target`, `BRA.U [up,] target`, `BRA.U.ANY target`
fn branch(args: &mut Args<'_, '_>, targets: &Targets<'_>) -> Decoded<Control> {
    let uniform = args.modifier("U");
    let condition = if !uniform {
        BranchCondition::Thread
    } else if args.modifier("ANY") {
        BranchCondition::Any
    } else {
        BranchCondition::Uniform(args.pred_if_any().unwrap_or(PredSource::TRUE))
    };
    if !uniform && matches!(args.peek(), Some(OperandKind::Pred(_))) {
        // `BRA P0, target`: a second predicate beside the guard.
        return Err(Failure::Lacking);
    }
    Ok(Control::Branch { target: args.target(targets)?, condition })
}

/// `BMOV.32[.CLEAR] R, B`, `BMOV.32 B, R`
fn bmov(args: &mut Args<'_, '_>) -> Decoded<Control> {
    if !args.modifier("32") {
        return Err(Failure::Lacking);
    }
    let clear = args.modifier("CLEAR");
    args.ignore(&["PQUAD"]);
    if matches!(args.peek(), Some(OperandKind::Barrier(_))) {
        let barrier = args.barrier()?;
        return Ok(Control::RegToBarrier { barrier, src: args.source(Reading::Int)? });
    }
    let dst = args.reg()?;
    Ok(Control::BarrierToReg { dst, barrier: args.barrier()?, clear })
}

/// `RPCMOV.32 R, Rpc.LO|HI`, `RPCMOV.32 Rpc.LO|HI, R`
fn rpcmov(args: &mut Args<'_, '_>) -> Decoded<Control> {
    if !args.modifier("32") {
        return Err(Failure::Lacking);
    }
    let half = |name: &str| match name {
        "Rpc.LO" => Ok(false),
        "Rpc.HI" => Ok(true),
        _ => Err(Failure::Lacking),
    };
    if matches!(args.peek(), Some(OperandKind::Name(_))) {
        let high = half(args.name()?)?;
        return Ok(Control::RegToReturnPc { high, src: args.source(Reading::Int)? });
    }
    let dst = args.reg()?;
    Ok(Control::ReturnPcToReg { dst, high: half(args.name()?)? })
}

/// `BAR.SYNC[.DEFER_BLOCKING] id[, threads]`, `BAR.ARV id, threads`
fn bar(args: &mut Args<'_, '_>) -> Decoded<Control> {
    let wait = args.modifier("SYNC");
    if !wait && !args.modifier("ARV") {
        return Err(Failure::Lacking);
    }
    args.ignore(&["DEFER_BLOCKING"]);
    let barrier = args.source(Reading::Int)?;
    let threads = if args.left() > 0 { Some(args.source(Reading::Int)?) } else { None };
    Ok(Control::Block(BlockBarrier { barrier, threads, wait }))
}
