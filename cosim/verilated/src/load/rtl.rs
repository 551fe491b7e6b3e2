//! Drives a Verilated model.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use atoms_model::port::{In, Out, Probe};

use crate::abi::{DIFFERS, OK, RawPoint, STOPPED};
use crate::load::signals::Signals;
use crate::{Coverage, DesignSignal, Library, Point, RtlError, RtlStop, SignalChange, Snapshot};

/// One instance of the RTL, with its own simulation context.
///
/// A process or a thread may have any number of instances, and drop them in any order.
#[derive(Debug)]
pub struct Rtl {
    library: Library,
    handle: NonNull<c_void>,
    signals: Option<Signals>,
}

// SAFETY: a handle owns all its state. The two thread-local pointers that the shim and the Verilator runtime
// use (`current`, `threadContextp`) are set again on every entry that evaluates the model, so it may be
// called from another thread than last time. It is not `Sync`: entries change the handle without a lock.
unsafe impl Send for Rtl {}

impl Rtl {
    pub(crate) fn new(library: Library) -> Result<Self, RtlError> {
        // SAFETY: takes no arguments; catches every exception.
        let handle = unsafe { (library.api().create)() };
        let handle = NonNull::new(handle)
            .ok_or_else(|| RtlError::Failed("the model cannot be constructed".to_owned()))?;
        Ok(Self { library, handle, signals: None })
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Runs one clock: drives `input`, samples `out` and `probe`, then raises the clock.
    ///
    /// The per-lane operands of the warp request are read only while `req_valid` is 1. Bits of a field above
    /// the width of its port are ignored. Lanes and banks that the configuration does not have read as 0.
    ///
    /// # Errors
    /// [`RtlError::Stopped`] if an assertion fails. If it fails at the clock edge, `out` and `probe` are
    /// those of this cycle. The same error is returned until [`Self::restore`].
    pub fn cycle(&mut self, input: &In, out: &mut Out, probe: &mut Probe) -> Result<(), RtlError> {
        // SAFETY: the handle is live; the structs have the layout of the C++ ones (asserted there
        // with the numbers of this crate), and the call neither keeps nor overruns them.
        let status = unsafe { (self.library.api().cycle)(self.handle.as_ptr(), input, out, probe) };
        if status == OK { Ok(()) } else { Err(self.error(status)) }
    }

    /// Runs one clock of a design that should drive `out` and show `probe`. If the design differs, returns
    /// the values found and does not raise the clock.
    ///
    /// # Errors
    /// Same as [`Self::cycle`]. Assertions are reported only for cycles with the expected values.
    pub fn cycle_expecting(
        &mut self,
        input: &In,
        out: &Out,
        probe: &Probe,
    ) -> Result<Option<Box<(Out, Probe)>>, RtlError> {
        let mut found = MaybeUninit::<(Out, Probe)>::uninit();
        let to = found.as_mut_ptr();
        // SAFETY: as in `cycle`; `to` points to a local, of which no reference is made.
        let status = unsafe {
            let (to_out, to_probe) = (&raw mut (*to).0, &raw mut (*to).1);
            (self.library.api().cycle_expecting)(self.handle.as_ptr(), input, out, probe, to_out, to_probe)
        };
        match status {
            OK => Ok(None),
            // SAFETY: with this status the shim has filled in both structs.
            DIFFERS => Ok(Some(Box::new(unsafe { found.assume_init() }))),
            _ => Err(self.error(status)),
        }
    }

    /// Returns every signal of the design. From now on, [`Self::cycle_inside`] reports their changes.
    ///
    /// # Errors
    /// [`RtlError::NoWaves`] without [`Variant::Wave`](crate::Variant::Wave).
    pub fn signals(&mut self) -> Result<&[DesignSignal], RtlError> {
        if self.signals.is_none() {
            // SAFETY: the handle is a live model of the library.
            self.signals = Some(unsafe { Signals::open(&self.library, self.handle)? });
        }
        Ok(self.signals.as_ref().map_or(&[], Signals::list))
    }

    /// Runs one clock like [`Self::cycle`]. [`Self::changes`] then returns the signals that changed since the
    /// previous call, with their values before the clock edge. The first call reports all signals, and so
    /// does the first call after [`Self::restore`] or [`Self::forget_signals`].
    ///
    /// # Errors
    /// Errors of [`Self::cycle`] and [`Self::signals`].
    pub fn cycle_inside(&mut self, input: &In, out: &mut Out, probe: &mut Probe) -> Result<(), RtlError> {
        self.signals()?;
        let Some(signals) = &mut self.signals else { return Err(RtlError::NoWaves) };
        // SAFETY: the handle is a live model of the library, and the signals were opened with it.
        let status = unsafe { signals.cycle(&self.library, self.handle, (input, out, probe))? };
        if status == OK { Ok(()) } else { Err(self.error(status)) }
    }

    pub fn changes(&self) -> Vec<SignalChange> {
        self.signals.as_ref().map_or(Vec::new(), Signals::changes)
    }

    /// Returns the changes as bytes, for [`read_changes`](crate::read_changes) anywhere and later.
    pub fn changes_bytes(&self) -> &[u8] {
        self.signals.as_ref().map_or(&[], Signals::changed)
    }

    /// Makes the next [`Self::cycle_inside`] report all signals.
    pub fn forget_signals(&mut self) {
        if let Some(signals) = self.signals.take() {
            // SAFETY: the handle is a live model of the library, and the signals were opened with it.
            unsafe { signals.close(&self.library, self.handle) };
        }
    }

    /// Runs one clock in reset, with all other inputs 0. Memory keeps its content.
    ///
    /// # Errors
    /// Same as [`Self::cycle`].
    pub fn reset(&mut self) -> Result<(), RtlError> {
        self.cycle(&In::default(), &mut Out::default(), &mut Probe::default())
    }

    /// Returns the clocks since creation, with resets. [`Self::restore`] sets the number of the snapshot.
    pub fn cycles(&self) -> u64 {
        // SAFETY: the handle is live.
        unsafe { (self.library.api().cycles)(self.handle.as_ptr()) }
    }

    /// Saves registers, memory and cycle number. Takes well under a millisecond.
    ///
    /// # Errors
    /// The error of the cycle that stopped the model. [`RtlError::NoSnapshots`] unless
    /// [`Variant::has_snapshots`](crate::Variant::has_snapshots).
    pub fn save(&mut self) -> Result<Snapshot, RtlError> {
        let save = self.library.api().save.ok_or(RtlError::NoSnapshots)?;
        let (mut bytes, mut length) = (ptr::null(), 0);
        // SAFETY: the handle is live, both pointers are to locals.
        let status = unsafe { save(self.handle.as_ptr(), &mut bytes, &mut length) };
        if status != OK {
            return Err(self.error(status));
        }
        // SAFETY: on success the shim gives `length` bytes that stay until its next call.
        let state = unsafe { std::slice::from_raw_parts(bytes, length) }.to_vec();
        Ok(Snapshot::new(&self.library, self.cycles(), state))
    }

    /// Restores `snapshot`, of any model of the same library. A model stopped by an assertion runs again.
    ///
    /// # Errors
    /// [`RtlError::Snapshot`] if the snapshot is of another library, [`RtlError::NoSnapshots`] as for
    /// [`Self::save`].
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RtlError> {
        let restore = self.library.api().restore.ok_or(RtlError::NoSnapshots)?;
        let state = snapshot.state_for(&self.library)?;
        // The recorded signal values belong to another state.
        self.forget_signals();
        // SAFETY: the handle is live; the shim reads `len` bytes and does not keep the pointer. The
        // bytes are what `atoms_save` of this very library wrote (`Snapshot` checks that).
        let status = unsafe { restore(self.handle.as_ptr(), state.as_ptr(), state.len(), snapshot.cycle()) };
        if status == OK { Ok(()) } else { Err(self.error(status)) }
    }

    /// Starts over like [`Library::instantiate`], also after a stop. Coverage counts continue.
    ///
    /// # Errors
    /// Same as [`Library::instantiate`].
    pub fn renew(&mut self) -> Result<(), RtlError> {
        let mut fresh = self.library.instantiate()?;
        if self.library.variant().has_coverage() {
            fresh.set_counts(&self.counts()?)?;
        }
        *self = fresh;
        Ok(())
    }

    /// Returns the coverage since creation or [`Self::zero_coverage`], with reset cycles. Takes microseconds.
    ///
    /// # Errors
    /// [`RtlError::NoCoverage`] unless [`Variant::has_coverage`](crate::Variant::has_coverage).
    pub fn coverage(&self) -> Result<Coverage, RtlError> {
        let counts = self.counts()?;
        let points = match self.library.points().get() {
            Some(points) => points.clone(),
            None => {
                let points = self.points(counts.len())?;
                self.library.points().get_or_init(|| points).clone()
            }
        };
        Ok(Coverage { points, counts })
    }

    /// Sets all coverage counts to 0. Verilator 5.006 counts combinational processes only in the first
    /// evaluation of a model. Call [`Self::renew`] next to count them again.
    ///
    /// # Errors
    /// Same as [`Self::coverage`].
    pub fn zero_coverage(&mut self) -> Result<(), RtlError> {
        let zeros = vec![0; self.counts()?.len()];
        self.set_counts(&zeros)
    }

    fn number_of_points(&self) -> Result<usize, RtlError> {
        let points = self.library.api().points.ok_or(RtlError::NoCoverage)?;
        // SAFETY: the handle is live.
        Ok(unsafe { points(self.handle.as_ptr()) })
    }

    fn counts(&self) -> Result<Vec<u64>, RtlError> {
        let read = self.library.api().counts.ok_or(RtlError::NoCoverage)?;
        let mut counts = vec![0; self.number_of_points()?];
        // SAFETY: the handle is live; the shim writes as many counts as it has points.
        unsafe { read(self.handle.as_ptr(), counts.as_mut_ptr()) };
        Ok(counts)
    }

    fn set_counts(&mut self, counts: &[u64]) -> Result<(), RtlError> {
        let write = self.library.api().set_counts.ok_or(RtlError::NoCoverage)?;
        assert_eq!(self.number_of_points()?, counts.len(), "counts are of a model of the same library");
        // SAFETY: the handle is live; the shim reads as many counts as it has points.
        unsafe { write(self.handle.as_ptr(), counts.as_ptr()) };
        Ok(())
    }

    fn points(&self, number: usize) -> Result<Arc<[Point]>, RtlError> {
        let describe = self.library.api().point.ok_or(RtlError::NoCoverage)?;
        let point = |index| {
            let mut raw = MaybeUninit::<RawPoint>::uninit();
            // SAFETY: the handle is live, `index` is below the number of its points, and the shim
            // fills in the whole struct.
            let raw = unsafe {
                describe(self.handle.as_ptr(), index, raw.as_mut_ptr());
                raw.assume_init()
            };
            // SAFETY: the shim's texts are terminated and stay as long as the handle does.
            let [file, hierarchy, page, comment, lines] =
                unsafe { [raw.file, raw.hierarchy, raw.page, raw.comment, raw.lines].map(|from| text(from)) };
            Point::new(&file, raw.line, raw.column, &hierarchy, &page, comment, &lines)
        };
        Ok((0..number).map(point).collect())
    }

    /// Reads the word at `row` of `bank`.
    ///
    /// # Errors
    /// [`RtlError::NoWord`].
    pub fn read_word(&self, bank: usize, row: usize) -> Result<u32, RtlError> {
        let word = self.word(bank, row)?;
        // SAFETY: `word` points to a word of a live model, which nothing else is touching.
        Ok(unsafe { word.read() })
    }

    /// Writes the word at `row` of `bank`, with effect from the next clock edge on.
    ///
    /// # Errors
    /// [`RtlError::NoWord`].
    pub fn write_word(&mut self, bank: usize, row: usize, value: u32) -> Result<(), RtlError> {
        let word = self.word(bank, row)?;
        // SAFETY: as in `read_word`, and `self` is borrowed mutably.
        unsafe { word.write(value) };
        Ok(())
    }

    /// Returns the whole memory. The index of a word is `row * banks + bank`.
    pub fn read_memory(&self) -> Vec<u32> {
        let mut words = vec![0; self.library.words()];
        // SAFETY: the handle is live; the shim writes exactly as many words as the library has.
        unsafe { (self.library.api().read_memory)(self.handle.as_ptr(), words.as_mut_ptr()) };
        words
    }

    /// Writes the whole memory, in the order of [`Self::read_memory`].
    ///
    /// # Errors
    /// [`RtlError::MemoryLength`] unless `words` has [`Library::words`] elements.
    pub fn write_memory(&mut self, words: &[u32]) -> Result<(), RtlError> {
        let (expected, found) = (self.library.words(), words.len());
        if found != expected {
            return Err(RtlError::MemoryLength { expected, found });
        }
        // SAFETY: the handle is live; the shim reads exactly as many words as were just checked.
        unsafe { (self.library.api().write_memory)(self.handle.as_ptr(), words.as_ptr()) };
        Ok(())
    }

    pub fn clear_memory(&mut self) {
        // SAFETY: the handle is live.
        unsafe { (self.library.api().clear_memory)(self.handle.as_ptr()) };
    }

    /// Returns the text that the design printed since the last call. Only the newest text is kept.
    pub fn take_log(&mut self) -> String {
        // SAFETY: the handle is live; the text is copied before the next entry changes it.
        let log = unsafe { text((self.library.api().log)(self.handle.as_ptr())) };
        // SAFETY: the handle is live.
        unsafe { (self.library.api().clear_log)(self.handle.as_ptr()) };
        log
    }

    /// Writes every signal to a VCD file from now on. Cycle `n` is at time `2n`, its clock edge at `2n + 1`.
    ///
    /// # Errors
    /// [`RtlError::NoWaves`] without [`Variant::Wave`](crate::Variant::Wave), [`RtlError::Trace`] if the file
    /// cannot be opened.
    pub fn open_trace(&mut self, path: &Path) -> Result<(), RtlError> {
        let open = self.library.api().open_trace.ok_or(RtlError::NoWaves)?;
        let failed = || RtlError::Trace(path.to_path_buf());
        let name = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| failed())?;
        self.close_trace()?;
        // SAFETY: the handle is live; the shim copies the name.
        match unsafe { open(self.handle.as_ptr(), name.as_ptr()) } {
            OK => Ok(()),
            status if status < 0 => Err(failed()),
            status => Err(self.error(status)),
        }
    }

    /// Closes the trace. Does nothing without an open trace.
    ///
    /// # Errors
    /// [`RtlError::Failed`] if the rest cannot be written.
    pub fn close_trace(&mut self) -> Result<(), RtlError> {
        let Some(close) = self.library.api().close_trace else { return Ok(()) };
        // SAFETY: the handle is live.
        match unsafe { close(self.handle.as_ptr()) } {
            OK | STOPPED => Ok(()),
            status => Err(self.error(status)),
        }
    }

    fn word(&self, bank: usize, row: usize) -> Result<*mut u32, RtlError> {
        let (banks, rows) = (self.library.banks(), self.library.rows());
        if bank >= banks || row >= rows {
            return Err(RtlError::NoWord { bank, row, banks, rows });
        }
        // SAFETY: the handle is live and `bank` one of its banks; each has `rows` words, so the
        // offset stays inside.
        Ok(unsafe { (self.library.api().bank)(self.handle.as_ptr(), bank as u32).add(row) })
    }

    fn error(&self, status: i32) -> RtlError {
        let (mut cycle, mut line, mut message) = (0, 0, ptr::null());
        // SAFETY: the handle is live, the pointers are to locals; the texts are copied before the
        // next entry changes them.
        let (file, message) = unsafe {
            let file = (self.library.api().stop)(self.handle.as_ptr(), &mut cycle, &mut line, &mut message);
            (text(file), text(message))
        };
        let line = u32::try_from(line).unwrap_or(0);
        if status != STOPPED {
            let message = printable(&message);
            return RtlError::Failed(if file.is_empty() {
                message
            } else {
                format!("{file}:{line}: {message}")
            });
        }
        let message = printable(&without_place(&message, &file, line));
        RtlError::Stopped(RtlStop { cycle, line, message, file })
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        self.forget_signals();
        // SAFETY: the handle is live and not used again.
        unsafe { (self.library.api().destroy)(self.handle.as_ptr()) };
    }
}

/// Copies a C string of the shim.
///
/// # Safety
/// `from` points to a terminated string.
unsafe fn text(from: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

const MOST_PRINTED: usize = 1000;

/// Escapes control characters and shortens the message: a design may print anything.
fn printable(message: &str) -> String {
    let mut printable = String::new();
    for character in message.chars().take(MOST_PRINTED) {
        match character {
            control if control.is_control() && control != '\n' => printable.extend(control.escape_unicode()),
            other => printable.push(other),
        }
    }
    if message.chars().nth(MOST_PRINTED).is_some() {
        printable += "...";
    }
    printable
}

/// Removes Verilator's prefix from `message`: `[7] %Error: a.sv:3: `, where the file has no folder.
fn without_place(message: &str, file: &str, line: u32) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let place = format!("{name}:{line}: ");
    let said = message.find(&place).map_or(message, |at| &message[at + place.len()..]);
    if said.is_empty() { "$stop".to_owned() } else { said.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_loses_its_place() {
        let printed = "[7] %Error: a.sv:3: Assertion failed in TOP.a.X: why";
        assert_eq!(without_place(printed, "rtl/a.sv", 3), "Assertion failed in TOP.a.X: why");
        assert_eq!(without_place("plain", "rtl/a.sv", 3), "plain");
        assert_eq!(without_place("", "rtl/a.sv", 3), "$stop");
    }

    #[test]
    fn a_message_is_short_and_has_no_control_characters() {
        assert_eq!(printable("a\u{1b}[31m\nb\u{7}\u{9b}"), "a\\u{1b}[31m\nb\\u{7}\\u{9b}");
        assert_eq!(printable(&"x".repeat(MOST_PRINTED)), "x".repeat(MOST_PRINTED));
        assert_eq!(printable(&"\u{e9}".repeat(1 << 16)), "\u{e9}".repeat(MOST_PRINTED) + "...");
    }
}
