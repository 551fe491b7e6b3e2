//! Warp requests read from the fields of a wave.

use atoms_wave_view::{Excerpt, PipelineRequest};
use serde::Deserialize;
use serde_json::{Error, Value};

use super::NAMES;

/// State of a request, as the field `kind` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// Waits for its first pass.
    Queued,
    /// A pass was issued, and no later one yet.
    Pass,
    /// Waits in MBAR.TRY_WAIT.
    Suspended,
    /// The answer waits at a port.
    Answered,
}

impl RequestKind {
    /// Name in a wave.
    pub const fn name(self) -> &'static str {
        match self {
            RequestKind::Queued => "queued",
            RequestKind::Pass => "pass",
            RequestKind::Suspended => "suspended",
            RequestKind::Answered => "answered",
        }
    }
}

/// Fields of a warp request over some time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RequestTransaction {
    /// State.
    pub kind: RequestKind,
    /// Number of the request.
    pub request: u64,
    /// Number of the pass, from 1; 0 in other states.
    pub pass: u64,
    /// Number of passes; 0 if it is not known, and in other states.
    pub passes: u64,
    /// Operation, by name.
    pub op: String,
    /// Size, by name.
    pub size: String,
    /// 1 if no result is wanted.
    pub red: u64,
    /// Tag.
    pub tag: u64,
    /// CTA slot.
    pub slot: u64,
    /// Lanes that take part.
    pub lanes: u64,
    /// Address of the lowest lane.
    pub address: u64,
    /// Number of the CTA in the grid.
    pub cta: u64,
    /// Number of the warp in the CTA.
    pub warp: u64,
    /// Index of the instruction in the kernel.
    pub pc: u64,
    /// Line of the instruction in the kernel's text, from 1; 0 if no kernel made the request.
    pub line: u64,
    /// The instruction, with `_` for white space.
    pub instruction: String,
}

/// A warp request that a wave shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveRequest {
    /// Fields, each with the time from which they hold; at least one.
    pub stages: Vec<(u64, RequestTransaction)>,
    /// Time unit from which on it is not inside any more.
    pub gone: Option<u64>,
}

/// Reason why the transactions of a wave cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WaveRequestError {
    /// The wave is of an earlier version.
    #[error(
        "its transactions are texts without fields, as earlier versions wrote them; record the wave again, or choose other \
         signals with --signals"
    )]
    Earlier,
    /// No request is among the signals.
    #[error(
        "no requests (scope `{}.request`) are among the signals chosen; waves of `atoms cosim` and `atoms run` have them",
        NAMES.transactions
    )]
    None,
    /// A field is missing, or does not have a value that this version writes.
    #[error("fields of `{track}` at time {time}: {source}; choose all signals of `{}`", NAMES.transactions)]
    Fields {
        /// Track.
        track: String,
        /// Time units.
        time: u64,
        /// Field, and what was expected.
        source: Error,
    },
}

/// True if a wave of this project has transactions without fields.
pub fn lacks_fields(excerpt: &Excerpt) -> bool {
    let is_transaction = |signal| NAMES.is_transaction(signal);
    excerpt.joined_words && excerpt.signals.iter().any(is_transaction) && excerpt.tracks(&NAMES).is_empty()
}

/// Reads the warp requests of a wave, in the order of the places that they had.
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
        // Number of the request that has the place, if one has it.
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
    /// Stages for Konata: `Q` queued, `P1`, `P2`, ... from the issue of a pass to the next, `W` suspended, `A` its answer
    /// stands at a port. A request that goes without an answer, in a reset, is flushed.
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
