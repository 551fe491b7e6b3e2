//! `mbarrier`, and the copies that report to one.

use super::{Frame, Refusal, Sequence};
use crate::arch::Arch;
use crate::ptx::{Function, Instruction, Module};

/// Machine code of `mbarrier.*` and `cp.async.mbarrier.*`; `None` for anything else.
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
