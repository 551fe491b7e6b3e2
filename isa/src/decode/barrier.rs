//! SYNCS: operations on mbarrier objects (spec 6.8).

use super::args::{Args, Reading};
use super::shared::address;
use super::{Decoded, Failure};
use crate::alu::Path;
use crate::control::Control;
use crate::instruction::Operation;
use crate::memory::{BarrierAccess, BarrierOperand, BarrierResult};
use crate::operand::OperandKind;
use crate::register::{Pred, Reg};
use crate::source::Source;
use atoms_ops::{Gives, Op, Operands};

pub(super) fn decode(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let access = match args.first_modifier() {
        Some("EXCH") if args.modifier("64") => init(args)?,
        Some("CCTL") => {
            if args.modifier("IVALL") {
                return Ok(Operation::Control(Control::Fence));
            }
            if !args.modifier("IV") {
                return Err(Failure::Lacking);
            }
            BarrierAccess {
                op: Op::MbarInval,
                path: Path::Vector,
                result: BarrierResult::None,
                address: address(args)?,
                b: BarrierOperand::None,
            }
        }
        Some("ARRIVE") if args.modifier("TRANS64") => arrive(args)?,
        // The object as it is: what a plain load gives.
        Some("LD") if args.modifier("64") && args.modifiers_left().is_empty() => {
            return super::shared::object(args);
        }
        Some("PHASECHK") if args.modifier("TRANS64") => {
            // Whether the wait may be broken off: the answer is the same (chosen).
            args.ignore(&["CONDITIONAL"]);
            let op = if args.modifier("TRYWAIT") { Op::MbarTryWait } else { Op::MbarTestWait };
            let Pred::Thread(pred) = args.pred_dst()? else { return Err(Failure::Lacking) };
            BarrierAccess {
                op,
                path: Path::Vector,
                result: BarrierResult::Pred(pred),
                address: address(args)?,
                b: BarrierOperand::Word(plain(args.source(Reading::Int)?)?),
            }
        }
        _ => return Err(Failure::Lacking),
    };
    Ok(Operation::Barrier(access))
}

/// `SYNCS.EXCH.64 URZ, [a], ub` and `SYNCS.EXCH.64 d, [a], b`
fn init(args: &mut Args<'_, '_>) -> Decoded<BarrierAccess> {
    let uniform = matches!(args.peek(), Some(OperandKind::Reg(reg)) if reg.uniform);
    let (path, result) = if uniform {
        if !args.ureg()?.is_zero() {
            return Err(Failure::Lacking);
        }
        (Path::Uniform, BarrierResult::None)
    } else {
        (Path::Vector, pair(args.reg_group(2)?))
    };
    let address = address(args)?;
    let b = BarrierOperand::Pair(plain(args.source_pair(Reading::Int)?)?);
    Ok(BarrierAccess { op: Op::MbarInit, path, result, address, b })
}

/// An operand without signs; no instruction here has any.
fn plain(source: Source) -> Decoded<Source> {
    if source == Source::plain(source.value) { Ok(source) } else { Err(Failure::Lacking) }
}

fn pair(reg: Reg) -> BarrierResult {
    if reg.is_zero() { BarrierResult::None } else { BarrierResult::Pair(reg) }
}

/// `SYNCS.ARRIVE.TRANS64[.RED][.TMASK][.OPTOUT][.arrivals-and-transactions] d, [a], b`
///
/// A and T stand for arrivals and transactions: R is as many as the register says, 1 is one, 0 is none,
/// and X is as many as the register says completed. Without a suffix: A1TR.
fn arrive(args: &mut Args<'_, '_>) -> Decoded<BarrierAccess> {
    let red = args.modifier("RED");
    let no_complete = args.modifier("TMASK");
    let drop = args.modifier("OPTOUT");
    let counts = args.choose(|m| ["A1T0", "ART0", "A0TR", "A0T1", "A0TX"].into_iter().find(|c| *c == m));
    let op = match (counts, drop, no_complete) {
        (Some("A1T0"), false, false) => Op::MbarArrive,
        (Some("A1T0"), true, false) => Op::MbarArriveDrop,
        (Some("ART0"), false, false) => Op::MbarArriveCount,
        (Some("ART0"), true, false) => Op::MbarArriveDropCount,
        (Some("ART0"), false, true) => Op::MbarArriveNoComplete,
        (Some("ART0"), true, true) => Op::MbarArriveDropNoComplete,
        (None, false, false) => Op::MbarArriveExpectTx,
        (None, true, false) => Op::MbarArriveDropExpectTx,
        (Some("A0TR" | "A0T1"), false, false) => Op::MbarExpectTx,
        (Some("A0TX"), false, false) => Op::MbarCompleteTx,
        _ => return Err(Failure::Lacking),
    };
    let dst = args.reg_group(2)?;
    if !dst.is_zero() && (red || op.row().gives == Gives::Nothing) {
        let message = "this form of SYNCS.ARRIVE gives no result".to_string();
        return args.wrong(args.last_range(), message, "its destination is RZ");
    }
    let address = address(args)?;
    let word = plain(args.source(Reading::Int)?)?;
    let b = match op.row().operands {
        _ if counts == Some("A0T1") => BarrierOperand::One,
        Operands::None => BarrierOperand::None,
        Operands::B | Operands::BC => BarrierOperand::Word(word),
    };
    Ok(BarrierAccess { op, path: Path::Vector, result: pair(dst), address, b })
}
