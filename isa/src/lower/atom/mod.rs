//! `atom` and `red` (spec 7.1 to 7.5).

use super::{Frame, Refusal, Sequence};
use crate::arch::Arch;
use crate::ptx::{Function, Instruction, Module};

/// Machine code of `atom` and `red`.
pub fn lower(
    _module: &Module<'_>,
    _function: &Function<'_>,
    _instruction: &Instruction<'_>,
    _used: bool,
    _arch: Arch,
    _frame: &mut Frame,
) -> Option<Result<Sequence, Refusal>> {
    None
}
