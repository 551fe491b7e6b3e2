//! Reader of a recording, line by line.

use std::io::{BufRead, Read as _};

use atoms_oracle::Geometry;

use crate::line::{HEADER, Line};
use crate::{RecordingError, TraceEvent, TraceHeader};

/// Maximum length of a line in bytes. A longer line is not a trace, and reading it whole could exhaust
/// memory.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// Reads a trace line by line.
#[derive(Debug)]
pub struct TraceReader<R> {
    reader: R,
    header: TraceHeader,
    pub(crate) line: u64,
    text: Vec<u8>,
}

impl<R: BufRead> TraceReader<R> {
    /// Creates a reader and reads the header.
    ///
    /// # Errors
    /// [`RecordingError::Read`], or [`RecordingError::Malformed`] if the first line is not a header.
    pub fn new(reader: R) -> Result<Self, RecordingError> {
        let geometry = Geometry { lanes: 0, banks: 0, rows: 0, xor_hash: false };
        let header = TraceHeader { geometry, try_wait_limit: None, spin_hold: None, unit: None };
        let mut trace = TraceReader { reader, header, line: 0, text: Vec::new() };
        let Some(line) = trace.next_line()? else {
            let problem = format!("the trace is empty; it must begin with a header such as {HEADER}");
            return Err(RecordingError::Malformed { line: 1, problem });
        };
        trace.header = line.header().map_err(|problem| trace.malformed(problem))?;
        Ok(trace)
    }

    /// Header of the trace, read by [`TraceReader::new`].
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// Returns the next event with its line number, from 1. Returns `None` at the end of the trace.
    ///
    /// # Errors
    /// [`RecordingError::Read`] or [`RecordingError::Malformed`].
    pub fn next_event(&mut self) -> Result<Option<(u64, TraceEvent)>, RecordingError> {
        while let Some(line) = self.next_line()? {
            let event = line.event(&self.header.geometry).map_err(|problem| self.malformed(problem))?;
            if let Some(event) = event {
                return Ok(Some((self.line, event)));
            }
        }
        Ok(None)
    }

    fn next_line(&mut self) -> Result<Option<Line>, RecordingError> {
        loop {
            self.text.clear();
            self.line += 1;
            let line = self.line;
            let mut limited = (&mut self.reader).take(MAX_LINE_BYTES + 1);
            let read = limited.read_until(b'\n', &mut self.text);
            if read.map_err(|source| RecordingError::Read { line, source })? == 0 {
                self.line -= 1;
                return Ok(None);
            }
            if self.text.len() as u64 > MAX_LINE_BYTES {
                return Err(self.malformed(format!("longer than {MAX_LINE_BYTES} bytes; split it up")));
            }
            let text = self.text.trim_ascii();
            if !text.is_empty() {
                return serde_json::from_slice(text).map(Some).map_err(|e| self.malformed(in_this_line(&e)));
            }
        }
    }

    fn malformed(&self, problem: String) -> RecordingError {
        RecordingError::Malformed { line: self.line, problem }
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<(u64, TraceEvent), RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}

/// Message of the JSON parser without its line number, which is always 1.
fn in_this_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    format!("column {}: {text}", error.column())
}
