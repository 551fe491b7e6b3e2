//! Two waves held against each other, or two scopes of one.
//!
//! Each file is read by a thread of its own, which hands over whole points in time in batches; the buffers go back and
//! forth. This thread merges the two in order of time and compares what changed. What is held is a value of each signal
//! and a few batches, however long the waves are.
//!
//! Most text of two dumps of one program is the same. There it is read once, and no value but the last of each signal is
//! looked at; what differs in front of it differs until the signal changes.

mod batch;
mod cause;
mod merge;
mod pairs;
mod report;

use std::ops::Range;

pub use cause::DivergenceCause;
pub use pairs::{PairingError, SignalRename};
pub use report::DiffResult;

use crate::{SignalPattern, TimeUnit, WaveFile, WaveNotes, WaveReadError, WaveValue};
use pairs::Pairing;

/// What is held against each other.
#[derive(Clone, Copy, Debug)]
pub enum DiffSides<'a> {
    /// Signals of two files with the same scopes and name; where there are several, the n-th of both.
    Files(&'a WaveFile, &'a WaveFile),
    /// Signals of two scopes of one file, likewise with the same scopes and name in them.
    Scopes(&'a WaveFile, [&'a str; 2]),
}

/// What is compared, and when.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// Scopes and signals that the right side calls differently.
    pub renames: Vec<SignalRename>,
    /// Compare the values in front of each rising edge of this signal of the left side: one sample an edge. Otherwise
    /// whenever something changes.
    pub clock: Option<String>,
    /// Added to the times of the right side, in units of the left one.
    pub shift: i64,
    /// Signals that are left out.
    pub ignore: Vec<SignalPattern>,
    /// Signals that are compared; all of them if this is empty.
    pub only: Vec<SignalPattern>,
    /// Times of the left side, in its units; by default what both sides have.
    pub window: Option<Range<u64>>,
}

/// Why waves could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] WaveReadError),
    /// The signals of the sides do not go together.
    #[error(transparent)]
    Pairing(#[from] PairingError),
    /// A time is too large for the common unit.
    #[error("times of the two waves, in {0} and {1}, do not fit into one unit")]
    Units(String, String),
    /// The clock does not rise in the time that is compared.
    #[error("clock `{0}` has no rising edge in the time that is compared")]
    NoEdge(String),
    /// The sides have no time in common.
    #[error("the waves have no time in common: the left one has {}, the right one {}", times(.0), times(.1))]
    Apart(Option<(u64, u64)>, Option<(u64, u64)>),
}

fn times(times: &Option<(u64, u64)>) -> String {
    times.map_or_else(|| "no values".to_owned(), |(first, last)| format!("{first} to {last}"))
}

/// A signal that has different values.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// Its path on either side.
    pub paths: [String; 2],
    /// More names of it, on both sides.
    pub further_names: usize,
    /// When it differs first.
    pub first: u64,
    /// Its values then.
    pub values: [Option<WaveValue>; 2],
    /// How often it begins to differ.
    pub times: u64,
    /// Time during which it differs.
    pub duration: u64,
    /// Since when it is equal again; `None` if it differs at the end.
    pub heals: Option<u64>,
}

/// Differences of two waves. Times are those of the left side, in [`unit`](Self::unit). With a clock, a sample belongs to
/// the cycle of the time just before its edge, and has the time at which that cycle begins.
#[derive(Clone, Debug, PartialEq)]
pub struct WaveDiff {
    /// Distinct pairs of signals that were compared.
    pub compared: usize,
    /// Signals that only one side has.
    pub missing: [Vec<String>; 2],
    /// Pairs that are not declared alike: of another width or kind.
    pub unlike: Vec<[String; 2]>,
    /// From where up to where was compared, the last point in time included.
    pub span: (u64, u64),
    /// The times that each side has; the right side's with its shift.
    pub sides: [(u64, u64); 2],
    /// Points in time at which something was compared.
    pub points: u64,
    /// A unit of time; `None` if no side says.
    pub unit: Option<TimeUnit>,
    /// Time units of a cycle, if the left side has a clock.
    pub period: Option<u64>,
    /// The lines in which sides are cut.
    pub cut_in_line: [Option<u64>; 2],
    /// Departures of the files from their formats.
    pub notes: [WaveNotes; 2],
    /// One side ends earlier, or begins later, than the other; not looked at within a window.
    pub uncovered: bool,
    /// Signals that differ, the earliest first.
    pub divergences: Vec<Divergence>,
    /// What they come from, the earliest first.
    pub causes: Vec<DivergenceCause>,
    /// Causes that are not in the list because there are too many.
    pub further_causes: u64,
}

impl WaveDiff {
    /// Compares.
    ///
    /// # Errors
    /// [`DiffError`].
    pub fn compare(sides: DiffSides<'_>, options: &DiffOptions) -> Result<Self, DiffError> {
        let pairing = Pairing::new(sides, options)?;
        merge::compare(sides, &pairing, options)
    }

    /// Whether no difference was found, over all that both sides have.
    pub fn is_equal(&self) -> bool {
        self.divergences.is_empty() && self.unlike.is_empty() && !self.uncovered
    }
}
