//! Statements as they are written for one architecture.

use super::operand::{Address, AddressBase, Value};
use crate::arch::Arch;
use crate::lower::Frame;
use crate::lower::offset::{plus, split, split_wide};

/// What was written so far, and for which architecture.
pub(super) struct Code<'f> {
    /// The number after `sm_`.
    pub(super) number: u16,
    pub(super) frame: &'f mut Frame,
    /// Nothing follows in the kernel and nobody wants the result: who is done exits.
    pub(super) leave_early: bool,
    /// Somebody reads the result; what only a fence waits for nobody does.
    pub(super) wanted: bool,
    /// Packed halves are added by HFMA2.MMA already on sm_80: which pipe is less busy decides.
    pub(super) packed_on_mma: bool,
    pub(super) lines: Vec<String>,
}

/// Registers of this number print as `RZ`.
const ZERO: u16 = u16::MAX;

/// A machine register, or RZ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg(pub(super) u16);

impl Reg {
    pub(super) const ZERO: Reg = Reg(ZERO);

    /// The second register of a pair; RZ of RZ.
    pub(super) fn high(self) -> Reg {
        self.plus(1)
    }

    /// The register that many further on; RZ of RZ.
    pub(super) fn plus(self, words: u16) -> Reg {
        if self == Reg::ZERO { self } else { Reg(self.0.saturating_add(words)) }
    }
}

impl std::fmt::Display for Reg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Reg::ZERO { f.write_str("RZ") } else { write!(f, "R{}", self.0) }
    }
}

/// 32 bits as an immediate of integer arithmetic: signed, or RZ for zero.
pub(super) fn signed(bits: u32) -> String {
    match bits as i32 {
        0 => "RZ".into(),
        value if value < 0 => format!("-{:#x}", value.unsigned_abs()),
        value => format!("{value:#x}"),
    }
}

/// Writes a statement: `emit!(code, "MOV {a}, {b}")`.
macro_rules! emit {
    ($code:expr, $($text:tt)*) => { $code.lines.push(format!($($text)*)) };
}
pub(super) use emit;

impl<'f> Code<'f> {
    pub(super) fn new(arch: Arch, frame: &'f mut Frame, last: bool) -> Code<'f> {
        Code {
            number: arch.number(),
            frame,
            leave_early: last,
            wanted: false,
            packed_on_mma: false,
            lines: Vec::new(),
        }
    }

    /// A scratch register, or the first of `words`.
    pub(super) fn scratch(&mut self, words: u8) -> Reg {
        Reg(self.frame.scratch(words))
    }

    /// A scratch predicate, as it is written.
    pub(super) fn predicate(&mut self) -> String {
        format!("P{}", self.frame.scratch_predicate())
    }

    pub(super) fn label(&mut self, name: &str) {
        emit!(self, "{name}:");
    }

    /// Writes one of a list of statements for each word of a value.
    pub(super) fn copy(&mut self, to: Reg, from: Reg, words: u8) {
        for word in 0..u16::from(words) {
            emit!(self, "MOV {}, {}", to.plus(word), from.plus(word));
        }
    }

    /// A value in registers; a constant is moved there, and zero is RZ.
    pub(super) fn in_registers(&mut self, value: Value, words: u8) -> Reg {
        match value {
            Value::Register(register) => Reg(register),
            Value::Constant(bits) if bits == 0 || words == 1 && bits as u32 == 0 => Reg::ZERO,
            Value::Constant(bits) => {
                let register = self.scratch(words);
                for word in 0..words {
                    let part = match word {
                        0 => bits as u32,
                        1 => (bits >> 32) as u32,
                        _ => 0,
                    };
                    emit!(self, "MOV {}, {part:#x}", register.plus(u16::from(word)));
                }
                register
            }
        }
    }

    /// The same where RZ is not taken: the operands of CAS and CAST [TOOLS].
    pub(super) fn in_own_registers(&mut self, value: Value, words: u8) -> Reg {
        match self.in_registers(value, words) {
            Reg::ZERO => {
                let register = self.scratch(words);
                self.copy(register, Reg::ZERO, words);
                register
            }
            register => register,
        }
    }

    /// Whether there are adds of two and 64-bit integer arithmetic. What is called sm_110 comes before them.
    pub(super) fn wide(&self) -> bool {
        matches!(self.number, 107..110 | 120..)
    }

    /// `to = a + b` of 32 bits, where it is not put on another pipe. `b` is a register or an immediate.
    pub(super) fn sum(&mut self, guard: &str, to: Reg, a: Reg, b: &str) {
        match self.number {
            _ if self.wide() => emit!(self, "{guard}IADD {to}, {a}, {b}"),
            ..70 => emit!(self, "{guard}IADD {to}, {a}, {b}"),
            70..100 => emit!(self, "{guard}IADD3 {to}, {a}, {b}, RZ"),
            _ => emit!(self, "{guard}IADD3 {to}, PT, PT, {a}, {b}, RZ"),
        }
    }

    /// Adds a constant to a register, if it is not zero.
    fn advanced(&mut self, register: Reg, offset: i64) -> Reg {
        if offset == 0 {
            return register;
        }
        let sum = self.scratch(1);
        match self.number {
            ..70 => emit!(self, "IADD32I {sum}, {register}, {}", signed(offset as u32)),
            _ => self.sum("", sum, register, &signed(offset as u32)),
        }
        sum
    }

    /// A shared address as it stands in the brackets of LDS and ATOMS. From sm_90 on a variable's address
    /// begins with the CTA's rank in its cluster (spec 1.4).
    pub(super) fn shared_address(&mut self, address: &Address) -> SharedAddress {
        match address.base {
            AddressBase::Register(register) | AddressBase::Word(register) => {
                let (far, offset) = split(address.offset as i32);
                let register = self.advanced(Reg(register), far.into());
                SharedAddress::Register { register, offset: offset.into() }
            }
            AddressBase::Shared(byte) if self.number < 90 => {
                SharedAddress::Absolute((i64::from(byte) + address.offset) as u32 & 0xff_ffff)
            }
            AddressBase::Shared(byte) => {
                let (uniform, rank) = (self.frame.uniform(1), self.frame.uniform(1));
                emit!(self, "S2UR UR{rank}, SR_CgaCtaId");
                emit!(self, "UMOV UR{uniform}, {byte:#x}");
                emit!(self, "ULEA UR{uniform}, UR{rank}, UR{uniform}, 0x18");
                SharedAddress::Uniform { register: uniform, offset: address.offset }
            }
            AddressBase::Global(address) => SharedAddress::Absolute(address as u32),
        }
    }

    /// A shared address in a register, offset and all.
    pub(super) fn shared_register(&mut self, address: &Address) -> Reg {
        match (address.base, self.shared_address(address)) {
            (AddressBase::Register(register), _) => self.advanced(Reg(register), address.offset),
            (_, SharedAddress::Register { register, offset }) => self.advanced(register, offset),
            (_, SharedAddress::Absolute(byte)) => self.in_registers(Value::Constant(u64::from(byte)), 1),
            (_, SharedAddress::Uniform { register, offset }) => {
                let base = self.scratch(1);
                emit!(self, "MOV {base}, UR{register}");
                self.advanced(base, offset)
            }
        }
    }

    /// A generic or global address in a pair of registers, and the offset that stands beside it.
    pub(super) fn wide_address(&mut self, address: &Address) -> (Reg, i64) {
        let pair = match address.base {
            AddressBase::Register(register) => Reg(register),
            AddressBase::Word(register) => {
                let pair = self.scratch(2);
                emit!(self, "MOV {pair}, R{register}");
                emit!(self, "MOV {}, RZ", pair.high());
                pair
            }
            AddressBase::Global(byte) => self.in_registers(Value::Constant(byte), 2),
            AddressBase::Shared(byte) => self.in_registers(Value::Constant(u64::from(byte)), 2),
        };
        let (far, offset) = split_wide(address.offset, self.number);
        (self.advanced_wide(pair, far), offset)
    }

    /// Adds a constant to a pair of registers, if it is not zero.
    pub(super) fn advanced_wide(&mut self, pair: Reg, offset: i64) -> Reg {
        if offset == 0 {
            return pair;
        }
        let (sum, carry) = (self.scratch(2), self.predicate());
        let (low, high) = (signed(offset as u32), signed((offset >> 32) as u32));
        if self.number < 70 {
            let (name, top) = if offset >> 32 == 0 { ("IADD", "RZ") } else { ("IADD32I", high.as_str()) };
            emit!(self, "IADD32I {sum}.CC, {pair}, {low}");
            emit!(self, "{name}.X {}, {}, {top}", sum.high(), pair.high());
            return sum;
        }
        let none = if self.number >= 100 { ", PT" } else { "" };
        let ignored = if self.number >= 100 { "PT, PT, " } else { "" };
        emit!(self, "IADD3 {sum}, {carry}{none}, {pair}, {low}, RZ");
        emit!(self, "IADD3.X {}, {ignored}{}, {high}, RZ, {carry}, !PT", sum.high(), pair.high());
        sum
    }

    /// LDS of one or two words.
    pub(super) fn load_shared(&mut self, to: Reg, address: &str, words: u8) {
        let unsigned = if self.number < 80 { ".U" } else { "" };
        let size = match (words, self.number) {
            (2, _) => ".64",
            (_, ..70) => ".32",
            _ => "",
        };
        emit!(self, "LDS{unsigned}{size} {to}, [{address}]");
    }

    /// BSSY: those who are here will meet at the label.
    pub(super) fn meet(&mut self, label: &str) -> Meeting {
        let barrier = self.clear_barrier();
        self.note(barrier, label)
    }

    /// A convergence barrier, forgotten first where it could still be in use.
    pub(super) fn clear_barrier(&mut self) -> u8 {
        let barrier = self.frame.barrier();
        if self.number < 80 {
            emit!(self, "BMOV.32.CLEAR RZ, B{barrier}");
        }
        barrier
    }

    /// BSSY alone.
    pub(super) fn note(&mut self, barrier: u8, label: &str) -> Meeting {
        let reconvergent = if self.number >= 100 { ".RECONVERGENT" } else { "" };
        emit!(self, "BSSY{reconvergent} B{barrier}, `({label})");
        Meeting { barrier, label: label.into() }
    }

    /// The same with a label of its own.
    pub(super) fn meet_here(&mut self) -> Meeting {
        let end = self.frame.label();
        self.meet(&end)
    }

    /// BSYNC, and the label after it.
    pub(super) fn met(&mut self, meeting: &Meeting) {
        let reconvergent = if self.number >= 100 { ".RECONVERGENT" } else { "" };
        emit!(self, "BSYNC{reconvergent} B{}", meeting.barrier);
        self.label(&meeting.label);
    }
}

/// A convergence barrier, and the label behind its BSYNC.
pub(super) struct Meeting {
    barrier: u8,
    label: String,
}

/// A shared address that one instruction can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedAddress {
    /// `[R2+0x10]`
    Register { register: Reg, offset: i64 },
    /// `[UR4+0x10]`
    Uniform { register: u8, offset: i64 },
    /// `[0x10]`
    Absolute(u32),
}

impl SharedAddress {
    /// The same for ATOMS, whose offsets are in words up to sm_62: the last two bits are dropped [TOOLS].
    pub(super) fn in_words(self, number: u16) -> SharedAddress {
        match self {
            SharedAddress::Register { register, offset } if number < 70 => {
                SharedAddress::Register { register, offset: offset & !3 }
            }
            SharedAddress::Absolute(byte) if number < 70 => SharedAddress::Absolute(byte & !3),
            address => address,
        }
    }
}

impl std::fmt::Display for SharedAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SharedAddress::Register { register, offset } => write!(f, "{register}{}", plus(*offset)),
            SharedAddress::Uniform { register, offset } => write!(f, "UR{register}{}", plus(*offset)),
            SharedAddress::Absolute(0) => f.write_str("RZ"),
            SharedAddress::Absolute(byte) => write!(f, "{byte:#x}"),
        }
    }
}
