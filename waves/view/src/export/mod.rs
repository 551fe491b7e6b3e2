//! Exports waves to other viewers: Perfetto and Konata.

mod konata;
mod perfetto;

pub use konata::{PipelineRequest, write_konata};
pub use perfetto::write_perfetto;

use atoms_wave_write::ANY;

use crate::tracks::is_idle;
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveNames, WaveValue};

struct Slice<'a> {
    from: u64,
    to: u64,
    value: &'a WaveValue,
}

fn slices<'a>(excerpt: &'a Excerpt, signal: &'a ExcerptSignal) -> impl Iterator<Item = Slice<'a>> {
    let changes = &signal.changes;
    let end = excerpt.window.end;
    changes.iter().enumerate().map(move |(at, (from, value))| {
        let to = changes.get(at + 1).map_or(end, |(next, _)| *next);
        Slice { from: *from, to: to.max(*from), value }
    })
}

impl<'a> Slice<'a> {
    /// Returns the text, unless it is idle.
    fn text(&self) -> Option<&'a str> {
        match self.value {
            WaveValue::Text(text) if !is_idle(text) => Some(text),
            WaveValue::Text(_) | WaveValue::Bits(_) | WaveValue::Real(_) | WaveValue::Event => None,
        }
    }

    fn is_set(&self) -> bool {
        matches!(self.value, WaveValue::Bits(digits) if digits == "1")
    }
}

fn differences<'e>(excerpt: &'e Excerpt, names: &WaveNames) -> impl Iterator<Item = Slice<'e>> {
    let flag = excerpt.signals.iter().find(|signal| {
        signal.name == ANY
            && signal.scopes.last().is_some_and(|last| last == names.difference)
            && signal.kind == ValueKind::Bits(1)
    });
    flag.into_iter().flat_map(|flag| slices(excerpt, flag)).filter(Slice::is_set)
}

/// Returns the cycle of a time; without a clock, the time itself.
fn cycle(excerpt: &Excerpt, time: u64) -> u64 {
    time / excerpt.period.unwrap_or(1).max(1)
}
