//! Instructions of PTX that compute, typed as PTX types them.
//!
//! Machine code has [`crate::Alu`]; what PTX computes in one instruction may take many of those, and which ones
//! is the compiler's secret. Such an instruction is carried out as it stands instead, lane by lane.

use crate::kernel::alu::{BoolOp, FloatCompare};
use crate::kernel::number::{PermuteMode, Rounding};
use crate::kernel::register::{PredSource, Reg};
use crate::ptx::Type;

/// Most operands that one instruction takes.
pub const COMPUTE_OPERANDS: usize = 4;

/// Where an operand's bits come from. A narrower operation takes the low ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComputeInput {
    /// One register.
    Word(Reg),
    /// A register and the next.
    Pair(Reg),
    /// The same bits in all lanes.
    Imm(u64),
    /// 1 where the predicate holds, else 0.
    Pred(PredSource),
}

/// Where the result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeOutput {
    /// Nowhere.
    None,
    /// One register.
    Word(Reg),
    /// A register and the next.
    Pair(Reg),
    /// A predicate of the thread, by its number: bit 0.
    Pred(u16),
}

/// A compute instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compute {
    /// What is computed.
    pub op: ComputeOp,
    /// The result.
    pub dst: ComputeOutput,
    /// Number of the predicate for the second result: the carry out, the inverse of a comparison, "not zero".
    pub second: Option<u16>,
    /// Operands; those not used are zero.
    pub inputs: [ComputeInput; COMPUTE_OPERANDS],
}

/// Which part of a product is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The low half.
    Low,
    /// The high half.
    High,
    /// All of it.
    Wide,
}

/// Integer operations, of the type beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul(Part),
    /// `a * b + c`
    Mad(Part),
    /// Product of 24-bit integers: bits 31:0, or 47:16.
    Mul24(Part),
    /// The same plus `c`.
    Mad24(Part),
    /// `c + |a - b|`
    Sad,
    /// `a / b`
    Div,
    /// Remainder of that.
    Rem,
    /// `|a|`
    Abs,
    /// `-a`
    Neg,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// Left by `b`, no more than the width.
    Shl,
    /// Right by `b`, no more than the width; a signed type repeats its sign.
    Shr,
    /// Ones in `a`.
    Popc,
    /// Zeros before the highest one.
    Clz,
    /// Position of the highest bit that is not the sign; or its distance from the top.
    Bfind {
        /// The distance.
        shift_amount: bool,
    },
    /// `a` with its bits in reverse order.
    Brev,
    /// Field of `a`: `c` bits from bit `b` on.
    Bfe,
    /// `b` with `a` put in `d` bits from bit `c` on.
    Bfi,
}

/// Bitwise operations on as many bits as said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOp {
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Exclusive or.
    Xor,
    /// Inverse of `a`.
    Not,
    /// 1 if `a` is zero, else 0.
    Cnot,
}

/// Float operations, of the type beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a * b + c`, rounded once.
    Fma,
    /// `a / b`
    Div,
    /// The smaller.
    Min(MinMax),
    /// The larger.
    Max(MinMax),
    /// `|a|`
    Abs,
    /// `-a`
    Neg,
    /// `1 / a`
    Rcp,
    /// Square root.
    Sqrt,
    /// `1 / sqrt(a)`
    Rsqrt,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Logarithm to base 2.
    Lg2,
    /// Power of 2.
    Ex2,
    /// Hyperbolic tangent.
    Tanh,
    /// `b` with the sign of `a`.
    CopySign,
}

/// What a minimum or maximum does out of the ordinary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinMax {
    /// A NaN wins in place of losing.
    pub nan: bool,
    /// Of the absolute values; the sign is the exclusive or of both.
    pub xor_sign_abs: bool,
}

/// What a float is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatTest {
    /// Neither infinite nor NaN.
    Finite,
    /// Infinite.
    Infinite,
    /// Neither infinite, NaN nor subnormal: zero is normal ([PTX] testp, and what compiled code does).
    Normal,
    /// Not NaN.
    Number,
    /// NaN.
    NotANumber,
    /// Subnormal.
    Subnormal,
}

/// Memory that a generic address may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Shared memory of the own CTA.
    SharedCta,
    /// Shared memory of the cluster.
    SharedCluster,
    /// Memory of the thread.
    Local,
    /// Kernel parameters.
    Param,
    /// Constants.
    Const,
    /// None of these.
    Global,
}

/// What a [`Compute`] instruction computes from its operands `a`, `b`, `c`, `d`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComputeOp {
    /// `a`.
    Move,
    /// `bits` bits of `a` from bit `shift` on.
    Extract {
        /// First bit.
        shift: u8,
        /// How many.
        bits: u8,
    },
    /// `a`, `b`, `c`, `d` of `bits` bits each, `a` lowest.
    Concat {
        /// Bits of each.
        bits: u8,
    },
    /// An integer operation.
    Int {
        /// Which.
        op: IntOp,
        /// Of which type.
        ty: Type,
        /// Limit to the type in place of wrapping.
        saturate: bool,
    },
    /// `a + b + d`, or `a * b + c + d` of the part; the second result is the carry. Of the subtraction it is
    /// the borrow, in and out.
    Carry {
        /// [`IntOp::Add`], [`IntOp::Sub`] or [`IntOp::Mad`].
        op: IntOp,
        /// Of which type.
        ty: Type,
    },
    /// A bitwise operation on the bits of the type.
    Bits {
        /// Which.
        op: BitOp,
        /// How many bits.
        ty: Type,
    },
    /// Bitwise function of three words: bit `a << 2 | b << 1 | c` of the table. The second result is "not
    /// zero", combined with `d`.
    Lop3 {
        /// Truth table.
        table: u8,
        /// How `d` enters the second result.
        combine: BoolOp,
    },
    /// `{b, a}` shifted by `c`: the high word of it shifted left, or the low word of it shifted right.
    Funnel {
        /// Which way.
        left: bool,
        /// Take the distance modulo 32 in place of limiting it to 32.
        wrap: bool,
    },
    /// Position of the `c`th one of `a` from bit `b` on.
    FindNth,
    /// `b` ones from bit `a` on.
    Mask {
        /// Take both modulo 32 in place of limiting them.
        wrap: bool,
    },
    /// Lowest `b` bits of `a`, extended by sign or zero.
    Extend {
        /// By sign.
        signed: bool,
        /// Take `b` modulo 32 in place of limiting it.
        wrap: bool,
    },
    /// `c` and the products of four bytes of `a` and `b`.
    Dot4 {
        /// Whether `a` and `b` are signed.
        signed: [bool; 2],
    },
    /// `c` and the products of two halves of `a` and two bytes of `b`.
    Dot2 {
        /// Whether `a` and `b` are signed.
        signed: [bool; 2],
        /// The high bytes of `b`.
        high: bool,
    },
    /// Bytes of `{b, a}` chosen by `c`.
    Permute(PermuteMode),
    /// `c ? a : b`, `c` a predicate.
    Select,
    /// `c >= 0 ? a : b`.
    SelectBySign {
        /// Type of `c`: s32 or f32.
        ty: Type,
        /// Flush a subnormal `c`.
        flush: bool,
    },
    /// `a compare b`, combined with the predicate `c`; the second result takes the inverse comparison.
    Compare {
        /// The comparison.
        compare: FloatCompare,
        /// Of which type.
        ty: Type,
        /// How `c` enters.
        combine: BoolOp,
        /// Flush subnormal operands.
        flush: bool,
        /// The result is all ones, or 1.0, in place of a predicate.
        result: Option<Type>,
    },
    /// A float operation.
    Float {
        /// Which.
        op: FloatOp,
        /// Of which type.
        ty: Type,
        /// How it is rounded.
        rounding: Rounding,
        /// Flush subnormal operands and results.
        flush: bool,
        /// Limit to 0.0 to 1.0; NaN becomes 0.
        saturate: bool,
        /// Of a fused multiply-add: a negative result becomes 0.
        relu: bool,
    },
    /// Whether `a` is what is asked.
    Test {
        /// What is asked.
        test: FloatTest,
        /// Type of `a`.
        ty: Type,
    },
    /// `a` as another type.
    Convert {
        /// Type of `a`.
        from: Type,
        /// Type of the result.
        to: Type,
        /// How it is rounded.
        rounding: Rounding,
        /// Round a float to an integer that stays a float.
        integral: bool,
        /// Flush subnormal operands and results.
        flush: bool,
        /// Limit to the type, or to 0.0 to 1.0.
        saturate: bool,
        /// A negative result becomes 0.
        relu: bool,
    },
    /// `a` and `b`, binary32, as halves of a packed result; `a` is the high one.
    Pack {
        /// f16x2 or bf16x2.
        to: Type,
        /// How it is rounded.
        rounding: Rounding,
        /// A negative half becomes 0.
        relu: bool,
    },
    /// The address `a` of a memory as a generic one.
    ToGeneric(Window),
    /// Whether the generic address `a` is in the memory.
    InWindow(Window),
    /// The shared address `a` in the CTA of rank `b`.
    MapRank,
    /// The rank in the shared address `a`.
    RankOf,
}
