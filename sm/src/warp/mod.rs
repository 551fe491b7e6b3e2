//! A warp: registers, and threads that are together or apart.
//!
//! Threads that are at the same place and go on together form a *split*. A divergent branch makes two
//! of one; splits become one again where the code says so: at BSYNC, WARPSYNC and block barriers.
//! Another split gets its turn when the current one waits, at YIELD, and at every taken backward
//! branch, so that a retry loop in one split cannot keep the others from running.

mod arrival_states;
mod registers;

pub(crate) use arrival_states::high_words;
pub(crate) use registers::{LANES, Registers, Row, Uniform, View, lanes, select};

use crate::memory::{ConstantBank, SharedPlace};
use arrival_states::States;
use atoms_isa::{Kernel, Pred};
use std::collections::BTreeMap;

/// Weight of a YIELD, which compilers put into loops that wait for another thread.
pub(crate) const YIELD_WEIGHT: u32 = 16;

/// Weight after which threads no longer wait to converge. [CHOSEN]
const ROUNDS_LIMIT: u32 = 512;

/// After so many turns one split is passed over. Splits and warps that repeat their loops in step could else find a
/// lock taken for ever, each time by another one that had just looked. [CHOSEN: a prime]
const UNEVEN: u32 = 61;

/// Event for which a split waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing.
    Ready,
    /// This cycle.
    Until(u64),
    /// The threads noted in this convergence barrier.
    Convergence(u8),
    /// The threads of this mask, at WARPSYNC with the same mask.
    WarpSync { mask: u32, sync: Sync },
    /// The threads of this mask, at the same kind of instruction with the same mask, to carry it out together.
    Collective {
        mask: u32,
        /// Number of its mnemonic, which has all qualifiers of it.
        kind: u32,
    },
    /// The block's other threads, at this barrier.
    Block(u8),
    /// The cluster's other threads.
    Cluster,
    /// Copies: no more than so many groups may be left.
    Groups(u32),
}

/// Way in which threads continue after WARPSYNC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Together with other groups that are at the same place.
    Plain,
    /// By themselves.
    Exclusive,
    /// By themselves, and from one place.
    Collective,
}

impl Wait {
    /// The mask that a thread gives which waits for the threads of a mask.
    pub(crate) fn members(self) -> Option<u32> {
        match self {
            Wait::WarpSync { mask, .. } | Wait::Collective { mask, .. } => Some(mask),
            Wait::Ready
            | Wait::Until(_)
            | Wait::Convergence(_)
            | Wait::Block(_)
            | Wait::Cluster
            | Wait::Groups(_) => None,
        }
    }

    /// True if threads that wait in these ways wait for each other.
    pub(crate) fn meets(self, other: Wait) -> bool {
        match (self, other) {
            (Wait::WarpSync { mask: a, sync: x }, Wait::WarpSync { mask: b, sync: y }) => {
                a == b && (x == Sync::Collective) == (y == Sync::Collective)
            }
            (a, b) => a == b,
        }
    }
}

/// Threads that go on together.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) mask: u32,
    /// Index of the next instruction.
    pub(crate) pc: u32,
    pub(crate) wait: Wait,
    /// Instructions of the warp after which a split that waits to converge goes on all the same; not
    /// where there is no such limit.
    pub(crate) limit: Option<u32>,
    // Boxed: splits change places whenever threads meet.
    pub(crate) uniform: Box<Uniform>,
}

/// Event for which a whole warp waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    /// Nothing.
    No,
    /// A cycle.
    Until(u64),
    /// The answer to its requests.
    Request,
}

/// The phase that each lane asked about last, by SYNCS.PHASECHK.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Address of the object.
    pub(crate) address: Row,
    /// Lanes that asked about the odd phase.
    pub(crate) parity: u32,
    /// Lanes whose last question with `.TRYWAIT` this was; a sleep is meant for its object.
    pub(crate) tried: u32,
    /// Lanes that were told it is not complete.
    pub(crate) open: u32,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Warp {
    /// Slot of its CTA.
    pub(crate) cta_slot: usize,
    /// Number in its CTA.
    pub(crate) number: u32,
    pub(crate) registers: Registers,
    /// Threads noted in each convergence barrier, as each thread sees it.
    pub(crate) barriers: [Row; 16],
    pub(crate) splits: Vec<Split>,
    /// Index of the split whose turn it is.
    pub(crate) current: usize,
    /// Turns passed on.
    pub(crate) turns: u32,
    /// True if threads that wait to converge go on alone in the end: from sm_70 on.
    pub(crate) independent: bool,
    /// Threads that have not ended.
    pub(crate) live: u32,
    pub(crate) busy: Busy,
    /// Where it posted last to another CTA's object, since it last waited for what it posted.
    pub(crate) posted: Option<SharedPlace>,
    /// Requests at the cluster port that the warp waits for: until they are answered, or taken if they are
    /// posted.
    pub(crate) remote: u32,
    /// Threads that have arrived at the cluster's barrier in its present phase.
    pub(crate) at_cluster: u32,
    /// Halves of the return program counter, low first.
    pub(crate) return_pc: [Row; 2],
    /// Instruction at which each thread continues after its collective region.
    pub(crate) resume: Row,
    pub(crate) asked: Asked,
    pub(crate) states: States,
    /// How long threads have waited at a convergence barrier while others went round a loop.
    pub(crate) rounds: u32,
    /// Result of the last block barrier with a vote, by thread.
    pub(crate) vote: Row,
    /// Memory that each thread has to itself, by number of the word.
    pub(crate) local: BTreeMap<u32, Row>,
}

impl Warp {
    /// A warp whose lanes of `mask` start at the first instruction.
    pub(crate) fn new(kernel: &Kernel, cta_slot: usize, number: u32, mask: u32) -> Warp {
        let split = Split { mask, pc: 0, wait: Wait::Ready, limit: None, uniform: Box::new(Uniform::new()) };
        Warp {
            cta_slot,
            number,
            registers: Registers::new(kernel),
            barriers: [[0; LANES]; 16],
            splits: vec![split],
            current: 0,
            turns: 0,
            independent: !kernel.arch.early(),
            live: mask,
            busy: Busy::No,
            posted: None,
            remote: 0,
            at_cluster: 0,
            return_pc: [[0; LANES]; 2],
            resume: [0; LANES],
            asked: Asked { address: [0; LANES], parity: 0, tried: 0, open: 0 },
            states: States::default(),
            rounds: 0,
            vote: [0; LANES],
            local: BTreeMap::new(),
        }
    }

    /// The first cycle in which an instruction can be issued; the end of time if something else must happen
    /// first.
    pub(crate) fn due(&self) -> u64 {
        let due = |split: &Split| match split.wait {
            Wait::Ready => Some(0),
            Wait::Until(end) => Some(end),
            Wait::Convergence(_)
            | Wait::WarpSync { .. }
            | Wait::Collective { .. }
            | Wait::Block(_)
            | Wait::Cluster
            | Wait::Groups(_) => None,
        };
        let Some(earliest) = self.splits.iter().filter_map(due).min() else { return u64::MAX };
        match self.busy {
            Busy::No => earliest,
            Busy::Until(end) => end.max(earliest),
            Busy::Request => u64::MAX,
        }
    }

    /// The request of the warp is answered in full.
    pub(crate) fn end_request(&mut self) {
        if self.remote == 0 {
            self.busy = Busy::No;
        }
    }

    /// The split whose turn it is in this cycle; passes the turn on if that one waits.
    pub(crate) fn turn(&mut self, cycle: u64) -> Option<usize> {
        let count = self.splits.len();
        let can = |wait: Wait| match wait {
            Wait::Until(end) => end <= cycle,
            wait => wait == Wait::Ready,
        };
        let next = (self.current..count).chain(0..self.current).find(|i| can(self.splits[*i].wait))?;
        self.splits[next].wait = Wait::Ready;
        self.current = next;
        Some(next)
    }

    /// Passes the turn on.
    pub(crate) fn pass_turn(&mut self) {
        self.turns = self.turns.wrapping_add(1);
        let step = if self.turns.is_multiple_of(UNEVEN) { 2 } else { 1 };
        self.current = (self.current + step) % self.splits.len().max(1);
    }

    /// Parts the lanes of `mask` from split `index`; they go on at `pc`. The turn stays where it is.
    pub(crate) fn part(&mut self, index: usize, mask: u32, pc: u32) {
        let split = &mut self.splits[index];
        split.mask &= !mask;
        let uniform = split.uniform.clone();
        self.splits.push(Split { mask, pc, wait: Wait::Ready, limit: None, uniform });
    }

    /// Ends the threads of `mask` of split `index`.
    pub(crate) fn exit(&mut self, index: usize, mask: u32) {
        self.live &= !mask;
        self.splits[index].mask &= !mask;
        if self.splits[index].mask == 0 {
            self.splits.remove(index);
            self.current = if self.splits.is_empty() { 0 } else { index % self.splits.len() };
        }
    }

    /// Threads that wait for what `which` says.
    pub(crate) fn waiting(&self, which: impl Fn(Wait) -> bool) -> u32 {
        self.splits.iter().filter(|s| which(s.wait)).fold(0, |mask, s| mask | s.mask)
    }

    /// Lets every waiting split go on for which all threads it waits for are there.
    pub(crate) fn converge(&mut self) {
        // Each turn makes at least one waiting split ready.
        while let Some((together, wait)) = self.splits.iter().find_map(|s| self.complete(s)) {
            match wait {
                Wait::Convergence(barrier) => {
                    lanes(together).for_each(|lane| self.barriers[usize::from(barrier)][lane] = 0);
                    self.join(together, |w| w == wait);
                }
                Wait::WarpSync { sync, .. } => self.release(together, wait, sync),
                Wait::Ready
                | Wait::Until(_)
                | Wait::Collective { .. }
                | Wait::Block(_)
                | Wait::Cluster
                | Wait::Groups(_) => {}
            }
        }
        // No thread is left that could bring the others here.
        let goes_on =
            |s: &Split| matches!(s.wait, Wait::Ready | Wait::Until(_)) || self.all_there(s).is_some();
        if !self.splits.iter().any(goes_on) {
            self.splits.iter_mut().for_each(|s| s.limit = s.limit.map(|_| 0));
            self.end_waits();
        }
    }

    /// Lets the threads go on that have met at WARPSYNC.
    fn release(&mut self, together: u32, wait: Wait, sync: Sync) {
        match sync {
            Sync::Plain => {
                let plain = |w: Wait| matches!(w, Wait::WarpSync { sync: Sync::Plain, .. });
                let complete = |s: &&Split| plain(s.wait) && self.all_there(s).is_some();
                let others = self.splits.iter().filter(complete).fold(0, |mask, s| mask | s.mask);
                self.join(together | others, |w| plain(w) || w.meets(wait));
            }
            Sync::Exclusive => self.join(together, |w| w.meets(wait)),
            Sync::Collective => {
                let met = |s: &&mut Split| s.wait.meets(wait);
                let first =
                    self.splits.iter().filter(|s| s.wait.meets(wait)).min_by_key(|s| s.mask.trailing_zeros());
                let Some(pc) = first.map(|s| s.pc) else { return };
                self.splits.iter_mut().filter(met).for_each(|s| s.pc = pc);
                self.join(together, |w| w.meets(wait));
            }
        }
    }

    /// The threads that a split waits for by their mask, if all of them that live wait likewise.
    pub(crate) fn all_there(&self, split: &Split) -> Option<u32> {
        let needed = split.wait.members()? & self.live;
        (needed & !self.waiting(|w| w.meets(split.wait)) == 0).then_some(needed)
    }

    /// An instruction of the warp is about to issue: waits that have a limit come nearer to it.
    pub(crate) fn count_down(&mut self) {
        if self.splits.len() == 1 {
            return;
        }
        let mut out = false;
        for limit in self.splits.iter_mut().filter_map(|s| s.limit.as_mut()) {
            *limit = limit.saturating_sub(1);
            out |= *limit == 0;
        }
        if out {
            self.end_waits();
        }
    }

    /// Lets splits go on whose limit has passed; their threads are not waited for any longer.
    fn end_waits(&mut self) {
        for index in 0..self.splits.len() {
            let split = &mut self.splits[index];
            if let (Wait::Convergence(barrier), Some(0)) = (split.wait, split.limit) {
                let mask = split.mask;
                split.wait = Wait::Ready;
                split.limit = None;
                let row = &mut self.barriers[usize::from(barrier)];
                row.iter_mut().for_each(|threads| *threads &= !mask);
                lanes(mask).for_each(|lane| row[lane] = 0);
            }
        }
    }

    /// Threads went round a loop, or yielded in one. Those that wait for them at a convergence barrier may hold what
    /// they loop for: after a while these go on without them, as every thread is promised to make progress from sm_70 on
    /// ([PTX] forward progress; where the GPU lets them go is chosen).
    pub(crate) fn went_round(&mut self, weight: u32) {
        let waits = |s: &Split| matches!(s.wait, Wait::Convergence(_));
        if !self.independent || !self.splits.iter().any(waits) {
            self.rounds = 0;
            return;
        }
        self.rounds += weight;
        if self.rounds < ROUNDS_LIMIT {
            return;
        }
        self.rounds = 0;
        while let Some(wait) = self.splits.iter().find(|s| waits(s)).map(|s| s.wait) {
            let going = self.waiting(|w| w == wait);
            if let Wait::Convergence(barrier) = wait {
                let row = &mut self.barriers[usize::from(barrier)];
                row.iter_mut().for_each(|noted| *noted &= !going);
                lanes(going).for_each(|lane| row[lane] = 0);
            }
            self.join(going, |w| w == wait);
        }
        // A thread that waits elsewhere may have waited for them.
        self.converge();
    }

    /// The threads that go on together with a waiting split, if all that it waits for are there.
    fn complete(&self, split: &Split) -> Option<(u32, Wait)> {
        match split.wait {
            Wait::Convergence(barrier) => {
                let lane = split.mask.trailing_zeros() as usize % LANES;
                let needed = self.barriers[usize::from(barrier)][lane] & self.live;
                let there = self.waiting(|w| w == split.wait);
                (needed & !there == 0).then_some((needed | split.mask, split.wait))
            }
            Wait::WarpSync { .. } => self.all_there(split).map(|together| (together, split.wait)),
            Wait::Ready
            | Wait::Until(_)
            | Wait::Collective { .. }
            | Wait::Block(_)
            | Wait::Cluster
            | Wait::Groups(_) => None,
        }
    }

    /// Makes the splits within `mask` that wait for what `which` says ready, and those of them that
    /// are at the same place one. The split that arrived last comes first.
    pub(crate) fn join(&mut self, mask: u32, which: impl Fn(Wait) -> bool) {
        let current = self.splits.get(self.current).map(|s| s.mask);
        let mut joined: Vec<Split> = Vec::new();
        let mut rest = Vec::new();
        // The current split is the one that arrived last; the others keep the order of their turns, so that none
        // is left out while others meet and part.
        let last = self.current.min(self.splits.len());
        self.splits.rotate_left(last);
        for mut split in self.splits.drain(..) {
            if !which(split.wait) || split.mask & mask == 0 {
                rest.push(split);
                continue;
            }
            split.wait = Wait::Ready;
            split.limit = None;
            match joined.iter_mut().find(|s| s.pc == split.pc) {
                Some(first) => first.mask |= split.mask,
                None => joined.push(split),
            }
        }
        joined.append(&mut rest);
        self.splits = joined;
        let holds = |s: &Split| current.is_some_and(|mask| s.mask & mask != 0);
        self.current = self.splits.iter().position(holds).unwrap_or(0);
    }

    /// Registers and constants that the instruction of split `index` reads.
    pub(crate) fn view<'a>(&'a self, index: usize, constants: &'a ConstantBank) -> View<'a> {
        View::new(&self.registers, &self.splits[index].uniform, constants)
    }

    /// Index of the split that has the lowest lane of `mask`.
    pub(crate) fn split_of(&self, mask: u32) -> Option<usize> {
        self.splits.iter().position(|split| split.mask & mask & mask.wrapping_neg() != 0)
    }

    /// Writes a predicate in the lanes of `mask`; a uniform one takes the lowest of them.
    pub(crate) fn set_pred(&mut self, index: usize, pred: Pred, mask: u32, values: u32) {
        match pred {
            Pred::Uniform(7) => {}
            Pred::Thread(number) => self.registers.set_pred(number, mask, values),
            Pred::Uniform(number) => {
                let bit = 1 << (number & 7);
                let preds = &mut self.splits[index].uniform.preds;
                let holds = values >> (mask.trailing_zeros() % 32) & 1 != 0;
                *preds = if holds { *preds | bit } else { *preds & !bit };
            }
        }
    }
}
