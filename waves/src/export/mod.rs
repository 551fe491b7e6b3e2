//! Waves as timelines of other viewers: Perfetto and Konata.
//!
//! Both show the tracks: text signals of scope `txn`, each value of which but `-` lasts to the next one.

mod konata;
mod perfetto;

pub use konata::write_konata;
pub use perfetto::write_perfetto;

use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

/// Scope of the tracks.
const TRACKS: &str = "txn";

/// Scope of the flags that say where sides differ, and the flag for any difference.
const DIFFERENCE: (&str, &str) = ("diff", "any");

/// A value that lasts: from, to, and what it is.
struct Slice<'a> {
    from: u64,
    to: u64,
    value: &'a WaveValue,
}

/// The values of a signal, with their ends.
fn slices<'a>(excerpt: &'a Excerpt, signal: &'a ExcerptSignal) -> impl Iterator<Item = Slice<'a>> {
    let changes = &signal.changes;
    let end = excerpt.window.end;
    changes.iter().enumerate().map(move |(at, (from, value))| {
        let to = changes.get(at + 1).map_or(end, |(next, _)| *next);
        Slice { from: *from, to: to.max(*from), value }
    })
}

impl<'a> Slice<'a> {
    /// A text that is not idle.
    fn text(&self) -> Option<&'a str> {
        match self.value {
            WaveValue::Text(text) if text != "-" && !text.is_empty() => Some(text),
            WaveValue::Text(_) | WaveValue::Bits(_) | WaveValue::Real(_) | WaveValue::Event => None,
        }
    }

    /// A bit that is set.
    fn is_set(&self) -> bool {
        matches!(self.value, WaveValue::Bits(digits) if digits == "1")
    }
}

/// The spans of time in which sides differ.
fn differences(excerpt: &Excerpt) -> impl Iterator<Item = Slice<'_>> {
    let (scope, any) = DIFFERENCE;
    let flag = excerpt.signals.iter().find(|signal| {
        signal.name == any
            && signal.scopes.last().is_some_and(|last| last == scope)
            && signal.kind == ValueKind::Bits(1)
    });
    flag.into_iter().flat_map(|flag| slices(excerpt, flag)).filter(Slice::is_set)
}

/// The cycle that a time is in; the time itself without a clock.
fn cycle(excerpt: &Excerpt, time: u64) -> u64 {
    time / excerpt.period.unwrap_or(1).max(1)
}
