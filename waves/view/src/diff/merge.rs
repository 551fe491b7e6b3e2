//! Merges the changes of two files in order of time, and compares them.

use std::ops::Range;

use super::batch::{Change, Form, Steps, pipe};
use super::cause::Causes;
use super::pairs::{Pair, Pairing};
use super::{DiffError, DiffOptions, DiffSides, Divergence, WaveDiff};
use crate::reader::{Alike, ClockLevel, Position, Twins, digit};
use crate::{RawValue, Slot, Slots, TimeUnit, ValueKind, WaveExtent, WaveFile, WaveValue};

/// Bytes that are read in full between attempts to skip identical text of both files.
const SPAN: u64 = 1 << 14;

/// Conversion from times of a file to common times: multiply, then add the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    let mut clock = pairing.clock.map(|clock| left.clock_level(clock)).transpose()?;
    let period = match pairing.clock {
        Some(clock) => left.period(clock)?,
        None => left.clock()?.map(|clock| clock.period),
    };
    let window =
        options.window.clone().map(|window| scales[0].common(window.start)..scales[0].common(window.end));
    // A sample at an edge shows the values just before the edge.
    let ahead = u64::from(clock.is_some());
    let until = |side: usize| match &window {
        Some(window) => {
            let end = window.end.saturating_add(ahead);
            end.saturating_sub(scales[side].offset).div_ceil(scales[side].factor)
        }
        None => u64::MAX,
    };
    let untils = [until(0), until(1)];
    let from = scales[0].common(left.first_time()?).max(scales[1].common(right.first_time()?));
    let mut merge = Merge::new([left, right], pairing, from, window);
    let which = |side: usize, file: &WaveFile| {
        let mut which = file.no_slots();
        pairing.pairs.iter().for_each(|pair| which.insert(pair.slots[side]));
        if let Some(clock) = pairing.clock.filter(|_| side == 0) {
            which.insert(file.signals()[clock].slot);
        }
        which
    };
    let extents = match sides {
        DiffSides::Files(..) => {
            let which = [which(0, left), which(1, right)];
            let alike =
                scales[0] == scales[1] && pairing.pairs.iter().all(|pair| pair.slots[0] == pair.slots[1]);
            let twins = if alike { left.twins(right)? } else { None };
            merge.files(&which, twins, scales, untils, clock)?
        }
        DiffSides::Scopes(file, _) => {
            let (feed, steps) = pipe();
            let mut both = which(0, file);
            pairing.pairs.iter().for_each(|pair| both.insert(pair.slots[1]));
            std::thread::scope(|scope| {
                let (both, mut at) = (&both, file.start());
                scope.spawn(move || feed.read(file, &mut at, both, untils[0], clock.as_mut()));
                merge.one(steps)
            })?
        }
    };
    merge.finish(extents, scales, unit, period.map(|period| period * scales[0].factor), pairing)
}

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
    // Shift one side to later times, so that no time falls below 0.
    let [left, right] = [offset(-shift), offset(shift)];
    let scales = [Scale { factor: factors[0], offset: left }, Scale { factor: factors[1], offset: right }];
    Ok((unit, scales))
}

/// Current value of a signal; `form` is `None` before the first value.
#[derive(Clone, Debug, Default)]
struct Held {
    form: Option<Form>,
    bytes: Vec<u8>,
}

impl Held {
    /// Returns the value before the first change. Bits are unknown (`x`), whether or not the simulator dumps
    /// this.
    fn initial(kind: ValueKind) -> Self {
        match kind {
            ValueKind::Bits(_) => Held { form: Some(Form::Bits), bytes: b"x".to_vec() },
            ValueKind::Text | ValueKind::Real | ValueKind::Event => Held::default(),
        }
    }

    fn set(&mut self, form: Form, bytes: &[u8]) {
        self.form = Some(form);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    fn value(&self, kind: ValueKind, bit: Option<u32>) -> Option<WaveValue> {
        if bit.is_some() {
            return self.bit(bit).map(|digit| WaveValue::Bits(char::from(digit).to_string()));
        }
        let raw = match self.form? {
            Form::Bits => RawValue::Bits(&self.bytes),
            Form::Text => RawValue::Text(&self.bytes),
            Form::Real => RawValue::Real(self.bytes[..].try_into().map_or(0.0, f64::from_le_bytes)),
            Form::Event => RawValue::Event,
        };
        Some(raw.to_value(kind))
    }

    fn bit(&self, bit: Option<u32>) -> Option<u8> {
        (self.form == Some(Form::Bits)).then(|| digit(&self.bytes, bit.unwrap_or(0)))
    }

    fn equals(&self, other: &Held) -> bool {
        self.form == other.form && self.bytes == other.bytes
    }
}

#[derive(Debug)]
struct Side {
    held: Vec<Held>,
    /// Pairs that contain each slot.
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

struct Reading {
    at: [Position; 2],
    extents: [WaveExtent; 2],
    clock: Option<ClockLevel>,
}

#[derive(Clone, Debug, Default)]
struct PairState {
    touched: bool,
    differs: bool,
    since: u64,
    times: u64,
    duration: u64,
    first: Option<(u64, [Option<WaveValue>; 2])>,
    healed: u64,
}

/// State of a comparison. All times are common times.
struct Merge<'a> {
    files: [&'a WaveFile; 2],
    slots: Vec<[Slot; 2]>,
    /// Compared bit of each side, for pairs of single bits of vectors.
    bits: Vec<[Option<u32>; 2]>,
    sides: [Side; 2],
    states: Vec<PairState>,
    touched: Vec<u32>,
    begin: Vec<usize>,
    differing: usize,
    causes: Causes,
    points: u64,
    window: Option<Range<u64>>,
    at_edges: bool,
    /// First time in the window at which both sides have values.
    from: u64,
    /// True after the end of one side: nothing more is compared.
    over: bool,
    last_point: Option<u64>,
}

impl<'a> Merge<'a> {
    fn new(files: [&'a WaveFile; 2], pairing: &Pairing, from: u64, window: Option<Range<u64>>) -> Self {
        let pairs = pairing.pairs.len();
        let bits =
            |pair: &Pair| [0, 1].map(|side| files[side].signals()[pair.signals[side]].bit(pair.bits[side]?));
        Merge {
            files,
            slots: pairing.pairs.iter().map(|pair| pair.slots).collect(),
            bits: pairing.pairs.iter().map(bits).collect(),
            sides: [Side::new(files[0], pairing, 0), Side::new(files[1], pairing, 1)],
            states: vec![PairState { touched: true, ..PairState::default() }; pairs],
            touched: (0..pairs as u32).collect(),
            begin: Vec::new(),
            differing: 0,
            causes: Causes::new(pairs),
            points: 0,
            from: window.as_ref().map_or(from, |window| window.start.max(from)),
            window,
            at_edges: pairing.clock.is_some(),
            over: false,
            last_point: None,
        }
    }

    /// Compares two files and returns their extents. With `twins`, skips identical text and compares only
    /// around differences. The less text is identical, the longer are the spans that are read in full.
    fn files(
        &mut self,
        which: &[Slots; 2],
        mut twins: Option<Twins<'_>>,
        scales: [Scale; 2],
        untils: [u64; 2],
        clock: Option<ClockLevel>,
    ) -> Result<[WaveExtent; 2], DiffError> {
        let at = self.files.map(WaveFile::start);
        let mut reading = Reading { at, extents: [WaveExtent::default(); 2], clock };
        let mut span = SPAN;
        loop {
            let end = twins.as_mut().map(|twins| twins.time_behind(reading.at[0], span)).transpose()?;
            let end = end.flatten().filter(|end| *end < untils[0]);
            let [left_until, right_until] = untils.map(|until| end.unwrap_or(until));
            let ((left_feed, left), (right_feed, right)) = (pipe(), pipe());
            let Reading { at: [left_at, right_at], extents, clock } = &mut reading;
            let files = self.files;
            let read = std::thread::scope(|scope| {
                scope.spawn(move || left_feed.read(files[0], left_at, &which[0], left_until, clock.as_mut()));
                scope.spawn(move || right_feed.read(files[1], right_at, &which[1], right_until, None));
                self.two([left, right], scales)
            })?;
            extents.iter_mut().zip(read).for_each(|(extent, read)| extent.extend(read));
            let Some(twins) = twins.as_mut().filter(|_| end.is_some()) else { return Ok(reading.extents) };
            let alike = self.alike(twins, &mut reading, &which[0], untils[0], scales[0])?;
            span = if alike < span { 4 * span } else { SPAN };
        }
    }

    /// Skips identical text and returns its length in bytes. A difference before this text lasts through it
    /// until the signal changes.
    fn alike(
        &mut self,
        twins: &mut Twins<'_>,
        reading: &mut Reading,
        which: &Slots,
        until: u64,
        scale: Scale,
    ) -> Result<u64, DiffError> {
        if self.over {
            return Ok(0);
        }
        let mut differ = self.files[0].no_slots();
        for [slot, other] in &self.slots {
            if !self.sides[0].held[slot.index()].equals(&self.sides[1].held[other.index()]) {
                differ.insert(*slot);
            }
        }
        let Reading { at, extents, clock } = reading;
        Ok(twins.read(at, [which, &differ], until, clock, |alike| match alike {
            Alike::Step(time, rises) => {
                let here = WaveExtent { times: Some((time, time)), ..WaveExtent::default() };
                extents.iter_mut().for_each(|extent| extent.extend(here));
                self.step(scale.common(time), rises);
                self.stepped(scale.common(time));
            }
            Alike::Value(slot, value) => {
                let (form, bytes) = match value {
                    RawValue::Bits(digits) => (Form::Bits, digits),
                    RawValue::Text(text) => (Form::Text, text),
                    RawValue::Real(_) | RawValue::Event => return,
                };
                self.sides.iter_mut().for_each(|side| side.held[slot.index()].set(form, bytes));
            }
        })?)
    }

    fn two(
        &mut self,
        [mut left, mut right]: [Steps; 2],
        scales: [Scale; 2],
    ) -> Result<[WaveExtent; 2], DiffError> {
        while !self.over {
            let times = [
                left.time()?.map(|time| scales[0].common(time)),
                right.time()?.map(|time| scales[1].common(time)),
            ];
            let (now, takes) = match times {
                [Some(one), Some(other)] => (one.min(other), [one <= other, other <= one]),
                [Some(one), None] => (one, [true, false]),
                [None, Some(other)] => (other, [false, true]),
                [None, None] => break,
            };
            let ended = |steps: &Steps, side: usize| {
                let WaveExtent { times: of_file, whole, .. } = steps.extent();
                let last = of_file.map(|(_, last)| scales[side].common(last));
                let last_edge = last.map(|last| last.saturating_add(u64::from(self.at_edges)));
                times[side].is_none() && whole && last_edge.is_none_or(|last| now > last)
            };
            self.over = ended(&left, 0) || ended(&right, 1);
            if self.over {
                break;
            }
            self.step(now, takes[0] && left.rises());
            if takes[0] {
                self.apply(0, left.take());
            }
            if takes[1] {
                self.apply(1, right.take());
            }
            self.stepped(now);
        }
        Ok([drain(left)?, drain(right)?])
    }

    /// Compares two scopes of one file.
    fn one(&mut self, mut steps: Steps) -> Result<[WaveExtent; 2], DiffError> {
        while let Some(now) = steps.time()? {
            self.step(now, steps.rises());
            for (change, bytes) in steps.take() {
                self.change(0, change, bytes);
                self.change(1, change, bytes);
            }
            self.stepped(now);
        }
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
        held[slot].set(change.form, bytes);
        for pair in of_slot {
            let state = &mut self.states[*pair as usize];
            if !state.touched {
                state.touched = true;
                self.touched.push(*pair);
            }
        }
    }

    /// Starts a time step. If the clock rises, the values before the step are a sample.
    fn step(&mut self, now: u64, rises: bool) {
        if rises && let Some(before) = now.checked_sub(1) {
            self.point(before);
        }
    }

    fn stepped(&mut self, now: u64) {
        if !self.at_edges {
            self.point(now);
        }
    }

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
            let differs = match self.bits[number] {
                [None, None] => !held[0].equals(held[1]),
                bits => held[0].bit(bits[0]) != held[1].bit(bits[1]),
            };
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
                    let values = [0, 1].map(|side| held[side].value(kinds[side], self.bits[number][side]));
                    state.first = Some((now, values));
                }
            } else {
                state.duration += now - state.since;
                state.healed = now;
                self.differing -= 1;
            }
        }
        self.touched = touched;
        // Start before healing: if one difference ends when another one starts, both have the same cause.
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
        // Convert to times of the left side. A sample has the time at which its cycle starts.
        let shown = |time: u64| time.saturating_sub(scales[0].offset);
        let cycle = period.filter(|_| self.at_edges).unwrap_or(1);
        let sampled = |time: u64| shown(time) / cycle * cycle;
        let times = [0, 1].map(|side| {
            let common = |time| shown(scales[side].common(time));
            extents[side].times.map(|(first, last)| (common(first), common(last)))
        });
        let (Some(left), Some(right)) = (times[0], times[1]) else {
            return Err(DiffError::Apart(times[0], times[1]));
        };
        let end = left.1.min(right.1);
        if self.last_point.is_none() && shown(self.from) <= end {
            if let Some(clock) = pairing.clock {
                return Err(DiffError::NoEdge(self.files[0].signals()[clock].path()));
            }
            // Nothing changes while both sides have values, so compare once.
            self.point(self.from);
        }
        let Some(last_point) = self.last_point else { return Err(DiffError::Apart(times[0], times[1])) };
        // Simulators end their files at different points of the last cycle, so ignore less than a cycle.
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
            let Pair { signals, bits, .. } = pairing.pairs[*pair];
            let open = if state.differs { last_point.max(state.since) - state.since } else { 0 };
            divergences.push(Divergence {
                paths: [0, 1].map(|side| {
                    let path = self.files[side].signals()[signals[side]].path();
                    match bits[side] {
                        Some(bit) => format!("{path}[{bit}]"),
                        None => path,
                    }
                }),
                further_names: pairing.pairs[*pair].further_names,
                first: sampled(first),
                values,
                times: state.times,
                duration: state.duration + open,
                heals: (!state.differs).then(|| sampled(state.healed)),
            });
        }
        let mut notes = self.files.map(|file| *file.notes());
        notes.iter_mut().zip(&extents).for_each(|(notes, extent)| notes.extend(&extent.notes));
        let (mut causes, further_causes) = self.causes.finish();
        for cause in &mut causes {
            cause.roots.iter_mut().for_each(|pair| *pair = place[*pair]);
            cause.roots.sort_unstable();
            for (pair, time) in &mut cause.followers {
                (*pair, *time) = (place[*pair], sampled(*time));
            }
            cause.followers.sort_by_key(|(pair, time)| (*time, *pair));
            (cause.first, cause.last) = (sampled(cause.first), sampled(cause.last));
            cause.heals = cause.heals.map(sampled);
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
            notes,
            uncovered,
            divergences,
            causes,
            further_causes,
        })
    }
}

/// Reads to the end of a file without comparing, to detect malformed text and to find the end.
fn drain(mut steps: Steps) -> Result<WaveExtent, DiffError> {
    while steps.time()?.is_some() {
        steps.skip();
    }
    Ok(steps.extent())
}
