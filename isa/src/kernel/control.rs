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

/// How a block barrier combines a predicate of all threads.
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
    /// Whether threads that arrive also wait (`BAR.SYNC`) or go on (`BAR.ARV`).
    pub wait: bool,
    /// `BAR.RED`: a predicate that is combined over the threads that wait; [`WarpOp::BarrierResult`] reads it.
    pub vote: Option<(BarrierVote, PredSource)>,
}

/// Control instruction. Branch targets are indices of instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Go to `target`.
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
    /// End the thread.
    Exit,
    /// `BPT.TRAP`: end the run with an error.
    Trap,
    /// Note in `barrier` that the active threads will meet.
    SetBarrier {
        /// The convergence barrier.
        barrier: BarrierRegister,
    },
    /// Wait for the threads noted in `barrier`.
    SyncBarrier {
        /// The convergence barrier.
        barrier: BarrierRegister,
    },
    /// As [`Control::SyncBarrier`], but a thread that has waited for long goes on: of code without convergence
    /// barriers of its own (PTX), in which the others may wait for what comes after.
    Meet {
        /// The convergence barrier.
        barrier: BarrierRegister,
    },
    /// Strike the active threads in which `pred` holds from `barrier`.
    BreakBarrier {
        /// The convergence barrier.
        barrier: BarrierRegister,
        /// Which threads, besides the guard.
        pred: PredSource,
    },
    /// Copy a convergence barrier to a register; perhaps clear it.
    BarrierToReg {
        /// Destination.
        dst: Reg,
        /// The convergence barrier.
        barrier: BarrierRegister,
        /// Clear the barrier.
        clear: bool,
    },
    /// Copy a register to a convergence barrier.
    RegToBarrier {
        /// The convergence barrier.
        barrier: BarrierRegister,
        /// Source.
        src: Source,
    },
    /// Wait until the threads of the mask wait with the same mask. Threads whose masks differ are separate groups.
    WarpSync {
        /// Mask of lanes.
        mask: Source,
        /// How the group goes on.
        way: SyncWay,
    },
    /// `ENDCOLLECTIVE`: each thread goes on where its own [`SyncWay::Collective`] says.
    EndCollective,
    /// Let other threads of the warp run.
    Yield,
    /// Wait for a while, in nanoseconds.
    Sleep {
        /// How long.
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
        /// How many may be.
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
        /// Destination.
        dst: Reg,
        /// The high half.
        high: bool,
    },
    /// Copy a register to half of the return program counter.
    RegToReturnPc {
        /// The high half.
        high: bool,
        /// Source.
        src: Source,
    },
    /// Order memory accesses. Nothing to do where accesses are carried out in order.
    Fence,
    /// Nothing.
    Nop,
}

/// How the threads that met at WARPSYNC go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncWay {
    /// Together with the threads of other groups that are at the same place.
    Plain,
    /// `.EXCLUSIVE`: each group by itself.
    Exclusive,
    /// `.COLLECTIVE`: each group by itself, from wherever its threads come through one copy of the instructions
    /// up to ENDCOLLECTIVE. The compiler writes the same instructions at each of these places.
    Collective {
        /// Where the thread goes on from there.
        resume: u32,
    },
}

/// How a vote combines the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteMode {
    /// All active lanes hold.
    All,
    /// Some active lane holds.
    Any,
    /// All active lanes agree.
    Eq,
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum ShuffleMode {
    /// The lane named.
    Idx,
    /// So many lanes down in number.
    Up,
    /// So many lanes up in number.
    Down,
    /// The lane whose number is the exclusive or.
    #[strum(serialize = "bfly")]
    Butterfly,
}

/// How REDUX combines the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduxOp {
    /// Sum.
    Sum,
    /// Minimum, unsigned.
    MinU,
    /// Minimum, signed.
    MinS,
    /// Maximum, unsigned.
    MaxU,
    /// Maximum, signed.
    MaxS,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Minimum of binary32, -0 below +0.
    MinF(FloatRedux),
    /// Maximum of binary32.
    MaxF(FloatRedux),
}

/// How a reduction takes binary32 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatRedux {
    /// Their absolute values.
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
    /// What the threads of the mask do.
    pub op: WarpOp,
    /// Where each thread takes what machine code has once for the warp.
    pub spread: Reg,
}

/// Instruction by which the lanes of a warp look at each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarpOp {
    /// Mask of the active lanes in which `src` holds, and the verdict.
    Vote {
        /// How lanes are combined for the predicate.
        mode: VoteMode,
        /// Mask for the thread's registers.
        dst: Reg,
        /// Verdict.
        pred_dst: Pred,
        /// The predicate voted on.
        src: PredSource,
    },
    /// As [`WarpOp::Vote`], into a uniform register.
    VoteUniform {
        /// How lanes are combined for the predicate.
        mode: VoteMode,
        /// Mask.
        dst: UReg,
        /// Verdict.
        pred_dst: Pred,
        /// The predicate voted on.
        src: PredSource,
    },
    /// The value of another active lane.
    Shuffle {
        /// Which lane.
        mode: ShuffleMode,
        /// Result.
        dst: Reg,
        /// Whether the lane read was in range.
        pred_dst: Pred,
        /// The value offered.
        src: Reg,
        /// Lane or distance.
        lane: Source,
        /// Clamp in bits 4:0, segment mask in bits 12:8.
        control: Source,
    },
    /// Combination over the active lanes, into a uniform register.
    Redux {
        /// How.
        op: ReduxOp,
        /// Result.
        dst: UReg,
        /// The value.
        src: Reg,
    },
    /// The value of the lowest active lane, into a uniform register.
    ToUniform {
        /// Result.
        dst: UReg,
        /// The active lanes whose value differs from it; PT where it is not used.
        differs: Pred,
        /// `.OR`: those that `differs` held in before stay in it.
        accumulate: bool,
        /// The value.
        src: Source,
    },
    /// Mask of the active lanes that hold the same value.
    Match {
        /// `.ALL`: the mask of all active lanes if they all hold the same, else none.
        all: bool,
        /// 64 bits are compared.
        wide: bool,
        /// Mask.
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
        /// Whether it is not zero.
        pred_dst: Pred,
    },
    /// Predicate: this is the one lane elected among the active (the lowest, chosen).
    Elect {
        /// Result.
        pred_dst: Pred,
        /// Lane elected.
        dst: UReg,
    },
}
