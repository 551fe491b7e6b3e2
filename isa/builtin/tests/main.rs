//! Compilers' builtins.

mod interpreter;
mod meaning;
mod nvvm;
mod page;
mod vectors;
