//! Writes waves as WaveJSON, the input of WaveDrom.

use std::fmt::{self, Write};

use serde::Serialize;

use super::label::{is_idle, names, value_label};
use super::lane::Columns;
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

/// A signal in WaveJSON.
#[derive(Serialize, schemars::JsonSchema)]
pub struct WaveLane<'e> {
    name: &'e str,
    wave: String,
    /// Labels of the values, one per `=` in `wave`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<String>,
}

/// Writes the excerpt as WaveJSON. Each cycle is one character with the value at the end of the cycle.
///
/// # Errors
/// When `out` cannot be written.
pub fn show_wavedrom(out: &mut impl Write, excerpt: &Excerpt) -> fmt::Result {
    let step = excerpt.step();
    let span = excerpt.window.end.saturating_sub(excerpt.window.start);
    let count = usize::try_from(span.div_ceil(step)).unwrap_or(usize::MAX);
    let columns = Columns { from: excerpt.window.start, count, per_step: 1, step };
    let first = excerpt.period.map_or(excerpt.window.start, |period| excerpt.window.start / period);
    let tick = if excerpt.period.is_some() { 1 } else { step };
    writeln!(out, "{{\n  \"signal\": [")?;
    let names = names(excerpt);
    for (at, (signal, name)) in excerpt.signals.iter().zip(&names).enumerate() {
        let comma = if at + 1 < names.len() { "," } else { "" };
        let lane =
            serde_json::to_string(&lane(signal, name, &columns, excerpt.period)).map_err(|_| fmt::Error)?;
        writeln!(out, "    {lane}{comma}")?;
    }
    writeln!(out, "  ],\n  \"head\": {{ \"tick\": \"{first} {tick}\" }}\n}}")
}

fn lane<'e>(signal: &ExcerptSignal, name: &'e str, columns: &Columns, period: Option<u64>) -> WaveLane<'e> {
    // A signal that rises and falls in every cycle is a clock. Its value at the end of each cycle is the
    // same.
    let changes = signal.changes.len() as u64;
    if let Some(_period) = period
        && signal.kind == ValueKind::Bits(1)
        && columns.count > 1
        && changes + 1 >= 2 * columns.count as u64
    {
        let wave: String = std::iter::once('p').chain(std::iter::repeat_n('.', columns.count - 1)).collect();
        return WaveLane { name, wave, data: Vec::new() };
    }
    let (mut wave, mut data) = (String::new(), Vec::new());
    for segment in columns.segments(signal) {
        let first = match (segment.value, signal.kind) {
            (value, ValueKind::Event) => {
                if value.is_some() {
                    '1'
                } else {
                    '0'
                }
            }
            (None, _) => 'x',
            (Some(WaveValue::Bits(digit)), ValueKind::Bits(1)) => digit.chars().next().unwrap_or('x'),
            (Some(WaveValue::Bits(digits)), _) if digits.bytes().all(|digit| digit == b'x') => 'x',
            (Some(WaveValue::Bits(digits)), _) if digits.bytes().all(|digit| digit == b'z') => 'z',
            // Idle: draw a line in the middle.
            (Some(value), _) if is_idle(value) => 'z',
            (Some(value), _) => {
                data.push(value_label(value));
                '='
            }
        };
        wave.push(first);
        wave.extend(std::iter::repeat_n('.', segment.columns.len() - 1));
    }
    WaveLane { name, wave, data }
}
