//! Runs a query over the cycles of a wave.

use std::ops::{ControlFlow, Range};

use super::WaveQuery;
use super::expression::QueryValue;
use crate::reader::{ClockLevel, digit};
use crate::{RawValue, Slot, WaveClock, WaveExtent, WaveReadError};

impl WaveQuery<'_> {
    /// Calls `visit` for each run of cycles in the window in which the expression holds, in order. `visit`
    /// may end the search. Each rising edge samples the values just before it, as flip-flops do. The sample
    /// belongs to the cycle just before the edge. Without a clock, times replace cycles.
    ///
    /// The function is not generic, so that it is compiled with the optimization level of this crate.
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
        // The sample of the last cycle is at an edge up to a cycle later.
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

struct Search<'q> {
    query: &'q WaveQuery<'q>,
    /// Slot of each signal in the query.
    slots: Vec<Slot>,
    clock: Option<ClockLevel>,
    period: u64,
    window: Range<u64>,
    visit: &'q mut dyn FnMut(Range<u64>) -> ControlFlow<()>,
    now: Vec<QueryValue>,
    before: Vec<QueryValue>,
    step: QueryStep,
    /// Time of the last change; only without a clock.
    since: Option<u64>,
    /// Cycles in which the expression holds, not reported yet.
    run: Option<Range<u64>>,
    enough: bool,
}

/// Changes at one time. If the clock rises, they belong to the cycle that starts.
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

    fn pass(&mut self) {
        self.before.clone_from(&self.now);
        for value in self.now.iter_mut().filter(|value| **value == QueryValue::Event) {
            *value = QueryValue::None;
        }
    }

    /// Evaluates times without further changes. Edges and events count only at the first one.
    fn judge_times(&mut self, times: Range<u64>) -> ControlFlow<()> {
        self.judge(times.start..times.start + 1)?;
        self.pass();
        self.judge(times.start + 1..times.end)
    }

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
            // The search ends here anyway, so ignore the result.
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
