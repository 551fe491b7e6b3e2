//! From PTX instructions on shared memory to the machine code a compiler makes of them (spec 7.1, 6.8).
//!
//! A sequence is text as `nvdisasm` writes it, so that what `atoms lower` prints is also what is decoded and
//! run: one statement or label (`L0:`) per line, branches to `` `(L0) ``, without semicolons.

mod atom;
mod code;
mod decimal;
mod frame;
mod mbarrier;
mod offset;
mod operand;
mod since;

use crate::arch::Arch;
use crate::ptx::{Function, Module, PtxInstruction};

use code::Code;
use operand::Reader;

pub(crate) use since::Target;

pub use frame::Frame;

/// Reason why an assembler refuses an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoweringRefusal {
    pub message: String,
    /// What would work: the nearest legal spelling, or the first architecture that has it.
    pub help: String,
}

impl LoweringRefusal {
    fn new(message: impl Into<String>, help: impl Into<String>) -> LoweringRefusal {
        LoweringRefusal { message: message.into(), help: help.into() }
    }

    /// Operands that an instruction does not take.
    fn mismatch(name: &str, help: impl Into<String>) -> LoweringRefusal {
        LoweringRefusal::new(format!("Arguments mismatch for instruction '{name}'"), help)
    }
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    Err(LoweringRefusal::new(message, help))
}

/// Refuses operands that an instruction does not take.
fn mismatch<T>(name: &str, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    Err(LoweringRefusal::mismatch(name, help))
}

/// Refuses a feature that an architecture lacks; `feature` as assemblers call it.
fn unsupported<T>(feature: &str, first: u16, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    refuse(format!("Feature '{feature}' requires .target sm_{first} or higher"), help)
}

/// Refuses a modifier, or several joined by dots, that an instruction does not have.
fn illegal<T>(modifier: &str, name: &str, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    refuse(format!("Illegal modifier '.{modifier}' for instruction '{name}'"), help)
}

/// Machine code of a PTX instruction on shared memory at an architecture, statements and labels in order; `None` for one that is not lowered
/// but interpreted.
///
/// `used` says whether the destination is read: a compiler leaves out what makes a result that is not.
/// The guard is not part of the sequence: the caller branches around it.
pub fn lower(
    module: &Module<'_>,
    function: &Function<'_>,
    instruction: &PtxInstruction<'_>,
    used: bool,
    arch: Arch,
    frame: &mut Frame,
) -> Option<Result<Vec<String>, LoweringRefusal>> {
    let reader = Reader { module, function, instruction };
    let target = Target::new(module, arch.number());
    let mut code = Code::new(arch, target, frame);
    let outcome = match instruction.opcode {
        // `red.async` reports to an mbarrier object.
        "atom" | "red" if !instruction.modifiers.contains(&"async") => atom::lower(&reader, used, &mut code),
        _ => mbarrier::lower(&reader, used, &mut code)?,
    };
    Some(outcome.and_then(|()| target.check_versions(instruction)).map(|()| code.lines))
}
