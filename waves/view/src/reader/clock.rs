//! The clock of a wave, found by its name.

use std::ops::ControlFlow;

use super::{FileSignal, RawValue, Slot, WaveFile, WaveReadError};
use crate::ValueKind;

/// A clock signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveClock {
    /// Its number among the signals of the file.
    pub signal: usize,
    /// Time units between its first rising edges.
    pub period: u64,
}

/// Level of a clock while a file is read.
///
/// A clock rises where it becomes 1 from 0, `x` or `z`: the edges of IEEE 1800's `posedge` that end at 1. A clock does not
/// rise at the first time of its file: no values hold before. Comparison, search and period all use this rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockLevel {
    slot: Slot,
    high: bool,
    /// First time of the file.
    start: u64,
}

impl ClockLevel {
    /// Takes a change of a slot; true if the clock rises with it.
    #[inline]
    pub(crate) fn rises(&mut self, time: u64, slot: Slot, high: bool) -> bool {
        slot == self.slot && !std::mem::replace(&mut self.high, high) && high && time > self.start
    }
}

/// Rising edges looked at; where cycles are left out, some are further apart than a period.
const EDGES: usize = 16;

impl WaveFile {
    /// The clock: the outermost one-bit signal with a usual name of clocks that rises at least twice.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub fn clock(&self) -> Result<Option<WaveClock>, WaveReadError> {
        let named = |signal: &FileSignal| {
            let name = signal.name.to_ascii_lowercase();
            signal.kind == ValueKind::Bits(1)
                && ["clk", "clock"]
                    .iter()
                    .any(|word| name.split('_').any(|part| part.trim_end_matches(char::is_numeric) == *word))
        };
        let mut candidates: Vec<_> = (0..).zip(&self.signals).filter(|(_, signal)| named(signal)).collect();
        candidates.sort_by_key(|(_, signal)| signal.scopes.len());
        // One more often than a few is not a clock that anything runs on.
        for (number, _) in candidates.into_iter().take(4) {
            if let Some(period) = self.period(number)? {
                return Ok(Some(WaveClock { signal: number, period }));
            }
        }
        Ok(None)
    }

    /// Returns the level of a clock in front of all values.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub(crate) fn clock_level(&self, signal: usize) -> Result<ClockLevel, WaveReadError> {
        Ok(ClockLevel { slot: self.signals[signal].slot, high: false, start: self.first_time()? })
    }

    /// Time units between rising edges of a signal; `None` if it does not rise twice.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub fn period(&self, signal: usize) -> Result<Option<u64>, WaveReadError> {
        let mut which = self.no_slots();
        which.insert(self.signals[signal].slot);
        let (mut level, mut rises) = (self.clock_level(signal)?, Vec::new());
        self.changes(&which, u64::MAX, |time, slot, value| {
            if level.rises(time, slot, value == RawValue::Bits(b"1")) {
                rises.push(time);
            }
            if rises.len() < EDGES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(rises.windows(2).map(|pair| pair[1] - pair[0]).filter(|period| *period > 0).min())
    }
}

/// Returns the last cycle of a wave that ends at time `last`. At the end of a cycle, that cycle is the last.
pub fn last_cycle(last: u64, period: u64) -> u64 {
    last.div_ceil(period).max(1) - 1
}
