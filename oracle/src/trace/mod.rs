//! Recorded traces: JSON lines, read one at a time, written as they happen.
//!
//! The format is described, with an example, in `docs/trace-format.md`. [`check_trace`] judges a whole
//! recording; [`TraceReader`] and [`TraceWriter`] read one and make one.

mod line;
mod number;

use std::io::{self, BufRead, Read as _, Write};

use atoms_ops::Fault;

use crate::checker::Checker;
use crate::order::GoesFirst;
use crate::passes::Merging;
use crate::rejection::Rejection;
use crate::request::{Allocation, Geometry, Moment, Response, SerialRequest};
use line::{HEADER, Line};

/// Version of the format that is written, and the only one read.
pub const TRACE_VERSION: u32 = 1;

/// Longest line read. A longer one is no trace, and must not take all memory to find that out.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

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

/// What an accepted trace consisted of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct TraceSummary {
    /// Lines, blank ones and the header included.
    pub lines: u64,
    /// Requests.
    pub requests: u64,
    /// Active lanes of all requests together.
    pub lanes: u64,
    /// Requests that rightly ended with a fault.
    pub faults: u64,
    /// Requests whose memory afterwards was not recorded.
    pub unseen: u64,
    /// Wake-ups of suspended requests.
    pub wakes: u64,
    /// Words of memory that were compared with what the requests left.
    pub final_words: u64,
}

/// Judges a whole trace, in memory that does not grow with its length.
///
/// # Errors
/// [`RecordingError::Rejected`] with the first line that nothing explains; every other variant means that
/// no verdict was reached.
pub fn check_trace<R: BufRead>(reader: R) -> Result<TraceSummary, RecordingError> {
    let mut trace = TraceReader::new(reader)?;
    let header = *trace.header();
    let lane_mask = header.geometry.lane_mask();
    let mut checker = Checker::new(header.geometry);
    header.try_wait_limit.inspect(|cycles| checker.set_try_wait_limit(*cycles));
    header.spin_hold.inspect(|requests| checker.set_spin_hold(*requests));
    if let Some(DeclaredUnit { winner_policy, merge_red, merge_arrive }) = header.unit {
        checker.set_merging(Merging { red: merge_red, arrive: merge_arrive });
        checker.set_goes_first(winner_policy);
        checker.set_timed();
    }
    let mut summary = TraceSummary::default();
    while let Some((line, event)) = trace.next_event()? {
        let verdict = match event {
            Event::Part { slot, part } => {
                checker.set_part(slot, part);
                Ok(())
            }
            Event::Init(words) => {
                words.into_iter().for_each(|(word, value)| checker.set_word(word, value));
                Ok(())
            }
            Event::Request(exchange) => {
                let Exchange { request, response, after, moment, accepted: _ } = *exchange;
                summary.requests += 1;
                summary.lanes += u64::from((request.mask & lane_mask).count_ones());
                summary.faults +=
                    u64::from(response.as_ref().is_some_and(|response| response.fault != Fault::None));
                summary.unseen += u64::from(after.is_none());
                match moment {
                    Some(moment) => {
                        checker.request_at(&moment, &request, response.as_ref(), after.as_deref())
                    }
                    None if checker.is_waiting() => {
                        let problem = "a wait is open, so the `request` needs `number` and `answered`";
                        return Err(RecordingError::Malformed { line, problem: problem.to_owned() });
                    }
                    None => checker.request(&request, response.as_ref(), after.as_deref()),
                }
            }
            Event::Wait { number, accepted, request } => {
                checker.accept(number, accepted, &request);
                Ok(())
            }
            Event::Suspended { number, cycle } => checker.suspend(number, cycle),
            Event::Wake { number, pred, cycle } => {
                summary.wakes += 1;
                checker.wake(number, pred, cycle)
            }
            Event::Quiet { from, to } => checker.quiet(from, to),
            Event::Lost { request, written } => checker.lost(std::slice::from_ref(&request), &written),
            Event::Reset { dropped, written } => checker.reset(&dropped, &written),
            Event::End => checker.finish_waits(),
            Event::Final(words) => {
                summary.final_words += words.len() as u64;
                checker.finish_words(&words)
            }
        };
        verdict.map_err(|rejection| {
            let undecided = rejection.is_undecided();
            let rejection = Box::new(rejection);
            if undecided {
                RecordingError::Undecided { line, rejection }
            } else {
                RecordingError::Rejected { line, rejection }
            }
        })?;
    }
    summary.lines = trace.line;
    Ok(summary)
}

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A slot of the CTA table gets an allocation or loses it.
    Part {
        /// The slot.
        slot: u8,
        /// Its allocation from now on.
        part: Option<Allocation>,
    },
    /// Words of memory set from outside: (index, value).
    Init(Vec<(u32, u32)>),
    /// A request and what came of it.
    Request(Box<Exchange>),
    /// A request that may be suspended was accepted, as [`Checker::accept`] takes it.
    Wait {
        /// Number on the warp port.
        number: u64,
        /// Cycle of acceptance.
        accepted: u64,
        /// The request.
        request: Box<SerialRequest>,
    },
    /// A suspension, as for [`Checker::suspend`].
    Suspended {
        /// Number of the request.
        number: u64,
        /// Cycle in which it was suspended.
        cycle: u64,
    },
    /// A wake-up, as for [`Checker::wake`].
    Wake {
        /// Number of the request.
        number: u64,
        /// Its predicates.
        pred: u32,
        /// Cycle in which it appeared.
        cycle: u64,
    },
    /// Cycles without a wake-up, as for [`Checker::quiet`].
    Quiet {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
    /// A request that was carried out, and whose response the next reset dropped, as for [`Checker::lost`].
    Lost {
        /// The request.
        request: Box<SerialRequest>,
        /// Words written for it, and their values afterwards.
        written: Vec<(u32, u32)>,
    },
    /// A reset, as for [`Checker::reset`].
    Reset {
        /// Requests without an answer.
        dropped: Vec<SerialRequest>,
        /// Words written for them, and their values afterwards.
        written: Vec<(u32, u32)>,
    },
    /// Nothing is left to be answered.
    End,
    /// Words of memory as found at this point: (index, value).
    Final(Vec<(u32, u32)>),
}

/// A request, its response, and the words written, if they were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The request.
    pub request: SerialRequest,
    /// The response; none for a posted request without a fault (spec 4.7).
    pub response: Option<Response>,
    /// Words written and their values afterwards, as for [`Checker::request`].
    pub after: Option<Vec<(u32, u32)>>,
    /// When, as for [`Checker::request_at`]; needed only while a wait is open.
    pub moment: Option<Moment>,
    /// Cycle in which its port accepted it, for a replay.
    pub accepted: Option<u64>,
}

/// What the first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceHeader {
    /// Shape of the warp and of the memory.
    pub geometry: Geometry,
    /// Limit, in cycles, of waits that name none, if they are to be judged (spec 6.10).
    pub try_wait_limit: Option<u64>,
    /// For how many CAST.SPIN requests a lane is favoured, if that is to be judged (spec 5.4).
    pub spin_hold: Option<u32>,
    /// The unit recorded, if it is one of ours.
    pub unit: Option<DeclaredUnit>,
}

/// Declares that the unit recorded is one of ours, from reset on and with every request: its order of lanes is judged
/// (spec 4.2, 6.11), the selection of CAST.SPIN (spec 5.4), and the cycles in which waits end (spec 6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredUnit {
    /// The lane that goes first.
    pub winner_policy: GoesFirst,
    /// True if operations without a result merge.
    #[serde(default)]
    pub merge_red: bool,
    /// True if arrivals merge.
    #[serde(default)]
    pub merge_arrive: bool,
}

/// Reads a trace line by line.
#[derive(Debug)]
pub struct TraceReader<R> {
    reader: R,
    header: TraceHeader,
    line: u64,
    text: Vec<u8>,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`RecordingError::Read`], or [`RecordingError::Malformed`] if the first line is no header.
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

    /// What the header says.
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// The next event and the number of its line, from 1; `None` at the end.
    ///
    /// # Errors
    /// [`RecordingError::Read`] or [`RecordingError::Malformed`].
    pub fn next_event(&mut self) -> Result<Option<(u64, Event)>, RecordingError> {
        while let Some(line) = self.next_line()? {
            let event = line.event(&self.header.geometry).map_err(|problem| self.malformed(problem))?;
            if let Some(event) = event {
                return Ok(Some((self.line, event)));
            }
        }
        Ok(None)
    }

    /// The next line that is not blank.
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
    type Item = Result<(u64, Event), RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}

/// Writes a trace as it happens. Errors are those of the writer.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    writer: W,
    lane_mask: u32,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the header.
    pub fn new(writer: W, header: &TraceHeader) -> io::Result<Self> {
        let mut trace = TraceWriter { writer, lane_mask: header.geometry.lane_mask() };
        trace.line(&header.into())?;
        Ok(trace)
    }

    /// Records an event. Only what is not zero is written, and of the lanes that do not exist nothing but their
    /// results.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        self.line(&Line::of(event, self.lane_mask))
    }

    /// Flushes and gives the writer back.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, line)?;
        self.writer.write_all(b"\n")
    }
}

/// The parser's message; its line number is always 1 and would mislead beside ours.
fn in_this_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    format!("column {}: {text}", error.column())
}
