//! Decoders of binary32 and binary64 arithmetic.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::{
    BoolOp, ComparePart, Compute, ComputeOp, FloatCompare, FloatOp, MinMax, MinMaxOf,
};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{FloatMode, FloatType, MufuFunction, Rounding, Type};

/// Decodes `FSETP.cmp.bool[.FTZ] p, q, a, b, p`
pub(super) fn fsetp(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (compare, combine) = comparison(args)?;
    let flush = args.modifier("FTZ");
    let compute = args.pred_results(ComputeOp::compare(compare, Type::F32, combine, flush))?;
    args.chosen::<2>(compute, Type::F32)
}

/// Decodes `FSET[.BF].cmp.bool[.FTZ] d, a, b, p`
pub(super) fn fset(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let result = Some(if args.modifier("BF") { Type::F32 } else { Type::U32 });
    let (compare, combine) = comparison(args)?;
    let (flush, ty, part) = (args.modifier("FTZ"), Type::F32, ComparePart::Whole);
    let compute = args.result(ComputeOp::Compare { compare, ty, combine, flush, result, part }, false)?;
    args.chosen::<2>(compute, ty)
}

/// Decodes `FMNMX[.FTZ][.NAN][.XORSIGN] d, a, b, p`, `FMNMX3[.FTZ][.NAN] d, a, b, c, p`
pub(super) fn fmnmx<const N: usize>(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let mode = FloatMode { flush: args.modifier("FTZ"), ..FloatMode::PLAIN };
    let xor_sign = N == 2 && args.modifier("XORSIGN");
    let of = match (N, xor_sign) {
        (3, _) => MinMaxOf::Three,
        (_, true) => MinMaxOf::TwoMagnitudes,
        (_, false) => MinMaxOf::Two,
    };
    let op = FloatOp::MinMax(MinMax { nan: args.modifier("NAN"), of });
    let mut compute = args.result(ComputeOp::float(op, FloatType::F32, mode), false)?;
    args.sources_of::<N>(Type::F32, &mut compute)?;
    // `.XORSIGN` uses the signs of the operands before the absolute value is taken. Compilers write absolute
    // value bars around both operands.
    for source in compute.sources.iter_mut().take(N).filter(|_| xor_sign) {
        if source.negate || !std::mem::take(&mut source.absolute) {
            return Err(Failure::Unsupported);
        }
    }
    compute.p[0] = args.pred()?;
    Ok(Operation::Compute(compute))
}

/// Decodes `FSEL[.FTZ] d, a, b, p`
pub(super) fn fsel(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = ComputeOp::Select { ty: Type::F32, flush: args.modifier("FTZ") };
    let compute = args.result(op, false)?;
    args.chosen::<2>(compute, Type::F32)
}

/// Decodes `FCHK.DIVIDE p, a, b`
pub(super) fn check(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    args.ignore(&["DIVIDE"]);
    let mut compute = Compute::new(ComputeOp::DivisionIsHard, args.path);
    compute.pred_dst[0] = args.pred_dst()?;
    args.sources_of::<2>(Type::F32, &mut compute)?;
    Ok(Operation::Compute(compute))
}

/// Takes the rounding mode: `.RN`, `.RM`, `.RP` or `.RZ`. The default is `.RN`, nearest.
pub(super) fn rounding(args: &mut Args<'_, '_>) -> Rounding {
    args.known().unwrap_or(Rounding::Nearest)
}

pub(super) fn float_mode(args: &mut Args<'_, '_>) -> FloatMode {
    let (flush, round, saturate) = (args.modifier("FTZ"), rounding(args), args.modifier("SAT"));
    FloatMode { flush, round, saturate, relu: false }
}

/// Decodes `FADD[.FTZ][.RM][.SAT] d, a, b`, `FFMA... d, a, b, c`
pub(super) fn arithmetic<const N: usize>(args: &mut Args<'_, '_>, op: FloatOp) -> Decoded<Operation> {
    let op = ComputeOp::float(op, FloatType::F32, float_mode(args));
    args.plain::<N>(op, Type::F32)
}

/// Decodes `FADD2[.FTZ][.RM] d, a, b`, `FFMA2... d, a, b, c`: operations on two packed binary32 values.
pub(super) fn packed<const N: usize>(args: &mut Args<'_, '_>, op: FloatOp) -> Decoded<Operation> {
    let mode = FloatMode { flush: args.modifier("FTZ"), round: rounding(args), ..FloatMode::PLAIN };
    let mut compute = args.result(ComputeOp::float(op, FloatType::F32x2, mode), true)?;
    for source in compute.sources.iter_mut().take(N) {
        *source = args.source_floats()?;
    }
    Ok(Operation::Compute(compute))
}

pub(super) fn comparison(args: &mut Args<'_, '_>) -> Decoded<(FloatCompare, BoolOp)> {
    Ok((args.named()?, args.named()?))
}

/// Decodes `MUFU.function d, a`
pub(super) fn mufu(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let function = args.named()?;
    let mut compute = args.result(ComputeOp::Mufu(function), false)?;
    // For the high word of a binary64, the text shows the binary64 number that has this high word and a low
    // word of zero.
    let high = matches!(function, MufuFunction::Rcp64High | MufuFunction::Rsq64High);
    compute.sources[0] = args.source(if high { Reading::F64 } else { Reading::F32 })?;
    Ok(Operation::Compute(compute))
}

/// Decodes `DADD[.RM] d, a, b`, `DFMA[.RM] d, a, b, c`
pub(super) fn double<const N: usize>(args: &mut Args<'_, '_>, op: FloatOp) -> Decoded<Operation> {
    let mode = FloatMode { round: rounding(args), ..FloatMode::PLAIN };
    args.plain::<N>(ComputeOp::float(op, FloatType::F64, mode), Type::F64)
}

/// Decodes `DSETP.cmp.bool p, q, a, b, p`, `DSETP.MIN|MAX.bool p, q, a, b, p`
pub(super) fn dsetp(args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let op = match args.one_of(&[("MIN", true), ("MAX", false)]) {
        Some(min) => ComputeOp::MinMaxTaken { min, combine: args.named()? },
        None => {
            let (compare, combine) = comparison(args)?;
            ComputeOp::compare(compare, Type::F64, combine, false)
        }
    };
    let compute = args.pred_results(op)?;
    args.chosen::<2>(compute, Type::F64)
}
