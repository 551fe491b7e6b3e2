//! Viewer layouts: GTKWave save files that select and order the signals to show.

use crate::definition::{Definition, Signal, SignalKind};
use crate::{Fold, ViewGroup, WaveError, WaveView, values};
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// Groups of signals in display order.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    groups: Vec<Group>,
    marker: Option<u64>,
}

#[derive(Clone, Debug)]
struct Group {
    title: String,
    signals: Vec<Signal>,
    fold: Fold,
}

/// Flags in GTKWave's save files (`TraceEnt` flags). A line of flags precedes each signal.
pub(crate) mod flags {
    pub(crate) const HEX: u32 = 0x02;
    pub(crate) const BINARY: u32 = 0x08;
    pub(crate) const RIGHT: u32 = 0x20;
    pub(crate) const BLANK: u32 = 0x200;
    pub(crate) const ASCII: u32 = 0x800;
    pub(crate) const CLOSED: u32 = 0x40_0000;
    pub(crate) const BEGIN: u32 = 0x80_0000;
    pub(crate) const END: u32 = 0x100_0000;
}

impl Layout {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a group below the others.
    pub fn group(self, title: &str, signals: impl IntoIterator<Item = Signal>) -> Self {
        self.with(title, signals, Fold::Open)
    }

    /// Adds a closed group below the others, for signals of less interest.
    pub fn folded(self, title: &str, signals: impl IntoIterator<Item = Signal>) -> Self {
        self.with(title, signals, Fold::Closed)
    }

    fn with(mut self, title: &str, signals: impl IntoIterator<Item = Signal>, fold: Fold) -> Self {
        let signals = signals.into_iter().collect();
        self.groups.push(Group { title: title.to_owned(), signals, fold });
        self
    }

    /// Adds the groups of another layout below, all closed.
    pub fn above(mut self, rest: Layout) -> Self {
        self.groups.extend(rest.groups.into_iter().map(|group| Group { fold: Fold::Closed, ..group }));
        self
    }

    pub fn marker(mut self, cycle: u64) -> Self {
        self.marker = Some(cycle);
        self
    }

    /// Converts the layout to a view with names of signals, for a page.
    pub fn view(&self, definition: &Definition) -> WaveView {
        let group = |group: &Group| ViewGroup {
            title: group.title.clone(),
            signals: group.signals.iter().map(|signal| definition.path(*signal)).collect(),
            fold: group.fold,
        };
        WaveView {
            groups: self.groups.iter().map(group).collect(),
            marker: self.marker.map(|cycle| cycle * values::PERIOD),
        }
    }

    /// Writes the layout next to the trace, with extension `gtkw`. Returns its path.
    ///
    /// # Errors
    /// [`WaveError::Layout`].
    pub fn write(&self, definition: &Definition, trace: &Path) -> Result<PathBuf, WaveError> {
        let path = trace.with_extension("gtkw");
        let mut text = String::new();
        let _ = self.render(&mut text, definition, trace);
        match std::fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(source) => Err(WaveError::Layout { path, source }),
        }
    }

    fn render(&self, out: &mut String, definition: &Definition, trace: &Path) -> fmt::Result {
        // Write the path as given, since a committed layout must not name a machine's folders. `gtkwave TRACE
        // LAYOUT` finds the trace anyway.
        writeln!(out, "[dumpfile] \"{}\"", trace.display())?;
        // Pixels per time unit are a power of two. The marker is visible on a screen of 1,024 pixels.
        let marker = self.marker.map_or(-1, |cycle| (cycle * values::PERIOD) as i64);
        let start = self.marker.map_or(0, |cycle| cycle.saturating_sub(CYCLES_BEFORE) * values::PERIOD);
        writeln!(out, "[timestart] {start}")?;
        writeln!(out, "[size] 1280 800\n[pos] -1 -1")?;
        writeln!(out, "*{ZOOM} {marker}{}", " -1".repeat(26))?;
        writeln!(out, "[treeopen] {}.", definition.top().name)?;
        let mut rows = String::new();
        let longest = self.render_rows(&mut rows, definition)?;
        let width = ((longest + VALUE_DIGITS) * DIGIT_PIXELS).clamp(320, 640);
        writeln!(out, "[sst_width] 200\n[signals_width] {width}\n[sst_expanded] 1")?;
        out.push_str(&rows);
        Ok(())
    }

    fn render_rows(&self, out: &mut String, definition: &Definition) -> Result<usize, fmt::Error> {
        let mut longest = write_signal(out, definition, definition.clock, false)?;
        for group in &self.groups {
            let closed = if group.fold == Fold::Closed { flags::CLOSED } else { 0 };
            writeln!(out, "@{:x}\n-{}", flags::BEGIN | flags::BLANK | closed, group.title)?;
            // Signals of different sides have equal names, so show the side.
            let side = |signal: &Signal| definition.declared(*signal).scopes.get(1);
            let mut sides = group.signals.iter().filter_map(side);
            let first = sides.next();
            let sides = sides.any(|other| Some(other) != first);
            for signal in &group.signals {
                longest = longest.max(write_signal(out, definition, *signal, sides)?);
            }
            writeln!(out, "@{:x}\n-{}", flags::END | flags::BLANK | closed, group.title)?;
        }
        Ok(longest)
    }
}

/// Zoom level: minus the binary logarithm of time units per pixel. A cycle has room for eight hexadecimal
/// digits.
const ZOOM: &str = "-5.0";

/// Visible cycles before the marker.
const CYCLES_BEFORE: u64 = 4;

/// Pixels per character in the signal column, and characters of a value next to its name: an equals sign and
/// a 32-bit word in hexadecimal.
const DIGIT_PIXELS: usize = 9;
const VALUE_DIGITS: usize = 10;

const RED: u32 = 1;

/// Writes a signal, optionally with its side before the name. Returns the length of the displayed name.
fn write_signal(
    out: &mut String,
    definition: &Definition,
    signal: Signal,
    side: bool,
) -> Result<usize, fmt::Error> {
    let declared = definition.declared(signal);
    let (flags, range) = match declared.kind {
        SignalKind::Bits(1) | SignalKind::Event => (flags::RIGHT | flags::BINARY, String::new()),
        SignalKind::Bits(width) => (flags::RIGHT | flags::HEX, format!("[{}:0]", width - 1)),
        SignalKind::Text => (flags::RIGHT | flags::ASCII, String::new()),
    };
    writeln!(out, "@{flags:x}")?;
    if definition.comparisons.iter().any(|comparison| comparison.shows_difference(signal)) {
        writeln!(out, "[color] {RED}")?;
    }
    // GTKWave shows only the part after the last point. Add the scopes, since elements of all arrays have
    // equal names.
    let mut shown = format!("{}{range}", declared.name);
    if let Some(scopes @ [_, ..]) = declared.scopes.get(if side { 1.. } else { 2.. }) {
        shown = format!("{}/{shown}", scopes.join("/"));
        write!(out, "+{{{shown}}} ")?;
    }
    writeln!(out, "{}{range}", definition.path(signal))?;
    Ok(shown.len())
}
