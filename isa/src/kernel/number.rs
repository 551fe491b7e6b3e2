//! Formats of numbers, and how operations on them round, limit and choose.

/// Type of a register, a variable or an operation. Source: \[PTX\] types.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr, strum::VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    U16x2,
    S16x2,
    U8x4,
    S8x4,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F32x2,
    F64,
    Pred,
}

impl Type {
    /// The type with this name, without a dot, unless it is `f32x2`: registers and variables have no such type.
    pub fn from_name(name: &str) -> Option<Type> {
        name.parse::<Type>().ok().filter(|ty| *ty != Type::F32x2)
    }

    /// Its name in PTX, without a dot.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Bits of a value; 1 for a predicate.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 32,
            Type::U16x2 | Type::S16x2 | Type::F16x2 | Type::Bf16x2 => 32,
            Type::U8x4 | Type::S8x4 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F32x2 | Type::F64 => 64,
            Type::B128 => 128,
        }
    }

    /// The type of each part, if it is one of several integers.
    #[inline]
    pub const fn integer_part(self) -> Option<Type> {
        match self {
            Type::U16x2 => Some(Type::U16),
            Type::S16x2 => Some(Type::S16),
            Type::U8x4 => Some(Type::U8),
            Type::S8x4 => Some(Type::S8),
            _ => None,
        }
    }

    /// True if it is an integer that has a sign.
    #[inline]
    pub const fn signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2 | Type::S8x4)
    }

    /// The same as a type of float operations; `None` for integers and predicates.
    #[inline]
    pub const fn as_float(self) -> Option<FloatType> {
        match self {
            Type::F16 => Some(FloatType::F16),
            Type::F16x2 => Some(FloatType::F16x2),
            Type::Bf16 => Some(FloatType::Bf16),
            Type::Bf16x2 => Some(FloatType::Bf16x2),
            Type::F32 => Some(FloatType::F32),
            Type::F32x2 => Some(FloatType::F32x2),
            Type::F64 => Some(FloatType::F64),
            _ => None,
        }
    }

    /// True if it is a float, or two of them.
    #[inline]
    pub const fn float(self) -> bool {
        self.as_float().is_some()
    }

    /// True if it has 64 bits.
    #[inline]
    pub const fn wide(self) -> bool {
        self.bits() == 64
    }

    /// 32-bit machine registers that hold a value; none for a predicate.
    pub const fn words(self) -> u8 {
        match self {
            Type::Pred => 0,
            _ => self.bits().div_ceil(32) as u8,
        }
    }
}

/// Type of a float operation: those of [`Type`] that are floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatType {
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F32x2,
    F64,
}

impl FloatType {
    /// Bits of a value.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            FloatType::F16 | FloatType::Bf16 => 16,
            FloatType::F16x2 | FloatType::Bf16x2 | FloatType::F32 => 32,
            FloatType::F32x2 | FloatType::F64 => 64,
        }
    }

    /// The type of each half, if it is two floats.
    #[inline]
    pub const fn half(self) -> Option<FloatType> {
        match self {
            FloatType::F16x2 => Some(FloatType::F16),
            FloatType::Bf16x2 => Some(FloatType::Bf16),
            FloatType::F32x2 => Some(FloatType::F32),
            FloatType::F16 | FloatType::Bf16 | FloatType::F32 | FloatType::F64 => None,
        }
    }
}

impl From<FloatType> for Type {
    fn from(ty: FloatType) -> Type {
        match ty {
            FloatType::F16 => Type::F16,
            FloatType::F16x2 => Type::F16x2,
            FloatType::Bf16 => Type::Bf16,
            FloatType::Bf16x2 => Type::Bf16x2,
            FloatType::F32 => Type::F32,
            FloatType::F32x2 => Type::F32x2,
            FloatType::F64 => Type::F64,
        }
    }
}

/// Float of 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(ascii_case_insensitive)]
pub enum ByteFloat {
    /// 4 bits of exponent: no infinity, one NaN for each sign.
    E4m3,
    /// 5 bits of exponent: the high byte of a binary16.
    E5m2,
}

/// Direction in which a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Rounding {
    /// To the nearest, of two the even one.
    #[strum(serialize = "rn")]
    Nearest,
    /// `.RM`: towards minus infinity.
    #[strum(serialize = "rm")]
    Down,
    /// `.RP`: towards plus infinity.
    #[strum(serialize = "rp")]
    Up,
    /// `.RZ`: towards zero.
    #[strum(serialize = "rz")]
    Zero,
}

/// How a float operation rounds, flushes and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatMode {
    pub round: Rounding,
    /// `.FTZ`: flush subnormal operands and results to zero.
    pub flush: bool,
    /// `.SAT`: limit the result to 0.0 to 1.0; NaN gives 0.0.
    pub saturate: bool,
    /// `.RELU`: a negative result becomes 0; NaN stays.
    pub relu: bool,
}

impl FloatMode {
    /// To nearest even, subnormals kept.
    pub const PLAIN: FloatMode =
        FloatMode { round: Rounding::Nearest, flush: false, saturate: false, relu: false };
}

/// Function of the multi-function unit. The GPU's are approximations; here results are those of the exact
/// functions, rounded to nearest (chosen). Of binary32 operands and results, subnormals are flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum MufuFunction {
    Rcp,
    Rsq,
    Sqrt,
    Ex2,
    Lg2,
    /// Sine of the operand in turns: code scales it first.
    Sin,
    /// Cosine of the operand in turns.
    Cos,
    Tanh,
    /// High word of the reciprocal of a binary64 with this high word and a low word of zero.
    #[strum(serialize = "rcp64h")]
    Rcp64High,
    /// The same of the reciprocal of the square root.
    #[strum(serialize = "rsq64h")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum PermuteMode {
    /// Four nibbles, each a byte's number; bit 3 repeats the byte's sign.
    #[strum(disabled)]
    Index,
    /// `.F4E`: four bytes upwards from the selector's.
    #[strum(serialize = "f4e")]
    Forward,
    /// `.B4E`: four bytes downwards from the selector's.
    #[strum(serialize = "b4e")]
    Backward,
    /// `.RC8`: one byte four times.
    #[strum(serialize = "rc8")]
    Replicate8,
    /// `.ECL`: bytes no lower than the selector's.
    #[strum(serialize = "ecl")]
    EdgeLeft,
    /// `.ECR`: bytes no higher than the selector's.
    #[strum(serialize = "ecr")]
    EdgeRight,
    /// `.RC16`: one half twice.
    #[strum(serialize = "rc16")]
    Replicate16,
}
