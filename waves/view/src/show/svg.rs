//! Draws waves as SVG.

use std::fmt::{self, Write};

use super::label::{is_idle, names, value_label};
use super::lane::{Columns, Segment};
use super::text::is_bus;
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    #[error(
        "a picture of {cycles} cycles of {signals} signals is too large to look at; at most {most} cycles fit, and {lanes} signals: choose a window or fewer signals"
    )]
    TooLarge { cycles: u64, signals: usize, most: u64, lanes: usize },
    #[error("{0}")]
    Write(#[from] fmt::Error),
}

/// Maximum number of cycles and signals in a picture.
const MOST: u64 = 1000;
const LANES: usize = 400;
/// Height in pixels of a lane, and of the high and the low level in it.
const LANE: u32 = 24;
const HIGH: u32 = 6;
const LOW: u32 = 19;
const TOP: u32 = 30;
const CHARACTER: f64 = 7.3;
/// Minimum and maximum width of a cycle in pixels.
const STEP: (f64, f64) = (18.0, 84.0);
const SLOPE: f64 = 3.0;

/// Styles for light and dark mode. Blue and orange are safe for colour-blind readers; unknown values are also
/// hatched.
const STYLE: &str = "\
text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,monospace;fill:#1a1a1a}
.page{fill:#ffffff}.band{fill:#f3f5f7}.grid{stroke:#d8dde2;stroke-width:1}
.name{fill:#1a1a1a}.time{fill:#5b6570}
.wave{fill:none;stroke:#0b5fa5;stroke-width:1.6;stroke-linejoin:round}
.bus{fill:#e3effa;stroke:#0b5fa5;stroke-width:1.2}
.idle{stroke:#8a949e;stroke-width:1.2}
.unknown{fill:url(#hatch);stroke:#b35900;stroke-width:1.2}.hatch{stroke:#b35900;stroke-width:1.4}
.event{fill:none;stroke:#b35900;stroke-width:1.6}
@media (prefers-color-scheme:dark){
text{fill:#e8eaed}.page{fill:#14171a}.band{fill:#1c2024}.grid{stroke:#333a41}
.name{fill:#e8eaed}.time{fill:#a3adb7}
.wave{stroke:#6cb6f5}.bus{fill:#17324a;stroke:#6cb6f5}.idle{stroke:#7a848e}
.unknown{stroke:#f0a54a}.hatch,.event{stroke:#f0a54a}}
";

/// Writes the excerpt as a self-contained SVG picture with light and dark mode.
///
/// # Errors
/// [`PictureError`].
pub fn show_svg(out: &mut impl Write, excerpt: &Excerpt) -> Result<(), PictureError> {
    let step = excerpt.step();
    let span = excerpt.window.end.saturating_sub(excerpt.window.start);
    let steps = span.div_ceil(step).max(1);
    let signals = excerpt.signals.len();
    if steps > MOST || signals > LANES {
        return Err(PictureError::TooLarge { cycles: steps, signals, most: MOST, lanes: LANES });
    }
    let names = names(excerpt);
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let left = longest as f64 * CHARACTER + 24.0;
    let per_step = (needed(excerpt, step) * CHARACTER + 10.0)
        .clamp(STEP.0, STEP.1)
        .max((900.0 / steps as f64).min(40.0));
    let width = left + per_step * steps as f64 + 12.0;
    let height = TOP + LANE * signals as u32 + 10;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height}\" viewBox=\"0 0 {width:.0} {height}\">"
    )?;
    writeln!(out, "<style>{STYLE}</style>")?;
    writeln!(
        out,
        "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>"
    )?;
    writeln!(out, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>")?;
    for lane in (0..signals).step_by(2) {
        let y = TOP + LANE * lane as u32;
        writeln!(out, "<rect class=\"band\" y=\"{y}\" width=\"100%\" height=\"{LANE}\"/>")?;
    }
    // Split each cycle into quarters.
    let columns =
        Columns { from: excerpt.window.start, count: (steps * PER_STEP) as usize, per_step: PER_STEP, step };
    let place = ColumnPlaces { left, column: per_step / PER_STEP as f64 };
    ruler(out, excerpt, &columns, place, per_step, height)?;
    for (at, (signal, name)) in excerpt.signals.iter().zip(&names).enumerate() {
        let y = TOP + LANE * at as u32;
        writeln!(
            out,
            "<text class=\"name\" x=\"{:.1}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            y + 16,
            escaped(name)
        )?;
        lane(out, signal, &columns, place, y)?;
    }
    writeln!(out, "</svg>")?;
    Ok(())
}

/// Columns per cycle: changes within a cycle are shown to a quarter.
const PER_STEP: u64 = 4;

#[derive(Clone, Copy)]
struct ColumnPlaces {
    left: f64,
    column: f64,
}

impl ColumnPlaces {
    fn x(self, column: usize) -> f64 {
        self.left + self.column * column as f64
    }
}

/// Returns the characters per cycle that show three quarters of the values in full.
fn needed(excerpt: &Excerpt, step: u64) -> f64 {
    let mut widths = Vec::new();
    for signal in excerpt.signals.iter().filter(|signal| is_bus(signal)) {
        for (time, value) in signal.intervals(excerpt.window.end).filter(|(_, value)| !is_idle(value)) {
            let steps = time.end.saturating_sub(time.start).div_ceil(step).max(1);
            widths.push(value_label(value).chars().count() as f64 / steps as f64);
        }
    }
    widths.sort_by(f64::total_cmp);
    widths.get(widths.len() * 3 / 4).copied().unwrap_or(1.0)
}

fn ruler(
    out: &mut impl Write,
    excerpt: &Excerpt,
    columns: &Columns,
    place: ColumnPlaces,
    per_step: f64,
    height: u32,
) -> fmt::Result {
    let unit = if excerpt.period.is_some() { "cycle" } else { excerpt.unit.as_str() };
    writeln!(
        out,
        "<text class=\"time\" x=\"{:.1}\" y=\"18\" text-anchor=\"end\">{}</text>",
        place.left - 8.0,
        escaped(unit)
    )?;
    let label_of = |time: u64| excerpt.period.map_or(time, |period| time / period).to_string();
    let widest = label_of(excerpt.window.end).len() as f64 * CHARACTER + 14.0;
    // Put labels every 1, 2, 5, 10, 20, ... cycles.
    let every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
        .into_iter()
        .find(|every| f64::from(*every) * per_step >= widest);
    let every = u64::from(every.unwrap_or(1000_u32));
    for step in 0..=columns.count as u64 / PER_STEP {
        let column = (step * PER_STEP) as usize;
        let (x, time) = (place.x(column), columns.start(column));
        let number = excerpt.period.map_or(step, |period| time / period);
        writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{height}\"/>",
            TOP - 6
        )?;
        if number.is_multiple_of(every) && column < columns.count {
            writeln!(out, "<text class=\"time\" x=\"{:.1}\" y=\"18\">{}</text>", x + 2.0, label_of(time))?;
        }
    }
    Ok(())
}

fn lane(
    out: &mut impl Write,
    signal: &ExcerptSignal,
    columns: &Columns,
    place: ColumnPlaces,
    y: u32,
) -> fmt::Result {
    let (high, low) = (f64::from(y + HIGH), f64::from(y + LOW));
    let middle = (high + low) / 2.0;
    let segments = columns.segments(signal);
    let is_level = |segment: &Segment<'_>| {
        signal.kind == ValueKind::Bits(1)
            && matches!(segment.value, Some(WaveValue::Bits(digit)) if matches!(digit.as_str(), "0" | "1"))
    };
    let mut line = String::new();
    for segment in &segments {
        let (from, to) = (place.x(segment.columns.start), place.x(segment.columns.end));
        if is_level(segment) {
            let up = matches!(segment.value, Some(WaveValue::Bits(digit)) if digit == "1");
            let level = if up { high } else { low };
            write!(
                line,
                "{}{from:.1},{level:.1} L{to:.1},{level:.1} ",
                if line.is_empty() { "M" } else { "L" }
            )?;
            if segment.hidden {
                // A vertical line shows that some changes are not drawn.
                write!(line, "M{from:.1},{high:.1} L{from:.1},{low:.1} M{to:.1},{level:.1} ")?;
            }
            continue;
        }
        path(out, &mut line)?;
        match segment.value {
            None => {}
            Some(WaveValue::Event) => {
                writeln!(
                    out,
                    "<path class=\"event\" d=\"M{from:.1},{low:.1} V{high:.1} l-3,4 m3,-4 l3,4\"/>"
                )?;
            }
            Some(WaveValue::Bits(digits)) if digits.bytes().all(|digit| digit == b'z') => {
                writeln!(
                    out,
                    "<line class=\"idle\" stroke-dasharray=\"4 3\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>"
                )?;
            }
            Some(value) if is_idle(value) => {
                writeln!(
                    out,
                    "<line class=\"idle\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>"
                )?;
            }
            Some(value) => {
                let unknown =
                    matches!(value, WaveValue::Bits(digits) if digits.bytes().all(|digit| digit == b'x'));
                let class = if unknown { "unknown" } else { "bus" };
                let slope = SLOPE.min((to - from) / 2.0);
                writeln!(
                    out,
                    "<path class=\"{class}\" d=\"M{from:.1},{middle:.1} L{:.1},{high:.1} H{:.1} L{to:.1},{middle:.1} L{:.1},{low:.1} H{:.1} Z\"/>",
                    from + slope,
                    to - slope,
                    to - slope,
                    from + slope
                )?;
                let room = ((to - from - 2.0 * SLOPE) / CHARACTER) as usize;
                let text = value_label(value);
                if !unknown && room > 0 {
                    let length = text.chars().count();
                    let fits = length <= room;
                    let shown: String =
                        if fits { text } else { text.chars().take(room - 1).chain(['…']).collect() };
                    writeln!(
                        out,
                        "<text x=\"{:.1}\" y=\"{}\">{}</text>",
                        from + SLOPE + 2.0,
                        y + 17,
                        escaped(&shown)
                    )?;
                }
            }
        }
    }
    path(out, &mut line)
}

fn path(out: &mut impl Write, line: &mut String) -> fmt::Result {
    if !line.is_empty() {
        writeln!(out, "<path class=\"wave\" d=\"{}\"/>", line.trim_end())?;
        line.clear();
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace(|c: char| c.is_control(), "?")
}
