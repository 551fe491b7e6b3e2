//! Compute instructions: they read registers and predicates, and write one register result and predicate
//! results.
//!
//! Listings and PTX decode to the same form. A compiler may translate one PTX instruction to many machine
//! instructions. Here such a PTX instruction executes as one operation, lane by lane.

use crate::kernel::number::{ByteFloat, DotPieces, FloatMode, FloatType, MufuFunction, PermuteMode, Type};
use crate::kernel::register::{Pred, PredSource, Reg, UReg};
use crate::kernel::source::Source;
use std::str::FromStr;
use strum::ParseError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Executes once per active lane.
    Vector,
    /// Executes once per warp, on uniform registers.
    Uniform,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatCompare {
    pub compare: Compare,
    /// Result of the comparison if an operand is a NaN.
    pub unordered: bool,
}

impl FromStr for FloatCompare {
    type Err = ParseError;

    /// Parses a comparison by its name in PTX or machine code, such as `lt`, `LTU` or `num`.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductPart {
    Low,
    High,
    /// The whole product, twice as wide as an operand.
    Wide,
}

/// Integer operation of a [`Compute`] instruction. Its operands are called `a`, `b`, `c`, `d`, its predicate
/// operands `p0`, `p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOp {
    Add,
    Sub,
    /// `a + b + c + p0 + p1`. The predicate results are the carries out, of which there may be two. A negated
    /// operand is its bitwise complement plus one, so the carry of a subtraction is the inverted borrow.
    /// Source: observed in compiled 64-bit arithmetic, data/sass.
    Add3,
    /// `a - b - p0`. The first predicate result is the borrow.
    SubBorrow,
    Mul(ProductPart),
    /// `a * b + c + p0`. The first predicate result is the carry.
    Mad(ProductPart),
    /// High word of `a * b + c + p0`, where `c` is as wide as the product. The first predicate result is the
    /// carry.
    MadWideHigh,
    /// Product of 24-bit integers: bits 31:0 if `Low`, bits 47:16 if `High`.
    Mul24(ProductPart),
    /// [`IntOp::Mul24`] plus `c`.
    Mad24(ProductPart),
    AbsDiff,
    /// `c + |a - b|`
    Sad,
    /// `c` plus the sum of `|a - b|` over the elements (bytes or halves) of the type.
    SadParts,
    Div,
    Rem,
    Abs,
    Neg,
    /// `p0 ? min(a, b) : max(a, b)`. The first predicate result is true if the result is `a`. For packed
    /// halves, the first predicate result is for the low half, the second for the high half.
    MinMax,
    /// Minimum of `a`, `b` and `c` if `p0` is true, else their maximum.
    MinMax3,
    /// `p0 ? min(a + b, c) : max(a + b, c)`. The sum wraps around.
    AddMinMax,
    /// `a << b`. A shift amount above the width in bits counts as the width.
    Shl,
    /// `a >> b`. A shift amount above the width in bits counts as the width. For a signed type, copies of the
    /// sign bit fill the high bits.
    Shr,
    Popc,
    Clz,
    /// Position of the highest bit that differs from the sign bit (of the highest 1 for an unsigned type). If
    /// `shift_amount` is set, its distance from the top bit. All ones if there is no such bit.
    Bfind {
        /// Return the distance from the top bit, which is the shift amount that moves the found bit to the
        /// top.
        shift_amount: bool,
    },
    Brev,
    /// Bit field of `a`: `c` bits, the lowest at position `b`.
    Bfe,
    /// `b` with a bit field replaced: the low `d` bits of `a` are inserted at position `c`.
    Bfi,
    Cnot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    /// `a * b + c`, rounded once.
    Fma,
    Div,
    /// Minimum of the operands if `p0` is true, else their maximum. -0 counts as less than +0.
    MinMax(MinMax),
    Abs,
    Neg,
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    CopySign,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinMax {
    /// True if the result is NaN when an operand is NaN. False if the result is then the operand that is a
    /// number.
    pub nan: bool,
    pub of: MinMaxOf,
}

/// Operands of a minimum or maximum. They are one enum, not several flags, because this keeps [`ComputeOp`]
/// small and the execution of instructions fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinMaxOf {
    #[default]
    Two,
    /// Minimum or maximum of `|a|` and `|b|`. The sign of the result is the exclusive or of the signs of `a`
    /// and `b`, unless the result is NaN.
    TwoMagnitudes,
    Three,
    ThreeMagnitudes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum FloatTest {
    Finite,
    Infinite,
    /// Test: not infinite, not NaN and not subnormal. Zero counts as normal (\[PTX\] testp, and compiled
    /// code).
    Normal,
    Number,
    NotANumber,
    Subnormal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    SharedCta,
    SharedCluster,
    Local,
    Param,
    Const,
    /// Global memory: every generic address that is in none of the other windows.
    Global,
}

/// Function that a [`Compute`] instruction computes. Its operands are called `a`, `b`, `c`, `d`, its
/// predicate operands `p0`, `p1`, `p2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComputeOp {
    /// Copy of operand `a`.
    Move,
    /// `p0 ? a : b`. With `flush`, a subnormal result becomes zero.
    Select { ty: Type, flush: bool },
    /// `c >= 0 ? a : b`.
    SelectBySign {
        /// Type of `c`: s32 or f32.
        ty: Type,
        flush: bool,
    },
    /// Bit field of `a`: `bits` bits, the lowest at position `shift`.
    Extract { shift: u8, bits: u8 },
    /// Concatenation of `a`, `b`, `c`, `d`, `bits` bits each; `a` is lowest.
    Concat { bits: u8 },
    Int {
        op: IntOp,
        ty: Type,
        /// Saturate to the range of the type instead of wrapping.
        saturate: bool,
        /// Clamp the final result to zero or more.
        relu: bool,
    },
    /// Bitwise function of `a`, `b` and `c`. Bit number `a << 2 | b << 1 | c` of `table` is the result for
    /// these three bits. The first predicate result is "the result is not zero", combined with `p0`.
    Lop3 {
        table: u8,
        ty: Type,
        /// Operator that combines "not zero" with `p0`.
        combine: BoolOp,
    },
    /// Two functions of the predicates `p0`, `p1`, `p2`, one for each predicate result. Bit number `p0 << 2 |
    /// p1 << 1 | p2` of the function's table is the result. A predicate also counts as true if the sign bit
    /// of the register operand at the same position is 1.
    PredLogic { tables: [u8; 2] },
    /// `(a << shift) + b`. The first predicate result is the carry out. A negated operand is handled as in
    /// [`IntOp::Add3`].
    Lea { shift: u8 },
    /// `({c, a} >> (32 - shift)) + b + p0`, where `{c, a}` is 64 bits with high word `c`. The first predicate
    /// result is the carry out.
    LeaHi {
        shift: u8,
        /// Use copies of the sign bit of `a` instead of `c`.
        sign_extend: bool,
    },
    /// Funnel shift: one word of `{c, a}` (64 bits with high word `c`), shifted by `b`. In a right shift, a
    /// signed type fills with copies of the sign bit of `c`.
    Funnel {
        left: bool,
        /// Width of this type (32 or 64 bits) is the largest shift amount. A signed type makes a right shift
        /// arithmetic.
        ty: Type,
        high: bool,
        /// Take the shift amount modulo the width instead of limiting it to the width.
        wrap: bool,
    },
    /// Position of the `c`th 1 bit of `a`, counted from bit `b` upwards.
    FindNth,
    /// Mask of `b` ones, the lowest at position `a`. With `wrap`, `a` and `b` are taken modulo 32, else
    /// limited to 32.
    Mask { wrap: bool },
    /// Lowest `b` bits of `a`, extended to 32 bits. With `wrap`, `b` is taken modulo 32, else limited to 32.
    Extend { signed: bool, wrap: bool },
    /// Dot product: `c` plus a sum of products of bytes of `b` with bytes of `a`, or with two halves of `a`.
    Dot {
        pieces: DotPieces,
        /// True if the pieces of `a` are signed; true if the bytes of `b` are signed.
        signed: [bool; 2],
    },
    /// Permutation of the eight bytes of `{c, a}`; operand `b` selects the bytes of the result.
    Permute(PermuteMode),
    /// Comparison of `a` with `b`, combined with `p0`. The second predicate result is the inverse comparison.
    /// For packed types the two predicate results are the comparisons of the low and of the high halves.
    Compare {
        compare: FloatCompare,
        ty: Type,
        combine: BoolOp,
        flush: bool,
        /// Type of the register result, or `None` if there is none. A true comparison gives all ones for an
        /// integer type, 1.0 for a float type. A comparison of packed halves gives 16 bits for each half.
        result: Option<Type>,
        part: ComparePart,
    },
    /// First predicate result: `a` is the minimum (with `min`) or maximum of the binary64 operands `a` and
    /// `b`, where a number wins over a NaN. Second predicate result: both are NaN. This is a project choice,
    /// derived from the use in compiled fmin and fmax.
    MinMaxTaken { min: bool, combine: BoolOp },
    Float {
        op: FloatOp,
        ty: FloatType,
        mode: FloatMode,
        /// Return only the result of the low halves of a packed type, as binary32.
        widen: bool,
    },
    /// Predicate result: the division `a / b` of binary32 values needs the slow path of compiled code,
    /// because its short sequence with a reciprocal may give a wrong result.
    DivisionIsHard,
    /// Function of `a` that the multi-function unit computes, such as a reciprocal.
    Mufu(MufuFunction),
    /// First predicate result: `a` has the property that `test` names.
    Test { test: FloatTest, ty: FloatType },
    Convert {
        from: Type,
        to: Type,
        /// Rounding and flushing. With `saturate`, a result of an integer type is limited to the range of the
        /// type, a float result to 0.0 to 1.0.
        mode: FloatMode,
        integral: bool,
        /// True if a NaN becomes the integer zero. False if a NaN becomes an integer of which only the
        /// highest bit is 1; 8-bit and 16-bit results are zero in this case too. This is a project choice,
        /// derived from \[PTX\] cvt and from instructions without `.NTZ`.
        nan_to_zero: bool,
    },
    /// Two halves packed in one word: `a`, converted from binary32, is the high half, `b` the low half.
    Pack { half: FloatType, mode: FloatMode },
    /// `c << 2n | a << n | b`, where `a` and `b` are first saturated to integers of n bits.
    PackInt {
        /// Width n of the integers in bits: 2, 4, 8 or 16.
        bits: u8,
        signed: bool,
    },
    /// `a` and `b` converted to 8-bit floats: `a` is bits 15:8 of the result, `b` bits 7:0, and the low half
    /// of `c` bits 31:16. Infinity and values above the range of the format become its greatest value. Every
    /// NaN becomes 0x7f.
    PackBytes {
        to: ByteFloat,
        /// Type of the operands: binary32, or f16x2 if `a` holds both values.
        from: FloatType,
        relu: bool,
    },
    /// The two low bytes of `a`, converted from 8-bit floats to f16x2. With `relu`, negative values become 0.
    UnpackBytes { from: ByteFloat, relu: bool },
    /// Generic address of the address `a` in this window (the part of the generic address space for one
    /// memory).
    ToGeneric(Window),
    /// First predicate result: the generic address `a` is in this window. Operand `b` is the rank of the
    /// executing CTA.
    InWindow(Window),
    /// Shared address `a` mapped to the CTA of rank `b`.
    MapRank,
    /// CTA rank in the shared address `a`.
    RankOf,
}

/// Part of a comparison of multi-word or packed values that this instruction performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparePart {
    Whole,
    /// Comparison of the high words. `p1` is the result for the low words, and is the result if the high
    /// words are equal.
    High,
    /// Comparison of packed halves. The first predicate result is true if the comparison is true for both
    /// halves. The second is its inverse.
    BothHalves,
}

impl ComputeOp {
    pub const fn compare(compare: FloatCompare, ty: Type, combine: BoolOp, flush: bool) -> ComputeOp {
        ComputeOp::Compare { compare, ty, combine, flush, result: None, part: ComparePart::Whole }
    }

    pub const fn int(op: IntOp, ty: Type) -> ComputeOp {
        ComputeOp::Int { op, ty, saturate: false, relu: false }
    }

    /// Returns the operation that packs two integers of the named type, such as `u8`.
    pub(crate) fn pack_int(name: &str) -> Option<ComputeOp> {
        let bits = name.strip_prefix(['u', 's'])?.parse::<u8>().ok();
        let bits = bits.filter(|bits| matches!(bits, 2 | 4 | 8 | 16))?;
        Some(ComputeOp::PackInt { bits, signed: name.starts_with('s') })
    }

    pub const fn float(op: FloatOp, ty: FloatType, mode: FloatMode) -> ComputeOp {
        ComputeOp::Float { op, ty, mode, widen: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compute {
    pub op: ComputeOp,
    /// Datapath: executes once per lane or once per warp. Also selects the register file of `dst`.
    pub path: Path,
    /// Number of the result register, or of the low register of a pair. The zero register if there is no
    /// result.
    pub dst: u16,
    pub wide: bool,
    /// Predicate results. PT (always true, writes discarded) for an unused result.
    pub pred_dst: [Pred; 2],
    /// Operands `a`, `b`, `c`, `d`. Unused operands are the constant zero.
    pub sources: [Source; 4],
    pub p: [PredSource; 3],
}

impl Compute {
    pub const fn new(op: ComputeOp, path: Path) -> Compute {
        let dst = match path {
            Path::Vector => Reg::RZ.0,
            Path::Uniform => UReg::URZ.0 as u16,
        };
        let (sources, p) = ([Source::ZERO; 4], [PredSource::FALSE; 3]);
        Compute { op, path, dst, wide: false, pred_dst: [Pred::PT; 2], sources, p }
    }
}
