//! Warp requests read from the fields of a wave.

use atoms_wave_view::{Excerpt, PipelineRequest};
use serde::Deserialize;
use serde_json::{Error, Value};

use super::NAMES;

/// State of a request. The wave has it in the field `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// The request waits for its first pass.
    Queued,
    /// The latest pass was issued.
    Pass,
    /// The request is suspended in MBAR.TRY_WAIT.
    Suspended,
    /// The answer is offered at a port.
    Answered,
}

impl RequestKind {
    /// Returns the name of this state, as a wave has it in the field `kind`.
    pub const fn name(self) -> &'static str {
        match self {
            RequestKind::Queued => "queued",
            RequestKind::Pass => "pass",
            RequestKind::Suspended => "suspended",
            RequestKind::Answered => "answered",
        }
    }
}

/// Fields of a warp request while none of them changes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RequestTransaction {
    /// State of the request.
    pub kind: RequestKind,
    /// Number of the request.
    pub request: u64,
    /// Number of the pass, from 1. 0 in other states than [`RequestKind::Pass`].
    pub pass: u64,
    /// Number of passes. 0 if it is not known, and in other states than [`RequestKind::Pass`].
    pub passes: u64,
    /// Name of the operation.
    pub op: String,
    /// Name of the size.
    pub size: String,
    /// 1 if the request wants no result, else 0.
    pub red: u64,
    /// Tag of the request.
    pub tag: u64,
    /// CTA slot of the request.
    pub slot: u64,
    /// Mask of the active lanes.
    pub lanes: u64,
    /// Address of the lowest active lane.
    pub address: u64,
    /// Number of the CTA in the grid.
    pub cta: u64,
    /// Number of the warp in the CTA.
    pub warp: u64,
    /// Index of the instruction in the kernel.
    pub pc: u64,
    /// Line of the instruction in the kernel's text, from 1. 0 if no kernel made the request.
    pub line: u64,
    /// Text of the instruction, with `_` for white space.
    pub instruction: String,
}

/// A warp request that a wave shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveRequest {
    /// Fields of the request, and the time from which they have these values. Never empty.
    pub stages: Vec<(u64, RequestTransaction)>,
    /// Time at which the request leaves the unit. `None` if it is still inside at the end.
    pub gone: Option<u64>,
}

/// Reason why the transactions of a wave cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WaveRequestError {
    /// An earlier version of the program wrote the wave.
    #[error(
        "its transactions are texts without fields, as earlier versions wrote them; record the wave again, or choose other \
         signals with --signals"
    )]
    Earlier,
    /// The signals chosen include no request.
    #[error(
        "no requests (scope `{}.request`) are among the signals chosen; waves of `atoms cosim` and `atoms run` have them",
        NAMES.transactions
    )]
    None,
    /// A field is missing, or has a value that this version does not write.
    #[error("fields of `{track}` at time {time}: {source}; choose all signals of `{}`", NAMES.transactions)]
    Fields {
        /// Track that has the field.
        track: String,
        /// Time in time units of the wave.
        time: u64,
        /// Name of the field, and the value expected.
        source: Error,
    },
}

/// Returns true if the wave has transactions without fields, as earlier versions of this project wrote them.
pub fn lacks_fields(excerpt: &Excerpt) -> bool {
    let is_transaction = |signal| NAMES.is_transaction(signal);
    excerpt.joined_words && excerpt.signals.iter().any(is_transaction) && excerpt.tracks(&NAMES).is_empty()
}

/// Reads the warp requests of a wave, ordered by the track that shows them.
///
/// # Errors
/// [`WaveRequestError`].
pub fn wave_requests(excerpt: &Excerpt) -> Result<Vec<WaveRequest>, WaveRequestError> {
    if lacks_fields(excerpt) {
        return Err(WaveRequestError::Earlier);
    }
    let tracks = excerpt.tracks(&NAMES);
    let mut places =
        tracks.iter().filter(|track| excerpt.signals[track.signal].name == NAMES.kind).peekable();
    if places.peek().is_none() {
        return Err(WaveRequestError::None);
    }
    let mut found = Vec::<WaveRequest>::new();
    for track in places {
        // Number of the request that the track shows, if there is one.
        let mut held = None;
        for transaction in excerpt.transactions(track) {
            let mut fields = transaction.json();
            fields.insert(NAMES.kind.to_owned(), transaction.text.into());
            let fields: RequestTransaction =
                serde_json::from_value(Value::Object(fields)).map_err(|source| WaveRequestError::Fields {
                    track: track.scopes.join("."),
                    time: transaction.from,
                    source,
                })?;
            let last = found
                .last_mut()
                .filter(|last| held == Some(fields.request) && last.gone == Some(transaction.from));
            held = Some(fields.request);
            match last {
                Some(last) if last.stages.last().is_some_and(|(_, stage)| *stage == fields) => {
                    last.gone = Some(transaction.to);
                }
                Some(last) => {
                    last.stages.push((transaction.from, fields));
                    last.gone = Some(transaction.to);
                }
                None => {
                    let (stages, gone) = (vec![(transaction.from, fields)], Some(transaction.to));
                    found.push(WaveRequest { stages, gone });
                }
            }
        }
    }
    for request in &mut found {
        request.gone = request.gone.filter(|gone| *gone < excerpt.window.end);
    }
    Ok(found)
}

impl From<WaveRequest> for PipelineRequest {
    /// Converts to stages for Konata: `Q` queued, `P1`, `P2`, ... from the issue of a pass to the next, `W`
    /// suspended, `A` answer offered. A request that leaves without an answer, in a reset, is flushed.
    fn from(WaveRequest { stages, gone }: WaveRequest) -> Self {
        let (first, last) = (&stages[0].1, &stages[stages.len() - 1].1);
        let RequestTransaction { request, op, size, tag, slot, lanes, address, line, .. } = first;
        let mut detail = format!("slot {slot} lanes {lanes:x} @{address:x}");
        if *line > 0 {
            let RequestTransaction { cta, warp, pc, instruction, .. } = first;
            let instruction = instruction.replace('_', " ");
            detail += &format!(", cta {cta} warp {warp} pc {pc} line {line}: {instruction}");
        }
        let stage = |(time, stage): &(u64, RequestTransaction)| {
            let name = match stage.kind {
                RequestKind::Queued => "Q".to_owned(),
                RequestKind::Pass => format!("P{}", stage.pass),
                RequestKind::Suspended => "W".to_owned(),
                RequestKind::Answered => "A".to_owned(),
            };
            (*time, name)
        };
        PipelineRequest {
            number: *request,
            thread: *tag,
            title: format!("#{request} {op}.{size}{} tag {tag}", if first.red == 1 { ".RED" } else { "" }),
            detail,
            stages: stages.iter().map(stage).collect(),
            end: gone.map(|gone| (gone, last.kind == RequestKind::Answered)),
        }
    }
}
