//! Shows waves in a terminal.

use std::fmt::{self, Write};

use super::label::{is_idle, names, value_label};
use super::lane::{Columns, Segment};
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    Unicode,
    Ascii,
}

/// Use of colours. No information depends on colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shades {
    Plain,
    Terminal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    pub width: usize,
    pub charset: Charset,
    pub shades: Shades,
}

/// Maximum columns per cycle: enough for 32 bits in hexadecimal and the edge before them.
const WIDEST_STEP: u64 = 10;
/// Minimum and maximum width of the name column.
const NAMES: (usize, usize) = (8, 32);

struct Characters {
    low: char,
    high: char,
    rises: char,
    falls: char,
    begins: char,
    idle: char,
    unknown: char,
    open: char,
    event: char,
    hidden: char,
    cut: char,
    tick: char,
}

const UNICODE: Characters = Characters {
    low: '▁',
    high: '▔',
    rises: '╱',
    falls: '╲',
    begins: '│',
    idle: '─',
    unknown: '░',
    open: '╌',
    event: '↑',
    hidden: '╳',
    cut: '…',
    tick: '╷',
};
const ASCII: Characters = Characters {
    low: '_',
    high: '~',
    rises: '/',
    falls: '\\',
    begins: '|',
    idle: '-',
    unknown: 'x',
    open: '.',
    event: '^',
    hidden: '*',
    cut: '>',
    tick: '\'',
};

/// Writes the excerpt as a ruler and a line per signal. A long window continues in further bands below.
///
/// # Errors
/// When `out` cannot be written.
pub fn show_text(out: &mut impl Write, excerpt: &Excerpt, style: TextStyle) -> fmt::Result {
    let names = names(excerpt);
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let name_width = longest.clamp(NAMES.0, NAMES.1).min(style.width / 2);
    let room = style.width.saturating_sub(name_width + 1).max(8);
    let step = excerpt.step();
    let span = excerpt.window.end.saturating_sub(excerpt.window.start);
    let steps = span.div_ceil(step).max(1);
    // Cycles are wide enough for three quarters of the values, or for all values if the window then still
    // fits one line.
    let fits = (room as u64 / steps).min(WIDEST_STEP);
    let widths = widths(excerpt, step);
    let width_of =
        |share: usize| widths.get((widths.len() * share / 100).min(widths.len().saturating_sub(1)));
    let (most, all) = (width_of(75).copied().unwrap_or(2), width_of(100).copied().unwrap_or(2));
    let per_step = most.min(WIDEST_STEP).max(all.clamp(4, WIDEST_STEP).min(fits)).max(2);
    let steps_of_band = (room as u64 / per_step).max(1);
    let characters = match style.charset {
        Charset::Unicode => &UNICODE,
        Charset::Ascii => &ASCII,
    };
    let mut done = 0;
    while done < steps {
        let of_band = steps_of_band.min(steps - done);
        let columns = Columns {
            from: excerpt.window.start + done * step,
            count: (of_band * per_step) as usize,
            per_step,
            step,
        };
        if done > 0 {
            writeln!(out)?;
        }
        ruler(out, excerpt, &columns, name_width, characters)?;
        for (signal, name) in excerpt.signals.iter().zip(&names) {
            let lane = lane(signal, &columns, characters);
            let shown = shortened(name, name_width, characters);
            if lane.is_empty() {
                writeln!(out, "{shown}")?;
                continue;
            }
            write!(out, "{shown:<name_width$} ")?;
            for (text, shade) in lane {
                match (shade, style.shades) {
                    (Some(code), Shades::Terminal) => write!(out, "\x1b[{code}m{text}\x1b[0m")?,
                    (_, _) => write!(out, "{text}")?,
                }
            }
            writeln!(out)?;
        }
        done += of_band;
    }
    Ok(())
}

fn widths(excerpt: &Excerpt, step: u64) -> Vec<u64> {
    let mut widths = Vec::new();
    for signal in excerpt.signals.iter().filter(|signal| is_bus(signal)) {
        for (time, value) in signal.intervals(excerpt.window.end).filter(|(_, value)| !is_idle(value)) {
            let characters = 1 + value_label(value).chars().count() as u64;
            widths.push(characters.div_ceil(time.end.saturating_sub(time.start).div_ceil(step).max(1)));
        }
    }
    widths.sort_unstable();
    widths
}

pub(super) fn is_bus(signal: &ExcerptSignal) -> bool {
    !matches!(signal.kind, ValueKind::Bits(1) | ValueKind::Event)
}

/// Shortens a name. The end remains, since it is the most specific part.
fn shortened(name: &str, width: usize, characters: &Characters) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    std::iter::once(characters.cut).chain(name.chars().skip(length - (width - 1))).collect()
}

fn ruler(
    out: &mut impl Write,
    excerpt: &Excerpt,
    columns: &Columns,
    name_width: usize,
    characters: &Characters,
) -> fmt::Result {
    let unit = if excerpt.period.is_some() { "cycle" } else { excerpt.unit.as_str() };
    let mut line = format!("{unit:<name_width$} ");
    let begins = line.chars().count();
    let mut length = begins;
    for step in 0..columns.count as u64 / columns.per_step {
        let column = (step * columns.per_step) as usize;
        let time = columns.start(column);
        let text = format!("{}{}", characters.tick, excerpt.period.map_or(time, |period| time / period));
        let fits = column + text.chars().count() <= columns.count;
        if fits && (length == begins || length < begins + column) {
            line.extend(std::iter::repeat_n(' ', begins + column - length));
            line += &text;
            length = begins + column + text.chars().count();
        }
    }
    writeln!(out, "{line}")
}

const VALUE: &str = "36";
const FAINT: &str = "2";
const UNKNOWN: &str = "33";

fn lane(signal: &ExcerptSignal, columns: &Columns, c: &Characters) -> Vec<(String, Option<&'static str>)> {
    let segments = columns.segments(signal);
    let mut parts = Vec::with_capacity(segments.len());
    let mut before: Option<&Segment<'_>> = None;
    for segment in &segments {
        let width = segment.columns.len();
        let line = |character: char| std::iter::repeat_n(character, width).collect::<String>();
        let part = match (segment.value, signal.kind) {
            (Some(_), ValueKind::Event) => (line(c.event), Some(VALUE)),
            (None, ValueKind::Event) => (line(' '), None),
            (None, _) => (line(' '), None),
            (Some(WaveValue::Bits(digits)), ValueKind::Bits(1)) => one_bit(digits, segment, before, c),
            (Some(value), _) if is_idle(value) => (line(c.idle), Some(FAINT)),
            (Some(value), _) => bus(value, segment, before, c),
        };
        parts.push(part);
        before = Some(segment);
    }
    while let Some((text, _)) = parts.last_mut() {
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            break;
        }
        parts.pop();
    }
    parts
}

fn one_bit(
    digit: &str,
    segment: &Segment<'_>,
    before: Option<&Segment<'_>>,
    c: &Characters,
) -> (String, Option<&'static str>) {
    let width = segment.columns.len();
    let (level, edge, shade) = match digit {
        "0" => (c.low, c.falls, None),
        "1" => (c.high, c.rises, None),
        "z" => (c.open, c.open, Some(UNKNOWN)),
        _ => (c.unknown, c.unknown, Some(UNKNOWN)),
    };
    let first = match before.and_then(|before| before.value) {
        _ if segment.hidden => c.hidden,
        // The value before the window is unknown, so do not draw an edge.
        None => level,
        Some(WaveValue::Bits(was)) if was == digit => level,
        Some(_) => edge,
    };
    (std::iter::once(first).chain(std::iter::repeat_n(level, width - 1)).collect(), shade)
}

fn bus(
    value: &WaveValue,
    segment: &Segment<'_>,
    before: Option<&Segment<'_>>,
    c: &Characters,
) -> (String, Option<&'static str>) {
    let width = segment.columns.len();
    let unknown =
        matches!(value, WaveValue::Bits(digits) if digits.bytes().all(|digit| !matches!(digit, b'0' | b'1')));
    let first = match before {
        _ if segment.hidden => c.hidden,
        Some(_) | None => c.begins,
    };
    let text = value_label(value);
    let (length, room) = (text.chars().count(), width - 1);
    let rest: String = if length <= room {
        text.chars().chain(std::iter::repeat_n(' ', room - length)).collect()
    } else {
        text.chars().take(room.saturating_sub(1)).chain((room > 0).then_some(c.cut)).collect()
    };
    (std::iter::once(first).chain(rest.chars()).collect(), Some(if unknown { UNKNOWN } else { VALUE }))
}
