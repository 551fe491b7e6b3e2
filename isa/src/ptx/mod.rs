//! PTX modules: parsed, with every name resolved. What instructions do is not said here.

mod ast;
mod body;
mod decl;
mod function;
mod label;
mod lex;
mod number;
mod opcode;
mod operand;
mod parser;
mod scope;

/// Addresses at which constants of a module lie (`.const`).
pub const CONSTANTS: std::ops::Range<u64> = 0x3_0000_0000..0x4_0000_0000;
/// Addresses at which global variables of a module lie (`.global`).
pub const GLOBALS: std::ops::Range<u64> = 0x2_0000_0000..0x3_0000_0000;

pub use crate::kernel::number::Type;
pub use crate::kernel::program::Directives;
pub use ast::{
    Base, Function, Initial, Label, LabelId, Module, Operand, PtxGuard, PtxInstruction, PtxRegister, RegId,
    StateSpace, Symbol, Variable,
};

pub use parser::NEWEST;

use crate::problem::TextError;
use parser::Parser;

impl<'t> Module<'t> {
    /// Reads a module as compilers write it; `name` is for messages. What says nothing about what code does
    /// (`.loc`, `.file`, debug sections, `.pragma`) is skipped; modifiers are not looked at.
    ///
    /// # Errors
    /// Everything that is wrong, with line and column.
    pub fn parse(name: &str, text: &'t str) -> Result<Module<'t>, TextError> {
        Parser::new(text, false).module(name, text)
    }
}

/// True if a text is a PTX module: its first directive says the version.
pub fn is_module(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        rest = match rest.get(..2) {
            Some("//") => rest.split_once('\n').map_or("", |(_, after)| after),
            Some("/*") => rest.split_once("*/").map_or("", |(_, after)| after),
            _ => return rest.starts_with(".version"),
        }
        .trim_start();
    }
}

/// Reads statements without a module around them, such as `atom.shared.add.u32 %r4, [%r8], %r1;`. The last
/// semicolon may be absent. Registers need no declaration: [`PtxRegister::ty`] is `None` of those that have none.
/// Nor do variables: what is named in an address, or is no label elsewhere, is a shared array whose size is not
/// known, at a multiple of 16 bytes.
///
/// # Errors
/// Everything that is wrong, with line and column.
pub fn snippet(text: &str) -> Result<Function<'_>, TextError> {
    Parser::new(text, true).snippet(text)
}
