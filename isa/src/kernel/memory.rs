//! Instructions that touch memory.

use crate::kernel::compute::Path;
use crate::kernel::number::FloatType;
use crate::kernel::register::{Pred, PredSource, Reg, UReg};
use crate::kernel::source::{ConstAddress, Source};
use atoms_ops::{Op, Size};

/// Address of a shared-memory access (spec 2.1, 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAddress {
    /// Register part; RZ where none is named.
    pub ra: Reg,
    /// log2 of the factor on `ra`: 0, 2, 3 or 4.
    pub scale: u8,
    /// Uniform part; URZ where none is named.
    pub ur: UReg,
    /// Immediate, 24 bits as encoded.
    pub imm: u32,
    /// Neither a register but RZ nor a uniform register is named: `imm` is zero-extended. Else it is
    /// sign-extended.
    pub absolute: bool,
}

/// Destination of the result of a shared-memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedResult {
    /// Nowhere: the request is a reduction.
    None,
    /// A register, or the low one of a pair or quad.
    Reg(Reg),
    /// A predicate of the thread, by its number in [`Pred::Thread`]: CAST from sm_100 on (spec 3.2).
    Pred(u16),
}

/// ATOMS, LDS and STS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    pub op: Op,
    pub size: Size,
    pub result: SharedResult,
    pub address: SharedAddress,
    /// Operand B: the data of a store, the addend, the value compared against.
    pub rb: Reg,
    /// Operand C: the new value of CAS and CAST.
    pub rc: Reg,
    /// The store makes an mbarrier object of two words (spec 6.2.1). Only PTX tells; machine code has a plain store.
    pub object: bool,
}

/// UMEMSETS.64: the warp stores zeros from an address on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedFill {
    /// The address of the first word, that of the lowest active thread.
    pub address: SharedAddress,
    /// Number of words of 64 bits, that of the lowest active thread.
    pub words: Source,
}

/// Operand B of an operation on an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BarrierOperand {
    None,
    /// One: `.A0T1`.
    One,
    /// The number of active threads: `.ACT0`.
    Active,
    /// 32 bits: a count, or the parity asked about in bit 31.
    Word(Source),
    /// 64 bits: the object that init makes.
    Pair(Source),
    /// No operand: [`Op::Load`] reads the whole object.
    Whole,
}

/// Destination of the result of an operation on an mbarrier object.
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
    /// The operation; always of 64 bits.
    pub op: Op,
    /// Whether each lane carries it out, or the warp once: USYNCS, and the form of SYNCS whose operand is a uniform
    /// register and whose destination is URZ.
    pub path: Path,
    pub result: BarrierResult,
    /// `.PRIMARY`: whether a failure was reported in the phase that is waited for. In objects of layout 0 none is.
    pub reported: Option<Pred>,
    /// The address of the object. Its top byte may name another CTA of the cluster (spec 1.4).
    pub address: SharedAddress,
    pub b: BarrierOperand,
}

/// LDGSTS: each thread copies from global to shared memory, and goes on meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCopy {
    /// 4, 8 or 16 bytes.
    pub size: Size,
    pub shared: SharedAddress,
    pub global: GlobalAddress,
    /// Predicate: where it does not hold, zeros are stored and nothing is read.
    pub enable: PredSource,
    /// `.ZFILL`: by so many bytes as the global address is beyond a multiple of the size, the source is shorter;
    /// it begins at that multiple, and zeros follow it.
    pub fill: bool,
}

/// LDL and STL: memory that each thread has to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAccess {
    /// [`Op::Load`] or [`Op::Store`].
    pub op: Op,
    pub size: Size,
    /// Register of the result or of the data.
    pub reg: Reg,
    pub address: SharedAddress,
}

/// ARRIVES.LDGSTSBAR: each thread has an operation done on an mbarrier object when all its earlier copies
/// ([`ThreadCopy`]) are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyArrival {
    /// [`Op::MbarArriveSm80`] without a suffix, [`Op::MbarArrive`] with `.ARVCNT`, [`Op::MbarCompleteTx`] of one
    /// transaction with `.TRANSCNT`.
    pub op: Op,
    pub address: SharedAddress,
}

/// Direction of the copy of a block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkWay {
    /// `.S.G`: from global to shared memory; as many transactions as bytes are completed at an mbarrier object
    /// when all of it is there.
    ToShared,
    /// `.G.S`: from the CTA's own shared to global memory, as part of the thread's next group.
    ToGlobal,
    /// `.S.S`: from the CTA's own to the cluster's shared memory; completed as [`BulkWay::ToShared`].
    AmongShared,
}

/// Operation of UBLKRED on each element of the destination and of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    pub op: GlobalOp,
    /// Size of an element.
    pub size: Size,
}

/// Meaning of the high half of the register that holds the size of a block copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkMask {
    /// `.MULTICAST`: the copy goes to the same offsets, data and object, in each CTA of the cluster whose rank's bit is set.
    Ctas,
    /// `.DST_G_BYTE_MASK`: of each 16 bytes those are written whose bit is set.
    Bytes,
}

/// UBLKCP and UBLKRED: the warp has a block of memory copied, or worked into another one, and goes on meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkCopy {
    pub way: BulkWay,
    /// UBLKRED.
    pub reduction: Option<Reduction>,
    /// Meaning of the high half of `size`.
    pub mask: Option<BulkMask>,
    /// Pair of the destination: a global address, or a shared one and, in the next register, that of the mbarrier
    /// object.
    pub to: UReg,
    /// The source: a pair with a global address, or a shared address.
    pub from: UReg,
    /// Register whose low half holds the number of bytes, divided by 16.
    pub size: UReg,
}

/// Operation of STAS and REDAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncOp {
    /// [`Op::Store`], or an atomic whose result is not wanted.
    Plain(Op),
    /// Addition of 64 bits, which the unit has no operation for (spec 3.4).
    Add64,
}

/// STAS and REDAS: each thread has an operation done in shared memory of the cluster, and the bytes of its
/// size completed at an mbarrier object after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncAccess {
    pub op: AsyncOp,
    pub size: Size,
    /// Pair of the address of the data and that of the mbarrier object.
    pub addresses: Reg,
    /// Data.
    pub rb: Reg,
}

/// Which memory a 64-bit address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    /// Global memory, or shared memory through its window (LD, ST, ATOM).
    Generic,
}

/// Register part of a global address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    None,
    /// A 64-bit pair.
    Pair(Reg),
    /// A 32-bit register, zero-extended.
    Word(Reg),
}

/// 64-bit address: base + uniform pair + immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalAddress {
    pub base: AddressBase,
    /// Uniform pair.
    pub ur: Option<UReg>,
    /// Byte offset.
    pub imm: i32,
}

/// Operation on global or generic memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalOp {
    Load,
    Store,
    /// An atomic that the shared-memory unit has as well.
    Atomic(Op),
    /// One that it has not, in this type: no shared-memory form exists (spec 3.4).
    Wide(WideOp),
}

/// Atomics on global memory that the shared-memory unit has not (spec 3.4). Lanes with an address in the shared
/// memory of the own CTA get a false predicate, and code goes on with a loop. In that of another CTA the sum of 64-bit
/// integers is carried out; all others get a false predicate there too \[CAPTURE\]. For binary32 and binary64 compiled code
/// asks with `QSPC.E.D` and goes on with a loop; for the others it goes on with a load and a store, so that updates of
/// several CTAs are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideOp {
    /// Float addition, binary32, to nearest.
    AddF32 {
        /// `.FTZ`: subnormals are flushed.
        flush: bool,
    },
    /// Float addition, binary64, to nearest.
    AddF64,
    /// Float addition in both halves.
    AddHalves(FloatType),
    /// Minimum in both halves; a NaN loses.
    MinHalves(FloatType),
    /// Maximum in both halves; a NaN loses.
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
    /// True if it works on floats.
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
    /// Result register; RZ where there is none.
    pub dst: Reg,
    /// Predicate result: whether the access was carried out. PT where there is none.
    pub pred_dst: Pred,
    pub address: GlobalAddress,
    /// Data of a store or an atomic, value compared against.
    pub rb: Reg,
    /// New value of a CAS.
    pub rc: Reg,
}

/// Registers that a constant load fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// One, with a byte or half word extended into it.
    Sub(Size),
    /// That many consecutive ones: 1, 2 or 4.
    Words(u8),
}

/// LDC, ULDC and LDCU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstAccess {
    /// Per lane or per warp; also the register file of `dst`.
    pub path: Path,
    /// First result register.
    pub dst: u16,
    pub grain: Grain,
    pub address: ConstAddress,
}
