//! PTX modules: parsed, with every name resolved. What instructions do is not said here.

mod ast;

pub use ast::{
    Base, Directives, Function, Guard, Initial, Instruction, Label, LabelId, Module, Operand, RegId,
    Register, StateSpace, Symbol, Type, Variable,
};
