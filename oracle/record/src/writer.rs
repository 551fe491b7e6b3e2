//! Writer of a recording, line by line.

use std::io::{self, Write};

use crate::line::Line;
use crate::{TraceEvent, TraceHeader};

/// Writes a trace event by event. Its errors are those of the underlying writer.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    writer: W,
    lane_mask: u32,
}

impl<W: Write> TraceWriter<W> {
    /// Creates a writer and writes the header.
    pub fn new(writer: W, header: &TraceHeader) -> io::Result<Self> {
        let mut trace = TraceWriter { writer, lane_mask: header.geometry.lane_mask() };
        trace.line(&header.into())?;
        Ok(trace)
    }

    /// Writes an event. Omits zeros. For lanes that do not exist, writes only their results.
    pub fn write(&mut self, event: &TraceEvent) -> io::Result<()> {
        self.line(&Line::of(event, self.lane_mask))
    }

    /// Flushes and returns the underlying writer.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, line)?;
        self.writer.write_all(b"\n")
    }
}
