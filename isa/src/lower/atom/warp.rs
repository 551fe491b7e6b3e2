//! One address for all lanes, which is so where a variable is named: the warp combines its operands first
//! and then asks once [TOOLS].

use super::code::{Code, Reg, emit};
use super::form::{AtomicOp, Form};
use super::operand::{AddressBase, Operands, Value};
use crate::ptx::Type;

impl Code<'_> {
    /// Writes the combined form if compilers do so here.
    pub(super) fn combined(&mut self, form: &Form, operands: &Operands, used: bool) -> bool {
        let variable = matches!(operands.address.base, AddressBase::Shared(_));
        let word = matches!(form.ty, Type::U32 | Type::S32 | Type::B32);
        let combines = match form.op {
            AtomicOp::Add => true,
            AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => !used,
            AtomicOp::Inc | AtomicOp::Dec | AtomicOp::Exch | AtomicOp::Cas => false,
        };
        if !variable || !word || !combines {
            return false;
        }
        let added = match operands.b {
            Value::Constant(bits) if form.op == AtomicOp::Add && self.number >= 75 => Some(bits as u32),
            _ => None,
        };
        match added {
            // POPC.INC counts the lanes itself.
            Some(1) if !used && self.number >= 80 && form.ty == Type::U32 => return false,
            Some(each) => self.multiply(form, operands, each, used),
            None if used => self.scan(form, operands),
            None => self.reduce(form, operands),
        }
        true
    }

    /// A guarded ATOMS. From sm_90 on the fences are as guarded as it is.
    fn guarded(&mut self, guard: &str, form: &Form, to: Reg, address: &str, b: Reg) {
        if self.number >= 90 {
            self.before(form, guard);
        }
        self.atoms(guard, form, to, address, b, Reg::ZERO);
        self.after_shared(form, guard);
    }

    /// Fences before sm_90 stand in front of it all.
    fn early_fence(&mut self, form: &Form) {
        if self.number < 90 {
            self.before(form, "");
        }
    }

    /// `to = a + b`, as compilers sum over lanes.
    fn add(&mut self, guard: &str, form: &Form, to: Reg, a: Reg, b: Reg) {
        let unsigned = if form.ty == Type::U32 { ".U32" } else { "" };
        if self.number < 70 || self.wide() {
            self.sum(guard, to, a, &b.to_string());
        } else {
            emit!(self, "{guard}IMAD.IADD{unsigned} {to}, {a}, 0x1, {b}");
        }
    }

    /// Sums up to each lane; the last lane asks with the sum of all. Only a full warp does so.
    fn scan(&mut self, form: &Form, operands: &Operands) {
        let b = self.in_registers(operands.b, 1);
        let address = self.shared_address(&operands.address).to_string();
        self.early_fence(form);
        let (lane, here, sum, other, base) =
            (self.scratch(1), self.scratch(1), self.scratch(1), self.scratch(1), self.scratch(1));
        let (full, last, end) = (self.predicate(), self.predicate(), self.frame.label());
        let to = self.result(operands, true, 1);
        emit!(self, "S2R {lane}, SR_LANEID");
        emit!(self, "VOTE.ANY {here}, PT, PT");
        emit!(self, "ISETP.EQ.U32.AND {full}, PT, {here}, -0x1, PT");
        // The operand may be where the result goes.
        emit!(self, "MOV {sum}, {b}");
        self.guarded(&format!("@!{full} "), form, to, &address, b);
        emit!(self, "@!{full} BRA `({end})");
        for (step, distance) in ["0x1", "0x2", "0x4", "0x8", "0x10"].into_iter().enumerate() {
            emit!(self, "SHFL.UP {full}, {other}, {sum}, {distance}, RZ");
            if step == 1 && self.number < 90 {
                emit!(self, "ISETP.EQ.U32.AND {last}, PT, {lane}, 0x1f, PT");
            }
            self.add(&format!("@{full} "), form, sum, sum, other);
            if step == 1 && self.number >= 90 {
                emit!(self, "ISETP.EQ.U32.AND {last}, PT, {lane}, 0x1f, PT");
            }
        }
        self.guarded(&format!("@{last} "), form, base, &address, sum);
        emit!(self, "SHFL.UP {full}, {other}, {sum}, 0x1, RZ");
        emit!(self, "SHFL.IDX PT, {to}, {base}, 0x1f, 0x1f");
        self.sum(&format!("@{full} "), to, to, &other.to_string());
        self.label(&end);
    }

    /// Combines all lanes; one asks.
    fn reduce(&mut self, form: &Form, operands: &Operands) {
        let b = self.in_registers(operands.b, 1);
        if self.number < 80 {
            self.butterfly(form, operands, b);
            return;
        }
        let (lane, mask, combined) = (self.scratch(1), self.frame.uniform(1), self.frame.uniform(1));
        let (chosen, value) = (self.predicate(), self.scratch(1));
        self.early_fence(form);
        emit!(self, "S2R {lane}, SR_LANEID");
        emit!(self, "VOTEU.ANY UR{mask}, UPT, PT");
        emit!(self, "UFLO.U32 UR{mask}, UR{mask}");
        emit!(self, "ISETP.EQ.U32.AND {chosen}, PT, {lane}, UR{mask}, PT");
        let address = self.shared_address(&operands.address).to_string();
        let sign = if form.signed() { ".S32" } else { "" };
        let op = match form.op {
            AtomicOp::Add => ".SUM",
            AtomicOp::Min => ".MIN",
            AtomicOp::Max => ".MAX",
            AtomicOp::Or => ".OR",
            AtomicOp::Xor => ".XOR",
            _ => "",
        };
        // CREDUX came with sm_100, and the 64-bit architectures went back.
        let extremum = matches!(form.op, AtomicOp::Min | AtomicOp::Max);
        let redux = if extremum && self.number >= 100 && !self.wide() { "CREDUX" } else { "REDUX" };
        emit!(self, "{redux}{op}{sign} UR{combined}, {b}");
        emit!(self, "MOV {value}, UR{combined}");
        self.guarded(&format!("@{chosen} "), form, Reg::ZERO, &address, value);
    }

    /// The same before REDUX: halves of the warp exchange what they have. Only a full warp does so.
    fn butterfly(&mut self, form: &Form, operands: &Operands, b: Reg) {
        let address = self.shared_address(&operands.address).to_string();
        self.early_fence(form);
        let (lane, here, value, other) = (self.scratch(1), self.scratch(1), self.scratch(1), self.scratch(1));
        let (full, first, end) = (self.predicate(), self.predicate(), self.frame.label());
        let leave_early = self.leave_early;
        emit!(self, "S2R {lane}, SR_LANEID");
        emit!(self, "VOTE.ANY {here}, PT, PT");
        emit!(self, "ISETP.EQ.U32.AND {full}, PT, {here}, -0x1, PT");
        self.guarded(&format!("@!{full} "), form, Reg::ZERO, &address, b);
        match leave_early {
            true => emit!(self, "@!{full} EXIT"),
            false => emit!(self, "@!{full} BRA `({end})"),
        }
        let mut from = b;
        for (step, distance) in ["0x1", "0x2", "0x4", "0x8", "0x10"].into_iter().enumerate() {
            emit!(self, "SHFL.BFLY PT, {other}, {from}, {distance}, 0x1f");
            // Before sm_70 the first sum comes before the question who is first.
            if step == 1 && self.number < 70 {
                emit!(self, "ISETP.EQ.U32.AND {first}, PT, {lane}, RZ, PT");
            }
            self.combine(form, value, from, other, step);
            if step == 0 && self.number >= 70 {
                emit!(self, "ISETP.EQ.U32.AND {first}, PT, {lane}, RZ, PT");
            }
            from = value;
        }
        self.guarded(&format!("@{first} "), form, Reg::ZERO, &address, value);
        if !leave_early {
            self.label(&end);
        }
    }

    /// Two lanes' values as one.
    fn combine(&mut self, form: &Form, to: Reg, a: Reg, b: Reg, step: usize) {
        let kind = if form.signed() { "" } else { ".U32" };
        let (table, logic) = match form.op {
            AtomicOp::And => ("0xc0", "AND"),
            AtomicOp::Or => ("0xfc", "OR"),
            _ => ("0x3c", "XOR"),
        };
        match form.op {
            AtomicOp::Add if self.number >= 70 && step.is_multiple_of(2) => {
                emit!(self, "IMAD.IADD {to}, {a}, 0x1, {b}");
            }
            AtomicOp::Add => self.sum("", to, a, &b.to_string()),
            AtomicOp::Min | AtomicOp::Max => {
                let which = if form.op == AtomicOp::Min { "PT" } else { "!PT" };
                let compare = if form.op == AtomicOp::Min { "LT" } else { "GT" };
                if (70..75).contains(&self.number) {
                    let p = self.predicate();
                    emit!(self, "ISETP.{compare}{kind}.AND {p}, PT, {a}, {b}, PT");
                    emit!(self, "SEL {to}, {a}, {b}, {p}");
                } else {
                    emit!(self, "IMNMX{kind} {to}, {a}, {b}, {which}");
                }
            }
            _ if self.number < 70 => emit!(self, "LOP.{logic} {to}, {a}, {b}"),
            _ => emit!(self, "LOP3.LUT {to}, {a}, {b}, RZ, {table}, !PT"),
        }
    }

    /// All lanes add the same: the highest asks with it times their number.
    fn multiply(&mut self, form: &Form, operands: &Operands, each: u32, used: bool) {
        let (lane, highest, count) = (self.scratch(1), self.scratch(1), self.scratch(1));
        let (mask, chosen) = (self.frame.uniform(1), self.predicate());
        self.early_fence(form);
        emit!(self, "S2R {lane}, SR_LANEID");
        emit!(self, "VOTEU.ANY UR{mask}, UPT, PT");
        if used {
            emit!(self, "FLO.U32 {highest}, UR{mask}");
        } else {
            let top = self.frame.uniform(1);
            emit!(self, "UFLO.U32 UR{top}, UR{mask}");
            emit!(self, "MOV {highest}, UR{top}");
        }
        if each != 0 {
            emit!(self, "POPC {count}, UR{mask}");
        }
        emit!(self, "ISETP.EQ.U32.AND {chosen}, PT, {highest}, {lane}, PT");
        let address = self.shared_address(&operands.address).to_string();
        let total = self.scratch(1);
        let b = match each {
            0 => Reg::ZERO,
            1 => count,
            each => {
                emit!(self, "IMAD {total}, {count}, {}, RZ", super::code::signed(each));
                total
            }
        };
        let guard = format!("@{chosen} ");
        if !used {
            self.guarded(&guard, form, Reg::ZERO, &address, b);
            return;
        }
        let (base, before) = (self.scratch(1), self.scratch(1));
        let to = self.result(operands, true, 1);
        self.guarded(&guard, form, base, &address, b);
        emit!(self, "S2R {before}, SR_LTMASK");
        emit!(self, "LOP3.LUT {before}, {before}, UR{mask}, RZ, 0xc0, !PT");
        emit!(self, "POPC {before}, {before}");
        emit!(self, "SHFL.IDX PT, {to}, {base}, {highest}, 0x1f");
        match each {
            0 => {}
            1 => self.sum("", to, to, &before.to_string()),
            each => emit!(self, "IMAD {to}, {before}, {}, {to}", super::code::signed(each)),
        }
    }
}
