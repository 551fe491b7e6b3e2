//! Queries: finds the cycles in which an expression over the signals of a wave holds.
//!
//! ```text
//! op == CAS.SPIN && (passes > 4 || rose(stall)) && !fault
//! ```

mod expression;
mod names;
mod parse;
mod run;

pub use parse::QueryError;

use std::ops::Range;

use crate::WaveFile;
use expression::Expression;

#[derive(Clone, Debug)]
pub struct WaveQuery<'f> {
    file: &'f WaveFile,
    expression: Expression,
    signals: Vec<QuerySignal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QuerySignal {
    number: usize,
    /// Bit number from the least significant bit; `None` for the whole signal.
    bit: Option<u32>,
}

/// A constant text that a text signal is compared with.
#[derive(Clone, Debug)]
struct ComparedName {
    signal: usize,
    name: Vec<u8>,
    /// Position of the name in the expression.
    place: Range<usize>,
}

impl<'f> WaveQuery<'f> {
    /// Parses an expression; `docs/waves.md` has its grammar.
    ///
    /// # Errors
    /// [`QueryError`] with the position in `text`. Also if a text signal never has the value that it is
    /// compared with.
    pub fn new(file: &'f WaveFile, text: &str) -> Result<Self, QueryError> {
        let (expression, signals, names) = parse::parse(file, text)?;
        names::check(file, text, names)?;
        Ok(WaveQuery { file, expression, signals })
    }
}
