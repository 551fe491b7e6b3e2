//! Emitter of lowered machine code for one architecture: statements, constants, addresses, reconvergence
//! points, and loops that process lanes with equal operands together.

use super::decimal::{decimal, half};
use super::offset::{hex, plus};
use super::{Frame, Target};
use crate::arch::Arch;
pub(super) use crate::kernel::register::Reg;
use crate::ptx::RegId;

pub(super) struct Code<'f> {
    pub(super) arch: Arch,
    pub(super) number: u16,
    pub(super) target: Target,
    pub(super) frame: &'f mut Frame,
    /// True if the kernel ends after this sequence and the result is unused. A thread that has finished its
    /// part may then exit.
    pub(super) leave_early: bool,
    /// True if the program reads the result. False if only a fence waits for the result.
    pub(super) wanted: bool,
    /// True if HFMA2.MMA adds packed halves on sm_80 too. Compilers use the pipe that is less busy.
    pub(super) packed_on_mma: bool,
    pub(super) lines: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Register(Reg),
    /// Constant value; only its low 64 bits are stored, and further bits are zero.
    Constant(u64),
}

/// Formats 32 bits as a signed immediate operand, or as RZ for zero.
pub(super) fn signed(bits: u32) -> String {
    match bits as i32 {
        0 => "RZ".into(),
        value if value < 0 => format!("-{:#x}", value.unsigned_abs()),
        value => format!("{value:#x}"),
    }
}

/// Emits one statement in the syntax of `format!`: `emit!(code, "MOV {a}, {b}")`.
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

    pub(super) fn scratch(&mut self, words: u8) -> Reg {
        Reg(self.frame.scratch(words))
    }

    pub(super) fn register(&mut self, id: RegId) -> Reg {
        self.registers(id, 1)
    }

    pub(super) fn pair(&mut self, id: RegId) -> Reg {
        self.registers(id, 2)
    }

    /// Returns the first of `words` machine registers that hold the PTX register `id`.
    pub(super) fn registers(&mut self, id: RegId, words: u8) -> Reg {
        Reg(self.frame.register(id, words))
    }

    pub(super) fn predicate(&mut self) -> String {
        format!("P{}", self.frame.scratch_predicate())
    }

    pub(super) fn label(&mut self, name: &str) {
        emit!(self, "{name}:");
    }

    pub(super) fn copy(&mut self, to: Reg, from: Reg, words: u8) {
        for word in 0..words {
            emit!(self, "MOV {}, {}", to.plus(word), from.plus(word));
        }
    }

    /// Returns the registers that hold a value. A constant is moved to new registers, except zero, for which
    /// RZ is returned.
    pub(super) fn in_registers(&mut self, value: Value, words: u8) -> Reg {
        match value {
            Value::Register(register) => register,
            Value::Constant(bits) if bits == 0 || words == 1 && bits as u32 == 0 => Reg::RZ,
            Value::Constant(bits) => self.moved(bits, words),
        }
    }

    pub(super) fn moved(&mut self, bits: u64, words: u8) -> Reg {
        let register = self.scratch(words);
        self.move_constant(register, bits, words);
        register
    }

    pub(super) fn move_constant(&mut self, to: Reg, bits: u64, words: u8) {
        for word in 0..words {
            let part = bits.checked_shr(32 * u32::from(word)).unwrap_or(0) as u32;
            emit!(self, "MOV {}, {part:#x}", to.plus(word));
        }
    }

    /// Returns the registers that hold a value, but never RZ, which CAS and CAST do not accept [TOOLS].
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

    /// True if the architecture has two-operand IADD and 64-bit integer arithmetic: sm_107 to sm_109, and
    /// sm_120 and later.
    pub(super) fn wide(&self) -> bool {
        matches!(self.number, 107..110 | 120..)
    }

    /// Emits `to = a + b` in 32 bits with the instruction that compilers use by default. `b` is a register or
    /// an immediate.
    pub(super) fn sum(&mut self, guard: &str, to: Reg, a: Reg, b: &str) {
        match self.number {
            _ if self.wide() => emit!(self, "{guard}IADD {to}, {a}, {b}"),
            ..70 => emit!(self, "{guard}IADD {to}, {a}, {b}"),
            70..100 => emit!(self, "{guard}IADD3 {to}, {a}, {b}, RZ"),
            _ => emit!(self, "{guard}IADD3 {to}, PT, PT, {a}, {b}, RZ"),
        }
    }

    /// Returns a register that holds `register + offset`. Emits nothing for offset zero.
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

    /// Returns a register pair that holds `pair + offset`. Emits nothing for offset zero.
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

    /// Emits code that sets uniform register `to` to the address of a byte in the CTA's shared memory, from
    /// sm_90 on. The address contains the CTA's rank in its cluster.
    pub(super) fn variable_address(&mut self, rank: u8, to: u8, byte: i32) {
        emit!(self, "S2UR UR{rank}, SR_CgaCtaId");
        emit!(self, "UMOV UR{to}, {byte:#x}");
        emit!(self, "ULEA UR{to}, UR{rank}, UR{to}, 0x18");
    }

    pub(super) fn load_shared(&mut self, to: Reg, address: &str, words: u8) {
        let unsigned = if self.number < 80 { ".U" } else { "" };
        let size = match (words, self.number) {
            (2, _) => ".64",
            (_, ..70) => ".32",
            _ => "",
        };
        emit!(self, "LDS{unsigned}{size} {to}, [{address}]");
    }

    /// Emits BSSY, so that the active threads reconverge at the label.
    pub(super) fn open_reconvergence(&mut self, label: &str) -> Reconvergence {
        let barrier = self.clear_barrier();
        self.note(barrier, label)
    }

    /// Allocates a convergence barrier. Before sm_80, emits an instruction that clears the barrier first,
    /// because it may still be in use.
    pub(super) fn clear_barrier(&mut self) -> u8 {
        let barrier = self.frame.barrier();
        if self.number < 80 {
            emit!(self, "BMOV.32.CLEAR RZ, B{barrier}");
        }
        barrier
    }

    pub(super) fn note(&mut self, barrier: u8, label: &str) -> Reconvergence {
        let reconvergent = if self.number >= 100 { ".RECONVERGENT" } else { "" };
        emit!(self, "BSSY{reconvergent} B{barrier}, `({label})");
        Reconvergence { barrier, label: label.into() }
    }

    pub(super) fn open_reconvergence_here(&mut self) -> Reconvergence {
        let end = self.frame.label();
        self.open_reconvergence(&end)
    }

    pub(super) fn reconverge(&mut self, reconvergence: &Reconvergence) {
        let reconvergent = if self.number >= 100 { ".RECONVERGENT" } else { "" };
        emit!(self, "BSYNC{reconvergent} B{}", reconvergence.barrier);
        self.label(&reconvergence.label);
    }

    /// Returns a new register that holds a constant, or RZ for 0.
    ///
    /// Compilers emit HFMA2 for the move if both halves of the constant are finite binary16 values. This
    /// keeps the integer pipe free.
    pub(super) fn constant(&mut self, value: u32) -> Reg {
        if value == 0 {
            return Reg::RZ;
        }
        let register = self.scratch(1);
        self.set(register, value);
        register
    }

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

    /// Returns PLOP3 look-up tables for three functions: true; second operand or not first; not first. Each
    /// has two numbers; the second one is for the other result, which is unused.
    fn tables(&self) -> [&'static str; 3] {
        match self.number {
            ..100 => ["0x80, 0x0", "0xa2, 0x0", "0x8, 0x0"],
            _ => ["0x80, 0x8", "0xf2, 0x2f", "0x8, 0x80"],
        }
    }

    pub(super) fn all_wait(&mut self) -> Lanes {
        let lanes = Lanes { waiting: self.frame.scratch_predicate(), others: self.frame.scratch_predicate() };
        self.all_wait_again(lanes);
        lanes
    }

    pub(super) fn all_wait_again(&mut self, lanes: Lanes) {
        let [always, ..] = self.tables();
        emit!(self, "PLOP3.LUT P{}, PT, PT, PT, PT, {always}", lanes.waiting);
    }

    /// Emits the start of a loop over groups of lanes, from sm_90 on, and returns the label of the loop. Each
    /// iteration takes the first waiting lane and all waiting lanes with equal `registers`. All waiting lanes
    /// execute the statements `also`.
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

    pub(super) fn next_equals(&mut self, lanes: Lanes, label: &str) {
        emit!(self, "@P{} BRA.U.ANY `({label})", lanes.waiting);
    }

    /// Emits a loop over single lanes, from sm_90 on. In each iteration one lane executes `head`, and the
    /// warp executes `body` once.
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

pub(super) struct Reconvergence {
    barrier: u8,
    label: String,
}

#[derive(Clone, Copy)]
pub(super) struct Lanes {
    /// Predicate: the lane has not been processed yet.
    pub(super) waiting: u16,
    /// Predicate: the lane does not take part in the current iteration.
    pub(super) others: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeAddress {
    pub(super) base: Base,
    pub(super) offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Register(Reg),
    /// First register of a pair that holds a 64-bit generic address.
    Pair(Reg),
    Uniform(u8),
    Nothing,
}

impl CodeAddress {
    /// Formats the address for instructions whose address always has a uniform register: `[R2+URZ+0x8]`.
    pub(super) fn with_uniform(self) -> String {
        let base = match self.base {
            Base::Register(register) => format!("{register}+URZ"),
            Base::Pair(register) => format!("{register}.64+URZ"),
            Base::Uniform(uniform) => format!("UR{uniform}"),
            Base::Nothing => "URZ".into(),
        };
        format!("[{base}{}]", plus(self.offset))
    }

    /// Rounds the offset down to a multiple of 4, for ATOMS up to sm_62, which encode the offset in words
    /// [TOOLS].
    pub(super) fn in_words(self, number: u16) -> CodeAddress {
        match self.base {
            Base::Register(_) | Base::Nothing if number < 70 => {
                CodeAddress { offset: self.offset & !3, ..self }
            }
            _ => self,
        }
    }

    pub(super) fn plus(self, bytes: i32) -> CodeAddress {
        CodeAddress { offset: (self.offset as i32).wrapping_add(bytes).into(), ..self }
    }

    pub(super) fn based(self, base: Base) -> CodeAddress {
        CodeAddress { base, ..self }
    }
}

/// Formats the address as in the brackets of loads, stores and most atomics: `R2+0x4`.
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
