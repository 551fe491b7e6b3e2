//! A signal cut into columns of time.

use std::ops::Range;

use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue};

/// What a signal does over some columns with one value.
pub(super) struct Segment<'a> {
    /// Its columns.
    pub(super) columns: Range<usize>,
    /// The value at the end of each of them; `None` before the first one.
    pub(super) value: Option<&'a WaveValue>,
    /// It changed more than once within its first column.
    pub(super) hidden: bool,
}

/// Time in columns.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) from: u64,
    pub(super) count: usize,
    /// Columns of a cycle, or of `step` time units.
    pub(super) per_step: u64,
    pub(super) step: u64,
}

impl Columns {
    /// Where a column begins.
    pub(super) fn start(&self, column: usize) -> u64 {
        let time = u128::from(self.step) * column as u128 / u128::from(self.per_step.max(1));
        self.from.saturating_add(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// The signal cut into columns.
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
            // Several columns may begin at one point in time, if they are finer than time is.
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
    /// Time units of a step of the ruler: a cycle, or the shortest time between changes.
    pub(super) fn step(&self) -> u64 {
        if let Some(period) = self.period {
            return period.max(1);
        }
        let between =
            |signal: &ExcerptSignal| signal.changes.windows(2).map(|pair| pair[1].0 - pair[0].0).min();
        let shortest = self.signals.iter().filter_map(between).filter(|time| *time > 0).min();
        let span = self.window.end.saturating_sub(self.window.start).max(1);
        // Not so fine that the window is more than some screens.
        shortest.unwrap_or(span).max(span / 1000).max(1)
    }
}
