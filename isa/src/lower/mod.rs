//! Lowering of PTX instructions on shared memory to the machine code that a compiler emits (spec 7.1, 6.8).
//!
//! A sequence of lowered code is text in the syntax of `nvdisasm`. Therefore `atoms lower` prints the same
//! text that the decoder reads and the core executes. Each line is one statement, or a label (`L0:`).
//! Branches go to `` `(L0) ``. Statements do not end in a semicolon.

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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoweringRefusal {
    pub message: String,
    /// Remedy for the user: the nearest legal spelling, or the first architecture that has the feature.
    pub help: String,
}

impl LoweringRefusal {
    fn new(message: impl Into<String>, help: impl Into<String>) -> LoweringRefusal {
        LoweringRefusal { message: message.into(), help: help.into() }
    }

    fn mismatch(name: &str, help: impl Into<String>) -> LoweringRefusal {
        LoweringRefusal::new(format!("Arguments mismatch for instruction '{name}'"), help)
    }
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    Err(LoweringRefusal::new(message, help))
}

fn mismatch<T>(name: &str, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    Err(LoweringRefusal::mismatch(name, help))
}

/// Refuses a feature that the architecture does not have. `feature` is the assembler's name for the feature.
fn unsupported<T>(feature: &str, first: u16, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    refuse(format!("Feature '{feature}' requires .target sm_{first} or higher"), help)
}

/// Refuses a modifier that is illegal for the instruction. `modifier` may be several modifiers joined by
/// dots.
fn illegal<T>(modifier: &str, name: &str, help: impl Into<String>) -> Result<T, LoweringRefusal> {
    refuse(format!("Illegal modifier '.{modifier}' for instruction '{name}'"), help)
}

/// Lowers a PTX instruction on shared memory to machine code: statements and labels in order. Returns `None`
/// for an instruction that is not lowered, but executed as a PTX operation.
///
/// `used` is true if the program reads the destination. Compilers emit no code for an unused result. The
/// returned code does not contain the guard of the instruction, so the caller must branch around the code.
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
        // `red.async` signals an mbarrier object, so the mbarrier code handles it.
        "atom" | "red" if !instruction.modifiers.contains(&"async") => atom::lower(&reader, used, &mut code),
        _ => mbarrier::lower(&reader, used, &mut code)?,
    };
    Some(outcome.and_then(|()| target.check_versions(instruction)).map(|()| code.lines))
}
