//! Decoded kernels: the common form of listings and PTX, which a core executes.

pub(crate) mod compute;
pub(crate) mod control;
pub(crate) mod instruction;
pub(crate) mod memory;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod program;
pub(crate) mod register;
pub(crate) mod source;
pub(crate) mod special;
