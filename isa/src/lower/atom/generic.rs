//! Lowering of atomics on generic and global addresses, and on shared memory of other CTAs of the cluster
//! (spec 7.5).
//!
//! Some generic atomics do not execute on shared memory. Such an atomic sets a predicate that is true if the
//! atomic executed. If the predicate is false, the code tests which memory the address belongs to. For the
//! CTA's own shared memory and for that of another CTA of the cluster, the code has a compare-and-store loop.
//! The remaining case is private memory of the thread, for which a load and a store suffice.

use super::Manner;
use super::compute::{Carry, Operand};
use super::form::{AtomicOp, AtomicSpace, Form};
use super::operand::{Address, Operands};
use crate::lower::code::{Code, Reg, Value, emit};
use crate::lower::offset::plus;
use crate::ptx::Type;
use std::fmt::Display;

impl Form {
    /// Returns operation and type in the spelling of ATOM, ATOMG and RED, such as `ADD.F32.FTZ.RN`.
    fn wide_name(&self, number: u16) -> String {
        if self.lanes > 1 {
            return self.vector_name();
        }
        let ty = match (self.op, self.ty) {
            (AtomicOp::Cas, Type::B64) => ".64",
            (_, Type::U64 | Type::B64) if number < 70 => ".U64",
            (_, Type::F32) if self.noftz => ".F32.RN",
            (_, Type::F32) => ".F32.FTZ.RN",
            (_, Type::F64) => ".F64.RN",
            (_, Type::F16x2) => ".F16x2.RN",
            (_, Type::Bf16x2) => ".BF16x2.RN",
            (_, Type::S32) => ".S32",
            (_, Type::S64) => ".S64",
            (_, Type::U64 | Type::B64) => ".64",
            (_, Type::B128) => ".128",
            _ => "",
        };
        format!("{}{ty}", self.op.mnemonic())
    }
}

/// Operands of the fallback code for a generic atomic that did not execute.
struct Rest<'a> {
    form: &'a Form,
    operands: &'a Operands,
    b: Reg,
    base: Reg,
    offset: i64,
    result: Reg,
    join: &'a str,
    used: bool,
}

impl Code<'_> {
    /// Formats a 64-bit address in brackets. From sm_80 on, `.64` follows the register, except for CAS and
    /// for `.shared::cluster`.
    pub(super) fn bracket(&self, base: impl Display, offset: i64, form: &Form) -> String {
        let wide = self.number >= 80 && form.op != AtomicOp::Cas && form.space != AtomicSpace::Cluster;
        format!("[{base}{}{}]", if wide { ".64" } else { "" }, plus(offset))
    }

    pub(super) fn load_wide(&mut self, mnemonic: &str, to: Reg, address: &str, words: u8) {
        let size = if words == 2 { ".64" } else { "" };
        let system = if self.number < 80 { ".SYS" } else { "" };
        emit!(self, "{mnemonic}.E{size}{system} {to}, {address}");
    }

    fn store_wide(&mut self, address: &str, value: Reg, words: u8) {
        let size = if words == 2 { ".64" } else { "" };
        let system = if self.number < 80 { ".SYS" } else { "" };
        emit!(self, "ST.E{size}{system} {address}, {value}");
    }

    pub(super) fn cluster_address(&mut self, address: &Address) -> Reg {
        let pair = self.scratch(2);
        let low = self.shared_register(address);
        emit!(self, "S2R {}, SR_SWINHI", pair.high());
        emit!(self, "MOV {pair}, {low}");
        pair
    }

    fn operands_in_registers(&mut self, form: &Form, operands: &Operands) -> (Reg, Reg) {
        let words = form.words();
        let b = self.in_registers(operands.b, words);
        let c = if form.op == AtomicOp::Cas { self.in_registers(operands.c, words) } else { b };
        (b, c)
    }

    pub(super) fn global(&mut self, form: &Form, operands: &Operands, used: bool) {
        let (b, c) = self.operands_in_registers(form, operands);
        let (base, offset) = self.wide_address(&operands.address);
        let (name, strength) = (form.wide_name(self.number), self.strength(form));
        let address = self.bracket(base, offset, form);
        self.before(form, "");
        let result = self.result(operands, used, form.words());
        let returns = matches!(form.op, AtomicOp::Exch | AtomicOp::Cas) || form.sem.acquires();
        match (self.number, form.op) {
            (_, AtomicOp::Cas) if self.number >= 70 => {
                emit!(self, "ATOMG.E.{name}{strength} PT, {result}, {address}, {b}, {c}");
            }
            (..70, AtomicOp::Cas) => emit!(self, "ATOM.E.{name} {result}, {address}, {b}, {c}"),
            (..70, _) if used || returns => emit!(self, "ATOM.E.{name} {result}, {address}, {b}"),
            (..70, _) => emit!(self, "RED.E.{name} {address}, {b}"),
            _ if used || returns => {
                emit!(self, "ATOMG.E.{name}{strength} PT, {result}, {address}, {b}");
            }
            (..90, _) => emit!(self, "RED.E.{name}{strength} {address}, {b}"),
            _ => emit!(self, "REDG.E.{name}{strength} {address}, {b}"),
        }
        self.after(form, "");
    }

    pub(super) fn generic(&mut self, form: &Form, operands: &Operands, used: bool, manner: Manner) {
        let words = form.words();
        let (b, c) = self.operands_in_registers(form, operands);
        let (base, offset) = match form.space {
            AtomicSpace::Cluster => (self.cluster_address(&operands.address), 0),
            _ => self.wide_address(&operands.address),
        };
        let everywhere = manner == Manner::Native && words != 2 || form.lanes > 1;
        let (name, strength) = (form.wide_name(self.number), self.strength(form));
        let address = self.bracket(base, offset, form);
        let c = if form.op == AtomicOp::Cas { format!(", {c}") } else { String::new() };
        if everywhere {
            let result = self.result(operands, used, words);
            self.before(form, "");
            emit!(self, "ATOM.E.{name}{strength} PT, {result}, {address}, {b}{c}");
            self.after(form, "");
            return;
        }
        let (result, done) = (self.scratch(words), self.predicate());
        let written = if used { result } else { Reg::RZ };
        // Compilers emit BSSY before or after the atomic, depending on the state space, the architecture and
        // the memory order.
        let noted_first = match form.space {
            AtomicSpace::Cluster => false,
            _ if self.number >= 90 => true,
            _ => self.number >= 80 && !form.sem.releases(),
        };
        let end = self.frame.label();
        let join = self.frame.label();
        let mut reconvergence = None;
        let mut barrier = None;
        if noted_first && !self.leave_early {
            reconvergence = Some(self.open_reconvergence(&end));
        } else if !self.leave_early && self.number < 80 && !form.sem.releases() {
            barrier = Some(self.clear_barrier());
        }
        self.before(form, "");
        emit!(self, "ATOM.E.{name}{strength} {done}, {written}, {address}, {b}{c}");
        if self.number >= 90 {
            self.after(form, "");
        }
        if !noted_first && !self.leave_early {
            reconvergence = Some(match barrier {
                Some(barrier) => self.note(barrier, &end),
                None => self.open_reconvergence(&end),
            });
        }
        self.leave_if(&done, &join);
        self.packed_on_mma = used;
        let rest = Rest { form, operands, b, base, offset, result, join: &join, used };
        if manner == Manner::Spin {
            self.elsewhere(&rest);
        }
        self.alone(&rest);
        if let Some(reconvergence) = &reconvergence {
            self.label(&join);
            self.reconverge(reconvergence);
        }
        if used && let Some(to) = operands.destination {
            self.copy(to, result, words);
        }
        if self.number < 90 {
            self.after(form, "");
        }
    }

    pub(super) fn leave_if(&mut self, p: &str, join: &str) {
        emit!(self, "@{p} {}", self.way_out(join));
    }

    fn leave(&mut self, join: &str) {
        self.lines.push(self.way_out(join));
    }

    fn way_out(&self, join: &str) -> String {
        if self.leave_early { "EXIT".into() } else { format!("BRA `({join})") }
    }

    /// Emits the fallback for shared memory of the own CTA. Adds a fallback for shared memory of other CTAs,
    /// if the type is f32 or f64.
    fn elsewhere(&mut self, rest: &Rest<'_>) {
        let Rest { form, operands, base, offset, used, .. } = *rest;
        self.window(rest, 'S', |code| {
            let own = code.scratch(1);
            if code.number < 90 {
                emit!(code, "LOP3.LUT {own}, {base}, 0xffffff, RZ, 0xc0, !PT");
            } else {
                emit!(code, "MOV {own}, {base}");
            }
            let address = format!("{own}{}", plus(offset));
            let carry = if used && code.number < 90 { Carry::Add } else { Carry::Multiply };
            let old = code.scratch(form.words());
            code.spin_body(form, operands.b, old, [&address, &address], carry);
            old
        });
        if self.number >= 90 && matches!(form.ty, Type::F32 | Type::F64) {
            self.window(rest, 'D', |code| code.spin_in_cluster(rest));
        }
    }

    /// Emits a test if the address is in a window of the generic address space. `body` emits the code for
    /// this case, and returns the registers of the old value.
    fn window(&mut self, rest: &Rest<'_>, window: char, body: impl FnOnce(&mut Self) -> Reg) {
        let (asked, not_there) = (self.predicate(), self.frame.label());
        emit!(self, "QSPC.E.{window} {asked}, RZ, [{}{}]", rest.base, plus(rest.offset));
        emit!(self, "@!{asked} BRA `({not_there})");
        let reconvergence = (!self.leave_early).then(|| self.open_reconvergence_here());
        let old = body(self);
        if let Some(reconvergence) = reconvergence {
            self.reconverge(&reconvergence);
        }
        if rest.used {
            self.copy(rest.result, old, rest.form.words());
        }
        self.leave(rest.join);
        self.label(&not_there);
    }

    /// Emits a loop around a generic CAST.SPIN, for shared memory of another CTA. Returns the registers that
    /// hold the old value.
    fn spin_in_cluster(&mut self, rest: &Rest<'_>) -> Reg {
        let form = rest.form;
        let words = form.words();
        let size = if words == 2 { ".64" } else { "" };
        let operand = self.operand(form, rest.operands.b);
        let (old, new, flag, done) =
            (self.scratch(words), self.scratch(words), self.scratch(words), self.predicate());
        let start = self.frame.label();
        self.label(&start);
        let address = format!("[{}{}]", rest.base, plus(rest.offset));
        self.load_wide("LD", old, &address, words);
        let new = self.compute(form, old, operand, new, Carry::Multiply);
        emit!(self, "ATOM.E.CAST.SPIN{size}.STRONG.SM PT, {flag}, {address}, {old}, {new}");
        if self.wide() && words == 2 {
            emit!(self, "ISETP.EQ.U64.AND {done}, PT, {flag}, 0x1, PT");
        } else {
            self.succeeded(&done, flag, words);
        }
        emit!(self, "@!{done} BRA `({start})");
        old
    }

    /// Emits the fallback for private memory: load, compute, store. No other thread can access this memory.
    fn alone(&mut self, rest: &Rest<'_>) {
        let Rest { form, operands, b, result, .. } = *rest;
        let words = form.words();
        let address = self.bracket(rest.base, rest.offset, form);
        if form.op == AtomicOp::Exch {
            if rest.used {
                self.load_wide("LD", result, &address, if self.wanted { words } else { 1 });
            }
            self.store_wide(&address, b, words);
            return;
        }
        self.load_wide("LD", result, &address, words);
        let mut new = self.scratch(words);
        match (form.op, form.ty) {
            (AtomicOp::Min | AtomicOp::Max, _) => self.extremum(form, result, b, new),
            (AtomicOp::Cas, _) => {
                let c = self.in_registers(operands.c, words);
                self.exchange_if_equal(result, b, c, new);
            }
            // For packed halves, compilers emit an integer addition here [TOOLS].
            (_, Type::F16x2 | Type::Bf16x2) => self.sum("", new, b, &result.to_string()),
            _ => {
                let operand = match operands.b {
                    Value::Constant(_) => self.operand(form, operands.b),
                    Value::Register(_) => Operand::Value(Value::Register(b)),
                };
                new = self.compute(form, result, operand, new, Carry::Multiply);
            }
        }
        self.store_wide(&address, new, words);
    }

    fn extremum(&mut self, form: &Form, old: Reg, b: Reg, new: Reg) {
        let least = form.op == AtomicOp::Min;
        if self.wide() {
            let (kind, which) = (if form.signed() { "S64" } else { "U64" }, if least { "PT" } else { "!PT" });
            emit!(self, "IMNMX.{kind} PT, PT, {new}, {old}, {b}, {which}, !PT");
            return;
        }
        let p = self.predicate();
        let compare = if least { "LT" } else { "GT" };
        let kind = if form.signed() { "" } else { ".U32" };
        emit!(self, "ISETP.{compare}.U32.AND {p}, PT, {old}, {b}, PT");
        emit!(self, "ISETP.{compare}{kind}.AND.EX {p}, PT, {}, {}, PT, {p}", old.high(), b.high());
        emit!(self, "SEL {new}, {old}, {b}, {p}");
        emit!(self, "SEL {}, {}, {}, {p}", new.high(), old.high(), b.high());
    }

    fn exchange_if_equal(&mut self, old: Reg, b: Reg, c: Reg, new: Reg) {
        let p = self.predicate();
        if self.wide() {
            emit!(self, "ISETP.EQ.U64.AND {p}, PT, {old}, {b}, PT");
            emit!(self, "SEL.64 {new}, {c}, {old}, {p}");
            return;
        }
        emit!(self, "ISETP.EQ.U32.AND {p}, PT, {old}, {b}, PT");
        emit!(self, "ISETP.EQ.U32.AND.EX {p}, PT, {}, {}, PT, {p}", old.high(), b.high());
        emit!(self, "SEL {new}, {c}, {old}, {p}");
        emit!(self, "SEL {}, {}, {}, {p}", new.high(), c.high(), old.high());
    }
}
