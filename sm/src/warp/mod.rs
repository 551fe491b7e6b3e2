//! A warp: registers, and splits of threads that run together.
//!
//! A *split* is a set of threads at the same instruction. A divergent branch makes two splits of one. Splits
//! join where the code says so: at BSYNC, WARPSYNC and block barriers. The turn passes to another split when
//! the current one waits, at YIELD, and at every taken backward branch. So a retry loop in one split cannot
//! block the others.

mod arrival_states;
mod registers;

pub(crate) use arrival_states::high_words;
pub(crate) use registers::{LANES, Registers, Row, Uniform, View, groups, lanes, select};

use crate::memory::{ConstantBank, SharedPlace};
use arrival_states::States;
use atoms_isa::{Kernel, Pred};
use std::collections::BTreeMap;

/// Weight of a YIELD, in loop iterations. Compilers put YIELD into loops that wait for another thread.
pub(crate) const YIELD_WEIGHT: u32 = 16;

/// Weighted number of loop iterations of other threads after which waiting threads continue without
/// reconverging. [CHOSEN]
const ROUNDS_LIMIT: u32 = 512;

/// Every `UNEVEN` turns, one split is skipped. Otherwise splits and warps whose loops run in lockstep could
/// always find a lock taken by another one that has just checked it. [CHOSEN: a prime]
const UNEVEN: u32 = 61;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Ready,
    Until(u64),
    /// Waits for the threads recorded in this convergence barrier.
    Convergence(u8),
    /// Waits for the threads of this mask, at WARPSYNC with the same mask.
    WarpSync {
        mask: u32,
        sync: Sync,
    },
    /// Waits for the threads of this mask, at the same collective instruction with the same mask.
    Collective {
        mask: u32,
        /// Number of the mnemonic, including all qualifiers.
        kind: u32,
    },
    /// Waits for the other threads of the CTA, at this block barrier.
    Block(u8),
    /// Waits for the other threads of the cluster.
    Cluster,
    /// Waits until at most this many groups of copies are pending.
    Groups(u32),
}

/// Way in which threads continue after WARPSYNC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Join other groups at the same instruction.
    Plain,
    /// Only the threads of the mask, not joined with others.
    Exclusive,
    /// Like `Exclusive`, but all threads continue at one common instruction.
    Collective,
}

impl Wait {
    /// Mask of the threads for which a thread waits. `None` for waits without a mask.
    pub(crate) fn members(self) -> Option<u32> {
        match self {
            Wait::WarpSync { mask, .. } | Wait::Collective { mask, .. } => Some(mask),
            _ => None,
        }
    }

    /// True if threads with these two waits wait for each other.
    pub(crate) fn meets(self, other: Wait) -> bool {
        match (self, other) {
            (Wait::WarpSync { mask: a, sync: x }, Wait::WarpSync { mask: b, sync: y }) => {
                a == b && (x == Sync::Collective) == (y == Sync::Collective)
            }
            (a, b) => a == b,
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) mask: u32,
    pub(crate) pc: u32,
    pub(crate) wait: Wait,
    /// Number of further instructions of the warp after which a split stops waiting to reconverge. `None` if
    /// there is no limit.
    pub(crate) limit: Option<u32>,
    // Boxed because splits are moved whenever threads meet.
    pub(crate) uniform: Box<Uniform>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    No,
    Until(u64),
    /// The warp waits for the responses to its requests.
    Request,
}

/// Last phase that each lane tested with SYNCS.PHASECHK.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Address of the mbarrier object, per lane.
    pub(crate) address: Row,
    /// Instruction that tested, per lane.
    pub(crate) pc: Row,
    /// Lanes that tested the odd phase.
    pub(crate) parity: u32,
    /// Lanes whose last test had `.TRYWAIT`. A sleep refers to the object of this test.
    pub(crate) tried: u32,
    /// Lanes whose phase was not complete.
    pub(crate) open: u32,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Warp {
    pub(crate) cta_slot: usize,
    /// Number of the warp in its CTA.
    pub(crate) number: u32,
    pub(crate) registers: Registers,
    /// Threads recorded in each convergence barrier, from the view of each thread.
    pub(crate) barriers: [Row; 16],
    pub(crate) splits: Vec<Split>,
    /// Index of the split that has the turn.
    pub(crate) current: usize,
    /// Number of times that the turn was passed on.
    pub(crate) turns: u32,
    /// True if threads stop waiting to reconverge after a while (independent thread scheduling). From sm_70
    /// on.
    pub(crate) independent: bool,
    /// Threads that have not ended.
    pub(crate) live: u32,
    pub(crate) busy: Busy,
    /// Target of the last posted request to another CTA. `None` if the warp has waited for its posted
    /// requests since.
    pub(crate) posted: Option<SharedPlace>,
    /// Number of cluster-port requests for which the warp waits: until the response, or until acceptance for
    /// posted requests.
    pub(crate) remote: u32,
    /// Threads that have arrived at the cluster barrier in its current phase.
    pub(crate) at_cluster: u32,
    /// Threads that have arrived at the cluster barrier and not waited since.
    pub(crate) owes_wait: u32,
    /// Low and high words of the return program counter.
    pub(crate) return_pc: [Row; 2],
    /// Instruction at which each thread continues after its collective region.
    pub(crate) resume: Row,
    pub(crate) asked: Asked,
    pub(crate) states: States,
    /// Weighted number of loop iterations of other threads since threads wait to reconverge.
    pub(crate) rounds: u32,
    /// Result of the last block barrier with a vote, per thread.
    pub(crate) vote: Row,
    /// Local memory of each thread, by word number.
    pub(crate) local: BTreeMap<u32, Row>,
}

impl Warp {
    /// Makes a warp whose lanes of `mask` start at the first instruction.
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
            owes_wait: 0,
            return_pc: [[0; LANES]; 2],
            resume: [0; LANES],
            asked: Asked { address: [0; LANES], pc: [0; LANES], parity: 0, tried: 0, open: 0 },
            states: States::default(),
            rounds: 0,
            vote: [0; LANES],
            local: BTreeMap::new(),
        }
    }

    /// First cycle in which the warp can issue. `u64::MAX` if another event must happen first.
    pub(crate) fn due(&self) -> u64 {
        let due = |split: &Split| match split.wait {
            Wait::Ready => Some(0),
            Wait::Until(end) => Some(end),
            _ => None,
        };
        let Some(earliest) = self.splits.iter().filter_map(due).min() else { return u64::MAX };
        match self.busy {
            Busy::No => earliest,
            Busy::Until(end) => end.max(earliest),
            Busy::Request => u64::MAX,
        }
    }

    /// Ends the wait for the request, unless cluster-port requests are pending.
    pub(crate) fn end_request(&mut self) {
        if self.remote == 0 {
            self.busy = Busy::No;
        }
    }

    /// Returns the split that has the turn in this cycle. If that split waits, passes the turn on.
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

    pub(crate) fn pass_turn(&mut self) {
        self.turns = self.turns.wrapping_add(1);
        let step = if self.turns.is_multiple_of(UNEVEN) { 2 } else { 1 };
        self.current = (self.current + step) % self.splits.len().max(1);
    }

    /// Moves the lanes of `mask` from split `index` to a new split at `pc`. The turn does not change.
    pub(crate) fn part(&mut self, index: usize, mask: u32, pc: u32) {
        let split = &mut self.splits[index];
        split.mask &= !mask;
        let uniform = split.uniform.clone();
        self.splits.push(Split { mask, pc, wait: Wait::Ready, limit: None, uniform });
    }

    pub(crate) fn exit(&mut self, index: usize, mask: u32) {
        self.live &= !mask;
        self.splits[index].mask &= !mask;
        if self.splits[index].mask == 0 {
            self.splits.remove(index);
            self.current = if self.splits.is_empty() { 0 } else { index % self.splits.len() };
        }
    }

    pub(crate) fn waiting(&self, which: impl Fn(Wait) -> bool) -> u32 {
        self.splits.iter().filter(|s| which(s.wait)).fold(0, |mask, s| mask | s.mask)
    }

    /// Releases every waiting split for which all awaited threads have arrived.
    pub(crate) fn converge(&mut self) {
        // Terminates because each iteration makes at least one waiting split ready.
        while let Some((together, wait)) = self.splits.iter().find_map(|s| self.complete(s)) {
            match wait {
                Wait::Convergence(barrier) => {
                    lanes(together).for_each(|lane| self.barriers[usize::from(barrier)][lane] = 0);
                    self.join(together, |w| w == wait);
                }
                Wait::WarpSync { sync, .. } => self.release(together, wait, sync),
                _ => {}
            }
        }
        // The threads can continue alone if no running thread is left that could arrive.
        let goes_on =
            |s: &Split| matches!(s.wait, Wait::Ready | Wait::Until(_)) || self.all_there(s).is_some();
        if !self.splits.iter().any(goes_on) {
            self.splits.iter_mut().for_each(|s| s.limit = s.limit.map(|_| 0));
            self.end_waits();
        }
    }

    /// Releases the threads that have met at WARPSYNC.
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

    /// Returns the threads that a split waits for, if all live ones wait with the same mask and instruction.
    pub(crate) fn all_there(&self, split: &Split) -> Option<u32> {
        let needed = split.wait.members()? & self.live;
        (needed & !self.waiting(|w| w.meets(split.wait)) == 0).then_some(needed)
    }

    /// Decrements the limits of waiting splits. Called before each instruction of the warp.
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

    /// Releases the waiting splits whose instruction limit is used up. Other threads no longer wait for the
    /// threads of these splits.
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

    /// Records loop iterations or yields of threads. Threads that wait to reconverge with them may hold a
    /// lock for which the loop waits. So after a while the waiting threads continue alone: from sm_70 on,
    /// every thread makes progress ([PTX] forward progress; the point at which they continue is chosen).
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
        // A thread that waits elsewhere may have waited for the released threads, so check all waits again.
        self.converge();
    }

    /// Returns the threads that continue with a waiting split, and the wait, if all awaited threads have
    /// arrived.
    fn complete(&self, split: &Split) -> Option<(u32, Wait)> {
        match split.wait {
            Wait::Convergence(barrier) => {
                let lane = split.mask.trailing_zeros() as usize % LANES;
                let needed = self.barriers[usize::from(barrier)][lane] & self.live;
                let there = self.waiting(|w| w == split.wait);
                (needed & !there == 0).then_some((needed | split.mask, split.wait))
            }
            Wait::WarpSync { .. } => self.all_there(split).map(|together| (together, split.wait)),
            _ => None,
        }
    }

    /// Makes the splits in `mask` whose wait satisfies `which` ready, and merges those at the same
    /// instruction. The split that arrived last comes first.
    pub(crate) fn join(&mut self, mask: u32, which: impl Fn(Wait) -> bool) {
        let current = self.splits.get(self.current).map(|s| s.mask);
        let mut joined: Vec<Split> = Vec::new();
        let mut rest = Vec::new();
        // The current split arrived last. The others keep the order of their turns, so that none starves
        // while others meet and diverge.
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

    /// Registers and constants as the instruction of split `index` sees them.
    pub(crate) fn view<'a>(&'a self, index: usize, constants: &'a ConstantBank) -> View<'a> {
        View::new(&self.registers, &self.splits[index].uniform, constants)
    }

    /// Index of the split that contains the lowest lane of `mask`.
    pub(crate) fn split_of(&self, mask: u32) -> Option<usize> {
        self.splits.iter().position(|split| split.mask & mask & mask.wrapping_neg() != 0)
    }

    /// Writes a predicate in the lanes of `mask`. A uniform predicate takes the value of the lowest lane.
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
