//! Recorded traces: JSON lines, read one at a time, written as they happen.
//!
//! The format is described, with an example, in `docs/trace-format.md`. [`check_trace`] judges a whole
//! recording; [`TraceReader`] and [`TraceWriter`] read one and make one.

use std::fmt::{self, Write as _};
use std::io::{self, BufRead, Read as _, Write};

use atoms_ops::{Fault, Op, Size};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use crate::checker::Checker;
use crate::lanes::lanes_of;
use crate::rejection::Rejection;
use crate::request::{Allocation, Geometry, MAX_LANES, MAX_WORDS, Moment, Response, SerialRequest};

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
    /// No verdict: see [`Rejection::Undecided`].
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    let lane_mask = trace.geometry().lane_mask();
    let mut checker = Checker::new(trace.geometry());
    if let Some(cycles) = trace.try_wait_limit() {
        checker.set_try_wait_limit(cycles);
    }
    if let Some(requests) = trace.spin_hold() {
        checker.set_spin_hold(requests);
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
                let Exchange { request, response, after, moment } = *exchange;
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
            Event::Wake { number, pred, cycle } => {
                summary.wakes += 1;
                checker.wake(number, pred, cycle)
            }
            Event::Quiet { from, to } => checker.quiet(from, to),
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
}

/// Reads a trace line by line.
#[derive(Debug)]
pub struct TraceReader<R> {
    reader: R,
    geometry: Geometry,
    try_wait_limit: Option<u64>,
    spin_hold: Option<u32>,
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
        let mut trace = TraceReader {
            reader,
            geometry,
            try_wait_limit: None,
            spin_hold: None,
            line: 0,
            text: Vec::new(),
        };
        let Some(wire) = trace.next_line()? else {
            let problem = format!("the trace is empty; it must begin with a header such as {HEADER}");
            return Err(RecordingError::Malformed { line: 1, problem });
        };
        trace.geometry = header(&wire).map_err(|problem| trace.malformed(problem))?;
        let limit = wire.try_wait_limit.map(|cycles| cycles.u64("try_wait_limit")).transpose();
        trace.try_wait_limit = limit.map_err(|problem| trace.malformed(problem))?;
        trace.spin_hold = spin_hold(&wire).map_err(|problem| trace.malformed(problem))?;
        Ok(trace)
    }

    /// The shape that the header gives.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The limit of waits that name none, if the header gives it, in cycles.
    pub fn try_wait_limit(&self) -> Option<u64> {
        self.try_wait_limit
    }

    /// For how many CAST.SPIN requests a lane is favoured, if the header says so (spec 5.4).
    pub fn spin_hold(&self) -> Option<u32> {
        self.spin_hold
    }

    /// The next event and the number of its line, from 1; `None` at the end.
    ///
    /// # Errors
    /// [`RecordingError::Read`] or [`RecordingError::Malformed`].
    pub fn next_event(&mut self) -> Result<Option<(u64, Event)>, RecordingError> {
        while let Some(wire) = self.next_line()? {
            if let Some(event) = event(wire, &self.geometry).map_err(|problem| self.malformed(problem))? {
                return Ok(Some((self.line, event)));
            }
        }
        Ok(None)
    }

    /// The next line that is not blank.
    fn next_line(&mut self) -> Result<Option<LineWire>, RecordingError> {
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
    text: String,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the header. `try_wait_limit` is the limit, in cycles, of waits that name none; `spin_hold`, for
    /// how many requests CAST.SPIN favours a lane.
    pub fn new(
        mut writer: W,
        geometry: Geometry,
        try_wait_limit: Option<u64>,
        spin_hold: Option<u32>,
    ) -> io::Result<Self> {
        let Geometry { lanes, banks, rows, xor_hash } = geometry;
        write!(
            writer,
            r#"{{"atoms_trace":{TRACE_VERSION},"lanes":{lanes},"banks":{banks},"rows":{rows},"xor_hash":{xor_hash}"#
        )?;
        if let Some(cycles) = try_wait_limit {
            write!(writer, r#","try_wait_limit":{cycles}"#)?;
        }
        if let Some(requests) = spin_hold {
            write!(writer, r#","spin_hold":{requests}"#)?;
        }
        writeln!(writer, "}}")?;
        Ok(TraceWriter { writer, lane_mask: geometry.lane_mask(), text: String::new() })
    }

    /// Records that a slot of the CTA table gets an allocation or loses it.
    pub fn part(&mut self, slot: u8, part: Option<Allocation>) -> io::Result<()> {
        match part {
            Some(Allocation { base_row, size_bytes, rank }) => writeln!(
                self.writer,
                r#"{{"part":{{"slot":{slot},"base_row":{base_row},"size_bytes":{size_bytes},"rank":{rank}}}}}"#
            ),
            None => writeln!(self.writer, r#"{{"part":{{"slot":{slot},"unassigned":true}}}}"#),
        }
    }

    /// Records words of memory set from outside: (index, value).
    pub fn init(&mut self, words: &[(u32, u32)]) -> io::Result<()> {
        self.words("init", words)
    }

    /// Records words of memory as found: (index, value).
    pub fn final_words(&mut self, words: &[(u32, u32)]) -> io::Result<()> {
        self.words("final", words)
    }

    /// Records a request, its response, if it has one, and, if they were seen, the words written. Only what is not
    /// zero is written, and of the lanes that do not exist nothing but their results.
    ///
    /// `moment` is needed while a request is suspended or may yet be.
    pub fn request<'a>(
        &mut self,
        req: &SerialRequest,
        resp: impl Into<Option<&'a Response>>,
        after: Option<&[(u32, u32)]>,
        moment: Option<&Moment>,
    ) -> io::Result<()> {
        self.text.clear();
        self.text.push_str(r#"{"request":"#);
        self.push_request(req);
        let text = &mut self.text;
        if let Some(resp) = resp.into() {
            push_response(text, resp);
        }
        if let Some(after) = after {
            text.push_str(r#","after":"#);
            pairs(text, after);
        }
        if let Some(Moment { number, answered, oldest_unanswered }) = moment {
            push(text, format_args!(r#","number":{number},"answered":{answered}"#));
            if let Some(accepted) = oldest_unanswered {
                push(text, format_args!(r#","oldest_unanswered":{accepted}"#));
            }
        }
        text.push_str("}\n");
        self.writer.write_all(text.as_bytes())
    }

    /// Records that the warp port accepted a request that may be suspended.
    pub fn wait(&mut self, number: u64, accepted: u64, req: &SerialRequest) -> io::Result<()> {
        self.text.clear();
        self.text.push_str(r#"{"wait":"#);
        self.push_request(req);
        push(&mut self.text, format_args!(",\"number\":{number},\"accepted\":{accepted}}}\n"));
        self.writer.write_all(self.text.as_bytes())
    }

    /// Records a wake-up.
    pub fn wake(&mut self, number: u64, pred: u32, cycle: u64) -> io::Result<()> {
        writeln!(self.writer, r#"{{"wake":{{"number":{number},"pred":"{pred:#x}","cycle":{cycle}}}}}"#)
    }

    /// Records cycles without a wake-up.
    pub fn quiet(&mut self, from: u64, to: u64) -> io::Result<()> {
        writeln!(self.writer, r#"{{"quiet":[{from},{to}]}}"#)
    }

    /// Records a reset: requests that it dropped, and the words written for them.
    pub fn reset(&mut self, dropped: &[SerialRequest], written: &[(u32, u32)]) -> io::Result<()> {
        self.text.clear();
        self.text.push_str(r#"{"reset":["#);
        for (at, request) in dropped.iter().enumerate() {
            self.text.push_str(if at == 0 { "" } else { "," });
            self.push_request(request);
        }
        self.text.push_str(r#"],"after":"#);
        pairs(&mut self.text, written);
        self.text.push_str("}\n");
        self.writer.write_all(self.text.as_bytes())
    }

    /// Records that nothing is left to be answered.
    pub fn end(&mut self) -> io::Result<()> {
        writeln!(self.writer, r#"{{"end":true}}"#)
    }

    fn push_request(&mut self, req: &SerialRequest) {
        let text = &mut self.text;
        text.push_str(r#"{"op":"#);
        name_or_code(text, Op::from_code(req.op).map(Op::name), req.op);
        text.push_str(r#","size":"#);
        name_or_code(text, Size::from_code(req.size).map(Size::name), req.size);
        if req.red {
            text.push_str(r#","red":true"#);
        }
        if req.cluster {
            text.push_str(r#","cluster":true"#);
        }
        field(text, "slot", req.slot.into());
        if req.absolute {
            text.push_str(r#","absolute":true"#);
        }
        field(text, "scale", req.scale.into());
        field(text, "imm", (req.imm & 0x00ff_ffff).into());
        field(text, "ur", req.ur.into());
        text.push_str(r#","lanes":["#);
        for (i, lane) in lanes_of(req.mask & self.lane_mask).enumerate() {
            text.push_str(if i == 0 { "" } else { "," });
            push(text, format_args!(r#"{{"lane":{lane}"#));
            field(text, "ra", req.ra[lane].into());
            field(text, "b", req.b[lane]);
            field(text, "c", req.c[lane]);
            text.push('}');
        }
        text.push_str("]}");
    }

    /// Flushes and gives the writer back.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn words(&mut self, kind: &str, words: &[(u32, u32)]) -> io::Result<()> {
        self.text.clear();
        push(&mut self.text, format_args!(r#"{{"{kind}":"#));
        pairs(&mut self.text, words);
        self.text.push_str("}\n");
        self.writer.write_all(self.text.as_bytes())
    }
}

/// Appends formatted text.
fn push(text: &mut String, args: fmt::Arguments<'_>) {
    text.write_fmt(args).expect("a String takes all text");
}

/// Appends a response: only what is not zero.
fn push_response(text: &mut String, resp: &Response) {
    text.push_str(r#","response":{"#);
    if resp.fault != Fault::None {
        push(text, format_args!(r#""fault":"{}","fault_lane":{},"#, resp.fault.name(), resp.fault_lane));
        text.push_str(r#""fault_addr":"#);
        number(text, resp.fault_addr.into());
        text.push(',');
    }
    text.push_str(r#""lanes":["#);
    let given = (0..MAX_LANES).filter(|&lane| resp.rd[lane] != 0 || resp.pred >> lane & 1 == 1);
    for (i, lane) in given.enumerate() {
        text.push_str(if i == 0 { "" } else { "," });
        push(text, format_args!(r#"{{"lane":{lane}"#));
        field(text, "rd", resp.rd[lane]);
        field(text, "pred", (resp.pred >> lane & 1).into());
        text.push('}');
    }
    text.push_str("]}");
}

/// Small numbers in decimal, the others, most often addresses and patterns, in hexadecimal.
fn number(text: &mut String, value: u128) {
    match value {
        0..=9 => push(text, format_args!("{value}")),
        _ => push(text, format_args!(r#""{value:#x}""#)),
    }
}

fn field(text: &mut String, name: &str, value: u128) {
    if value != 0 {
        push(text, format_args!(r#","{name}":"#));
        number(text, value);
    }
}

fn name_or_code(text: &mut String, name: Option<&str>, code: u8) {
    match name {
        Some(name) => push(text, format_args!(r#""{name}""#)),
        None => push(text, format_args!("{code}")),
    }
}

fn pairs(text: &mut String, words: &[(u32, u32)]) {
    text.push('[');
    for (i, (word, value)) in words.iter().enumerate() {
        text.push_str(if i == 0 { "[" } else { ",[" });
        push(text, format_args!("{word},"));
        number(text, (*value).into());
        text.push(']');
    }
    text.push(']');
}

const HEADER: &str = r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":512}"#;
const KINDS: &str =
    "`part`, `init`, `request` with `response`, `wait`, `wake`, `quiet`, `reset`, `end`, `final` or `note`";

/// Every line as it stands; which fields belong together is checked afterwards, with better messages
/// than an untagged enum would give.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineWire {
    atoms_trace: Option<Number>,
    lanes: Option<Number>,
    banks: Option<Number>,
    rows: Option<Number>,
    xor_hash: Option<bool>,
    try_wait_limit: Option<Number>,
    spin_hold: Option<Number>,
    part: Option<PartWire>,
    init: Option<Vec<(Number, Number)>>,
    request: Option<RequestWire>,
    response: Option<ResponseWire>,
    after: Option<Vec<(Number, Number)>>,
    number: Option<Number>,
    answered: Option<Number>,
    oldest_unanswered: Option<Number>,
    wait: Option<RequestWire>,
    accepted: Option<Number>,
    wake: Option<WakeWire>,
    quiet: Option<(Number, Number)>,
    reset: Option<Vec<RequestWire>>,
    end: Option<bool>,
    #[serde(rename = "final")]
    found: Option<Vec<(Number, Number)>>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartWire {
    slot: Number,
    base_row: Option<Number>,
    size_bytes: Option<Number>,
    rank: Option<Number>,
    #[serde(default)]
    unassigned: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WakeWire {
    number: Number,
    pred: Number,
    cycle: Number,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestWire {
    op: NameOrCode,
    size: NameOrCode,
    #[serde(default)]
    red: bool,
    #[serde(default)]
    cluster: bool,
    slot: Option<Number>,
    mask: Option<Number>,
    #[serde(default)]
    absolute: bool,
    scale: Option<Number>,
    imm: Option<Immediate>,
    ur: Option<Number>,
    ra: Option<PerLane>,
    b: Option<PerLane>,
    c: Option<PerLane>,
    lanes: Option<Vec<OperandsWire>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperandsWire {
    lane: Number,
    ra: Option<Number>,
    b: Option<Number>,
    c: Option<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseWire {
    fault: Option<NameOrCode>,
    fault_lane: Option<Number>,
    fault_addr: Option<Number>,
    rd: Option<PerLane>,
    pred: Option<Number>,
    lanes: Option<Vec<ResultWire>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultWire {
    lane: Number,
    rd: Option<Number>,
    pred: Option<Number>,
}

/// A JSON integer, or a string with a decimal or `0x` number of up to 128 bits.
#[derive(Clone, Copy)]
struct Number(u128);

/// As [`Number`], and also negative.
#[derive(Clone, Copy)]
struct Immediate(i64);

/// One number for every lane, or a list with lane 0 first.
enum PerLane {
    Every(Number),
    Each(Vec<Number>),
}

enum NameOrCode {
    Name(String),
    Code(Number),
}

fn parse_number(text: &str) -> Option<u128> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u128::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if digits.starts_with('+') => None,
        None => digits.parse().ok(),
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 0 up, or a string such as \"0x1f\"")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value.into()))
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Number, E> {
                Ok(Number(value.into()))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                parse_number(text)
                    .map(Number)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for Immediate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Immediate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("24 bits, -0x800000 to 0xffffff, as a number or a string")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Immediate, E> {
                let fits = (-0x80_0000..=0xff_ffff).contains(&value);
                let unexpected = de::Unexpected::Signed(value);
                fits.then_some(Immediate(value)).ok_or_else(|| E::invalid_value(unexpected, &self))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Immediate, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Immediate, E> {
                let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |rest| (rest, -1));
                let value = parse_number(digits).and_then(|value| i64::try_from(value).ok());
                value
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
                    .and_then(|value| self.visit_i64(sign * value))
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for PerLane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = PerLane;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number for every lane or a list of up to 32, lane 0 first")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<PerLane, E> {
                Ok(PerLane::Every(Number(value.into())))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<PerLane, E> {
                let value = parse_number(text).map(Number);
                value.map(PerLane::Every).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PerLane, A::Error> {
                let mut each = Vec::with_capacity(MAX_LANES);
                while let Some(value) = seq.next_element()? {
                    if each.len() == MAX_LANES {
                        return Err(de::Error::invalid_length(MAX_LANES + 1, &self));
                    }
                    each.push(value);
                }
                Ok(PerLane::Each(each))
            }
        }
        deserializer.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for NameOrCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = NameOrCode;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a numeric code")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<NameOrCode, E> {
                Ok(NameOrCode::Code(Number(value.into())))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<NameOrCode, E> {
                Ok(parse_number(text)
                    .map_or_else(|| NameOrCode::Name(text.to_owned()), |code| NameOrCode::Code(Number(code))))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The parser's message; its line number is always 1 and would mislead beside ours.
fn in_this_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    format!("column {}: {text}", error.column())
}

impl Number {
    /// The value, if it is at most `most`.
    fn up_to(self, field: &str, most: u128) -> Result<u128, String> {
        if self.0 <= most {
            Ok(self.0)
        } else {
            Err(format!("`{field}` is {:#x}: expected at most {most:#x}", self.0))
        }
    }

    fn u32(self, field: &str) -> Result<u32, String> {
        self.up_to(field, u32::MAX.into()).map(|value| value as u32)
    }

    fn u64(self, field: &str) -> Result<u64, String> {
        self.up_to(field, u64::MAX.into()).map(|value| value as u64)
    }

    fn u8(self, field: &str) -> Result<u8, String> {
        self.up_to(field, u8::MAX.into()).map(|value| value as u8)
    }

    fn lane(self, lanes: u32) -> Result<usize, String> {
        if self.0 < u128::from(lanes) {
            Ok(self.0 as usize)
        } else {
            Err(format!(
                "lane {}: expected 0 to {}, as the header has {lanes} lanes",
                self.0,
                lanes.saturating_sub(1)
            ))
        }
    }
}

fn or_zero(value: Option<Number>) -> Number {
    value.unwrap_or(Number(0))
}

fn header(wire: &LineWire) -> Result<Geometry, String> {
    let missing = |field: &str| format!("the header has no `{field}`; it must look like {HEADER}");
    let version = wire.atoms_trace.ok_or_else(|| missing("atoms_trace"))?.0;
    if version != TRACE_VERSION.into() {
        return Err(format!("version {version} of the format: expected {TRACE_VERSION}"));
    }
    let lanes = wire.lanes.ok_or_else(|| missing("lanes"))?.0;
    if !(1..=MAX_LANES as u128).contains(&lanes) {
        return Err(format!("{lanes} lanes: expected 1 to {MAX_LANES}"));
    }
    let banks = wire.banks.ok_or_else(|| missing("banks"))?.u32("banks")?;
    if !banks.is_power_of_two() {
        return Err(format!("{banks} banks: expected a power of two"));
    }
    let rows = wire.rows.ok_or_else(|| missing("rows"))?.u32("rows")?;
    if rows == 0 || u64::from(rows) * u64::from(banks) > MAX_WORDS {
        let most = MAX_WORDS / u64::from(banks);
        return Err(format!("{rows} rows of {banks} banks: expected 1 to {most}"));
    }
    if wire.part.is_some()
        || wire.init.is_some()
        || wire.request.is_some()
        || wire.found.is_some()
        || wire.wait.is_some()
    {
        return Err("the header must be a line of its own".to_owned());
    }
    Ok(Geometry { lanes: lanes as u32, banks, rows, xor_hash: wire.xor_hash.unwrap_or(false) })
}

/// For how many requests CAST.SPIN favours a lane, if the header says so.
fn spin_hold(wire: &LineWire) -> Result<Option<u32>, String> {
    match wire.spin_hold.map(|requests| requests.u32("spin_hold")).transpose()? {
        Some(0) => Err("`spin_hold` is 0: expected 1 or more".to_owned()),
        requests => Ok(requests),
    }
}

/// What a line after the header says; `None` for a note.
fn event(wire: LineWire, geometry: &Geometry) -> Result<Option<Event>, String> {
    if wire.atoms_trace.is_some() {
        return Err("a second header; each trace needs a file of its own".to_owned());
    }
    let stray = [
        ("lanes", wire.lanes.is_some()),
        ("banks", wire.banks.is_some()),
        ("rows", wire.rows.is_some()),
        ("xor_hash", wire.xor_hash.is_some()),
        ("try_wait_limit", wire.try_wait_limit.is_some()),
        ("spin_hold", wire.spin_hold.is_some()),
    ];
    if let Some((field, _)) = stray.iter().find(|(_, there)| *there) {
        return Err(format!("`{field}` belongs in the header, line 1"));
    }
    let after = wire.after.is_some() && wire.reset.is_none();
    if wire.request.is_none() && (wire.response.is_some() || after) {
        return Err("`response` and `after` belong in the line of their `request`".to_owned());
    }
    if wire.request.is_none() && (wire.answered.is_some() || wire.oldest_unanswered.is_some()) {
        return Err("`answered` and `oldest_unanswered` belong in the line of a `request`".to_owned());
    }
    if wire.wait.is_none() && wire.accepted.is_some() {
        return Err("`accepted` belongs in the line of a `wait`".to_owned());
    }
    if wire.request.is_none() && wire.wait.is_none() && wire.number.is_some() {
        return Err("`number` belongs in the line of a `request` or `wait`, or inside a `wake`".to_owned());
    }
    let kinds = [
        wire.part.is_some(),
        wire.init.is_some(),
        wire.request.is_some(),
        wire.wait.is_some(),
        wire.wake.is_some(),
        wire.quiet.is_some(),
        wire.reset.is_some(),
        wire.end.is_some(),
        wire.found.is_some(),
    ];
    match kinds.iter().filter(|there| **there).count() {
        0 if wire.note.is_some() => return Ok(None),
        0 => return Err(format!("the line says nothing: expected one of {KINDS}")),
        1 => {}
        _ => return Err(format!("several things in one line: expected one of {KINDS}")),
    }
    if let Some(part) = wire.part {
        return part_event(&part).map(Some);
    }
    if let Some(words) = wire.init {
        return Ok(Some(Event::Init(memory_words(&words, geometry)?)));
    }
    if let Some(words) = wire.found {
        return Ok(Some(Event::Final(memory_words(&words, geometry)?)));
    }
    if let Some(request) = wire.wait {
        let number = wire.number.ok_or("the `wait` has no `number`")?.u64("number")?;
        let accepted = wire.accepted.ok_or("the `wait` has no `accepted`")?.u64("accepted")?;
        let request = Box::new(request_of(request, geometry.lanes)?);
        return Ok(Some(Event::Wait { number, accepted, request }));
    }
    if let Some(wake) = wire.wake {
        let (number, cycle) = (wake.number.u64("number")?, wake.cycle.u64("cycle")?);
        return Ok(Some(Event::Wake { number, pred: wake.pred.u32("pred")?, cycle }));
    }
    if let Some((from, to)) = wire.quiet {
        let (from, to) = (from.u64("quiet")?, to.u64("quiet")?);
        if from > to {
            return Err(format!("quiet from {from} to {to}: expected the first cycle and the last"));
        }
        return Ok(Some(Event::Quiet { from, to }));
    }
    if wire.end.is_some() {
        return Ok(Some(Event::End));
    }
    let word_pair =
        |(word, value): &(Number, Number)| Ok((word.u32("word in after")?, value.u32("value in after")?));
    let after =
        wire.after.map(|words| words.iter().map(word_pair).collect::<Result<_, String>>()).transpose()?;
    if let Some(dropped) = wire.reset {
        let dropped = dropped.into_iter().map(|request| request_of(request, geometry.lanes));
        let dropped = dropped.collect::<Result<_, String>>()?;
        return Ok(Some(Event::Reset { dropped, written: after.unwrap_or_default() }));
    }
    let Some(request) = wire.request else { return Ok(None) };
    let moment = match (wire.number, wire.answered) {
        (Some(number), Some(answered)) => Some(Moment {
            number: number.u64("number")?,
            answered: answered.u64("answered")?,
            oldest_unanswered: wire
                .oldest_unanswered
                .map(|accepted| accepted.u64("oldest_unanswered"))
                .transpose()?,
        }),
        (None, None) if wire.oldest_unanswered.is_none() => None,
        _ => return Err("`number` and `answered` go together".to_owned()),
    };
    let request = request_of(request, geometry.lanes)?;
    if wire.response.is_none() && !request.is_posted() {
        return Err(
            "the `request` has no `response`; only a posted one, with `cluster` and `red`, can do without"
                .into(),
        );
    }
    let response = wire.response.map(|response| response_of(response, request.mask)).transpose()?;
    Ok(Some(Event::Request(Box::new(Exchange { request, response, after, moment }))))
}

fn part_event(wire: &PartWire) -> Result<Event, String> {
    let slot = wire.slot.u8("slot")?;
    if wire.unassigned {
        if wire.base_row.is_some() || wire.size_bytes.is_some() || wire.rank.is_some() {
            return Err("an unassigned slot has no `base_row`, `size_bytes` or `rank`".to_owned());
        }
        return Ok(Event::Part { slot, part: None });
    }
    let missing =
        |field: &str| format!("the part has no `{field}`; a slot without one is `\"unassigned\":true`");
    let part = Allocation {
        base_row: wire.base_row.ok_or_else(|| missing("base_row"))?.u32("base_row")?,
        size_bytes: wire.size_bytes.ok_or_else(|| missing("size_bytes"))?.u32("size_bytes")?,
        rank: or_zero(wire.rank).u8("rank")?,
    };
    Ok(Event::Part { slot, part: Some(part) })
}

fn memory_words(words: &[(Number, Number)], geometry: &Geometry) -> Result<Vec<(u32, u32)>, String> {
    let last = geometry.words().saturating_sub(1);
    words
        .iter()
        .map(|(word, value)| Ok((word.up_to("word", last.into())? as u32, value.u32("value")?)))
        .collect()
}

fn request_of(wire: RequestWire, lanes: u32) -> Result<SerialRequest, String> {
    let listed = wire.lanes.as_deref();
    if listed.is_none() && wire.mask.is_none() {
        return Err("the request has neither `lanes` nor a `mask`: which lanes are active?".to_owned());
    }
    let mut req = SerialRequest {
        op: op_code(&wire.op)?,
        size: size_code(&wire.size)?,
        red: wire.red,
        cluster: wire.cluster,
        slot: or_zero(wire.slot).u8("slot")?,
        mask: or_zero(wire.mask).u32("mask")?,
        absolute: wire.absolute,
        scale: or_zero(wire.scale).u8("scale")?,
        imm: wire.imm.map_or(0, |imm| imm.0 as u32 & 0x00ff_ffff),
        ur: or_zero(wire.ur).u32("ur")?,
        ..SerialRequest::default()
    };
    fill(&wire.ra, &mut req.ra, |value| value.u32("ra"))?;
    fill(&wire.b, &mut req.b, |value| Ok(value.0))?;
    fill(&wire.c, &mut req.c, |value| Ok(value.0))?;
    for operands in listed.unwrap_or_default() {
        let lane = operands.lane.lane(lanes)?;
        if wire.mask.is_none() {
            req.mask |= 1 << lane;
        }
        if let Some(ra) = operands.ra {
            req.ra[lane] = ra.u32("ra")?;
        }
        req.b[lane] = operands.b.map_or(req.b[lane], |b| b.0);
        req.c[lane] = operands.c.map_or(req.c[lane], |c| c.0);
    }
    Ok(req)
}

fn response_of(wire: ResponseWire, active: u32) -> Result<Response, String> {
    let mut resp = Response {
        pred: or_zero(wire.pred).u32("pred")?,
        fault: wire.fault.as_ref().map_or(Ok(Fault::None), fault_of)?,
        fault_lane: or_zero(wire.fault_lane).u8("fault_lane")?,
        fault_addr: or_zero(wire.fault_addr).u32("fault_addr")?,
        ..Response::default()
    };
    fill(&wire.rd, &mut resp.rd, |value| Ok(value.0))?;
    if let Some(PerLane::Every(_)) = wire.rd {
        // "Every lane" means every active one: no others get results.
        (0..MAX_LANES).filter(|lane| active >> lane & 1 == 0).for_each(|lane| resp.rd[lane] = 0);
    }
    // A recording may show results in lanes that do not exist; that is a finding, not bad form.
    for result in wire.lanes.unwrap_or_default() {
        let lane = result.lane.lane(MAX_LANES as u32)?;
        resp.rd[lane] = result.rd.map_or(resp.rd[lane], |rd| rd.0);
        if let Some(pred) = result.pred {
            resp.pred = resp.pred & !(1 << lane) | (pred.up_to("pred", 1)? as u32) << lane;
        }
    }
    Ok(resp)
}

fn fill<T>(
    from: &Option<PerLane>,
    to: &mut [T; MAX_LANES],
    value: impl Fn(Number) -> Result<T, String>,
) -> Result<(), String> {
    for (lane, to) in to.iter_mut().enumerate() {
        match from {
            Some(PerLane::Every(every)) => *to = value(*every)?,
            Some(PerLane::Each(each)) if lane < each.len() => *to = value(each[lane])?,
            Some(PerLane::Each(_)) | None => {}
        }
    }
    Ok(())
}

fn op_code(wire: &NameOrCode) -> Result<u8, String> {
    match wire {
        NameOrCode::Code(code) => code.u8("op"),
        NameOrCode::Name(name) => Op::from_name(name).map(|op| op as u8).ok_or_else(|| {
            let names: Vec<_> = (0..=u8::MAX).filter_map(Op::from_code).map(Op::name).collect();
            format!("operation `{name}`: expected a numeric code or one of {}", names.join(", "))
        }),
    }
}

fn size_code(wire: &NameOrCode) -> Result<u8, String> {
    match wire {
        NameOrCode::Code(code) => code.u8("size"),
        NameOrCode::Name(name) => Size::from_name(name).map(|size| size as u8).ok_or_else(|| {
            let names = Size::ALL.map(Size::name).join(", ");
            format!("size `{name}`: expected a numeric code or one of {names}")
        }),
    }
}

fn fault_of(wire: &NameOrCode) -> Result<Fault, String> {
    let (fault, written) = match wire {
        NameOrCode::Code(code) => (Fault::from_code(code.u8("fault")?), code.0.to_string()),
        NameOrCode::Name(name) => (Fault::from_name(name), name.clone()),
    };
    let names = Fault::ALL.map(Fault::name).join("`, `");
    fault.ok_or_else(|| format!("fault `{written}`: expected a code 0 to 3 or one of `{names}`"))
}
