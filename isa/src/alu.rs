//! Instructions that compute: registers and predicates in, one register result and predicates out.

use crate::register::{Pred, PredSource};
use crate::source::Source;

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
}

impl IntType {
    /// Whether the type is signed.
    pub const fn signed(self) -> bool {
        matches!(self, IntType::S32 | IntType::S64)
    }

    /// Whether the type has 64 bits.
    pub const fn wide(self) -> bool {
        matches!(self, IntType::U64 | IntType::S64)
    }
}

/// Format of the two halves of a packed operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfFormat {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
}

/// Function of the multi-function unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MufuFunction {
    /// Reciprocal.
    Rcp,
}

/// What an [`Alu`] instruction computes from `a`, `b`, `c` and the predicate operands `p`.
///
/// Carries: a negated operand of [`AluOp::IAdd3`] counts as its inverse plus one, so that the carry of a
/// subtraction is its inverted borrow. Source: observed in compiled 64-bit arithmetic, data/sass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AluOp {
    /// `a`.
    Mov,
    /// Low word of `a * b + c + p0`.
    IMad,
    /// `a * b + c + p0` with 64-bit `c` and result; carry out in the first predicate.
    IMadWide(IntType),
    /// High word of `a * b + c` with 64-bit `c`.
    IMadHi(IntType),
    /// `a + b + c + p0 + p1`; the predicates count the carries out.
    IAdd3,
    /// `a + b`, 64 bits wide.
    IAdd64,
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
    /// `p0 ? min(a, b) : max(a, b)`.
    IMinMax(IntType),
    /// Bytes of `{c, a}` chosen by the nibbles of `b`; bit 3 of a nibble repeats the byte's sign.
    Permute,
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
    /// `a + b`, binary32, to nearest even.
    FAdd {
        /// Flush subnormal operands and results to zero.
        flush: bool,
    },
    /// `a * b`, binary32, to nearest even.
    FMul {
        /// Flush subnormal operands and results to zero.
        flush: bool,
    },
    /// `a * b + c`, binary32, rounded once, to nearest even.
    FFma {
        /// Flush subnormal operands and results to zero.
        flush: bool,
    },
    /// `a compare b`, binary32, combined with `p0`.
    FSetP {
        /// The comparison.
        compare: FloatCompare,
        /// Combination with `p0`.
        combine: BoolOp,
        /// Flush subnormal operands to zero.
        flush: bool,
    },
    /// `p0 ? min(a, b) : max(a, b)`, binary32; a NaN loses against a number.
    FMinMax {
        /// Flush subnormal operands to zero.
        flush: bool,
    },
    /// `p0 ? a : b`, binary32.
    FSelect,
    /// A function of the multi-function unit of `a`, binary32, subnormals flushed.
    Mufu(MufuFunction),
    /// Integer `a` to binary32, rounded as said.
    IntToFloat {
        /// Type of the integer.
        kind: IntType,
        /// Round towards plus infinity in place of to nearest even.
        up: bool,
    },
    /// Binary32 `a` to an integer, towards zero, limited to its range; NaN gives 0 for signed and
    /// unsigned types alike where the text says `.NTZ`.
    FloatToInt {
        /// Type of the integer.
        kind: IntType,
        /// Flush a subnormal operand to zero.
        flush: bool,
    },
    /// `a + b` in both halves, to nearest even, subnormals kept.
    HAdd2(HalfFormat),
    /// `a * b` in both halves.
    HMul2(HalfFormat),
    /// `a * b + c` in both halves, rounded once.
    HFma2(HalfFormat),
    /// `a + b`, binary64.
    DAdd,
    /// `a * b`, binary64.
    DMul,
    /// `a * b + c`, binary64, rounded once.
    DFma,
}

impl AluOp {
    /// Whether the register result is a pair.
    pub const fn wide_result(self) -> bool {
        matches!(self, AluOp::IMadWide(_) | AluOp::IAdd64 | AluOp::DAdd | AluOp::DMul | AluOp::DFma)
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
