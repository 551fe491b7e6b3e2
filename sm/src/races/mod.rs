//! Race detector: finds conflicting accesses without an order between them, and atomics that are not atomic
//! to each other (spec 7.4).
//!
//! [`Races`] observes a run. For each thread, a vector clock holds the events known to have happened before
//! (`engine.rs`). For each word, shadow memory holds the accesses that a later access may conflict with
//! (`shadow.rs`). `rules` classifies instructions; `sync.rs` handles synchronization through memory. Threads
//! of a split are ordered with each other, because `__syncwarp` leaves no trace in machine code there.
//!
//! A finding is valid for every run with the same synchronization. Another run may have more findings.

mod clock;
mod engine;
mod finding;
pub(crate) mod rules;
mod shadow;
mod sync;
mod warp;

#[cfg(test)]
mod tests;

pub use crate::observer::Memory;
pub use finding::{Finding, Party, Proxy, RaceChecks, RaceKind, Strength, Text};

use crate::observer::{Access, CoreEvent, Observer, Threads};
use crate::warp::{groups, lanes};
use atoms_isa::{Control, GlobalOp, Kernel, Operation, ProxySpace, Semantics};
use atoms_ops::{Op, OpClass, ResultKind, Size};
use engine::{Engine, Rule, Touch};
use warp::Barrier;

pub struct Races<'k> {
    kernel: &'k Kernel,
    text: Text,
    rules: Vec<Rule>,
    engine: Engine,
}

impl<'k> Races<'k> {
    pub fn new(kernel: &'k Kernel, text: Text) -> Self {
        Races { kernel, text, rules: rules::of(kernel, text), engine: Engine::new(text) }
    }

    /// Proxy fences that ordered no access before a copy, by instruction. Only in PTX.
    pub fn idle_fences(&self) -> impl Iterator<Item = u32> {
        self.engine.findings.idle_fences()
    }

    /// Findings, one per kind and pair of instructions, in this order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.engine.findings.iter()
    }
}

impl Races<'_> {
    /// Records each 8 bytes of a plain store as a possible mbarrier object, because compilers may initialize
    /// objects with plain stores.
    fn stored(&mut self, access: &Access<'_>) {
        if access.size == Size::U64 && self.text == Text::Machine {
            self.engine.initialized(access.threads);
        }
        for lane in lanes(access.threads.mask) {
            let (address, bits) = (access.addresses[lane], access.operand[lane]);
            for object in 0..access.size.bytes() / 8 {
                let bits = (bits >> (64 * object)) as u64;
                self.engine.init(access.memory, address + u64::from(8 * object), bits);
            }
        }
    }
}

impl Observer for Races<'_> {
    fn watches_memory(&self) -> bool {
        true
    }

    fn observe(&mut self, cycle: u64, event: &CoreEvent<'_>) {
        match event {
            CoreEvent::Started(cta, cluster, threads) => self.engine.start(*cta, *cluster, threads),
            CoreEvent::Ended(cta) => self.engine.end(*cta),
            CoreEvent::Issue(threads, pc, _) => self.issue(cycle, *threads, *pc),
            CoreEvent::BlockBarrier(threads, barrier, waits) => {
                self.engine.arrive(*threads, Barrier::Block(*barrier), *waits);
            }
            CoreEvent::BlockComplete(cta, barrier, ended) => {
                self.engine.complete(*cta, Barrier::Block(*barrier), *ended);
            }
            CoreEvent::WarpSync(threads, members) if self.text == Text::Ptx => {
                self.engine.arrive(*threads, Barrier::Warp(*members), true);
            }
            CoreEvent::Accessed(access) => self.accessed(cycle, access),
            CoreEvent::CopyStarted(copy) => match copy.to {
                Some(to) => {
                    let instruction = self.kernel.instructions.get(copy.pc as usize);
                    let is_bulk = instruction.is_some_and(|i| matches!(i.operation, Operation::BulkCopy(_)));
                    self.engine.copy(cycle, copy, to, is_bulk);
                }
                None => self.engine.copy_arrival(copy),
            },
            CoreEvent::CopyDone(done) => self.engine.completed(done),
            CoreEvent::WarpSync(..)
            | CoreEvent::ForeignPendingCount(..)
            | CoreEvent::ForeignLane(..)
            | CoreEvent::ReservedShared(..)
            | CoreEvent::SplitAtomic(..)
            | CoreEvent::Request(..)
            | CoreEvent::Response(_)
            | CoreEvent::ClusterRequest(..)
            | CoreEvent::ClusterResponse(_) => {}
        }
    }
}

impl Races<'_> {
    fn issue(&mut self, cycle: u64, threads: Threads, pc: u32) {
        self.engine.issue(threads, pc, cycle);
        let instruction = self.kernel.instructions.get(pc as usize);
        let Some(instruction) = instruction.filter(|_| threads.mask != 0) else { return };
        let ordering = instruction.ordering;
        let control = match &instruction.operation {
            // In machine code, a collective instruction may stand for one with `__syncwarp`.
            Operation::Collective(_) | Operation::Control(Control::WarpSync { .. })
                if self.text == Text::Machine =>
            {
                return self.engine.arrive(threads, Barrier::Warp(u32::MAX), true);
            }
            Operation::Control(control) => control,
            _ => return,
        };
        match control {
            Control::Exit => self.engine.exit(threads),
            Control::ClusterArrive => {
                let release = match (ordering, self.text) {
                    (Some(ordering), _) => ordering.semantics.releases(),
                    (None, text) => text == Text::Ptx,
                };
                self.engine.cluster_arrive(threads, release);
            }
            Control::ClusterWait => self.engine.cluster_wait(threads),
            Control::EndGroup(kind) => self.engine.end_group(threads, *kind),
            // A waiting thread executes nothing before its wait ends, so the wait may be recorded at issue.
            Control::WaitGroups { most, kind, read } => self.engine.wait_groups(threads, *most, *kind, *read),
            Control::ProxyFence(space) => self.engine.proxy_fence(threads, pc, *space),
            Control::InitFence => self.engine.init_fence(threads),
            Control::Fence => {
                if let Some(ordering) = ordering {
                    self.engine.fence(threads, ordering.semantics, ordering.scope);
                }
                if ordering.is_some_and(|ordering| ordering.semantics == Semantics::AcquireProxy) {
                    self.engine.proxy_fence(threads, pc, ProxySpace::Cluster);
                }
            }
            _ => {}
        }
    }

    fn accessed(&mut self, cycle: u64, access: &Access<'_>) {
        let mask = access.threads.mask;
        let instruction = self.kernel.instructions.get(access.pc as usize);
        if instruction.is_some_and(|i| matches!(i.operation, Operation::Control(Control::Sleep { .. }))) {
            // A sleep reads the mbarrier object only to end in time. Threads learn nothing from this read.
            return;
        }
        let rule = self.rules.get(access.pc as usize).copied().unwrap_or(Rule::WEAK);
        let op = match access.op {
            GlobalOp::Atomic(op) => Some(op),
            _ => None,
        };
        let (reads, writes) = match access.op {
            GlobalOp::Load => (mask, 0),
            GlobalOp::Store => (0, mask),
            GlobalOp::Wide(_) => (mask, mask),
            GlobalOp::Atomic(op) => match (op.row().class, op.row().result) {
                // A CAST that fails tells the thread nothing about the word (spec 5.3).
                (OpClass::Compare, ResultKind::Flag) => (access.stored, access.stored),
                (OpClass::Compare, _) => (mask, access.stored),
                (OpClass::Barrier, ResultKind::Predicate) => (access.stored, 0),
                (OpClass::Update | OpClass::Load | OpClass::Store | OpClass::Barrier, _) => (mask, mask),
            },
        };
        let touch = Touch {
            threads: access.threads,
            pc: access.pc,
            cycle,
            memory: access.memory,
            addresses: access.addresses,
            bytes: access.size.bytes(),
            reads,
            writes,
            values: (access.op == GlobalOp::Store).then_some(access.operand),
            rule,
            object: op.is_some_and(|op| op.is_mbarrier() && op != Op::MbarArriveSm80),
        };
        // Two-word objects are handled like plain words.
        let Some(op) = op.filter(|_| touch.object) else {
            self.engine.access(&touch);
            if access.op == GlobalOp::Store && access.memory != Memory::Global {
                self.stored(access);
            }
            return;
        };
        self.engine.conflicts(&touch);
        if op == Op::MbarInit {
            self.engine.initialized(access.threads);
        }
        let key = |lane: usize| {
            (access.addresses[lane], access.operand[lane] as u64, access.stored >> lane & 1 != 0)
        };
        for group in groups(access.threads.mask, key) {
            let (address, b, stored) = key(group.trailing_zeros() as usize);
            match op {
                Op::MbarInit => self.engine.init(access.memory, address, b),
                Op::MbarInval => {}
                Op::MbarTestWait | Op::MbarTryWait if !stored => {}
                _ => self.engine.object(&touch, group, op, b),
            }
        }
    }
}
