//! Lowering of operations on mbarrier objects, and of the copies that signal them (spec 6.8).
//!
//! [`form`] reads and checks an instruction. Then the module for the architecture emits the code. An mbarrier
//! object has two words up to sm_89 ([`two_words`]), and one word with fields from sm_90 on ([`fields`]).

mod address;
mod asynchronous;
mod fields;
mod form;
mod two_words;

use super::LoweringRefusal;
use super::code::Code;
use super::operand::Reader;

/// Emits the machine code of `mbarrier.*`, `cp.async.mbarrier.*`, bulk copies, asynchronous operations that
/// signal an mbarrier object, `mapa`, and fences for mbarrier objects. Returns `None` for any other
/// instruction.
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
