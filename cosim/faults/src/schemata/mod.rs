//! RTL as source text: mutants with a switch each, which a simulation sets ([`SwitchProcess`]), those that need a text
//! of their own ([`structure`]), and which lines a signal depends on ([`DataFlow`]).
//!
//! One library, built once, thereby is the design with any one of a thousand small changes: which of them mends a
//! failure says where its cause is, and which of them no test notices says what the tests lack. Knows the constructs that
//! the design uses, and nothing of what the design does.

mod error;
mod flow;
mod insert;
mod lexer;
mod operator;
mod parser;
mod structure;
mod syntax;

pub use error::SyntaxError;
pub use flow::{DataFlow, RtlLine};
pub use insert::{Schemata, SchemataError, SwitchProcess};
pub use operator::{MutationOperator, MutationSite, SiteKind};
pub use structure::structure;
