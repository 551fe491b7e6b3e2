//! A decoded instruction.

use crate::alu::{Alu, Path};
use crate::control::{Control, WarpOp};
use crate::memory::{
    AsyncAccess, BarrierAccess, BulkCopy, ConstAccess, CopyArrival, GlobalAccess, SharedAccess, ThreadCopy,
};
use crate::order::Ordering;
use crate::register::{Pred, PredSource};
use crate::special::SpecialRegister;

/// Which lanes take part (spec 2.6).
pub type Guard = PredSource;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Compute.
    Alu(Alu),
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
    /// Whether each lane's generic address names shared memory (`QSPC.E.S`).
    QuerySpace {
        /// Result.
        pred_dst: Pred,
        /// The address.
        address: crate::memory::GlobalAddress,
        /// `.S`: shared memory of the own CTA; else (`.D`) that of the cluster.
        own: bool,
    },
    /// Direct threads.
    Control(Control),
    /// Look at other lanes.
    Warp(WarpOp),
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
