//! Report of a comparison, as text and JSON.

use std::fmt::{self, Write as _};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Divergence, DivergenceCause, WaveDiff};
use crate::excerpt::WaveValue;
use crate::grouped;
use crate::reader::{WaveNoteResult, WaveNotes, last_cycle};
use crate::show::value_label;

/// Maximum number of causes, signals per cause, and missing signals in the text. JSON contains all.
const CAUSES: usize = 12;
const SIGNALS: usize = 16;
const MISSING: usize = 8;

impl WaveDiff {
    pub fn text(&self, names: &[String; 2], clock: Option<&str>) -> String {
        let mut text = String::new();
        let _ = write(&mut text, self, names, clock);
        text
    }

    pub fn result<'d>(&'d self, names: &'d [String; 2]) -> DiffResult<'d> {
        DiffResult::of(self, names)
    }
}

struct Times {
    period: Option<u64>,
    /// Multiple of `unit` that a time unit is.
    factor: u64,
    unit: String,
}

impl Times {
    fn of(diff: &WaveDiff) -> Self {
        let unit = diff.unit.map_or_else(|| "1 units".to_owned(), |unit| unit.to_string());
        let (factor, unit) = unit.split_once(' ').unwrap_or(("1", &unit));
        Times { period: diff.period, factor: factor.parse().unwrap_or(1), unit: unit.to_owned() }
    }

    fn at(&self, time: u64) -> String {
        match self.period {
            Some(period) => format!("cycle {}", grouped(time / period)),
            None => self.in_unit(time),
        }
    }

    fn end(&self, time: u64) -> String {
        self.period.map_or_else(|| self.in_unit(time), |period| grouped(last_cycle(time, period)))
    }

    fn in_unit(&self, time: u64) -> String {
        format!("{} {}", grouped(time.saturating_mul(self.factor)), self.unit)
    }

    fn span(&self, duration: u64) -> String {
        match self.period {
            Some(period) => {
                let cycles = duration.div_ceil(period).max(1);
                format!("{} cycle{}", grouped(cycles), if cycles == 1 { "" } else { "s" })
            }
            None => self.in_unit(duration),
        }
    }
}

fn write(text: &mut String, diff: &WaveDiff, names: &[String; 2], clock: Option<&str>) -> fmt::Result {
    let times = Times::of(diff);
    let verdict = if diff.is_equal() { "are equal" } else { "differ" };
    writeln!(text, "{} and {} {verdict}", names[0], names[1])?;
    let when = match clock {
        Some(clock) => format!("before {} rising edges of {clock}", grouped(diff.points)),
        None => format!("at {} points in time", grouped(diff.points)),
    };
    writeln!(text, "  compared   {} signals {when}", grouped(diff.compared as u64))?;
    writeln!(text, "  from, to   {} to {}", times.at(diff.span.0), times.end(diff.span.1))?;
    if diff.uncovered {
        for (name, (first, last)) in names.iter().zip(diff.sides) {
            writeln!(text, "  covers     {} to {}: {name}", times.at(first), times.end(last))?;
        }
    }
    for [left, right] in diff.unlike.iter().take(MISSING) {
        writeln!(text, "  declared   differently: {left} and {right}")?;
    }
    if diff.unlike.len() > MISSING {
        writeln!(text, "             ... {} more", diff.unlike.len() - MISSING)?;
    }
    for (missing, other) in diff.missing.iter().zip([1, 0]) {
        if missing.is_empty() {
            continue;
        }
        let more = if missing.len() > MISSING { ", .." } else { "" };
        let shown = missing[..missing.len().min(MISSING)].join(", ");
        let few = format!(
            "  not in     {}: {} signals: {shown}{more}",
            names[other],
            grouped(missing.len() as u64)
        );
        for line in textwrap::wrap(&few, textwrap::Options::new(80).subsequent_indent("             ")) {
            writeln!(text, "{line}")?;
        }
    }
    if let Some(first) = diff.divergences.first() {
        writeln!(
            text,
            "  differ     {} signals, the first {} from {} on",
            diff.divergences.len(),
            first.paths[0],
            times.at(first.first)
        )?;
    }
    for (number, cause) in diff.causes.iter().take(CAUSES).enumerate() {
        write_cause(text, diff, number + 1, cause, &times)?;
    }
    let more = diff.causes.len().saturating_sub(CAUSES) as u64 + diff.further_causes;
    if more > 0 {
        writeln!(
            text,
            "\n... and {} more causes, each with other signals; --json lists them",
            grouped(more)
        )?;
    }
    Ok(())
}

fn write_cause(
    text: &mut String,
    diff: &WaveDiff,
    number: usize,
    cause: &DivergenceCause,
    times: &Times,
) -> fmt::Result {
    let fate = match cause.heals {
        None => "stays different to the end".to_owned(),
        Some(heals) => format!("heals after {}", times.span(heals - cause.first)),
    };
    let again = match cause.times {
        1 => String::new(),
        times_ => format!(
            "; {} times, the last from {} on{}",
            grouped(times_),
            times.at(cause.last),
            if cause.stays && cause.heals.is_some() { ", which stays" } else { "" }
        ),
    };
    writeln!(text, "\n{number}. from {} on, {fate}{again}", times.at(cause.first))?;
    for root in cause.roots.iter().take(SIGNALS) {
        write_divergence(text, &diff.divergences[*root], None, cause.first, times)?;
    }
    more(text, cause.roots.len(), "begin there too")?;
    if !cause.followers.is_empty() {
        writeln!(text, "   followed by")?;
    }
    for (follower, time) in cause.followers.iter().take(SIGNALS) {
        write_divergence(text, &diff.divergences[*follower], Some(times.at(*time)), *time, times)?;
    }
    more(text, cause.followers.len(), "follow")
}

fn more(text: &mut String, count: usize, what: &str) -> fmt::Result {
    if count > SIGNALS {
        writeln!(text, "   ... {} more {what}", grouped((count - SIGNALS) as u64))?;
    }
    Ok(())
}

/// Writes a signal of a cause that starts to differ at `time`. `at` is that time as text; `None` if already
/// written.
fn write_divergence(
    text: &mut String,
    divergence: &Divergence,
    at: Option<String>,
    time: u64,
    times: &Times,
) -> fmt::Result {
    let Divergence { paths, further_names, first, values, times: often, duration, heals } = divergence;
    let at = at.map_or_else(String::new, |at| at + "  ");
    let further =
        if *further_names > 0 { format!(" (and {further_names} more names)") } else { String::new() };
    if time != *first {
        return writeln!(text, "   {at}{}{further}: again, first from {} on", paths[0], times.at(*first));
    }
    let [left, right] =
        values.each_ref().map(|value| value.as_ref().map_or_else(|| "nothing".to_owned(), value_text));
    let fate = match (heals, often) {
        (Some(_), 1) => format!("differs for {}", times.span(*duration)),
        (Some(_), often) => {
            format!("differs {} times, for {} in all", grouped(*often), times.span(*duration))
        }
        (None, 1) => "differs to the end".to_owned(),
        (None, often) => format!("differs {} times, also at the end", grouped(*often)),
    };
    writeln!(text, "   {at}{}{further}: {left} and {right}, {fate}", paths[0])
}

fn value_text(value: &WaveValue) -> String {
    match value {
        WaveValue::Bits(digits) if digits.len() > 1 => format!("0x{}", value_label(value)),
        WaveValue::Bits(_) | WaveValue::Text(_) | WaveValue::Real(_) | WaveValue::Event => value_label(value),
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DiffResult<'d> {
    equal: bool,
    sides: &'d [String; 2],
    compared: usize,
    points: u64,
    unit: Option<String>,
    period: Option<u64>,
    span: (u64, u64),
    times: [(u64, u64); 2],
    uncovered: bool,
    cut_in_line: [Option<u64>; 2],
    notes: [Vec<WaveNoteResult>; 2],
    missing: &'d [Vec<String>; 2],
    unlike: &'d [[String; 2]],
    signals: Vec<SignalDiffResult<'d>>,
    causes: Vec<CauseResult<'d>>,
    further_causes: u64,
}

#[derive(Serialize, JsonSchema)]
struct SignalDiffResult<'d> {
    left: &'d str,
    right: &'d str,
    further_names: usize,
    first: u64,
    values: [Option<String>; 2],
    times: u64,
    duration: u64,
    heals: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct CauseResult<'d> {
    first: u64,
    roots: Vec<&'d str>,
    followers: Vec<FollowerResult<'d>>,
    times: u64,
    heals: Option<u64>,
    last: u64,
    stays: bool,
}

#[derive(Serialize, JsonSchema)]
struct FollowerResult<'d> {
    signal: &'d str,
    first: u64,
}

impl<'d> DiffResult<'d> {
    pub(super) fn of(diff: &'d WaveDiff, sides: &'d [String; 2]) -> Self {
        let signal = |d: &'d Divergence| SignalDiffResult {
            left: &d.paths[0],
            right: &d.paths[1],
            further_names: d.further_names,
            first: d.first,
            values: d.values.each_ref().map(|value| value.as_ref().map(value_text)),
            times: d.times,
            duration: d.duration,
            heals: d.heals,
        };
        let path = |signal: usize| diff.divergences[signal].paths[0].as_str();
        let follower =
            |(signal, first): &(usize, u64)| FollowerResult { signal: path(*signal), first: *first };
        let cause = |cause: &'d DivergenceCause| CauseResult {
            first: cause.first,
            roots: cause.roots.iter().map(|signal| path(*signal)).collect(),
            followers: cause.followers.iter().map(follower).collect(),
            times: cause.times,
            heals: cause.heals,
            last: cause.last,
            stays: cause.stays,
        };
        DiffResult {
            equal: diff.is_equal(),
            sides,
            compared: diff.compared,
            points: diff.points,
            unit: diff.unit.map(|unit| unit.to_string()),
            period: diff.period,
            span: diff.span,
            times: diff.sides,
            uncovered: diff.uncovered,
            cut_in_line: diff.cut_in_line,
            notes: diff.notes.each_ref().map(WaveNotes::results),
            missing: &diff.missing,
            unlike: &diff.unlike,
            signals: diff.divergences.iter().map(signal).collect(),
            causes: diff.causes.iter().map(cause).collect(),
            further_causes: diff.further_causes,
        }
    }
}
