//! A trace being written.

use crate::WaveError;
use crate::batch::Batch;
use crate::definition::{Definition, Signal, SignalKind};
use crate::format::kinds;
use crate::fst::FstFormat;
use crate::values::{Deferred, PERIOD, WaveValues};
use crate::vcd::VcdFormat;
use crate::writer::Writer;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Trace being written: sets the values of the signals of a [`Definition`], cycle by cycle.
///
/// Set the values that may have changed, then call [`tick`](Self::tick). The file contains only changes.
/// Cycle `n` lasts from time `10 n` to `10 n + 10`. Values change at the rising edge of the clock, and one
/// more rising edge ends the last cycle. The file is complete after every [`flush`](Self::flush), and when
/// the trace is dropped.
///
/// A separate thread finds the changes, compares and writes. `T` is the input of values that this thread
/// computes; see [`Definition::create_with`].
#[derive(Debug)]
pub struct WaveTrace<T: Default = ()> {
    path: PathBuf,
    writer: Writer<T>,
    batch: Batch<T>,
    kinds: Vec<SignalKind>,
    cycle: u64,
    /// True until the first cycle ends.
    fresh: bool,
}

impl<T: Default> WaveTrace<T> {
    pub(crate) fn create(
        definition: &Definition,
        path: &Path,
        deferred: impl Deferred<Cycle = T>,
    ) -> Result<Self, WaveError>
    where
        T: Send + 'static,
    {
        let failed = |source| WaveError::WaveTrace { path: path.to_path_buf(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = File::create(path).map_err(failed)?;
        let writer = if path.extension().is_some_and(|extension| extension == "fst") {
            let format = FstFormat::new(definition, file).map_err(failed)?;
            Writer::new(format, WaveValues::new(definition, None), deferred)
        } else {
            let format = VcdFormat::new(definition, file).map_err(failed)?;
            let lines = format.change_lines();
            Writer::new(format, WaveValues::new(definition, Some(lines)), deferred)
        };
        Ok(Self {
            path: path.to_path_buf(),
            writer: writer.map_err(failed)?,
            batch: Batch::default(),
            kinds: kinds(definition),
            cycle: 0,
            fresh: true,
        })
    }

    /// Sets a signal of at most 128 bits for this cycle. Bits above its width are ignored.
    ///
    /// # Panics
    /// When the signal is wider or not a number.
    pub fn set(&mut self, signal: Signal, value: u128) {
        let kind = self.kinds[signal.0 as usize];
        assert!(
            matches!(kind, SignalKind::Bits(..=128)),
            "`set` is for up to 128 bits, and the signal is {kind:?}"
        );
        self.batch.number(signal.0, value);
    }

    /// Sets a signal of any width for this cycle from bytes, the least significant first. Missing bytes are
    /// zero, and bits above the width are ignored.
    ///
    /// # Panics
    /// When the signal is not a number.
    pub fn set_bytes(&mut self, signal: Signal, bytes: &[u8]) {
        let kind = self.kinds[signal.0 as usize];
        let SignalKind::Bits(width) = kind else { panic!("`set_bytes` is for numbers, not {kind:?}") };
        if width <= 128 {
            let mut word = [0; 16];
            let length = bytes.len().min(16);
            word[..length].copy_from_slice(&bytes[..length]);
            return self.batch.number(signal.0, u128::from_le_bytes(word));
        }
        let whole = width.div_ceil(8) as usize;
        let mut value = bytes[..bytes.len().min(whole)].to_vec();
        value.resize(whole, 0);
        if width % 8 != 0 {
            value[whole - 1] &= (1 << (width % 8)) - 1;
        }
        self.batch.bytes(signal.0, &value);
    }

    /// Sets a text signal for this cycle. White space is written as `_`, an empty text as `-`.
    ///
    /// # Panics
    /// When the signal is not a text.
    pub fn set_text(&mut self, signal: Signal, text: &str) {
        let kind = self.kinds[signal.0 as usize];
        assert!(kind == SignalKind::Text, "`set_text` is for texts, not {kind:?}");
        self.batch.bytes(signal.0, text.as_bytes());
    }

    /// Sets the stem of all following texts of [`Self::set_numbered`].
    pub fn set_stem(&mut self, stem: &str) {
        self.batch.stem(stem.as_bytes());
    }

    /// Sets a text signal for this cycle to the last [stem](Self::set_stem), initially empty, followed by
    /// `number` in decimal. The writer thread formats the text.
    ///
    /// # Panics
    /// When the signal is not a text.
    pub fn set_numbered(&mut self, signal: Signal, number: u32) {
        let kind = self.kinds[signal.0 as usize];
        assert!(kind == SignalKind::Text, "`set_numbered` is for texts, not {kind:?}");
        self.batch.numbered(signal.0, number);
    }

    /// Triggers an event in this cycle.
    ///
    /// # Panics
    /// When the signal is not an event.
    pub fn emit(&mut self, signal: Signal) {
        let kind = self.kinds[signal.0 as usize];
        assert!(kind == SignalKind::Event, "`emit` is for events, not {kind:?}");
        self.batch.happens(signal.0);
    }

    /// Returns the input for [`Deferred::set`], which sets further signals at this point of the cycle. The
    /// input may have the content of an earlier cycle, so fill all of it.
    pub fn defer(&mut self) -> &mut T {
        self.batch.deferred()
    }

    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Skips to `cycle`, for a trace that starts late or has gaps. Values stay unchanged in a gap.
    ///
    /// # Panics
    /// When `cycle` is before [`Self::cycle`].
    pub fn skip_to(&mut self, cycle: u64) {
        assert!(cycle >= self.cycle, "cycle {cycle} is over: the trace is at {}", self.cycle);
        self.cycle = cycle;
    }

    /// Ends the cycle and writes its changes.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn tick(&mut self) -> Result<(), WaveError> {
        self.batch.tick(self.cycle);
        self.fresh = false;
        self.cycle += 1;
        if self.batch.is_full() { self.hand_over() } else { Ok(()) }
    }

    /// Writes everything so far to the file, which is then valid.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn flush(&mut self) -> Result<(), WaveError> {
        self.hand_over()?;
        self.writer.flush().map_err(|source| self.failed(source))
    }

    /// Ends the trace. Dropping the trace does the same, but cannot report an error.
    ///
    /// # Errors
    /// [`WaveError::WaveTrace`].
    pub fn finish(mut self) -> Result<(), WaveError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), WaveError> {
        if !self.fresh {
            self.batch.end(self.cycle * PERIOD);
            // Nothing follows, even if the trace is dropped after `finish`.
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
}

impl<T: Default> Drop for WaveTrace<T> {
    fn drop(&mut self) {
        // To get the error, call `finish`.
        let _ = self.end();
    }
}
