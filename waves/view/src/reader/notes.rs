//! Deviations of a file from its format that the reader accepts.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveNoteKind {
    Timescale,
    TimeFraction,
    TimeBack,
    EmptyVector,
    VectorPrefix,
    Unclosed,
}

const KINDS: usize = 6;

impl fmt::Display for WaveNoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaveNoteKind::Timescale => {
                "$timescale is not 1, 10 or 100 of a unit: all times are multiplied by its number"
            }
            WaveNoteKind::TimeFraction => "a time has a fraction, which is ignored",
            WaveNoteKind::TimeBack => "time goes back: the changes there are read at the latest time so far",
            WaveNoteKind::EmptyVector => "a vector without digits is read as 0",
            WaveNoteKind::VectorPrefix => "a second prefix `0b` before the digits is ignored",
            WaveNoteKind::Unclosed => {
                "the file was not closed or is truncated: it is read up to the last complete block"
            }
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveNote {
    pub kind: WaveNoteKind,
    /// Line of the first occurrence, counted from 1; 0 in a binary file.
    pub line: u64,
    pub places: u64,
}

impl fmt::Display for WaveNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaveNote { kind, line, places } = self;
        match (line, places) {
            (0, _) => write!(f, "{kind}"),
            (_, 1) => write!(f, "line {line}: {kind}"),
            _ => write!(f, "line {line} and {} more: {kind}", places - 1),
        }
    }
}

/// Deviation of a file from its format that the reader accepted, for JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaveNoteResult {
    /// First line, counted from 1; none in a binary file.
    line: Option<u64>,
    places: u64,
    text: String,
}

/// Notes about a file, at most one of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveNotes([Option<WaveNote>; KINDS]);

impl WaveNotes {
    pub fn results(&self) -> Vec<WaveNoteResult> {
        let result = |note: &WaveNote| {
            let line = Some(note.line).filter(|line| *line > 0);
            WaveNoteResult { line, places: note.places, text: note.kind.to_string() }
        };
        self.iter().map(result).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &WaveNote> {
        self.0.iter().flatten()
    }

    pub fn has(&self, kind: WaveNoteKind) -> bool {
        self.0[kind as usize].is_some()
    }

    #[cold]
    pub(super) fn add(&mut self, kind: WaveNoteKind, line: u64) {
        self.merge(&WaveNote { kind, line, places: 1 });
    }

    pub fn extend(&mut self, later: &WaveNotes) {
        later.iter().for_each(|note| self.merge(note));
    }

    fn merge(&mut self, note: &WaveNote) {
        match &mut self.0[note.kind as usize] {
            Some(known) => known.places += note.places,
            free => *free = Some(*note),
        }
    }
}
