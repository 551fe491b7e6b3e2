//! Instructions that compute: registers and predicates in, one register result and predicates out.

use crate::kernel::number::{
    DotPieces, FloatFormat, FloatMode, HalfFormat, HalfMode, IntSize, MufuFunction, PermuteMode, Rounding,
};
use crate::kernel::register::{Pred, PredSource};
use crate::kernel::source::Source;

/// Which datapath an instruction goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Once per active lane.
    Vector,
    /// Once per warp, on uniform registers.
    Uniform,
}

/// Comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Never.
    False,
    /// Less.
    Lt,
    /// Equal.
    Eq,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Not equal.
    Ne,
    /// Greater or equal.
    Ge,
    /// Always.
    True,
}

/// Comparison of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatCompare {
    /// The comparison of ordered operands.
    pub compare: Compare,
    /// What a NaN operand gives.
    pub unordered: bool,
}

/// How a comparison is combined with the predicate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoolOp {
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Exclusive or.
    Xor,
}

/// Width and signedness of an integer operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntType {
    /// 32 bits, unsigned.
    U32,
    /// 32 bits, signed.
    S32,
    /// 64 bits, unsigned.
    U64,
    /// 64 bits, signed.
    S64,
    /// Two of 16 bits, unsigned.
    U16x2,
    /// Two of 16 bits, signed.
    S16x2,
    /// Four of 8 bits, unsigned.
    U8x4,
    /// Four of 8 bits, signed.
    S8x4,
}

impl IntType {
    /// Whether the type is signed.
    pub const fn signed(self) -> bool {
        matches!(self, IntType::S32 | IntType::S64 | IntType::S16x2 | IntType::S8x4)
    }

    /// Bits of what is computed by itself.
    pub const fn bits(self) -> u32 {
        match self {
            IntType::U64 | IntType::S64 => 64,
            IntType::U32 | IntType::S32 => 32,
            IntType::U16x2 | IntType::S16x2 => 16,
            IntType::U8x4 | IntType::S8x4 => 8,
        }
    }

    /// Whether the type has 64 bits.
    pub const fn wide(self) -> bool {
        self.bits() == 64
    }
}

/// What an [`Alu`] instruction computes from `a`, `b`, `c` and the predicate operands `p`.
///
/// Carries: a negated operand of [`AluOp::IAdd3`] counts as its inverse plus one, so that the carry of a
/// subtraction is its inverted borrow. Source: observed in compiled 64-bit arithmetic, data/sass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AluOp {
    /// `a`.
    Mov,
    /// `a`, 64 bits wide.
    Mov64,
    /// Low word of `a * b + c + p0`.
    IMad,
    /// `a * b + c + p0` with 64-bit `c` and result; carry out in the first predicate.
    IMadWide(IntType),
    /// High word of `a * b + c + p0` with 64-bit `c`; carry out in the first predicate.
    IMadHi(IntType),
    /// `a + b + c + p0 + p1`; the predicates count the carries out.
    IAdd3,
    /// As [`AluOp::IAdd3`], 64 bits wide.
    IAdd64,
    /// `a + b`, or `a - b`, of each part of the type by itself.
    AddParts {
        /// The type, of up to 32 bits.
        kind: IntType,
        /// Subtract.
        subtract: bool,
        /// Give the nearest number of the type, where it would wrap.
        saturate: bool,
    },
    /// Bitwise function of three words: bit `a << 2 | b << 1 | c` of the table. The predicate is
    /// "not zero", combined with `p0`.
    Lop3 {
        /// Truth table.
        table: u8,
        /// How the predicate operand enters.
        combine: BoolOp,
    },
    /// Function of the three predicates `p`: bit `p0 << 2 | p1 << 1 | p2` of a table per result.
    PLop3 {
        /// Truth tables of the first and the second predicate result.
        tables: [u8; 2],
    },
    /// `(a << shift) + b`; carry out in the first predicate.
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
    /// `{c, a}` shifted left by `b`.
    ShiftLeft {
        /// Largest shift: 32 or 64 by the type.
        kind: IntType,
        /// Give the high word.
        high: bool,
        /// Take the shift modulo the width in place of limiting it.
        wrap: bool,
    },
    /// `{c, a}` shifted right by `b`; a signed type repeats the sign of `c`.
    ShiftRight {
        /// Largest shift, and signedness.
        kind: IntType,
        /// Give the high word.
        high: bool,
        /// Take the shift modulo the width in place of limiting it.
        wrap: bool,
    },
    /// `p0 ? a : b`.
    Select,
    /// `p0 ? a : b`, 64 bits wide.
    Select64,
    /// `a compare b`, combined with `p0`; the second predicate takes the inverse comparison.
    ISetP {
        /// The comparison.
        compare: Compare,
        /// Width and signedness.
        kind: IntType,
        /// Combination with `p0`.
        combine: BoolOp,
        /// High word of a 64-bit comparison; `p1` is the result for the low word.
        extended: bool,
    },
    /// `p0 ? min(a, b) : max(a, b)`. Of halves the predicates say whether `a` was taken: of the low one, of the high one.
    IMinMax {
        /// Width and signedness.
        kind: IntType,
        /// `.RELU`: then no less than zero.
        relu: bool,
    },
    /// The least, if `p0`, or the greatest of `a`, `b` and `c`.
    IMinMax3 {
        /// Signedness; 32 bits, or halves.
        kind: IntType,
        /// `.RELU`: then no less than zero.
        relu: bool,
    },
    /// `p0 ? min(a + b, c) : max(a + b, c)`; the sum wraps.
    AddMinMax {
        /// Signedness; 32 bits, or halves.
        kind: IntType,
        /// `.RELU`: then no less than zero.
        relu: bool,
    },
    /// `|a - b| + c`.
    AbsDiff(IntType),
    /// Sum of `|a - b|` over the four bytes; plus `c` with `.ACC`.
    AbsDiff4 {
        /// Bytes are signed.
        signed: bool,
        /// Add `c`.
        accumulate: bool,
    },
    /// `c` plus the sum of products of the bytes of `b` with the bytes, or with two halves, of `a`.
    Dot {
        /// What `a` holds.
        pieces: DotPieces,
        /// Signedness of the pieces of `a` and of `b`.
        signed: [bool; 2],
    },
    /// Bytes of `{c, a}` chosen by `b`, as the mode says.
    Permute(PermuteMode),
    /// `b` ones from bit `a` up.
    BitMask {
        /// Take both modulo 32 in place of limiting them.
        wrap: bool,
    },
    /// The low `b` bits of `a`, extended to 32.
    Extend {
        /// Repeat the sign.
        signed: bool,
        /// Take `b` modulo 32 in place of limiting it.
        wrap: bool,
    },
    /// Number of ones in `a`.
    PopCount,
    /// Position of the highest one of `a` (of the highest bit unlike the sign, if signed), all ones if
    /// there is none.
    FindLeadingOne {
        /// Signedness.
        kind: IntType,
        /// Give the distance from bit 31 in place of the position.
        shift_amount: bool,
    },
    /// `a` with its bits in reverse order.
    BitReverse,
    /// `|a|`.
    IAbs,
    /// Integer `a` in another integer type.
    IntToInt {
        /// Type of the operand.
        from: IntSize,
        /// Type of the result, extended to 32 bits.
        to: IntSize,
        /// Limit to the range of the type in place of cutting off.
        saturate: bool,
    },
    /// `c << 2n | a << n | b`, of `a` and `b` limited to the range of a type of n bits.
    PackInt(IntSize),
    /// `a + b`, binary32.
    FAdd(FloatMode),
    /// `a * b`, binary32.
    FMul(FloatMode),
    /// `a * b + c`, binary32, rounded once.
    FFma(FloatMode),
    /// `a compare b`, binary32, combined with `p0`; the second predicate takes the inverse comparison.
    FSetP {
        /// The comparison.
        compare: FloatCompare,
        /// Combination with `p0`.
        combine: BoolOp,
        /// Flush subnormal operands to zero.
        flush: bool,
    },
    /// The first predicate of [`AluOp::FSetP`] as a word: all ones, or 1.0 if `one`.
    FSet {
        /// The comparison.
        compare: FloatCompare,
        /// Combination with `p0`.
        combine: BoolOp,
        /// Flush subnormal operands to zero.
        flush: bool,
        /// `.BF`: 1.0 stands for true.
        one: bool,
    },
    /// `p0 ? min(a, b) : max(a, b)`, binary32.
    FMinMax {
        /// Flush subnormal operands to zero.
        flush: bool,
        /// `.NAN`: a NaN operand gives NaN; else it loses against a number.
        nan: bool,
    },
    /// `p0 ? a : b`, binary32.
    FSelect {
        /// Flush the result to zero if it is subnormal.
        flush: bool,
    },
    /// Predicate: the quotient `a / b`, binary32, needs more than the short sequence around a reciprocal.
    FCheck,
    /// `a` rounded to a whole number, in its own format.
    FRound {
        /// The format.
        format: FloatFormat,
        /// Where to.
        round: Rounding,
        /// Flush a subnormal operand to zero.
        flush: bool,
    },
    /// A function of the multi-function unit of `a`.
    Mufu(MufuFunction),
    /// Integer `a` to a float.
    IntToFloat {
        /// Type of the integer.
        from: IntSize,
        /// Format of the result.
        to: FloatFormat,
        /// Rounding.
        round: Rounding,
    },
    /// Float `a` to an integer, limited to its range; a NaN gives 0 with `.NTZ` and for 8 and 16 bits, else
    /// the highest bit alone (chosen: what [PTX] cvt and the instruction without `.NTZ` are said to give).
    FloatToInt {
        /// Format of the operand.
        from: FloatFormat,
        /// Type of the integer.
        to: IntSize,
        /// Rounding.
        round: Rounding,
        /// Flush a subnormal operand to zero.
        flush: bool,
        /// `.NTZ`: a NaN gives zero.
        nan_to_zero: bool,
    },
    /// Float `a` in another format.
    FloatToFloat {
        /// Format of the operand.
        from: FloatFormat,
        /// Format of the result.
        to: FloatFormat,
        /// Rounding, flushing, limiting.
        mode: FloatMode,
    },
    /// `a` and `b`, binary32, in the high and the low half of a word.
    PackHalves {
        /// Format of the halves.
        format: HalfFormat,
        /// Rounding.
        round: Rounding,
        /// `.RELU`: negative values and NaN become zero.
        relu: bool,
    },
    /// `a + b` in both halves.
    HAdd2(HalfMode),
    /// `a * b` in both halves.
    HMul2(HalfMode),
    /// `a * b + c` in both halves, rounded once.
    HFma2(HalfMode),
    /// `p0 ? min(a, b) : max(a, b)` in both halves.
    HMinMax2 {
        /// Format of the halves.
        format: HalfFormat,
        /// `.NAN`: a NaN operand gives NaN; else it loses against a number.
        nan: bool,
    },
    /// `a compare b` in both halves, each combined with `p0`; the first predicate takes the low half's, the
    /// second the high half's.
    HSetP2 {
        /// Format of the halves.
        format: HalfFormat,
        /// The comparison.
        compare: FloatCompare,
        /// Combination with `p0`.
        combine: BoolOp,
        /// `.H_AND`: the first predicate takes both halves' conjunction, the second its inverse.
        both: bool,
        /// Flush subnormal operands to zero.
        flush: bool,
    },
    /// As [`AluOp::HSetP2`], into the halves of a word: all ones, or 1.0 if `one`.
    HSet2 {
        /// Format of the halves.
        format: HalfFormat,
        /// The comparison.
        compare: FloatCompare,
        /// Combination with `p0`.
        combine: BoolOp,
        /// Flush subnormal operands to zero.
        flush: bool,
        /// `.BF`: 1.0 stands for true.
        one: bool,
    },
    /// `a + b`, binary64.
    DAdd(Rounding),
    /// `a * b`, binary64.
    DMul(Rounding),
    /// `a * b + c`, binary64, rounded once.
    DFma(Rounding),
    /// `a compare b`, binary64, combined with `p0`; the second predicate takes the inverse comparison.
    DSetP {
        /// The comparison.
        compare: FloatCompare,
        /// Combination with `p0`.
        combine: BoolOp,
    },
    /// The first predicate: `a` is the minimum (or maximum) of `a` and `b`, binary64, where a NaN loses
    /// against a number; the second: both are NaN (chosen: what compiled fmin and fmax make of them).
    DMinMaxP {
        /// Minimum.
        min: bool,
        /// Combination with `p0`.
        combine: BoolOp,
    },
}

impl AluOp {
    /// Whether the register result is a pair.
    pub const fn wide_result(self) -> bool {
        match self {
            AluOp::Mov64
            | AluOp::Select64
            | AluOp::IMadWide(_)
            | AluOp::IAdd64
            | AluOp::DAdd(_)
            | AluOp::DMul(_)
            | AluOp::DFma(_) => true,
            AluOp::IMinMax { kind, .. } => kind.wide(),
            AluOp::IntToFloat { to, .. } | AluOp::FloatToFloat { to, .. } => to.wide(),
            AluOp::FRound { format, .. } => format.wide(),
            AluOp::FloatToInt { to, .. } => to.bits == 64,
            _ => false,
        }
    }
}

/// An instruction that computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alu {
    /// What it computes.
    pub op: AluOp,
    /// Whether it runs per lane or per warp, which is also the file `dst` names.
    pub path: Path,
    /// Number of the result register (or of the low one of a pair) in the file of `path`; the zero
    /// register where there is none.
    pub dst: u16,
    /// Predicate results; PT where there is none.
    pub pred_dst: [Pred; 2],
    /// First operand.
    pub a: Source,
    /// Second operand.
    pub b: Source,
    /// Third operand.
    pub c: Source,
    /// Predicate operands.
    pub p: [PredSource; 3],
}
