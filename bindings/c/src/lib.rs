//! C binding of the scoreboard, the model and random stimulus. `include/atoms.h` is generated from this crate.
//!
//! Every function can be called with any arguments except pointers to memory that is too small: a wrong or freed
//! handle, a null pointer or a bug in this library gives an error code and a message, never a crash.

#![warn(missing_docs)]

mod border;
mod calls;
mod pins;
mod registry;

pub use border::{
    ATOMS_ABI_VERSION, ATOMS_BAD_ARGUMENT, ATOMS_BAD_HANDLE, ATOMS_BUSY, ATOMS_IO, ATOMS_OK, ATOMS_PANIC,
    ATOMS_REJECTED, ATOMS_UNDECIDED, ATOMS_WRONG_ABI, AtomsVerdict,
};
pub use calls::*;
pub use pins::*;
