//! Instructions that access memory.

use crate::kernel::compute::Path;
use crate::kernel::number::FloatType;
use crate::kernel::register::{Pred, PredSource, Reg, UReg};
use crate::kernel::source::{ConstAddress, Source};
use atoms_ops::{Op, Size};

/// Address of a shared-memory access (spec 2.1, 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAddress {
    /// Register part; RZ if none is named.
    pub ra: Reg,
    /// log2 of the factor on `ra`: 0, 2, 3 or 4.
    pub scale: u8,
    /// Uniform part; URZ if none is named.
    pub ur: UReg,
    /// Immediate, 24 bits as encoded.
    pub imm: u32,
    /// True if the text names no register other than RZ and no uniform register. `imm` is then zero-extended,
    /// else sign-extended.
    pub absolute: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedResult {
    None,
    Reg(Reg),
    /// Number of the [`Pred::Thread`] predicate that takes the result: CAST from sm_100 on (spec 3.2).
    Pred(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    pub op: Op,
    pub size: Size,
    pub result: SharedResult,
    pub address: SharedAddress,
    /// Operand B: store data, addend or compare value.
    pub rb: Reg,
    /// Operand C: new value of CAS and CAST.
    pub rc: Reg,
    /// True if the store initializes an mbarrier object of two words (spec 6.2.1). Only PTX states this;
    /// machine code has a plain store.
    pub object: bool,
}

/// UMEMSETS.64: the warp stores zeros to a range of shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedFill {
    /// Address of the first word, taken from the lowest active thread.
    pub address: SharedAddress,
    /// Number of 64-bit words, taken from the lowest active thread.
    pub words: Source,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BarrierOperand {
    None,
    /// `.A0T1`: the constant one.
    One,
    Active,
    /// 32 bits: a count, or the tested parity in bit 31.
    Word(Source),
    Pair(Source),
    /// No operand: [`Op::Load`] reads the whole object.
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierResult {
    None,
    Pair(Reg),
    UniformPair(UReg),
    Pred(Pred),
}

/// SYNCS and USYNCS: an operation on an mbarrier object (spec 6.8).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarrierAccess {
    /// The operation, always of 64 bits.
    pub op: Op,
    /// Per lane, or once per warp. USYNCS executes once per warp. So does SYNCS whose operand is a uniform
    /// register and whose destination is URZ.
    pub path: Path,
    pub result: BarrierResult,
    /// `.PRIMARY`: predicate result that is true if a failure was reported in the awaited phase. Always false
    /// for objects of layout 0.
    pub reported: Option<Pred>,
    /// Address of the object. Its top byte may name another CTA of the cluster (spec 1.4).
    pub address: SharedAddress,
    pub b: BarrierOperand,
}

/// LDGSTS: each thread copies from global to shared memory and continues before the copy completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCopy {
    pub size: Size,
    pub shared: SharedAddress,
    pub global: GlobalAddress,
    /// If this predicate is false, the copy stores zeros and reads nothing.
    pub enable: PredSource,
    /// `.ZFILL`: the source starts at the global address rounded down to a multiple of the size. The source
    /// is shorter by the bytes rounded off, and zeros follow it.
    pub fill: bool,
}

/// LDL and STL: access to the thread's private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAccess {
    pub op: Op,
    pub size: Size,
    pub reg: Reg,
    pub address: SharedAddress,
}

/// ARRIVES.LDGSTSBAR: operation on an mbarrier object that executes when the thread's earlier copies
/// ([`ThreadCopy`]) complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyArrival {
    /// [`Op::MbarArriveSm80`] without a suffix, [`Op::MbarArrive`] with `.ARVCNT`, [`Op::MbarCompleteTx`] of
    /// one transaction with `.TRANSCNT`.
    pub op: Op,
    pub address: SharedAddress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkWay {
    /// `.S.G`: from global to shared memory. When the copy is done, it completes one transaction per byte at
    /// an mbarrier object.
    ToShared,
    /// `.G.S`: from the CTA's own shared to global memory, in the thread's current group.
    ToGlobal,
    /// `.S.S`: from the CTA's own to the cluster's shared memory. Completes as [`BulkWay::ToShared`].
    AmongShared,
}

/// UBLKRED: operation on each element of the destination, with the data as operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    pub op: GlobalOp,
    pub size: Size,
}

/// Meaning of the high half of the size register of a block copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkMask {
    /// `.MULTICAST`: the copy goes to each CTA of the cluster whose rank's bit is set. The offsets of data
    /// and object are the same in each CTA.
    Ctas,
    /// `.DST_G_BYTE_MASK`: of each 16 bytes, only those are written whose bit is set.
    Bytes,
}

/// UBLKCP and UBLKRED: the warp starts a block copy or a block reduction and continues before it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkCopy {
    pub way: BulkWay,
    /// Operation of UBLKRED; `None` for UBLKCP.
    pub reduction: Option<Reduction>,
    pub mask: Option<BulkMask>,
    /// First register of the destination pair: a global address, or a shared address followed by the address
    /// of the mbarrier object.
    pub to: UReg,
    /// First register of the source: a pair with a global address, or one shared address.
    pub from: UReg,
    /// Register whose low half holds the number of bytes, divided by 16.
    pub size: UReg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncOp {
    /// [`Op::Store`], or an atomic whose result is unused.
    Plain(Op),
    /// Addition of 64 bits, for which the unit has no operation (spec 3.4).
    Add64,
}

/// STAS and REDAS: each thread operates on shared memory of the cluster, then completes the bytes at an
/// mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncAccess {
    pub op: AsyncOp,
    pub size: Size,
    /// First register of a pair: the address of the data, then that of the mbarrier object.
    pub addresses: Reg,
    pub rb: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    /// Global memory, or shared memory through its window (LD, ST, ATOM).
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    None,
    Pair(Reg),
    Word(Reg),
}

/// 64-bit address: base + uniform pair + immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalAddress {
    pub base: AddressBase,
    /// First register of a uniform 64-bit pair.
    pub ur: Option<UReg>,
    pub imm: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalOp {
    Load,
    Store,
    Atomic(Op),
    /// An atomic without a shared-memory form in this type (spec 3.4).
    Wide(WideOp),
}

/// Atomics on global memory that the shared-memory unit does not support (spec 3.4). Lanes with a generic
/// address in the shared memory of their own CTA get a false predicate, and code continues with a loop. In
/// the shared memory of another CTA only the sum of 64-bit integers executes; all others return a false
/// predicate \[CAPTURE\]. For binary32 and binary64, compiled code then tests with `QSPC.E.D` and continues
/// with a loop. For the other types it continues with a load and a store, so updates of several CTAs are
/// lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideOp {
    AddF32 {
        flush: bool,
    },
    AddF64,
    AddHalves(FloatType),
    /// Minimum in both halves; a number wins over a NaN.
    MinHalves(FloatType),
    MaxHalves(FloatType),
    Add64,
    MinU64,
    MinS64,
    MaxU64,
    MaxS64,
    And64,
    Or64,
    Xor64,
    /// `M >= Rb ? 0 : M + 1`, 64 bits.
    Inc64,
    /// `M == 0 or M > Rb ? Rb : M - 1`, 64 bits.
    Dec64,
}

impl WideOp {
    pub const fn float(self) -> bool {
        matches!(
            self,
            WideOp::AddF32 { .. }
                | WideOp::AddF64
                | WideOp::AddHalves(_)
                | WideOp::MinHalves(_)
                | WideOp::MaxHalves(_)
        )
    }
}

/// LDG, STG, RED, REDG, ATOMG; LD, ST, ATOM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalAccess {
    pub space: Space,
    pub op: GlobalOp,
    pub size: Size,
    pub dst: Reg,
    /// Predicate result: the access was performed. PT if unused.
    pub pred_dst: Pred,
    pub address: GlobalAddress,
    pub rb: Reg,
    pub rc: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// One register, with a byte or half word extended to 32 bits.
    Sub(Size),
    /// Number of consecutive registers: 1, 2 or 4.
    Words(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstAccess {
    pub path: Path,
    pub dst: u16,
    pub grain: Grain,
    pub address: ConstAddress,
}
