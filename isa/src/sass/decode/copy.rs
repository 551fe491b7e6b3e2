//! Decoders of asynchronous copies, and of the arrivals that report their completion.

use super::args::Args;
use super::global::{self, ORDERING};
use super::shared::{self, plain_atomic, registers, size};
use super::{Decoded, Failure};
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{
    AsyncAccess, AsyncOp, BulkCopy, BulkMask, BulkWay, CopyArrival, GlobalOp, Reduction, ThreadCopy, WideOp,
};
use crate::kernel::register::{PredSource, UReg};
use crate::sass::operand::OperandKind;
use atoms_ops::{Op, Operands, Size};

/// Decodes `UBLKCP.S.G[.MULTICAST] [ud], [ua], ub`, `UBLKCP.G.S[.DST_G_BYTE_MASK] [ud], [ua], ub`,
/// `UBLKCP.S.S [ud], [ua], ub`
pub(super) fn bulk(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let way = bulk_way(args).ok_or(Failure::Unsupported)?;
    let mask = match way {
        BulkWay::ToShared if args.modifier("MULTICAST") => Some(BulkMask::Ctas),
        BulkWay::ToGlobal if args.modifier("DST_G_BYTE_MASK") => Some(BulkMask::Bytes),
        BulkWay::ToShared | BulkWay::ToGlobal | BulkWay::AmongShared => None,
    };
    bulk_copy(args, way, None, mask)
}

/// Decodes `UBLKRED.G.S|S.S.op[.type] [ud], [ua], ub`
pub(super) fn bulk_reduce(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let way = bulk_way(args).filter(|way| *way != BulkWay::ToShared).ok_or(Failure::Unsupported)?;
    let reduction = bulk_reduction(args, way)?;
    bulk_copy(args, way, Some(reduction), None)
}

/// Decodes `STAS[.64|.128] [a.64], b`
pub(super) fn store(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let size = word_size(args);
    asynchronous(args, AsyncOp::Plain(Op::Store), size)
}

fn word_size(args: &mut Args<'_, '_>) -> Size {
    args.choose(|m| size(m).filter(|_| matches!(m, "32" | "64" | "128"))).unwrap_or(Size::U32)
}

/// Decodes `LDGSTS.E[.BYPASS][.64|.128][.ZFILL] [shared], [global][, p]`
pub(super) fn thread_copy(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let size = word_size(args);
    args.ignore(&["BYPASS", "ACCESS"]);
    args.ignore(ORDERING);
    let fill = args.modifier("ZFILL");
    let shared = shared::address(args)?;
    let global = global::address(args)?;
    let enable = args.pred_if_any().unwrap_or(PredSource::TRUE);
    Ok(Operation::ThreadCopy(ThreadCopy { size, shared, global, enable, fill }))
}

/// Decodes `ARRIVES.LDGSTSBAR.64[.ARVCNT|.TRANSCNT] [a]`
pub(super) fn arrival(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("LDGSTSBAR")?;
    args.require("64")?;
    let op = match (args.modifier("ARVCNT"), args.modifier("TRANSCNT")) {
        (false, false) => Op::MbarArriveSm80,
        (true, false) => Op::MbarArrive,
        (false, true) => Op::MbarCompleteTx,
        (true, true) => return Err(Failure::Unsupported),
    };
    Ok(Operation::CopyArrival(CopyArrival { op, address: shared::address(args)? }))
}

/// Takes the modifiers for the direction of a copy. The destination comes first: `.S.G` copies from global to
/// shared memory.
fn bulk_way(args: &mut Args<'_, '_>) -> Option<BulkWay> {
    match (args.first_modifier(), args.first_modifier()) {
        (Some("S"), Some("G")) => Some(BulkWay::ToShared),
        (Some("G"), Some("S")) => Some(BulkWay::ToGlobal),
        (Some("S"), Some("S")) => Some(BulkWay::AmongShared),
        _ => None,
    }
}

/// Takes the operation and the type of UBLKRED. For shared memory, the operations of the unit and 64-bit
/// addition are supported.
fn bulk_reduction(args: &mut Args<'_, '_>, way: BulkWay) -> Decoded<Reduction> {
    let op = args.first_modifier().and_then(Op::from_name).filter(|op| plain_atomic(*op));
    let op =
        op.filter(|op| op.row().operands == Operands::B && *op != Op::Exch).ok_or(Failure::Unsupported)?;
    let (op, size) = match args.first_modifier() {
        Some("F16") => global::typed(op, "F16x2", false),
        Some("BF16") => global::typed(op, "BF16x2", false),
        kind => global::typed(op, kind.unwrap_or("U32"), false),
    }
    .ok_or(Failure::Unsupported)?;
    if let GlobalOp::Wide(wide) = op {
        if wide.float() && !args.modifier("RN") {
            return Err(Failure::Unsupported);
        }
        if way == BulkWay::AmongShared && wide != WideOp::Add64 {
            return Err(Failure::Unsupported);
        }
    }
    Ok(Reduction { op, size })
}

fn bulk_copy(
    args: &mut Args<'_, '_>,
    way: BulkWay,
    reduction: Option<Reduction>,
    mask: Option<BulkMask>,
) -> Decoded<Operation> {
    let to = uniform_address(args, 2)?;
    let from = uniform_address(args, if way == BulkWay::ToShared { 2 } else { 1 })?;
    let size = args.ureg()?;
    if let Some(OperandKind::Name(name)) = args.peek()
        && name.starts_with("desc[")
    {
        args.name()?;
    }
    Ok(Operation::BulkCopy(BulkCopy { way, reduction, mask, to, from, size }))
}

fn uniform_address(args: &mut Args<'_, '_>, registers: u8) -> Decoded<UReg> {
    let text = args.address()?;
    let reg = match (text.reg, text.uniform, text.imm) {
        (None, Some(uniform), 0) => uniform.of_warp(),
        _ => {
            let message = "the address of a block copy must be a uniform register".to_string();
            return args.wrong(args.last_range(), message, "write [UR8]");
        }
    };
    args.aligned_uniform(reg, registers)
}

/// Decodes `REDAS.op[.S32] [a.64], b`, `REDAS.ADD.64 [a.64], b`
pub(super) fn reduction(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = args.first_modifier().and_then(Op::from_name).filter(|op| plain_atomic(*op));
    let op = op.filter(|op| op.row().operands == Operands::B).ok_or(Failure::Unsupported)?;
    let size = match args.first_modifier() {
        Some("64") if op == Op::Add => return asynchronous(args, AsyncOp::Add64, Size::U64),
        kind => size(kind.unwrap_or("U32")).filter(|size| size.bytes() == 4).ok_or(Failure::Unsupported)?,
    };
    if !op.row().sizes.contains(&size) {
        return Err(Failure::Unsupported);
    }
    asynchronous(args, AsyncOp::Plain(op), size)
}

/// Decodes STAS and REDAS. The register pair holds the address of the data and the address of the mbarrier
/// object.
fn asynchronous(args: &mut Args<'_, '_>, op: AsyncOp, size: Size) -> Decoded<Operation> {
    let text = args.address()?;
    let addresses = match (text.reg, text.uniform, text.imm) {
        (Some(reg), None, 0) if reg.suffix.scale == 0 => args.aligned(reg.of_thread(), 2)?,
        // Not supported: it is unknown to which of the two addresses an offset or a uniform register would be
        // added.
        _ => return Err(Failure::Unsupported),
    };
    let rb = args.reg_group(registers(size))?;
    Ok(Operation::Async(AsyncAccess { op, size, addresses, rb }))
}
