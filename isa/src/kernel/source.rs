//! Data operands of instructions.

use crate::kernel::register::{Reg, UReg};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A register of the thread. A 64-bit operand is this register and the next.
    Reg(Reg),
    /// A register of the warp. A 64-bit operand is this register and the next.
    Uniform(UReg),
    /// An immediate. A 32-bit operand is its low word.
    Imm(i64),
    Const(ConstAddress),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstAddress {
    pub bank: u8,
    pub index: ConstIndex,
    pub offset: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstIndex {
    None,
    Reg(Reg),
    Uniform(UReg),
}

/// Part of a register that an operation on halves or bytes reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfSelect {
    /// Both halves in order: low half low, high half high.
    Both,
    Low,
    High,
    /// A binary32 operand, rounded towards zero to binary16, in both positions. Source: listings; compiled
    /// code uses `HADD2 d, a.F32, -RZ` for `cvt.rz.f16.f32` of PTX.
    Single,
    /// One word in both elements of a pair of binary32.
    Twice,
    /// One byte, 0 to 3, zero-extended.
    Byte(u8),
    Sign,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    pub value: Value,
    /// True for 64 bits: a register is then this one and the next. Otherwise an operand has 32 bits, and an
    /// immediate is its low word.
    pub wide: bool,
    /// Arithmetic negation: two's complement for integers, sign flip for floats.
    pub negate: bool,
    pub absolute: bool,
    pub invert: bool,
    pub half: HalfSelect,
}

impl Source {
    pub const ZERO: Source = Source::plain(Value::Reg(Reg::RZ));

    pub const fn plain(value: Value) -> Source {
        Source { value, wide: false, negate: false, absolute: false, invert: false, half: HalfSelect::Both }
    }

    pub const fn pair(value: Value) -> Source {
        Source { wide: true, ..Source::plain(value) }
    }
}
