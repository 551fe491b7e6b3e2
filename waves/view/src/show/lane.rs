//! Splits a signal into columns of time.

use std::ops::Range;

use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

/// Consecutive columns with one value.
pub(super) struct Segment<'a> {
    pub(super) columns: Range<usize>,
    /// Value at the end of each column; `None` before the first value.
    pub(super) value: Option<&'a WaveValue>,
    /// True if the signal changes more than once within the first column.
    pub(super) hidden: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) from: u64,
    pub(super) count: usize,
    /// Columns per step, and time units of a step. A step is a cycle if there is a clock.
    pub(super) per_step: u64,
    pub(super) step: u64,
}

impl Columns {
    pub(super) fn start(&self, column: usize) -> u64 {
        let time = u128::from(self.step) * column as u128 / u128::from(self.per_step.max(1));
        self.from.saturating_add(u64::try_from(time).unwrap_or(u64::MAX))
    }

    pub(super) fn segments<'a>(&self, signal: &'a ExcerptSignal) -> Vec<Segment<'a>> {
        let mut segments: Vec<Segment<'a>> = Vec::new();
        for column in 0..self.count {
            let (start, end) = (self.start(column), self.start(column + 1));
            if signal.kind == ValueKind::Event {
                let happens = signal.changes.partition_point(|(time, _)| *time < start);
                let value =
                    signal.changes.get(happens).filter(|(time, _)| *time < end).map(|(_, value)| value);
                segments.push(Segment { columns: column..column + 1, value, hidden: false });
                continue;
            }
            // If columns are finer than time units, several columns start at the same time.
            let value = signal.at(end.max(start + 1) - 1);
            let until = |end: u64| signal.changes.partition_point(|(time, _)| *time < end);
            let changes = until(end).saturating_sub(until(start + 1));
            match segments.last_mut() {
                Some(last) if last.value == value && changes < 2 => last.columns.end = column + 1,
                _ => segments.push(Segment { columns: column..column + 1, value, hidden: changes > 1 }),
            }
        }
        segments
    }
}

impl Excerpt {
    /// Returns the time units of a ruler step: a cycle, or the shortest time between changes.
    pub(super) fn step(&self) -> u64 {
        if let Some(period) = self.period {
            return period.max(1);
        }
        let between =
            |signal: &ExcerptSignal| signal.changes.windows(2).map(|pair| pair[1].0 - pair[0].0).min();
        let shortest = self.signals.iter().filter_map(between).filter(|time| *time > 0).min();
        let span = self.window.end.saturating_sub(self.window.start).max(1);
        // Limit the window to 1000 steps.
        shortest.unwrap_or(span).max(span / 1000).max(1)
    }
}
