//! Integer arithmetic.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::{
    BoolOp, Compare, ComparePart, Compute, ComputeOp, FloatCompare, IntOp, Path, ProductPart,
};
use crate::kernel::instruction::Operation;
use crate::kernel::number::Type;
use crate::kernel::register::PredSource;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = path_of(base);
    match name {
        "IADD3" => sum::<3>(args, path),
        "VIADD" => match args.choose(parts) {
            Some(ty) => sum_of_parts(args, path, ty),
            None => sum::<2>(args, path),
        },
        "IADD" => sum::<2>(args, path),
        "IMAD" => imad(args, path),
        "LEA" => lea(args, path),
        "ISETP" => isetp(args, path),
        "VIMNMX" => match args.choose(|m| halves(m).or(bytes(m))) {
            Some(ty) => min_max_of_parts(args, path, ty),
            None => imnmx(args, path),
        },
        "IMNMX" => imnmx(args, path),
        "IABS" => args.plain::<1>(ComputeOp::int(IntOp::Abs, Type::S32), path),
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

/// `IADD3[.64][.X] d, [p, [q,]] a, b, c[, p[, q]]`, `VIADD d, a, b`, `IADD[.64][.X] d, [p,] a, b[, p]`
fn sum<const N: usize>(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let extended = args.modifier("X");
    let ty = if args.modifier("64") { Type::U64 } else { Type::U32 };
    let mut compute = args.result(ComputeOp::int(IntOp::Add3, ty), path, ty.wide())?;
    args.preds_if_any(&mut compute)?;
    args.sources_of::<N>(ty, &mut compute)?;
    if extended {
        compute.p[0] = args.pred()?;
        if N == 3 {
            compute.p[1] = args.pred_if_any().unwrap_or(PredSource::FALSE);
        }
    }
    Ok(Operation::Compute(compute))
}

/// `IMAD[.MOV|.SHL|.IADD|.X|.WIDE|.HI][.U32] d, [p,] a, b, c[, p]`
fn imad(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let wide = args.modifier("WIDE");
    let high = !wide && args.modifier("HI");
    let extended = args.modifier("X");
    let ty = if args.modifier("U32") { Type::U32 } else { Type::S32 };
    args.ignore(&["S32"]);
    if !wide && !high {
        // Spellings of one instruction: the low word does not depend on signedness.
        args.ignore(&["MOV", "SHL", "IADD"]);
    }
    let op = match (wide, high) {
        (true, _) => IntOp::Mad(ProductPart::Wide),
        (_, true) => IntOp::MadWideHigh,
        _ => IntOp::Mad(ProductPart::Low),
    };
    let mut compute = args.result(ComputeOp::int(op, ty), path, wide)?;
    if let Some(pred) = args.pred_dst_if_any()? {
        if !wide && !high && !pred.is_true() {
            return Err(Failure::Lacking);
        }
        compute.pred_dst[0] = pred;
    }
    args.sources_of::<2>(ty, &mut compute)?;
    compute.sources[2] =
        if wide || high { args.source_pair(Reading::Int)? } else { args.source(Reading::Int)? };
    if extended {
        compute.p[0] = args.pred()?;
    }
    Ok(Operation::Compute(compute))
}

/// `LEA d, [p,] a, b, shift` and `LEA.HI[.X][.SX32] d, [p,] a, b, [c,] shift[, p]`
fn lea(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let high = args.modifier("HI");
    let extended = args.modifier("X");
    let sign_extend = args.modifier("SX32");
    let mut compute = args.result(ComputeOp::Lea { shift: 0 }, path, false)?;
    if let Some(pred) = args.pred_dst_if_any()? {
        compute.pred_dst[0] = pred;
        args.pred_dst_if_any()?;
    }
    args.sources_of::<2>(Type::U32, &mut compute)?;
    if high && !sign_extend {
        compute.sources[2] = args.source(Reading::Int)?;
    }
    let shift = args.number(31)? as u8;
    compute.op = if high { ComputeOp::LeaHi { shift, sign_extend } } else { ComputeOp::Lea { shift } };
    if extended {
        compute.p[0] = args.pred()?;
    }
    Ok(Operation::Compute(compute))
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

/// A type of a single number.
pub(super) fn number_type(name: &str) -> Option<Type> {
    Some(match name {
        "U8" => Type::U8,
        "S8" => Type::S8,
        "U16" => Type::U16,
        "S16" => Type::S16,
        "U32" => Type::U32,
        "S32" => Type::S32,
        "U64" => Type::U64,
        "S64" => Type::S64,
        "F16" => Type::F16,
        "BF16" => Type::Bf16,
        "F32" => Type::F32,
        "F64" => Type::F64,
        _ => return None,
    })
}

/// An integer type that arithmetic is done in.
pub(super) fn int_type(name: &str) -> Option<Type> {
    number_type(name).filter(|ty| !ty.float() && ty.bits() >= 32)
}

/// `ISETP.cmp[.U32].bool[.EX] p, q, a, b, p[, p]`
fn isetp(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let Some(compare) = args.choose(compare) else { return Err(Failure::Lacking) };
    let ty = args.choose(int_type).unwrap_or(Type::S32);
    let Some(combine) = args.choose(combine) else { return Err(Failure::Lacking) };
    let part = if args.modifier("EX") { ComparePart::High } else { ComparePart::Whole };
    let compare = FloatCompare { compare, unordered: false };
    let op = ComputeOp::Compare { compare, ty, combine, flush: false, result: None, part };
    let mut compute = Compute::new(op, path);
    compute.pred_dst = [args.pred_dst()?, args.pred_dst()?];
    args.sources_of::<2>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    if part == ComparePart::High {
        compute.p[1] = args.pred()?;
    }
    Ok(Operation::Compute(compute))
}

/// Types of two halves.
pub(super) fn halves(name: &str) -> Option<Type> {
    match name {
        "U16x2" => Some(Type::U16x2),
        "S16x2" => Some(Type::S16x2),
        _ => None,
    }
}

/// Types of four bytes.
fn bytes(name: &str) -> Option<Type> {
    match name {
        "U8x4" => Some(Type::U8x4),
        "S8x4" => Some(Type::S8x4),
        _ => None,
    }
}

/// Types that VIADD names: unsigned ones where it does not say.
fn parts(name: &str) -> Option<Type> {
    match name {
        "32" => Some(Type::U32),
        "S32" => Some(Type::S32),
        "16x2" => Some(Type::U16x2),
        "S16x2" => Some(Type::S16x2),
        _ => bytes(name),
    }
}

/// `VIADD.32|S32|16x2|S16x2|U8x4|S8x4[.ISAT] d, a, b`
fn sum_of_parts(args: &mut Args<'_, '_>, path: Path, ty: Type) -> Decoded<Operation> {
    let saturate = args.modifier("ISAT");
    let mut compute = args.result(ComputeOp::Move, path, false)?;
    args.sources_of::<2>(ty, &mut compute)?;
    let [a, b, ..] = &mut compute.sources;
    if a.negate {
        return Err(Failure::Lacking);
    }
    let op = if std::mem::take(&mut b.negate) { IntOp::Sub } else { IntOp::Add };
    compute.op = ComputeOp::Int { op, ty, saturate, relu: false };
    Ok(Operation::Compute(compute))
}

/// The least or the greatest, chosen by a predicate.
fn min_max(args: &mut Args<'_, '_>, ty: Type) -> ComputeOp {
    ComputeOp::Int { op: IntOp::MinMax, ty, saturate: false, relu: args.modifier("RELU") }
}

/// `VIMNMX.U16x2|S16x2[.RELU] d, [p, q,] a, b, p`, `VIMNMX.U8x4|S8x4[.RELU] d, a, b, p`
fn min_max_of_parts(args: &mut Args<'_, '_>, path: Path, ty: Type) -> Decoded<Operation> {
    let op = min_max(args, ty);
    let mut compute = args.result(op, path, false)?;
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        args.preds_if_any(&mut compute)?;
    }
    args.sources_of::<2>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    Ok(Operation::Compute(compute))
}

/// `IMNMX[.U32|.U64|.S64] [p, q,] d, a, b, p[, q]`, `VIMNMX[.U32][.RELU] d, [p, q,] a, b, p`
fn imnmx(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let ty = args.choose(int_type).unwrap_or(Type::S32);
    let op = min_max(args, ty);
    if ty.wide() {
        no_choices(args)?;
    }
    let mut compute = args.result(op, path, ty.wide())?;
    no_choices(args)?;
    args.sources_of::<2>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    if ty.wide() && args.pred_if_any().is_some_and(|p| p != PredSource::FALSE) {
        return Err(Failure::Lacking);
    }
    Ok(Operation::Compute(compute))
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
