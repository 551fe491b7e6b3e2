//! Decoders of branches, barriers and fences.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::{Compute, ComputeOp};
use crate::kernel::control::{BlockBarrier, BranchCondition, Control, JumpBase, ProxySpace, SyncWay};
use crate::kernel::instruction::Operation;
use crate::kernel::register::{Pred, PredSource};
use crate::kernel::source::{Source, Value};
use crate::sass::listing::INSTRUCTION_BYTES;
use crate::sass::operand::{OperandKind, RegText};

pub(super) fn control(control: Control) -> Decoded<Operation> {
    Ok(Operation::Control(control))
}

/// Decodes an instruction that has no effect here, because the model has no earlier or later kernel to wait
/// for, and no cache.
pub(super) fn nop(_: &mut Args<'_, '_>) -> Decoded<Operation> {
    control(Control::Nop)
}

pub(super) fn exit(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["KEEPREFCOUNT"]);
    control(Control::Exit)
}

pub(super) fn trap(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("TRAP")?;
    args.number(0xffff)?;
    control(Control::Trap)
}

pub(super) fn set_barrier(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["RECONVERGENT", "RELIABLE"]);
    let barrier = args.barrier()?;
    args.target()?;
    control(Control::SetBarrier { barrier })
}

pub(super) fn sync_barrier(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["RECONVERGENT", "RELIABLE"]);
    control(Control::SyncBarrier { barrier: args.barrier()? })
}

pub(super) fn break_barrier(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["RELIABLE"]);
    let pred = args.pred_if_any().unwrap_or(PredSource::TRUE);
    control(Control::BreakBarrier { barrier: args.barrier()?, pred })
}

pub(super) fn sleep(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["WARP"]);
    let watch = args.modifier("SYNCS");
    control(Control::Sleep { watch, nanoseconds: args.source(Reading::Int)? })
}

pub(super) fn order(_: &mut Args<'_, '_>) -> Decoded<Operation> {
    control(Control::Fence)
}

pub(super) fn membar(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["SC", "ALL", "CTA", "SM", "GPU", "SYS", "VC"]);
    order(args)
}

pub(super) fn view_fence(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("VIEW")?;
    args.require("ASYNC")?;
    let space = match (args.modifier("S"), args.modifier("G")) {
        (true, false) => ProxySpace::Cluster,
        (false, true) => ProxySpace::Global,
        _ => ProxySpace::All,
    };
    args.ignore(&["T"]);
    control(Control::ProxyFence(space))
}

pub(super) fn cache_control(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    if args.left() > 0 {
        return no_effect(args);
    }
    args.ignore(&["E", "IVALL", "IVALLP", "I", "C", "D", "U"]);
    order(args)
}

/// Decodes a cache control instruction, which has no effect. All its modifiers and operands are ignored.
pub(super) fn no_effect(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    while args.first_modifier().is_some() {}
    args.drop_operands();
    control(Control::Nop)
}

/// Decodes `UTMACCTL.PF [ua]`
pub(super) fn prefetch_map(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("PF")?;
    args.drop_operands();
    control(Control::Nop)
}

/// Decodes `SETMAXREG.DEALLOC.CTAPOOL n`, `SETMAXREG.TRY_ALLOC.CTAPOOL p, n`. The predicate result is true if
/// the thread got the registers. Compiled code repeats the instruction until the result is true.
pub(super) fn set_registers(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let asks = args.modifier("TRY_ALLOC");
    args.ignore(&["DEALLOC", "CTAPOOL"]);
    let granted = if asks { Some(args.pred_dst()?) } else { None };
    args.number(0x100)?;
    let Some(pred) = granted else { return control(Control::Nop) };
    let op = ComputeOp::PredLogic { tables: [0xff, 0] };
    Ok(Operation::Compute(Compute { pred_dst: [pred, Pred::PT], ..Compute::new(op, args.path) }))
}

/// Decodes `BRA [p,] target`, `BRA.U [up,] target`, `BRA.U.ANY target`, `BRA.DIV [mask,] target`, `BRA.CONV
/// [mask,] target`
pub(super) fn branch(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    // `.INC` and `.DEPTH` are hints without effect.
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
    control(Control::Branch { target: args.target()?, condition })
}

fn threads(args: &mut Args<'_, '_>) -> Decoded<Source> {
    match args.peek() {
        Some(OperandKind::Label(_)) => Ok(Source::plain(Value::Imm(0xffff_ffff))),
        _ => args.source(Reading::Int),
    }
}

#[derive(PartialEq)]
pub(super) enum Jump {
    /// Jumps whose operand may be a label (CALL, JMP).
    Plain,
    /// RET, whose offset is relative to the label in the text.
    Return,
    /// BRX, whose offset is relative to the next instruction.
    Next,
}

/// Decodes `CALL.REL.NOINC target`, `CALL.ABS.NOINC R`, `RET.REL.NODEC R target`, `BRX R offset`, `JMP
/// target`
///
/// A call does not store its return address; other instructions of the code do. The offset of a `.REL` form
/// is relative to the label in the text. The offset of BRX is relative to the next instruction.
pub(super) fn jump(args: &mut Args<'_, '_>, from: Jump) -> Decoded<Operation> {
    let targets = args.targets;
    let relative = args.modifier("REL");
    args.ignore(&["ABS", "NOINC", "NODEC"]);
    if matches!(args.peek(), Some(OperandKind::Label(_) | OperandKind::Number(_))) {
        if from != Jump::Plain {
            return Err(Failure::Unsupported);
        }
        if let Some(OperandKind::Label(name)) = args.peek()
            && let Some(function) = targets.driver_function(name)
        {
            args.drop_operands();
            return control(Control::Driver { function });
        }
        return control(Control::Branch { target: args.target()?, condition: BranchCondition::Thread });
    }
    if !targets.regular {
        // The byte offsets that the listing states do not match its instructions, so an address cannot be
        // computed.
        return Err(Failure::Unsupported);
    }
    let (base_text, rest) = match args.peek() {
        Some(OperandKind::Name(text)) => text.split_once(' ').ok_or(Failure::Unsupported)?,
        Some(OperandKind::Reg(_)) => return plain_jump(args),
        _ => return Err(Failure::Unsupported),
    };
    // After the offset there may be a comment that names the targets.
    let offset = rest.split("(*").next().unwrap_or("").trim();
    let Ok(OperandKind::Reg(reg)) = args.parse(base_text) else { return Err(Failure::Unsupported) };
    let offset = match args.parse(offset) {
        Ok(OperandKind::Number(number)) => number.integer(),
        Ok(OperandKind::Label(label)) if relative => {
            targets.address(label).and_then(|address| i64::try_from(address).ok())
        }
        _ => None,
    };
    let from = if from == Jump::Next { i64::from((targets.at + 1) * INSTRUCTION_BYTES) } else { 0 };
    let offset =
        i32::try_from(offset.ok_or(Failure::Unsupported)? + from).map_err(|_| Failure::Unsupported)?;
    args.name()?;
    control(Control::Jump { base: jump_base(&reg), offset })
}

/// Decodes a jump to the address in one register, without an offset.
fn plain_jump(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let Some(OperandKind::Reg(reg)) = args.peek() else { return Err(Failure::Unsupported) };
    let base = jump_base(reg);
    args.source(Reading::Int)?;
    control(Control::Jump { base, offset: 0 })
}

fn jump_base(reg: &RegText) -> JumpBase {
    if reg.uniform { JumpBase::Uniform(reg.of_warp()) } else { JumpBase::Thread(reg.of_thread()) }
}

/// Decodes `WARPSYNC mask`, `WARPSYNC.ALL`, `WARPSYNC.EXCLUSIVE mask`, `WARPSYNC.COLLECTIVE mask, target`
///
/// After a collective region, which ends at ENDCOLLECTIVE, a thread continues at `target`.
pub(super) fn warpsync(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let collective = args.modifier("COLLECTIVE");
    let exclusive = args.modifier("EXCLUSIVE");
    let mask = if args.modifier("ALL") {
        Source::plain(Value::Imm(0xffff_ffff))
    } else {
        args.source(Reading::Int)?
    };
    let way = match (collective, exclusive) {
        (true, false) => SyncWay::Collective { resume: args.target()? },
        (false, true) => SyncWay::Exclusive,
        (false, false) => SyncWay::Plain,
        (true, true) => return Err(Failure::Unsupported),
    };
    control(Control::WarpSync { mask, way })
}

/// Decodes `BMOV.32[.CLEAR] R, B`, `BMOV.32 B, R`
pub(super) fn bmov(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("32")?;
    let clear = args.modifier("CLEAR");
    args.ignore(&["PQUAD"]);
    if matches!(args.peek(), Some(OperandKind::Barrier(_))) {
        let barrier = args.barrier()?;
        return control(Control::RegToBarrier { barrier, src: args.source(Reading::Int)? });
    }
    let dst = args.reg()?;
    control(Control::BarrierToReg { dst, barrier: args.barrier()?, clear })
}

/// Decodes `RPCMOV.32 R, Rpc.LO|HI`, `RPCMOV.32 Rpc.LO|HI, R`
pub(super) fn rpcmov(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("32")?;
    let half = |name: &str| match name {
        "Rpc.LO" => Ok(false),
        "Rpc.HI" => Ok(true),
        _ => Err(Failure::Unsupported),
    };
    if matches!(args.peek(), Some(OperandKind::Name(_))) {
        let high = half(args.name()?)?;
        return control(Control::RegToReturnPc { high, src: args.source(Reading::Int)? });
    }
    let dst = args.reg()?;
    control(Control::ReturnPcToReg { dst, high: half(args.name()?)? })
}

/// Decodes `BAR.SYNC[.DEFER_BLOCKING] id[, threads]`, `BAR.ARV id, threads`, `BAR.RED.op id[, threads], p`.
/// If `id` and `threads` are the same register, the register holds both values.
pub(super) fn bar(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let vote = if args.modifier("RED") { Some(args.named()?) } else { None };
    let wait = args.modifier("SYNC") || vote.is_some();
    if !wait {
        args.require("ARV")?;
    }
    args.ignore(&["DEFER_BLOCKING"]);
    let barrier = args.source(Reading::Int)?;
    let more = args.left() > usize::from(vote.is_some());
    let threads = if more { Some(args.source(Reading::Int)?) } else { None };
    let vote = match vote {
        Some(vote) => Some((vote, args.pred()?)),
        None => None,
    };
    let packed = matches!(barrier.value, Value::Reg(_) | Value::Uniform(_)) && threads == Some(barrier);
    control(Control::Block(BlockBarrier {
        barrier,
        threads: threads.filter(|_| !packed),
        packed,
        wait,
        vote,
    }))
}

/// Decodes `DEPBAR.LE SB0, n`, `DEPBAR {5,4,3}`
///
/// Scoreboard SB0 counts asynchronous copies. The other scoreboards track results of instructions. Here a
/// result is complete when its instruction is done, so waiting for these has no effect.
pub(super) fn depbar(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    if !args.modifier("LE") {
        if args.name()?.starts_with('{') {
            return control(Control::Nop);
        }
        return Err(Failure::Unsupported);
    }
    let counter = args.name()?;
    let most = args.number(0x3f)? as u32;
    if args.left() > 0 && !args.name()?.starts_with('{') {
        return Err(Failure::Unsupported);
    }
    control(if counter == "SB0" {
        Control::WaitGroups { most, kind: None, read: false }
    } else {
        Control::Nop
    })
}
