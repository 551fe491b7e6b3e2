//! GPU machine code text and what it says.
//!
//! [`Program::parse`] reads a listing as `nvdisasm` or `cuobjdump -sass` prints it, with or without the encodings in
//! comments, and gives decoded [`Kernel`]s: every operand is resolved to a number, so that whoever
//! carries an instruction out compares no strings. All problems of a listing are reported together
//! ([`TextError`]). What the instructions *do* is written down beside their types; carrying them
//! out, and everything about banks and cycles, is somebody else's business.
//!
//! [`builtin`] is apart from that: calls of a compiler's atomic builtins to the PTX they become.
//!
//! Instructions whose mnemonic exists but which this crate cannot decode are kept as
//! [`Operation::Lacking`], so that a listing with a few of them still parses and the core can name them.

#![forbid(unsafe_code)]

mod alu;
mod arch;
mod bank;
pub mod builtin;
mod compute;
mod control;
mod data_section;
mod decode;
mod index;
mod instruction;
mod listing;
pub mod lower;
mod maxwell;
mod memory;
mod mnemonic;
mod nearest;
mod number;
mod operand;
mod order;
mod problem;
mod program;
pub mod ptx;
mod register;
mod source;
mod special;

pub use alu::{Alu, AluOp, BoolOp, Compare, FloatCompare, IntType, Path};
pub use arch::{Arch, ClusterOffsets};
pub use compute::{
    BitOp, COMPUTE_OPERANDS, Compute, ComputeInput, ComputeOp, ComputeOutput, FloatOp, FloatTest, IntOp,
    MinMax, Part, Window,
};
pub use control::{
    BarrierVote, BlockBarrier, BranchCondition, Collective, Control, FloatRedux, JumpBase, ReduxOp,
    ShuffleMode, SyncWay, VoteMode, WarpOp,
};
pub use instruction::{Guard, Instruction, Operation, PredicateMove};
pub use memory::{
    AddressBase, AsyncAccess, AsyncOp, BarrierAccess, BarrierOperand, BarrierResult, BulkCopy, BulkMask,
    BulkWay, ConstAccess, CopyArrival, GlobalAccess, GlobalAddress, GlobalOp, Grain, LocalAccess, Reduction,
    SharedAccess, SharedAddress, SharedResult, Space, ThreadCopy, WideOp,
};
pub use mnemonic::{MNEMONICS, MnemonicRow, Support};
pub use number::{
    DotPieces, FloatFormat, FloatMode, HalfFormat, HalfLimit, HalfMode, IntSize, MufuFunction, PermuteMode,
    Rounding,
};
pub use order::{Ordering, Scope, Semantics};
pub use problem::{Problem, TextError};
pub use program::{CompiledBank, Kernel, KernelParam, ModuleVariable, Program, SourceLine, UnreadKernel};
pub use register::{BarrierRegister, Pred, PredSource, Reg, UReg};
pub use source::{ConstAddress, ConstIndex, HalfSelect, Source, Value};
pub use special::SpecialRegister;
