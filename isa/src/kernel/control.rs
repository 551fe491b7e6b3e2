//! Instructions for control flow, barriers, and exchange between the lanes of a warp.

use crate::kernel::register::{BarrierRegister, Pred, PredSource, Reg, UReg};
use crate::kernel::source::Source;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BranchCondition {
    Thread,
    /// `BRA.U`: all converged threads branch, or none. The condition is a uniform predicate, or a guard that
    /// the compiler made equal in all these threads.
    Uniform(PredSource),
    Any,
    /// Each thread decides by itself: it branches if this predicate and the guard are true.
    ThreadIf(PredSource),
    /// `BRA.DIV`: operand is a mask of threads. All converged threads branch, unless every live thread of the
    /// mask is one of them.
    Apart(Source),
    /// `BRA.CONV`: operand is a mask of threads. All converged threads branch if every live thread of the
    /// mask is one of them.
    Together(Source),
}

/// Register that holds a jump address, which is a byte offset in the kernel. Each instruction has 16 bytes of
/// this address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpBase {
    Thread(Reg),
    Uniform(UReg),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum BarrierVote {
    /// `.POPC`: number of threads in which the predicate is true.
    #[strum(serialize = "popc")]
    Count,
    #[strum(serialize = "and")]
    All,
    #[strum(serialize = "or")]
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockBarrier {
    /// Number of the barrier, 0 to 15. If `packed` is true, this operand also contains the number of threads.
    pub barrier: Source,
    /// Number of threads that the barrier waits for. All threads of the CTA if absent or 0.
    pub threads: Option<Source>,
    /// True if the operand `barrier` contains two values: the barrier number in bits 15:0 and the number of
    /// threads in bits 27:16. Source: listings, in which such a BAR names one register twice.
    pub packed: bool,
    /// True if threads that arrive also wait (`BAR.SYNC`). False if they continue (`BAR.ARV`).
    pub wait: bool,
    /// Predicate that `BAR.RED` combines over the waiting threads. [`WarpOp::BarrierResult`] reads the
    /// result.
    pub vote: Option<(BarrierVote, PredSource)>,
}

/// Memory that a proxy fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProxySpace {
    /// Shared memory of the thread's own CTA.
    Cta,
    /// Shared memory of all CTAs of the cluster.
    Cluster,
    Global,
    All,
}

/// Kind of asynchronous copies that form groups. Groups of both kinds are counted apart (PTX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// Copies of single threads: `cp.async`, LDGSTS.
    Threads,
    /// Bulk copies: `cp.async.bulk`, UBLKCP.
    Bulk,
}

/// Control-flow or synchronization instruction. Branch targets are indices of instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    Branch {
        target: u32,
        condition: BranchCondition,
    },
    Jump {
        /// Register with the address. If it is a pair, this is the low register, and the high one is ignored.
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
    /// Like [`Control::SyncBarrier`], but with a limited wait, for code translated from PTX. PTX has no
    /// convergence barriers, so the other threads may wait for something that this thread does only later.
    /// Therefore the core releases a thread after a long wait.
    Reconverge {
        barrier: BarrierRegister,
    },
    BreakBarrier {
        barrier: BarrierRegister,
        pred: PredSource,
    },
    /// Copy a convergence barrier to a register. With `clear`, also clear the barrier.
    BarrierToReg {
        dst: Reg,
        barrier: BarrierRegister,
        clear: bool,
    },
    RegToBarrier {
        barrier: BarrierRegister,
        src: Source,
    },
    /// Wait until all threads of the mask wait with this mask. Threads with different masks form separate
    /// groups.
    WarpSync {
        mask: Source,
        way: SyncWay,
    },
    /// `ENDCOLLECTIVE`: end of a collective region. Each thread continues at the `resume` instruction of the
    /// [`SyncWay::Collective`] by which it entered the region.
    EndCollective,
    Yield,
    Sleep {
        nanoseconds: Source,
        /// `.SYNCS`: also wake up when the phase completes that the thread tested with its last
        /// `SYNCS.PHASECHK.TRYWAIT`.
        watch: bool,
    },
    Block(BlockBarrier),
    /// Order accesses of the generic proxy before accesses of the async proxy (`fence.proxy.async`,
    /// FENCE.VIEW.ASYNC).
    ProxyFence(ProxySpace),
    /// Close the thread's current group of asynchronous copies, which LDGSTS and UBLKCP.G.S started
    /// (LDGDEPBAR, UTMACMDFLUSH). Later copies belong to the next group.
    EndGroup(GroupKind),
    /// Wait until at most `most` groups of asynchronous copies of the thread are in flight (DEPBAR.LE SB0).
    WaitGroups {
        most: u32,
        /// Kind of the groups. `None` for both together: machine code has one counter.
        kind: Option<GroupKind>,
        /// `cp.async.bulk.wait_group.read`: wait only until the copies have read their sources. In this core
        /// a copy counts as having read its source when its destination is written. Later code must not rely
        /// on that.
        read: bool,
    },
    ClusterArrive,
    ClusterWait,
    /// Copy half of the return program counter to a register. Compiled code also uses this counter to store
    /// other values.
    ReturnPcToReg {
        dst: Reg,
        high: bool,
    },
    RegToReturnPc {
        high: bool,
        src: Source,
    },
    /// Order memory accesses. No effect in this core, which executes accesses in order.
    Fence,
    /// Release the thread's earlier `mbarrier.init` to its cluster (`fence.mbarrier_init.release.cluster`). In
    /// machine code it is a NOP.
    InitFence,
    Nop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncWay {
    Plain,
    /// `.EXCLUSIVE`: the threads of each mask form a group that continues separately.
    Exclusive,
    /// `.COLLECTIVE`: the threads of each mask execute the instructions up to ENDCOLLECTIVE as one group,
    /// even if they came from different call sites. The compiler writes the same instructions at each of
    /// these call sites, so the group executes the copy at one of them.
    Collective {
        /// Index of the instruction at which the thread continues after ENDCOLLECTIVE.
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
    /// Read from the lane whose number is the exclusive or of the own lane number and the operand.
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
    /// Minimum of binary32 values; -0 counts as less than +0.
    MinF(FloatRedux),
    MaxF(FloatRedux),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatRedux {
    pub absolute: bool,
    /// True if the result is NaN when a value is NaN. False if NaN values are ignored.
    pub nan: bool,
}

/// A `.sync` instruction of PTX, such as `shfl.sync`. The core executes it when all threads of the mask have
/// reached such an instruction with the same mask and the same qualifiers. The threads may be at different
/// instructions of the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    pub members: Source,
    pub op: WarpOp,
    /// Register of each thread that receives the result, if the machine instruction has only one uniform
    /// result register.
    pub spread: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarpOp {
    /// Vote over the active lanes. Results are the mask of the lanes in which `src` is true, and the
    /// predicate that `mode` selects.
    Vote {
        mode: VoteMode,
        /// Result register for the mask.
        dst: Reg,
        pred_dst: Pred,
        src: PredSource,
    },
    /// Like [`WarpOp::Vote`], but the mask goes to a uniform register.
    VoteUniform { mode: VoteMode, dst: UReg, pred_dst: Pred, src: PredSource },
    Shuffle {
        mode: ShuffleMode,
        dst: Reg,
        /// Predicate result: true if the source lane is in range.
        pred_dst: Pred,
        src: Reg,
        /// Number of the source lane, or distance to it, depending on `mode`.
        lane: Source,
        control: Source,
    },
    /// Reduction over the active lanes, into a uniform register.
    Redux { op: ReduxOp, dst: UReg, src: Reg },
    /// Copy the value of the lowest active lane to a uniform register.
    ToUniform {
        dst: UReg,
        /// Predicate result, per lane: the lane's value differs from the copied value. PT if unused.
        differs: Pred,
        /// `.OR`: the new value of `differs` is combined with its previous value by a logical or.
        accumulate: bool,
        src: Source,
    },
    Match {
        /// `.ALL`: the result is the mask of all active lanes if all hold the same value, else zero. Without
        /// `.ALL`: the mask of the lanes with the same value as this lane.
        all: bool,
        wide: bool,
        dst: Reg,
        /// Predicate result of `.ALL`: true if all active lanes hold the same value.
        pred_dst: Pred,
        /// Register with the value to compare, or the low register of a pair.
        src: Reg,
    },
    /// `B2R.RESULT`: result of the last `BAR.RED`.
    BarrierResult {
        /// Register result: the number of threads for `.POPC`; for the other votes all ones if true, zero if
        /// false.
        dst: Reg,
        pred_dst: Pred,
    },
    /// Elects one of the active lanes. Predicate result: true in the elected lane. The lowest lane is elected
    /// (project choice).
    Elect {
        pred_dst: Pred,
        /// Number of the elected lane.
        dst: UReg,
    },
}
