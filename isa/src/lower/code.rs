//! Statements as they are written for one architecture: constants, addresses, reconvergence points, and the loops that make an
//! operand uniform.

use super::decimal::{decimal, half};
use super::offset::{hex, plus};
use super::{Frame, Target};
use crate::arch::Arch;
pub(super) use crate::kernel::register::Reg;
use crate::ptx::RegId;

/// What was written so far, and for which architecture.
pub(super) struct Code<'f> {
    pub(super) arch: Arch,
    /// The number after `sm_`.
    pub(super) number: u16,
    pub(super) target: Target,
    pub(super) frame: &'f mut Frame,
    /// Nothing follows in the kernel and the result is not used: a thread that is done exits.
    pub(super) leave_early: bool,
    /// The result is read; what only a fence waits for is not.
    pub(super) wanted: bool,
    /// Packed halves are added by HFMA2.MMA already on sm_80: which pipe is less busy decides.
    pub(super) packed_on_mma: bool,
    pub(super) lines: Vec<String>,
}

/// A value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The first of its machine registers.
    Register(Reg),
    /// Its bits; those beyond 64 are zero.
    Constant(u64),
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
    pub(super) fn new(arch: Arch, target: Target, frame: &'f mut Frame) -> Code<'f> {
        Code {
            arch,
            number: arch.number(),
            target,
            frame,
            leave_early: false,
            wanted: false,
            packed_on_mma: false,
            lines: Vec::new(),
        }
    }

    /// A scratch register, or the first of `words`.
    pub(super) fn scratch(&mut self, words: u8) -> Reg {
        Reg(self.frame.scratch(words))
    }

    /// The register of a PTX register of 32 bits.
    pub(super) fn register(&mut self, id: RegId) -> Reg {
        self.registers(id, 1)
    }

    /// The first of two registers that hold a PTX register of 64 bits.
    pub(super) fn pair(&mut self, id: RegId) -> Reg {
        self.registers(id, 2)
    }

    /// The first of the registers that hold a PTX register of so many words.
    pub(super) fn registers(&mut self, id: RegId, words: u8) -> Reg {
        Reg(self.frame.register(id, words))
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
        for word in 0..words {
            emit!(self, "MOV {}, {}", to.plus(word), from.plus(word));
        }
    }

    /// A value in registers; a constant is moved there, and zero is RZ.
    pub(super) fn in_registers(&mut self, value: Value, words: u8) -> Reg {
        match value {
            Value::Register(register) => register,
            Value::Constant(bits) if bits == 0 || words == 1 && bits as u32 == 0 => Reg::RZ,
            Value::Constant(bits) => self.moved(bits, words),
        }
    }

    /// New registers that a constant is moved to.
    pub(super) fn moved(&mut self, bits: u64, words: u8) -> Reg {
        let register = self.scratch(words);
        self.move_constant(register, bits, words);
        register
    }

    /// Moves a constant to registers, word by word.
    pub(super) fn move_constant(&mut self, to: Reg, bits: u64, words: u8) {
        for word in 0..words {
            let part = bits.checked_shr(32 * u32::from(word)).unwrap_or(0) as u32;
            emit!(self, "MOV {}, {part:#x}", to.plus(word));
        }
    }

    /// The same where RZ is not taken: the operands of CAS and CAST [TOOLS].
    pub(super) fn in_own_registers(&mut self, value: Value, words: u8) -> Reg {
        match self.in_registers(value, words) {
            Reg::RZ => {
                let register = self.scratch(words);
                self.copy(register, Reg::RZ, words);
                register
            }
            register => register,
        }
    }

    /// True if there are adds of two and 64-bit integer arithmetic. What is called sm_110 comes before them.
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
    pub(super) fn advanced(&mut self, register: Reg, offset: i64) -> Reg {
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

    /// `to`: the address of a byte of the CTA's allocation, from sm_90 on, with the CTA's rank in its cluster.
    pub(super) fn variable_address(&mut self, rank: u8, to: u8, byte: i32) {
        emit!(self, "S2UR UR{rank}, SR_CgaCtaId");
        emit!(self, "UMOV UR{to}, {byte:#x}");
        emit!(self, "ULEA UR{to}, UR{rank}, UR{to}, 0x18");
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

    /// BSSY: the threads that are here will meet at the label.
    pub(super) fn open_reconvergence(&mut self, label: &str) -> Reconvergence {
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
    pub(super) fn note(&mut self, barrier: u8, label: &str) -> Reconvergence {
        let reconvergent = if self.number >= 100 { ".RECONVERGENT" } else { "" };
        emit!(self, "BSSY{reconvergent} B{barrier}, `({label})");
        Reconvergence { barrier, label: label.into() }
    }

    /// The same with a label of its own.
    pub(super) fn open_reconvergence_here(&mut self) -> Reconvergence {
        let end = self.frame.label();
        self.open_reconvergence(&end)
    }

    /// BSYNC, and the label after it.
    pub(super) fn reconverge(&mut self, reconvergence: &Reconvergence) {
        let reconvergent = if self.number >= 100 { ".RECONVERGENT" } else { "" };
        emit!(self, "BSYNC{reconvergent} B{}", reconvergence.barrier);
        self.label(&reconvergence.label);
    }

    /// A new register that holds a constant; RZ for 0.
    ///
    /// Compilers use the half-precision unit where both halves of the constant are numbers, and leave the
    /// integer unit to others.
    pub(super) fn constant(&mut self, value: u32) -> Reg {
        if value == 0 {
            return Reg::RZ;
        }
        let register = self.scratch(1);
        self.set(register, value);
        register
    }

    /// Puts a constant in a register.
    pub(super) fn set(&mut self, register: Reg, value: u32) {
        let finite = |bits: u32| bits & 0x7c00 != 0x7c00;
        let mnemonic = match self.number {
            ..=87 => "HFMA2.MMA",
            88..=89 => "MOV",
            90..=99 => "HFMA2.MMA",
            _ => "HFMA2",
        };
        if mnemonic == "MOV" || !finite(value >> 16) || !finite(value) {
            emit!(self, "MOV {register}, {value:#x}");
        } else {
            let (high, low) = (decimal(half(value >> 16)), decimal(half(value)));
            emit!(self, "{mnemonic} {register}, -RZ, RZ, {high}, {low}");
        }
    }

    /// Look-up tables of PLOP3: true, second or not first, not first. The second number is for the other half
    /// of the table, which nothing reads.
    fn tables(&self) -> [&'static str; 3] {
        match self.number {
            ..100 => ["0x80, 0x0", "0xa2, 0x0", "0x8, 0x0"],
            _ => ["0x80, 0x8", "0xf2, 0x2f", "0x8, 0x80"],
        }
    }

    /// Starts a loop over lanes: all are waiting.
    pub(super) fn all_wait(&mut self) -> Lanes {
        let lanes = Lanes { waiting: self.frame.scratch_predicate(), others: self.frame.scratch_predicate() };
        self.all_wait_again(lanes);
        lanes
    }

    /// The same, for another loop of the sequence.
    pub(super) fn all_wait_again(&mut self, lanes: Lanes) {
        let [always, ..] = self.tables();
        emit!(self, "PLOP3.LUT P{}, PT, PT, PT, PT, {always}", lanes.waiting);
    }

    /// Head of a loop from sm_90 on: lanes whose registers hold what those of the first waiting lane hold
    /// have their turn; `also` are carried out for all that wait. Gives the loop's label.
    pub(super) fn take_equals(
        &mut self,
        lanes: Lanes,
        registers: &[(String, Reg)],
        also: &[String],
    ) -> String {
        let Lanes { waiting, others } = lanes;
        let [always, not_waiting, _] = self.tables();
        let label = self.frame.label();
        self.label(&label);
        for (at, (uniform, register)) in registers.iter().enumerate() {
            let or = if at == 0 { "" } else { ".OR" };
            emit!(self, "PLOP3.LUT P{others}, PT, P{others}, P{waiting}, PT, {not_waiting}");
            emit!(self, "@P{waiting} R2UR{or} P{others}, {uniform}, {register}");
        }
        also.iter().for_each(|line| emit!(self, "@P{waiting} {line}"));
        emit!(self, "@P{waiting} PLOP3.LUT P{waiting}, PT, P{others}, PT, PT, {always}");
        label
    }

    /// Foot of that loop.
    pub(super) fn next_equals(&mut self, lanes: Lanes, label: &str) {
        emit!(self, "@P{} BRA.U.ANY `({label})", lanes.waiting);
    }

    /// A loop in which one lane after the other has its turn, from sm_90 on: `head` for that lane, `body` once.
    pub(super) fn one_by_one(&mut self, lanes: Lanes, head: &[String], body: &str) {
        let Lanes { waiting, others: turn } = lanes;
        let [.., done] = self.tables();
        let label = self.frame.label();
        self.label(&label);
        emit!(self, "@P{waiting} ELECT P{turn}, URZ, PT");
        head.iter().for_each(|line| emit!(self, "@P{turn} {line}"));
        emit!(self, "@P{turn} PLOP3.LUT P{waiting}, PT, P{turn}, PT, PT, {done}");
        emit!(self, "PLOP3.LUT P{turn}, PT, PT, PT, PT, {done}");
        self.lines.push(body.into());
        self.next_equals(lanes, &label);
    }
}

/// A convergence barrier, and the label behind its BSYNC.
pub(super) struct Reconvergence {
    barrier: u8,
    label: String,
}

/// Predicates of a loop that takes lanes together whose operands are equal.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    /// Lanes that have not had their turn.
    pub(super) waiting: u16,
    /// Lanes whose turn it is not.
    pub(super) others: u16,
}

/// An address that one instruction can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeAddress {
    pub(super) base: Base,
    pub(super) offset: i64,
}

/// What such an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Register(Reg),
    /// A generic address.
    Pair(Reg),
    Uniform(u8),
    Nothing,
}

impl CodeAddress {
    /// As instructions name it that always have a uniform register: `[R2+URZ+0x8]`.
    pub(super) fn with_uniform(self) -> String {
        let base = match self.base {
            Base::Register(register) => format!("{register}+URZ"),
            Base::Pair(register) => format!("{register}.64+URZ"),
            Base::Uniform(uniform) => format!("UR{uniform}"),
            Base::Nothing => "URZ".into(),
        };
        format!("[{base}{}]", plus(self.offset))
    }

    /// The same for ATOMS, whose offsets are in words up to sm_62: the last two bits are dropped [TOOLS].
    pub(super) fn in_words(self, number: u16) -> CodeAddress {
        match self.base {
            Base::Register(_) | Base::Nothing if number < 70 => {
                CodeAddress { offset: self.offset & !3, ..self }
            }
            _ => self,
        }
    }

    /// So many bytes further on, modulo 2^32.
    pub(super) fn plus(self, bytes: i32) -> CodeAddress {
        CodeAddress { offset: (self.offset as i32).wrapping_add(bytes).into(), ..self }
    }

    /// The same from another start.
    pub(super) fn based(self, base: Base) -> CodeAddress {
        CodeAddress { base, ..self }
    }
}

/// As loads, stores and most atomics name it in brackets: `R2+0x4`.
impl std::fmt::Display for CodeAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offset = plus(self.offset);
        match self.base {
            Base::Register(register) | Base::Pair(register) => write!(f, "{register}{offset}"),
            Base::Uniform(uniform) => write!(f, "UR{uniform}{offset}"),
            Base::Nothing if self.offset == 0 => f.write_str("RZ"),
            Base::Nothing => f.write_str(&hex(self.offset)),
        }
    }
}
