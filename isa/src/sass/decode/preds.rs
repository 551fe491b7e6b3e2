//! Decoders of moves between predicates and bits of a register.

use super::args::{Args, Reading};
use super::{Decoded, Failure};
use crate::kernel::instruction::{Operation, PredicateMove};
use crate::kernel::source::HalfSelect;

/// Decodes `P2R[.Bn] d, PR, a, mask`
pub(super) fn to_register(args: &mut Args<'_, '_>, all: &str) -> Decoded<Operation> {
    let byte = args.choose(|m| ["B0", "B1", "B2", "B3"].iter().position(|b| *b == m)).unwrap_or(0) as u8;
    let dst = Some(args.dst(1)?);
    args.word(all)?;
    let value = args.source(Reading::Int)?;
    let mask = args.source(Reading::Int)?;
    Ok(Operation::Predicates(PredicateMove { path: args.path, dst, byte, value, mask }))
}

/// Decodes `R2P PR, a[.Bn], mask`
pub(super) fn from_register(args: &mut Args<'_, '_>, all: &str) -> Decoded<Operation> {
    args.word(all)?;
    let mut value = args.source(Reading::Int)?;
    let byte = match value.half {
        HalfSelect::Both => 0,
        HalfSelect::Byte(byte) => byte,
        HalfSelect::Low | HalfSelect::High | HalfSelect::Single | HalfSelect::Twice | HalfSelect::Sign => {
            return Err(Failure::Unsupported);
        }
    };
    value.half = HalfSelect::Both;
    let mask = args.source(Reading::Int)?;
    Ok(Operation::Predicates(PredicateMove { path: args.path, dst: None, byte, value, mask }))
}
