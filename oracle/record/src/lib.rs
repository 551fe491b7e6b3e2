//! Recorded traces: JSON lines, read one at a time, written as they happen.
//!
//! `docs/trace-format.md` describes the format. [`check_trace`] judges a whole
//! recording; [`TraceReader`] reads one and [`TraceWriter`] writes one.

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

/// Version of the format that is written, and the only one read.
pub const TRACE_VERSION: u32 = 1;
