//! Decoders of SYNCS and USYNCS: operations on mbarrier objects (spec 6.8).

use super::args::{Args, Reading};
use super::shared::address;
use super::{Decoded, Failure};
use crate::kernel::compute::Path;
use crate::kernel::control::Control;
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{BarrierAccess, BarrierOperand, BarrierResult};
use crate::kernel::register::{Pred, Reg, UReg};
use crate::kernel::source::Source;
use crate::sass::operand::OperandKind;
use atoms_ops::{Op, Operands, ResultKind};

/// Decodes SYNCS and USYNCS. USYNCS exists on sm_107; the warp executes it once, with uniform operands and
/// results.
pub(super) fn decode(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let path = args.path;
    let access = match args.first_modifier() {
        Some("EXCH") if args.modifier("64") => init(args)?,
        Some("CCTL") => {
            if args.modifier("IVALL") {
                return Ok(Operation::Control(Control::Fence));
            }
            if args.modifier("WB") {
                // `.WB` writes an mbarrier object back from a hardware buffer to memory. Here the object is
                // always in memory.
                address(args)?;
                return Ok(Operation::Control(Control::Nop));
            }
            args.require("IV")?;
            BarrierAccess {
                op: Op::MbarInval,
                path,
                result: BarrierResult::None,
                reported: None,
                address: address(args)?,
                b: BarrierOperand::None,
            }
        }
        Some("ARRIVE") if args.modifier("TRANS64") => arrive(path, args)?,
        Some("LD") if path == Path::Vector && args.modifier("64") => {
            // `.WATCH` does not change the value that is loaded.
            args.ignore(&["WATCH"]);
            BarrierAccess {
                op: Op::Load,
                path,
                result: pair(args.reg_group(2)?),
                reported: None,
                address: address(args)?,
                b: BarrierOperand::Whole,
            }
        }
        Some("PHASECHK") if args.modifier("TRANS64") => {
            // For an mbarrier object of layout 0, all phases complete together, so `.CONDITIONAL` has no
            // effect. Source: [PTX] mbarrier.test_wait.
            args.ignore(&["CONDITIONAL"]);
            let op = if args.modifier("TRYWAIT") { Op::MbarTryWait } else { Op::MbarTestWait };
            let reports = args.modifier("PRIMARY");
            let complete = predicate(path, args)?;
            let reported = if reports { Some(predicate(path, args)?) } else { None };
            // The register for the value of the failure report must be RZ or URZ; the value itself is not
            // supported.
            let dropped = match path {
                _ if !reports => true,
                Path::Vector => args.reg()?.is_zero(),
                Path::Uniform => args.ureg()?.is_zero(),
            };
            if !dropped {
                return Err(Failure::Unsupported);
            }
            BarrierAccess {
                op,
                path,
                result: BarrierResult::Pred(complete),
                reported,
                address: address(args)?,
                b: BarrierOperand::Word(plain(args.source(Reading::Int)?)?),
            }
        }
        _ => return Err(Failure::Unsupported),
    };
    Ok(Operation::Barrier(access))
}

/// Decodes `SYNCS.EXCH.64 URZ, [a], ub` and `SYNCS.EXCH.64 d, [a], b`
fn init(args: &mut Args<'_, '_>) -> Decoded<BarrierAccess> {
    let uniform = matches!(args.peek(), Some(OperandKind::Reg(reg)) if reg.uniform);
    let (path, result) = if uniform {
        if !args.ureg()?.is_zero() {
            return Err(Failure::Unsupported);
        }
        (Path::Uniform, BarrierResult::None)
    } else {
        (Path::Vector, pair(args.reg_group(2)?))
    };
    let address = address(args)?;
    let b = BarrierOperand::Pair(plain(args.source_pair(Reading::Int)?)?);
    Ok(BarrierAccess { op: Op::MbarInit, path, result, reported: None, address, b })
}

fn predicate(path: Path, args: &mut Args<'_, '_>) -> Decoded<Pred> {
    match (path, args.pred_dst()?) {
        (Path::Vector, pred @ Pred::Thread(_)) | (Path::Uniform, pred @ Pred::Uniform(_)) => Ok(pred),
        _ => Err(Failure::Unsupported),
    }
}

/// Checks that an operand has no sign such as `-` or `~`. No SYNCS instruction has signs.
fn plain(source: Source) -> Decoded<Source> {
    let same = Source { wide: source.wide, ..Source::plain(source.value) };
    if source == same { Ok(source) } else { Err(Failure::Unsupported) }
}

fn pair(reg: Reg) -> BarrierResult {
    if reg.is_zero() { BarrierResult::None } else { BarrierResult::Pair(reg) }
}

/// Decodes `SYNCS.ARRIVE.TRANS64[.RED][.TMASK][.OPTOUT][.arrivals-and-transactions] d, [a], b`
///
/// The last suffix, such as A1T0, has an A for arrivals and a T for expected transactions, each followed by a
/// letter for the number: R is the value of the register, 1 is one, 0 is none, and C is one for each active
/// thread. X is the value of the register, as completed transactions. The default is A1TR.
fn arrive(path: Path, args: &mut Args<'_, '_>) -> Decoded<BarrierAccess> {
    let each = path == Path::Uniform && args.modifier("ACT0");
    let red = args.modifier("RED");
    let no_complete = args.modifier("TMASK");
    let drop = args.modifier("OPTOUT");
    let counts = args.choose(|m| ["A1T0", "ART0", "A0TR", "A0T1", "A0TX"].into_iter().find(|c| *c == m));
    let op = match (counts, drop, no_complete) {
        (None, false, false) if each => Op::MbarArriveCount,
        (None, true, false) if each => Op::MbarArriveDropCount,
        _ if each => return Err(Failure::Unsupported),
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
        _ => return Err(Failure::Unsupported),
    };
    let result = match path {
        Path::Vector => pair(args.reg_group(2)?),
        Path::Uniform => match args.ureg_group(2)? {
            UReg::URZ => BarrierResult::None,
            dst => BarrierResult::UniformPair(dst),
        },
    };
    if result != BarrierResult::None && (red || op.row().result == ResultKind::Nothing) {
        let message = "this form of SYNCS.ARRIVE returns no result".to_string();
        return args.wrong(args.last_range(), message, "write RZ as destination");
    }
    let address = address(args)?;
    let word = plain(args.source(Reading::Int)?)?;
    let b = match op.row().operands {
        _ if counts == Some("A0T1") => BarrierOperand::One,
        _ if each => BarrierOperand::Active,
        Operands::None => BarrierOperand::None,
        Operands::B | Operands::BC => BarrierOperand::Word(word),
    };
    Ok(BarrierAccess { op, path, result, reported: None, address, b })
}
