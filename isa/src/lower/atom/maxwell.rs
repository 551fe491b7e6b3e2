//! Lowering of loops on shared memory before sm_70. There is no CAST, so the code compares the value that CAS
//! returns. The result of this lowering is only printed; the core does not execute the lowered code of these
//! architectures.

use super::Manner;
use super::compute::{Operand, float_operands};
use super::form::{AtomicOp, Form};
use super::operand::{Address, AddressBase, Operands};
use crate::lower::code::{Code, Reg, Value, emit, signed};
use crate::ptx::Type;

struct Round {
    /// Expected value. Must be the first of CAS's two adjacent operands.
    old: Reg,
    new: Reg,
    seen: Reg,
}

impl Code<'_> {
    pub(super) fn maxwell(&mut self, form: &Form, operands: &Operands, used: bool) {
        let words = form.words();
        let size = if words == 2 { ".64" } else { "" };
        let end = (!self.leave_early).then(|| self.frame.label());
        if let Some(end) = &end {
            emit!(self, "SSY `({end})");
        }
        let pair = self.scratch(2 * words);
        let round = Round { old: pair, new: pair.plus(words), seen: self.scratch(words) };
        let address = self.shared_address(&operands.address);
        let (load, address) = (address.to_string(), address.in_words(self.number).to_string());
        self.before(form, "");
        if matches!(form.op, AtomicOp::Min | AtomicOp::Max) {
            self.maxwell_extremum(form, operands, &round, [&load, &address]);
        } else {
            self.load_shared(round.old, &load, words);
            self.maxwell_compute(form, operands.b, "", round.old, round.new);
            let (start, same) = (self.frame.label(), self.predicate());
            self.label(&start);
            emit!(self, "ATOMS.CAS{size} {}, [{address}], {}, {}", round.seen, round.old, round.new);
            // Compilers swap the operands of the comparison if the next attempt uses the value from CAS
            // unchanged [TOOLS].
            let unchanged = form.op == AtomicOp::Add && operands.b == Value::Constant(0);
            self.maxwell_same(form, unchanged, &same, &round);
            let again = if end.is_some() { format!("@!{same} ") } else { String::new() };
            if end.is_none() {
                emit!(self, "@{same} EXIT");
            }
            self.maxwell_compute(form, operands.b, &again, round.seen, round.new);
            for word in 0..words {
                emit!(self, "{again}MOV {}, {}", round.old.plus(word), round.seen.plus(word));
            }
            emit!(self, "{again}BRA `({start})");
        }
        if let Some(end) = &end {
            emit!(self, "SYNC");
            self.label(end);
        }
        if used && let Some(to) = operands.destination {
            self.copy(to, round.seen, words);
        }
    }

    /// Lowers an atomic on a generic address, with separate code for shared memory and for all other memory.
    pub(super) fn maxwell_generic(&mut self, form: &Form, operands: &Operands, used: bool, manner: Manner) {
        let (pair, offset) = self.wide_address(&operands.address);
        let end = (!self.leave_early).then(|| self.frame.label());
        if let Some(end) = &end {
            emit!(self, "SSY `({end})");
        }
        let (elsewhere, shared, own) = (self.predicate(), self.frame.label(), self.scratch(1));
        emit!(self, "LEA RZ.CC, {pair}, RZ");
        emit!(self, "LEA.HI.X {elsewhere}, RZ, {pair}, RZ, {}", pair.high());
        emit!(self, "@!{elsewhere} BRA `({shared})");
        let base = AddressBase::Register(pair);
        let address = Address { base, offset };
        self.global(form, &Operands { address, ..*operands }, used);
        emit!(self, "{}", if end.is_some() { "SYNC" } else { "EXIT" });
        self.label(&shared);
        emit!(self, "LOP32I.AND {own}, {pair}, 0xffffff");
        let address = Address { base: AddressBase::Register(own), offset };
        let operands = Operands { address, ..*operands };
        match manner {
            Manner::Spin => self.maxwell(form, &operands, used),
            Manner::Native | Manner::Halves => self.native(form, &operands, used),
        }
        if let Some(end) = end {
            emit!(self, "SYNC");
            self.label(&end);
        }
    }

    fn maxwell_same(&mut self, form: &Form, unchanged: bool, p: &str, round: &Round) {
        let Round { old, seen, .. } = round;
        if form.words() == 1 {
            emit!(self, "ISETP.EQ.U32.AND {p}, PT, {old}, {seen}, PT");
            return;
        }
        match form.ty {
            _ if unchanged || form.ty == Type::F64 => emit!(self, "IADD RZ.CC, {old}, -{seen}"),
            _ => emit!(self, "IADD RZ.CC, -{seen}, {old}"),
        }
        emit!(self, "ISETP.EQ.U32.X.AND {p}, PT, {}, {}, PT", old.high(), seen.high());
    }

    /// Emits the loop of min and max, which ends if the old value would not change.
    fn maxwell_extremum(
        &mut self,
        form: &Form,
        operands: &Operands,
        round: &Round,
        [load, address]: [&str; 2],
    ) {
        let kind = if form.signed() { "" } else { ".U32" };
        let b = self.in_registers(operands.b, 2);
        self.load_shared(round.seen, load, 2);
        let (start, p) = (self.frame.label(), self.predicate());
        self.label(&start);
        let (seen, old) = (round.seen, round.old);
        match operands.b {
            Value::Constant(bits) => {
                let compare = if form.op == AtomicOp::Min { "LE" } else { "GE" };
                let (low, high) = (bits as u32, (bits >> 32) as u32);
                match low {
                    0 => emit!(self, "IADD RZ.CC, -RZ, {seen}"),
                    // The constant cannot be negated, so the code subtracts it from a register.
                    0x8000_0000 => emit!(self, "IADD RZ.CC, {seen}, -{b}"),
                    low => emit!(self, "IADD32I RZ.CC, {seen}, {}", signed(low.wrapping_neg())),
                }
                let high = signed(high);
                emit!(self, "ISETP.{compare}{kind}.X.AND {p}, PT, {}, {high}, PT", seen.high());
            }
            Value::Register(_) => {
                let compare = if form.op == AtomicOp::Min { "GE" } else { "LE" };
                emit!(self, "IADD RZ.CC, {b}, -{seen}");
                emit!(self, "ISETP.{compare}{kind}.X.AND {p}, PT, {}, {}, PT", b.high(), seen.high());
            }
        }
        match self.leave_early {
            true => emit!(self, "@{p} EXIT"),
            false => emit!(self, "@{p} SYNC"),
        }
        self.copy(old, seen, 2);
        self.copy(round.new, b, 2);
        emit!(self, "ATOMS.CAS.64 {seen}, [{address}], {old}, {}", round.new);
        emit!(self, "IADD RZ.CC, {seen}, -{old}");
        emit!(self, "ISETP.NE{kind}.X.AND {p}, PT, {}, {}, PT", seen.high(), old.high());
        emit!(self, "@{p} BRA `({start})");
    }

    /// Emits the computation of the new value from `old`. `guard` is empty or a guard such as `@!P0 `.
    fn maxwell_compute(&mut self, form: &Form, b: Value, guard: &str, old: Reg, new: Reg) {
        let constant = match b {
            Value::Constant(bits) => Some(bits),
            Value::Register(_) => None,
        };
        match (form.op, form.ty) {
            (AtomicOp::Add, Type::F32) => {
                // An immediate operand of FADD holds only the upper 20 bits.
                let long = constant.is_some_and(|bits| bits & 0xfff != 0);
                let b = self.operand(form, b);
                let mnemonic = if long { "FADD32I" } else { "FADD" };
                emit!(self, "{guard}{mnemonic} {new}, {}", float_operands(form.ty, old, b));
            }
            (AtomicOp::Add, Type::F64) => {
                let b = match constant {
                    Some(bits) if bits << 20 == 0 => b,
                    _ => Value::Register(self.in_registers(b, 2)),
                };
                emit!(self, "{guard}DADD {new}, {}", float_operands(form.ty, old, Operand::Value(b)));
            }
            (AtomicOp::Add, Type::F16x2) => self.maxwell_halves(b, guard, old, new),
            (AtomicOp::Add, _) if constant == Some(0) => self.maxwell_move(guard, old, new),
            (AtomicOp::Add, _) => {
                let (high_old, high_new) = (old.high(), new.high());
                match b {
                    Value::Register(b) => {
                        emit!(self, "{guard}IADD {new}.CC, {b}, {old}");
                        emit!(self, "{guard}IADD.X {high_new}, {}, {high_old}", b.high());
                    }
                    Value::Constant(bits) => {
                        let (low, high) = (bits as u32, (bits >> 32) as u32);
                        match low {
                            0 => emit!(self, "{guard}IADD {new}.CC, RZ, {old}"),
                            _ => emit!(self, "{guard}IADD32I {new}.CC, {old}, {}", signed(low)),
                        }
                        match high {
                            0 => emit!(self, "{guard}IADD.X {high_new}, RZ, {high_old}"),
                            _ => emit!(self, "{guard}IADD32I.X {high_new}, {high_old}, {}", signed(high)),
                        }
                    }
                }
            }
            (op, _) => {
                let name = op.mnemonic();
                for word in 0..2_u8 {
                    let (new, old) = (new.plus(word), old.plus(word));
                    let bits = constant.map(|bits| (bits >> (32 * word)) as u32);
                    match (op, b, bits) {
                        (_, Value::Register(b), _) => {
                            emit!(self, "{guard}LOP.{name} {new}, {old}, {}", b.plus(word));
                        }
                        (AtomicOp::And, _, Some(0)) => emit!(self, "{guard}MOV {new}, RZ"),
                        (AtomicOp::And, _, Some(u32::MAX)) | (AtomicOp::Or | AtomicOp::Xor, _, Some(0)) => {
                            emit!(self, "{guard}MOV {new}, {old}");
                        }
                        (AtomicOp::Or, _, Some(u32::MAX)) => emit!(self, "{guard}MOV32I {new}, -0x1"),
                        (AtomicOp::Xor, _, Some(u32::MAX)) => {
                            emit!(self, "{guard}LOP.PASS_B {new}, RZ, ~{old}");
                        }
                        (_, _, bits) => {
                            emit!(self, "{guard}LOP32I.{name} {new}, {old}, {:#x}", bits.unwrap_or(0));
                        }
                    }
                }
            }
        }
    }

    fn maxwell_move(&mut self, guard: &str, old: Reg, new: Reg) {
        for word in 0..2 {
            emit!(self, "{guard}MOV {}, {}", new.plus(word), old.plus(word));
        }
    }

    /// Emits the addition of packed halves. With a guard, compilers emit two additions, one for each half.
    fn maxwell_halves(&mut self, b: Value, guard: &str, old: Reg, new: Reg) {
        let b = self.in_registers(b, 1);
        if guard.is_empty() {
            emit!(self, "HADD2 {new}, {old}, {b}");
            return;
        }
        let (low, high) = (self.scratch(1), self.scratch(1));
        emit!(self, "{guard}HADD2 {low}, {old}.H0_H0, {b}.H0_H0");
        emit!(self, "{guard}HADD2 {high}, {old}.H1_H1, {b}.H1_H1");
        emit!(self, "{guard}XMAD.PSL.CLO {new}, {high}, 0x1, {low}");
    }
}
