//! A wave gone through, cycle by cycle.

use std::ops::{ControlFlow, Range};

use super::WaveQuery;
use super::expression::QueryValue;
use crate::reader::{ClockLevel, digit};
use crate::{RawValue, Slot, WaveClock, WaveExtent, WaveReadError};

impl WaveQuery<'_> {
    /// Calls `visit` for each run of cycles of the window in which the expression holds, in order; it may end the
    /// search. Each rising edge is one sample of the values in front of it, which flip-flops see. The sample belongs to the
    /// cycle of the time just before the edge.
    ///
    /// Without a clock, times take the place of cycles.
    ///
    /// Not generic, so that it is compiled with the optimization of this crate.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub fn cycles(
        &self,
        clock: Option<&WaveClock>,
        window: Range<u64>,
        visit: &mut dyn FnMut(Range<u64>) -> ControlFlow<()>,
    ) -> Result<WaveExtent, WaveReadError> {
        let period = clock.map_or(1, |clock| clock.period);
        let of_clock = clock.map(|clock| self.file.signals()[clock.signal].slot);
        let clock = clock.map(|clock| self.file.clock_level(clock.signal)).transpose()?;
        let slots: Vec<Slot> =
            self.signals.iter().map(|signal| self.file.signals()[signal.number].slot).collect();
        let mut which = self.file.no_slots();
        slots.iter().chain(&of_clock).for_each(|slot| which.insert(*slot));
        // The last cycle has its sample at an edge up to a cycle later.
        let until = window.end.saturating_add(1).saturating_mul(period);
        let mut search = Search {
            query: self,
            now: vec![QueryValue::None; slots.len()],
            before: vec![QueryValue::None; slots.len()],
            step: QueryStep { at: None, rises: false, changes: Vec::new() },
            since: None,
            run: None,
            enough: false,
            slots,
            clock,
            period,
            window,
            visit,
        };
        let extent =
            self.file.changes(&which, until, |time, slot, value| search.change(time, slot, value))?;
        search.end(&extent);
        Ok(extent)
    }
}

/// A search while it goes on.
struct Search<'q> {
    query: &'q WaveQuery<'q>,
    /// Of each signal of the query.
    slots: Vec<Slot>,
    clock: Option<ClockLevel>,
    period: u64,
    window: Range<u64>,
    visit: &'q mut dyn FnMut(Range<u64>) -> ControlFlow<()>,
    now: Vec<QueryValue>,
    /// The values of the cycle before.
    before: Vec<QueryValue>,
    step: QueryStep,
    /// Time of the last change; without a clock only.
    since: Option<u64>,
    /// Cycles in which the expression holds, not shown yet.
    run: Option<Range<u64>>,
    /// `visit` has enough.
    enough: bool,
}

/// Changes of one point in time: if the clock rises in it, they belong to the cycle that begins.
struct QueryStep {
    at: Option<u64>,
    rises: bool,
    changes: Vec<(usize, QueryValue)>,
}

impl Search<'_> {
    fn change(&mut self, time: u64, slot: Slot, value: RawValue<'_>) -> ControlFlow<()> {
        if let Some(at) = self.step.at.replace(time)
            && at != time
        {
            self.take_step(at)?;
        }
        if let Some(clock) = &mut self.clock {
            self.step.rises |= clock.rises(time, slot, value == RawValue::Bits(b"1"));
        }
        for (signal, _) in self.slots.iter().enumerate().filter(|(_, of)| **of == slot) {
            self.step.changes.push((signal, QueryValue::of(value, self.query.signals[signal].bit)));
        }
        ControlFlow::Continue(())
    }

    /// A point in time is complete.
    fn take_step(&mut self, at: u64) -> ControlFlow<()> {
        let rises = std::mem::replace(&mut self.step.rises, false);
        if rises || self.clock.is_none() {
            if rises {
                let cycle = (at - 1) / self.period;
                self.judge(cycle..cycle + 1)?;
                self.pass();
            } else if let Some(since) = self.since.replace(at) {
                self.judge_times(since..at)?;
            }
        }
        for (signal, value) in self.step.changes.drain(..) {
            self.now[signal] = value;
        }
        ControlFlow::Continue(())
    }

    /// Makes the values those before.
    fn pass(&mut self) {
        self.before.clone_from(&self.now);
        for value in self.now.iter_mut().filter(|value| **value == QueryValue::Event) {
            *value = QueryValue::None;
        }
    }

    /// The values of these times are complete. Edges and events are at the first one only.
    fn judge_times(&mut self, times: Range<u64>) -> ControlFlow<()> {
        self.judge(times.start..times.start + 1)?;
        self.pass();
        self.judge(times.start + 1..times.end)
    }

    /// The values of these cycles are complete.
    fn judge(&mut self, cycles: Range<u64>) -> ControlFlow<()> {
        let cycles = cycles.start.max(self.window.start)..cycles.end.min(self.window.end);
        if cycles.is_empty() || !self.query.expression.holds(&self.now, &self.before) {
            return ControlFlow::Continue(());
        }
        match &mut self.run {
            Some(run) if run.end == cycles.start => run.end = cycles.end,
            run => {
                if let Some(run) = run.replace(cycles) {
                    let more = (self.visit)(run);
                    self.enough = more.is_break();
                    return more;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The file has ended, or the window. What is left is shown.
    fn end(&mut self, extent: &WaveExtent) {
        if let Some(at) = self.step.at.take().filter(|_| !self.enough)
            && self.take_step(at).is_break()
        {
            return;
        }
        if let (Some(since), Some((_, last))) = (self.since, extent.times)
            && (self.enough || self.judge_times(since..last.saturating_add(1)).is_break())
        {
            return;
        }
        self.show_run();
    }

    fn show_run(&mut self) {
        if let Some(run) = self.run.take().filter(|_| !self.enough) {
            // Nothing comes behind it.
            let _ = (self.visit)(run);
        }
    }
}

impl QueryValue {
    fn of(value: RawValue<'_>, bit: Option<u32>) -> Self {
        match value {
            RawValue::Bits(digits) => bit
                .map_or_else(|| QueryValue::digits(digits), |bit| QueryValue::digits(&[digit(digits, bit)])),
            RawValue::Text(text) => QueryValue::Text(text.to_vec()),
            RawValue::Real(number) => QueryValue::Real(number),
            RawValue::Event => QueryValue::Event,
        }
    }
}
