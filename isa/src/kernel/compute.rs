//! Compute instructions: registers and predicates in, one register result and predicates out.
//!
//! Listings and PTX decode to the same form. One PTX instruction may compile to many machine instructions,
//! and the choice is the compiler's. Such an instruction executes as one operation, lane by lane.

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
    /// Result if an operand is a NaN.
    pub unordered: bool,
}

impl FromStr for FloatCompare {
    type Err = ParseError;

    /// Reads the names that PTX and machine code share: `lt`, `LTU`, `num`.
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

/// Integer operation on operands `a`, `b`, `c`, `d` and predicates `p0`, `p1` of a [`Compute`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOp {
    Add,
    Sub,
    /// `a + b + c + p0 + p1`; the predicate results count the carries out. A negated operand counts as its
    /// inverse plus one. The carry of a subtraction is therefore the inverted borrow. Source: observed in
    /// compiled 64-bit arithmetic, data/sass.
    Add3,
    /// `a - b - p0`; the first predicate result is the borrow.
    SubBorrow,
    Mul(ProductPart),
    /// `a * b + c + p0`; the first predicate result is the carry.
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
    /// `c` plus the sum of `|a - b|` over the parts of the type.
    SadParts,
    Div,
    Rem,
    Abs,
    Neg,
    /// `p0 ? min(a, b) : max(a, b)`. The first predicate result is true if `a` was taken. For packed halves,
    /// the two predicate results are for the low and the high half.
    MinMax,
    /// Minimum of `a`, `b` and `c` if `p0` holds, else the maximum.
    MinMax3,
    /// `p0 ? min(a + b, c) : max(a + b, c)`; the sum wraps.
    AddMinMax,
    /// `a << b`; shifts by more than the width shift by the width.
    Shl,
    /// `a >> b`; shifts by more than the width shift by the width. A signed type repeats its sign.
    Shr,
    Popc,
    Clz,
    /// Position of the highest bit that differs from the sign, or its distance from the top. All ones if
    /// there is none.
    Bfind {
        /// True for the distance from the top, as for a left shift.
        shift_amount: bool,
    },
    Brev,
    /// Bit field of `a`: `c` bits from bit `b` on.
    Bfe,
    /// `b` with the low `d` bits of `a` inserted at bit `c`.
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
    /// Minimum if `p0` holds, else maximum of the operands; -0 is less than +0.
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
    /// True if a NaN operand makes the result NaN. False if a number wins over a NaN.
    pub nan: bool,
    pub of: MinMaxOf,
}

/// Operands of a minimum or maximum. A single enum keeps [`ComputeOp`] small, which makes the execution of
/// instructions faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinMaxOf {
    #[default]
    Two,
    /// The absolute values of `a` and `b`. The sign of the result is the exclusive or of the operand signs,
    /// unless the result is a NaN.
    TwoMagnitudes,
    Three,
    ThreeMagnitudes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum FloatTest {
    Finite,
    Infinite,
    /// Neither infinite, NaN nor subnormal. Zero counts as normal (\[PTX\] testp, and compiled code).
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
    /// All other addresses: global memory.
    Global,
}

/// Function that a [`Compute`] instruction computes from operands `a`, `b`, `c`, `d` and predicates `p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComputeOp {
    /// Copy of operand `a`.
    Move,
    /// `p0 ? a : b`. `flush` flushes a subnormal result.
    Select { ty: Type, flush: bool },
    /// `c >= 0 ? a : b`.
    SelectBySign {
        /// Type of `c`: s32 or f32.
        ty: Type,
        flush: bool,
    },
    /// `bits` bits of `a` from bit `shift` on.
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
    /// Bitwise function of three operands: bit `a << 2 | b << 1 | c` of the table. The first predicate result
    /// is "not zero", combined with `p0`.
    Lop3 {
        table: u8,
        ty: Type,
        /// Operator that combines "not zero" with `p0`.
        combine: BoolOp,
    },
    /// Function of the three predicates `p`: bit `p0 << 2 | p1 << 1 | p2` of one table per result. A
    /// predicate also counts as true if the operand at its position, the sign bit of a register, is 1.
    PredLogic { tables: [u8; 2] },
    /// `(a << shift) + b`; the first predicate result is the carry out. Negated operands are as in
    /// [`IntOp::Add3`].
    Lea { shift: u8 },
    /// `({c, a} >> (32 - shift)) + b + p0`; the first predicate result is the carry out.
    LeaHi {
        shift: u8,
        /// Use the sign of `a` instead of `c`.
        sign_extend: bool,
    },
    /// One word of `{c, a}` shifted by `b`. In a right shift, a signed type repeats the sign of `c`.
    Funnel {
        left: bool,
        /// Largest shift (32 or 64) and signedness.
        ty: Type,
        high: bool,
        /// Take the shift modulo the width instead of clamping it.
        wrap: bool,
    },
    /// Position of the `c`th one bit of `a`, counted from bit `b` on.
    FindNth,
    /// `b` one bits from bit `a` on. `wrap` takes both modulo 32 instead of clamping them.
    Mask { wrap: bool },
    /// Lowest `b` bits of `a`, extended to 32 bits. `wrap` takes `b` modulo 32 instead of clamping it.
    Extend { signed: bool, wrap: bool },
    /// `c` plus a sum of products: bytes of `b` times bytes of `a`, or times two halves of `a`.
    Dot {
        pieces: DotPieces,
        /// Signedness of the pieces of `a` and of the bytes of `b`.
        signed: [bool; 2],
    },
    /// Permutation of the bytes of `{c, a}` with selector `b`.
    Permute(PermuteMode),
    /// `a compare b`, combined with `p0`. The second predicate result is the inverse comparison; for packed
    /// types it is the comparison of the high halves.
    Compare {
        compare: FloatCompare,
        ty: Type,
        combine: BoolOp,
        flush: bool,
        /// Type of the register result: all ones of an integer type, or 1.0 of a float type. A comparison of
        /// packed halves gives 16 bits for each half. `None` if there is no register result.
        result: Option<Type>,
        part: ComparePart,
    },
    /// First predicate result: `a` is the minimum (or maximum) of binary64 `a` and `b`; a NaN loses against a
    /// number. Second: both are NaN (chosen, from the use in compiled fmin and fmax).
    MinMaxTaken { min: bool, combine: BoolOp },
    Float {
        op: FloatOp,
        ty: FloatType,
        mode: FloatMode,
        /// Return the result of the low halves of a packed type as binary32.
        widen: bool,
    },
    /// Predicate result: the binary32 quotient `a / b` needs more than the short sequence around a
    /// reciprocal.
    DivisionIsHard,
    /// Function of the multi-function unit on `a`.
    Mufu(MufuFunction),
    /// First predicate result: `a` has the property.
    Test { test: FloatTest, ty: FloatType },
    Convert {
        from: Type,
        to: Type,
        /// Rounding and flushing. `saturate` limits a value to the integer type, or a float to 0.0 to 1.0.
        mode: FloatMode,
        integral: bool,
        /// True if a NaN becomes the integer zero. False if it becomes only the highest bit (chosen, from
        /// \[PTX\] cvt and the instruction without `.NTZ`); in 8 and 16 bits it becomes zero either way.
        nan_to_zero: bool,
    },
    /// Binary32 `a` and `b` converted to halves of a packed result; `a` is the high half.
    Pack { half: FloatType, mode: FloatMode },
    /// `c << 2n | a << n | b`, with `a` and `b` saturated to an integer of n bits.
    PackInt {
        /// n: 2, 4, 8 or 16.
        bits: u8,
        signed: bool,
    },
    /// `a` and `b` converted to two bytes, `a` in the high one. The low half of `c` fills the upper 16 bits.
    /// Infinity and values beyond the format's range become its greatest value. Every NaN becomes 0x7f.
    PackBytes {
        to: ByteFloat,
        /// Binary32, or f16x2 if `a` holds both values.
        from: FloatType,
        relu: bool,
    },
    /// The two low bytes of `a` converted to f16x2. `relu` replaces negative values by 0.
    UnpackBytes { from: ByteFloat, relu: bool },
    /// Generic address of address `a` in the window.
    ToGeneric(Window),
    /// First predicate result: the generic address `a` is in the window. `b` is the rank of the executing
    /// CTA.
    InWindow(Window),
    /// Shared address `a` mapped to the CTA of rank `b`.
    MapRank,
    /// CTA rank in the shared address `a`.
    RankOf,
}

/// Part of a multi-word or packed comparison that one instruction performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparePart {
    Whole,
    /// Comparison of high words. `p1` is the result for the low words and decides if the high words are
    /// equal.
    High,
    /// Comparison of packed types: the first predicate result is the conjunction of both halves, the second
    /// its inverse.
    BothHalves,
}

impl ComputeOp {
    pub const fn compare(compare: FloatCompare, ty: Type, combine: BoolOp, flush: bool) -> ComputeOp {
        ComputeOp::Compare { compare, ty, combine, flush, result: None, part: ComparePart::Whole }
    }

    pub const fn int(op: IntOp, ty: Type) -> ComputeOp {
        ComputeOp::Int { op, ty, saturate: false, relu: false }
    }

    /// Returns the packing of two integers of the named type, such as `u8`.
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
    /// Also selects the register file of `dst`.
    pub path: Path,
    /// Number of the result register, or of the low register of a pair. Without a result, the zero register.
    pub dst: u16,
    pub wide: bool,
    /// Predicate results; PT if unused.
    pub pred_dst: [Pred; 2],
    /// Operands `a`, `b`, `c`, `d`; unused operands are zero.
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
