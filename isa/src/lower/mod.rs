//! From PTX instructions on shared memory to the machine code a compiler makes of them (spec 7.1, 6.8).
//!
//! A sequence is text as `nvdisasm` writes it, so that what `atoms lower` prints is also what is decoded and
//! run: one statement or label (`L0:`) per line, branches to `` `(L0) ``, without semicolons.

mod frame;

pub use frame::Frame;

/// Machine code of one PTX instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Statements and labels, in order.
    pub lines: Vec<String>,
}

/// Why an assembler refuses an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What would work: the nearest legal spelling, or the first architecture that has it.
    pub help: String,
}
