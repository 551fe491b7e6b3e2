//! Expressions over the signals of a wave: in which cycles they hold.
//!
//! ```text
//! op == CAS.SPIN && (passes > 4 || rose(stall)) && !fault
//! ```

mod expression;
mod parse;
mod run;

pub use parse::QueryError;

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

impl<'f> WaveQuery<'f> {
    /// Reads an expression; `docs/waves.md` has its grammar.
    ///
    /// # Errors
    /// [`QueryError`], with the place in `text`.
    pub fn new(file: &'f WaveFile, text: &str) -> Result<Self, QueryError> {
        let (expression, signals) = parse::parse(file, text)?;
        Ok(WaveQuery { file, expression, signals })
    }
}
