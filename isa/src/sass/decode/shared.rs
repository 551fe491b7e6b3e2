//! ATOMS, LDS and STS; LDL and STL.

use super::Decoded;
use super::args::Args;
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{LocalAccess, SharedAccess, SharedAddress, SharedResult};
use crate::kernel::register::{Pred, Reg};
use crate::sass::operand::{OperandKind, Width};
use atoms_ops::{OPS, Op, Operands, ResultKind, Size};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    match base {
        "LDS" => load(args),
        "STS" => store(args),
        "LDL" => local(args, Op::Load),
        "STL" => local(args, Op::Store),
        _ => atomic(args),
    }
}

/// `LDL[.64] d, [a]`, `STL[.64] [a], b`
fn local(args: &mut Args<'_, '_>, op: Op) -> Decoded<Operation> {
    // What the cache may do with the line afterwards.
    args.ignore(&["LU", "EF", "EL", "CONSTANT"]);
    let size = plain_size(args);
    let (reg, address) = if op == Op::Load {
        let reg = args.reg_group(registers(size))?;
        (reg, address(args)?)
    } else {
        let address = address(args)?;
        (args.reg_group(registers(size))?, address)
    };
    Ok(Operation::Local(LocalAccess { op, size, reg, address }))
}

/// Size of a plain access; `.U` says nothing that `.U8` does not.
fn plain_size(args: &mut Args<'_, '_>) -> Size {
    args.ignore(&["U", "32", "U32", "S32"]);
    args.choose(|m| match m {
        "U8" => Some(Size::U8),
        "S8" => Some(Size::S8),
        "U16" | "16" => Some(Size::U16),
        "S16" => Some(Size::S16),
        "64" | "U64" => Some(Size::U64),
        "128" => Some(Size::B128),
        _ => None,
    })
    .unwrap_or(Size::U32)
}

/// Registers an operand of this size fills.
pub(super) fn registers(size: Size) -> u8 {
    size.bytes().div_ceil(4) as u8
}

fn load(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let size = plain_size(args);
    let dst = args.reg_group(registers(size))?;
    let address = address(args)?;
    let result = if dst.is_zero() { SharedResult::None } else { SharedResult::Reg(dst) };
    Ok(Operation::Shared(SharedAccess { op: Op::Load, size, result, address, rb: Reg::RZ, rc: Reg::RZ }))
}

fn store(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let size = match plain_size(args) {
        Size::S8 => Size::U8,
        Size::S16 => Size::U16,
        size => size,
    };
    let address = address(args)?;
    let rb = args.reg_group(registers(size))?;
    Ok(Operation::Shared(SharedAccess {
        op: Op::Store,
        size,
        result: SharedResult::None,
        address,
        rb,
        rc: Reg::RZ,
    }))
}

/// Whether it is an ATOMS under its own name.
pub(super) fn plain_atomic(op: Op) -> bool {
    !matches!(op, Op::Load | Op::Store) && !op.is_mbarrier()
}

/// Names of the operations of ATOMS, for messages.
fn atomic_names() -> String {
    let names = OPS.iter().filter(|r| plain_atomic(r.op)).map(|r| r.name);
    names.chain(["ARRIVE"]).collect::<Vec<_>>().join(", ")
}

/// Suffix of a size in machine code text, for messages.
fn suffix(size: Size) -> &'static str {
    match size {
        Size::U8 => ".U8",
        Size::U16 => ".U16",
        Size::U32 => ".U32",
        Size::U64 => ".64",
        Size::B128 => ".128",
        Size::S8 => ".S8",
        Size::S16 => ".S16",
        Size::S32 => ".S32",
    }
}

fn atomic(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = match args.first_modifier() {
        Some("CAST") if args.modifier("SPIN") => Op::CastSpin,
        Some("POPC") if args.modifier("INC") => Op::PopcInc,
        Some("ARRIVE") => Op::MbarArriveSm80,
        Some(name) => match Op::from_name(name) {
            Some(op) if plain_atomic(op) => op,
            _ => {
                let message = format!("ATOMS has no operation `{name}`");
                return args.wrong(args.mnemonic_range(), message, format!("there are {}", atomic_names()));
            }
        },
        None => {
            let message = "ATOMS names no operation".to_string();
            return args.wrong(args.mnemonic_range(), message, format!("there are {}", atomic_names()));
        }
    };
    let size = args.first_modifier().map_or(Some(Size::U32), |m| match m {
        "U32" | "32" => Some(Size::U32),
        "S32" => Some(Size::S32),
        "U64" | "64" => Some(Size::U64),
        "128" => Some(Size::B128),
        "U8" => Some(Size::U8),
        "U16" => Some(Size::U16),
        "S8" => Some(Size::S8),
        "S16" => Some(Size::S16),
        _ => None,
    });
    let legal: Vec<_> = op.row().sizes.iter().map(|s| suffix(*s)).collect();
    let op_name = if op == Op::MbarArriveSm80 { "ARRIVE" } else { op.name() };
    let Some(size) = size.filter(|s| op.row().sizes.contains(s)) else {
        let message = format!("ATOMS.{op_name} does not exist in this size");
        let help = format!("it exists as {} (spec 3.3)", legal.join(", "));
        return args.wrong(args.mnemonic_range(), message, help);
    };
    if let Some(more) = args.modifiers_left().first() {
        let message = format!("ATOMS.{op_name} has no modifier `.{more}`");
        let help = format!("after the operation stands one size: {}", legal.join(", "));
        return args.wrong(args.mnemonic_range(), message, help);
    }
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
        _ => match args.reg_group(count)? {
            dst if dst.is_zero() => SharedResult::None,
            _ if row.result == ResultKind::Nothing => {
                let message = format!("ATOMS.{op_name} gives no result");
                return args.wrong(args.last_range(), message, "its destination is RZ");
            }
            dst => SharedResult::Reg(dst),
        },
    };
    let address = address(args)?;
    let rb = if row.operands == Operands::None { Reg::RZ } else { args.reg_group(count)? };
    let rc = if row.operands == Operands::BC { args.reg_group(count)? } else { Reg::RZ };
    Ok(Operation::Shared(SharedAccess { op, size, result, address, rb, rc }))
}

/// Shared-memory address (spec 2.1, 2.2).
pub(super) fn address(args: &mut Args<'_, '_>) -> Decoded<SharedAddress> {
    let text = args.address()?;
    let range = args.last_range();
    if let Some(reg) = text.reg
        && (reg.suffix.width == Some(Width::Pair) || text.uniform.is_some_and(|u| u.suffix.width.is_some()))
    {
        return args.wrong(range, "a shared address has 32 bits".into(), "write [R2+UR4+0x10], without .64");
    }
    let ra = text.reg.and_then(|r| r.index).map_or(Reg::RZ, Reg);
    let ur = super::args::uniform(text.uniform.and_then(|r| r.index));
    // What fits only as an absolute address is one, also where the form wants URZ written.
    let absolute = ra.is_zero() && (text.uniform.is_none() || (ur.is_zero() && text.imm > 0x7f_ffff));
    let limits = if absolute { 0..=0xff_ffff } else { -0x80_0000..=0x7f_ffff };
    if !limits.contains(&text.imm) {
        let message = format!("offset {:#x} does not fit in 24 bits", text.imm);
        let help = if absolute {
            "without a register it is from 0x0 to 0xffffff (spec 2.1)"
        } else {
            "with a register it is from -0x800000 to 0x7fffff (spec 2.1)"
        };
        return args.wrong(range, message, help);
    }
    let scale = text.reg.map_or(0, |r| r.suffix.scale);
    Ok(SharedAddress { ra, scale, ur, imm: text.imm as u32 & 0xff_ffff, absolute })
}
