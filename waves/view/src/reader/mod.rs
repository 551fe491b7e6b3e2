//! Reads VCD and FST files of any simulator in one pass with bounded memory. The content decides the format.
//!
//! [`WaveFile::open`] reads the declarations. Each call of [`WaveFile::changes`] reads the values from the
//! beginning; no values are kept.

mod clock;
mod digits;
mod error;
mod escapes;
mod excerpt;
mod fst;
mod lookup;
mod notes;
mod pattern;
mod signals;
mod unit;
mod value;
mod vcd;

use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub(crate) use clock::ClockLevel;
pub use clock::{WaveClock, last_cycle};
pub(crate) use digits::digit;
pub use error::{WaveReadError, WaveReadFault};
pub use excerpt::EXCERPT_LIMIT;
pub use lookup::SignalLookupError;
pub(crate) use lookup::{listed, path_end};
pub use notes::{WaveNote, WaveNoteKind, WaveNoteResult, WaveNotes};
pub use pattern::SignalPattern;
pub use signals::{FileSignal, Slot, Slots, signal_path};
pub use unit::TimeUnit;
pub use value::RawValue;
pub(crate) use vcd::{Alike, Position, Twins};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveFormat {
    /// Value change dump, text (IEEE 1364).
    Vcd,
    /// Fast signal trace, GTKWave's binary format.
    Fst,
}

impl WaveFormat {
    pub fn name(self) -> &'static str {
        match self {
            WaveFormat::Vcd => "VCD",
            WaveFormat::Fst => "FST",
        }
    }
}

#[derive(Debug)]
pub struct WaveFile {
    path: PathBuf,
    bytes: u64,
    unit: Option<TimeUnit>,
    version: String,
    signals: Vec<FileSignal>,
    slots: u32,
    notes: WaveNotes,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Vcd(vcd::VcdBody),
    Fst(fst::FstBody),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveExtent {
    /// First and last time read; `None` for a file without times.
    pub times: Option<(u64, u64)>,
    /// True if the whole file was read.
    pub whole: bool,
    /// Line in which the file is truncated, so that its last value or statement was ignored. The simulation
    /// may have been killed.
    pub cut_in_line: Option<u64>,
    /// Deviations from the format among the values read.
    pub notes: WaveNotes,
}

impl WaveExtent {
    pub(crate) fn extend(&mut self, behind: WaveExtent) {
        self.times = match (self.times, behind.times) {
            (Some((first, _)), Some((_, last))) => Some((first, last)),
            (before, behind) => behind.or(before),
        };
        self.whole = behind.whole;
        self.cut_in_line = behind.cut_in_line.or(self.cut_in_line);
        self.notes.extend(&behind.notes);
    }
}

impl WaveFile {
    /// Opens a file and reads its declarations.
    ///
    /// # Errors
    /// [`WaveReadError`]: other format, or malformed declarations.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WaveReadError> {
        let path = path.as_ref();
        Self::open_inner(path).map_err(|fault| fault.in_file(path))
    }

    fn open_inner(path: &Path) -> Result<Self, WaveReadFault> {
        let mut file = File::open(path).map_err(WaveReadFault::Io)?;
        let metadata = file.metadata().map_err(WaveReadFault::Io)?;
        // The file is read several times, so it must be a regular file.
        if !metadata.is_file() {
            return Err(WaveReadFault::NoFile);
        }
        // A VCD may start with white space.
        let mut start = Vec::new();
        (&mut file).take(256).read_to_end(&mut start).map_err(WaveReadFault::Io)?;
        let first = start.iter().copied().find(|byte| !byte.is_ascii_whitespace());
        let Some(first) = first else { return Err(WaveReadFault::Empty) };
        let format = match (first, &start[..]) {
            (b'$', _) => WaveFormat::Vcd,
            (_, [0x1f, 0x8b, ..]) => return Err(WaveReadFault::Gzip),
            (_, [0 | 254, 0, 0, ..]) => WaveFormat::Fst,
            _ => return Err(WaveReadFault::Foreign { first }),
        };
        let (header, body) = match format {
            WaveFormat::Vcd => {
                let (header, body) = vcd::open(path)?;
                (header, Body::Vcd(body))
            }
            WaveFormat::Fst => {
                let (header, body) = fst::open(path)?;
                (header, Body::Fst(body))
            }
        };
        let signals = signals::distinct(header.signals);
        Ok(WaveFile {
            path: path.to_path_buf(),
            bytes: metadata.len(),
            unit: header.unit,
            version: header.version,
            signals,
            slots: header.slots,
            notes: header.notes,
            body,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn format(&self) -> WaveFormat {
        match self.body {
            Body::Vcd(_) => WaveFormat::Vcd,
            Body::Fst(_) => WaveFormat::Fst,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the time unit; `None` if the file does not declare one.
    pub fn unit(&self) -> Option<TimeUnit> {
        self.unit
    }

    /// Returns the name of the writing program as declared; may be empty.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// True if `_` in texts stands for white space, as in files of `atoms_wave_write`.
    pub(crate) fn joins_words(&self) -> bool {
        self.version.starts_with(atoms_wave_write::WRITER)
    }

    /// Returns deviations from the format in the declarations. [`WaveExtent::notes`] has those in the values.
    pub fn notes(&self) -> &WaveNotes {
        &self.notes
    }

    /// Returns the signals in order of declaration. Several signals may share a [`Slot`].
    pub fn signals(&self) -> &[FileSignal] {
        &self.signals
    }

    /// Returns the number of slots, which are distinct series of values.
    pub fn slots(&self) -> usize {
        self.slots as usize
    }

    pub fn no_slots(&self) -> Slots {
        Slots::none(self.slots())
    }

    /// Calls `visit` with time, slot and value of every change of the slots in `which` before the time
    /// `until`, in order of time. `visit` may end the reading. Reading starts at the beginning, since a value
    /// lasts until the next change.
    ///
    /// # Errors
    /// [`WaveReadError`], after `visit` has seen everything before the malformed place.
    pub fn changes(
        &self,
        which: &Slots,
        until: u64,
        visit: impl FnMut(u64, Slot, RawValue<'_>) -> ControlFlow<()>,
    ) -> Result<WaveExtent, WaveReadError> {
        self.changes_from(&mut self.start(), which, until, visit)
    }

    /// Counts the changes of all signals, once per slot. Not generic, like [`Self::first_activity`], so that
    /// it is compiled with the optimization level of this crate.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub fn count_changes(&self) -> Result<(u64, WaveExtent), WaveReadError> {
        let mut all = self.no_slots();
        self.signals.iter().for_each(|signal| all.insert(signal.slot));
        let mut changes = 0;
        let extent = self.changes(&all, u64::MAX, |_, _, _| {
            changes += 1;
            ControlFlow::Continue(())
        })?;
        Ok((changes, extent))
    }

    /// Returns the time at which one of these signals, except the clock, first differs from its initial
    /// value. If no signal changes, returns the time of the first value.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub fn first_activity(&self, signals: &[usize]) -> Result<u64, WaveReadError> {
        let clock = self.clock()?.map(|clock| self.signals[clock.signal].slot);
        let (mut which, mut begun) = (self.no_slots(), self.no_slots());
        signals.iter().for_each(|signal| which.insert(self.signals[*signal].slot));
        let (mut start, mut found) = (None, None);
        self.changes(&which, u64::MAX, |time, slot, value| {
            start.get_or_insert(time);
            if Some(slot) == clock || value == RawValue::Bits(b"x") {
                return ControlFlow::Continue(());
            }
            if begun.contains(slot) {
                found = Some(time);
                return ControlFlow::Break(());
            }
            begun.insert(slot);
            ControlFlow::Continue(())
        })?;
        Ok(found.or(start).unwrap_or(0))
    }

    /// Returns the first time in the file; 0 if there is none.
    pub(crate) fn first_time(&self) -> Result<u64, WaveReadError> {
        if let Body::Fst(body) = &self.body {
            return Ok(body.times.map_or(0, |(first, _)| first));
        }
        let mut all = self.no_slots();
        self.signals.iter().for_each(|signal| all.insert(signal.slot));
        let extent = self.changes(&all, u64::MAX, |_, _, _| ControlFlow::Break(()))?;
        Ok(extent.times.map_or(0, |(first, _)| first))
    }

    pub(crate) fn start(&self) -> Position {
        match &self.body {
            Body::Vcd(body) => body.start(),
            Body::Fst(_) => Position::default(),
        }
    }

    /// Like [`Self::changes`], from position `at` on, which is then moved to the end. An FST file is always
    /// read from the beginning.
    pub(crate) fn changes_from(
        &self,
        at: &mut Position,
        which: &Slots,
        until: u64,
        visit: impl FnMut(u64, Slot, RawValue<'_>) -> ControlFlow<()>,
    ) -> Result<WaveExtent, WaveReadError> {
        let read = match &self.body {
            Body::Vcd(body) => body.changes(&self.path, at, which, until, visit),
            Body::Fst(body) => body.changes(&self.path, which, until, visit),
        };
        read.map_err(|fault| fault.in_file(&self.path))
    }

    /// Returns a reader of both files, if `other` is a VCD with the same declarations: identical text then
    /// has the same meaning.
    pub(crate) fn twins<'a>(&'a self, other: &'a WaveFile) -> Result<Option<Twins<'a>>, WaveReadError> {
        match (&self.body, &other.body) {
            (Body::Vcd(body), Body::Vcd(of_other)) if body.is_like(of_other) => {
                Twins::open([&self.path, &other.path], body).map(Some)
            }
            _ => Ok(None),
        }
    }
}

#[derive(Debug, Default)]
struct Header {
    unit: Option<TimeUnit>,
    version: String,
    signals: Vec<FileSignal>,
    slots: u32,
    notes: WaveNotes,
}
