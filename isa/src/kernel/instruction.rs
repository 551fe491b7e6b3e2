//! Decoded form of one instruction: guard, operation, memory order.

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

/// Condition under which a lane executes the instruction, as in `@!P0` (spec 2.6).
pub type Guard = PredSource;

/// P2R and R2P: copy predicates P0 to P6 to bits 0 to 6 of a byte in a register, or back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredicateMove {
    /// Datapath: selects the predicates of the thread or the uniform ones, and the register file.
    pub path: Path,
    /// Result register of P2R, which gets `value` with the predicates that `mask` selects inserted in the
    /// byte. `None` for R2P, which sets the predicates that `mask` selects to the bits of `value`.
    pub dst: Option<u16>,
    /// Number of the byte in the register, 0 to 3, that holds the predicates.
    pub byte: u8,
    pub value: Source,
    pub mask: Source,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    Compute(Compute),
    Special {
        path: Path,
        dst: u16,
        wide: bool,
        register: SpecialRegister,
    },
    Const(ConstAccess),
    Shared(SharedAccess),
    Fill(SharedFill),
    Barrier(BarrierAccess),
    ThreadCopy(ThreadCopy),
    CopyArrival(CopyArrival),
    BulkCopy(BulkCopy),
    Async(AsyncAccess),
    Global(GlobalAccess),
    Local(LocalAccess),
    Predicates(PredicateMove),
    /// `QSPC`: predicate result is true if the lane's generic address is in the window that `space` names.
    QuerySpace {
        pred_dst: Pred,
        address: crate::kernel::memory::GlobalAddress,
        space: crate::kernel::compute::Window,
    },
    Control(Control),
    Warp(WarpOp),
    Collective(Collective),
    Unsupported,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The instruction changes only state of the threads that execute it.
    Own,
    Time,
    /// A memory access that may only read. The response tells if a memory word changed.
    Access,
    Write,
    /// Threads reached a point, such as a barrier or their exit, for which other threads may wait.
    Arrival,
    Wait,
}

impl Operation {
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
    pub guard: Guard,
    pub operation: Operation,
    /// Memory order and scope, if the instruction states them, as `.STRONG.GPU` or `atom.acquire.cta` do.
    pub ordering: Option<Ordering>,
}
