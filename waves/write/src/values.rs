//! The values of a trace, on the thread that writes it: those that changed go to the file.

use crate::Comparison;
use crate::batch::{Batch, BatchEntry};
use crate::definition::{Declared, Definition, Signal, SignalKind};
use crate::format::{self, Change, Entry, Format};
use crate::vcd::ChangeLines;
use std::io;

/// Time units (ns) of a cycle; the clock falls in the middle.
pub(crate) const PERIOD: u64 = 10;

/// Values that the thread which writes a trace works out, so that the simulation does not wait for it.
pub trait Deferred: Send + 'static {
    /// What it is told of a cycle. Used again for others, so that what it has allocated stays.
    type Cycle: Default + Send + 'static;

    /// Sets what follows from `cycle`, as [`WaveTrace::defer`](crate::WaveTrace::defer) gave it to be filled, at that
    /// place among what the trace sets for the cycle.
    fn set(&mut self, values: &mut WaveValues, cycle: &Self::Cycle);
}

/// Nothing to work out.
impl Deferred for () {
    type Cycle = ();

    fn set(&mut self, _values: &mut WaveValues, _cycle: &Self::Cycle) {}
}

/// What the signals of a trace are in the cycle being written, and what the file says they are.
#[derive(Debug)]
pub struct WaveValues {
    slots: Vec<Slot>,
    /// Values that do not fit into a slot.
    long: Vec<LongValue>,
    /// Signals that were set to something new since the last tick.
    touched: Vec<Touched>,
    /// Changes that are known to be some, in a format that has lines of them.
    lines: Option<ChangeLines>,
    /// Comparison and pair that each signal is one side of, by signal, each list ended by `LAST`.
    sides: Vec<(u32, u32)>,
    comparisons: Vec<Differences>,
    /// How numbered texts begin, as a [`format::word`] does.
    stem: Vec<u8>,
    /// Kept for its memory.
    word: Vec<u8>,
    clock: Signal,
    /// No value has been written yet.
    fresh: bool,
}

/// Behind the last side that a signal is.
const LAST: (u32, u32) = (u32::MAX, u32::MAX);

/// A signal, kept small: waves of what is inside have ten thousands, and the thread goes from one to the next.
#[derive(Debug)]
struct Slot {
    /// The value of up to 128 bits. Of a text, and of more bits, the place in [`WaveValues::long`].
    now: u128,
    kind: SignalKind,
    /// First of [`WaveValues::sides`].
    sides: u32,
    /// It has a value. Of an event: it happens.
    is_set: bool,
    touched: bool,
}

/// A signal that was set to something new.
#[derive(Debug)]
enum Touched {
    /// What it was: what the file says.
    Slot { before: u128, signal: u32, was_set: bool },
    /// Several, and what they are: so many bytes of [`WaveValues::lines`].
    Lines { bytes: usize },
}

/// More than 128 bits, the least significant byte first, or a text as a [`format::word`].
#[derive(Debug, Default)]
struct LongValue {
    now: Vec<u8>,
    written: Vec<u8>,
}

/// A comparison and how it stands.
#[derive(Debug)]
struct Differences {
    signals: Comparison,
    differs: Vec<bool>,
    pairs: u32,
    cycles: u32,
}

impl WaveValues {
    pub(crate) fn new(definition: &Definition, lines: Option<ChangeLines>) -> Self {
        let mut of_signals = vec![Vec::new(); definition.signals.len()];
        for (number, comparison) in definition.comparisons.iter().enumerate() {
            for (pair, sides) in comparison.pairs.iter().enumerate() {
                sides.iter().for_each(|side| of_signals[side.0 as usize].push((number as u32, pair as u32)));
            }
        }
        let mut sides = vec![LAST];
        let mut longs = 0;
        let slot = |(declared, of_signal): (&Declared, Vec<_>)| {
            let now = match declared.kind {
                SignalKind::Bits(..=128) | SignalKind::Event => 0,
                SignalKind::Bits(_) | SignalKind::Text => {
                    longs += 1;
                    longs - 1
                }
            };
            // Those without share the first end.
            let first = if of_signal.is_empty() { 0 } else { sides.len() as u32 };
            if first > 0 {
                sides.extend(of_signal);
                sides.push(LAST);
            }
            Slot { now, kind: declared.kind, sides: first, is_set: false, touched: false }
        };
        let slots = definition.signals.iter().zip(of_signals).map(slot).collect();
        let mut values = WaveValues {
            slots,
            long: (0..longs).map(|_| LongValue::default()).collect(),
            touched: Vec::new(),
            lines,
            sides,
            comparisons: Vec::new(),
            stem: Vec::new(),
            word: Vec::new(),
            clock: definition.clock,
            fresh: true,
        };
        for comparison in &definition.comparisons {
            let Comparison { pairs, flags, any, pairs_differing, cycles_differing } = comparison;
            for flag in flags.iter().chain([any, pairs_differing, cycles_differing]) {
                values.set(*flag, 0);
            }
            let (signals, differs) = (comparison.clone(), vec![false; pairs.len()]);
            values.comparisons.push(Differences { signals, differs, pairs: 0, cycles: 0 });
        }
        values
    }

    /// Takes what a trace was told, and writes the cycles that are over.
    pub(crate) fn take<D: Deferred>(
        &mut self,
        batch: &Batch<D::Cycle>,
        deferred: &mut D,
        format: &mut impl Format,
    ) -> io::Result<()> {
        for step in batch.steps() {
            match step {
                BatchEntry::Number(signal, value) => self.set(Signal(signal), value),
                BatchEntry::Bytes(signal, bytes) => self.set_bytes(signal, bytes),
                BatchEntry::Stem(stem) => {
                    // White space at its end is in the middle of a text.
                    self.word.clear();
                    self.word.extend_from_slice(stem);
                    self.word.push(b'0');
                    self.stem.clear();
                    format::word(&mut self.stem, &self.word);
                    self.stem.pop();
                }
                BatchEntry::Numbered(signal, number) => {
                    let mut text = std::mem::take(&mut self.stem);
                    let length = text.len();
                    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                    self.set_long(signal, &text);
                    text.truncate(length);
                    self.stem = text;
                }
                BatchEntry::Happens(signal) => {
                    let slot = &mut self.slots[signal as usize];
                    slot.touch(signal, &mut self.touched);
                    slot.is_set = true;
                }
                BatchEntry::Deferred(cycle) => deferred.set(self, cycle),
                BatchEntry::Tick(cycle) => self.tick(cycle, format)?,
                BatchEntry::End(time) => {
                    // The rising edge that ends the last cycle.
                    format.entry(Entry::Time(time))?;
                    self.set_changed(self.clock, 1);
                    self.write_changes(format)?;
                }
            }
        }
        Ok(())
    }

    /// Sets a signal of at most 128 bits for this cycle; bits above its width are ignored.
    ///
    /// # Panics
    /// When the signal is wider, or no number.
    pub fn set(&mut self, signal: Signal, value: u128) {
        let slot = &mut self.slots[signal.0 as usize];
        let SignalKind::Bits(width @ 1..=128) = slot.kind else {
            panic!("`set` is for up to 128 bits, and the signal is {:?}", slot.kind)
        };
        let value = value & (u128::MAX >> (128 - width));
        if !slot.is_set || slot.now != value {
            slot.touch(signal.0, &mut self.touched);
            slot.now = value;
            slot.is_set = true;
        }
    }

    /// Sets a signal of at most 128 bits to another value than it has, which the caller knows: nothing compares them
    /// again. Once a cycle at most; of two that are compared, both, so that they stay alike.
    ///
    /// # Panics
    /// When the signal is wider, or no number.
    pub fn set_changed(&mut self, signal: Signal, value: u128) {
        let kind = self.slots[signal.0 as usize].kind;
        assert!(matches!(kind, SignalKind::Bits(..=128)), "a change is of up to 128 bits, not {kind:?}");
        let Some(lines) = self.lines.as_mut().filter(|_| !self.fresh) else {
            // A file begins with all values, by signal.
            return self.set(signal, value);
        };
        self.slots[signal.0 as usize].now = value;
        let more = lines.push(signal.0 as usize, value);
        match self.touched.last_mut() {
            Some(Touched::Lines { bytes }) => *bytes += more,
            Some(Touched::Slot { .. }) | None => self.touched.push(Touched::Lines { bytes: more }),
        }
    }

    /// The same of both sides of a pair that [`Definition::compare`] was given, named by the left one: both were alike,
    /// and are.
    ///
    /// # Panics
    /// When the signal is wider, no number, or in no pair.
    pub fn set_pair_changed(&mut self, left: Signal, value: u128) {
        let (comparison, pair) = self.sides[self.slots[left.0 as usize].sides as usize];
        let [_, right] = self.comparisons[comparison as usize].signals.pairs[pair as usize];
        self.set_changed(left, value);
        self.set_changed(right, value);
    }

    /// Sets a text signal for this cycle. White space is written as `_`, an empty text as `-`.
    ///
    /// # Panics
    /// When the signal is no text.
    pub fn set_text(&mut self, signal: Signal, text: &str) {
        let kind = self.slots[signal.0 as usize].kind;
        assert!(kind == SignalKind::Text, "`set_text` is for texts, not {kind:?}");
        self.set_bytes(signal.0, text.as_bytes());
    }

    /// The value of a signal of at most 128 bits; `None` until it is set.
    pub fn get(&self, signal: Signal) -> Option<u128> {
        let slot = &self.slots[signal.0 as usize];
        slot.is_set.then_some(slot.now)
    }

    /// Sets a text of any characters, or a number of more than 128 bits.
    fn set_bytes(&mut self, signal: u32, bytes: &[u8]) {
        if self.slots[signal as usize].kind != SignalKind::Text {
            return self.set_long(signal, bytes);
        }
        let mut word = std::mem::take(&mut self.word);
        word.clear();
        format::word(&mut word, bytes);
        self.set_long(signal, &word);
        self.word = word;
    }

    /// Sets a text that is a word, or a number of more than 128 bits.
    fn set_long(&mut self, signal: u32, bytes: &[u8]) {
        let slot = &mut self.slots[signal as usize];
        let now = &mut self.long[slot.now as usize].now;
        if slot.is_set && now == bytes {
            return;
        }
        now.clear();
        now.extend_from_slice(bytes);
        slot.touch(signal, &mut self.touched);
        slot.is_set = true;
    }

    /// Ends a cycle: writes what has changed.
    fn tick(&mut self, cycle: u64, format: &mut impl Format) -> io::Result<()> {
        self.compare();
        format.entry(Entry::Time(cycle * PERIOD))?;
        self.set_changed(self.clock, 1);
        if std::mem::take(&mut self.fresh) {
            self.write_all(format)?;
        } else {
            self.write_changes(format)?;
        }
        format.entry(Entry::Time(cycle * PERIOD + PERIOD / 2))?;
        self.set_changed(self.clock, 0);
        self.write_changes(format)
    }

    /// Brings the flags and counters of all comparisons up to this cycle.
    fn compare(&mut self) {
        if self.comparisons.is_empty() {
            return;
        }
        // Flags set here are no sides of a pair, so what is added to `touched` needs no look.
        for at in 0..self.touched.len() {
            let Touched::Slot { signal, .. } = self.touched[at] else { continue };
            let mut side = self.slots[signal as usize].sides as usize;
            while self.sides[side] != LAST {
                let (comparison, pair) = self.sides[side];
                self.compare_pair(comparison as usize, pair as usize);
                side += 1;
            }
        }
        for at in 0..self.comparisons.len() {
            let state = &mut self.comparisons[at];
            state.cycles += u32::from(state.pairs > 0);
            let (pairs, cycles) = (state.pairs, state.cycles);
            let Comparison { any, pairs_differing, cycles_differing, .. } = state.signals;
            self.set(any, u128::from(pairs > 0));
            self.set(pairs_differing, pairs.into());
            self.set(cycles_differing, cycles.into());
        }
    }

    fn compare_pair(&mut self, comparison: usize, pair: usize) {
        let state = &mut self.comparisons[comparison];
        let [left, right] = state.signals.pairs[pair].map(|side| &self.slots[side.0 as usize]);
        let differ = match left.kind {
            SignalKind::Bits(..=128) | SignalKind::Event => left.now != right.now,
            SignalKind::Bits(_) | SignalKind::Text => {
                self.long[left.now as usize].now != self.long[right.now as usize].now
            }
        };
        // A side that is not set yet has no value to disagree with.
        let differs = left.is_set && right.is_set && differ;
        if differs != state.differs[pair] {
            state.differs[pair] = differs;
            state.pairs = if differs { state.pairs + 1 } else { state.pairs - 1 };
            let flag = state.signals.flags[pair];
            self.set(flag, differs.into());
        }
    }

    fn write_all(&mut self, format: &mut impl Format) -> io::Result<()> {
        format.entry(Entry::All)?;
        self.touched.clear();
        for (signal, slot) in self.slots.iter_mut().enumerate() {
            slot.touched = false;
            slot.write(signal, &mut self.long, format)?;
        }
        Ok(())
    }

    fn write_changes(&mut self, format: &mut impl Format) -> io::Result<()> {
        let mut lines = self.lines.as_ref().map_or(&[][..], ChangeLines::text);
        for touched in self.touched.drain(..) {
            let (signal, before, was_set) = match touched {
                Touched::Slot { before, signal, was_set } => (signal, before, was_set),
                Touched::Lines { bytes } => {
                    let (first, rest) = lines.split_at(bytes);
                    lines = rest;
                    format.entry(Entry::Lines(first))?;
                    continue;
                }
            };
            let slot = &mut self.slots[signal as usize];
            slot.touched = false;
            // A value may have changed and changed back within the cycle.
            let has_changed = match slot.long(&mut self.long) {
                Some(long) => long.now != long.written,
                None => slot.now != before,
            };
            if has_changed || !was_set {
                slot.write(signal as usize, &mut self.long, format)?;
            }
        }
        self.lines.iter_mut().for_each(ChangeLines::clear);
        Ok(())
    }
}

impl Slot {
    /// To be called before it gets another value.
    fn touch(&mut self, signal: u32, touched: &mut Vec<Touched>) {
        if !self.touched {
            self.touched = true;
            touched.push(Touched::Slot { before: self.now, signal, was_set: self.is_set });
        }
    }

    fn long<'a>(&self, long: &'a mut [LongValue]) -> Option<&'a mut LongValue> {
        match self.kind {
            SignalKind::Bits(..=128) | SignalKind::Event => None,
            SignalKind::Bits(_) | SignalKind::Text => Some(&mut long[self.now as usize]),
        }
    }

    /// Writes the value. An event is over then.
    fn write(&mut self, signal: usize, long: &mut [LongValue], format: &mut impl Format) -> io::Result<()> {
        let long = self.long(long);
        let change = match (&long, self.kind) {
            _ if !self.is_set => Change::Unknown,
            (_, SignalKind::Event) => Change::Happens,
            (Some(long), _) => Change::Bytes(&long.now),
            (None, _) => Change::Narrow(self.now),
        };
        format.entry(Entry::Change(signal, change))?;
        if self.kind == SignalKind::Event {
            self.is_set = false;
        }
        if let Some(long) = long {
            long.written.clone_from(&long.now);
        }
        Ok(())
    }
}
