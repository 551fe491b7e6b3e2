//! Lowering of atomics whose address is a named shared variable, so all lanes have the same address. The warp
//! first combines the operands of its lanes and then sends one request [TOOLS].

use super::compute::{Carry, Operand};
use super::form::{AtomicOp, Form};
use super::operand::{AddressBase, Operands};
use crate::lower::code::{Code, Reg, Value, emit, signed};
use crate::ptx::Type;

#[derive(Clone, Copy)]
enum Count {
    Thread(Reg),
    Warp(u8),
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Count::Thread(register) => register.fmt(f),
            Count::Warp(number) => write!(f, "UR{number}"),
        }
    }
}

impl Code<'_> {
    /// Emits code that combines the operands of the lanes, if compilers do so for this instruction. Returns
    /// true if code was emitted.
    pub(super) fn combined(&mut self, form: &Form, operands: &Operands, used: bool) -> bool {
        let variable = matches!(operands.address.base, AddressBase::Shared(_));
        let word = matches!(form.ty, Type::U32 | Type::S32 | Type::B32);
        let combines = match form.op {
            AtomicOp::Add => true,
            AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => !used,
            AtomicOp::Inc | AtomicOp::Dec | AtomicOp::Exch | AtomicOp::Cas => false,
        };
        let wide = form.op == AtomicOp::Add && form.ty == Type::U64 && self.number >= 70;
        if let (true, true, Value::Constant(each)) = (variable, wide, operands.b) {
            self.multiply_wide(form, operands, each, used);
            return true;
        }
        if !variable || !word || !combines {
            return false;
        }
        let constant = match operands.b {
            Value::Constant(bits) => Some(bits as u32),
            Value::Register(_) => None,
        };
        match (constant, form.op) {
            // ATOMS.POPC.INC counts the lanes itself, so no other code is needed.
            (Some(1), AtomicOp::Add) if !used && self.number >= 80 && form.ty == Type::U32 => return false,
            (Some(each), AtomicOp::Add) => self.multiply(form, operands, each, used),
            _ if used => self.scan(form, operands),
            _ if self.number >= 80 => self.reduce(form, operands, constant),
            (Some(each), _) => self.same(form, operands, each),
            (None, _) => self.butterfly(form, operands),
        }
        true
    }

    /// Emits an ATOMS with a guard. From sm_90 on, its fences have the same guard.
    fn guarded(&mut self, guard: &str, form: &Form, to: Reg, address: &str, b: Reg) {
        if self.number >= 90 {
            self.before(form, guard);
        }
        self.atoms(guard, form, to, address, b, Reg::RZ);
        self.after_shared(form, guard);
    }

    /// Before sm_90, emits the release fence, which precedes the whole sequence.
    fn early_fence(&mut self, form: &Form) {
        if self.number < 90 {
            self.before(form, "");
        }
    }

    /// Emits `to = a + b` with the instruction that compilers use for sums over lanes.
    fn add(&mut self, guard: &str, form: &Form, to: Reg, a: Reg, b: Reg) {
        let unsigned = if form.ty == Type::U32 { ".U32" } else { "" };
        if self.number < 70 || self.wide() {
            self.sum(guard, to, a, &b.to_string());
        } else {
            emit!(self, "{guard}IMAD.IADD{unsigned} {to}, {a}, 0x1, {b}");
        }
    }

    /// Emits prefix sums over the lanes of a full warp. The last lane sends one request with the total, and
    /// each lane computes its old value. If the warp is not full, each lane sends its own request.
    fn scan(&mut self, form: &Form, operands: &Operands) {
        let b = self.in_registers(operands.b, 1);
        let address = self.shared_address(&operands.address).in_words(self.number).to_string();
        self.early_fence(form);
        let (lane, here, sum, other, base) =
            (self.scratch(1), self.scratch(1), self.scratch(1), self.scratch(1), self.scratch(1));
        let (full, last, end) = (self.predicate(), self.predicate(), self.frame.label());
        let to = self.result(operands, true, 1);
        emit!(self, "S2R {lane}, SR_LANEID");
        emit!(self, "VOTE.ANY {here}, PT, PT");
        emit!(self, "ISETP.EQ.U32.AND {full}, PT, {here}, -0x1, PT");
        // The result may be in the register of the operand, so the operand is copied.
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

    fn reduce(&mut self, form: &Form, operands: &Operands, constant: Option<u32>) {
        let b = self.in_registers(operands.b, 1);
        let (lane, mask, combined) = (self.scratch(1), self.frame.uniform(1), self.frame.uniform(1));
        let (chosen, value) = (self.predicate(), self.scratch(1));
        self.early_fence(form);
        emit!(self, "S2R {lane}, SR_LANEID");
        let sign = if form.signed() { ".S32" } else { "" };
        let op = match form.op {
            AtomicOp::Add => ".SUM",
            AtomicOp::Min => ".MIN",
            AtomicOp::Max => ".MAX",
            AtomicOp::Or => ".OR",
            AtomicOp::Xor => ".XOR",
            _ => "",
        };
        // CREDUX exists from sm_100 on. From sm_120 on, compilers use REDUX for min and max again.
        let extremum = matches!(form.op, AtomicOp::Min | AtomicOp::Max);
        let credux = extremum && (100..120).contains(&self.number);
        let redux = format!("{}{op}{sign} UR{combined}, {b}", if credux { "CREDUX" } else { "REDUX" });
        let vote = format!("VOTEU.ANY UR{mask}, UPT, PT");
        let highest = format!("UFLO.U32 UR{mask}, UR{mask}");
        // For a constant operand, compilers emit REDUX earlier in the sequence [TOOLS].
        self.lines.extend(match constant {
            Some(0) if !credux => [redux, vote, highest],
            Some(0) => [vote, redux, highest],
            Some(_) if self.number >= 90 && !credux => [vote, redux, highest],
            _ => [vote, highest, redux],
        });
        emit!(self, "ISETP.EQ.U32.AND {chosen}, PT, {lane}, UR{mask}, PT");
        let address = self.shared_address(&operands.address).in_words(self.number).to_string();
        emit!(self, "MOV {value}, UR{combined}");
        self.guarded(&format!("@{chosen} "), form, Reg::RZ, &address, value);
    }

    /// Emits code for an operand that is the same constant in all lanes, before sm_80, which introduced
    /// REDUX. In a full warp, the first lane sends one request. Otherwise each lane sends its own request.
    fn same(&mut self, form: &Form, operands: &Operands, each: u32) {
        let address = self.shared_address(&operands.address).in_words(self.number).to_string();
        let b = self.in_registers(operands.b, 1);
        self.early_fence(form);
        let (lane, value, first) = (self.scratch(1), self.scratch(1), self.predicate());
        let end = self.full_warp(form, &address, b);
        emit!(self, "S2R {lane}, SR_LANEID");
        emit!(self, "ISETP.EQ.U32.AND {first}, PT, {lane}, RZ, PT");
        // XOR of two equal operands is zero. The other operations combine the operand with itself.
        let combined = if form.op == AtomicOp::Xor { Reg::RZ.to_string() } else { signed(each) };
        emit!(self, "MOV {value}, {combined}");
        if each != 0 || form.op == AtomicOp::Xor {
            self.combine(form, value, value, &combined, 0);
        }
        self.guarded(&format!("@{first} "), form, Reg::RZ, &address, value);
        if let Some(end) = end {
            self.label(&end);
        }
    }

    /// Emits code in which each lane sends its own request if the warp is not full. These lanes then branch
    /// to the returned label, or exit if there is none.
    fn full_warp(&mut self, form: &Form, address: &str, b: Reg) -> Option<String> {
        let (here, full) = (self.scratch(1), self.predicate());
        emit!(self, "VOTE.ANY {here}, PT, PT");
        emit!(self, "ISETP.EQ.U32.AND {full}, PT, {here}, -0x1, PT");
        self.guarded(&format!("@!{full} "), form, Reg::RZ, address, b);
        let end = (!self.leave_early).then(|| self.frame.label());
        match &end {
            None => emit!(self, "@!{full} EXIT"),
            Some(end) => emit!(self, "@!{full} BRA `({end})"),
        }
        end
    }

    /// Emits a butterfly exchange that combines the operands of a full warp, before sm_80, which introduced
    /// REDUX. If the warp is not full, each lane sends its own request.
    fn butterfly(&mut self, form: &Form, operands: &Operands) {
        let address = self.shared_address(&operands.address).in_words(self.number).to_string();
        let b = self.in_registers(operands.b, 1);
        self.early_fence(form);
        let (lane, value, other, first) =
            (self.scratch(1), self.scratch(1), self.scratch(1), self.predicate());
        emit!(self, "S2R {lane}, SR_LANEID");
        let end = self.full_warp(form, &address, b);
        let mut from = b;
        for (step, distance) in ["0x1", "0x2", "0x4", "0x8", "0x10"].into_iter().enumerate() {
            emit!(self, "SHFL.BFLY PT, {other}, {from}, {distance}, 0x1f");
            // Compilers emit the test for the first lane after the second shuffle before sm_70, and after the
            // first combination from sm_70 on.
            if step == 1 && self.number < 70 {
                emit!(self, "ISETP.EQ.U32.AND {first}, PT, {lane}, RZ, PT");
            }
            self.combine(form, value, from, &other.to_string(), step);
            if step == 0 && self.number >= 70 {
                emit!(self, "ISETP.EQ.U32.AND {first}, PT, {lane}, RZ, PT");
            }
            from = value;
        }
        self.guarded(&format!("@{first} "), form, Reg::RZ, &address, value);
        if let Some(end) = end {
            self.label(&end);
        }
    }

    fn combine(&mut self, form: &Form, to: Reg, a: Reg, b: &str, step: usize) {
        let kind = if form.signed() { "" } else { ".U32" };
        match form.op {
            AtomicOp::Add if self.number >= 70 && step.is_multiple_of(2) => {
                emit!(self, "IMAD.IADD {to}, {a}, 0x1, {b}");
            }
            AtomicOp::Add => self.sum("", to, a, b),
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
            _ if self.number < 70 => emit!(self, "LOP.{} {to}, {a}, {b}", form.op.mnemonic()),
            _ => emit!(self, "LOP3.LUT {to}, {a}, {b}, RZ, {}, !PT", form.op.table()),
        }
    }

    /// Emits code for a constant addend: the highest active lane adds the constant times the number of lanes.
    fn multiply(&mut self, form: &Form, operands: &Operands, each: u32, used: bool) {
        let (lane, count, total) = (self.scratch(1), self.scratch(1), self.scratch(1));
        let chosen = self.predicate();
        self.early_fence(form);
        emit!(self, "S2R {lane}, SR_LANEID");
        let [mask, highest, counted] = self.highest_lane(each, count, used);
        emit!(self, "ISETP.EQ.U32.AND {chosen}, PT, {highest}, {lane}, PT");
        let address = self.shared_address(&operands.address).in_words(self.number).to_string();
        let b = match each {
            0 => Reg::RZ,
            1 => count,
            u32::MAX => {
                self.sum("", total, Reg::RZ, &format!("-{counted}"));
                total
            }
            each => {
                self.times("", total, count, each, Reg::RZ);
                total
            }
        };
        let guard = format!("@{chosen} ");
        if !used {
            self.guarded(&guard, form, Reg::RZ, &address, b);
            return;
        }
        let (base, before) = (self.scratch(1), self.scratch(1));
        let to = self.result(operands, true, 1);
        // The position of the code that counts the lower lanes, before or after the request, depends on
        // latencies [TOOLS].
        let counted_first = self.number >= 90 || self.number == 50 && each == 1;
        let counted_last = self.number < 70 && each > 0xffff && !each.is_power_of_two() && each != u32::MAX;
        if each != 0 && counted_first {
            self.lanes_below(before, &mask);
        }
        self.guarded(&guard, form, base, &address, b);
        if each != 0 && !counted_first && !counted_last {
            self.lanes_below(before, &mask);
        }
        emit!(self, "SHFL.IDX PT, {to}, {base}, {highest}, 0x1f");
        if counted_last {
            self.lanes_below(before, &mask);
        }
        match each {
            0 => {}
            1 => self.sum("", to, to, &before.to_string()),
            u32::MAX => self.sum("", to, to, &format!("-{before}")),
            each => self.times("", to, before, each, to),
        }
    }

    /// Emits code for a constant 64-bit addend: the highest active lane adds the constant times the number of
    /// lanes, in a compare-and-store loop.
    fn multiply_wide(&mut self, form: &Form, operands: &Operands, each: u64, used: bool) {
        let (lane, highest, chosen) = (self.scratch(1), self.scratch(1), self.predicate());
        self.early_fence(form);
        emit!(self, "S2R {lane}, SR_LANEID");
        let mask = match self.number {
            ..75 => self.scratch(1).to_string(),
            _ => format!("UR{}", self.frame.uniform(1)),
        };
        let vote = if self.number < 75 { "VOTE.ANY" } else { "VOTEU.ANY" };
        let all = if self.number < 75 { "PT" } else { "UPT" };
        emit!(self, "{vote} {mask}, {all}, PT");
        // All lanes except the highest exit, or wait at the reconvergence point.
        let early = self.leave_early;
        let reconverges_first = !early && matches!(self.number, ..75 | 80..90 | 107);
        let mut reconvergence = reconverges_first.then(|| self.open_reconvergence_here());
        let join = self.frame.label();
        let highest = if early && self.number >= 75 {
            let highest = format!("UR{}", self.frame.uniform(1));
            emit!(self, "UFLO.U32 {highest}, {mask}");
            highest
        } else {
            emit!(self, "FLO.U32 {highest}, {mask}");
            highest.to_string()
        };
        if !early && !reconverges_first {
            reconvergence = Some(self.open_reconvergence_here());
        }
        let counted = early.then(|| self.lanes_of(&mask, each, used));
        emit!(self, "ISETP.EQ.U32.AND {chosen}, PT, {highest}, {lane}, PT");
        self.leave_if(&format!("!{chosen}"), &join);
        let count = counted.unwrap_or_else(|| self.lanes_of(&mask, each, used));
        let inner = (!early).then(|| self.open_reconvergence_here());
        let product = self.product(count, each);
        let load = self.shared_address(&operands.address);
        let cast = self.own_register(load);
        let carry = match (self.number, used) {
            (..90, true) | (100.., false) => Carry::Add,
            _ => Carry::Multiply,
        };
        let old = self.scratch(2);
        self.spin_loop(form, operands.b, product, old, [&load.to_string(), &cast.to_string()], carry);
        if let Some(inner) = inner {
            self.reconverge(&inner);
        }
        if let Some(reconvergence) = reconvergence {
            self.label(&join);
            self.reconverge(&reconvergence);
        }
        if !used {
            return;
        }
        let to = self.result(operands, true, 2);
        let before = self.scratch(1);
        for word in 0..2 {
            emit!(self, "SHFL.IDX PT, {}, {}, {highest}, 0x1f", to.plus(word), old.plus(word));
        }
        if each != 0 {
            self.lanes_below(before, &mask);
            let (low, high) = (each as u32, (each >> 32) as u32);
            emit!(self, "IMAD.WIDE.U32 {to}, {before}, {}, {to}", signed(low));
            if high != 0 {
                let to = to.high();
                emit!(self, "IMAD {to}, {before}, {}, {to}", signed(high));
            }
        }
    }

    /// Emits code that counts the lanes of a mask, and returns the register of the count. Emits nothing for
    /// an addend of zero, which needs no count.
    fn lanes_of(&mut self, mask: &str, each: u64, used: bool) -> Count {
        let uniform = self.wide() || (each == 1 << 32 && !used && self.number >= 75);
        let (prefix, count) = match uniform {
            true => ("U", Count::Warp(self.frame.uniform(1))),
            false => ("", Count::Thread(self.scratch(1))),
        };
        if each != 0 {
            emit!(self, "{prefix}POPC {count}, {mask}");
        }
        count
    }

    fn product(&mut self, count: Count, each: u64) -> Operand {
        let (low, high) = (signed(each as u32), signed((each >> 32) as u32));
        match (each, self.wide()) {
            (0, _) => Operand::Value(Value::Constant(0)),
            (_, true) if each as u32 == 0 => {
                let pair = self.frame.uniform(2);
                emit!(self, "UMOV UR{pair}, URZ");
                match each >> 32 {
                    1 => emit!(self, "UMOV UR{}, {count}", pair + 1),
                    _ => emit!(self, "UIMAD UR{}, {count}, {high}, URZ", pair + 1),
                }
                Operand::Uniform(pair)
            }
            (_, false) if each as u32 == 0 => match (each >> 32, count) {
                (1, Count::Warp(count)) => Operand::UniformHigh(count),
                (1, Count::Thread(count)) => Operand::High(count),
                _ => {
                    let product = self.scratch(1);
                    emit!(self, "IMAD {product}, {count}, {high}, RZ");
                    Operand::High(product)
                }
            },
            (_, true) => {
                let pair = self.frame.uniform(2);
                emit!(self, "UIMAD.WIDE.U32 UR{pair}, {count}, {low}, URZ");
                if each >> 32 != 0 {
                    emit!(self, "UIMAD UR{0}, {count}, {high}, UR{0}", pair + 1);
                }
                Operand::Uniform(pair)
            }
            (_, false) => {
                let pair = self.scratch(2);
                emit!(self, "IMAD.WIDE.U32 {pair}, {count}, {low}, RZ");
                if each >> 32 != 0 {
                    emit!(self, "IMAD {0}, {count}, {high}, {0}", pair.high());
                }
                Operand::Product(pair)
            }
        }
    }

    /// Emits code that finds the mask of active lanes, the highest active lane, and their number. Returns the
    /// names of these three registers. The lanes are not counted if the addend is zero.
    fn highest_lane(&mut self, each: u32, count: Reg, used: bool) -> [String; 3] {
        if self.number < 75 {
            let (mask, highest) = (self.scratch(1), self.scratch(1));
            emit!(self, "VOTE.ANY {mask}, PT, PT");
            emit!(self, "FLO.U32 {highest}, {mask}");
            if each != 0 {
                emit!(self, "POPC {count}, {mask}");
            }
            return [mask, highest, count].map(|register| register.to_string());
        }
        let mask = format!("UR{}", self.frame.uniform(1));
        emit!(self, "VOTEU.ANY {mask}, UPT, PT");
        let (find, highest) = match used {
            true => {
                let highest = self.scratch(1);
                (format!("FLO.U32 {highest}, {mask}"), highest.to_string())
            }
            false => {
                let highest = format!("UR{}", self.frame.uniform(1));
                (format!("UFLO.U32 {highest}, {mask}"), highest)
            }
        };
        // If the count must be negated, compilers count the lanes in the uniform datapath [TOOLS].
        let (prefix, counted) = match each {
            u32::MAX => ("U", format!("UR{}", self.frame.uniform(1))),
            _ => ("", count.to_string()),
        };
        let number = format!("{prefix}POPC {counted}, {mask}");
        let counts_first = match each {
            0 | 1 => false,
            u32::MAX => used && self.number == 107,
            _ => !used && self.number != 107,
        };
        self.lines.extend(match each {
            0 => vec![find],
            _ if counts_first => vec![number, find],
            _ => vec![find, number],
        });
        [mask, highest, counted]
    }

    fn lanes_below(&mut self, to: Reg, mask: &str) {
        emit!(self, "S2R {to}, SR_LTMASK");
        match self.number {
            ..70 => emit!(self, "LOP.AND {to}, {to}, {mask}"),
            _ => emit!(self, "LOP3.LUT {to}, {to}, {mask}, RZ, 0xc0, !PT"),
        }
        emit!(self, "POPC {to}, {to}");
    }

    fn times(&mut self, guard: &str, to: Reg, a: Reg, b: u32, c: Reg) {
        if self.number >= 70 {
            emit!(self, "{guard}IMAD {to}, {a}, {}, {c}", signed(b));
            return;
        }
        emit!(self, "{guard}XMAD {to}, {a}, {:#x}, {c}", b & 0xffff);
        if b > 0xffff {
            emit!(self, "{guard}XMAD.PSL {to}, {a}, {:#x}, {to}", b >> 16);
        }
    }
}
