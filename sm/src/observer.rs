//! Looking on while a kernel runs.

use atoms_isa::GlobalOp;
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};

/// Which memory a word is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Shared memory of the CTA with this number in the grid.
    Shared(u32),
    /// Global memory.
    Global,
}

/// One instruction issued.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'k> {
    /// Clock cycle, from 0.
    pub cycle: u64,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Lanes that take part, after the guard.
    pub mask: u32,
    /// Lanes that are together at the instruction.
    pub together: u32,
    /// The instruction as written.
    pub text: &'k str,
}

/// A CTA started.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Number in the grid.
    pub cta: u32,
    /// Number of its cluster in the grid.
    pub cluster: u32,
    /// Threads of each warp.
    pub threads: &'a [u32],
}

/// An access of the lanes of a warp, done.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Clock cycle in which it is known to be done.
    pub cycle: u64,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Lanes that are together.
    pub together: u32,
    /// Lanes whose access it is.
    pub mask: u32,
    /// Which memory.
    pub memory: Memory,
    /// What was done; operations on mbarrier objects among the atomics.
    pub op: GlobalOp,
    /// Its size.
    pub size: Size,
    /// Byte address of each lane; of shared memory, in the CTA's part.
    pub addresses: &'a [u64; 32],
    /// Operand B of each lane.
    pub operand: &'a [u128; 32],
    /// Lanes whose compare-and-store stored, or whose phase is complete.
    pub stored: u32,
}

/// A copy, or an arrival after copies, that a lane asks for.
#[derive(Clone, Copy, Debug)]
pub struct CopyStart {
    /// Clock cycle.
    pub cycle: u64,
    /// Tells copies apart.
    pub number: u64,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// The lane.
    pub lane: u32,
    /// Memory and address of the first byte that is read; of shared memory, in the CTA's part. `None` if the
    /// instruction gives the data itself.
    pub from: Option<(Memory, u64)>,
    /// Memory and address of the first byte that is written, likewise; `None` for an arrival.
    pub to: Option<(Memory, u64)>,
    /// Bytes copied.
    pub bytes: u32,
    /// The write is atomic.
    pub atomic: bool,
    /// The thread waits for it in groups, or for all of its copies.
    pub counted: bool,
}

/// What was asked for is done at the mbarrier object.
#[derive(Clone, Copy, Debug)]
pub struct CopyDone {
    /// As in [`CopyStart`].
    pub number: u64,
    /// CTA of the object.
    pub cta: u32,
    /// Byte address of the object in the CTA's part.
    pub address: u32,
    /// What was done there.
    pub op: Op,
    /// With this count.
    pub b: u64,
}

/// Is told what happens; every method does nothing unless overridden.
pub trait Observer {
    /// An instruction is issued.
    fn issue(&mut self, issue: &Issue<'_>) {
        let _ = issue;
    }

    /// Whether this observer wants to be told of [`Observer::started`], [`Observer::ended`],
    /// [`Observer::accessed`], [`Observer::block_barrier`], [`Observer::copy_started`] and
    /// [`Observer::copy_done`]. It is asked once, before anything runs.
    fn watches_memory(&self) -> bool {
        false
    }

    /// A CTA starts.
    fn started(&mut self, start: &Start<'_>) {
        let _ = start;
    }

    /// A CTA has gone.
    fn ended(&mut self, cta: u32) {
        let _ = cta;
    }

    /// Lanes have accessed memory, in the order in which the accesses were done.
    fn accessed(&mut self, access: &Access<'_>) {
        let _ = access;
    }

    /// Threads arrive at a block barrier, where they wait or do not.
    fn block_barrier(&mut self, issue: &Issue<'_>, barrier: u32, waits: bool) {
        let _ = (issue, barrier, waits);
    }

    /// A lane asks for a copy, or for an arrival after its copies.
    fn copy_started(&mut self, start: &CopyStart) {
        let _ = start;
    }

    /// The completion of a copy, or the arrival, is done.
    fn copy_done(&mut self, done: &CopyDone) {
        let _ = done;
    }

    /// Instruction `pc` takes, in the lanes of `mask`, a pending count from a state that no noComplete
    /// arrival gave, which PTX leaves undefined (spec 6.9).
    fn foreign_pending_count(&mut self, cycle: u64, pc: u32, mask: u32) {
        let _ = (cycle, pc, mask);
    }

    /// Instruction `pc` reads, in the lanes of `mask`, the register of a lane that takes no part in it, which PTX
    /// leaves undefined.
    fn foreign_lane(&mut self, cycle: u64, pc: u32, mask: u32) {
        let _ = (cycle, pc, mask);
    }

    /// The port has taken the request in `inputs`, which instruction `pc` made; its lane 0 is lane `first` of
    /// the warp.
    fn request(&mut self, cycle: u64, pc: u32, first: u32, inputs: &In) {
        let _ = (cycle, pc, first, inputs);
    }

    /// The port has answered with `outputs`.
    fn response(&mut self, cycle: u64, outputs: &Out) {
        let _ = (cycle, outputs);
    }

    /// The port has woken a request with `outputs`.
    fn wake(&mut self, cycle: u64, outputs: &Out) {
        let _ = (cycle, outputs);
    }

    /// The cluster port has taken the request in `inputs`, which instruction `pc` made, or had made by a
    /// copy; `None` if that is no longer known.
    fn cluster_request(&mut self, cycle: u64, pc: Option<u32>, inputs: &In) {
        let _ = (cycle, pc, inputs);
    }

    /// The cluster port has answered with `outputs`.
    fn cluster_response(&mut self, cycle: u64, outputs: &Out) {
        let _ = (cycle, outputs);
    }
}

/// Looks away.
impl Observer for () {}

/// Every method that tells something, each told to whom `$all` says.
macro_rules! forward {
    ($self:ident => $all:expr) => {
        forward! { $self, each => $all;
            issue(issue: &Issue<'_>);
            started(start: &Start<'_>);
            ended(cta: u32);
            accessed(access: &Access<'_>);
            block_barrier(issue: &Issue<'_>, barrier: u32, waits: bool);
            copy_started(start: &CopyStart);
            copy_done(done: &CopyDone);
            foreign_pending_count(cycle: u64, pc: u32, mask: u32);
            foreign_lane(cycle: u64, pc: u32, mask: u32);
            request(cycle: u64, pc: u32, first: u32, inputs: &In);
            response(cycle: u64, outputs: &Out);
            wake(cycle: u64, outputs: &Out);
            cluster_request(cycle: u64, pc: Option<u32>, inputs: &In);
            cluster_response(cycle: u64, outputs: &Out);
        }
    };
    ($self:ident, $each:ident => $all:expr; $($name:ident($($arg:ident: $of:ty),*);)*) => {
        $(fn $name(&mut $self, $($arg: $of),*) {
            let mut tell = |$each: &mut dyn Observer| $each.$name($($arg),*);
            $all(&mut tell);
        })*
    };
}

/// Two observers.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn watches_memory(&self) -> bool {
        self.0.watches_memory() || self.1.watches_memory()
    }

    forward! { self => |tell: &mut dyn FnMut(&mut dyn Observer)| { tell(&mut self.0); tell(&mut self.1); } }
}

/// An observer, or none.
impl<A: Observer> Observer for Option<A> {
    fn watches_memory(&self) -> bool {
        self.as_ref().is_some_and(Observer::watches_memory)
    }

    forward! { self => |tell: &mut dyn FnMut(&mut dyn Observer)| {
        if let Some(observer) = self {
            tell(observer);
        }
    } }
}
