//! Data operands of instructions.

use crate::kernel::register::{Reg, UReg};

/// Source of an operand's bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A register of the thread; a 64-bit operand is this one and the next.
    Reg(Reg),
    /// A register of the warp; a 64-bit operand is this one and the next.
    Uniform(UReg),
    /// An immediate; a 32-bit operand is its low word.
    Imm(i64),
    /// A word, or two, of a constant bank.
    Const(ConstAddress),
}

/// An address in a constant bank: `c[bank][index + offset]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstAddress {
    pub bank: u8,
    /// Register added to the offset.
    pub index: ConstIndex,
    /// Byte offset.
    pub offset: u32,
}

/// Register part of a constant address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstIndex {
    None,
    Reg(Reg),
    Uniform(UReg),
}

/// Which part of a register an operation on halves or bytes takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfSelect {
    /// Low half low, high half high.
    Both,
    /// The low half twice.
    Low,
    /// The high half twice.
    High,
    /// The binary32 that the operand is, rounded towards zero to binary16, twice. Source: listings; compiled code converts
    /// so with `HADD2 d, a.F32, -RZ` where PTX has `cvt.rz.f16.f32`.
    Single,
    /// The word in both halves of an operand of two binary32.
    Twice,
    /// This byte alone, 0 to 3, extended with zeros.
    Byte(u8),
    /// The sign bit alone, as 0 or 1.
    Sign,
}

/// One data operand: where its bits come from and what is done to them first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Where the bits come from.
    pub value: Value,
    /// It has 64 bits: a register is this one and the next. Else 32, of an immediate the low ones.
    pub wide: bool,
    /// Arithmetic negation: two's complement of integers, the sign of floats.
    pub negate: bool,
    /// Absolute value, before the negation.
    pub absolute: bool,
    /// Bitwise inversion.
    pub invert: bool,
    /// Halves taken, by packed operations.
    pub half: HalfSelect,
}

impl Source {
    /// RZ, unmodified.
    pub const ZERO: Source = Source::plain(Value::Reg(Reg::RZ));

    /// `value`, unmodified.
    pub const fn plain(value: Value) -> Source {
        Source { value, wide: false, negate: false, absolute: false, invert: false, half: HalfSelect::Both }
    }

    /// The 64 bits of `value`, unmodified.
    pub const fn pair(value: Value) -> Source {
        Source { wide: true, ..Source::plain(value) }
    }
}
