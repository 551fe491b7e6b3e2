//! Reads FST files with the crate `fst-reader`.
//!
//! `fst-reader` assumes well-formed files: it asserts, and it allocates any stated length. So the blocks are
//! checked first, and a failed assertion becomes an error.

mod blocks;
mod guard;

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fst_reader::{
    FstFilter, FstHierarchyEntry, FstReader, FstSignalHandle, FstSignalValue, FstVarType, ReadSignalsError,
    ReaderError,
};

use super::digits::shorten;
use super::{
    FileSignal, Header, RawValue, Slot, Slots, TimeUnit, WaveExtent, WaveNoteKind, WaveNotes, WaveReadFault,
};
use crate::ValueKind;
use blocks::Overview;
use guard::guarded;

/// Valid exponents of the time unit in powers of ten of a second.
const UNITS: std::ops::RangeInclusive<i8> = -21..=5;

#[derive(Debug)]
pub(super) struct FstBody {
    /// Kind of each slot.
    kinds: Vec<ValueKind>,
    blocks: Overview,
    /// First and last time of the file.
    pub(super) times: Option<(u64, u64)>,
}

pub(super) fn open(path: &Path) -> Result<(Header, FstBody), WaveReadFault> {
    let blocks = blocks::check(path)?;
    guarded(|| {
        let mut reader = reader(path, &blocks)?;
        let about = reader.get_header();
        if !UNITS.contains(&about.timescale_exponent) {
            return Err(problem(format!(
                "the FST file is damaged: a time unit of 1e{} s",
                about.timescale_exponent
            )));
        }
        let mut declarations =
            Declarations { signals: Vec::new(), kinds: Vec::new(), scopes: vec![Arc::from([])] };
        reader.read_hierarchy(|entry| declarations.take(entry)).map_err(damaged)?;
        // Count the slots: a damaged header may state billions.
        let slots = declarations.kinds.len() as u32;
        if blocks.unlisted && blocks.signals > u64::from(slots) {
            return Err(problem(
                "the FST file is damaged: it has values of signals that it does not declare",
            ));
        }
        let unclosed =
            blocks.cut || blocks.unlisted || blocks.times.is_some_and(|(_, last)| last > blocks.stated_end);
        let times = if unclosed { blocks.times } else { Some((about.start_time, about.end_time)) };
        let mut notes = WaveNotes::default();
        if unclosed {
            notes.add(WaveNoteKind::Unclosed, 0);
        }
        let header = Header {
            unit: Some(TimeUnit { exponent: about.timescale_exponent }),
            version: about.version.trim().to_owned(),
            slots,
            signals: declarations.signals,
            notes,
        };
        Ok((header, FstBody { kinds: declarations.kinds, blocks, times }))
    })
}

fn reader(path: &Path, blocks: &Overview) -> Result<FstReader<BufReader<WholeBlocks>>, WaveReadFault> {
    let file = File::open(path).map_err(WaveReadFault::Io)?;
    let file = BufReader::new(WholeBlocks { file, at: 0, bytes: blocks.bytes });
    if !blocks.unlisted {
        return FstReader::open(file).map_err(damaged);
    }
    let mut listed = path.as_os_str().to_owned();
    listed.push(".hier");
    let listed = File::open(PathBuf::from(listed)).map_err(|_| unfinished())?;
    FstReader::open_incomplete(file, BufReader::new(listed)).map_err(damaged)
}

/// Reader of a file up to the end of its last complete block.
struct WholeBlocks {
    file: File,
    at: u64,
    bytes: u64,
}

impl Read for WholeBlocks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.bytes.saturating_sub(self.at).min(buffer.len() as u64);
        let read = self.file.read(&mut buffer[..left as usize])?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for WholeBlocks {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}

fn problem(text: impl Into<String>) -> WaveReadFault {
    WaveReadFault::Fst { problem: text.into() }
}

fn damaged(error: ReaderError) -> WaveReadFault {
    match error {
        ReaderError::MissingGeometry() | ReaderError::MissingHierarchy() => unfinished(),
        ReaderError::Io(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            WaveReadFault::Io(source)
        }
        other => problem(format!("the FST file is damaged: {other}")),
    }
}

fn unfinished() -> WaveReadFault {
    problem(
        "the FST file is not complete: its writer did not close it, or it was cut, and the list of signals, which comes \
         last, is missing. The writer keeps that list in a file whose name has `.hier` appended: put that file into \
         the same folder",
    )
}

struct Declarations {
    signals: Vec<FileSignal>,
    kinds: Vec<ValueKind>,
    /// Paths of the open scopes, the empty path first.
    scopes: Vec<Arc<[String]>>,
}

impl Declarations {
    fn take(&mut self, entry: FstHierarchyEntry) {
        let outer = self.scopes.last().cloned().unwrap_or_else(|| Arc::from([]));
        match entry {
            FstHierarchyEntry::Scope { name, .. } => {
                self.scopes.push(outer.iter().cloned().chain([name]).collect());
            }
            FstHierarchyEntry::UpScope => {
                self.scopes.pop();
            }
            FstHierarchyEntry::Var { tpe, name, length, handle, .. } => {
                let kind = match tpe {
                    _ if tpe.is_real() => ValueKind::Real,
                    FstVarType::GenericString => ValueKind::Text,
                    FstVarType::Event => ValueKind::Event,
                    _ if length == 0 => ValueKind::Text,
                    _ => ValueKind::Bits(length),
                };
                // A new signal has the next handle; an alias has the handle of an earlier signal.
                match handle.get_index().cmp(&self.kinds.len()) {
                    Ordering::Less => self.kinds[handle.get_index()] = kind,
                    Ordering::Equal => self.kinds.push(kind),
                    Ordering::Greater => return,
                }
                let slot = Slot(handle.get_index() as u32);
                let words: Vec<&str> = name.split_whitespace().collect();
                self.signals.push(FileSignal::new(outer, &words, kind, slot));
            }
            // Ignore source locations and types of other languages.
            _ => {}
        }
    }
}

impl FstBody {
    pub(super) fn changes(
        &self,
        path: &Path,
        which: &Slots,
        until: u64,
        mut visit: impl FnMut(u64, Slot, RawValue<'_>) -> ControlFlow<()>,
    ) -> Result<WaveExtent, WaveReadFault> {
        let Some(end) = until.checked_sub(1) else { return Ok(WaveExtent::default()) };
        guarded(|| {
            let mut reader = reader(path, &self.blocks)?;
            let handles = which.iter().map(|slot| FstSignalHandle::from_index(slot.index())).collect();
            // Read from the beginning: a later block may lack the values of signals that do not change.
            let filter = FstFilter { start: 0, end: Some(end), include: Some(handles) };
            let (mut digits, mut last) = (Vec::new(), 0);
            let read = reader.read_signals(&filter, |time, handle, value| {
                if time < last {
                    return Err(Stop::Backwards { from: last, to: time });
                }
                last = time;
                let kind = self.kinds[handle.get_index()];
                let raw = match (value, kind) {
                    (FstSignalValue::Real(number), _) => RawValue::Real(number),
                    (FstSignalValue::String(text), ValueKind::Text | ValueKind::Real) => RawValue::Text(text),
                    (FstSignalValue::String(text), ValueKind::Event | ValueKind::Bits(_)) => {
                        digits.clear();
                        digits.extend_from_slice(text);
                        let from = shorten(&mut digits).map_err(|_| Stop::NoDigits)?;
                        match (&digits[from..], kind) {
                            (b"1", ValueKind::Event) => RawValue::Event,
                            // Other values of an event mean that it does not trigger.
                            (_, ValueKind::Event) => return Ok(()),
                            (digits, _) => RawValue::Bits(digits),
                        }
                    }
                };
                match visit(time, Slot(handle.get_index() as u32), raw) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => Err(Stop::Asked),
                }
            });
            let stopped = matches!(read, Err(ReadSignalsError::CallbackError(Stop::Asked)));
            match read {
                Ok(()) | Err(ReadSignalsError::CallbackError(Stop::Asked)) => {}
                Err(ReadSignalsError::CallbackError(Stop::Backwards { from, to })) => {
                    return Err(problem(format!(
                        "the FST file is damaged: time goes back from {from} to {to}"
                    )));
                }
                Err(ReadSignalsError::CallbackError(Stop::NoDigits)) => {
                    return Err(problem(
                        "the FST file is damaged: a value has characters other than 0, 1, x, z",
                    ));
                }
                Err(ReadSignalsError::ReadError(error)) => return Err(damaged(error)),
            }
            let times =
                self.times.filter(|(start, _)| *start <= end).map(|(start, last)| (start, last.min(end)));
            let whole = !stopped && self.times.is_none_or(|(_, last)| last <= end);
            Ok(WaveExtent { times, whole, ..WaveExtent::default() })
        })
    }
}

enum Stop {
    Asked,
    Backwards { from: u64, to: u64 },
    NoDigits,
}
