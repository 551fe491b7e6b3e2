//! Decoders of accesses to shared memory (ATOMS, LDS, STS) and to private memory (LDL, STL).

use super::args::Args;
use super::{Decoded, Failure};
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{LocalAccess, SharedAccess, SharedAddress, SharedFill, SharedResult};
use crate::kernel::register::{Pred, Reg, UReg};
use crate::kernel::source::{Source, Value};
use crate::sass::operand::{OperandKind, Width};
use atoms_ops::{OPS, Op, Operands, ResultKind, Size};

/// Modifiers for the size of an access. If a size has several, messages use the first.
const SIZES: &[(&str, Size)] = &[
    ("U8", Size::U8),
    ("U16", Size::U16),
    ("U32", Size::U32),
    ("64", Size::U64),
    ("128", Size::B128),
    ("S8", Size::S8),
    ("S16", Size::S16),
    ("S32", Size::S32),
    ("32", Size::U32),
    ("U64", Size::U64),
];

pub(super) fn size(name: &str) -> Option<Size> {
    SIZES.iter().find(|(known, _)| *known == name).map(|(_, size)| *size)
}

/// Returns the size to use for a store: the same number of bytes without sign extension.
pub(super) fn stored(size: Size) -> Size {
    match size {
        Size::S8 => Size::U8,
        Size::S16 => Size::U16,
        Size::U8 | Size::U16 | Size::U32 | Size::S32 | Size::U64 | Size::B128 => size,
    }
}

/// Decodes `LDL[.64] d, [a]`, `STL[.64] [a], b`
pub(super) fn local(args: &mut Args<'_, '_>, op: Op) -> Decoded<Operation> {
    // These modifiers only affect caching.
    args.ignore(&["LU", "EF", "EL", "CONSTANT"]);
    let size = plain_size(args);
    let before = if op == Op::Load { Some(args.reg_group(registers(size))?) } else { None };
    let address = address(args)?;
    let reg = before.map_or_else(|| args.reg_group(registers(size)), Ok)?;
    Ok(Operation::Local(LocalAccess { op, size, reg, address }))
}

/// Takes the size of a load or a store. `.U` before `.U8` has no effect.
fn plain_size(args: &mut Args<'_, '_>) -> Size {
    args.ignore(&["U", "32", "U32", "S32"]);
    args.choose(|m| size(if m == "16" { "U16" } else { m })).unwrap_or(Size::U32)
}

pub(super) fn registers(size: Size) -> u8 {
    size.bytes().div_ceil(4) as u8
}

/// Decodes `UMEMSETS.64 [a], URZ, n`
pub(super) fn fill(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.require("64")?;
    let address = address(args)?;
    if !args.ureg()?.is_zero() {
        return Err(Failure::Unsupported);
    }
    let words = Source::plain(Value::Uniform(args.ureg()?));
    Ok(Operation::Fill(SharedFill { address, words }))
}

/// Decodes `LDS[.64] d, [a]`, `STS[.64] [a], b`
pub(super) fn access(args: &mut Args<'_, '_>, op: Op) -> Decoded<Operation> {
    let (size, load) = (plain_size(args), op == Op::Load);
    let size = if load { size } else { stored(size) };
    let result = if load { result(args.reg_group(registers(size))?) } else { SharedResult::None };
    let address = address(args)?;
    let rb = if load { Reg::RZ } else { args.reg_group(registers(size))? };
    Ok(Operation::Shared(SharedAccess { op, size, result, address, rb, rc: Reg::RZ, object: false }))
}

fn result(dst: Reg) -> SharedResult {
    if dst.is_zero() { SharedResult::None } else { SharedResult::Reg(dst) }
}

/// True if the operation has its own name as a modifier of ATOMS, such as `.ADD`.
pub(super) fn plain_atomic(op: Op) -> bool {
    !matches!(op, Op::Load | Op::Store) && !op.is_mbarrier()
}

fn atomic_names() -> String {
    let names = OPS.iter().filter(|r| plain_atomic(r.op)).map(|r| r.name);
    names.chain(["ARRIVE"]).collect::<Vec<_>>().join(", ")
}

/// Decodes `ATOMS.op[.size] d, [a], b[, c]`
pub(super) fn atomic(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let unknown = |args: &Args<'_, '_>, message: String| {
        args.wrong(args.mnemonic_range(), message, format!("there are {}", atomic_names()))
    };
    let op = match args.first_modifier() {
        Some("CAST") if args.modifier("SPIN") => Op::CastSpin,
        Some("POPC") if args.modifier("INC") => Op::PopcInc,
        Some("ARRIVE") => Op::MbarArriveSm80,
        Some(name) => match Op::from_name(name).filter(|op| plain_atomic(*op)) {
            Some(op) => op,
            None => return unknown(args, format!("ATOMS has no operation `{name}`")),
        },
        None => return unknown(args, "ATOMS has no operation in its modifiers".into()),
    };
    let named = args.first_modifier();
    let size = named.map_or(Some(Size::U32), size);
    let name =
        |size: &Size| SIZES.iter().find(|(_, known)| known == size).map(|(name, _)| format!(".{name}"));
    let legal: Vec<_> = op.row().sizes.iter().filter_map(name).collect();
    let op_name = if op == Op::MbarArriveSm80 { "ARRIVE" } else { op.name() };
    let not_a_size = named.filter(|_| size.is_none());
    if let Some(more) = not_a_size.or(args.modifiers_left().first().copied()) {
        let message = format!("ATOMS.{op_name} has no modifier `.{more}`");
        let help = format!("the only modifier after the operation is the size: {}", legal.join(", "));
        return args.wrong(args.mnemonic_range(), message, help);
    }
    let Some(size) = size.filter(|s| op.row().sizes.contains(s)) else {
        let message = format!("ATOMS.{op_name} does not exist with this size");
        let help = format!("legal sizes are {} (spec 3.3)", legal.join(", "));
        return args.wrong(args.mnemonic_range(), message, help);
    };
    let row = op.row();
    let count = registers(size);
    let result = match args.peek() {
        Some(OperandKind::Pred(_)) if row.result == ResultKind::Flag => match args.pred_dst()? {
            Pred::Thread(number) => SharedResult::Pred(number),
            Pred::Uniform(_) => {
                let message = format!("ATOMS.{op_name} cannot write a uniform predicate");
                return args.wrong(args.last_range(), message, "write P0 to P6 or PT");
            }
        },
        _ => match result(args.reg_group(count)?) {
            SharedResult::Reg(_) if row.result == ResultKind::Nothing => {
                let message = format!("ATOMS.{op_name} returns no result");
                return args.wrong(args.last_range(), message, "write RZ as destination");
            }
            result => result,
        },
    };
    let address = address(args)?;
    let rb = if row.operands == Operands::None { Reg::RZ } else { args.reg_group(count)? };
    let rc = if row.operands == Operands::BC { args.reg_group(count)? } else { Reg::RZ };
    Ok(Operation::Shared(SharedAccess { op, size, result, address, rb, rc, object: false }))
}

pub(super) fn address(args: &mut Args<'_, '_>) -> Decoded<SharedAddress> {
    let text = args.address()?;
    let range = args.last_range();
    if let Some(reg) = text.reg
        && (reg.suffix.width == Some(Width::Pair) || text.uniform.is_some_and(|u| u.suffix.width.is_some()))
    {
        return args.wrong(range, "a shared address has 32 bits".into(), "write [R2+UR4+0x10], without .64");
    }
    let ra = text.reg.map_or(Reg::RZ, |r| r.of_thread());
    let ur = text.uniform.map_or(UReg::URZ, |r| r.of_warp());
    // An offset that fits only as an absolute address is taken as one, even in forms that have URZ in the
    // address.
    let absolute = ra.is_zero() && (text.uniform.is_none() || (ur.is_zero() && text.imm > 0x7f_ffff));
    let limits = if absolute { 0..=0xff_ffff } else { -0x80_0000..=0x7f_ffff };
    if !limits.contains(&text.imm) {
        let message = format!("offset {:#x} does not fit in 24 bits", text.imm);
        let help = if absolute {
            "without a register, the offset is from 0x0 to 0xffffff (spec 2.1)"
        } else {
            "with a register, the offset is from -0x800000 to 0x7fffff (spec 2.1)"
        };
        return args.wrong(range, message, help);
    }
    let scale = text.reg.map_or(0, |r| r.suffix.scale);
    Ok(SharedAddress { ra, scale, ur, imm: text.imm as u32 & 0xff_ffff, absolute })
}
