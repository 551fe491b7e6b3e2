//! `atoms wave show --transactions`: what text signals say, by time.

use atoms_waves::{Excerpt, SignalPattern, ValueKind, WaveFile, WaveValue};
use serde_json::json;

use crate::args::wave::WaveShowArgs;
use crate::error::{CliError, Verdict};
use crate::output::outln;
use crate::wave::{option, print_notes, scale};

/// The scope of the tracks in our waves.
const TRACKS: &str = "txn";

/// What a track says over some time.
struct Entry<'e> {
    from: u64,
    /// The last point in time not included.
    to: u64,
    track: &'e str,
    text: &'e str,
}

pub(super) fn list(file: &WaveFile, args: &WaveShowArgs) -> Result<Verdict, CliError> {
    let chosen: Vec<_> = match &args.signals[..] {
        [] => vec![SignalPattern::new(TRACKS)],
        patterns => patterns.iter().map(|pattern| SignalPattern::new(pattern)).collect(),
    };
    let signals: Vec<usize> = (0..file.signals().len())
        .filter(|at| {
            let signal = &file.signals()[*at];
            signal.kind == ValueKind::Text && chosen.iter().any(|pattern| pattern.matches(signal.parts()))
        })
        .collect();
    if signals.is_empty() {
        return Err(CliError::message(format!(
            "`{}`: no text signal is {}; --signals chooses others",
            file.path().display(),
            if args.signals.is_empty() { "in a scope `txn`" } else { "chosen" },
        )));
    }
    let window = match args.window {
        Some(window) => window.in_units(scale(file)?).map_err(option("--window"))?,
        None => 0..u64::MAX,
    };
    let mut excerpt = file.excerpt(window, &signals).map_err(CliError::of)?;
    excerpt.separate_words();
    print_notes(file, &excerpt.notes);
    let entries = entries(&excerpt);
    let period = excerpt.period.unwrap_or(1);
    let place = |entry: &Entry<'_>| {
        (entry.from / period, (entry.to.saturating_sub(1) / period).max(entry.from / period))
    };
    if args.json {
        for entry in &entries {
            let (from, to) = place(entry);
            outln!("{}", json!({ "from": from, "to": to, "track": entry.track, "text": entry.text }))?;
        }
        return Ok(Verdict::Agree);
    }
    let width = entries.iter().map(|entry| entry.track.chars().count()).max().unwrap_or(0).max(5);
    let unit = if excerpt.period.is_some() { "cycles" } else { "times" };
    outln!("{unit:>15}  {:<width$}  text", "track")?;
    for entry in &entries {
        let (from, to) = place(entry);
        let place = if from == to { from.to_string() } else { format!("{from} to {to}") };
        outln!("{place:>15}  {:<width$}  {}", entry.track, entry.text)?;
    }
    Ok(Verdict::Agree)
}

/// What all tracks say, by time.
fn entries(excerpt: &Excerpt) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for signal in &excerpt.signals {
        let ends = signal.changes.iter().skip(1).map(|(time, _)| *time).chain([excerpt.window.end]);
        for ((from, value), to) in signal.changes.iter().zip(ends) {
            // `-` stands where nothing is.
            if let WaveValue::Text(text) = value
                && text != "-"
                && !text.is_empty()
            {
                entries.push(Entry { from: *from, to, track: &signal.name, text });
            }
        }
    }
    entries.sort_by_key(|entry| entry.from);
    entries
}
