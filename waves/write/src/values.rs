//! Values of a trace on the writer thread: finds the changes and writes them.

use crate::Comparison;
use crate::batch::{Batch, BatchEntry};
use crate::definition::{Declared, Definition, Signal, SignalKind};
use crate::format::{self, Change, Entry, Format};
use crate::vcd::ChangeLines;
use std::io;

/// Time units (ns) per cycle. The clock falls in the middle.
pub(crate) const PERIOD: u64 = 10;

/// Computes values on the writer thread, so that the simulation does not wait.
pub trait Deferred: Send + 'static {
    /// Input of a cycle. Objects are reused to keep their allocations.
    type Cycle: Default + Send + 'static;

    /// Sets the values that follow from `cycle`, at the position of
    /// [`WaveTrace::defer`](crate::WaveTrace::defer) among the other values of the cycle. `cycle` is the
    /// input filled there.
    fn set(&mut self, values: &mut WaveValues, cycle: &Self::Cycle);
}

impl Deferred for () {
    type Cycle = ();

    fn set(&mut self, _values: &mut WaveValues, _cycle: &Self::Cycle) {}
}

/// Current values of all signals, and the values last written to the file.
#[derive(Debug)]
pub struct WaveValues {
    slots: Vec<Slot>,
    long: Vec<LongValue>,
    touched: Vec<Touched>,
    /// Lines of known changes; only for a text format.
    lines: Option<ChangeLines>,
    /// Comparison and pair of each signal that is one side of a pair, grouped by signal. `LAST` ends each
    /// group.
    sides: Vec<(u32, u32)>,
    comparisons: Vec<Differences>,
    /// Stem of numbered texts, as a [`format::word`].
    stem: Vec<u8>,
    /// Buffer, kept for its allocation.
    word: Vec<u8>,
    clock: Signal,
    fresh: bool,
}

/// End mark of a group in [`WaveValues::sides`].
const LAST: (u32, u32) = (u32::MAX, u32::MAX);

/// State of a signal, kept small: a wave of internal signals has tens of thousands.
#[derive(Debug)]
struct Slot {
    /// Value of up to 128 bits. For texts and wider numbers, the index in [`WaveValues::long`].
    now: u128,
    kind: SignalKind,
    /// Index of the signal's group in [`WaveValues::sides`].
    sides: u32,
    /// True if the signal has a value; for an event, true if it triggers.
    is_set: bool,
    touched: bool,
}

/// Record of one signal, or several, with a new value.
#[derive(Debug)]
enum Touched {
    /// `before` is the previous value, which is the one in the file.
    Slot { before: u128, signal: u32, was_set: bool },
    /// Known changes of several signals: a number of bytes in [`WaveValues::lines`].
    Lines { bytes: usize },
}

/// A number of more than 128 bits, the least significant byte first, or a text as a [`format::word`].
#[derive(Debug, Default)]
struct LongValue {
    now: Vec<u8>,
    written: Vec<u8>,
}

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
            // Signals outside all pairs share the first end mark.
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
                    // A trailing space of the stem is inside the text, so append a digit before normalizing.
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
                    format.entry(Entry::Time(time))?;
                    self.set_changed(self.clock, 1);
                    self.write_changes(format)?;
                }
            }
        }
        Ok(())
    }

    /// Sets a signal of at most 128 bits for this cycle. Bits above its width are ignored.
    ///
    /// # Panics
    /// When the signal is wider or not a number.
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

    /// Sets a signal of at most 128 bits to a value that differs from the current one. The caller must know
    /// this; it is not checked. At most once per cycle. For a compared pair, set both sides to the same
    /// value.
    ///
    /// # Panics
    /// When the signal is wider or not a number.
    pub fn set_changed(&mut self, signal: Signal, value: u128) {
        let kind = self.slots[signal.0 as usize].kind;
        assert!(matches!(kind, SignalKind::Bits(..=128)), "a change is of up to 128 bits, not {kind:?}");
        let Some(lines) = self.lines.as_mut().filter(|_| !self.fresh) else {
            // A file starts with the values of all signals.
            return self.set(signal, value);
        };
        self.slots[signal.0 as usize].now = value;
        let more = lines.push(signal.0 as usize, value);
        match self.touched.last_mut() {
            Some(Touched::Lines { bytes }) => *bytes += more,
            Some(Touched::Slot { .. }) | None => self.touched.push(Touched::Lines { bytes: more }),
        }
    }

    /// Like [`Self::set_changed`] for both sides of a pair of [`Definition::compare`], named by the left
    /// signal. Both sides must be equal before.
    ///
    /// # Panics
    /// When the signal is wider, not a number, or not in a pair.
    pub fn set_pair_changed(&mut self, left: Signal, value: u128) {
        let (comparison, pair) = self.sides[self.slots[left.0 as usize].sides as usize];
        let [_, right] = self.comparisons[comparison as usize].signals.pairs[pair as usize];
        self.set_changed(left, value);
        self.set_changed(right, value);
    }

    /// Sets a text signal for this cycle. White space is written as `_`, an empty text as `-`.
    ///
    /// # Panics
    /// When the signal is not a text.
    pub fn set_text(&mut self, signal: Signal, text: &str) {
        let kind = self.slots[signal.0 as usize].kind;
        assert!(kind == SignalKind::Text, "`set_text` is for texts, not {kind:?}");
        self.set_bytes(signal.0, text.as_bytes());
    }

    /// Returns the value of a signal of at most 128 bits; `None` until it is set.
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

    fn compare(&mut self) {
        if self.comparisons.is_empty() {
            return;
        }
        // Flags set in the loop are not sides of a pair, so the entries added to `touched` can be skipped.
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
        // A side without a value does not differ.
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
    /// Records the current value. Call this before setting a new one.
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

    /// Writes the value. An event is then reset.
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
