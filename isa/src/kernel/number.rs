//! Number formats, rounding modes and selectors of operations.

/// Type of a register, a variable or an operation in PTX, with the names of PTX. Source: \[PTX\] types.
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
    /// Returns the type with this name, without a dot. Returns `None` for `f32x2`, which registers and
    /// variables cannot have.
    pub fn from_name(name: &str) -> Option<Type> {
        name.parse::<Type>().ok().filter(|ty| *ty != Type::F32x2)
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Width of a value in bits; 1 for a predicate.
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

    /// Type of one element of a packed integer type, such as `u16` for `u16x2`. `None` for other types.
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

    #[inline]
    pub const fn signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2 | Type::S8x4)
    }

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

    #[inline]
    pub const fn float(self) -> bool {
        self.as_float().is_some()
    }

    #[inline]
    pub const fn wide(self) -> bool {
        self.bits() == 64
    }

    /// Number of 32-bit machine registers that hold a value; 0 for a predicate.
    pub const fn words(self) -> u8 {
        match self {
            Type::Pred => 0,
            _ => self.bits().div_ceil(32) as u8,
        }
    }
}

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
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            FloatType::F16 | FloatType::Bf16 => 16,
            FloatType::F16x2 | FloatType::Bf16x2 | FloatType::F32 => 32,
            FloatType::F32x2 | FloatType::F64 => 64,
        }
    }

    /// Type of one element of a packed float type. `None` for other types.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(ascii_case_insensitive)]
pub enum ByteFloat {
    /// 8-bit float with 4 exponent bits and 3 mantissa bits. It has no infinity, and one NaN for each sign.
    E4m3,
    /// 8-bit float with 5 exponent bits and 2 mantissa bits: the high byte of a binary16.
    E5m2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Rounding {
    /// Round to the nearest value, ties to even.
    #[strum(serialize = "rn")]
    Nearest,
    #[strum(serialize = "rm")]
    Down,
    #[strum(serialize = "rp")]
    Up,
    #[strum(serialize = "rz")]
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatMode {
    pub round: Rounding,
    /// `.FTZ`: flush subnormal operands and results to zero.
    pub flush: bool,
    /// `.SAT`: clamp the result to 0.0 to 1.0; NaN gives 0.0.
    pub saturate: bool,
    /// `.RELU`: a negative result becomes 0; NaN stays.
    pub relu: bool,
}

impl FloatMode {
    pub const PLAIN: FloatMode =
        FloatMode { round: Rounding::Nearest, flush: false, saturate: false, relu: false };
}

/// Function of the multi-function unit, MUFU. The GPU computes approximations; here the result is the exact
/// value rounded to nearest (project choice). Subnormal binary32 operands and results become zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum MufuFunction {
    Rcp,
    Rsq,
    Sqrt,
    Ex2,
    Lg2,
    /// Sine of `2 pi x`: the operand is in turns, so code first multiplies an angle by `1 / (2 pi)`.
    Sin,
    Cos,
    Tanh,
    /// High word of the reciprocal of a binary64 value. The operand is the high word of the value; its low
    /// word counts as zero.
    #[strum(serialize = "rcp64h")]
    Rcp64High,
    /// High word of the reciprocal square root of a binary64 value. The operand is the high word of the
    /// value; its low word counts as zero.
    #[strum(serialize = "rsq64h")]
    Rsq64High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotPieces {
    Bytes,
    /// `.2A.LO`: two halves of the first operand, multiplied by the two low bytes of the second operand.
    HalvesLow,
    /// `.2A.HI`: two halves of the first operand, multiplied by the two high bytes of the second operand.
    HalvesHigh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum PermuteMode {
    /// Each of the four low nibbles of the selector gives one byte of the result: bits 2:0 are the number of
    /// the source byte. If bit 3 is 1, all bits of the result byte are copies of the source byte's sign bit.
    #[strum(disabled)]
    Index,
    /// `.F4E`: four consecutive bytes, upwards from the selected byte.
    #[strum(serialize = "f4e")]
    Forward,
    /// `.B4E`: four consecutive bytes, downwards from the selected byte.
    #[strum(serialize = "b4e")]
    Backward,
    /// `.RC8`: the selected byte four times.
    #[strum(serialize = "rc8")]
    Replicate8,
    /// `.ECL`: byte i of the result is source byte i, or the selected byte if that has a higher number.
    #[strum(serialize = "ecl")]
    EdgeLeft,
    /// `.ECR`: byte i of the result is source byte i, or the selected byte if that has a lower number.
    #[strum(serialize = "ecr")]
    EdgeRight,
    /// `.RC16`: the selected half twice.
    #[strum(serialize = "rc16")]
    Replicate16,
}
