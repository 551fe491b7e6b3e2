//! First-in first-out queue. Mirror of `rtl/atoms_fifo.sv`.

/// Registers of one queue. What is pushed in one cycle can be seen at the head in the next.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    entry: Vec<T>,
    head: usize,
    tail: usize,
    count: usize,
}

impl<T: Default + Clone> Fifo<T> {
    /// An empty queue of `depth` entries.
    pub fn new(depth: usize) -> Self {
        Fifo { entry: vec![T::default(); depth], head: 0, tail: 0, count: 0 }
    }

    /// An offered entry is taken.
    pub fn ready(&self) -> bool {
        self.count != self.entry.len()
    }

    /// Entries held.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Oldest entry; meaningless while the count is 0.
    pub fn head(&self) -> &T {
        &self.entry[self.head]
    }

    /// Clock edge: drops the head if `pop`, and gives the place of a new entry to `push` if there
    /// is one, for it to be filled.
    pub fn tick(&mut self, pop: bool, push: Option<impl FnOnce(&mut T)>) {
        let depth = self.entry.len();
        let after = |at: usize| if at + 1 == depth { 0 } else { at + 1 };
        if let Some(fill) = push {
            fill(&mut self.entry[self.tail]);
            self.tail = after(self.tail);
            self.count += 1;
        }
        if pop {
            self.head = after(self.head);
            self.count -= 1;
        }
    }

    /// Reset: forgets every entry.
    pub fn reset(&mut self) {
        (self.head, self.tail, self.count) = (0, 0, 0);
    }
}
