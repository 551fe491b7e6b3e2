//! Viewer layouts: which signals to show, in which order, in the file GTKWave opens.

use crate::definition::{Definition, Signal, SignalKind};
use crate::{Fold, ViewGroup, WaveError, WaveView, values};
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// Groups of signals in the order a viewer is to show them.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    groups: Vec<Group>,
    /// Cycle that the marker stands at.
    marker: Option<u64>,
}

#[derive(Clone, Debug)]
struct Group {
    title: String,
    signals: Vec<Signal>,
    fold: Fold,
}

/// What GTKWave's save files say before a line: bits of its `TraceEnt` flags.
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
    /// An empty layout.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more group, below the others.
    pub fn group(self, title: &str, signals: impl IntoIterator<Item = Signal>) -> Self {
        self.with(title, signals, Fold::Open)
    }

    /// With one more group, below the others and folded up: for what one looks at now and then.
    pub fn folded(self, title: &str, signals: impl IntoIterator<Item = Signal>) -> Self {
        self.with(title, signals, Fold::Closed)
    }

    fn with(mut self, title: &str, signals: impl IntoIterator<Item = Signal>, fold: Fold) -> Self {
        let signals = signals.into_iter().collect();
        self.groups.push(Group { title: title.to_owned(), signals, fold });
        self
    }

    /// With the groups of another layout below, folded up.
    pub fn above(mut self, rest: Layout) -> Self {
        self.groups.extend(rest.groups.into_iter().map(|group| Group { fold: Fold::Closed, ..group }));
        self
    }

    /// With the marker at `cycle`, and the view there.
    pub fn marker(mut self, cycle: u64) -> Self {
        self.marker = Some(cycle);
        self
    }

    /// The same by the names of the signals, for a page.
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

    /// Writes the layout beside the trace, with extension `gtkw`; gives its path.
    ///
    /// # Errors
    /// [`WaveError::Layout`].
    pub fn write(&self, definition: &Definition, trace: &Path) -> Result<PathBuf, WaveError> {
        let path = trace.with_extension("gtkw");
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.render(&mut text, definition, trace);
        match std::fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(source) => Err(WaveError::Layout { path, source }),
        }
    }

    fn render(&self, out: &mut String, definition: &Definition, trace: &Path) -> fmt::Result {
        // The place as it was given: a layout may be committed, and then must not name a machine's
        // folders. `gtkwave TRACE LAYOUT` opens the two wherever they are.
        writeln!(out, "[dumpfile] \"{}\"", trace.display())?;
        // Pixels per time unit are a power of two. The marker is in view on a screen of 1,024 pixels.
        let marker = self.marker.map_or(-1, |cycle| (cycle * values::PERIOD) as i64);
        let start = self.marker.map_or(0, |cycle| cycle.saturating_sub(CYCLES_BEFORE) * values::PERIOD);
        writeln!(out, "[timestart] {start}")?;
        writeln!(out, "[size] 1280 800\n[pos] -1 -1")?;
        writeln!(out, "*{ZOOM} {marker}{}", " -1".repeat(26))?;
        writeln!(out, "[treeopen] {}.", definition.top().name)?;
        let mut rows = String::new();
        // The column holds names, and beside them the values at the marker.
        let longest = self.render_rows(&mut rows, definition)?;
        let width = ((longest + VALUE_DIGITS) * DIGIT_PIXELS).clamp(320, 640);
        writeln!(out, "[sst_width] 200\n[signals_width] {width}\n[sst_expanded] 1")?;
        out.push_str(&rows);
        Ok(())
    }

    /// Writes the groups; gives the characters of the longest name shown.
    fn render_rows(&self, out: &mut String, definition: &Definition) -> Result<usize, fmt::Error> {
        let mut longest = write_signal(out, definition, definition.clock, false)?;
        for group in &self.groups {
            let closed = if group.fold == Fold::Closed { flags::CLOSED } else { 0 };
            writeln!(out, "@{:x}\n-{}", flags::BEGIN | flags::BLANK | closed, group.title)?;
            // Sides have the same names.
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

/// Magnification: the binary logarithm of time units per pixel, negative. A cycle is wide enough for
/// eight hexadecimal digits.
const ZOOM: &str = "-5.0";

/// Cycles in view before the marker.
const CYCLES_BEFORE: u64 = 4;

/// Pixels of a character in the column of signals, and characters that a value has beside its name: an equals sign, and a
/// word in hexadecimal.
const DIGIT_PIXELS: usize = 9;
const VALUE_DIGITS: usize = 10;

/// GTKWave's number for red.
const RED: u32 = 1;

/// Writes a signal, with its `side` in front of the name that is shown if asked for. Gives the characters of that name.
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
    // Red where something is wrong, so that it need not be searched for.
    if definition.comparisons.iter().any(|comparison| comparison.shows_difference(signal)) {
        writeln!(out, "[color] {RED}")?;
    }
    // The viewer shows a name from its last point on, and elements are called alike in every array.
    let mut shown = format!("{}{range}", declared.name);
    if let Some(scopes @ [_, ..]) = declared.scopes.get(if side { 1.. } else { 2.. }) {
        shown = format!("{}/{shown}", scopes.join("/"));
        write!(out, "+{{{shown}}} ")?;
    }
    writeln!(out, "{}{range}", definition.path(signal))?;
    Ok(shown.len())
}
