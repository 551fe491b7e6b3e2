//! 16-bit types: a loop around CAS on the word that contains the half (spec 7.2).

use super::code::{Code, Reg, emit};
use super::form::{AtomicOp, AtomicSpace, Form};
use super::operand::{AddressBase, Operands};
use crate::ptx::Type;

impl Code<'_> {
    /// The loop, for any state space.
    pub(super) fn halves(&mut self, form: &Form, operands: &Operands, used: bool) {
        // Before sm_90 the fences stand around the loop, from there on inside [TOOLS].
        let inside = self.number >= 90;
        if !inside {
            self.before(form, "");
        }
        let b = self.in_registers(operands.b, 1);
        let c = if form.op == AtomicOp::Cas { self.in_registers(operands.c, 1) } else { Reg::ZERO };
        // The load goes where it has the longest to wait for the address [TOOLS].
        let displaced =
            matches!(operands.address.base, AddressBase::Shared(_)) && operands.address.offset != 0;
        let load_first = match inside {
            false => form.sem.releases(),
            true => displaced && (form.op == AtomicOp::Cas || !self.wide()),
        };
        let (mut meeting, old) = (None, self.scratch(1));
        if !load_first && !self.leave_early {
            meeting = Some(self.meet_here());
        }
        let (word, half) = self.containing_word(form, operands);
        self.load_word(form, old, word);
        if load_first && !self.leave_early {
            meeting = Some(self.meet_here());
        }
        // Where PRMT takes the bytes from: the old word, and the new half in the low or the high one.
        let (selector, low) = (self.scratch(1), self.predicate());
        let high = if form.op == AtomicOp::Cas { "0x5410" } else { "0x7610" };
        emit!(self, "ISETP.EQ.U32.AND {low}, PT, {half}, RZ, PT");
        emit!(self, "MOV {selector}, 0x3254");
        emit!(self, "SEL {selector}, {selector}, {high}, {low}");
        let (new, seen, again, start) =
            (self.scratch(1), self.scratch(1), self.predicate(), self.frame.label());
        self.label(&start);
        if form.op == AtomicOp::Cas {
            let (expected, others, now) = (self.scratch(1), self.scratch(1), self.scratch(1));
            emit!(self, "PRMT {new}, {old}, {selector}, {c}");
            emit!(self, "PRMT {expected}, {old}, {selector}, {b}");
            emit!(self, "PRMT {others}, {expected}, {selector}, RZ");
            self.compare_and_swap(form, seen, word, expected, new, inside);
            // Again only if the other half was another than expected.
            emit!(self, "PRMT {now}, {seen}, {selector}, RZ");
            emit!(self, "ISETP.NE.U32.AND {again}, PT, {now}, {others}, PT");
        } else {
            let sum = self.scratch(1);
            let format = if form.ty == Type::Bf16 { ".BF16_V2" } else { "" };
            emit!(self, "HADD2{format} {sum}, {old}, {b}.H0_H0");
            emit!(self, "PRMT {new}, {old}, {selector}, {sum}");
            self.compare_and_swap(form, seen, word, old, new, inside);
            emit!(self, "ISETP.NE.U32.AND {again}, PT, {seen}, {old}, PT");
        }
        emit!(self, "MOV {old}, {seen}");
        emit!(self, "@{again} BRA `({start})");
        if let Some(meeting) = meeting {
            self.met(&meeting);
        }
        if used && let Some(to) = operands.destination {
            let shift = self.scratch(1);
            emit!(self, "IMAD.SHL.U32 {shift}, {half}, 0x8, RZ");
            emit!(self, "SHF.R.U32.HI {}, RZ, {shift}, {seen}", Reg(to));
        }
        match (inside, form.space) {
            (false, AtomicSpace::Shared) => self.after_shared(form, ""),
            (false, _) => self.after(form, ""),
            (true, _) => {}
        }
    }

    /// The address of the word with the half in it, and that half: 0, or 2 for the high one.
    fn containing_word(&mut self, form: &Form, operands: &Operands) -> (Reg, Reg) {
        let half = self.scratch(1);
        match form.space {
            AtomicSpace::Shared => {
                let (whole, word) = (self.shared_register(&operands.address), self.scratch(1));
                emit!(self, "LOP3.LUT {word}, {whole}, 0xfffffffd, RZ, 0xc0, !PT");
                emit!(self, "LOP3.LUT {half}, {whole}, 0x2, RZ, 0xc0, !PT");
                (word, half)
            }
            AtomicSpace::Cluster => {
                let (whole, word) = (self.cluster_address(&operands.address), self.scratch(2));
                self.split(whole, word, half);
                (word, half)
            }
            AtomicSpace::Global | AtomicSpace::Generic => {
                let (base, offset) = self.wide_address(&operands.address);
                let word = self.scratch(2);
                if offset == 0 {
                    self.split(base, word, half);
                } else {
                    let (whole, carry) = (self.scratch(2), self.predicate());
                    let (out, ignored) = if self.number >= 100 { (", PT", "PT, PT, ") } else { ("", "") };
                    let low = super::code::signed(offset as u32);
                    let high = super::code::signed((offset >> 32) as u32);
                    emit!(self, "IADD3 {whole}, {carry}{out}, {base}, {low}, RZ");
                    let (top, base) = (whole.high(), base.high());
                    emit!(self, "IADD3.X {top}, {ignored}{base}, {high}, RZ, {carry}, !PT");
                    self.split(whole, word, half);
                }
                (word, half)
            }
        }
    }

    fn split(&mut self, whole: Reg, word: Reg, half: Reg) {
        emit!(self, "LOP3.LUT {word}, {whole}, 0xfffffffd, RZ, 0xc0, !PT");
        emit!(self, "MOV {}, {}", word.high(), whole.high());
        emit!(self, "LOP3.LUT {half}, {whole}, 0x2, RZ, 0xc0, !PT");
    }

    fn load_word(&mut self, form: &Form, to: Reg, word: Reg) {
        match form.space {
            AtomicSpace::Shared => self.load_shared(to, &word.to_string(), 1),
            AtomicSpace::Global => self.load_wide("LDG", to, word, 0, 1),
            AtomicSpace::Generic | AtomicSpace::Cluster => self.load_wide("LD", to, word, 0, 1),
        }
    }

    fn compare_and_swap(&mut self, form: &Form, to: Reg, word: Reg, b: Reg, c: Reg, fences: bool) {
        if fences {
            self.before(form, "");
        }
        let strength = self.strength(form);
        let address = format!("[{word}]");
        match form.space {
            AtomicSpace::Shared => emit!(self, "ATOMS.CAS {to}, {address}, {b}, {c}"),
            AtomicSpace::Global => emit!(self, "ATOMG.E.CAS{strength} PT, {to}, {address}, {b}, {c}"),
            AtomicSpace::Generic | AtomicSpace::Cluster => {
                emit!(self, "ATOM.E.CAS{strength} PT, {to}, {address}, {b}, {c}");
            }
        }
        if fences {
            self.after(form, "");
        }
    }
}
