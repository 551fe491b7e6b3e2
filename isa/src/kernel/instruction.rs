//! A decoded instruction.

use crate::kernel::alu::{Alu, Path};
use crate::kernel::compute::Compute;
use crate::kernel::control::{Collective, Control, WarpOp};
use crate::kernel::memory::{
    AsyncAccess, BarrierAccess, BulkCopy, ConstAccess, CopyArrival, GlobalAccess, LocalAccess, SharedAccess,
    ThreadCopy,
};
use crate::kernel::order::Ordering;
use crate::kernel::register::{Pred, PredSource};
use crate::kernel::source::Source;
use crate::kernel::special::SpecialRegister;

/// Which lanes take part (spec 2.6).
pub type Guard = PredSource;

/// P2R and R2P: predicates P0 to P6 as bits 0 to 6 of a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredicateMove {
    /// The predicates of each thread, or those of the warp; also the file of the registers.
    pub path: Path,
    /// Result register: `value` with the predicates in place of the bits of `mask`. Without one, the
    /// predicates of `mask` take the bits of `value`.
    pub dst: Option<u16>,
    /// Which byte of the register holds them, 0 to 3.
    pub byte: u8,
    /// Register operand.
    pub value: Source,
    /// Which predicates.
    pub mask: Source,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Compute.
    Alu(Alu),
    /// Compute, as PTX types it.
    Ptx(Compute),
    /// Read a special register.
    Special {
        /// Whether per lane or per warp; also the file `dst` names.
        path: Path,
        /// Result register.
        dst: u16,
        /// Fill the pair `dst`, `dst + 1`.
        wide: bool,
        /// What to read.
        register: SpecialRegister,
    },
    /// Load from a constant bank.
    Const(ConstAccess),
    /// Access shared memory.
    Shared(SharedAccess),
    /// Work on an mbarrier object.
    Barrier(BarrierAccess),
    /// Copy to shared memory, thread by thread.
    ThreadCopy(ThreadCopy),
    /// Tell an mbarrier object when the thread's copies are done.
    CopyArrival(CopyArrival),
    /// Copy a block to shared memory.
    BulkCopy(BulkCopy),
    /// Access shared memory of the cluster, and tell an mbarrier object.
    Async(AsyncAccess),
    /// Access global or generic memory.
    Global(GlobalAccess),
    /// Access the thread's own memory.
    Local(LocalAccess),
    /// Move predicates to a register, or back.
    Predicates(PredicateMove),
    /// Whether each lane's generic address names this memory (`QSPC.E.S`).
    QuerySpace {
        /// Result.
        pred_dst: Pred,
        /// The address.
        address: crate::kernel::memory::GlobalAddress,
        /// The space asked about.
        space: crate::kernel::compute::Window,
    },
    /// Direct threads.
    Control(Control),
    /// Look at the other lanes that are together with this one.
    Warp(WarpOp),
    /// Look at the other lanes of a mask.
    Collective(Collective),
    /// An instruction that exists and cannot be decoded here.
    Lacking,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// Which lanes take part.
    pub guard: Guard,
    /// What it does.
    pub operation: Operation,
    /// Memory order and scope, where the text says them: `.STRONG.GPU`, `atom.acquire.cta`.
    pub ordering: Option<Ordering>,
}
