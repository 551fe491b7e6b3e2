//! Readers of GPU machine code listings and of PTX.
//!
//! [`Program::parse`] reads a listing as `nvdisasm` or `cuobjdump -sass` prints it, with or without the
//! encodings in comments. It returns decoded [`Kernel`]s. Every operand is decoded to numbers, so the core
//! compares no strings when it executes. All problems of a listing are reported together ([`TextError`]). The
//! doc comments of the instruction types specify what each instruction does. Other crates execute the
//! instructions, and model banks and cycles.
//!
//! An instruction with a known mnemonic that this crate cannot decode becomes [`Operation::Unsupported`]. A
//! listing with such instructions still parses, and the core can report which they are.

#![forbid(unsafe_code)]

mod arch;
mod kernel;
pub mod lower;
mod nearest;
mod problem;
pub mod ptx;
mod sass;
mod translate;

pub use arch::{Arch, ClusterOffsets};
pub use kernel::compute::{
    BoolOp, Compare, ComparePart, Compute, ComputeOp, FloatCompare, FloatOp, FloatTest, IntOp, MinMax,
    MinMaxOf, Path, ProductPart, Window,
};
pub use kernel::control::{
    BarrierVote, BlockBarrier, BranchCondition, Collective, Control, FloatRedux, GroupKind, JumpBase,
    ProxySpace, ReduxOp, ShuffleMode, SyncWay, VoteMode, WarpOp,
};
pub use kernel::instruction::{Effect, Guard, Instruction, Operation, PredicateMove};
pub use kernel::memory::{
    AddressBase, AsyncAccess, AsyncOp, BarrierAccess, BarrierOperand, BarrierResult, BulkCopy, BulkMask,
    BulkWay, ConstAccess, CopyArrival, GlobalAccess, GlobalAddress, GlobalOp, Grain, LocalAccess, Reduction,
    SharedAccess, SharedAddress, SharedFill, SharedResult, Space, ThreadCopy, WideOp,
};
pub use kernel::number::{
    ByteFloat, DotPieces, FloatMode, FloatType, MufuFunction, PermuteMode, Rounding, Type,
};
pub use kernel::order::{Ordering, Scope, Semantics};
pub use kernel::program::{
    CompiledBank, DRIVER_CODE, Kernel, KernelParam, ModuleVariable, Program, SharedVariable, SourceLine,
    SourcePosition, UnreadKernel,
};
pub use kernel::register::{BarrierRegister, Pred, PredSource, Reg, UReg};
pub use kernel::source::{ConstAddress, ConstIndex, HalfSelect, Source, Value};
pub use kernel::special::SpecialRegister;
pub use nearest::nearest;
pub use problem::{Problem, TextError};
pub use sass::{MNEMONICS, MnemonicRow, NAMED_MNEMONICS};
pub use translate::{Lowered, lowered};
