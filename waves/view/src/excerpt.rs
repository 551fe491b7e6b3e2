//! Part of a wave in memory: chosen signals over a window of time, as text, pictures and pages show it.

use std::borrow::Cow;
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
    /// True if `_` in texts stands for white space, as this crate writes it.
    pub joined_words: bool,
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

impl Excerpt {
    /// Separates the words of texts that the file has joined by `_`.
    pub fn separate_words(&mut self) {
        let texts = self.signals.iter_mut().flat_map(|signal| &mut signal.changes);
        for (_, value) in texts.filter(|_| self.joined_words) {
            if let WaveValue::Text(text) = value {
                *text = spaced(text);
            }
        }
    }

    /// A text of the excerpt with its words separated.
    pub fn words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.joined_words { Cow::Owned(spaced(text)) } else { Cow::Borrowed(text) }
    }
}

/// A text of ours with spaces in place of `_`, but for those inside names such as `MBAR.EXPECT_TX`.
fn spaced(text: &str) -> String {
    let is_capital = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_uppercase);
    let inside = |at: usize| {
        is_capital(text.as_bytes().get(at.wrapping_sub(1))) && is_capital(text.as_bytes().get(at + 1))
    };
    text.char_indices().map(|(at, c)| if c == '_' && !inside(at) { ' ' } else { c }).collect()
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
    /// Text as the file has it, escapes decoded; see [`Excerpt::joined_words`].
    Text(String),
    /// A floating-point number.
    Real(f64),
    /// It happens.
    Event,
}
