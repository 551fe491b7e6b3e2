//! Predicates as bits of a register.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::compute::Path;
use crate::kernel::instruction::{Operation, PredicateMove};
use crate::kernel::source::HalfSelect;

pub(super) fn decode(base: &str, args: &mut Args<'_, '_>) -> Decoded<Operation> {
    match base {
        "P2R" => to_register(args, Path::Vector, "PR"),
        "UP2UR" => to_register(args, Path::Uniform, "UPR"),
        "R2P" => from_register(args, Path::Vector, "PR"),
        _ => from_register(args, Path::Uniform, "UPR"),
    }
}

/// `P2R[.Bn] d, PR, a, mask`
fn to_register(args: &mut Args<'_, '_>, path: Path, all: &str) -> Decoded<Operation> {
    let byte = args.choose(|m| ["B0", "B1", "B2", "B3"].iter().position(|b| *b == m)).unwrap_or(0) as u8;
    let dst = Some(args.dst(path, 1)?);
    args.word(all)?;
    let value = args.source(Reading::Int)?;
    let mask = args.source(Reading::Int)?;
    Ok(Operation::Predicates(PredicateMove { path, dst, byte, value, mask }))
}

/// `R2P PR, a[.Bn], mask`
fn from_register(args: &mut Args<'_, '_>, path: Path, all: &str) -> Decoded<Operation> {
    args.word(all)?;
    let mut value = args.source(Reading::Int)?;
    let byte = match value.half {
        HalfSelect::Both => 0,
        HalfSelect::Byte(byte) => byte,
        HalfSelect::Low | HalfSelect::High | HalfSelect::Single => return Err(Failure::Lacking),
    };
    value.half = HalfSelect::Both;
    let mask = args.source(Reading::Int)?;
    Ok(Operation::Predicates(PredicateMove { path, dst: None, byte, value, mask }))
}
