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

/// Lanes that take part (spec 2.6).
pub type Guard = PredSource;

/// P2R and R2P: predicates P0 to P6 as bits 0 to 6 of a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredicateMove {
    /// The predicates of each thread, or those of the warp; also the file of the registers.
    pub path: Path,
    /// Result register: `value` with the predicates in place of the bits of `mask`. Without one, the
    /// predicates of `mask` take the bits of `value`.
    pub dst: Option<u16>,
    /// Byte of the register that holds them, 0 to 3.
    pub byte: u8,
    pub value: Source,
    pub mask: Source,
}

/// Operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    Compute(Compute),
    /// Read a special register.
    Special {
        /// Per lane or per warp; also the register file of `dst`.
        path: Path,
        dst: u16,
        /// Fill the pair `dst`, `dst + 1`.
        wide: bool,
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
    /// Predicate: each lane's generic address names this memory (`QSPC.E.S`).
    QuerySpace {
        pred_dst: Pred,
        address: crate::kernel::memory::GlobalAddress,
        space: crate::kernel::compute::Window,
    },
    Control(Control),
    /// Look at the other lanes that are together with this one.
    Warp(WarpOp),
    /// Look at the other lanes of a mask.
    Collective(Collective),
    /// An instruction that exists and cannot be decoded here.
    Unsupported,
}

/// Effect of an instruction that other threads can observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No effect: only state of the threads themselves changes.
    Own,
    /// No effect, but the result depends on time.
    Time,
    /// Memory is accessed; whether a word changes, the answer tells.
    Access,
    /// Memory changes, now or later.
    Write,
    /// Threads have come to where others wait for them.
    Arrival,
    /// No effect: threads wait for others.
    Wait,
}

impl Operation {
    /// Gives the effect that other threads can observe.
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
            | Operation::Unsupported => Effect::Own,
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// Lanes that take part.
    pub guard: Guard,
    pub operation: Operation,
    /// Memory order and scope, where the text says them: `.STRONG.GPU`, `atom.acquire.cta`.
    pub ordering: Option<Ordering>,
}
