//! Floats of one format: binary32 and binary64.

use super::args::{Args, Reading, blank};
use super::arith::{combine, path_of};
use super::{Decoded, Failure};
use crate::kernel::alu::{Alu, AluOp, Compare, FloatCompare, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{FloatMode, MufuFunction, Rounding};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = path_of(base);
    match name {
        "FADD" | "FMUL" | "FFMA" => arithmetic(name, args, path),
        "FSETP" => {
            let (compare, combine) = comparison(args)?;
            let flush = args.modifier("FTZ");
            let mut alu = blank(AluOp::FSetP { compare, combine, flush }, path);
            alu.pred_dst = [args.pred_dst()?, args.pred_dst()?];
            two(alu, args)
        }
        "FSET" => {
            let one = args.modifier("BF");
            let (compare, combine) = comparison(args)?;
            let flush = args.modifier("FTZ");
            let alu = result(args, AluOp::FSet { compare, combine, flush, one }, path, 1)?;
            two(alu, args)
        }
        "FMNMX" => {
            let (flush, nan) = (args.modifier("FTZ"), args.modifier("NAN"));
            let alu = result(args, AluOp::FMinMax { flush, nan }, path, 1)?;
            two(alu, args)
        }
        "FSEL" => {
            let flush = args.modifier("FTZ");
            let alu = result(args, AluOp::FSelect { flush }, path, 1)?;
            two(alu, args)
        }
        "FCHK" => {
            args.ignore(&["DIVIDE"]);
            let mut alu = blank(AluOp::FCheck, path);
            alu.pred_dst[0] = args.pred_dst()?;
            alu.a = args.source(Reading::F32)?;
            alu.b = args.source(Reading::F32)?;
            Ok(Operation::Alu(alu))
        }
        "MUFU" => mufu(args, path),
        "DADD" | "DMUL" | "DFMA" => double(name, args, path),
        "DSETP" => dsetp(args, path),
        _ => Err(Failure::Lacking),
    }
}

/// An instruction with a result register, or a group of them.
pub(super) fn result(args: &mut Args<'_, '_>, op: AluOp, path: Path, registers: u8) -> Decoded<Alu> {
    let mut alu = blank(op, path);
    alu.dst = args.dst(path, registers)?;
    Ok(alu)
}

/// Two binary32 operands and a predicate.
fn two(mut alu: Alu, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    alu.a = args.source(Reading::F32)?;
    alu.b = args.source(Reading::F32)?;
    alu.p[0] = args.pred()?;
    Ok(Operation::Alu(alu))
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
    FloatMode { flush: args.modifier("FTZ"), round: rounding(args), saturate: args.modifier("SAT") }
}

/// `FADD[.FTZ][.RM][.SAT] d, a, b`, `FFMA... d, a, b, c`
fn arithmetic(name: &str, args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let mode = float_mode(args);
    let op = match name {
        "FADD" => AluOp::FAdd(mode),
        "FMUL" => AluOp::FMul(mode),
        _ => AluOp::FFma(mode),
    };
    let mut alu = result(args, op, path, 1)?;
    alu.a = args.source(Reading::F32)?;
    alu.b = args.source(Reading::F32)?;
    if name == "FFMA" {
        alu.c = args.source(Reading::F32)?;
    }
    Ok(Operation::Alu(alu))
}

/// `.cmp` and `.bool`
pub(super) fn comparison(args: &mut Args<'_, '_>) -> Decoded<(FloatCompare, crate::kernel::alu::BoolOp)> {
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
    let mut alu = result(args, AluOp::Mufu(function), path, 1)?;
    // The high word of a binary64 is written as the number that it begins.
    let high = matches!(function, MufuFunction::Rcp64High | MufuFunction::Rsq64High);
    alu.a = args.source(if high { Reading::F64 } else { Reading::F32 })?;
    Ok(Operation::Alu(alu))
}

/// `DADD[.RM] d, a, b`, `DFMA[.RM] d, a, b, c`
fn double(name: &str, args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let round = rounding(args);
    let op = match name {
        "DADD" => AluOp::DAdd(round),
        "DMUL" => AluOp::DMul(round),
        _ => AluOp::DFma(round),
    };
    let mut alu = result(args, op, path, 2)?;
    alu.a = args.source_pair(Reading::F64)?;
    alu.b = args.source_pair(Reading::F64)?;
    if name == "DFMA" {
        alu.c = args.source_pair(Reading::F64)?;
    }
    Ok(Operation::Alu(alu))
}

/// `DSETP.cmp.bool p, q, a, b, p`, `DSETP.MIN|MAX.bool p, q, a, b, p`
fn dsetp(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    let extreme = args.choose(|m| ["MIN", "MAX"].into_iter().find(|name| *name == m));
    let op = match extreme {
        Some(name) => {
            AluOp::DMinMaxP { min: name == "MIN", combine: args.choose(combine).ok_or(Failure::Lacking)? }
        }
        None => {
            let (compare, combine) = comparison(args)?;
            AluOp::DSetP { compare, combine }
        }
    };
    let mut alu = blank(op, path);
    alu.pred_dst = [args.pred_dst()?, args.pred_dst()?];
    alu.a = args.source_pair(Reading::F64)?;
    alu.b = args.source_pair(Reading::F64)?;
    alu.p[0] = args.pred()?;
    Ok(Operation::Alu(alu))
}
