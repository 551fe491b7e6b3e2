//! Expressions over the signals of a wave: in which cycles they hold.
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

/// An expression whose names stand for signals of one file.
#[derive(Clone, Debug)]
pub struct WaveQuery<'f> {
    file: &'f WaveFile,
    expression: Expression,
    signals: Vec<QuerySignal>,
}

/// A signal in an expression, or one bit of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QuerySignal {
    /// Number of the signal in the file.
    number: usize,
    /// The bit, counted from the least significant one.
    bit: Option<u32>,
}

/// A text that a signal is compared with.
#[derive(Clone, Debug)]
struct ComparedName {
    /// Number of the signal.
    signal: usize,
    name: Vec<u8>,
    /// Place of the name in the expression.
    place: Range<usize>,
}

impl<'f> WaveQuery<'f> {
    /// Reads an expression; `docs/waves.md` has its grammar.
    ///
    /// # Errors
    /// [`QueryError`], with the place in `text`; also where a text signal never has the name that it is compared with.
    pub fn new(file: &'f WaveFile, text: &str) -> Result<Self, QueryError> {
        let (expression, signals, names) = parse::parse(file, text)?;
        names::check(file, text, names)?;
        Ok(WaveQuery { file, expression, signals })
    }
}
