//! A decoded instruction.

use crate::kernel::compute::{Compute, Path};
use crate::kernel::control::{Collective, Control, WarpOp};
use crate::kernel::memory::{
    AsyncAccess, BarrierAccess, BulkCopy, ConstAccess, CopyArrival, GlobalAccess, GlobalOp, LocalAccess,
    SharedAccess, SharedFill, ThreadCopy,
};
use crate::kernel::order::Ordering;
use crate::kernel::register::{Pred, PredSource};
use crate::kernel::source::Source;
use crate::kernel::special::SpecialRegister;
use atoms_ops::Op;

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
    Compute(Compute),
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
    /// Store zeros to a range of shared memory.
    Fill(SharedFill),
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

/// What other threads can see of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it changes what the threads have to themselves.
    Own,
    /// Nothing, but it depends on time.
    Time,
    /// Memory is accessed; whether a word changes, the answer tells.
    Access,
    /// Memory changes, now or later.
    Write,
    /// Threads have come to where others wait for them.
    Arrival,
    /// Nothing: threads wait for others.
    Wait,
}

impl Operation {
    /// What other threads can see of it.
    pub fn effect(&self) -> Effect {
        match self {
            Operation::Special { register, .. } if register.is_time() => Effect::Time,
            Operation::Compute(_)
            | Operation::Special { .. }
            | Operation::Const(_)
            | Operation::Local(_)
            | Operation::Predicates(_)
            | Operation::QuerySpace { .. }
            | Operation::Warp(_)
            | Operation::Collective(_)
            | Operation::Lacking => Effect::Own,
            Operation::Global(access) if matches!(access.op, GlobalOp::Load | GlobalOp::Atomic(_)) => {
                Effect::Access
            }
            Operation::Barrier(access) if access.op.only_reads() && access.op != Op::MbarInval => {
                Effect::Access
            }
            Operation::Shared(_) => Effect::Access,
            Operation::Global(_)
            | Operation::Fill(_)
            | Operation::Barrier(_)
            | Operation::ThreadCopy(_)
            | Operation::CopyArrival(_)
            | Operation::BulkCopy(_)
            | Operation::Async(_) => Effect::Write,
            Operation::Control(Control::Exit | Control::Block(_) | Control::ClusterArrive) => Effect::Arrival,
            Operation::Control(Control::ClusterWait) => Effect::Wait,
            Operation::Control(_) => Effect::Own,
        }
    }
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
