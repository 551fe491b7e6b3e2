//! Two series of changes, merged in order of time and compared.

use std::ops::Range;

use super::batch::{Change, Form, Steps, pipe};
use super::cause::Causes;
use super::pairs::Pairing;
use super::{DiffError, DiffOptions, DiffSides, Divergence, WaveDiff};
use crate::{RawValue, Slot, TimeUnit, ValueKind, WaveExtent, WaveFile, WaveValue};

/// How times of a file become common ones: multiplied, then shifted.
#[derive(Clone, Copy, Debug)]
struct Scale {
    factor: u64,
    offset: u64,
}

impl Scale {
    fn common(self, time: u64) -> u64 {
        time.saturating_mul(self.factor).saturating_add(self.offset)
    }
}

pub(super) fn compare(
    sides: DiffSides<'_>,
    pairing: &Pairing,
    options: &DiffOptions,
) -> Result<WaveDiff, DiffError> {
    let (left, right) = match sides {
        DiffSides::Files(left, right) => (left, right),
        DiffSides::Scopes(file, _) => (file, file),
    };
    let (unit, scales) = scales(left, right, options.shift)?;
    let clock = pairing.clock.map(|clock| left.signals()[clock].slot);
    let period = match pairing.clock {
        Some(clock) => left.period(clock)?,
        None => left.clock()?.map(|clock| clock.period),
    };
    let window =
        options.window.clone().map(|window| scales[0].common(window.start)..scales[0].common(window.end));
    let mut merge = Merge::new([left, right], pairing, window);
    let until = |side: usize| match &merge.window {
        Some(window) => window.end.saturating_sub(scales[side].offset).div_ceil(scales[side].factor),
        None => u64::MAX,
    };
    let untils = [until(0), until(1)];
    let which = |side: usize, file: &WaveFile| {
        let mut which = file.no_slots();
        pairing.pairs.iter().for_each(|pair| which.insert(pair.slots[side]));
        clock.filter(|_| side == 0).into_iter().for_each(|clock| which.insert(clock));
        which
    };
    let mut extents = [WaveExtent::default(); 2];
    std::thread::scope(|scope| match sides {
        DiffSides::Files(..) => {
            let (left_feed, left_steps) = pipe();
            let (right_feed, right_steps) = pipe();
            let (of_left, of_right) = (which(0, left), which(1, right));
            scope.spawn(move || left_feed.read(left, &of_left, untils[0], clock));
            scope.spawn(move || right_feed.read(right, &of_right, untils[1], None));
            extents = merge.two([left_steps, right_steps], scales, clock.is_some())?;
            Ok::<_, DiffError>(())
        }
        DiffSides::Scopes(file, _) => {
            let (feed, steps) = pipe();
            let mut both = which(0, file);
            pairing.pairs.iter().for_each(|pair| both.insert(pair.slots[1]));
            scope.spawn(move || feed.read(file, &both, untils[0], clock));
            extents = merge.one(steps, clock.is_some())?;
            Ok(())
        }
    })?;
    merge.finish(extents, scales, unit, period.map(|period| period * scales[0].factor), pairing)
}

/// The common unit, and how each side's times become it.
fn scales(
    left: &WaveFile,
    right: &WaveFile,
    shift: i64,
) -> Result<(Option<TimeUnit>, [Scale; 2]), DiffError> {
    let (factors, unit) = match (left.unit(), right.unit()) {
        (Some(one), Some(other)) => {
            let finer = one.min(other);
            let factor = |unit: TimeUnit| {
                10_u64.checked_pow((i32::from(unit.exponent) - i32::from(finer.exponent)) as u32)
            };
            match (factor(one), factor(other)) {
                (Some(left), Some(right)) => ([left, right], Some(finer)),
                _ => return Err(DiffError::Units(one.to_string(), other.to_string())),
            }
        }
        (one, other) => ([1, 1], one.or(other)),
    };
    let shift = i128::from(shift) * i128::from(factors[0]);
    let offset = |ahead: i128| u64::try_from(ahead.max(0)).unwrap_or(u64::MAX);
    // A side is shifted to later times only, so that none falls below 0.
    let [left, right] = [offset(-shift), offset(shift)];
    let scales = [Scale { factor: factors[0], offset: left }, Scale { factor: factors[1], offset: right }];
    Ok((unit, scales))
}

/// A value, or that there is none yet.
#[derive(Clone, Debug, Default)]
struct Held {
    form: Option<Form>,
    bytes: Vec<u8>,
}

impl Held {
    /// What a signal has before its first value: unknown bits, as simulators say it of their own accord or not.
    fn initial(kind: ValueKind) -> Self {
        match kind {
            ValueKind::Bits(_) => Held { form: Some(Form::Bits), bytes: b"x".to_vec() },
            ValueKind::Text | ValueKind::Real | ValueKind::Event => Held::default(),
        }
    }

    fn set(&mut self, change: Change, bytes: &[u8]) {
        self.form = Some(change.form);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    fn value(&self, kind: ValueKind) -> Option<WaveValue> {
        let raw = match self.form? {
            Form::Bits => RawValue::Bits(&self.bytes),
            Form::Text => RawValue::Text(&self.bytes),
            Form::Real => RawValue::Real(self.bytes[..].try_into().map_or(0.0, f64::from_le_bytes)),
            Form::Event => RawValue::Event,
        };
        Some(raw.to_value(kind))
    }

    fn equals(&self, other: &Held) -> bool {
        self.form == other.form && self.bytes == other.bytes
    }
}

/// The series of values of one side.
#[derive(Debug)]
struct Side {
    held: Vec<Held>,
    /// By slot: pairs that it is in.
    pairs: Vec<Vec<u32>>,
    kinds: Vec<ValueKind>,
}

impl Side {
    fn new(file: &WaveFile, pairing: &Pairing, side: usize) -> Self {
        let mut pairs = vec![Vec::new(); file.slots()];
        let mut kinds = vec![ValueKind::Bits(1); file.slots()];
        for (number, pair) in (0..).zip(&pairing.pairs) {
            pairs[pair.slots[side].index()].push(number);
            kinds[pair.slots[side].index()] = file.signals()[pair.signals[side]].kind;
        }
        Side { held: kinds.iter().map(|kind| Held::initial(*kind)).collect(), pairs, kinds }
    }
}

/// How a pair stands.
#[derive(Clone, Debug, Default)]
struct State {
    touched: bool,
    differs: bool,
    /// When it began to, last.
    since: u64,
    times: u64,
    duration: u64,
    first: Option<(u64, [Option<WaveValue>; 2])>,
    healed: u64,
}

/// The comparison while it goes on. Times are common ones.
struct Merge<'a> {
    files: [&'a WaveFile; 2],
    slots: Vec<[Slot; 2]>,
    sides: [Side; 2],
    states: Vec<State>,
    touched: Vec<u32>,
    begin: Vec<usize>,
    differing: usize,
    causes: Causes,
    points: u64,
    window: Option<Range<u64>>,
    /// From where on is compared: once both sides have begun.
    from: u64,
    last_point: Option<u64>,
}

impl<'a> Merge<'a> {
    fn new(files: [&'a WaveFile; 2], pairing: &Pairing, window: Option<Range<u64>>) -> Self {
        let pairs = pairing.pairs.len();
        Merge {
            files,
            slots: pairing.pairs.iter().map(|pair| pair.slots).collect(),
            sides: [Side::new(files[0], pairing, 0), Side::new(files[1], pairing, 1)],
            // All are compared at first.
            states: vec![State { touched: true, ..State::default() }; pairs],
            touched: (0..pairs as u32).collect(),
            begin: Vec::new(),
            differing: 0,
            causes: Causes::new(pairs),
            points: 0,
            from: window.as_ref().map_or(0, |window| window.start),
            window,
            last_point: None,
        }
    }

    /// Merges the changes of two files.
    fn two(
        &mut self,
        [mut left, mut right]: [Steps; 2],
        scales: [Scale; 2],
        at_edges: bool,
    ) -> Result<[WaveExtent; 2], DiffError> {
        let mut edge = None;
        let mut begun = false;
        loop {
            let times = [
                left.time()?.map(|time| scales[0].common(time)),
                right.time()?.map(|time| scales[1].common(time)),
            ];
            if !begun && let [Some(one), Some(other)] = times {
                begun = true;
                self.from = self.from.max(one).max(other);
            }
            let (now, takes) = match times {
                [Some(one), Some(other)] => (one.min(other), [one <= other, other <= one]),
                [Some(one), None] => (one, [true, false]),
                [None, Some(other)] => (other, [false, true]),
                [None, None] => break,
            };
            // Nothing is compared beyond the end of a file.
            let ended = |steps: &Steps, side: usize| {
                times[side].is_none()
                    && steps.extent().times.is_none_or(|(_, last)| now > scales[side].common(last))
            };
            if ended(&left, 0) || ended(&right, 1) {
                break;
            }
            if at_edges && takes[0] && left.rises() {
                self.edge(now, &mut edge);
            }
            if takes[0] {
                self.apply(0, left.take());
            }
            if takes[1] {
                self.apply(1, right.take());
            }
            if !at_edges {
                self.point(now);
            }
        }
        let extents = [drain(left)?, drain(right)?];
        self.last_edge(edge, at_edges);
        Ok(extents)
    }

    /// Goes through the changes of one file, in which both sides are.
    fn one(&mut self, mut steps: Steps, at_edges: bool) -> Result<[WaveExtent; 2], DiffError> {
        let mut edge = None;
        while let Some(now) = steps.time()? {
            if at_edges && steps.rises() {
                self.edge(now, &mut edge);
            }
            for (change, bytes) in steps.take() {
                self.change(0, change, bytes);
                self.change(1, change, bytes);
            }
            if !at_edges {
                self.point(now);
            }
        }
        self.last_edge(edge, at_edges);
        Ok([steps.extent(); 2])
    }

    fn apply<'b>(&mut self, side: usize, changes: impl Iterator<Item = (Change, &'b [u8])>) {
        for (change, bytes) in changes {
            self.change(side, change, bytes);
        }
    }

    fn change(&mut self, side: usize, change: Change, bytes: &[u8]) {
        let Side { held, pairs, .. } = &mut self.sides[side];
        let slot = change.slot as usize;
        let of_slot = &pairs[slot];
        if of_slot.is_empty() {
            return;
        }
        held[slot].set(change, bytes);
        for pair in of_slot {
            let state = &mut self.states[*pair as usize];
            if !state.touched {
                state.touched = true;
                self.touched.push(*pair);
            }
        }
    }

    /// The clock rises: what stood until now is the cycle that began with the edge before.
    fn edge(&mut self, now: u64, edge: &mut Option<u64>) {
        if let Some(cycle) = edge.replace(now) {
            self.point(cycle);
        }
    }

    /// The last cycle has no edge behind it.
    fn last_edge(&mut self, edge: Option<u64>, at_edges: bool) {
        if let Some(cycle) = edge.filter(|_| at_edges) {
            self.point(cycle);
        }
    }

    /// Compares what changed.
    fn point(&mut self, now: u64) {
        if now < self.from || self.window.as_ref().is_some_and(|window| now >= window.end) {
            return;
        }
        self.points += 1;
        self.last_point = Some(now);
        self.begin.clear();
        let mut touched = std::mem::take(&mut self.touched);
        for pair in touched.drain(..) {
            let number = pair as usize;
            let state = &mut self.states[number];
            state.touched = false;
            let slots = self.slots[number];
            let held = [0, 1].map(|side| &self.sides[side].held[slots[side].index()]);
            let differs = !held[0].equals(held[1]);
            if differs == state.differs {
                continue;
            }
            state.differs = differs;
            if differs {
                state.since = now;
                state.times += 1;
                self.differing += 1;
                self.begin.push(number);
                if state.first.is_none() {
                    let kinds = [0, 1].map(|side| self.sides[side].kinds[slots[side].index()]);
                    state.first = Some((now, [held[0].value(kinds[0]), held[1].value(kinds[1])]));
                }
            } else {
                state.duration += now - state.since;
                state.healed = now;
                self.differing -= 1;
            }
        }
        self.touched = touched;
        // What ends and what begins at one point in time is one cause.
        let begin = std::mem::take(&mut self.begin);
        self.causes.begin(now, &begin);
        self.begin = begin;
        if self.differing == 0 {
            self.causes.heal(now);
        }
    }

    fn finish(
        mut self,
        extents: [WaveExtent; 2],
        scales: [Scale; 2],
        unit: Option<TimeUnit>,
        period: Option<u64>,
        pairing: &Pairing,
    ) -> Result<WaveDiff, DiffError> {
        // Times of the left side.
        let shown = |time: u64| time.saturating_sub(scales[0].offset);
        let times = [0, 1].map(|side| {
            let common = |time| shown(scales[side].common(time));
            extents[side].times.map(|(first, last)| (common(first), common(last)))
        });
        let (Some(left), Some(right)) = (times[0], times[1]) else {
            return Err(DiffError::Apart(times[0], times[1]));
        };
        let end = left.1.min(right.1);
        if self.last_point.is_none() && shown(self.from) <= end {
            // Nothing changes where both have values.
            self.point(self.from);
        }
        let Some(last_point) = self.last_point else { return Err(DiffError::Apart(times[0], times[1])) };
        // Within a cycle is where simulators end their files differently.
        let slack = period.unwrap_or(1);
        let uncovered =
            self.window.is_none() && (left.0.abs_diff(right.0) >= slack || left.1.abs_diff(right.1) >= slack);
        let mut order: Vec<usize> =
            (0..self.states.len()).filter(|pair| self.states[*pair].first.is_some()).collect();
        order.sort_by_key(|pair| self.states[*pair].first.as_ref().map(|(first, _)| *first));
        let mut place = vec![0; self.states.len()];
        order.iter().enumerate().for_each(|(at, pair)| place[*pair] = at);
        let mut divergences = Vec::with_capacity(order.len());
        for pair in &order {
            let state = &self.states[*pair];
            let Some((first, values)) = state.first.clone() else { continue };
            let signals = pairing.pairs[*pair].signals;
            let open = if state.differs { last_point.max(state.since) - state.since } else { 0 };
            divergences.push(Divergence {
                paths: [0, 1].map(|side| self.files[side].signals()[signals[side]].path()),
                further_names: pairing.pairs[*pair].further_names,
                first: shown(first),
                values,
                times: state.times,
                duration: state.duration + open,
                heals: (!state.differs).then(|| shown(state.healed)),
            });
        }
        let (mut causes, further_causes) = self.causes.finish();
        for cause in &mut causes {
            cause.roots.iter_mut().for_each(|pair| *pair = place[*pair]);
            cause.roots.sort_unstable();
            for (pair, time) in &mut cause.followers {
                (*pair, *time) = (place[*pair], shown(*time));
            }
            cause.followers.sort_by_key(|(pair, time)| (*time, *pair));
            (cause.first, cause.last) = (shown(cause.first), shown(cause.last));
            cause.heals = cause.heals.map(shown);
        }
        Ok(WaveDiff {
            compared: self.states.len(),
            missing: pairing.missing.clone(),
            unlike: pairing.unlike.clone(),
            span: (shown(self.from), end),
            sides: [left, right],
            points: self.points,
            unit,
            period,
            cut_in_line: extents.map(|extent| extent.cut_in_line),
            uncovered,
            divergences,
            causes,
            further_causes,
        })
    }
}

/// Reads to the end of a file without looking at it: it may be malformed further on, and its end is told.
fn drain(mut steps: Steps) -> Result<WaveExtent, DiffError> {
    while steps.time()?.is_some() {
        steps.skip();
    }
    Ok(steps.extent())
}
