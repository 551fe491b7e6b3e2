//! Errors of the SystemVerilog parser.

/// Construct that the parser does not support, or a syntax error. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct SyntaxError {
    pub line: usize,
    pub expected: String,
    pub found: String,
}

impl SyntaxError {
    pub(crate) fn new(text: &str, at: usize, expected: &str, found: &str) -> Self {
        let line = 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
        SyntaxError { line, expected: expected.to_owned(), found: found.to_owned() }
    }
}
