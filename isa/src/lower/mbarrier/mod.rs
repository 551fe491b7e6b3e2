//! Operations on mbarrier objects, and the copies that report to them (spec 6.8).
//!
//! An instruction is read and judged ([`form`]) before a generation's shape of it is written: objects are two
//! words up to sm_89 ([`two_words`]) and fields of one from sm_90 on ([`fields`]).

mod address;
mod asynchronous;
mod fields;
mod form;
mod two_words;

use super::LoweringRefusal;
use super::code::Code;
use super::operand::Reader;

/// Writes the machine code of `mbarrier.*`, `cp.async.mbarrier.*`, of bulk copies and asynchronous operations that
/// report to an object, of `mapa` and of fences around objects; `None` for anything else.
pub(super) fn lower(
    reader: &Reader<'_, '_>,
    used: bool,
    code: &mut Code<'_>,
) -> Option<Result<(), LoweringRefusal>> {
    if !form::is_operation(reader.instruction) {
        return asynchronous::lower(reader, code);
    }
    Some(form::read(reader, code.target).and_then(|form| match code.number {
        ..90 => two_words::write(&form, used, code),
        _ => fields::write(&form, used, code),
    }))
}

#[cfg(test)]
mod tests;
