//! Lowering of atomics on the CTA's own shared memory from sm_70 on: one ATOMS, or a loop around CAST.SPIN
//! (spec 7.1, 7.2).

use super::compute::{Carry, Operand};
use super::form::{AtomicOp, Form};
use super::operand::{AddressBase, Operands};
use crate::lower::code::{Base, Code, CodeAddress, Reg, Value, emit};
use crate::lower::offset::near;
use crate::ptx::Type;

impl Code<'_> {
    /// Emits one ATOMS instruction for the atomic. Also used before sm_70.
    pub(super) fn native(&mut self, form: &Form, operands: &Operands, used: bool) {
        let counts = self.number >= 80 && !used && form.op == AtomicOp::Add && form.ty == Type::U32;
        if counts && operands.b == Value::Constant(1) {
            // ATOMS.POPC.INC adds the number of lanes that have the same address.
            let address = self.shared_address(&operands.address).with_uniform();
            self.before(form, "");
            emit!(self, "ATOMS.POPC.INC.32 RZ, {address}");
            self.after_shared(form, "");
            return;
        }
        let words = form.words();
        let (b, c) = match form.op {
            AtomicOp::Cas if self.number < 70 => self.adjacent(operands, words),
            AtomicOp::Cas => {
                (self.in_own_registers(operands.b, words), self.in_own_registers(operands.c, words))
            }
            _ if form.ty == Type::B128 => (self.in_own_registers(operands.b, words), Reg::RZ),
            _ => (self.in_registers(operands.b, words), Reg::RZ),
        };
        let address = match (self.shared_address(&operands.address), form.op) {
            (address, AtomicOp::Cas) => self.own_register(address).in_words(self.number),
            (address, _) => address.in_words(self.number),
        };
        self.before(form, "");
        let result = self.result(operands, used, words);
        self.atoms("", form, result, &address.to_string(), b, c);
        self.after_shared(form, "");
    }

    /// Returns the result register. A result that only a fence waits for goes to a scratch register.
    pub(super) fn result(&mut self, operands: &Operands, used: bool, words: u8) -> Reg {
        match operands.destination {
            Some(register) if used => register,
            None if used => self.scratch(words),
            _ => Reg::RZ,
        }
    }

    /// Copies the two operands of CAS to adjacent registers, which CAS requires up to sm_62 (spec 2.5).
    fn adjacent(&mut self, operands: &Operands, words: u8) -> (Reg, Reg) {
        let both = self.scratch(2 * words);
        for (value, to) in [(operands.b, both), (operands.c, both.plus(words))] {
            let from = self.in_registers(value, words);
            self.copy(to, from, words);
        }
        (both, both.plus(words))
    }

    pub(super) fn atoms(&mut self, guard: &str, form: &Form, to: Reg, address: &str, b: Reg, c: Reg) {
        let size = match (form.ty, form.op) {
            (Type::S32, _) => ".S32",
            (Type::B64, AtomicOp::Exch) if self.number < 70 => ".U64",
            (Type::B64, _) => ".64",
            (Type::B128, _) => ".128",
            _ => "",
        };
        let op = form.op.mnemonic();
        let c = if form.op == AtomicOp::Cas { format!(", {c}") } else { String::new() };
        emit!(self, "{guard}ATOMS.{op}{size} {to}, [{address}], {b}{c}");
    }

    pub(super) fn spin(&mut self, form: &Form, operands: &Operands, used: bool) {
        let words = form.words();
        let reconvergence = (!self.leave_early).then(|| self.open_reconvergence_here());
        let load = self.shared_address(&operands.address);
        let cast = self.own_register(load);
        // From sm_90 on, compilers emit no fences for these loops [TOOLS].
        if self.number < 90 {
            self.before(form, "");
        }
        let uniform = matches!(operands.address.base, AddressBase::Shared(_));
        let far = !near(operands.address.offset);
        let carry = match self.number {
            90..100 if used && !uniform && !far => Carry::Add,
            100.. => Carry::Add,
            _ => Carry::Multiply,
        };
        self.packed_on_mma = far && !used;
        let old = self.scratch(words);
        self.spin_body(form, operands.b, old, [&load.to_string(), &cast.to_string()], carry);
        if let Some(reconvergence) = reconvergence {
            self.reconverge(&reconvergence);
        }
        if used && let Some(to) = operands.destination {
            self.copy(to, old, words);
        }
    }

    /// Copies the base of an address from a uniform register to a register, because CAS and CAST cannot use a
    /// uniform register.
    pub(super) fn own_register(&mut self, address: CodeAddress) -> CodeAddress {
        let Base::Uniform(uniform) = address.base else { return address };
        let register = self.scratch(1);
        emit!(self, "MOV {register}, UR{uniform}");
        address.based(Base::Register(register))
    }

    /// Emits a loop of load, compute and CAST.SPIN, which repeats until the store succeeds. `old` then holds
    /// the old value. For min and max, the loop also ends if the old value would not change. `load` and
    /// `cast` are the address in the load and in the CAST.
    pub(super) fn spin_body(
        &mut self,
        form: &Form,
        b: Value,
        old: Reg,
        [load, cast]: [&str; 2],
        carry: Carry,
    ) {
        let operand = match form.op {
            AtomicOp::Min | AtomicOp::Max => {
                Operand::Value(Value::Register(self.in_own_registers(b, form.words())))
            }
            _ => self.operand(form, b),
        };
        self.spin_loop(form, b, operand, old, [load, cast], carry);
    }

    /// Emits the loop of `spin_body`, with operand B in the form `operand`.
    pub(super) fn spin_loop(
        &mut self,
        form: &Form,
        b: Value,
        operand: Operand,
        old: Reg,
        [load, cast]: [&str; 2],
        carry: Carry,
    ) {
        let words = form.words();
        let extremum = matches!(form.op, AtomicOp::Min | AtomicOp::Max);
        let (new, done) = (self.scratch(words), self.predicate());
        let (start, leave) = (self.frame.label(), self.frame.label());
        self.label(&start);
        self.load_shared(old, load, words);
        let mut left = false;
        let new = match operand {
            Operand::Value(Value::Register(b_registers)) if extremum => {
                let p = self.unchanged(form, old, b, b_registers);
                left = !self.leave_early;
                self.leave_if(&p, &leave);
                b_registers
            }
            operand => self.compute(form, old, operand, new, carry),
        };
        let size = if words == 2 { ".64" } else { "" };
        if self.number >= 100 {
            emit!(self, "ATOMS.CAST.SPIN{size} {done}, [{cast}], {old}, {new}");
        } else {
            let flag = self.scratch(words);
            emit!(self, "ATOMS.CAST.SPIN{size} {flag}, [{cast}], {old}, {new}");
            self.succeeded(&done, flag, words);
        }
        emit!(self, "@!{done} BRA `({start})");
        if left {
            self.label(&leave);
        }
    }

    /// Sets predicate `p` if CAST succeeded, which means that `flag` is one.
    pub(super) fn succeeded(&mut self, p: &str, flag: Reg, words: u8) {
        emit!(self, "ISETP.EQ.U32.AND {p}, PT, {flag}, 0x1, PT");
        if words == 2 {
            emit!(self, "ISETP.EQ.U32.AND.EX {p}, PT, {}, RZ, PT, {p}", flag.high());
        }
    }
}
