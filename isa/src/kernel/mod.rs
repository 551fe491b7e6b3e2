//! Kernels decoded: the form that listings and PTX become, and that a core carries out.

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
