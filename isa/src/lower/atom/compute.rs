//! Code for the new value of an atomic, computed from the old one, inside a loop around CAST.SPIN.

use super::form::{AtomicOp, Form};
use crate::lower::code::{Code, Reg, Value, emit, signed};
use crate::lower::decimal::decimal;
use crate::ptx::Type;

/// Pipe of the GPU that adds the upper words of a 64-bit addition: IADD3.X or IMAD.X. Compilers use both
/// pipes, to balance the load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Carry {
    Add,
    Multiply,
}

#[derive(Clone, Copy)]
pub(super) enum Operand {
    Value(Value),
    /// Addend in registers: the sum over the lanes. It is the second operand of the addition.
    Product(Reg),
    /// 64-bit addend whose lower word is zero; the register holds the upper word.
    High(Reg),
    /// 64-bit addend whose lower word is zero; the uniform register holds the upper word.
    UniformHigh(u8),
    Uniform(u8),
}

impl Code<'_> {
    pub(super) fn operand(&mut self, form: &Form, b: Value) -> Operand {
        match (b, form.op, form.ty) {
            (Value::Constant(_), AtomicOp::And | AtomicOp::Or | AtomicOp::Xor, Type::B64) => {
                Operand::Value(b)
            }
            (Value::Constant(bits), AtomicOp::Add, Type::U64) if self.wide() && !is_word(bits) => {
                self.uniform_pair(bits)
            }
            (Value::Constant(_), AtomicOp::Add, Type::U64 | Type::F32) => Operand::Value(b),
            // An immediate operand of DADD holds only the upper 32 bits.
            (Value::Constant(bits), AtomicOp::Add, Type::F64) if bits as u32 == 0 => Operand::Value(b),
            (Value::Constant(bits), AtomicOp::Add, Type::F64) if self.number >= 90 => self.uniform_pair(bits),
            _ => Operand::Value(Value::Register(self.in_registers(b, form.words()))),
        }
    }

    fn uniform_pair(&mut self, bits: u64) -> Operand {
        let pair = self.frame.uniform(2);
        emit!(self, "UMOV UR{pair}, {:#x}", bits as u32);
        emit!(self, "UMOV UR{}, {:#x}", pair + 1, bits >> 32);
        Operand::Uniform(pair)
    }

    /// Emits the computation of the new value from `old` and returns the registers that hold it: `new`, or
    /// others if no instruction is needed. Not for min and max.
    pub(super) fn compute(&mut self, form: &Form, old: Reg, b: Operand, new: Reg, carry: Carry) -> Reg {
        match b {
            Operand::Value(b) => return self.compute_value(form, old, b, new, carry),
            b if form.ty != Type::U64 => self.add_floats(form.ty, old, b, new),
            Operand::Product(b) => self.add_pair(b, old, new, carry),
            Operand::High(b) => {
                let p = self.add_nothing(old, new);
                emit!(self, "IMAD.X {}, {}, 0x1, {b}, {p}", new.high(), old.high());
            }
            Operand::UniformHigh(b) => {
                let p = self.add_nothing(old, new);
                let (_, ignored) = self.carries();
                emit!(self, "IADD3.X {}, {ignored}{}, UR{b}, RZ, {p}, !PT", new.high(), old.high());
            }
            Operand::Uniform(b) => emit!(self, "IADD.64 {new}, {old}, UR{b}"),
        }
        new
    }

    fn compute_value(&mut self, form: &Form, old: Reg, b: Value, new: Reg, carry: Carry) -> Reg {
        match (form.op, form.ty, b) {
            (AtomicOp::Add, Type::U64, Value::Constant(0)) => return old,
            (AtomicOp::Add, Type::U64, Value::Constant(bits)) => self.add_constant(old, bits, new, carry),
            (AtomicOp::Add, Type::U64, Value::Register(b)) => self.add_pair(old, b, new, carry),
            (AtomicOp::Add, Type::F32 | Type::F64, b) => {
                self.add_floats(form.ty, old, Operand::Value(b), new);
            }
            (AtomicOp::Add, ty, b) => {
                let b = self.in_registers(b, 1);
                let format = if ty == Type::Bf16x2 { ".BF16_V2" } else { "" };
                let on_mma = self.packed_on_mma && self.number == 80;
                match self.number {
                    ..90 if !on_mma => emit!(self, "HADD2{format} {new}, {old}, {b}"),
                    ..100 => emit!(self, "HFMA2.MMA{format} {new}, {old}, 1, 1, {b}"),
                    _ => emit!(self, "HFMA2{format} {new}, {old}, 1, 1, {b}"),
                }
            }
            (op, _, b) => return self.bitwise(op, old, b, new),
        }
        new
    }

    fn add_floats(&mut self, ty: Type, old: Reg, b: Operand, new: Reg) {
        let mnemonic = if ty == Type::F32 { "FADD" } else { "DADD" };
        emit!(self, "{mnemonic} {new}, {}", float_operands(ty, old, b));
    }

    /// Emits an addition of zero to the lower word, as compilers do. Returns the predicate with the carry.
    fn add_nothing(&mut self, old: Reg, new: Reg) -> String {
        let (out, _) = self.carries();
        let p = self.predicate();
        emit!(self, "IADD3 {new}, {p}{out}, RZ, {old}, RZ");
        p
    }

    fn add_pair(&mut self, old: Reg, b: Reg, new: Reg, carry: Carry) {
        if self.wide() {
            emit!(self, "IADD.64 {new}, {b}, {old}");
            return;
        }
        let (out, ignored) = self.carries();
        let p = self.predicate();
        emit!(self, "IADD3 {new}, {p}{out}, {b}, {old}, RZ");
        match carry {
            Carry::Add => {
                emit!(self, "IADD3.X {}, {ignored}{}, {}, RZ, {p}, !PT", new.high(), b.high(), old.high());
            }
            Carry::Multiply => {
                emit!(self, "IMAD.X {}, {}, 0x1, {}, {p}", new.high(), b.high(), old.high());
            }
        }
    }

    fn add_constant(&mut self, old: Reg, bits: u64, new: Reg, carry: Carry) {
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        if self.wide() {
            emit!(self, "IADD.64 {new}, {old}, {}", signed(low));
            return;
        }
        let (out, ignored) = self.carries();
        let p = self.predicate();
        match low {
            0 => emit!(self, "IADD3 {new}, {p}{out}, RZ, {old}, RZ"),
            _ => emit!(self, "IADD3 {new}, {p}{out}, {old}, {}, RZ", signed(low)),
        }
        let (new, old) = (new.high(), old.high());
        match (high, carry) {
            (0, Carry::Multiply) => emit!(self, "IMAD.X {new}, RZ, RZ, {old}, {p}"),
            (0, Carry::Add) => emit!(self, "IADD3.X {new}, {ignored}RZ, {old}, RZ, {p}, !PT"),
            _ => emit!(self, "IADD3.X {new}, {ignored}{old}, {}, RZ, {p}, !PT", signed(high)),
        }
    }

    /// Returns the operands that stand for unused carries: first for IADD3 (its second carry), then for
    /// IADD3.X.
    fn carries(&self) -> (&'static str, &'static str) {
        if self.number >= 100 { (", PT", "PT, PT, ") } else { ("", "") }
    }

    /// Emits a bitwise operation, word by word. For a constant that leaves a word unchanged or sets it to a
    /// constant, a move is enough.
    fn bitwise(&mut self, op: AtomicOp, old: Reg, b: Value, new: Reg) -> Reg {
        let table = op.table();
        let bits = match b {
            Value::Constant(u64::MAX) if op == AtomicOp::And => return old,
            Value::Constant(0) if op != AtomicOp::And => return old,
            Value::Register(b) => {
                for word in 0..2 {
                    let (new, old, b) = (new.plus(word), old.plus(word), b.plus(word));
                    emit!(self, "LOP3.LUT {new}, {old}, {b}, RZ, {table}, !PT");
                }
                return new;
            }
            Value::Constant(bits) => bits,
        };
        for (word, bits) in [bits as u32, (bits >> 32) as u32].into_iter().enumerate() {
            let (new, old) = (new.plus(word as u8), old.plus(word as u8));
            match (op, bits) {
                (AtomicOp::And, u32::MAX) | (AtomicOp::Or | AtomicOp::Xor, 0) => {
                    emit!(self, "MOV {new}, {old}")
                }
                (AtomicOp::And, 0) => emit!(self, "MOV {new}, RZ"),
                (AtomicOp::Or, u32::MAX) => emit!(self, "MOV {new}, 0xffffffff"),
                (AtomicOp::Xor, u32::MAX) => emit!(self, "LOP3.LUT {new}, RZ, {old}, RZ, 0x33, !PT"),
                _ => emit!(self, "LOP3.LUT {new}, {old}, {bits:#x}, RZ, {table}, !PT"),
            }
        }
        new
    }

    /// Emits a comparison that is true if min or max keeps the old value. Returns its predicate.
    pub(super) fn unchanged(&mut self, form: &Form, old: Reg, b: Value, registers: Reg) -> String {
        let p = self.predicate();
        let kind = if form.signed() { "" } else { ".U32" };
        let wide = if form.signed() { "S64" } else { "U64" };
        // Compilers compare a register operand with the old value, but the old value with a constant operand,
        // because an immediate must be the second operand.
        let swap = |b_first: bool| match (form.op, b_first) {
            (AtomicOp::Min, true) | (AtomicOp::Max, false) => "GE",
            _ => "LE",
        };
        match b {
            Value::Constant(bits) if !self.wide() => {
                let compare = swap(false);
                let (low, high) = (signed(bits as u32), signed((bits >> 32) as u32));
                emit!(self, "ISETP.{compare}.U32.AND {p}, PT, {old}, {low}, PT");
                emit!(self, "ISETP.{compare}{kind}.AND.EX {p}, PT, {}, {high}, PT, {p}", old.high());
            }
            Value::Constant(bits) => {
                let b = if is_word(bits) { signed(bits as u32) } else { registers.to_string() };
                emit!(self, "ISETP.{}.{wide}.AND {p}, PT, {old}, {b}, PT", swap(false));
            }
            Value::Register(_) if self.wide() => {
                emit!(self, "ISETP.{}.{wide}.AND {p}, PT, {registers}, {old}, PT", swap(true));
            }
            Value::Register(_) => {
                let compare = swap(true);
                emit!(self, "ISETP.{compare}.U32.AND {p}, PT, {registers}, {old}, PT");
                let (high, old) = (registers.high(), old.high());
                emit!(self, "ISETP.{compare}{kind}.AND.EX {p}, PT, {high}, {old}, PT, {p}");
            }
        }
        p
    }
}

/// True if a 32-bit immediate, sign-extended, has the value of these 64 bits.
fn is_word(bits: u64) -> bool {
    i32::try_from(bits as i64).is_ok()
}

/// Formats the sources of FADD and DADD. An immediate operand comes second. Zero and registers come first.
pub(super) fn float_operands(ty: Type, old: Reg, b: Operand) -> String {
    let bits = match b {
        Operand::Value(Value::Register(b)) | Operand::Product(b) | Operand::High(b) => {
            return format!("{b}, {old}");
        }
        Operand::Uniform(b) | Operand::UniformHigh(b) => return format!("{old}, UR{b}"),
        Operand::Value(Value::Constant(bits)) => bits,
    };
    let value = if ty == Type::F32 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) };
    match value {
        0.0 if value.is_sign_negative() => format!("-RZ, {old}"),
        0.0 => format!("RZ, {old}"),
        value => format!("{old}, {}", decimal(value)),
    }
}
