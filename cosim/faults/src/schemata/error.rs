//! What a source can have wrong.

/// A source that is not as expected. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct SyntaxError {
    pub line: usize,
    pub expected: String,
    pub found: String,
}

impl SyntaxError {
    /// At byte `at` of `text`.
    pub(crate) fn new(text: &str, at: usize, expected: &str, found: &str) -> Self {
        let line = 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
        SyntaxError { line, expected: expected.to_owned(), found: found.to_owned() }
    }
}
