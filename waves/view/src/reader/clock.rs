//! Finds the clock of a wave by name.

use std::ops::ControlFlow;

use super::{FileSignal, RawValue, Slot, WaveFile, WaveReadError};
use crate::ValueKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveClock {
    pub signal: usize,
    /// Time units between the first rising edges.
    pub period: u64,
}

/// Level of a clock during reading.
///
/// A clock rises when it changes to 1 from 0, `x` or `z`: the edges of IEEE 1800's `posedge` that end at 1.
/// The first time of a file is not an edge, since there is no earlier value. Comparison, search and period
/// all use this rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockLevel {
    slot: Slot,
    high: bool,
    start: u64,
}

impl ClockLevel {
    #[inline]
    pub(crate) fn rises(&mut self, time: u64, slot: Slot, high: bool) -> bool {
        slot == self.slot && !std::mem::replace(&mut self.high, high) && high && time > self.start
    }
}

/// Number of rising edges to examine. Gated clocks have some edges more than a period apart.
const EDGES: usize = 16;

impl WaveFile {
    /// Finds the clock: the outermost one-bit signal with a usual clock name that rises at least twice.
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
        // Examine at most four candidates, since each one means reading the file.
        for (number, _) in candidates.into_iter().take(4) {
            if let Some(period) = self.period(number)? {
                return Ok(Some(WaveClock { signal: number, period }));
            }
        }
        Ok(None)
    }

    /// Returns the level of a clock before the first value.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub(crate) fn clock_level(&self, signal: usize) -> Result<ClockLevel, WaveReadError> {
        Ok(ClockLevel { slot: self.signals[signal].slot, high: false, start: self.first_time()? })
    }

    /// Returns the time units between rising edges of a signal; `None` if it does not rise twice.
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

/// Returns the last cycle of a wave that ends at time `last`. At a cycle boundary, this is the cycle that
/// ends.
pub fn last_cycle(last: u64, period: u64) -> u64 {
    last.div_ceil(period).max(1) - 1
}
