//! Events of a run, for observers.

use atoms_isa::GlobalOp;
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Shared memory of the CTA with this number in the grid.
    Shared(u32),
    Global,
}

/// Threads of a warp that execute an instruction together.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    pub cta: u32,
    pub warp: u32,
    /// Lanes of the split.
    pub together: u32,
    /// Active lanes, after the guard.
    pub mask: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    pub threads: Threads,
    pub pc: u32,
    pub memory: Memory,
    /// Operation. Operations on mbarrier objects count as atomics.
    pub op: GlobalOp,
    pub size: Size,
    /// Byte address of each lane. For shared memory: the offset in the CTA's allocation.
    pub addresses: &'a [u64; 32],
    pub operand: &'a [u128; 32],
    /// Lanes whose compare-and-store stored, or whose phase is complete.
    pub stored: u32,
}

/// Start of a copy, or of an arrival after copies.
#[derive(Clone, Copy, Debug)]
pub struct CopyStart {
    pub number: u64,
    pub pc: u32,
    pub cta: u32,
    pub warp: u32,
    pub lane: u32,
    /// Memory and address of the first byte read. For shared memory: the offset in the CTA's allocation.
    /// `None` if the instruction contains the data.
    pub from: Option<(Memory, u64)>,
    /// Memory and address of the first byte written, in the same form. `None` for an arrival.
    pub to: Option<(Memory, u64)>,
    pub bytes: u32,
    /// Number of bytes read; fewer than `bytes` if zeros follow.
    pub read_bytes: u32,
    /// True if the write is atomic.
    pub atomic: bool,
    /// True if the thread can wait for the copy by groups, or for all of its copies.
    pub counted: bool,
}

/// Completion of a copy, or of an arrival, at its mbarrier object.
#[derive(Clone, Copy, Debug)]
pub struct CopyDone {
    pub number: u64,
    /// CTA that owns the object.
    pub cta: u32,
    /// Byte offset of the object in the CTA's allocation.
    pub address: u32,
    pub op: Op,
    pub b: u64,
}

/// Event of a run. Instructions are given by their index in the kernel, CTAs by their number in the grid, and
/// sets of lanes by a mask.
#[derive(Clone, Copy, Debug)]
pub enum CoreEvent<'a> {
    /// Threads issue the instruction with this index and source text.
    Issue(Threads, u32, &'a str),
    /// A CTA starts. Number of the CTA, number of its cluster, threads of each warp.
    Started(u32, u32, &'a [u32]),
    /// A CTA has released its slot.
    Ended(u32),
    /// Lanes have accessed memory. Events come in the order of the accesses.
    Accessed(Access<'a>),
    /// Threads arrive at the block barrier with this number. The flag is true if they wait.
    BlockBarrier(Threads, u32, bool),
    /// A phase of a block barrier is complete. Number of the CTA, number of the barrier. The flag is true if ended
    /// threads count as arrived: the barrier has no count.
    BlockComplete(u32, u32, bool),
    /// Threads arrive at a WARPSYNC with this member mask.
    WarpSync(Threads, u32),
    CopyStarted(CopyStart),
    CopyDone(CopyDone),
    /// Some lanes take a pending count from a state of another arrival than noComplete, which PTX leaves
    /// undefined (spec 6.9).
    ForeignPendingCount(u32, u32),
    /// Some lanes read the register of an inactive lane, which PTX leaves undefined.
    ForeignLane(u32, u32),
    /// Some lanes access shared memory that the system reserves, and the kernel never reads its offset.
    ReservedShared(u32, u32),
    /// Some lanes name memory of another CTA in an atomic that the unit does not execute as one operation.
    SplitAtomic(u32, u32),
    /// The port has accepted a warp request. Index of the instruction, lane of the warp that is lane 0 of the
    /// request, input pins.
    Request(u32, u32, &'a In),
    Response(&'a Out),
    /// The cluster port has accepted a request. Index of the instruction that caused it, directly or through
    /// a copy. `None` if the copy no longer exists.
    ClusterRequest(Option<u32>, &'a In),
    ClusterResponse(&'a Out),
}

pub trait Observer {
    /// True if the observer needs [`CoreEvent::Started`], [`CoreEvent::Ended`], [`CoreEvent::Accessed`],
    /// [`CoreEvent::CopyStarted`] and [`CoreEvent::CopyDone`]. Called once, before the run.
    fn watches_memory(&self) -> bool {
        false
    }

    /// Handles an event. Cycles count from 0.
    fn observe(&mut self, cycle: u64, event: &CoreEvent<'_>);
}

impl Observer for () {
    fn observe(&mut self, _: u64, _: &CoreEvent<'_>) {}
}

impl Observer for Vec<&mut dyn Observer> {
    fn watches_memory(&self) -> bool {
        self.iter().any(|observer| observer.watches_memory())
    }

    fn observe(&mut self, cycle: u64, event: &CoreEvent<'_>) {
        self.iter_mut().for_each(|observer| observer.observe(cycle, event));
    }
}
