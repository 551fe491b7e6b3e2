//! A trace being written.

use crate::batch::{Batch, Change};
use crate::definition::{Definition, Signal, SignalKind};
use crate::fst::FstFormat;
use crate::vcd::VcdFormat;
use crate::writer::Writer;
use crate::{Comparison, WaveError};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Time units (ns) of a cycle; the clock falls in the middle.
pub(crate) const PERIOD: u64 = 10;

/// Values of the signals of a [`Definition`], cycle by cycle.
///
/// Set what may have changed, then [`tick`](Self::tick). Only changes are written. Cycle `n` lasts
/// from time `10 n` to `10 n + 10`; values change where the clock rises. The file is complete after
/// every [`flush`](Self::flush), and when the trace is dropped.
#[derive(Debug)]
pub struct WaveTrace {
    path: PathBuf,
    writer: Writer,
    /// Changes that the writer does not have yet.
    batch: Batch,
    slots: Vec<Slot>,
    /// Signals that were set to something new since the last tick.
    touched: Vec<Signal>,
    comparisons: Vec<Differences>,
    clock: Signal,
    cycle: u64,
    /// No value has been written yet.
    fresh: bool,
}

/// A signal's value, and what the file says it is.
#[derive(Debug)]
struct Slot {
    kind: SignalKind,
    now: Value,
    written: Value,
    touched: bool,
    /// The comparison and the pair in it that the signal is one side of.
    side_of: Vec<(u32, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// Never set.
    Unknown,
    /// At most 128 bits. For an event: happens.
    Narrow(u128),
    /// More bits, the least significant byte first, or the characters of a text.
    Bytes(Vec<u8>),
}

/// A comparison and how it stands.
#[derive(Debug)]
struct Differences {
    signals: Comparison,
    differs: Vec<bool>,
    pairs: u32,
    cycles: u32,
}

impl WaveTrace {
    pub(crate) fn create(definition: &Definition, path: &Path) -> Result<Self, WaveError> {
        let failed = |source| WaveError::WaveTrace { path: path.to_path_buf(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = File::create(path).map_err(failed)?;
        let writer = if path.extension().is_some_and(|extension| extension == "fst") {
            Writer::new(FstFormat::new(definition, file).map_err(failed)?)
        } else {
            Writer::new(VcdFormat::new(definition, file).map_err(failed)?)
        };
        let slots = definition.signals.iter().map(|declared| Slot {
            kind: declared.kind,
            now: Value::Unknown,
            written: Value::Unknown,
            touched: false,
            side_of: Vec::new(),
        });
        let mut trace = Self {
            path: path.to_path_buf(),
            writer: writer.map_err(failed)?,
            batch: Batch::default(),
            slots: slots.collect(),
            touched: Vec::new(),
            comparisons: Vec::new(),
            clock: definition.clock,
            cycle: 0,
            fresh: true,
        };
        for comparison in &definition.comparisons {
            trace.attach(comparison);
        }
        Ok(trace)
    }

    fn attach(&mut self, comparison: &Comparison) {
        let number = self.comparisons.len() as u32;
        for (pair, sides) in comparison.pairs.iter().enumerate() {
            for side in sides {
                self.slot(*side).side_of.push((number, pair as u32));
            }
        }
        for flag in comparison.flags.iter().chain([
            &comparison.any,
            &comparison.pairs_differing,
            &comparison.cycles_differing,
        ]) {
            self.set(*flag, 0);
        }
        let differs = vec![false; comparison.pairs.len()];
        self.comparisons.push(Differences { signals: comparison.clone(), differs, pairs: 0, cycles: 0 });
    }

    /// Sets a signal of at most 128 bits for this cycle; bits above its width are ignored.
    ///
    /// # Panics
    /// When the signal is wider, or no number.
    pub fn set(&mut self, signal: Signal, value: u128) {
        let slot = self.slot(signal);
        let SignalKind::Bits(width @ 1..=128) = slot.kind else {
            panic!("`set` is for up to 128 bits, and the signal is {:?}", slot.kind)
        };
        let value = value & (u128::MAX >> (128 - width));
        if slot.now != Value::Narrow(value) {
            slot.now = Value::Narrow(value);
            self.touch(signal);
        }
    }

    /// Sets a signal of any width for this cycle from bytes, the least significant first; missing
    /// ones are zero, and bits above its width are ignored.
    ///
    /// # Panics
    /// When the signal is no number.
    pub fn set_bytes(&mut self, signal: Signal, bytes: &[u8]) {
        let slot = self.slot(signal);
        let SignalKind::Bits(width) = slot.kind else {
            panic!("`set_bytes` is for numbers, not {:?}", slot.kind)
        };
        if width <= 128 {
            let mut word = [0; 16];
            let length = bytes.len().min(16);
            word[..length].copy_from_slice(&bytes[..length]);
            return self.set(signal, u128::from_le_bytes(word));
        }
        let whole = width.div_ceil(8) as usize;
        let mut value = bytes[..bytes.len().min(whole)].to_vec();
        value.resize(whole, 0);
        if width % 8 != 0 {
            value[whole - 1] &= (1 << (width % 8)) - 1;
        }
        self.set_value(signal, value);
    }

    /// Sets a text signal for this cycle. White space is written as `_`, an empty text as `-`.
    ///
    /// # Panics
    /// When the signal is no text.
    pub fn set_text(&mut self, signal: Signal, text: &str) {
        let slot = self.slot(signal);
        assert!(slot.kind == SignalKind::Text, "`set_text` is for texts, not {:?}", slot.kind);
        let text = if text.is_empty() { b"-" } else { text.as_bytes() };
        match &mut slot.now {
            Value::Bytes(now) if now == text => return,
            // Texts change often: the memory is kept.
            Value::Bytes(now) => {
                now.clear();
                now.extend_from_slice(text);
            }
            now => *now = Value::Bytes(text.to_vec()),
        }
        self.touch(signal);
    }

    fn set_value(&mut self, signal: Signal, value: Vec<u8>) {
        let slot = self.slot(signal);
        if !matches!(&slot.now, Value::Bytes(now) if *now == value) {
            slot.now = Value::Bytes(value);
            self.touch(signal);
        }
    }

    /// Lets an event happen in this cycle.
    ///
    /// # Panics
    /// When the signal is no event.
    pub fn emit(&mut self, signal: Signal) {
        let slot = self.slot(signal);
        assert!(slot.kind == SignalKind::Event, "`emit` is for events, not {:?}", slot.kind);
        slot.now = Value::Narrow(1);
        self.touch(signal);
    }

    /// The cycle whose values are being set, 0 at first.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Leaves out cycles up to `cycle`, for a trace that starts late or has gaps. In a gap the values
    /// before it stay.
    ///
    /// # Panics
    /// When `cycle` is before [`Self::cycle`].
    pub fn skip_to(&mut self, cycle: u64) {
        assert!(cycle >= self.cycle, "cycle {cycle} is over: the trace is at {}", self.cycle);
        self.cycle = cycle;
    }

    /// Ends the cycle: writes what has changed.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn tick(&mut self) -> Result<(), WaveError> {
        self.compare();
        self.batch.time(self.cycle * PERIOD);
        self.set(self.clock, 1);
        if std::mem::take(&mut self.fresh) {
            self.write_all_values();
        } else {
            self.write_changes();
        }
        self.batch.time(self.cycle * PERIOD + PERIOD / 2);
        self.set(self.clock, 0);
        self.write_changes();
        self.cycle += 1;
        if self.batch.is_full() { self.hand_over() } else { Ok(()) }
    }

    /// Brings everything so far to the file, which is valid as it then stands.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn flush(&mut self) -> Result<(), WaveError> {
        self.hand_over()?;
        self.writer.flush().map_err(|source| self.failed(source))
    }

    /// Ends the trace. Dropping it does the same, but cannot report an error.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn finish(mut self) -> Result<(), WaveError> {
        self.end()
    }

    /// Gives the last cycle its length and completes the file.
    fn end(&mut self) -> Result<(), WaveError> {
        if !self.fresh {
            self.batch.time(self.cycle * PERIOD);
            // Nothing follows, also when the trace is dropped after `finish`.
            self.fresh = true;
        }
        self.hand_over()?;
        self.writer.finish().map_err(|source| self.failed(source))
    }

    fn hand_over(&mut self) -> Result<(), WaveError> {
        self.writer.write(&mut self.batch).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: std::io::Error) -> WaveError {
        WaveError::WaveTrace { path: self.path.clone(), source }
    }

    fn slot(&mut self, signal: Signal) -> &mut Slot {
        &mut self.slots[signal.0 as usize]
    }

    fn touch(&mut self, signal: Signal) {
        let slot = &mut self.slots[signal.0 as usize];
        if !slot.touched {
            slot.touched = true;
            self.touched.push(signal);
        }
    }

    /// Brings the flags and counters of all comparisons up to this cycle.
    fn compare(&mut self) {
        if self.comparisons.is_empty() {
            return;
        }
        // Flags set here are no sides of a pair, so what is added to `touched` needs no look.
        for at in 0..self.touched.len() {
            let signal = self.touched[at].0 as usize;
            for which in 0..self.slots[signal].side_of.len() {
                let (comparison, pair) = self.slots[signal].side_of[which];
                self.compare_pair(comparison as usize, pair as usize);
            }
        }
        for at in 0..self.comparisons.len() {
            let state = &mut self.comparisons[at];
            state.cycles += u32::from(state.pairs > 0);
            let (pairs, cycles) = (state.pairs, state.cycles);
            let Comparison { any, pairs_differing, cycles_differing, .. } = state.signals;
            self.set(any, u128::from(pairs > 0));
            self.set(pairs_differing, pairs.into());
            self.set(cycles_differing, cycles.into());
        }
    }

    fn compare_pair(&mut self, comparison: usize, pair: usize) {
        let state = &mut self.comparisons[comparison];
        let [left, right] = state.signals.pairs[pair].map(|side| &self.slots[side.0 as usize].now);
        // A side that is not set yet has no value to disagree with.
        let differs = left != right && *left != Value::Unknown && *right != Value::Unknown;
        if differs != state.differs[pair] {
            state.differs[pair] = differs;
            state.pairs = if differs { state.pairs + 1 } else { state.pairs - 1 };
            let flag = state.signals.flags[pair];
            self.set(flag, differs.into());
        }
    }

    fn write_all_values(&mut self) {
        self.batch.all();
        for (signal, slot) in self.slots.iter_mut().enumerate() {
            slot.write(signal as u32, &mut self.batch);
            slot.touched = false;
        }
        self.touched.clear();
    }

    fn write_changes(&mut self) {
        for signal in self.touched.drain(..) {
            let slot = &mut self.slots[signal.0 as usize];
            slot.touched = false;
            // A value may have changed and changed back within the cycle.
            if slot.now != slot.written {
                slot.write(signal.0, &mut self.batch);
            }
        }
    }
}

impl Slot {
    /// Writes the value and remembers it as written. An event is over then.
    fn write(&mut self, signal: u32, batch: &mut Batch) {
        let change = match (self.kind, &self.now) {
            (_, Value::Unknown) => Change::Unknown,
            (SignalKind::Event, _) => Change::Happens,
            (_, Value::Narrow(value)) => Change::Narrow(*value),
            (_, Value::Bytes(bytes)) => Change::Bytes(bytes),
        };
        batch.change(signal, change);
        if self.kind == SignalKind::Event {
            self.now = Value::Unknown;
        } else {
            self.written.clone_from(&self.now);
        }
    }
}

impl Drop for WaveTrace {
    fn drop(&mut self) {
        // A caller that wants to know calls `finish`.
        let _ = self.end();
    }
}
