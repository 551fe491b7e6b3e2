//! Data operands of instructions.

use crate::kernel::register::{Reg, UReg};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A register of the thread. A 64-bit operand is the pair of this register and the next.
    Reg(Reg),
    /// A uniform register of the warp. A 64-bit operand is the pair of this register and the next.
    Uniform(UReg),
    /// An immediate value. A 32-bit operand is its low word.
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

/// Part of a register that an operation on packed halves or on bytes reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfSelect {
    /// Both halves: the low half of the register is the low half of the operand.
    Both,
    Low,
    High,
    /// A binary32 operand, rounded towards zero to binary16. Both halves of the operand have this value.
    /// Source: listings; compiled code uses `HADD2 d, a.F32, -RZ` for `cvt.rz.f16.f32` of PTX.
    Single,
    /// One binary32 value, used for both elements of a pair of binary32.
    Twice,
    /// One byte of the register, number 0 to 3, zero-extended.
    Byte(u8),
    Sign,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    pub value: Value,
    /// True for an operand of 64 bits. A register is then the pair of this register and the next. False for
    /// an operand of 32 bits, for which an immediate is its low word.
    pub wide: bool,
    /// Arithmetic negation: two's complement for integers, inverted sign bit for floats.
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
