//! Mutants at the level of RTL source text. Most have a switch that a simulation sets ([`SwitchProcess`]);
//! some need a text of their own ([`structure`]). Also finds the lines that a signal depends on
//! ([`DataFlow`]).
//!
//! All mutants with a switch are in one library, so thousands of mutants need only one build. The parser
//! supports only the constructs that the design uses, and knows nothing about the design's function.

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
