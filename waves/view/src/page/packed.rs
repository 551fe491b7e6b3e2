//! Packed wave of a page: a head in JSON and the changes of each signal, compressed, in base64. `wave.js`
//! reads it.
//!
//! The changes of a signal are numbers of 7 bits per byte, the lowest first. The top bit is set in all bytes
//! but the last. First come the steps since the previous change, for each change. Then comes each value as an
//! index into a table of all values. A signal with the same changes as an earlier one refers to it, as most
//! model signals do.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Write;

use atoms_wave_write::Fold;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

use super::WavePage;
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveNames, WaveValue};

#[derive(Serialize)]
struct Head<'a> {
    title: &'a str,
    unit: &'a str,
    /// Time units per step.
    step: u64,
    /// Time of step 0, in time units.
    start: u64,
    /// Number of steps shown.
    steps: u64,
    /// Clock period in time units.
    period: Option<u64>,
    signals: Vec<SignalHead<'a>>,
    /// Indices of both signals of a pair, and of its difference flag if there is one.
    pairs: Vec<(usize, usize, Option<usize>)>,
    sides: [&'a str; 2],
    difference: &'a str,
    transactions: &'a str,
    groups: Vec<GroupHead<'a>>,
    /// Time of the cursor, in time units.
    marker: Option<u64>,
    source: Option<(&'a str, &'a str)>,
    values: Vec<String>,
}

#[derive(Serialize)]
struct SignalHead<'a> {
    scopes: &'a [String],
    name: &'a str,
    kind: &'static str,
    /// Width in bits; 0 for texts.
    width: u32,
    changes: usize,
    /// Indices of the fields with request and source line; only for tracks.
    #[serde(skip_serializing_if = "Option::is_none")]
    track: Option<TrackHead>,
    /// Index of an earlier signal with the same changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<usize>,
}

#[derive(Serialize)]
struct TrackHead {
    request: Option<usize>,
    line: Option<usize>,
}

#[derive(Serialize)]
struct GroupHead<'a> {
    title: &'a str,
    open: bool,
    signals: Vec<usize>,
}

pub(super) fn text(page: &WavePage<'_>) -> String {
    let bytes = bytes(page);
    let mut compressed = DeflateEncoder::new(Vec::new(), Compression::fast());
    let _ = compressed.write_all(&bytes);
    STANDARD.encode(compressed.finish().unwrap_or_default())
}

/// Returns the length of the head (four bytes, little endian), the head, and the changes.
fn bytes(page: &WavePage<'_>) -> Vec<u8> {
    let WavePage { excerpt, names, .. } = *page;
    let tracks = excerpt.tracks(names);
    let start = start(excerpt);
    let step = step(excerpt, start);
    let mut values = Values::default();
    let mut streams = Vec::new();
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut signals = Vec::new();
    for (number, signal) in excerpt.signals.iter().enumerate() {
        let stream = stream(signal, start, step, &mut values);
        let same = match seen.entry(stream) {
            Entry::Occupied(earlier) => Some(*earlier.get()),
            Entry::Vacant(new) => {
                streams.extend_from_slice(new.key());
                new.insert(number);
                None
            }
        };
        let track = tracks.iter().find(|track| track.signal == number).map(|track| {
            let field =
                |name: &str| track.fields.iter().copied().find(|at| excerpt.signals[*at].name == name);
            TrackHead { request: field(names.request), line: field(names.line) }
        });
        let (kind, width) = match signal.kind {
            ValueKind::Bits(width) => ("bits", width),
            // Waves of earlier versions have tracks without fields.
            ValueKind::Text if track.is_some() || tracks.is_empty() && names.is_transaction(signal) => {
                ("track", 0)
            }
            ValueKind::Text => ("text", 0),
            ValueKind::Real => ("real", 0),
            ValueKind::Event => ("event", 0),
        };
        let changes = signal.changes.len();
        let (scopes, name) = (&signal.scopes[..], &signal.name[..]);
        signals.push(SignalHead { scopes, name, kind, width, changes, track, same });
    }
    let numbers: HashMap<String, usize> =
        excerpt.signals.iter().enumerate().map(|(number, signal)| (signal.path(), number)).collect();
    let groups = page.view.groups.iter().map(|group| GroupHead {
        title: &group.title,
        open: group.fold == Fold::Open,
        signals: group.signals.iter().filter_map(|path| numbers.get(path).copied()).collect(),
    });
    let head = Head {
        title: page.title,
        unit: &excerpt.unit,
        step,
        start,
        steps: steps(excerpt, start, step),
        period: excerpt.period,
        signals,
        pairs: pairs(excerpt, names, &numbers),
        sides: names.sides,
        difference: names.difference,
        transactions: names.transactions,
        // A group may contain only signals that were excluded.
        groups: groups.filter(|group| !group.signals.is_empty()).collect(),
        marker: page.view.marker,
        source: page.source,
        values: values.texts,
    };
    let head = serde_json::to_vec(&head).expect("strings and numbers are JSON");
    [&(head.len() as u32).to_le_bytes()[..], &head, &streams].concat()
}

/// Returns the first time with a value. The window of a wave that starts late may start at 0.
fn start(excerpt: &Excerpt) -> u64 {
    let first = |signal: &ExcerptSignal| signal.changes.first().map(|(time, _)| *time);
    excerpt.signals.iter().filter_map(first).min().unwrap_or(0).max(excerpt.window.start)
}

/// Returns the greatest common divisor of all changes and the period, in time units from the start.
fn step(excerpt: &Excerpt, start: u64) -> u64 {
    let times = excerpt.signals.iter().flat_map(|signal| &signal.changes);
    let times = times.map(|(time, _)| time.saturating_sub(start));
    let mut step = excerpt.period.unwrap_or(0);
    for time in times {
        if step == 1 {
            break;
        }
        // Most times are a multiple of the step already.
        if step == 0 || time % step != 0 {
            step = common_divisor(step, time);
        }
    }
    step.max(1)
}

/// Returns the number of steps in the window. The window of a whole file ends one time unit after the last
/// cycle; this unit does not add a cycle.
fn steps(excerpt: &Excerpt, start: u64, step: u64) -> u64 {
    let units = excerpt.window.end.saturating_sub(start);
    let behind = u64::from(excerpt.period.is_some_and(|period| excerpt.window.end % period == 1));
    units.saturating_sub(behind).div_ceil(step)
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn stream(signal: &ExcerptSignal, start: u64, step: u64, values: &mut Values) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * signal.changes.len());
    let mut before = 0;
    for (time, _) in &signal.changes {
        let now = time.saturating_sub(start) / step;
        number(&mut bytes, now - before);
        before = now;
    }
    for (_, value) in &signal.changes {
        number(&mut bytes, values.index(value));
    }
    bytes
}

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Table of distinct values. Numbers are hexadecimal, or binary after `?` if digits are unknown.
#[derive(Default)]
struct Values {
    texts: Vec<String>,
    indices: HashMap<String, u64>,
    /// Index of each number by its binary digits. A separate map, since numbers are looked up most often.
    of_bits: HashMap<String, u64>,
}

impl Values {
    fn index(&mut self, value: &WaveValue) -> u64 {
        match value {
            WaveValue::Bits(digits) => match self.of_bits.get(digits) {
                Some(index) => *index,
                None => {
                    let index = self.index_of_text(number_text(digits));
                    self.of_bits.insert(digits.clone(), index);
                    index
                }
            },
            WaveValue::Text(text) => self.index_of_text(text.clone()),
            WaveValue::Real(number) => self.index_of_text(number.to_string()),
            WaveValue::Event => self.index_of_text("!".to_owned()),
        }
    }

    fn index_of_text(&mut self, text: String) -> u64 {
        match self.indices.entry(text) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.texts.push(new.key().clone());
                *new.insert(self.texts.len() as u64 - 1)
            }
        }
    }
}

fn number_text(digits: &str) -> String {
    if digits.bytes().any(|digit| !matches!(digit, b'0' | b'1')) {
        return format!("?{digits}");
    }
    let mut text = String::new();
    let first = digits.len() % 4;
    let nibbles =
        [&digits[..first]].into_iter().chain((first..digits.len()).step_by(4).map(|at| &digits[at..at + 4]));
    for nibble in nibbles.filter(|nibble| !nibble.is_empty()) {
        let value = nibble.bytes().fold(0, |value, digit| value << 1 | u32::from(digit == b'1'));
        if value != 0 || !text.is_empty() {
            text.extend(char::from_digit(value, 16));
        }
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

fn pairs(
    excerpt: &Excerpt,
    names: &WaveNames,
    numbers: &HashMap<String, usize>,
) -> Vec<(usize, usize, Option<usize>)> {
    let [left, right] = names.sides;
    let other = |signal: &ExcerptSignal, at: usize, side: &str| {
        let mut scopes = signal.scopes.clone();
        scopes[at] = side.to_owned();
        numbers.get(&ExcerptSignal { scopes, changes: Vec::new(), ..signal.clone() }.path()).copied()
    };
    let pair = |(number, signal): (usize, &ExcerptSignal)| {
        let at = signal.scopes.iter().position(|scope| scope == left)?;
        let right = other(signal, at, right).filter(|right| excerpt.signals[*right].kind == signal.kind)?;
        Some((number, right, other(signal, at, names.difference)))
    };
    excerpt.signals.iter().enumerate().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hexadecimal_unless_digits_are_unknown() {
        for (digits, text) in [
            ("0", "0"),
            ("0000", "0"),
            ("10", "2"),
            ("00011111", "1f"),
            ("1x0z", "?1x0z"),
            ("110100001", "1a1"),
        ] {
            assert_eq!(number_text(digits), text, "{digits}");
        }
    }

    #[test]
    fn steps_divide_every_time() {
        let at = |times: &[u64]| {
            let changes = times.iter().map(|time| (*time, WaveValue::Event)).collect();
            let signal =
                ExcerptSignal { scopes: Vec::new(), name: "a".into(), kind: ValueKind::Event, changes };
            step(&Excerpt { signals: vec![signal], ..Excerpt::default() }, 100)
        };
        assert_eq!([at(&[]), at(&[100]), at(&[130, 160]), at(&[130, 165]), at(&[101])], [1, 1, 30, 5, 1]);
    }
}
