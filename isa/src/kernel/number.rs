//! Formats of numbers, and how operations on them round, limit and choose.

/// Width and signedness of an integer that is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntSize {
    /// 8, 16, 32 or 64.
    pub bits: u8,
    /// Two's complement.
    pub signed: bool,
}

/// Format of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFormat {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl FloatFormat {
    /// Whether it has 64 bits.
    pub const fn wide(self) -> bool {
        matches!(self, FloatFormat::F64)
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

/// Where a result goes that a format cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, of two the even one.
    Nearest,
    /// `.RM`: towards minus infinity.
    Down,
    /// `.RP`: towards plus infinity.
    Up,
    /// `.RZ`: towards zero.
    Zero,
}

/// How an operation on binary32 rounds, flushes and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatMode {
    /// Rounding.
    pub round: Rounding,
    /// `.FTZ`: flush subnormal operands and results to zero.
    pub flush: bool,
    /// `.SAT`: limit the result to 0.0 to 1.0; NaN gives 0.0.
    pub saturate: bool,
}

impl FloatMode {
    /// To nearest even, subnormals kept.
    pub const PLAIN: FloatMode = FloatMode { round: Rounding::Nearest, flush: false, saturate: false };
}

/// What is done to a result of packed arithmetic at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfLimit {
    /// Nothing.
    None,
    /// `.SAT`: limit to 0.0 to 1.0; NaN gives 0.0.
    Saturate,
    /// `.RELU`: no less than zero; NaN stays.
    Relu,
}

/// How packed arithmetic works; to nearest even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfMode {
    /// Format of the halves.
    pub format: HalfFormat,
    /// `.F32`: the result is that of the low halves, in binary32.
    pub single: bool,
    /// `.FTZ`: flush subnormal operands and results to zero.
    pub flush: bool,
    /// What is done at last.
    pub limit: HalfLimit,
}

/// Function of the multi-function unit. The GPU's are approximations; here results are those of the exact
/// functions, rounded to nearest (chosen). Of binary32 operands and results, subnormals are flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MufuFunction {
    /// Reciprocal.
    Rcp,
    /// Reciprocal of the square root.
    Rsq,
    /// Square root.
    Sqrt,
    /// Power of two.
    Ex2,
    /// Logarithm to base two.
    Lg2,
    /// Sine of the operand in turns: code scales it first.
    Sin,
    /// Cosine of the operand in turns.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// High word of the reciprocal of a binary64 with this high word and a low word of zero.
    Rcp64High,
    /// The same of the reciprocal of the square root.
    Rsq64High,
}

/// What the first operand of a dot product holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotPieces {
    /// `.4A`: four bytes.
    Bytes,
    /// `.2A.LO`: two halves, multiplied with the low two bytes of the second operand.
    HalvesLow,
    /// `.2A.HI`: two halves, multiplied with the high two bytes.
    HalvesHigh,
}

/// How the selector of a byte permutation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermuteMode {
    /// Four nibbles, each a byte's number; bit 3 repeats the byte's sign.
    Index,
    /// `.F4E`: four bytes upwards from the selector's.
    Forward,
    /// `.B4E`: four bytes downwards from the selector's.
    Backward,
    /// `.RC8`: one byte four times.
    Replicate8,
    /// `.ECL`: bytes no lower than the selector's.
    EdgeLeft,
    /// `.ECR`: bytes no higher than the selector's.
    EdgeRight,
    /// `.RC16`: one half twice.
    Replicate16,
}
