//! Parser of PTX modules. It resolves every name, but does not interpret instructions.

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

/// Address range of the `.const` variables of a module.
pub const CONSTANTS: std::ops::Range<u64> = 0x3_0000_0000..0x4_0000_0000;
/// Address range of the `.global` variables of a module.
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
    /// Parses a PTX module as compilers write it. `name` is the name of the text in messages. The parser
    /// skips directives that have no effect on execution (`.loc`, `.file`, debug sections, `.pragma`). It
    /// does not check the modifiers of instructions.
    ///
    /// # Errors
    /// Every problem found, with line and column.
    pub fn parse(name: &str, text: &'t str) -> Result<Module<'t>, TextError> {
        Parser::new(text, false).module(name, text)
    }
}

/// True if a text is a PTX module, which means that its first directive is `.version`.
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

/// Parses loose instructions: statements without a module around them, such as `atom.shared.add.u32 %r4,
/// [%r8], %r1;`. The last semicolon may be absent.
///
/// Registers need no declaration; the type [`PtxRegister::ty`] of an undeclared one is `None`. Variables need
/// no declaration either. An undeclared name that is not a label becomes a shared array of unknown size,
/// aligned to 16 bytes.
///
/// # Errors
/// Every problem found, with line and column.
pub fn snippet(text: &str) -> Result<Function<'_>, TextError> {
    Parser::new(text, true).snippet(text)
}
