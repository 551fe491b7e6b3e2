//! Branches, barriers and fences.

use super::args::{Args, Reading};
use super::{Decoded, Failure, Targets};
use crate::kernel::control::{BarrierVote, BlockBarrier, BranchCondition, Control, JumpBase, SyncWay};
use crate::kernel::instruction::Operation;
use crate::kernel::register::PredSource;
use crate::kernel::source::{Source, Value};
use crate::sass::listing::INSTRUCTION_BYTES;
use crate::sass::operand::OperandKind;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>, targets: &Targets<'_>) -> Decoded<Operation> {
    let control = match base {
        "BRA" => branch(args, targets)?,
        "JMP" | "CALL" | "BRX" | "BRXU" | "JMX" | "JMXU" | "RET" => jump(base, args, targets)?,
        "EXIT" => {
            args.ignore(&["KEEPREFCOUNT"]);
            Control::Exit
        }
        "BPT" => {
            if !args.modifier("TRAP") {
                return Err(Failure::Lacking);
            }
            args.number(0xffff)?;
            Control::Trap
        }
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
            let pred = args.pred_if_any().unwrap_or(PredSource::TRUE);
            Control::BreakBarrier { barrier: args.barrier()?, pred }
        }
        "BMOV" => bmov(args)?,
        "WARPSYNC" => warpsync(args, targets)?,
        "ENDCOLLECTIVE" => Control::EndCollective,
        "YIELD" => Control::Yield,
        "NANOSLEEP" => {
            args.ignore(&["WARP"]);
            let watch = args.modifier("SYNCS");
            Control::Sleep { watch, nanoseconds: args.source(Reading::Int)? }
        }
        "UCGABAR_ARV" => Control::ClusterArrive,
        "UCGABAR_WAIT" => Control::ClusterWait,
        "RPCMOV" => rpcmov(args)?,
        "BAR" => bar(args)?,
        "LDGDEPBAR" | "UTMACMDFLUSH" => Control::EndGroup,
        "DEPBAR" => depbar(args)?,
        // What is waited for or let go is not there: a kernel before or after this one; a line of a cache.
        "NOP" | "ACQBULK" | "ACQSHMINIT" | "PREEXIT" => Control::Nop,
        "UBLKPF" | "CCTLL" | "CCTLT" => no_effect(args)?,
        _ => fence(base, args)?,
    };
    Ok(Operation::Control(control))
}

fn fence(base: &str, args: &mut Args<'_, '_>) -> Decoded<Control> {
    match base {
        "MEMBAR" => args.ignore(&["SC", "ALL", "CTA", "SM", "GPU", "SYS", "VC"]),
        "FENCE" => {
            if !args.modifier("VIEW") || !args.modifier("ASYNC") {
                return Err(Failure::Lacking);
            }
            args.ignore(&["S", "G", "T"]);
        }
        "CCTL" => {
            if args.left() > 0 {
                return no_effect(args);
            }
            args.ignore(&["E", "IVALL", "IVALLP", "I", "C", "D", "U"]);
        }
        // ERRBAR, CGAERRBAR
        _ => {}
    }
    Ok(Control::Fence)
}

/// A cache control: drops modifiers and operands, whatever they are.
fn no_effect(args: &mut Args<'_, '_>) -> Decoded<Control> {
    while args.first_modifier().is_some() {}
    args.drop_operands();
    Ok(Control::Nop)
}

/// `BRA [p,] target`, `BRA.U [up,] target`, `BRA.U.ANY target`, `BRA.DIV [mask,] target`, `BRA.CONV [mask,] target`
fn branch(args: &mut Args<'_, '_>, targets: &Targets<'_>) -> Decoded<Control> {
    // Hints.
    args.ignore(&["INC", "DEPTH"]);
    let condition = if args.modifier("DIV") {
        BranchCondition::Apart(threads(args)?)
    } else if args.modifier("CONV") {
        BranchCondition::Together(threads(args)?)
    } else if !args.modifier("U") {
        args.pred_if_any().map_or(BranchCondition::Thread, BranchCondition::ThreadIf)
    } else if args.modifier("ANY") {
        BranchCondition::Any
    } else {
        BranchCondition::Uniform(args.pred_if_any().unwrap_or(PredSource::TRUE))
    };
    Ok(Control::Branch { target: args.target(targets)?, condition })
}

/// The threads that a branch asks about; all, if the text names none.
fn threads(args: &mut Args<'_, '_>) -> Decoded<Source> {
    match args.peek() {
        Some(OperandKind::Label(_)) => Ok(Source::plain(Value::Imm(0xffff_ffff))),
        _ => args.source(Reading::Int),
    }
}

/// `CALL.REL.NOINC target`, `CALL.ABS.NOINC R`, `RET.REL.NODEC R target`, `BRX R offset`, `JMP target`
///
/// A call leaves the address to return to where the code put it. What `.REL` offsets are relative to is what
/// text names: a label, or for BRX the next instruction.
fn jump(base: &str, args: &mut Args<'_, '_>, targets: &Targets<'_>) -> Decoded<Control> {
    let relative = args.modifier("REL");
    args.ignore(&["ABS", "NOINC", "NODEC"]);
    if matches!(args.peek(), Some(OperandKind::Label(_) | OperandKind::Number(_))) {
        if matches!(base, "BRX" | "BRXU" | "RET") {
            return Err(Failure::Lacking);
        }
        return Ok(Control::Branch { target: args.target(targets)?, condition: BranchCondition::Thread });
    }
    if !targets.regular {
        // The listing says other addresses than its instructions have.
        return Err(Failure::Lacking);
    }
    let (base_text, rest) = match args.peek() {
        Some(OperandKind::Name(text)) => text.split_once(' ').ok_or(Failure::Lacking)?,
        Some(OperandKind::Reg(_)) => return plain_jump(args),
        _ => return Err(Failure::Lacking),
    };
    // After the offset, a comment may name the targets.
    let offset = rest.split("(*").next().unwrap_or("").trim();
    let Ok(OperandKind::Reg(reg)) = args.parse(base_text) else { return Err(Failure::Lacking) };
    let offset = match args.parse(offset) {
        Ok(OperandKind::Number(number)) => number.integer().ok_or(Failure::Lacking)?,
        Ok(OperandKind::Label(label)) if relative => match targets.labels.get(label) {
            Some(index) => i64::from(index * INSTRUCTION_BYTES),
            None => return Err(Failure::Lacking),
        },
        _ => return Err(Failure::Lacking),
    };
    let from = if base.starts_with("BRX") { i64::from((targets.at + 1) * INSTRUCTION_BYTES) } else { 0 };
    let offset = i32::try_from(offset + from).map_err(|_| Failure::Lacking)?;
    args.name()?;
    Ok(Control::Jump { base: jump_base(&reg), offset })
}

/// A register that is all of the address.
fn plain_jump(args: &mut Args<'_, '_>) -> Decoded<Control> {
    let Some(OperandKind::Reg(reg)) = args.peek() else { return Err(Failure::Lacking) };
    let base = jump_base(reg);
    args.source(Reading::Int)?;
    Ok(Control::Jump { base, offset: 0 })
}

fn jump_base(reg: &crate::sass::operand::RegText) -> JumpBase {
    if reg.uniform {
        JumpBase::Uniform(super::args::uniform(reg.index))
    } else {
        JumpBase::Thread(reg.index.map_or(crate::kernel::register::Reg::RZ, crate::kernel::register::Reg))
    }
}

/// `WARPSYNC mask`, `WARPSYNC.ALL`, `WARPSYNC.EXCLUSIVE mask`, `WARPSYNC.COLLECTIVE mask, target`
///
/// The target of a collective region is where the thread goes on behind it.
fn warpsync(args: &mut Args<'_, '_>, targets: &Targets<'_>) -> Decoded<Control> {
    let collective = args.modifier("COLLECTIVE");
    let exclusive = args.modifier("EXCLUSIVE");
    let mask = if args.modifier("ALL") {
        Source::plain(Value::Imm(0xffff_ffff))
    } else {
        args.source(Reading::Int)?
    };
    let way = match (collective, exclusive) {
        (true, false) => SyncWay::Collective { resume: args.target(targets)? },
        (false, true) => SyncWay::Exclusive,
        (false, false) => SyncWay::Plain,
        (true, true) => return Err(Failure::Lacking),
    };
    Ok(Control::WarpSync { mask, way })
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

/// `BAR.SYNC[.DEFER_BLOCKING] id[, threads]`, `BAR.ARV id, threads`, `BAR.RED.op id[, threads], p`
fn bar(args: &mut Args<'_, '_>) -> Decoded<Control> {
    let vote = if args.modifier("RED") {
        let vote = args.choose(|m| match m {
            "POPC" => Some(BarrierVote::Count),
            "AND" => Some(BarrierVote::All),
            "OR" => Some(BarrierVote::Any),
            _ => None,
        });
        Some(vote.ok_or(Failure::Lacking)?)
    } else {
        None
    };
    let wait = args.modifier("SYNC") || vote.is_some();
    if !wait && !args.modifier("ARV") {
        return Err(Failure::Lacking);
    }
    args.ignore(&["DEFER_BLOCKING"]);
    let barrier = args.source(Reading::Int)?;
    let more = args.left() > usize::from(vote.is_some());
    let threads = if more { Some(args.source(Reading::Int)?) } else { None };
    let vote = match vote {
        Some(vote) => Some((vote, args.pred()?)),
        None => None,
    };
    Ok(Control::Block(BlockBarrier { barrier, threads, wait, vote }))
}

/// `DEPBAR.LE SB0, n`, `DEPBAR {5,4,3}`
///
/// The first counter is that of copies; results that others count are there when an instruction is done here.
fn depbar(args: &mut Args<'_, '_>) -> Decoded<Control> {
    if !args.modifier("LE") {
        if args.name()?.starts_with('{') {
            return Ok(Control::Nop);
        }
        return Err(Failure::Lacking);
    }
    let counter = args.name()?;
    let most = args.number(0x3f)? as u32;
    if args.left() > 0 && !args.name()?.starts_with('{') {
        return Err(Failure::Lacking);
    }
    Ok(if counter == "SB0" { Control::WaitGroups { most, read: false } } else { Control::Nop })
}
