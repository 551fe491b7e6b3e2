//! Instructions that direct threads, and those by which the lanes of a warp look at each other.

use crate::kernel::register::{BarrierRegister, Pred, PredSource, Reg, UReg};
use crate::kernel::source::Source;

/// Condition of a branch besides its guard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BranchCondition {
    /// Each thread for itself.
    Thread,
    /// `BRA.U`: one decision for all threads that are together; the condition is a uniform predicate,
    /// or the guard, which the compiler made the same in all of them.
    Uniform(PredSource),
    /// `BRA.U.ANY`: all threads that are together, if the guard holds in any.
    Any,
    /// Each thread for itself, where this holds as well as the guard.
    ThreadIf(PredSource),
    /// `BRA.DIV`: all threads that are together, unless all that live of this mask are among them.
    Apart(Source),
    /// `BRA.CONV`: all threads that are together, if all that live of this mask are among them.
    Together(Source),
}

/// Where a jump to an address held in registers goes. Code addresses are byte offsets in the kernel, 16 for
/// each instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpBase {
    /// A register of each thread; threads may part.
    Thread(Reg),
    /// A register of the warp.
    Uniform(UReg),
}

/// Vote of a block barrier over a predicate of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum BarrierVote {
    /// `.POPC`: in how many it holds.
    #[strum(serialize = "popc")]
    Count,
    /// `.AND`: whether in all.
    #[strum(serialize = "and")]
    All,
    /// `.OR`: whether in any.
    #[strum(serialize = "or")]
    Any,
}

/// A block barrier instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockBarrier {
    /// Number of the barrier, 0 to 15, and if `packed` the threads as well.
    pub barrier: Source,
    /// Threads expected; all threads of the block if absent or 0.
    pub threads: Option<Source>,
    /// True if bits 0 to 15 of `barrier` are its number and bits 16 to 27 the threads expected. Source: listings, which
    /// then name one register twice.
    pub packed: bool,
    /// True if threads that arrive also wait (`BAR.SYNC`); false if they go on (`BAR.ARV`).
    pub wait: bool,
    /// `BAR.RED`: a predicate that is combined over the threads that wait; [`WarpOp::BarrierResult`] reads it.
    pub vote: Option<(BarrierVote, PredSource)>,
}

/// Control instruction. Branch targets are indices of instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    Branch {
        /// Index of the instruction to go to.
        target: u32,
        /// Condition besides the guard.
        condition: BranchCondition,
    },
    /// Go to the instruction at the address in the register plus `offset` bytes.
    Jump {
        /// The register, or the low one of a pair whose high word is not looked at.
        base: JumpBase,
        /// Added to it.
        offset: i32,
    },
    /// Call a function of the driver.
    Driver {
        /// Index into [`crate::Kernel::driver_functions`].
        function: u32,
    },
    Exit,
    /// `BPT.TRAP`: end the run with an error.
    Trap,
    /// Note in `barrier` that the active threads will meet.
    SetBarrier {
        barrier: BarrierRegister,
    },
    /// Wait for the threads noted in `barrier`.
    SyncBarrier {
        barrier: BarrierRegister,
    },
    /// As [`Control::SyncBarrier`], but a thread that has waited for long goes on: of code without convergence
    /// barriers of its own (PTX), in which the others may wait for what comes after.
    Reconverge {
        barrier: BarrierRegister,
    },
    /// Strike the active threads in which `pred` holds from `barrier`.
    BreakBarrier {
        barrier: BarrierRegister,
        /// Threads that are struck, besides the guard.
        pred: PredSource,
    },
    /// Copy a convergence barrier to a register; perhaps clear it.
    BarrierToReg {
        dst: Reg,
        barrier: BarrierRegister,
        clear: bool,
    },
    /// Copy a register to a convergence barrier.
    RegToBarrier {
        barrier: BarrierRegister,
        src: Source,
    },
    /// Wait until the threads of the mask wait with the same mask. Threads whose masks differ are separate groups.
    WarpSync {
        /// Mask of lanes.
        mask: Source,
        /// Way in which the group continues.
        way: SyncWay,
    },
    /// `ENDCOLLECTIVE`: each thread goes on where its own [`SyncWay::Collective`] says.
    EndCollective,
    /// Let other threads of the warp run.
    Yield,
    /// Wait for a while, in nanoseconds.
    Sleep {
        nanoseconds: Source,
        /// `.SYNCS`: no longer than until the phase is complete that the thread's last
        /// `SYNCS.PHASECHK.TRYWAIT` asked about.
        watch: bool,
    },
    /// Meet the block's other threads.
    Block(BlockBarrier),
    /// What the thread copies with LDGSTS and UBLKCP.G.S since the last time is one group (LDGDEPBAR,
    /// UTMACMDFLUSH).
    EndGroup,
    /// Wait until no more than so many groups of the thread are on their way (DEPBAR.LE SB0).
    WaitGroups {
        /// Groups that may be left.
        most: u32,
        /// `cp.async.bulk.wait_group.read`: it is enough that what they copy from has been read. Here that is when it is
        /// written; but what comes after may not count on that.
        read: bool,
    },
    /// Arrive at the cluster's barrier.
    ClusterArrive,
    /// Wait until all threads of the cluster have arrived at its barrier.
    ClusterWait,
    /// Copy half of the return program counter, which compilers use to keep a value, to a register.
    ReturnPcToReg {
        dst: Reg,
        high: bool,
    },
    /// Copy a register to half of the return program counter.
    RegToReturnPc {
        high: bool,
        src: Source,
    },
    /// Order memory accesses. Nothing to do where accesses are carried out in order.
    Fence,
    Nop,
}

/// Way in which threads continue after WARPSYNC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncWay {
    /// Together with the threads of other groups that are at the same place.
    Plain,
    /// `.EXCLUSIVE`: each group by itself.
    Exclusive,
    /// `.COLLECTIVE`: each group by itself, from wherever its threads come through one copy of the instructions
    /// up to ENDCOLLECTIVE. The compiler writes the same instructions at each of these places.
    Collective {
        /// Instruction at which the thread continues after the region.
        resume: u32,
    },
}

/// Combination of the lanes in a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteMode {
    /// All active lanes hold.
    All,
    /// Some active lane holds.
    Any,
    /// All active lanes agree.
    Eq,
}

/// Lane that a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum ShuffleMode {
    /// The lane named.
    Idx,
    /// The lane whose number is lower by the distance.
    Up,
    /// The lane whose number is higher by the distance.
    Down,
    /// The lane whose number is the exclusive or.
    #[strum(serialize = "bfly")]
    Butterfly,
}

/// Combination of the lanes in REDUX.
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
    /// Minimum of binary32, -0 below +0.
    MinF(FloatRedux),
    /// Maximum of binary32.
    MaxF(FloatRedux),
}

/// Options of a reduction of binary32 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatRedux {
    pub absolute: bool,
    /// A NaN makes the result NaN; else it is passed over.
    pub nan: bool,
}

/// A `.sync` instruction of PTX: carried out for the threads of a mask once all of them execute it with the same
/// mask and the same qualifiers, wherever in the code they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    /// Mask of lanes.
    pub members: Source,
    pub op: WarpOp,
    /// Where each thread takes what machine code has once for the warp.
    pub spread: Reg,
}

/// Instruction by which the lanes of a warp look at each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarpOp {
    /// Mask of the active lanes in which `src` holds, and the verdict.
    Vote {
        mode: VoteMode,
        /// Mask for the thread's registers.
        dst: Reg,
        pred_dst: Pred,
        src: PredSource,
    },
    /// As [`WarpOp::Vote`], into a uniform register.
    VoteUniform { mode: VoteMode, dst: UReg, pred_dst: Pred, src: PredSource },
    /// The value of another active lane.
    Shuffle {
        mode: ShuffleMode,
        dst: Reg,
        /// Predicate: the lane that was read is in range.
        pred_dst: Pred,
        src: Reg,
        /// Lane or distance.
        lane: Source,
        /// Clamp in bits 4:0, segment mask in bits 12:8.
        control: Source,
    },
    /// Combination over the active lanes, into a uniform register.
    Redux { op: ReduxOp, dst: UReg, src: Reg },
    /// The value of the lowest active lane, into a uniform register.
    ToUniform {
        dst: UReg,
        /// The active lanes whose value differs from it; PT where it is not used.
        differs: Pred,
        /// `.OR`: those that `differs` held in before stay in it.
        accumulate: bool,
        src: Source,
    },
    /// Mask of the active lanes that hold the same value.
    Match {
        /// `.ALL`: the mask of all active lanes if they all hold the same, else none.
        all: bool,
        /// 64 bits are compared.
        wide: bool,
        dst: Reg,
        /// With `.ALL`, whether they all hold the same.
        pred_dst: Pred,
        /// The value, or the low register of a pair.
        src: Reg,
    },
    /// `B2R.RESULT`: what the last `BAR.RED` gave.
    BarrierResult {
        /// The count, or all ones for true.
        dst: Reg,
        /// Predicate: the result is not zero.
        pred_dst: Pred,
    },
    /// Predicate: this is the one lane elected among the active (the lowest, chosen).
    Elect {
        pred_dst: Pred,
        /// Lane elected.
        dst: UReg,
    },
}
