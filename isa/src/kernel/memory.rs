//! Instructions that access memory.

use crate::kernel::compute::Path;
use crate::kernel::number::FloatType;
use crate::kernel::register::{Pred, PredSource, Reg, UReg};
use crate::kernel::source::{ConstAddress, Source};
use atoms_ops::{Op, Size};

/// Address of a shared-memory access (spec 2.1, 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAddress {
    /// Register Ra of the address; RZ if the instruction names none.
    pub ra: Reg,
    /// Shift that is applied to `ra`: log2 of the scale factor, 0, 2, 3 or 4.
    pub scale: u8,
    /// Uniform register of the address; URZ if the instruction names none.
    pub ur: UReg,
    /// Immediate offset: 24 bits, as encoded in the instruction.
    pub imm: u32,
    /// True if the address has no register (other than RZ) and no uniform register. Then `imm` is
    /// zero-extended, else sign-extended.
    pub absolute: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedResult {
    None,
    Reg(Reg),
    /// Predicate of the thread that receives the result, by its number in [`Pred::Thread`]. Only for CAST
    /// from sm_100 on (spec 3.2).
    Pred(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    pub op: Op,
    pub size: Size,
    pub result: SharedResult,
    pub address: SharedAddress,
    /// Register operand B: data to store, addend, or value to compare with.
    pub rb: Reg,
    /// Register operand C: new value of CAS and CAST.
    pub rc: Reg,
    /// True if this store initializes an mbarrier object of two words (spec 6.2.1). Known only for PTX; in
    /// machine code it is a plain store.
    pub object: bool,
}

/// UMEMSETS.64: the warp stores zeros to a range of shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedFill {
    /// Address of the first word to set to zero, taken from the lowest active thread.
    pub address: SharedAddress,
    /// Number of 64-bit words to set to zero, taken from the lowest active thread.
    pub words: Source,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BarrierOperand {
    None,
    /// `.A0T1`: the operand is the constant 1.
    One,
    Active,
    /// A 32-bit operand: a count, or the parity to test in bit 31.
    Word(Source),
    Pair(Source),
    /// No operand. [`Op::Load`] reads the whole mbarrier object.
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
    /// Operation on the mbarrier object, always of 64 bits.
    pub op: Op,
    /// Datapath: executes once per lane or once per warp. USYNCS executes once per warp. So does a SYNCS with
    /// a uniform register as operand and URZ as destination.
    pub path: Path,
    pub result: BarrierResult,
    /// `.PRIMARY`: predicate result that is true if a failure was reported in the phase that the instruction
    /// tests. Always false for mbarrier objects of layout 0.
    pub reported: Option<Pred>,
    /// Address of the mbarrier object. The top byte of the address may name another CTA of the cluster (spec
    /// 1.4).
    pub address: SharedAddress,
    pub b: BarrierOperand,
}

/// LDGSTS: each thread copies from global to shared memory and continues before the copy completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCopy {
    pub size: Size,
    pub shared: SharedAddress,
    pub global: GlobalAddress,
    /// Predicate operand. If it is false, the copy reads nothing and stores zeros.
    pub enable: PredSource,
    /// `.ZFILL`: the copy reads fewer bytes than it stores. It reads from the global address rounded down to
    /// a multiple of the size. The number of bytes removed by the rounding is the number of zeros that end
    /// the stored data.
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

/// ARRIVES.LDGSTSBAR: operation on an mbarrier object that is executed when the thread's earlier asynchronous
/// copies ([`ThreadCopy`]) are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyArrival {
    /// [`Op::MbarArriveSm80`] for an instruction without a suffix, [`Op::MbarArrive`] for `.ARVCNT`, and
    /// [`Op::MbarCompleteTx`] of one transaction for `.TRANSCNT`.
    pub op: Op,
    pub address: SharedAddress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkWay {
    /// `.S.G`: from global to shared memory. When the copy is done, it completes transactions at an mbarrier
    /// object, one for each byte.
    ToShared,
    /// `.G.S`: from the CTA's own shared memory to global memory. The copy belongs to the thread's current
    /// group of copies.
    ToGlobal,
    /// `.S.S`: from the CTA's own shared memory to shared memory of the cluster. Completes transactions as
    /// [`BulkWay::ToShared`] does.
    AmongShared,
}

/// UBLKRED: read-modify-write operation on each element of the destination; the copied data are the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    pub op: GlobalOp,
    pub size: Size,
}

/// Meaning of the mask in the high half of the size register of a block copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkMask {
    /// `.MULTICAST`: bit r of the mask is 1 if the copy goes to the CTA of rank r in the cluster. The data
    /// and the mbarrier object have the same offsets in each of these CTAs.
    Ctas,
    /// `.DST_G_BYTE_MASK`: bit i of the mask is 1 if byte i of each group of 16 bytes is written.
    Bytes,
}

/// UBLKCP and UBLKRED: the warp starts a block copy or a block reduction and continues before it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkCopy {
    pub way: BulkWay,
    /// Operation of UBLKRED; `None` for UBLKCP.
    pub reduction: Option<Reduction>,
    pub mask: Option<BulkMask>,
    /// First register of the pair for the destination: a 64-bit global address, or a shared address and the
    /// address of the mbarrier object.
    pub to: UReg,
    /// First register for the source: a pair with a 64-bit global address, or one register with a shared
    /// address.
    pub from: UReg,
    /// Register whose low half holds the number of bytes divided by 16. Its high half holds the mask, if any.
    pub size: UReg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncOp {
    /// [`Op::Store`], or an atomic operation of the unit whose result is unused.
    Plain(Op),
    /// Addition of 64 bits, for which the shared-memory unit has no operation (spec 3.4).
    Add64,
}

/// STAS and REDAS: each thread stores to shared memory of the cluster, or performs an atomic there. Then it
/// completes transactions at an mbarrier object, one for each byte.
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
    /// Generic address: global memory, or the part of the generic address space that is shared memory (LD,
    /// ST, ATOM).
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    None,
    Pair(Reg),
    Word(Reg),
}

/// 64-bit address: sum of the base, a pair of uniform registers and an immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalAddress {
    pub base: AddressBase,
    /// First register of the pair of uniform registers with a 64-bit term of the address.
    pub ur: Option<UReg>,
    pub imm: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalOp {
    Load,
    Store,
    Atomic(Op),
    /// An atomic for which the shared-memory unit has no operation of this type (spec 3.4).
    Wide(WideOp),
}

/// Atomics on global memory for which the shared-memory unit has no operation (spec 3.4).
///
/// Through a generic address in the CTA's own shared memory, such an atomic does nothing and returns a false
/// predicate. The code then continues with a compare-and-store loop. In the shared memory of another CTA,
/// only the sum of 64-bit integers executes; all others return a false predicate \[CAPTURE\]. For binary32
/// and binary64, compiled code then tests the address with `QSPC.E.D` and continues with a loop. For the
/// other types it continues with a load and a store, which are not atomic, so concurrent updates of several
/// CTAs are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideOp {
    AddF32 {
        flush: bool,
    },
    AddF64,
    AddHalves(FloatType),
    /// Minimum in each of two packed halves; a number wins over a NaN.
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
    /// `M >= Rb ? 0 : M + 1` for the 64-bit value M in memory.
    Inc64,
    /// `M == 0 or M > Rb ? Rb : M - 1` for the 64-bit value M in memory.
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

/// Access to global memory (LDG, STG, RED, REDG, ATOMG) or by a generic address (LD, ST, ATOM).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalAccess {
    pub space: Space,
    pub op: GlobalOp,
    pub size: Size,
    pub dst: Reg,
    /// Predicate result: true if the access was performed. PT if unused.
    pub pred_dst: Pred,
    pub address: GlobalAddress,
    pub rb: Reg,
    pub rc: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Data in one register: a byte or half word, extended to 32 bits.
    Sub(Size),
    /// Data in consecutive registers: 1, 2 or 4 of them.
    Words(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstAccess {
    pub path: Path,
    pub dst: u16,
    pub grain: Grain,
    pub address: ConstAddress,
}
