//! Waves for documents: WaveJSON, the input of WaveDrom.

use std::fmt::{self, Write};

use super::label::{is_idle, names, value_label};
use super::lane::Columns;
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

/// Writes the excerpt as WaveJSON, a character a cycle: the value at its end.
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
        writeln!(out, "    {}{comma}", lane(signal, name, &columns, excerpt.period))?;
    }
    writeln!(out, "  ],\n  \"head\": {{ \"tick\": \"{first} {tick}\" }}\n}}")
}

fn lane(signal: &ExcerptSignal, name: &str, columns: &Columns, period: Option<u64>) -> String {
    let name = quoted(name);
    // A signal that rises and falls in every cycle is a clock: its values at the end of cycles are all the same.
    let changes = signal.changes.len() as u64;
    if let Some(_period) = period
        && signal.kind == ValueKind::Bits(1)
        && columns.count > 1
        && changes + 1 >= 2 * columns.count as u64
    {
        let wave: String = std::iter::once('p').chain(std::iter::repeat_n('.', columns.count - 1)).collect();
        return format!("{{ \"name\": {name}, \"wave\": \"{wave}\" }}");
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
            // Nothing stands there: a line in the middle.
            (Some(value), _) if is_idle(value) => 'z',
            (Some(value), _) => {
                data.push(quoted(&value_label(value)));
                '='
            }
        };
        wave.push(first);
        wave.extend(std::iter::repeat_n('.', segment.columns.len() - 1));
    }
    match data.is_empty() {
        true => format!("{{ \"name\": {name}, \"wave\": \"{wave}\" }}"),
        false => format!("{{ \"name\": {name}, \"wave\": \"{wave}\", \"data\": [{}] }}", data.join(", ")),
    }
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if u32::from(control) < 0x20 => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
