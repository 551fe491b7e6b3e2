//! Conversions between integers and floats, and among each.

use super::args::Args;
use super::arith::{number_type, path_of};
use super::float::{float_mode, rounding};
use super::{Decoded, Failure};
use crate::kernel::compute::{ComputeOp, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::{FloatMode, Rounding, Type};

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    let (path, name) = path_of(base);
    match name {
        // `I2F[.to][.from][.RP] d, a`, `I2FP.F32.from d, a`
        "I2F" | "I2FP" => {
            let to = args.choose(float).unwrap_or(Type::F32);
            let from = args.choose(int).unwrap_or(Type::S32);
            let mode = FloatMode { round: rounding(args), ..FloatMode::PLAIN };
            convert(args, path, from, to, mode, false)
        }
        // `F2I[.FTZ][.to][.from][.TRUNC][.NTZ] d, a`
        "F2I" => {
            let flush = args.modifier("FTZ");
            let to = args.choose(int).unwrap_or(Type::S32);
            let from = args.choose(float).unwrap_or(Type::F32);
            let mode = FloatMode { round: whole(args), flush, ..FloatMode::PLAIN };
            convert(args, path, from, to, mode, false)
        }
        // `F2F.to.from[.FTZ][.RM][.SAT] d, a`
        "F2F" => {
            let to = args.choose(float).ok_or(Failure::Lacking)?;
            let from = args.choose(float).ok_or(Failure::Lacking)?;
            let mode = float_mode(args);
            convert(args, path, from, to, mode, false)
        }
        "F2FP" => pack_halves(args, path),
        // `FRND[.F64][.FTZ][.TRUNC] d, a`
        "FRND" => {
            let ty = args.choose(float).unwrap_or(Type::F32);
            let flush = args.modifier("FTZ");
            let mode = FloatMode { round: whole(args), flush, ..FloatMode::PLAIN };
            convert(args, path, ty, ty, mode, true)
        }
        // `I2I.to.from[.SAT] d, a`
        "I2I" => {
            let narrow = |ty: Type| if ty.wide() { Err(Failure::Lacking) } else { Ok(ty) };
            let to = args.choose(int).ok_or(Failure::Lacking).and_then(narrow)?;
            let from = narrow(args.choose(int).unwrap_or(Type::S32))?;
            let mode = FloatMode { saturate: args.modifier("SAT"), ..FloatMode::PLAIN };
            convert(args, path, from, to, mode, false)
        }
        _ => Err(Failure::Lacking),
    }
}

fn float(name: &str) -> Option<Type> {
    number_type(name).filter(|ty| ty.float())
}

fn int(name: &str) -> Option<Type> {
    number_type(name).filter(|ty| !ty.float())
}

fn convert(
    args: &mut Args<'_, '_>,
    path: Path,
    from: Type,
    to: Type,
    mode: FloatMode,
    integral: bool,
) -> Decoded<Operation> {
    let nan_to_zero = from.float() && !to.float() && args.modifier("NTZ");
    let op = ComputeOp::Convert { from, to, mode, integral, nan_to_zero };
    let mut compute = args.result(op, path, to.wide())?;
    args.sources_of::<1>(from, &mut compute)?;
    Ok(Operation::Compute(compute))
}

/// To a whole number: `.TRUNC`, `.FLOOR`, `.CEIL`; to the nearest without, or with `.ROUND`.
fn whole(args: &mut Args<'_, '_>) -> Rounding {
    args.choose(|m| match m {
        "TRUNC" => Some(Rounding::Zero),
        "FLOOR" => Some(Rounding::Down),
        "CEIL" => Some(Rounding::Up),
        "ROUND" => Some(Rounding::Nearest),
        _ => None,
    })
    .unwrap_or(Rounding::Nearest)
}

/// `F2FP[.F16|.BF16][.F32].PACK_AB[.RZ][.RELU] d, a, b`: `a` goes to the high half.
fn pack_halves(args: &mut Args<'_, '_>, path: Path) -> Decoded<Operation> {
    if !args.modifier("PACK_AB") {
        return Err(Failure::Lacking);
    }
    let to = if args.modifier("BF16") { Type::Bf16x2 } else { Type::F16x2 };
    args.ignore(&["F16", "F32"]);
    let mode = FloatMode { round: rounding(args), relu: args.modifier("RELU"), ..FloatMode::PLAIN };
    let op = ComputeOp::Pack { to, mode, nan_to_zero: mode.relu };
    let mut compute = args.result(op, path, false)?;
    args.sources_of::<2>(Type::F32, &mut compute)?;
    Ok(Operation::Compute(compute))
}
