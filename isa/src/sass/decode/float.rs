//! Floats of one format: binary32 and binary64.

use super::args::{Args, Reading};
use super::arith::{combine, path_of};
use super::{Decoded, Failure};
use crate::kernel::compute::{
    BoolOp, Compare, ComparePart, Compute, ComputeOp, FloatCompare, FloatOp, MinMax, Path,
};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{FloatMode, MufuFunction, Rounding, Type};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = path_of(base);
    match name {
        "FADD" => arithmetic::<2>(args, path, FloatOp::Add),
        "FMUL" => arithmetic::<2>(args, path, FloatOp::Mul),
        "FFMA" => arithmetic::<3>(args, path, FloatOp::Fma),
        "FSETP" => {
            let (compare, combine) = comparison(args)?;
            let flush = args.modifier("FTZ");
            setp(args, path, Type::F32, ComputeOp::compare(compare, Type::F32, combine, flush))
        }
        "FSET" => {
            let result = Some(if args.modifier("BF") { Type::F32 } else { Type::U32 });
            let (compare, combine) = comparison(args)?;
            let (flush, ty, part) = (args.modifier("FTZ"), Type::F32, ComparePart::Whole);
            let op = ComputeOp::Compare { compare, ty, combine, flush, result, part };
            let compute = args.result(op, path, false)?;
            two(args, Type::F32, compute)
        }
        "FMNMX" => {
            let mode = FloatMode { flush: args.modifier("FTZ"), ..FloatMode::PLAIN };
            let how = MinMax { nan: args.modifier("NAN"), xor_sign_abs: false };
            let compute =
                args.result(ComputeOp::float(FloatOp::MinMax(how), Type::F32, mode), path, false)?;
            two(args, Type::F32, compute)
        }
        "FSEL" => {
            let op = ComputeOp::Select { ty: Type::F32, flush: args.modifier("FTZ") };
            let compute = args.result(op, path, false)?;
            two(args, Type::F32, compute)
        }
        "FCHK" => {
            args.ignore(&["DIVIDE"]);
            let mut compute = Compute::new(ComputeOp::DivisionIsHard, path);
            compute.pred_dst[0] = args.pred_dst()?;
            args.sources_of::<2>(Type::F32, &mut compute)?;
            Ok(Operation::Compute(compute))
        }
        "MUFU" => mufu(args, path),
        "DADD" => double::<2>(args, path, FloatOp::Add),
        "DMUL" => double::<2>(args, path, FloatOp::Mul),
        "DFMA" => double::<3>(args, path, FloatOp::Fma),
        "DSETP" => dsetp(args, path),
        _ => Err(Failure::Lacking),
    }
}

/// Two operands and a predicate.
fn two(args: &mut Args<'_, '_>, ty: Type, mut compute: Compute) -> Decoded<Operation> {
    args.sources_of::<2>(ty, &mut compute)?;
    compute.p[0] = args.pred()?;
    Ok(Operation::Compute(compute))
}

/// Two predicate results, two operands and a predicate.
fn setp(args: &mut Args<'_, '_>, path: Path, ty: Type, op: ComputeOp) -> Decoded<Operation> {
    let pred_dst = [args.pred_dst()?, args.pred_dst()?];
    two(args, ty, Compute { pred_dst, ..Compute::new(op, path) })
}

/// `.RN`, `.RM`, `.RP` or `.RZ`; to nearest without.
pub(super) fn rounding(args: &mut Args<'_, '_>) -> Rounding {
    args.choose(|m| match m {
        "RN" => Some(Rounding::Nearest),
        "RM" => Some(Rounding::Down),
        "RP" => Some(Rounding::Up),
        "RZ" => Some(Rounding::Zero),
        _ => None,
    })
    .unwrap_or(Rounding::Nearest)
}

pub(super) fn float_mode(args: &mut Args<'_, '_>) -> FloatMode {
    let (flush, round, saturate) = (args.modifier("FTZ"), rounding(args), args.modifier("SAT"));
    FloatMode { flush, round, saturate, relu: false }
}

/// `FADD[.FTZ][.RM][.SAT] d, a, b`, `FFMA... d, a, b, c`
fn arithmetic<const N: usize>(args: &mut Args<'_, '_>, path: Path, op: FloatOp) -> Decoded<Operation> {
    let op = ComputeOp::float(op, Type::F32, float_mode(args));
    let mut compute = args.result(op, path, false)?;
    args.sources_of::<N>(Type::F32, &mut compute)?;
    Ok(Operation::Compute(compute))
}

/// `.cmp` and `.bool`
pub(super) fn comparison(args: &mut Args<'_, '_>) -> Decoded<(FloatCompare, BoolOp)> {
    let compare = args.choose(float_compare).ok_or(Failure::Lacking)?;
    Ok((compare, args.choose(combine).ok_or(Failure::Lacking)?))
}

fn float_compare(name: &str) -> Option<FloatCompare> {
    let ordered = |compare| FloatCompare { compare, unordered: false };
    Some(match name {
        "NUM" => ordered(Compare::True),
        "NAN" => FloatCompare { compare: Compare::False, unordered: true },
        "LTU" | "EQU" | "LEU" | "GTU" | "NEU" | "GEU" => {
            FloatCompare { compare: super::arith::compare(&name[..2])?, unordered: true }
        }
        "T" => FloatCompare { compare: Compare::True, unordered: true },
        _ => ordered(super::arith::compare(name)?),
    })
}

/// `MUFU.function d, a`
fn mufu(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let function = args.choose(|m| match m {
        "RCP" => Some(MufuFunction::Rcp),
        "RSQ" => Some(MufuFunction::Rsq),
        "SQRT" => Some(MufuFunction::Sqrt),
        "EX2" => Some(MufuFunction::Ex2),
        "LG2" => Some(MufuFunction::Lg2),
        "SIN" => Some(MufuFunction::Sin),
        "COS" => Some(MufuFunction::Cos),
        "TANH" => Some(MufuFunction::Tanh),
        "RCP64H" => Some(MufuFunction::Rcp64High),
        "RSQ64H" => Some(MufuFunction::Rsq64High),
        _ => None,
    });
    let function = function.ok_or(Failure::Lacking)?;
    let mut compute = args.result(ComputeOp::Mufu(function), path, false)?;
    // The high word of a binary64 is written as the number that it begins.
    let high = matches!(function, MufuFunction::Rcp64High | MufuFunction::Rsq64High);
    compute.sources[0] = args.source(if high { Reading::F64 } else { Reading::F32 })?;
    Ok(Operation::Compute(compute))
}

/// `DADD[.RM] d, a, b`, `DFMA[.RM] d, a, b, c`
fn double<const N: usize>(args: &mut Args<'_, '_>, path: Path, op: FloatOp) -> Decoded<Operation> {
    let mode = FloatMode { round: rounding(args), ..FloatMode::PLAIN };
    let mut compute = args.result(ComputeOp::float(op, Type::F64, mode), path, true)?;
    args.sources_of::<N>(Type::F64, &mut compute)?;
    Ok(Operation::Compute(compute))
}

/// `DSETP.cmp.bool p, q, a, b, p`, `DSETP.MIN|MAX.bool p, q, a, b, p`
fn dsetp(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let extreme = args.choose(|m| ["MIN", "MAX"].into_iter().find(|name| *name == m));
    let op = match extreme {
        Some(name) => ComputeOp::MinMaxTaken {
            min: name == "MIN",
            combine: args.choose(combine).ok_or(Failure::Lacking)?,
        },
        None => {
            let (compare, combine) = comparison(args)?;
            ComputeOp::compare(compare, Type::F64, combine, false)
        }
    };
    setp(args, path, Type::F64, op)
}
