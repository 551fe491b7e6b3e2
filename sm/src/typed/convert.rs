//! Conversions between all types of numbers.

use super::float::{After, format, limited};
use super::{ones, signed};
use crate::convert;
use atoms_isa::ptx::Type;
use atoms_isa::{FloatMode, IntSize, Rounding};

/// Width and sign of an integer type.
pub(super) fn size(ty: Type) -> IntSize {
    IntSize { bits: ty.bits() as u8, signed: signed(ty) }
}

/// `a` as another type. A signed integer comes extended to all bits: registers may be wider than it.
pub(super) fn convert(from: Type, to: Type, round: Rounding, integral: bool, after: After, a: u64) -> u64 {
    match (format(from), format(to)) {
        (None, None) => {
            let number = convert::integer(size(from), a);
            let number = if after.saturate { convert::limited(size(to), number) } else { number };
            extended(to, number as u64)
        }
        (None, Some(format)) => limited(to, after, convert::int_to_float(size(from), format, round, a)),
        (Some(format), None) => {
            // Source: [PTX] cvt, what a NaN gives.
            let nan_to_zero = from != Type::F64 && to.bits() < 64;
            extended(to, convert::float_to_int(format, size(to), round, after.flush, nan_to_zero, a))
        }
        (Some(source), Some(target)) => {
            let (a, round) = if integral {
                (convert::whole(source, round, after.flush, a), Rounding::Nearest)
            } else {
                (a, round)
            };
            let mode = FloatMode { round, flush: after.flush, saturate: after.saturate };
            let after = After { relu: after.relu, ..After::default() };
            limited(to, after, convert::float_to_float(source, target, mode, a))
        }
    }
}

fn extended(ty: Type, bits: u64) -> u64 {
    let width = ty.bits();
    if signed(ty) { ((bits << (64 - width)) as i64 >> (64 - width)) as u64 } else { bits & ones(width) }
}
