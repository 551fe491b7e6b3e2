//! Instructions for control flow, barriers, and exchange between the lanes of a warp.

use crate::kernel::register::{BarrierRegister, Pred, PredSource, Reg, UReg};
use crate::kernel::source::Source;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BranchCondition {
    Thread,
    /// `BRA.U`: one decision for all converged threads. The condition is a uniform predicate, or the guard,
    /// which the compiler made equal in all of them.
    Uniform(PredSource),
    Any,
    /// Each thread decides for itself: this predicate and the guard must hold.
    ThreadIf(PredSource),
    /// `BRA.DIV`: all converged threads branch unless they include all live threads of this mask.
    Apart(Source),
    /// `BRA.CONV`: all converged threads branch if they include all live threads of this mask.
    Together(Source),
}

/// Register that holds a jump address. Code addresses are byte offsets in the kernel, 16 per instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpBase {
    Thread(Reg),
    Uniform(UReg),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum BarrierVote {
    /// `.POPC`: number of threads in which the predicate holds.
    #[strum(serialize = "popc")]
    Count,
    #[strum(serialize = "and")]
    All,
    #[strum(serialize = "or")]
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockBarrier {
    /// Number of the barrier, 0 to 15. If `packed`, also the number of threads.
    pub barrier: Source,
    /// Threads expected; all threads of the block if absent or 0.
    pub threads: Option<Source>,
    /// True if bits 0 to 15 of `barrier` are the barrier's number and bits 16 to 27 the number of threads.
    /// Source: listings, which then name one register twice.
    pub packed: bool,
    /// True if threads that arrive also wait (`BAR.SYNC`). False if they continue (`BAR.ARV`).
    pub wait: bool,
    /// Predicate that `BAR.RED` reduces over the waiting threads; [`WarpOp::BarrierResult`] reads the result.
    pub vote: Option<(BarrierVote, PredSource)>,
}

/// Control-flow or synchronization instruction. Branch targets are indices of instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    Branch {
        target: u32,
        condition: BranchCondition,
    },
    Jump {
        /// The register, or the low one of a pair whose high word is ignored.
        base: JumpBase,
        offset: i32,
    },
    Driver {
        function: u32,
    },
    Exit,
    Trap,
    SetBarrier {
        barrier: BarrierRegister,
    },
    SyncBarrier {
        barrier: BarrierRegister,
    },
    /// Like [`Control::SyncBarrier`], but the core releases a thread after a long wait. PTX has no
    /// convergence barriers of its own, so the other threads may wait for later code of this thread.
    Reconverge {
        barrier: BarrierRegister,
    },
    BreakBarrier {
        barrier: BarrierRegister,
        pred: PredSource,
    },
    /// Copy a convergence barrier to a register, and clear the barrier if `clear` is set.
    BarrierToReg {
        dst: Reg,
        barrier: BarrierRegister,
        clear: bool,
    },
    RegToBarrier {
        barrier: BarrierRegister,
        src: Source,
    },
    /// Wait until the threads of the mask wait with the same mask. Threads with different masks form separate
    /// groups.
    WarpSync {
        mask: Source,
        way: SyncWay,
    },
    /// `ENDCOLLECTIVE`: each thread continues at the `resume` instruction of its own [`SyncWay::Collective`].
    EndCollective,
    Yield,
    Sleep {
        nanoseconds: Source,
        /// `.SYNCS`: wake earlier if the phase completes that the thread's last `SYNCS.PHASECHK.TRYWAIT`
        /// tested.
        watch: bool,
    },
    Block(BlockBarrier),
    /// Close the current group of the thread's LDGSTS and UBLKCP.G.S copies (LDGDEPBAR, UTMACMDFLUSH).
    EndGroup,
    /// Wait until at most `most` groups of the thread are in flight (DEPBAR.LE SB0).
    WaitGroups {
        most: u32,
        /// `cp.async.bulk.wait_group.read`: wait only until the sources have been read. Here a source counts
        /// as read when the destination is written, but later code must not rely on that.
        read: bool,
    },
    ClusterArrive,
    ClusterWait,
    /// Copy half of the return program counter to a register. Compilers keep a value in this counter.
    ReturnPcToReg {
        dst: Reg,
        high: bool,
    },
    RegToReturnPc {
        high: bool,
        src: Source,
    },
    /// Order memory accesses. A core that executes accesses in order has nothing to do.
    Fence,
    Nop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncWay {
    Plain,
    /// `.EXCLUSIVE`: each group continues separately.
    Exclusive,
    /// `.COLLECTIVE`: each group runs one copy of the instructions up to ENDCOLLECTIVE, even if its threads
    /// came from different call sites. The compiler writes the same instructions at each of these sites.
    Collective {
        /// Instruction at which the thread continues after the region.
        resume: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteMode {
    All,
    Any,
    Eq,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum ShuffleMode {
    Idx,
    Up,
    Down,
    /// The lane whose number is the exclusive or of this lane's number and the operand.
    #[strum(serialize = "bfly")]
    Butterfly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduxOp {
    Sum,
    MinU,
    MinS,
    MaxU,
    MaxS,
    And,
    Or,
    Xor,
    /// Minimum of binary32 values, with -0 below +0.
    MinF(FloatRedux),
    MaxF(FloatRedux),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatRedux {
    pub absolute: bool,
    /// True if a NaN makes the result NaN. False if NaNs are ignored.
    pub nan: bool,
}

/// A `.sync` instruction of PTX. The core executes it when all threads of the mask have reached it with the
/// same mask and the same qualifiers, at any instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    pub members: Source,
    pub op: WarpOp,
    /// Register of each thread that receives a result for which machine code has one uniform register.
    pub spread: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarpOp {
    /// Mask of the active lanes in which `src` holds, and the result of the vote.
    Vote {
        mode: VoteMode,
        /// Result register for the mask.
        dst: Reg,
        pred_dst: Pred,
        src: PredSource,
    },
    /// Like [`WarpOp::Vote`], with the mask in a uniform register.
    VoteUniform { mode: VoteMode, dst: UReg, pred_dst: Pred, src: PredSource },
    Shuffle {
        mode: ShuffleMode,
        dst: Reg,
        /// Predicate result: the source lane is in range.
        pred_dst: Pred,
        src: Reg,
        /// Source lane or distance, as the mode says.
        lane: Source,
        control: Source,
    },
    /// Reduction over the active lanes, into a uniform register.
    Redux { op: ReduxOp, dst: UReg, src: Reg },
    /// Copy the value of the lowest active lane to a uniform register.
    ToUniform {
        dst: UReg,
        /// Predicate result: the lane's value differs from the copied value. PT if unused.
        differs: Pred,
        /// `.OR`: combine with the previous value of `differs`.
        accumulate: bool,
        src: Source,
    },
    Match {
        /// `.ALL`: the mask of all active lanes if all hold the same value, else zero.
        all: bool,
        wide: bool,
        dst: Reg,
        /// With `.ALL`, predicate result: all active lanes hold the same value.
        pred_dst: Pred,
        /// The value, or the low register of a pair.
        src: Reg,
    },
    /// `B2R.RESULT`: result of the last `BAR.RED`.
    BarrierResult {
        /// The count, or all ones for true.
        dst: Reg,
        pred_dst: Pred,
    },
    /// Predicate result: this lane is the elected one among the active lanes (the lowest, chosen).
    Elect {
        pred_dst: Pred,
        /// Number of the elected lane.
        dst: UReg,
    },
}
