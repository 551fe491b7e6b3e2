//! Instructions that compute: registers and predicates in, one register result and predicates out.
//!
//! Listings and PTX become the same form. What PTX computes in one instruction may take many of machine code, and
//! which ones is the compiler's secret: such an instruction is carried out as it stands, lane by lane.

use crate::kernel::number::{ByteFloat, DotPieces, FloatMode, FloatType, MufuFunction, PermuteMode, Type};
use crate::kernel::register::{Pred, PredSource, Reg, UReg};
use crate::kernel::source::Source;
use std::str::FromStr;
use strum::ParseError;

/// Datapath of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Once per active lane.
    Vector,
    /// Once per warp, on uniform registers.
    Uniform,
}

/// Comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Compare {
    #[strum(serialize = "f")]
    False,
    Lt,
    Eq,
    Le,
    Gt,
    Ne,
    Ge,
    #[strum(serialize = "t")]
    True,
}

/// Comparison of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatCompare {
    /// The comparison of ordered operands.
    pub compare: Compare,
    /// Result where an operand is a NaN.
    pub unordered: bool,
}

impl FromStr for FloatCompare {
    type Err = ParseError;

    /// Reads what PTX and machine code have in common: `lt`, `LTU`, `num`.
    fn from_str(name: &str) -> Result<FloatCompare, ParseError> {
        let unordered = name.strip_suffix(['u', 'U']).filter(|ordered| ordered.len() == 2);
        Ok(match name {
            "num" | "NUM" => FloatCompare { compare: Compare::True, unordered: false },
            "nan" | "NAN" => FloatCompare { compare: Compare::False, unordered: true },
            "T" => FloatCompare { compare: Compare::True, unordered: true },
            _ => FloatCompare { compare: unordered.unwrap_or(name).parse()?, unordered: unordered.is_some() },
        })
    }
}

/// Combination of a comparison with the predicate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Part of a product that is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductPart {
    Low,
    High,
    /// All of it.
    Wide,
}

/// Integer operations, of the type beside them. `p` are predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOp {
    Add,
    Sub,
    /// `a + b + c + p0 + p1`; the predicates count the carries out. A negated operand counts as its inverse plus
    /// one, so that the carry of a subtraction is its inverted borrow. Source: observed in compiled 64-bit arithmetic,
    /// data/sass.
    Add3,
    /// `a - b - p0`; the first predicate is the borrow.
    SubBorrow,
    Mul(ProductPart),
    /// `a * b + c + p0`; the first predicate is the carry.
    Mad(ProductPart),
    /// High word of `a * b + c + p0`, where `c` is as wide as the product; the first predicate is the carry.
    MadWideHigh,
    /// Product of 24-bit integers: bits 31:0, or 47:16.
    Mul24(ProductPart),
    /// The same plus `c`.
    Mad24(ProductPart),
    /// `|a - b|`
    AbsDiff,
    /// `c + |a - b|`
    Sad,
    /// `c` plus the sum of `|a - b|` over the parts of the type.
    SadParts,
    Div,
    /// Remainder of that.
    Rem,
    Abs,
    Neg,
    /// `p0 ? min(a, b) : max(a, b)`. The first predicate says whether `a` was taken; of halves, the predicates say it of
    /// the low and of the high one.
    MinMax,
    /// The least, if `p0`, or the greatest of `a`, `b` and `c`.
    MinMax3,
    /// `p0 ? min(a + b, c) : max(a + b, c)`; the sum wraps.
    AddMinMax,
    /// Left by `b`, no more than the width.
    Shl,
    /// Right by `b`, no more than the width; a signed type repeats its sign.
    Shr,
    /// Ones in `a`.
    Popc,
    /// Zeros before the highest one.
    Clz,
    /// Position of the highest bit that is not the sign, or its distance from the top; all ones if there is none.
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
    /// 1 if `a` is zero, else 0.
    Cnot,
}

/// Float operations, of the type beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    /// `a * b + c`, rounded once.
    Fma,
    Div,
    /// The least, if `p0`, or the greatest of the operands; -0 is less than +0.
    MinMax(MinMax),
    Abs,
    Neg,
    Rcp,
    Sqrt,
    /// `1 / sqrt(a)`
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    /// `b` with the sign of `a`.
    CopySign,
}

/// Options of a minimum or maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinMax {
    /// A NaN wins in place of losing.
    pub nan: bool,
    pub of: MinMaxOf,
}

/// Operands of a minimum or maximum. One value, since code that computes it is faster where [`ComputeOp`] is small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinMaxOf {
    /// `a` and `b`.
    #[default]
    Two,
    /// The absolute values of `a` and `b`; the sign of the result is the exclusive or of theirs, unless it is a NaN.
    TwoMagnitudes,
    /// `a`, `b` and `c`.
    Three,
    /// The absolute values of `a`, `b` and `c`.
    ThreeMagnitudes,
}

/// Property of a float that is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum FloatTest {
    /// Neither infinite nor NaN.
    Finite,
    Infinite,
    /// Neither infinite, NaN nor subnormal: zero is normal (\[PTX\] testp, and what compiled code does).
    Normal,
    /// Not NaN.
    Number,
    NotANumber,
    Subnormal,
}

/// Memory that a generic address may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Shared memory of the own CTA.
    SharedCta,
    SharedCluster,
    /// Memory of the thread.
    Local,
    Param,
    Const,
    /// All other addresses: global memory.
    Global,
}

/// What a [`Compute`] instruction computes from its operands `a`, `b`, `c`, `d` and its predicates `p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComputeOp {
    /// `a`.
    Move,
    /// `p0 ? a : b`.
    Select {
        /// Type of both.
        ty: Type,
        /// Flush a subnormal result.
        flush: bool,
    },
    /// `c >= 0 ? a : b`.
    SelectBySign {
        /// Type of `c`: s32 or f32.
        ty: Type,
        /// Flush a subnormal `c`.
        flush: bool,
    },
    /// `bits` bits of `a` from bit `shift` on.
    Extract {
        /// First bit.
        shift: u8,
        bits: u8,
    },
    /// `a`, `b`, `c`, `d` of `bits` bits each, `a` lowest.
    Concat { bits: u8 },
    Int {
        op: IntOp,
        ty: Type,
        /// Limit to the type in place of wrapping.
        saturate: bool,
        /// No less than zero at last.
        relu: bool,
    },
    /// Bitwise function of three operands: bit `a << 2 | b << 1 | c` of the table. The first predicate is "not zero",
    /// combined with `p0`.
    Lop3 {
        table: u8,
        /// Number of bits.
        ty: Type,
        /// Combination of the predicate with `p0`.
        combine: BoolOp,
    },
    /// Function of the three predicates `p`: bit `p0 << 2 | p1 << 1 | p2` of a table per result. A predicate is also
    /// true where the operand of its place, the sign of a register, is 1.
    PredLogic {
        /// Truth tables of the first and the second predicate result.
        tables: [u8; 2],
    },
    /// `(a << shift) + b`; carry out in the first predicate. Negated operands are as in [`IntOp::Add3`].
    Lea {
        /// 0 to 31.
        shift: u8,
    },
    /// `({c, a} >> (32 - shift)) + b + p0`; carry out in the first predicate.
    LeaHi {
        /// 0 to 31.
        shift: u8,
        /// Take the sign of `a` in place of `c`.
        sign_extend: bool,
    },
    /// A word of `{c, a}` shifted by `b`; to the right, a signed type repeats the sign of `c`.
    Funnel {
        /// True for a shift to the left.
        left: bool,
        /// Largest shift, 32 or 64, and signedness.
        ty: Type,
        /// Give the high word.
        high: bool,
        /// Take the shift modulo the width in place of limiting it.
        wrap: bool,
    },
    /// Position of the `c`th one of `a` from bit `b` on.
    FindNth,
    /// `b` ones from bit `a` on.
    Mask {
        /// Take both modulo 32 in place of limiting them.
        wrap: bool,
    },
    /// Lowest `b` bits of `a`, extended to 32.
    Extend {
        signed: bool,
        /// Take `b` modulo 32 in place of limiting it.
        wrap: bool,
    },
    /// `c` plus the sum of products of the bytes of `b` with the bytes, or with two halves, of `a`.
    Dot {
        /// Pieces in `a`.
        pieces: DotPieces,
        /// Signedness of the pieces of `a` and of `b`.
        signed: [bool; 2],
    },
    /// Bytes of `{c, a}` chosen by `b`, as the mode says.
    Permute(PermuteMode),
    /// `a compare b`, combined with `p0`; the second predicate takes the inverse comparison, of packed types that of the
    /// high half.
    Compare {
        compare: FloatCompare,
        ty: Type,
        /// Combination with `p0`.
        combine: BoolOp,
        /// Flush subnormal operands.
        flush: bool,
        /// The register result: all ones of a type, or its 1.0. A comparison of packed halves gives 16 bits for each half.
        result: Option<Type>,
        /// The part of a comparison that the instruction does.
        part: ComparePart,
    },
    /// The first predicate: `a` is the minimum (or maximum) of `a` and `b`, binary64, where a NaN loses
    /// against a number; the second: both are NaN (chosen: what compiled fmin and fmax make of them).
    MinMaxTaken {
        min: bool,
        /// Combination with `p0`.
        combine: BoolOp,
    },
    Float {
        op: FloatOp,
        ty: FloatType,
        mode: FloatMode,
        /// The result is that of the low halves of a packed type, in binary32.
        widen: bool,
    },
    /// Predicate: the quotient `a / b`, binary32, needs more than the short sequence around a reciprocal.
    DivisionIsHard,
    /// A function of the multi-function unit of `a`.
    Mufu(MufuFunction),
    /// First predicate: true if `a` has the property.
    Test {
        /// Property that is tested.
        test: FloatTest,
        /// Type of `a`.
        ty: FloatType,
    },
    /// `a` as another type.
    Convert {
        /// Type of `a`.
        from: Type,
        to: Type,
        /// How it rounds and flushes; limits to an integer type, or a float to 0.0 to 1.0.
        mode: FloatMode,
        /// Round a float to an integer that stays a float.
        integral: bool,
        /// A NaN gives the integer zero in place of the highest bit alone (chosen: what \[PTX\] cvt and the instruction
        /// without `.NTZ` are said to give); so it does for 8 and 16 bits.
        nan_to_zero: bool,
    },
    /// `a` and `b`, binary32, as halves of a packed result; `a` is the high one.
    Pack {
        /// Type of each half.
        half: FloatType,
        mode: FloatMode,
    },
    /// `c << 2n | a << n | b`, of `a` and `b` limited to the range of an integer of n bits.
    PackInt {
        /// n: 2, 4, 8 or 16.
        bits: u8,
        /// The integer has a sign.
        signed: bool,
    },
    /// `a` and `b` as two bytes, `a` in the high one; above them the low half of `c`. A value beyond the format's
    /// greatest, infinity too, becomes that; every NaN becomes 0x7f.
    PackBytes {
        /// Format of the bytes.
        to: ByteFloat,
        /// f32; or f16x2, and `a` holds both values.
        from: FloatType,
        /// A negative value becomes 0.
        relu: bool,
    },
    /// The two low bytes of `a` as f16x2.
    UnpackBytes {
        /// Format of the bytes.
        from: ByteFloat,
        /// A negative value becomes 0.
        relu: bool,
    },
    /// The address `a` of a memory as a generic one.
    ToGeneric(Window),
    /// First predicate: true if the generic address `a` is in the memory. The rank of the own CTA is `b`.
    InWindow(Window),
    /// The shared address `a` in the CTA of rank `b`.
    MapRank,
    /// The rank in the shared address `a`.
    RankOf,
}

/// The comparison of which an instruction does one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparePart {
    /// The comparison stands alone.
    Whole,
    /// It is that of high words; `p1` is the result for the low ones, and decides where these are alike.
    High,
    /// Of packed types: the first predicate takes the conjunction of both halves, the second its inverse.
    BothHalves,
}

impl ComputeOp {
    /// A comparison by itself.
    pub const fn compare(compare: FloatCompare, ty: Type, combine: BoolOp, flush: bool) -> ComputeOp {
        ComputeOp::Compare { compare, ty, combine, flush, result: None, part: ComparePart::Whole }
    }

    /// An integer operation that wraps.
    pub const fn int(op: IntOp, ty: Type) -> ComputeOp {
        ComputeOp::Int { op, ty, saturate: false, relu: false }
    }

    /// The packing of two integers of this type: `u8`.
    pub(crate) fn pack_int(name: &str) -> Option<ComputeOp> {
        let bits = name.strip_prefix(['u', 's'])?.parse::<u8>().ok();
        let bits = bits.filter(|bits| matches!(bits, 2 | 4 | 8 | 16))?;
        Some(ComputeOp::PackInt { bits, signed: name.starts_with('s') })
    }

    /// A float operation on each number of the type.
    pub const fn float(op: FloatOp, ty: FloatType, mode: FloatMode) -> ComputeOp {
        ComputeOp::Float { op, ty, mode, widen: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compute {
    pub op: ComputeOp,
    /// Per lane or per warp; also the register file of `dst`.
    pub path: Path,
    /// Number of the result register (or of the low one of a pair) in the file of `path`; the zero
    /// register where there is none.
    pub dst: u16,
    /// The result is a pair of registers.
    pub wide: bool,
    /// Predicate results; PT where there is none.
    pub pred_dst: [Pred; 2],
    /// Operands `a`, `b`, `c`, `d`; those not used are zero.
    pub sources: [Source; 4],
    pub p: [PredSource; 3],
}

impl Compute {
    /// An instruction of `path` without operands and results.
    pub const fn new(op: ComputeOp, path: Path) -> Compute {
        let dst = match path {
            Path::Vector => Reg::RZ.0,
            Path::Uniform => UReg::URZ.0 as u16,
        };
        let (sources, p) = ([Source::ZERO; 4], [PredSource::FALSE; 3]);
        Compute { op, path, dst, wide: false, pred_dst: [Pred::PT; 2], sources, p }
    }
}
