//! FST files, by the crate `fst-reader`.
//!
//! That crate takes files to be well-formed: what it reads is asserted, and lengths are allocated as they stand. So the
//! blocks are looked over first, and an assertion that fails is an error like any other.

mod blocks;
mod guard;

use std::cmp::Ordering;
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use fst_reader::{
    FstFilter, FstHierarchyEntry, FstReader, FstSignalHandle, FstSignalValue, FstVarType, ReadSignalsError,
    ReaderError,
};

use super::digits::shorten;
use super::{FileSignal, Header, RawValue, Slot, Slots, TimeUnit, WaveExtent, WaveReadFault};
use crate::ValueKind;
use guard::guarded;

/// Powers of ten of seconds that a time unit can be: from zeptoseconds to days.
const UNITS: std::ops::RangeInclusive<i8> = -21..=5;

/// What it takes to read values.
#[derive(Debug)]
pub(super) struct FstBody {
    /// By slot.
    kinds: Vec<ValueKind>,
    /// First time of the file.
    pub(super) start: u64,
}

/// Reads the declarations of the file at `path`.
pub(super) fn open(path: &Path) -> Result<(Header, FstBody), WaveReadFault> {
    blocks::check(path)?;
    guarded(|| {
        let mut reader = reader(path)?;
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
        // Counted, not taken from the header, which a damaged file may let claim thousands of millions.
        let slots = declarations.kinds.len() as u32;
        let header = Header {
            unit: Some(TimeUnit { exponent: about.timescale_exponent }),
            version: about.version.trim().to_owned(),
            slots,
            signals: declarations.signals,
            ..Header::default()
        };
        Ok((header, FstBody { kinds: declarations.kinds, start: about.start_time }))
    })
}

fn reader(path: &Path) -> Result<FstReader<BufReader<File>>, WaveReadFault> {
    let file = File::open(path).map_err(WaveReadFault::Io)?;
    FstReader::open(BufReader::new(file)).map_err(damaged)
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

/// The end of the file is missing, which says what the rest means.
fn unfinished() -> WaveReadFault {
    problem(
        "the FST file is not complete: its writer did not close it, or it was cut; the list of signals comes last in \
         this format, so nothing can be read. A VCD can be read up to where it ends",
    )
}

/// Declarations while they are read.
struct Declarations {
    signals: Vec<FileSignal>,
    kinds: Vec<ValueKind>,
    /// Paths of the open scopes, the empty one first.
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
                // A signal has the next handle, an alias that of a signal before.
                match handle.get_index().cmp(&self.kinds.len()) {
                    Ordering::Less => self.kinds[handle.get_index()] = kind,
                    Ordering::Equal => self.kinds.push(kind),
                    Ordering::Greater => return,
                }
                let slot = Slot(handle.get_index() as u32);
                let words: Vec<&str> = name.split_whitespace().collect();
                self.signals.push(FileSignal::new(outer, &words, kind, slot));
            }
            // Where things are declared, and types of other languages.
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
            let mut reader = reader(path)?;
            let about = reader.get_header();
            let handles = which.iter().map(|slot| FstSignalHandle::from_index(slot.index())).collect();
            // Always from the beginning: a block in the middle need not have the values of what rests.
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
                            // The others say that it does not happen.
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
            let times = (about.start_time <= end).then_some((about.start_time, about.end_time.min(end)));
            Ok(WaveExtent { times, whole: !stopped && about.end_time <= end, ..WaveExtent::default() })
        })
    }
}

/// Why reading ended early.
enum Stop {
    Asked,
    Backwards { from: u64, to: u64 },
    NoDigits,
}
