//! Copies that go on while their threads do, and what is done when they end.

use super::args::Args;
use super::global::{self, ORDERING};
use super::shared::{self, plain_atomic, registers};
use super::{Decoded, Failure};
use crate::instruction::Operation;
use crate::memory::{AsyncAccess, AsyncOp, BulkCopy, CopyArrival, ThreadCopy};
use crate::register::{Reg, UReg};
use atoms_ops::{Op, Operands, Size};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    match base {
        "LDGSTS" => thread_copy(args),
        "ARRIVES" => arrival(args),
        "UBLKCP" => bulk_copy(args),
        "STAS" => {
            let size = word_size(args);
            asynchronous(args, AsyncOp::Plain(Op::Store), size)
        }
        _ => reduction(args),
    }
}

fn word_size(args: &mut Args<'_, '_>) -> Size {
    args.choose(|m| match m {
        "32" => Some(Size::U32),
        "64" => Some(Size::U64),
        "128" => Some(Size::B128),
        _ => None,
    })
    .unwrap_or(Size::U32)
}

/// `LDGSTS.E[.BYPASS][.64|.128] [shared], [global]`
///
/// A predicate after the addresses, which has zeros stored in place of the copy, is not decoded.
fn thread_copy(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let size = word_size(args);
    args.ignore(&["BYPASS", "ACCESS"]);
    args.ignore(ORDERING);
    let shared = shared::address(args)?;
    let global = global::address(args)?;
    if args.pred_if_any().is_some() {
        return Err(Failure::Lacking);
    }
    Ok(Operation::ThreadCopy(ThreadCopy { size, shared, global }))
}

/// `ARRIVES.LDGSTSBAR.64[.ARVCNT|.TRANSCNT] [a]`
fn arrival(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    if !args.modifier("LDGSTSBAR") || !args.modifier("64") {
        return Err(Failure::Lacking);
    }
    let op = match (args.modifier("ARVCNT"), args.modifier("TRANSCNT")) {
        (false, false) => Op::MbarArriveSm80,
        (true, false) => Op::MbarArrive,
        (false, true) => Op::MbarCompleteTx,
        (true, true) => return Err(Failure::Lacking),
    };
    Ok(Operation::CopyArrival(CopyArrival { op, address: shared::address(args)? }))
}

/// `UBLKCP.S.G [ud], [ua], ub`
fn bulk_copy(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    // Destination first: .G.S is the other way.
    if args.first_modifier() != Some("S") || args.first_modifier() != Some("G") {
        return Err(Failure::Lacking);
    }
    let shared = uniform_pair(args)?;
    let global = uniform_pair(args)?;
    Ok(Operation::BulkCopy(BulkCopy { shared, global, size: args.ureg()? }))
}

/// The uniform register of an address that is nothing else.
fn uniform_pair(args: &mut Args<'_, '_>) -> Decoded<UReg> {
    let text = args.address()?;
    let reg = match (text.reg, text.uniform, text.imm) {
        (None, Some(uniform), 0) => super::args::uniform(uniform.index),
        _ => {
            let message = "an address of a block copy is a pair of uniform registers".to_string();
            return args.wrong(args.last_range(), message, "write [UR8]");
        }
    };
    args.aligned((!reg.is_zero()).then_some(reg.0.into()), 2, "UR")?;
    Ok(reg)
}

/// `REDAS.op[.S32] [a.64], b`, `REDAS.ADD.64 [a.64], b`
fn reduction(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = args.first_modifier().and_then(Op::from_name).filter(|op| plain_atomic(*op));
    let op = op.filter(|op| op.row().operands == Operands::B).ok_or(Failure::Lacking)?;
    let size = match args.first_modifier() {
        None | Some("U32" | "32") => Size::U32,
        Some("S32") => Size::S32,
        Some("64") if op == Op::Add => return asynchronous(args, AsyncOp::Add64, Size::U64),
        _ => return Err(Failure::Lacking),
    };
    if !op.row().sizes.contains(&size) {
        return Err(Failure::Lacking);
    }
    asynchronous(args, AsyncOp::Plain(op), size)
}

/// `STAS[.64|.128] [a.64], b`: the pair holds the address of the data, then that of the object.
fn asynchronous(args: &mut Args<'_, '_>, op: AsyncOp, size: Size) -> Decoded<Operation> {
    let text = args.address()?;
    let addresses = match (text.reg, text.uniform, text.imm) {
        (Some(reg), None, 0) if reg.suffix.scale == 0 => reg.index.map_or(Reg::RZ, Reg),
        // Offsets and uniform registers: which of the two addresses they add to is not known.
        _ => return Err(Failure::Lacking),
    };
    args.aligned((!addresses.is_zero()).then_some(addresses.0), 2, "R")?;
    let rb = args.reg_group(registers(size))?;
    Ok(Operation::Async(AsyncAccess { op, size, addresses, rb }))
}
