//! Decoders of accesses to global memory, by generic addresses, and to constant memory.

use super::args::Args;
use super::shared::{registers, size, stored};
use super::{Decoded, Failure};
use crate::kernel::compute::Window;
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{
    AddressBase, ConstAccess, GlobalAccess, GlobalAddress, GlobalOp, Grain, Space, WideOp,
};
use crate::kernel::number::FloatType;
use crate::kernel::register::{Pred, Reg};
use crate::sass::operand::Width;
use atoms_ops::{Op, Operands, Size};

/// Modifiers for scope, memory order and caching. Only [`crate::kernel::order`] interprets them.
pub(crate) const ORDERING: &[&str] = &[
    "E",
    "SYS",
    "GPU",
    "SM",
    "CTA",
    "VC",
    "STRONG",
    "WEAK",
    "CONSTANT",
    "MMIO",
    "PRIVATE",
    "EF",
    "EL",
    "LU",
    "EU",
    "NA",
    "NO_ALLOCATE",
    "LTC64B",
    "LTC128B",
    "LTC256B",
    "RN",
    "U",
];

fn plain_size(args: &mut Args<'_, '_>) -> Size {
    let named = |m: &str| size(m).filter(|_| !matches!(m, "U32" | "S32" | "U64"));
    args.choose(named).unwrap_or(Size::U32)
}

/// Decodes `LDG.E[.64] d, [a]`, `STG.E[.64] [a], b`
pub(super) fn access(args: &mut Args<'_, '_>, space: Space, op: GlobalOp) -> Decoded<Operation> {
    let (size, load) = (plain_size(args), op == GlobalOp::Load);
    let size = if load { size } else { stored(size) };
    args.ignore(ORDERING);
    let dst = if load { args.reg_group(registers(size))? } else { Reg::RZ };
    let address = address(args)?;
    let rb = if load { Reg::RZ } else { args.reg_group(registers(size))? };
    let (pred_dst, rc) = (Pred::PT, Reg::RZ);
    Ok(Operation::Global(GlobalAccess { space, op, size, dst, pred_dst, address, rb, rc }))
}

/// Decodes `ATOM.E.op[.type].order p, d, [a], b[, c]` and `RED.E.op[.type].order [a], b`
pub(super) fn atomic(args: &mut Args<'_, '_>, space: Space, result: bool) -> Decoded<Operation> {
    args.ignore(ORDERING);
    let op = match args.first_modifier() {
        Some("CAST") if args.modifier("SPIN") => Op::CastSpin,
        Some("POPC") if args.modifier("INC") => Op::PopcInc,
        Some("ARRIVE") if space == Space::Generic => Op::MbarArriveSm80,
        Some(
            name @ ("ADD" | "MIN" | "MAX" | "INC" | "DEC" | "AND" | "OR" | "XOR" | "EXCH" | "CAS" | "CAST"),
        ) => Op::from_name(name).ok_or(Failure::Unsupported)?,
        _ => return Err(Failure::Unsupported),
    };
    let kind = args.first_modifier().unwrap_or("U32");
    let flush = args.modifier("FTZ");
    // The core computes a vector atomic word by word.
    let (kind, vector) = match kind {
        "F32x2" => ("F32", Some(Size::U64)),
        "F32x4" => ("F32", Some(Size::B128)),
        "F16x4" => ("F16x2", Some(Size::U64)),
        "F16x8" => ("F16x2", Some(Size::B128)),
        "BF16x4" => ("BF16x2", Some(Size::U64)),
        "BF16x8" => ("BF16x2", Some(Size::B128)),
        kind => (kind, None),
    };
    let (op, word) = typed(op, kind, flush).ok_or(Failure::Unsupported)?;
    let size = vector.unwrap_or(word);
    if flush && !matches!(op, GlobalOp::Wide(WideOp::AddF32 { .. })) {
        return Err(Failure::Unsupported);
    }
    let count = registers(size);
    let (mut pred_dst, mut dst) = (Pred::PT, Reg::RZ);
    if result {
        pred_dst = args.pred_dst_if_any()?.unwrap_or(Pred::PT);
        dst = args.reg_group(count)?;
    }
    let address = address(args)?;
    let operands = match op {
        GlobalOp::Atomic(op) => op.row().operands,
        _ => Operands::B,
    };
    let rb = if operands == Operands::None { Reg::RZ } else { args.reg_group(count)? };
    let takes_c = operands == Operands::BC;
    let rc = if takes_c { args.reg_group(count)? } else { Reg::RZ };
    Ok(Operation::Global(GlobalAccess { space, op, size, dst, pred_dst, address, rb, rc }))
}

pub(super) fn typed(op: Op, kind: &str, flush: bool) -> Option<(GlobalOp, Size)> {
    use crate::kernel::memory::WideOp::*;
    let halves = match kind {
        "F16x2" | "F16X2" => Some(FloatType::F16x2),
        "BF16x2" | "BF16X2" | "BF16_V2" => Some(FloatType::Bf16x2),
        _ => None,
    };
    let (wide, size) = match (op, kind, halves) {
        (Op::Add, "F32", _) => (AddF32 { flush }, Size::U32),
        (Op::Add, "F64", _) => (AddF64, Size::U64),
        (Op::Add, _, Some(format)) => (AddHalves(format), Size::U32),
        (Op::Min, _, Some(format)) => (MinHalves(format), Size::U32),
        (Op::Max, _, Some(format)) => (MaxHalves(format), Size::U32),
        (Op::Add, "64" | "U64" | "S64", _) => (Add64, Size::U64),
        (Op::Min, "64" | "U64", _) => (MinU64, Size::U64),
        (Op::Min, "S64", _) => (MinS64, Size::U64),
        (Op::Max, "64" | "U64", _) => (MaxU64, Size::U64),
        (Op::Max, "S64", _) => (MaxS64, Size::U64),
        (Op::And, "64" | "U64" | "S64", _) => (And64, Size::U64),
        (Op::Or, "64" | "U64" | "S64", _) => (Or64, Size::U64),
        (Op::Xor, "64" | "U64" | "S64", _) => (Xor64, Size::U64),
        (Op::Inc, "64" | "U64", _) => (Inc64, Size::U64),
        (Op::Dec, "64" | "U64", _) => (Dec64, Size::U64),
        _ => {
            let size = size(kind).filter(|size| size.bytes() >= 4)?;
            return op.row().sizes.contains(&size).then_some((GlobalOp::Atomic(op), size));
        }
    };
    Some((GlobalOp::Wide(wide), size))
}

/// Decodes `QSPC.E.S|D|G|L p, RZ, [a]`
pub(super) fn query(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["E"]);
    let spaces =
        [("S", Window::SharedCta), ("D", Window::SharedCluster), ("G", Window::Global), ("L", Window::Local)];
    let space = args.one_of(&spaces).ok_or(Failure::Unsupported)?;
    let pred_dst = args.pred_dst()?;
    if !args.reg()?.is_zero() {
        return Err(Failure::Unsupported);
    }
    let address = address(args)?;
    Ok(Operation::QuerySpace { pred_dst, address, space })
}

/// Takes a global or generic address. A register without `.64` is also a pair, because every access here has
/// 64-bit addresses (`.E`).
pub(super) fn address(args: &mut Args<'_, '_>) -> Decoded<GlobalAddress> {
    let text = args.address()?;
    let range = args.last_range();
    let base = match text.reg {
        None => AddressBase::None,
        Some(reg) if reg.suffix.scale != 0 => {
            return args.wrong(range, "a global address cannot have a scaled register".into(), "drop the .X");
        }
        Some(reg) if reg.index.is_none() => AddressBase::None,
        Some(reg) if reg.suffix.width == Some(Width::Word) => AddressBase::Word(reg.of_thread()),
        Some(reg) => AddressBase::Pair(args.aligned(reg.of_thread(), 2)?),
    };
    let ur = text.uniform.map(|reg| args.aligned_uniform(reg.of_warp(), 2)).transpose()?;
    // On sm_80, the LD.E of mbarrier instructions has offsets beyond the 24 bits of other instructions
    // (source: listings).
    let Ok(imm) = i32::try_from(text.imm) else {
        let message = format!("offset {:#x} does not fit in 32 bits", text.imm);
        return args.wrong(range, message, "the offset is from -0x80000000 to 0x7fffffff");
    };
    Ok(GlobalAddress { base, ur, imm })
}

/// Decodes `LDC[.size] d, c[bank][offset]`
pub(super) fn constant(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    // These modifiers select what happens if the index is beyond the end of the bank.
    args.ignore(&["IL", "IS", "ISL"]);
    let grain = match plain_size(args) {
        size @ (Size::U8 | Size::U16 | Size::S8 | Size::S16) => Grain::Sub(size),
        size @ (Size::U32 | Size::S32 | Size::U64 | Size::B128) => Grain::Words(registers(size)),
    };
    let count = match grain {
        Grain::Sub(_) => 1,
        Grain::Words(count) => count,
    };
    let dst = args.dst(count)?;
    let address = args.constant()?;
    Ok(Operation::Const(ConstAccess { path: args.path, dst, grain, address }))
}
