//! Wave files of any program: VCD and FST, told apart by their content, read in one pass with bounded memory.
//!
//! [`WaveFile::open`] reads what a file declares. [`WaveFile::changes`] then goes through its values as often as asked
//! for, each time from the beginning: nothing of a value is kept.

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

/// How a wave file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveFormat {
    /// Value change dump, text (IEEE 1364).
    Vcd,
    /// Fast signal trace, GTKWave's binary format.
    Fst,
}

impl WaveFormat {
    /// `VCD` or `FST`.
    pub fn name(self) -> &'static str {
        match self {
            WaveFormat::Vcd => "VCD",
            WaveFormat::Fst => "FST",
        }
    }
}

/// A wave file: what it declares, and a way through its values.
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

/// What it takes to read values.
#[derive(Debug)]
enum Body {
    Vcd(vcd::VcdBody),
    Fst(fst::FstBody),
}

/// How far the values of a file go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveExtent {
    /// The first point in time that the file names, and the last one read; `None` in a file without any.
    pub times: Option<(u64, u64)>,
    /// Nothing of the file is left: reading did not end at a time or because it was ended.
    pub whole: bool,
    /// The line in which the file ends without an end of it, or in the middle of a value: what stands there was not
    /// read. The simulation may have been killed.
    pub cut_in_line: Option<u64>,
    /// Departures from the format among the values read.
    pub notes: WaveNotes,
}

impl WaveExtent {
    /// With what was read behind it.
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
    /// [`WaveReadError`]: what the file is instead, or where it is malformed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WaveReadError> {
        let path = path.as_ref();
        Self::open_inner(path).map_err(|fault| fault.in_file(path))
    }

    fn open_inner(path: &Path) -> Result<Self, WaveReadFault> {
        let mut file = File::open(path).map_err(WaveReadFault::Io)?;
        let metadata = file.metadata().map_err(WaveReadFault::Io)?;
        // It is read more than once.
        if !metadata.is_file() {
            return Err(WaveReadFault::NoFile);
        }
        // White space in front of a VCD is allowed.
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

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it is written.
    pub fn format(&self) -> WaveFormat {
        match self.body {
            Body::Vcd(_) => WaveFormat::Vcd,
            Body::Fst(_) => WaveFormat::Fst,
        }
    }

    /// Its size when it was opened.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What a unit of its times is; `None` if it does not say.
    pub fn unit(&self) -> Option<TimeUnit> {
        self.unit
    }

    /// The program that wrote it, as it says; may be empty.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// True if `_` in texts stands for white space: a file of this crate's writer.
    pub(crate) fn joins_words(&self) -> bool {
        self.version.starts_with(atoms_wave_write::WRITER)
    }

    /// Departures from the format among its declarations; those among its values are in [`WaveExtent::notes`].
    pub fn notes(&self) -> &WaveNotes {
        &self.notes
    }

    /// Its signals, in order of declaration. Several may have one [`Slot`].
    pub fn signals(&self) -> &[FileSignal] {
        &self.signals
    }

    /// Number of slots: distinct series of values.
    pub fn slots(&self) -> usize {
        self.slots as usize
    }

    /// The empty set of slots of this file.
    pub fn no_slots(&self) -> Slots {
        Slots::none(self.slots())
    }

    /// Calls `visit` for every change of the slots in `which` before the time `until`: time, slot and value, in order
    /// of time. It may end the reading.
    ///
    /// All changes from the beginning on are visited, since a value lasts until the next one.
    ///
    /// # Errors
    /// [`WaveReadError`], once what is before the malformed place was visited.
    pub fn changes(
        &self,
        which: &Slots,
        until: u64,
        visit: impl FnMut(u64, Slot, RawValue<'_>) -> ControlFlow<()>,
    ) -> Result<WaveExtent, WaveReadError> {
        self.changes_from(&mut self.start(), which, until, visit)
    }

    /// Counts the changes of all signals, those of a slot once.
    ///
    /// Like [`Self::first_activity`] not generic, so that it is compiled with the optimization of this crate.
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

    /// Returns when one of the signals with these numbers, other than the clock, first has another value than at first;
    /// the time of the first value if none has.
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

    /// Returns the first time that the file names, 0 if it names none.
    pub(crate) fn first_time(&self) -> Result<u64, WaveReadError> {
        if let Body::Fst(body) = &self.body {
            return Ok(body.times.map_or(0, |(first, _)| first));
        }
        let mut all = self.no_slots();
        self.signals.iter().for_each(|signal| all.insert(signal.slot));
        let extent = self.changes(&all, u64::MAX, |_, _, _| ControlFlow::Break(()))?;
        Ok(extent.times.map_or(0, |(first, _)| first))
    }

    /// In front of all values.
    pub(crate) fn start(&self) -> Position {
        match &self.body {
            Body::Vcd(body) => body.start(),
            Body::Fst(_) => Position::default(),
        }
    }

    /// As [`Self::changes`], from a place on; `at` is then where it ended. Of an FST, all is read.
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

    /// This file and one whose values mean the same where their text is the same, if `other` is one.
    pub(crate) fn twins<'a>(&'a self, other: &'a WaveFile) -> Result<Option<Twins<'a>>, WaveReadError> {
        match (&self.body, &other.body) {
            (Body::Vcd(body), Body::Vcd(of_other)) if body.is_like(of_other) => {
                Twins::open([&self.path, &other.path], body).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// What a file declares.
#[derive(Debug, Default)]
struct Header {
    unit: Option<TimeUnit>,
    version: String,
    signals: Vec<FileSignal>,
    slots: u32,
    notes: WaveNotes,
}
