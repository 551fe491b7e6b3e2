//! Recorded traces as JSON lines, read and written line by line.
//!
//! `docs/trace-format.md` describes the format. [`check_trace`] judges a whole recording; [`TraceReader`]
//! reads one and [`TraceWriter`] writes one.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod check;
mod error;
mod event;
mod line;
mod number;
mod reader;
mod writer;

pub use check::{TraceSummary, check_trace};
pub use error::RecordingError;
pub use event::{DeclaredUnit, Exchange, TraceEvent, TraceHeader};
pub use reader::{MAX_LINE_BYTES, TraceReader};
pub use writer::TraceWriter;

/// Version of the format that is written. The reader accepts only this version.
pub const TRACE_VERSION: u32 = 1;
