//! Tests of builtins: names, lowering and semantics.

mod interpreter;
mod meaning;
mod nvvm;
mod page;
mod vectors;
