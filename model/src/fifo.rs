//! First-in first-out queue. Mirror of `rtl/atoms_fifo.sv`.

use crate::registers::{EntryFields, SeeRegister};

/// Registers of one queue. An entry pushed in one cycle is visible at the head in the next cycle.
///
/// The array has one entry more than the queue's depth, so that the popped entry stays readable until the
/// next pop. This matches `atoms_operands`, which keeps the operands of the request at issue in the same way.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<T> {
    entry: Vec<T>,
    head: usize,
    tail: usize,
    count: usize,
    /// Index of the head in the hardware, whose array has one entry less.
    place: usize,
}

impl<T: Default + Clone> Fifo<T> {
    pub(crate) fn new(depth: usize) -> Self {
        Fifo { entry: vec![T::default(); depth + 1], head: 0, tail: 0, count: 0, place: 0 }
    }

    pub(crate) fn ready(&self) -> bool {
        self.count + 1 != self.entry.len()
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Oldest entry; meaningless if the queue is empty.
    pub(crate) fn head(&self) -> &T {
        &self.entry[self.head]
    }

    pub(crate) fn taken(&self) -> &T {
        &self.entry[if self.head == 0 { self.entry.len() - 1 } else { self.head - 1 }]
    }

    /// Clock edge: pops the head if `pop`. Calls `push`, if present, with the slot of the new entry, to fill
    /// it in place.
    pub(crate) fn tick(&mut self, pop: bool, push: Option<impl FnOnce(&mut T)>) {
        let entries = self.entry.len();
        let after = |at: usize| if at + 1 == entries { 0 } else { at + 1 };
        if let Some(fill) = push {
            fill(&mut self.entry[self.tail]);
            self.tail = after(self.tail);
            self.count += 1;
        }
        if pop {
            self.head = after(self.head);
            self.place = if self.place + 2 == entries { 0 } else { self.place + 1 };
            self.count -= 1;
        }
    }

    pub(crate) fn reset(&mut self) {
        (self.head, self.tail, self.count, self.place) = (0, 0, 0, 0);
    }

    /// Returns the index of the head, the index of the next entry to push, and all entries with their
    /// indices.
    pub(crate) fn places(&self) -> (usize, usize, impl Iterator<Item = (usize, &T)>) {
        (self.head, self.tail, self.entry.iter().enumerate())
    }

    pub(crate) fn holds(&self, at: usize) -> bool {
        (at + self.entry.len() - self.head) % self.entry.len() < self.count
    }
}

impl<T: EntryFields> Fifo<T> {
    /// Shows the registers under the instance path `at`.
    pub(crate) fn registers(&self, at: &str, lanes: usize, see: &mut impl SeeRegister) {
        let Fifo { entry, head, tail: _, count, place } = self;
        let depth = entry.len() - 1;
        for here in 0..depth {
            let age = (here + depth - place) % depth;
            let held = age < *count;
            entry[(head + age) % entry.len()].fields(lanes, &mut |field, value| {
                see.see(format_args!("{at}.entry_q[{here}].{field}"), held.then_some(value));
            });
        }
        see.see(format_args!("{at}.head_q"), Some(*place as u128));
        see.see(format_args!("{at}.tail_q"), Some(((place + count) % depth) as u128));
        see.see(format_args!("{at}.count_q"), Some(*count as u128));
    }
}
