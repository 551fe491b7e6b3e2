//! Decoders of integer arithmetic and comparisons.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::{ComparePart, ComputeOp, FloatCompare, IntOp, ProductPart};
use crate::kernel::instruction::Operation;
use crate::kernel::number::Type;
use crate::kernel::register::PredSource;

/// Decodes `IADD3[.64][.X] d, [p, [q,]] a, b, c[, p[, q]]`, `VIADD d, a, b`, `IADD[.64][.X] d, [p,] a, b[,
/// p]`
pub(super) fn sum<const N: usize>(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let extended = args.modifier("X");
    let ty = if args.modifier("64") { Type::U64 } else { Type::U32 };
    let mut compute = args.result(ComputeOp::int(IntOp::Add3, ty), ty.wide())?;
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

/// Decodes `IMAD[.MOV|.SHL|.IADD|.X|.WIDE|.HI][.U32] d, [p,] a, b, c[, p]`
pub(super) fn imad(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let wide = args.modifier("WIDE");
    let high = !wide && args.modifier("HI");
    let extended = args.modifier("X");
    let ty = if args.modifier("U32") { Type::U32 } else { Type::S32 };
    args.ignore(&["S32"]);
    if !wide && !high {
        // MOV, SHL and IADD are other spellings of the same instruction. Signedness does not change the low
        // word of the product.
        args.ignore(&["MOV", "SHL", "IADD"]);
    }
    let op = match (wide, high) {
        (true, _) => IntOp::Mad(ProductPart::Wide),
        (_, true) => IntOp::MadWideHigh,
        _ => IntOp::Mad(ProductPart::Low),
    };
    let mut compute = args.result(ComputeOp::int(op, ty), wide)?;
    if let Some(pred) = args.pred_dst_if_any()? {
        if !wide && !high && !pred.is_true() {
            return Err(Failure::Unsupported);
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

/// Decodes `LEA d, [p,] a, b, shift` and `LEA.HI[.X][.SX32] d, [p,] a, b, [c,] shift[, p]`
pub(super) fn lea(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let high = args.modifier("HI");
    let extended = args.modifier("X");
    let sign_extend = args.modifier("SX32");
    let mut compute = args.result(ComputeOp::Lea { shift: 0 }, false)?;
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

pub(super) fn int_type(name: &str) -> Option<Type> {
    number_type(name).filter(|ty| !ty.float() && ty.bits() >= 32)
}

/// Decodes `ISETP.cmp[.U32].bool[.EX] p, q, a, b, p[, p]`
pub(super) fn isetp(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let compare = FloatCompare { compare: args.named()?, unordered: false };
    let ty = args.choose(int_type).unwrap_or(Type::S32);
    let combine = args.named()?;
    let part = if args.modifier("EX") { ComparePart::High } else { ComparePart::Whole };
    let op = ComputeOp::Compare { compare, ty, combine, flush: false, result: None, part };
    let mut compute = args.pred_results(op)?;
    args.sources_of::<2>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    if part == ComparePart::High {
        compute.p[1] = args.pred()?;
    }
    Ok(Operation::Compute(compute))
}

pub(super) const HALVES: &[(&str, Type)] = &[("U16x2", Type::U16x2), ("S16x2", Type::S16x2)];

const BYTES: &[(&str, Type)] = &[("U8x4", Type::U8x4), ("S8x4", Type::S8x4)];

/// Packed and saturating types of VIADD. A type without a letter for its sign is unsigned.
const PARTS: &[(&str, Type)] =
    &[("32", Type::U32), ("S32", Type::S32), ("16x2", Type::U16x2), ("S16x2", Type::S16x2)];

pub(super) fn viadd(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = args.one_of(PARTS).or_else(|| args.one_of(BYTES));
    if let Some(ty) = ty { sum_of_parts(args, ty) } else { sum::<2>(args) }
}

/// Decodes `VIADD.32|S32|16x2|S16x2|U8x4|S8x4[.ISAT] d, a, b`
fn sum_of_parts(args: &mut Args<'_, '_>, ty: Type) -> Decoded<Operation> {
    let saturate = args.modifier("ISAT");
    let mut compute = args.result(ComputeOp::Move, false)?;
    args.sources_of::<2>(ty, &mut compute)?;
    let [a, b, ..] = &mut compute.sources;
    if a.negate {
        std::mem::swap(a, b);
    }
    let both = a.negate && b.negate;
    if both && saturate {
        return Err(Failure::Unsupported);
    }
    let op = if !both && std::mem::take(&mut b.negate) { IntOp::Sub } else { IntOp::Add };
    compute.op = ComputeOp::Int { op, ty, saturate, relu: false };
    Ok(Operation::Compute(compute))
}

fn min_max(args: &mut Args<'_, '_>, ty: Type) -> ComputeOp {
    ComputeOp::Int { op: IntOp::MinMax, ty, saturate: false, relu: args.modifier("RELU") }
}

/// Decodes `VIMNMX.U16x2|S16x2[.RELU] d, [p, q,] a, b, p`, `VIMNMX.U8x4|S8x4[.RELU] d, a, b, p`; other types
/// as IMNMX.
pub(super) fn vimnmx(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = args.one_of(HALVES).or_else(|| args.one_of(BYTES));
    let Some(ty) = ty else { return imnmx(args) };
    let op = min_max(args, ty);
    let mut compute = args.result(op, false)?;
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        args.preds_if_any(&mut compute)?;
    }
    args.chosen::<2>(compute, ty)
}

/// Decodes `IMNMX[.U32|.U64|.S64] [p, q,] d, a, b, p[, q]`, `VIMNMX[.U32][.RELU] d, [p, q,] a, b, p`
pub(super) fn imnmx(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let ty = args.choose(int_type).unwrap_or(Type::S32);
    let op = min_max(args, ty);
    if ty.wide() {
        no_choices(args)?;
    }
    let mut compute = args.result(op, ty.wide())?;
    no_choices(args)?;
    args.sources_of::<2>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    if ty.wide() && args.pred_if_any().is_some_and(|p| !(p.negate && p.pred.is_true())) {
        return Err(Failure::Unsupported);
    }
    Ok(Operation::Compute(compute))
}

/// Takes up to two predicate results, which must be PT. They would tell which operand was selected, but
/// compilers are known to write only PT here.
pub(super) fn no_choices(args: &mut Args<'_, '_>) -> Decoded<()> {
    for _ in 0..2 {
        if args.pred_dst_if_any()?.is_some_and(|p| !p.is_true()) {
            return Err(Failure::Unsupported);
        }
    }
    Ok(())
}
