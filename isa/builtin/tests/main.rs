//! Builtins of compilers: names, lowering and meaning.

mod interpreter;
mod meaning;
mod nvvm;
mod page;
mod vectors;
