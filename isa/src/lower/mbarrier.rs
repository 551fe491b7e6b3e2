//! Operations on mbarrier objects, and the copies that report to them (spec 6.8).
//!
//! An instruction is read and judged ([`form`]) before a generation's shape of it is written: objects are two
//! words up to sm_89 ([`two_words`]) and fields of one from sm_90 on ([`fields`]).

mod address;
mod asynchronous;
mod fields;
mod form;
mod operand;
mod two_words;

use super::code::Code;
use super::{Frame, Refusal, Sequence};
use crate::arch::Arch;
use crate::ptx::{Function, Instruction, Module};

/// Machine code of `mbarrier.*`, `cp.async.mbarrier.*`, of bulk copies and asynchronous operations that report
/// to an object, of `mapa` and of fences around objects; `None` for anything else.
pub(super) fn lower(
    module: &Module<'_>,
    function: &Function<'_>,
    instruction: &Instruction<'_>,
    used: bool,
    arch: Arch,
    frame: &mut Frame,
) -> Option<Result<Sequence, Refusal>> {
    let reader = operand::Reader { module, function, instruction };
    let mut code = Code::new(arch, frame);
    let outcome = if form::is_operation(instruction) {
        form::read(&reader, arch).and_then(|form| match arch.number() {
            ..90 => two_words::write(&form, used, &mut code),
            _ => fields::write(&form, used, &mut code),
        })
    } else {
        asynchronous::lower(&reader, &mut code)?
    };
    Some(outcome.map(|()| Sequence { lines: code.lines }))
}

#[cfg(test)]
mod tests;
