//! Compares two waves, or two scopes of one wave.
//!
//! A separate thread reads each file and sends whole time steps in batches; buffers are reused. The calling
//! thread merges both streams by time and compares the signals that changed. Memory holds one value per
//! signal and a few batches, independent of the length of the waves.
//!
//! Two dumps of one program have mostly identical text. Identical text is read once, and only the last value
//! of each signal in it is decoded. A difference before this text lasts until the signal changes.

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

#[derive(Clone, Copy, Debug)]
pub enum DiffSides<'a> {
    /// Two files. Signals with equal scopes and name form a pair; among several, the n-th of both files.
    Files(&'a WaveFile, &'a WaveFile),
    /// Two scopes of one file. Signals with equal path below the scopes form a pair.
    Scopes(&'a WaveFile, [&'a str; 2]),
}

#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    pub renames: Vec<SignalRename>,
    /// Clock on the left side. Values are compared just before each rising edge, once per edge. Without a
    /// clock, values are compared after every change.
    pub clock: Option<String>,
    /// Offset that is added to times of the right side, in units of the left side.
    pub shift: i64,
    pub ignore: Vec<SignalPattern>,
    /// Signals to compare; empty for all.
    pub only: Vec<SignalPattern>,
    /// Times to compare, in units of the left side. Default: the times that both sides cover.
    pub window: Option<Range<u64>>,
}

#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    #[error(transparent)]
    Read(#[from] WaveReadError),
    #[error(transparent)]
    Pairing(#[from] PairingError),
    #[error("times of the two waves, in {0} and {1}, cannot be converted to one unit")]
    Units(String, String),
    #[error("clock `{0}` has no rising edge in the time that is compared")]
    NoEdge(String),
    #[error("the waves have no time in common: the left one has {}, the right one {}", times(.0), times(.1))]
    Apart(Option<(u64, u64)>, Option<(u64, u64)>),
}

fn times(times: &Option<(u64, u64)>) -> String {
    times.map_or_else(|| "no values".to_owned(), |(first, last)| format!("{first} to {last}"))
}

#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    pub paths: [String; 2],
    /// Number of further names of the signals, on both sides together.
    pub further_names: usize,
    /// Time of the first difference.
    pub first: u64,
    /// Values at the first difference; `None` before the first value.
    pub values: [Option<WaveValue>; 2],
    pub times: u64,
    pub duration: u64,
    /// Time from which the signals are equal again; `None` if they differ at the end.
    pub heals: Option<u64>,
}

/// Differences of two waves. Times are those of the left side, in [`unit`](Self::unit). With a clock, a
/// sample belongs to the cycle just before its edge, and has the time at which that cycle starts.
#[derive(Clone, Debug, PartialEq)]
pub struct WaveDiff {
    pub compared: usize,
    pub missing: [Vec<String>; 2],
    /// Pairs with different width or kind.
    pub unlike: Vec<[String; 2]>,
    /// First and last compared time, both included.
    pub span: (u64, u64),
    /// First and last time of each side; the right side's include the shift.
    pub sides: [(u64, u64); 2],
    pub points: u64,
    /// Time unit; `None` if no file declares one.
    pub unit: Option<TimeUnit>,
    /// Clock period in time units, if the left side has a clock.
    pub period: Option<u64>,
    /// Line in which each file is truncated.
    pub cut_in_line: [Option<u64>; 2],
    pub notes: [WaveNotes; 2],
    /// True if one side starts later or ends earlier than the other; always false with a window.
    pub uncovered: bool,
    /// Pairs that differ, the earliest first.
    pub divergences: Vec<Divergence>,
    pub causes: Vec<DivergenceCause>,
    pub further_causes: u64,
}

impl WaveDiff {
    /// Compares the signals of both sides.
    ///
    /// # Errors
    /// [`DiffError`].
    pub fn compare(sides: DiffSides<'_>, options: &DiffOptions) -> Result<Self, DiffError> {
        let pairing = Pairing::new(sides, options)?;
        merge::compare(sides, &pairing, options)
    }

    /// True if there is no difference and both sides cover the same time.
    pub fn is_equal(&self) -> bool {
        self.divergences.is_empty() && self.unlike.is_empty() && !self.uncovered
    }
}
