//! Errors of reading and judging a recording.

use std::io;

use atoms_oracle::Rejection;

/// Why a trace could not be judged, or the verdict against it.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The line could not be read at all.
    #[error("line {line}: cannot read the trace")]
    Read {
        /// Number of the line, from 1.
        line: u64,
        /// What the reader said.
        source: io::Error,
    },
    /// The line is not in the format; the message says what would be.
    #[error("line {line}: {problem}")]
    Malformed {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it and what would work.
        problem: String,
    },
    /// The verdict: no order of the lanes explains this line.
    #[error("line {line}: {rejection}")]
    Rejected {
        /// Number of the line, from 1.
        line: u64,
        /// What speaks against it.
        rejection: Box<Rejection>,
    },
    /// No verdict: see [`Rejection::is_undecided`].
    #[error("line {line}: {rejection}")]
    Undecided {
        /// Number of the line, from 1.
        line: u64,
        /// What was too large.
        rejection: Box<Rejection>,
    },
}

impl RecordingError {
    /// Whether the trace was judged and found wrong, as opposed to not judged.
    pub fn is_verdict(&self) -> bool {
        matches!(self, RecordingError::Rejected { .. })
    }
}
