//! Part of a wave in memory: chosen signals over a window of time, as text, pictures and pages show it.

use std::ops::Range;

use crate::{WaveNotes, signal_path};

/// Values of some signals of a wave file, from one point in time to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// Time units shown, the last one not included.
    pub window: Range<u64>,
    /// A time unit, such as `1 ns`.
    pub unit: String,
    /// Time units of a clock cycle, if there is a clock; cycle 0 starts at time 0.
    pub period: Option<u64>,
    /// The signals, in the order in which they are to be shown.
    pub signals: Vec<ExcerptSignal>,
    /// Departures of the file from its format.
    pub notes: WaveNotes,
}

/// A signal of an [`Excerpt`].
#[derive(Clone, Debug, PartialEq)]
pub struct ExcerptSignal {
    /// Names of the scopes it is in, the outermost first.
    pub scopes: Vec<String>,
    /// Name without a range of bits, as [`FileSignal::label`](crate::FileSignal::label) gives it.
    pub name: String,
    /// What it holds.
    pub kind: ValueKind,
    /// Time and new value: the value at the start of the window first, if there is one, then every change in it.
    pub changes: Vec<(u64, WaveValue)>,
}

impl ExcerptSignal {
    /// Joins scopes and name; see [`signal_path`].
    pub fn path(&self) -> String {
        signal_path(self.scopes.iter().chain([&self.name]))
    }

    /// The value at `time`; `None` before the first one.
    pub fn at(&self, time: u64) -> Option<&WaveValue> {
        let behind = self.changes.partition_point(|(changed, _)| *changed <= time);
        self.changes[..behind].last().map(|(_, value)| value)
    }
}

/// What a signal of a wave file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// This many bits.
    Bits(u32),
    /// Text.
    Text,
    /// A floating-point number.
    Real,
    /// Single points in time.
    Event,
}

/// A value of a signal.
#[derive(Clone, Debug, PartialEq)]
pub enum WaveValue {
    /// Digits `0`, `1`, `x`, `z`, the most significant first, as many as the signal has bits.
    Bits(String),
    /// Text; ours have `_` in place of spaces.
    Text(String),
    /// A floating-point number.
    Real(f64),
    /// It happens.
    Event,
}
