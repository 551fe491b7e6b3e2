//! Looking on while a kernel runs.

use atoms_isa::GlobalOp;
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};

/// Memory that holds a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Shared memory of the CTA with this number in the grid.
    Shared(u32),
    Global,
}

/// Threads of a warp that do something together.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// Lanes that are together at the instruction.
    pub together: u32,
    /// Lanes that take part, after the guard.
    pub mask: u32,
}

/// An access of the lanes of a warp, done.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The lanes whose access it is.
    pub threads: Threads,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    pub memory: Memory,
    /// Operation; those on mbarrier objects count as atomics.
    pub op: GlobalOp,
    pub size: Size,
    /// Byte address of each lane; of shared memory, in the CTA's allocation.
    pub addresses: &'a [u64; 32],
    /// Operand B of each lane.
    pub operand: &'a [u128; 32],
    /// Lanes whose compare-and-store stored, or whose phase is complete.
    pub stored: u32,
}

/// A copy, or an arrival after copies, that a lane asks for.
#[derive(Clone, Copy, Debug)]
pub struct CopyStart {
    /// Tells copies apart.
    pub number: u64,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    pub lane: u32,
    /// Memory and address of the first byte that is read; of shared memory, in the CTA's allocation. `None` if the
    /// instruction gives the data itself.
    pub from: Option<(Memory, u64)>,
    /// Memory and address of the first byte that is written, likewise; `None` for an arrival.
    pub to: Option<(Memory, u64)>,
    pub bytes: u32,
    /// The write is atomic.
    pub atomic: bool,
    /// The thread waits for it in groups, or for all of its copies.
    pub counted: bool,
}

/// Completion of a copy or an arrival at its mbarrier object.
#[derive(Clone, Copy, Debug)]
pub struct CopyDone {
    /// Number of the copy, as in [`CopyStart`].
    pub number: u64,
    /// CTA of the object.
    pub cta: u32,
    /// Byte address of the object in the CTA's allocation.
    pub address: u32,
    /// Operation on the object.
    pub op: Op,
    /// Operand B of the operation.
    pub b: u64,
}

/// What happens while a kernel runs. Instructions are told by their index in the kernel, CTAs by their number in the
/// grid.
#[derive(Clone, Copy, Debug)]
pub enum CoreEvent<'a> {
    /// Threads issue an instruction, which is written like this.
    Issue(Threads, u32, &'a str),
    /// A CTA starts: of this cluster, with these threads in each warp.
    Started(u32, u32, &'a [u32]),
    /// A CTA has gone.
    Ended(u32),
    /// Lanes have accessed memory, in the order in which the accesses were done.
    Accessed(Access<'a>),
    /// Threads arrive at the block barrier of this number, where they wait or do not.
    BlockBarrier(Threads, u32, bool),
    /// A lane asks for a copy, or for an arrival after its copies.
    CopyStarted(CopyStart),
    /// The completion of a copy, or the arrival, is done.
    CopyDone(CopyDone),
    /// An instruction takes, in these lanes, a pending count from a state that no noComplete arrival gave, which PTX
    /// leaves undefined (spec 6.9).
    ForeignPendingCount(u32, u32),
    /// An instruction reads, in these lanes, the register of a lane that takes no part in it, which PTX leaves undefined.
    ForeignLane(u32, u32),
    /// An instruction accesses, in these lanes, shared memory that the system reserves, though the kernel never reads where
    /// that lies.
    ReservedShared(u32, u32),
    /// An atomic names, in these lanes, memory of another CTA, where the unit does not carry it out.
    SplitAtomic(u32, u32),
    /// The port has taken a request that an instruction made; lane 0 of the request is this lane of the warp.
    Request(u32, u32, &'a In),
    /// The port has answered.
    Response(&'a Out),
    /// The cluster port has taken a request that an instruction made, or had made by a copy; `None` if that is no longer
    /// known.
    ClusterRequest(Option<u32>, &'a In),
    /// The cluster port has answered.
    ClusterResponse(&'a Out),
}

/// Receives the events of a run.
pub trait Observer {
    /// True if this observer wants to be told of [`CoreEvent::Started`], [`CoreEvent::Ended`], [`CoreEvent::Accessed`],
    /// [`CoreEvent::CopyStarted`] and [`CoreEvent::CopyDone`]. It is asked once, before anything runs.
    fn watches_memory(&self) -> bool {
        false
    }

    /// Handles an event. Clock cycles count from 0.
    fn observe(&mut self, cycle: u64, event: &CoreEvent<'_>);
}

/// Ignores all events.
impl Observer for () {
    fn observe(&mut self, _: u64, _: &CoreEvent<'_>) {}
}

/// Passes each event to all observers.
impl Observer for Vec<&mut dyn Observer> {
    fn watches_memory(&self) -> bool {
        self.iter().any(|observer| observer.watches_memory())
    }

    fn observe(&mut self, cycle: u64, event: &CoreEvent<'_>) {
        self.iter_mut().for_each(|observer| observer.observe(cycle, event));
    }
}
