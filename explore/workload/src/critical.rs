//! Critical sections behind locks: what they guard, and whether one thread at a time was inside.

use atoms_ops::{Op, Size};

use super::program::{Placement, Threads, WarpPort, WorkloadError, lanes_of};

/// A counter for each lock, which its holder loads and stores, one more than it was. A second holder would lose a count.
#[derive(Debug)]
pub(super) struct Guarded {
    base: u32,
    /// By lock: threads that have been inside.
    entered: Vec<u32>,
    /// By thread: the count it has loaded.
    loaded: Vec<u32>,
    wrong: Option<String>,
}

impl Guarded {
    pub(super) fn new(
        threads: Threads,
        locks: u32,
        placement: &mut Placement,
        help: &'static str,
    ) -> Result<Self, WorkloadError> {
        Ok(Guarded {
            base: placement.words(locks.into(), "the counters behind the locks", help)?,
            entered: vec![0; locks as usize],
            loaded: vec![0; threads.count() as usize],
            wrong: None,
        })
    }

    fn address(&self, lock: u32) -> u32 {
        self.base + 4 * lock
    }

    /// Offers the load of the lanes inside; `place` gives thread and lock of a lane.
    pub(super) fn load(&self, inside: u32, port: &mut WarpPort<'_>, place: impl Fn(usize) -> (u32, u32)) {
        port.ask(Op::Load, Size::U32, inside);
        lanes_of(inside).for_each(|lane| port.lane(lane, self.address(place(lane).1), 0, 0));
    }

    /// A thread has loaded its lock's counter.
    pub(super) fn loaded(&mut self, thread: u32, lock: u32, value: u32) {
        self.loaded[thread as usize] = value;
        let entered = self.entered[lock as usize];
        if value != entered {
            self.wrong.get_or_insert_with(|| {
                format!(
                    "the holder of lock {lock} finds a count of {value}, and {entered} holders were before it"
                )
            });
        }
    }

    /// Offers the store.
    pub(super) fn store(&self, inside: u32, port: &mut WarpPort<'_>, place: impl Fn(usize) -> (u32, u32)) {
        port.post(Op::Store, Size::U32, inside);
        for lane in lanes_of(inside) {
            let (thread, lock) = place(lane);
            let count = self.loaded[thread as usize].wrapping_add(1);
            port.lane(lane, self.address(lock), count.into(), 0);
        }
    }

    /// A thread has stored.
    pub(super) fn stored(&mut self, lock: u32) {
        self.entered[lock as usize] += 1;
    }

    /// Judges counters and order, after so many sections in all.
    pub(super) fn check(&self, sections: u64, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        for (lock, entered) in (0..).zip(&self.entered) {
            let found = word(self.address(lock));
            if found != *entered {
                return Err(format!("the counter of lock {lock} is {found}, after {entered} holders"));
            }
        }
        let all: u64 = self.entered.iter().map(|entered| u64::from(*entered)).sum();
        if all == sections {
            Ok(())
        } else {
            Err(format!("{all} critical sections were passed, of {sections}"))
        }
    }
}
