//! Reads a part of a wave file into memory.

use std::ops::{ControlFlow, Range};
use std::path::Path;

use super::{FileSignal, RawValue, WaveFile, WaveReadError, WaveReadFault};
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

/// Memory limit for the changes of an excerpt, in bytes.
pub const EXCERPT_LIMIT: u64 = 256 << 20;

/// Memory for a change without the characters of its value.
const CHANGE_BYTES: u64 = size_of::<(u64, WaveValue)>() as u64;

impl Excerpt {
    /// Reads a window of a file, in its time units, for the signals that `choose` selects, in order of
    /// declaration.
    ///
    /// # Errors
    /// [`WaveReadError`]; [`WaveReadFault::TooLarge`] above [`EXCERPT_LIMIT`].
    pub fn read(
        path: impl AsRef<Path>,
        window: Range<u64>,
        choose: impl Fn(&FileSignal) -> bool,
    ) -> Result<Excerpt, WaveReadError> {
        let file = WaveFile::open(path)?;
        let chosen: Vec<_> = (0..file.signals().len()).filter(|at| choose(&file.signals()[*at])).collect();
        file.excerpt(window, &chosen)
    }
}

impl WaveFile {
    /// Reads a window for the signals with these numbers, in this order. The end is limited to one unit after
    /// the last time of the file.
    ///
    /// # Errors
    /// [`WaveReadError`]; [`WaveReadFault::TooLarge`] above [`EXCERPT_LIMIT`].
    pub fn excerpt(&self, window: Range<u64>, signals: &[usize]) -> Result<Excerpt, WaveReadError> {
        self.excerpt_within(window, signals, EXCERPT_LIMIT)
    }

    fn excerpt_within(
        &self,
        window: Range<u64>,
        signals: &[usize],
        limit: u64,
    ) -> Result<Excerpt, WaveReadError> {
        let mut which = self.no_slots();
        // Several names of one signal share a slot, which fills all of them.
        let mut of_slot = vec![Vec::new(); self.slots()];
        let mut found: Vec<ExcerptSignal> = Vec::with_capacity(signals.len());
        for number in signals {
            let signal = &self.signals[*number];
            let FileSignal { scopes, kind, slot, .. } = signal;
            which.insert(*slot);
            of_slot[slot.index()].push(found.len());
            let scopes = scopes.to_vec();
            found.push(ExcerptSignal { scopes, name: signal.label(), kind: *kind, changes: Vec::new() });
        }
        let (mut changes, mut bytes) = (0_u64, 0_u64);
        let extent = self.changes(&which, window.end, |time, slot, value| {
            for at in &of_slot[slot.index()] {
                let signal = &mut found[*at];
                // Keep only the last value before the window, and the last one of several at one time.
                let last = signal.changes.last().map(|(last, _)| *last);
                let again = last.is_some_and(|last| last == time || time < window.start);
                if time < window.start && value == RawValue::Event {
                    continue;
                }
                if !again {
                    changes += 1;
                    let filled = if let ValueKind::Bits(width) = signal.kind { width as usize } else { 0 };
                    bytes += CHANGE_BYTES + value.length().max(filled) as u64;
                }
                if bytes > limit {
                    continue; // only count from here on
                }
                let value = (time.max(window.start), value.to_value(signal.kind));
                match signal.changes.last_mut().filter(|_| again) {
                    Some(last) => *last = value,
                    None => signal.changes.push(value),
                }
            }
            ControlFlow::Continue(())
        })?;
        if bytes > limit {
            let fault = WaveReadFault::TooLarge { signals: signals.len(), changes, bytes, limit };
            return Err(fault.in_file(self.path()));
        }
        let mut notes = *self.notes();
        notes.extend(&extent.notes);
        let period = self.clock()?.map(|clock| clock.period);
        let end = match extent.times {
            Some((_, last)) if extent.whole => window.end.min(last.saturating_add(1)),
            Some(_) => window.end,
            None => window.start,
        };
        Ok(Excerpt {
            window: window.start..end.max(window.start),
            unit: self.unit.map_or_else(|| "1 unit".to_owned(), |unit| unit.to_string()),
            period,
            signals: found,
            joined_words: self.joins_words(),
            notes,
        })
    }
}
