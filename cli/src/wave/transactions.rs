//! `atoms wave show --transactions`: transactions with their fields, and other texts, in time order.

use std::collections::HashSet;

use atoms_cosim::trace::NAMES;
use atoms_wave_view::{Excerpt, FileSignal, SignalPattern, ValueKind, WaveFile, WaveValue};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::wave::WaveShowArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{outln, print_json};
use crate::wave::{print_notes, whole_or};

struct Entry<'e> {
    from: u64,
    /// End of the interval, exclusive.
    to: u64,
    track: &'e str,
    text: &'e str,
    /// Fields of a transaction. Empty for a text signal that is not a track.
    fields: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TransactionResult<'e, T: Serialize> {
    from: u64,
    to: u64,
    track: &'e str,
    text: T,
    fields: &'e Map<String, Value>,
}

pub(super) fn list(file: &WaveFile, args: &WaveShowArgs) -> Result<Verdict, CliError> {
    let chosen: Vec<_> = match &args.signals[..] {
        [] => vec![SignalPattern::new(NAMES.transactions)],
        patterns => patterns.iter().map(|pattern| SignalPattern::new(pattern)).collect(),
    };
    let is_chosen = |signal: &FileSignal| {
        signal.kind == ValueKind::Text && chosen.iter().any(|pattern| pattern.matches(signal.parts()))
    };
    let all = file.signals();
    let scopes: HashSet<_> =
        all.iter().filter(|signal| is_chosen(signal)).map(|signal| &signal.scopes).collect();
    if scopes.is_empty() {
        return Err(message!(
            "`{}`: no text signal is {}; choose text signals with --signals",
            file.path().display(),
            if args.signals.is_empty() {
                format!("in a scope `{}`", NAMES.transactions)
            } else {
                "among those of --signals".to_owned()
            },
        ));
    }
    // Fields of a track are the signals in the same scope.
    let signals: Vec<usize> = (0..all.len()).filter(|at| scopes.contains(&all[*at].scopes)).collect();
    let window = whole_or(file, args.window)?;
    let excerpt = file.excerpt(window, &signals)?;
    print_notes(file, &excerpt.notes);
    let shown: Vec<_> = signals.iter().map(|at| is_chosen(&all[*at])).collect();
    let entries = entries(&excerpt, |at| {
        shown[at] && (!args.signals.is_empty() || excerpt.signals[at].name != NAMES.kind)
    });
    let period = excerpt.period.unwrap_or(1);
    let place = |entry: &Entry<'_>| {
        (entry.from / period, (entry.to.saturating_sub(1) / period).max(entry.from / period))
    };
    if args.json {
        for entry in &entries {
            let (from, to) = place(entry);
            let Entry { track, text, fields, .. } = entry;
            let text = excerpt.words(text);
            print_json(&TransactionResult { from, to, track, text, fields })?;
        }
        return Ok(Verdict::Agree);
    }
    let width = entries.iter().map(|entry| entry.track.chars().count()).max().unwrap_or(0).max(5);
    let unit = if excerpt.period.is_some() { "cycles" } else { "times" };
    outln!("{unit:>15}  {:<width$}  text", "track")?;
    for entry in &entries {
        let (from, to) = place(entry);
        let place = if from == to { from.to_string() } else { format!("{from} to {to}") };
        outln!("{place:>15}  {:<width$}  {}", entry.track, excerpt.words(entry.text))?;
    }
    Ok(Verdict::Agree)
}

/// Returns the transactions of all tracks and the values of other text signals, in time order. `is_shown`
/// receives the signal of a track.
fn entries(excerpt: &Excerpt, is_shown: impl Fn(usize) -> bool) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let tracks = excerpt.tracks(&NAMES);
    for track in tracks.iter().filter(|track| is_shown(track.signal)) {
        let name = track.scopes.last().map_or("", String::as_str);
        entries.extend(excerpt.transactions(track).map(|of| Entry {
            from: of.from,
            to: of.to,
            track: name,
            text: of.text,
            fields: of.json(),
        }));
    }
    let of_tracks: HashSet<_> =
        tracks.iter().flat_map(|track| track.fields.iter().copied().chain([track.signal])).collect();
    for (at, signal) in excerpt.signals.iter().enumerate() {
        if of_tracks.contains(&at) || !is_shown(at) {
            continue;
        }
        for (time, value) in signal.intervals(excerpt.window.end) {
            // The text `-` marks an interval without a transaction.
            if let WaveValue::Text(text) = value
                && text != "-"
                && !text.is_empty()
            {
                let (from, to) = (time.start, time.end);
                entries.push(Entry { from, to, track: &signal.name, text, fields: Map::new() });
            }
        }
    }
    entries.sort_by_key(|entry| entry.from);
    entries
}
