//! Errors of reading and judging a recording.

use std::io;

use atoms_oracle::Rejection;

/// Verdict against a trace, or reason why the trace could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Reading the line failed.
    #[error("line {line}: cannot read the trace")]
    Read {
        /// Number of the line, from 1.
        line: u64,
        /// Error of the underlying reader.
        source: io::Error,
    },
    /// The line breaks the format.
    #[error("line {line}: {problem}")]
    Malformed {
        /// Number of the line, from 1.
        line: u64,
        /// Problem in the line, with the expected form.
        problem: String,
    },
    /// The verdict: no order of the lanes explains this line.
    #[error("line {line}: {rejection}")]
    Rejected {
        /// Number of the line, from 1.
        line: u64,
        /// Reason for the verdict.
        rejection: Box<Rejection>,
    },
    /// No verdict ([`Rejection::is_undecided`]).
    #[error("line {line}: {rejection}")]
    Undecided {
        /// Number of the line, from 1.
        line: u64,
        /// Reason why the check was too large.
        rejection: Box<Rejection>,
    },
}

impl RecordingError {
    /// True if the trace was judged and rejected. False if it could not be judged.
    pub fn is_verdict(&self) -> bool {
        matches!(self, RecordingError::Rejected { .. })
    }
}
