//! Excerpt: selected signals of a wave over a window of time, in memory.

use std::borrow::Cow;
use std::ops::Range;

use crate::{WaveNotes, signal_path};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    pub window: Range<u64>,
    /// Time unit, such as `1 ns`.
    pub unit: String,
    /// Clock period in time units, if there is a clock. Cycle 0 starts at time 0.
    pub period: Option<u64>,
    pub signals: Vec<ExcerptSignal>,
    /// True if `_` in texts stands for white space, as in files of `atoms_wave_write`.
    pub joined_words: bool,
    pub notes: WaveNotes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExcerptSignal {
    /// Names of the enclosing scopes, the outermost first.
    pub scopes: Vec<String>,
    /// Name without a bit range, as returned by [`FileSignal::label`](crate::FileSignal::label).
    pub name: String,
    pub kind: ValueKind,
    /// Changes as time and new value. The first entry is the value at the start of the window, if there is
    /// one.
    pub changes: Vec<(u64, WaveValue)>,
}

impl Excerpt {
    /// Replaces `_` by spaces in all texts, if [`Self::joined_words`] is set.
    pub fn separate_words(&mut self) {
        let texts = self.signals.iter_mut().flat_map(|signal| &mut signal.changes);
        for (_, value) in texts.filter(|_| self.joined_words) {
            if let WaveValue::Text(text) = value {
                *text = spaced(text);
            }
        }
    }

    pub fn words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.joined_words { Cow::Owned(spaced(text)) } else { Cow::Borrowed(text) }
    }
}

/// Replaces `_` by spaces, except between capitals, as in `MBAR.EXPECT_TX`.
fn spaced(text: &str) -> String {
    let is_capital = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_uppercase);
    let inside = |at: usize| {
        is_capital(text.as_bytes().get(at.wrapping_sub(1))) && is_capital(text.as_bytes().get(at + 1))
    };
    text.char_indices().map(|(at, c)| if c == '_' && !inside(at) { ' ' } else { c }).collect()
}

impl ExcerptSignal {
    pub fn path(&self) -> String {
        signal_path(self.scopes.iter().chain([&self.name]))
    }

    /// Returns each value with its start and its end. The last value ends at `end`.
    pub fn intervals(&self, end: u64) -> impl Iterator<Item = (Range<u64>, &WaveValue)> {
        let ends = self.changes.iter().skip(1).map(|(time, _)| *time).chain([end]);
        self.changes.iter().zip(ends).map(|((start, value), end)| (*start..end, value))
    }

    /// Returns the value at `time`; `None` before the first value.
    pub fn at(&self, time: u64) -> Option<&WaveValue> {
        let behind = self.changes.partition_point(|(changed, _)| *changed <= time);
        self.changes[..behind].last().map(|(_, value)| value)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// Vector of this many bits.
    Bits(u32),
    Text,
    Real,
    Event,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WaveValue {
    /// Digits `0`, `1`, `x`, `z`, one per bit of the signal, the most significant first.
    Bits(String),
    /// Text from the file, with escapes decoded; see [`Excerpt::joined_words`].
    Text(String),
    Real(f64),
    /// Event trigger.
    Event,
}
