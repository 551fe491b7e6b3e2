//! Integer arithmetic.

use super::args::{Args, Reading, blank};
use super::{Decoded, Failure};
use crate::kernel::alu::{Alu, AluOp, BoolOp, Compare, IntType, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::register::PredSource;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = path_of(base);
    match name {
        "IADD3" => iadd3(args, path),
        "VIADD" => match args.choose(parts) {
            Some(kind) => sum_of_parts(args, path, kind),
            None => iadd(args, path),
        },
        "IADD" => iadd(args, path),
        "IMAD" => imad(args, path),
        "LEA" => lea(args, path),
        "ISETP" => isetp(args, path),
        "VIMNMX" => match args.choose(|m| halves(m).or(bytes(m))) {
            Some(kind) => min_max_of_parts(args, path, kind),
            None => imnmx(args, path),
        },
        "IMNMX" => imnmx(args, path),
        "IABS" => {
            let mut alu = blank(AluOp::IAbs, path);
            alu.dst = args.dst(path, 1)?;
            alu.a = args.source(Reading::Int)?;
            Ok(Operation::Alu(alu))
        }
        _ => Err(Failure::Lacking),
    }
}

/// The datapath of a mnemonic, and its name without the letter that says so.
pub(super) fn path_of(base: &str) -> (Path, &str) {
    match base.strip_prefix('U') {
        Some(name) => (Path::Uniform, name),
        None => (Path::Vector, base),
    }
}

/// `IADD3[.X] d, [p, [q,]] a, b, c[, p[, q]]`, `IADD3.64[.X] d, [p, [q,]] a, b, c[, p[, q]]`
fn iadd3(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let extended = args.modifier("X");
    let wide = args.modifier("64");
    let mut alu = blank(if wide { AluOp::IAdd64 } else { AluOp::IAdd3 }, path);
    alu.dst = args.dst(path, if wide { 2 } else { 1 })?;
    for slot in 0..2 {
        if let Some(pred) = args.pred_dst_if_any()? {
            alu.pred_dst[slot] = pred;
        }
    }
    let mut source = || if wide { args.source_pair(Reading::Int64) } else { args.source(Reading::Int) };
    alu.a = source()?;
    alu.b = source()?;
    alu.c = source()?;
    alu.p = [PredSource::FALSE; 3];
    if extended {
        alu.p[0] = args.pred()?;
        alu.p[1] = args.pred_if_any().unwrap_or(PredSource::FALSE);
    }
    Ok(Operation::Alu(alu))
}

/// `VIADD d, a, b`, `IADD[.X] d, [p,] a, b[, p]`, `IADD.64[.X] d, [p,] a, b[, p]`
fn iadd(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let extended = args.modifier("X");
    let wide = args.modifier("64");
    let mut alu = blank(if wide { AluOp::IAdd64 } else { AluOp::IAdd3 }, path);
    alu.dst = args.dst(path, if wide { 2 } else { 1 })?;
    for slot in 0..2 {
        if let Some(pred) = args.pred_dst_if_any()? {
            alu.pred_dst[slot] = pred;
        }
    }
    (alu.a, alu.b) = if wide {
        (args.source_pair(Reading::Int64)?, args.source_pair(Reading::Int64)?)
    } else {
        (args.source(Reading::Int)?, args.source(Reading::Int)?)
    };
    alu.p = [PredSource::FALSE; 3];
    if extended {
        alu.p[0] = args.pred()?;
    }
    Ok(Operation::Alu(alu))
}

/// `IMAD[.MOV|.SHL|.IADD|.X|.WIDE|.HI][.U32] d, [p,] a, b, c[, p]`
fn imad(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let wide = args.modifier("WIDE");
    let high = !wide && args.modifier("HI");
    let extended = args.modifier("X");
    let kind = if args.modifier("U32") { IntType::U32 } else { IntType::S32 };
    args.ignore(&["S32"]);
    if !wide && !high {
        // Spellings of one instruction: the low word does not depend on signedness.
        args.ignore(&["MOV", "SHL", "IADD"]);
    }
    let op = match (wide, high) {
        (true, _) => AluOp::IMadWide(kind),
        (_, true) => AluOp::IMadHi(kind),
        _ => AluOp::IMad,
    };
    let mut alu = blank(op, path);
    alu.dst = args.dst(path, if wide { 2 } else { 1 })?;
    if let Some(pred) = args.pred_dst_if_any()? {
        if !wide && !high && !pred.is_true() {
            return Err(Failure::Lacking);
        }
        alu.pred_dst[0] = pred;
    }
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.c = if wide || high { args.source_pair(Reading::Int)? } else { args.source(Reading::Int)? };
    alu.p = [PredSource::FALSE; 3];
    if extended {
        alu.p[0] = args.pred()?;
    }
    Ok(Operation::Alu(alu))
}

/// `LEA d, [p,] a, b, shift` and `LEA.HI[.X][.SX32] d, [p,] a, b, [c,] shift[, p]`
fn lea(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let high = args.modifier("HI");
    let extended = args.modifier("X");
    let sign_extend = args.modifier("SX32");
    let mut alu = blank(AluOp::Lea { shift: 0 }, path);
    alu.dst = args.dst(path, 1)?;
    if let Some(pred) = args.pred_dst_if_any()? {
        alu.pred_dst[0] = pred;
        args.pred_dst_if_any()?;
    }
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    if high && !sign_extend {
        alu.c = args.source(Reading::Int)?;
    }
    let shift = args.number(31)? as u8;
    alu.op = if high { AluOp::LeaHi { shift, sign_extend } } else { AluOp::Lea { shift } };
    alu.p = [PredSource::FALSE; 3];
    if extended {
        alu.p[0] = args.pred()?;
    }
    Ok(Operation::Alu(alu))
}

pub(super) fn compare(name: &str) -> Option<Compare> {
    Some(match name {
        "F" => Compare::False,
        "LT" => Compare::Lt,
        "EQ" => Compare::Eq,
        "LE" => Compare::Le,
        "GT" => Compare::Gt,
        "NE" => Compare::Ne,
        "GE" => Compare::Ge,
        "T" => Compare::True,
        _ => return None,
    })
}

pub(super) fn combine(name: &str) -> Option<BoolOp> {
    Some(match name {
        "AND" => BoolOp::And,
        "OR" => BoolOp::Or,
        "XOR" => BoolOp::Xor,
        _ => return None,
    })
}

pub(super) fn int_type(name: &str) -> Option<IntType> {
    Some(match name {
        "U32" => IntType::U32,
        "S32" => IntType::S32,
        "U64" => IntType::U64,
        "S64" => IntType::S64,
        _ => return None,
    })
}

/// `ISETP.cmp[.U32].bool[.EX] p, q, a, b, p[, p]`
fn isetp(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let Some(compare) = args.choose(compare) else { return Err(Failure::Lacking) };
    let kind = args.choose(int_type).unwrap_or(IntType::S32);
    let Some(combine) = args.choose(combine) else { return Err(Failure::Lacking) };
    let extended = args.modifier("EX");
    let mut alu = blank(AluOp::ISetP { compare, kind, combine, extended }, path);
    alu.pred_dst = [args.pred_dst()?, args.pred_dst()?];
    if kind.wide() {
        alu.a = args.source_pair(Reading::Int64)?;
        alu.b = args.source_pair(Reading::Int64)?;
    } else {
        alu.a = args.source(Reading::Int)?;
        alu.b = args.source(Reading::Int)?;
    }
    alu.p[0] = args.pred()?;
    if extended {
        alu.p[1] = args.pred()?;
    }
    Ok(Operation::Alu(alu))
}

/// Types of two halves.
pub(super) fn halves(name: &str) -> Option<IntType> {
    match name {
        "U16x2" => Some(IntType::U16x2),
        "S16x2" => Some(IntType::S16x2),
        _ => None,
    }
}

/// Types of four bytes.
fn bytes(name: &str) -> Option<IntType> {
    match name {
        "U8x4" => Some(IntType::U8x4),
        "S8x4" => Some(IntType::S8x4),
        _ => None,
    }
}

/// Types that VIADD names: unsigned ones where it does not say.
fn parts(name: &str) -> Option<IntType> {
    match name {
        "32" => Some(IntType::U32),
        "S32" => Some(IntType::S32),
        "16x2" => Some(IntType::U16x2),
        "S16x2" => Some(IntType::S16x2),
        _ => bytes(name),
    }
}

/// `VIADD.32|S32|16x2|S16x2|U8x4|S8x4[.ISAT] d, a, b`
fn sum_of_parts(args: &mut Args<'_, '_>, path: Path, kind: IntType) -> Decoded<Operation> {
    let saturate = args.modifier("ISAT");
    let dst = args.dst(path, 1)?;
    let (a, mut b) = (args.source(Reading::Int)?, args.source(Reading::Int)?);
    let subtract = std::mem::take(&mut b.negate);
    if a.negate {
        return Err(Failure::Lacking);
    }
    let op = AluOp::AddParts { kind, subtract, saturate };
    Ok(Operation::Alu(Alu { dst, a, b, ..blank(op, path) }))
}

/// `VIMNMX.U16x2|S16x2[.RELU] d, [p, q,] a, b, p`, `VIMNMX.U8x4|S8x4[.RELU] d, a, b, p`
fn min_max_of_parts(args: &mut Args<'_, '_>, path: Path, kind: IntType) -> Decoded<Operation> {
    let relu = args.modifier("RELU");
    let mut alu = blank(AluOp::IMinMax { kind, relu }, path);
    alu.dst = args.dst(path, 1)?;
    if kind.bits() == 16 {
        for choice in &mut alu.pred_dst {
            *choice = args.pred_dst_if_any()?.unwrap_or(*choice);
        }
    }
    alu.a = args.source(Reading::Int)?;
    alu.b = args.source(Reading::Int)?;
    alu.p[0] = args.pred()?;
    Ok(Operation::Alu(alu))
}

/// `IMNMX[.U32|.U64|.S64] [p, q,] d, a, b, p[, q]`, `VIMNMX[.U32][.RELU] d, [p, q,] a, b, p`
fn imnmx(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let kind = args.choose(int_type).unwrap_or(IntType::S32);
    let relu = args.modifier("RELU");
    let mut alu = blank(AluOp::IMinMax { kind, relu }, path);
    if kind.wide() {
        no_choices(args)?;
    }
    alu.dst = args.dst(path, if kind.wide() { 2 } else { 1 })?;
    no_choices(args)?;
    if kind.wide() {
        alu.a = args.source_pair(Reading::Int64)?;
        alu.b = args.source_pair(Reading::Int64)?;
    } else {
        alu.a = args.source(Reading::Int)?;
        alu.b = args.source(Reading::Int)?;
    }
    alu.p[0] = args.pred()?;
    if kind.wide() && args.pred_if_any().is_some_and(|p| p != PredSource::FALSE) {
        return Err(Failure::Lacking);
    }
    Ok(Operation::Alu(alu))
}

/// Up to two predicate results that would say which operand was taken: only PT is known to be written by
/// compilers.
pub(super) fn no_choices(args: &mut Args<'_, '_>) -> Decoded<()> {
    for _ in 0..2 {
        if args.pred_dst_if_any()?.is_some_and(|p| !p.is_true()) {
            return Err(Failure::Lacking);
        }
    }
    Ok(())
}
