//! Lowering of atomics on 16-bit types: a loop around CAS on the 32-bit word that contains the half (spec
//! 7.2).

use super::form::{AtomicOp, AtomicSpace, Form};
use super::operand::{AddressBase, Operands};
use crate::lower::code::{Base, Code, CodeAddress, Reg, Value, emit, signed};
use crate::ptx::Type;

impl Code<'_> {
    pub(super) fn halves(&mut self, form: &Form, operands: &Operands, used: bool) {
        // True if the fences are inside the loop (from sm_90 on). Before sm_90 they are before and after the
        // loop [TOOLS].
        let inside = self.number >= 90;
        if !inside {
            self.before(form, "");
        }
        let (b, c) = (half_operand(operands.b), half_operand(operands.c));
        // In the cases below, compilers emit the load before BSSY [TOOLS].
        let displaced =
            matches!(operands.address.base, AddressBase::Shared(_)) && operands.address.offset != 0;
        let load_first = match inside {
            false => form.sem.releases(),
            true => displaced && (form.op == AtomicOp::Cas || !self.wide()),
        };
        let (mut reconvergence, old) = (None, self.scratch(1));
        if !load_first && !self.leave_early {
            reconvergence = Some(self.open_reconvergence_here());
        }
        let Word { address: word, half } = self.containing_word(form, operands);
        self.load_word(form, old, &word);
        if load_first && !self.leave_early {
            reconvergence = Some(self.open_reconvergence_here());
        }
        // PRMT selectors that insert the new half in the low or the high half of the old word.
        let high = if form.op == AtomicOp::Cas { "0x5410" } else { "0x7610" };
        let selector = match half {
            Half::Known { high: false } => "0x3254".into(),
            Half::Known { high: true } => high.into(),
            Half::Register(half) => {
                let (selector, low) = (self.scratch(1), self.predicate());
                emit!(self, "ISETP.EQ.U32.AND {low}, PT, {half}, RZ, PT");
                emit!(self, "MOV {selector}, 0x3254");
                emit!(self, "SEL {selector}, {selector}, {high}, {low}");
                selector.to_string()
            }
        };
        let (new, seen, again, start) =
            (self.scratch(1), self.scratch(1), self.predicate(), self.frame.label());
        self.label(&start);
        if form.op == AtomicOp::Cas {
            let (mut expected, others, now) = (new, self.scratch(1), self.scratch(1));
            emit!(self, "PRMT {new}, {old}, {selector}, {c}");
            if b != c {
                expected = self.scratch(1);
                emit!(self, "PRMT {expected}, {old}, {selector}, {b}");
            }
            emit!(self, "PRMT {others}, {expected}, {selector}, RZ");
            self.compare_and_swap(form, seen, &word, expected, new, inside);
            // The loop is repeated only if the other half of the word changed.
            emit!(self, "PRMT {now}, {seen}, {selector}, RZ");
            emit!(self, "ISETP.NE.U32.AND {again}, PT, {now}, {others}, PT");
        } else {
            let sum = self.scratch(1);
            let format = if form.ty == Type::Bf16 { ".BF16_V2" } else { "" };
            emit!(self, "HADD2{format} {sum}, {old}, {b}.H0_H0");
            emit!(self, "PRMT {new}, {old}, {selector}, {sum}");
            self.compare_and_swap(form, seen, &word, old, new, inside);
            emit!(self, "ISETP.NE.U32.AND {again}, PT, {seen}, {old}, PT");
        }
        emit!(self, "MOV {old}, {seen}");
        emit!(self, "@{again} BRA `({start})");
        if let Some(reconvergence) = reconvergence {
            self.reconverge(&reconvergence);
        }
        if used && let Some(to) = operands.destination {
            match half {
                Half::Known { high: false } => self.copy(to, seen, 1),
                Half::Known { high: true } => emit!(self, "SHF.R.U32.HI {to}, RZ, 0x10, {seen}"),
                Half::Register(half) => {
                    let shift = self.scratch(1);
                    emit!(self, "IMAD.SHL.U32 {shift}, {half}, 0x8, RZ");
                    emit!(self, "SHF.R.U32.HI {to}, RZ, {shift}, {seen}");
                }
            }
        }
        match (inside, form.space) {
            (false, AtomicSpace::Shared) => self.after_shared(form, ""),
            (false, _) => self.after(form, ""),
            (true, _) => {}
        }
    }

    fn containing_word(&mut self, form: &Form, operands: &Operands) -> Word {
        let place = &operands.address;
        if let (AtomicSpace::Shared, AddressBase::Shared(_)) = (form.space, place.base)
            && let CodeAddress { base: Base::Nothing, offset: byte } = self.shared_address(place)
        {
            let address = CodeAddress { base: Base::Nothing, offset: byte & !3 }.to_string();
            return Word { address, half: Half::Known { high: byte & 2 != 0 } };
        }
        let half = self.scratch(1);
        let word = match form.space {
            AtomicSpace::Shared => {
                let (whole, word) = (self.shared_register(place), self.scratch(1));
                emit!(self, "LOP3.LUT {word}, {whole}, 0xfffffffd, RZ, 0xc0, !PT");
                emit!(self, "LOP3.LUT {half}, {whole}, 0x2, RZ, 0xc0, !PT");
                word
            }
            AtomicSpace::Cluster => {
                let (whole, word) = (self.cluster_address(place), self.scratch(2));
                self.split(whole, word, half);
                word
            }
            AtomicSpace::Global | AtomicSpace::Generic => {
                let (base, offset) = self.wide_address(place);
                let (whole, word) = (self.advanced_wide(base, offset), self.scratch(2));
                self.split(whole, word, half);
                word
            }
        };
        Word { address: word.to_string(), half: Half::Register(half) }
    }

    fn split(&mut self, whole: Reg, word: Reg, half: Reg) {
        emit!(self, "LOP3.LUT {word}, {whole}, 0xfffffffd, RZ, 0xc0, !PT");
        emit!(self, "MOV {}, {}", word.high(), whole.high());
        emit!(self, "LOP3.LUT {half}, {whole}, 0x2, RZ, 0xc0, !PT");
    }

    fn load_word(&mut self, form: &Form, to: Reg, word: &str) {
        match form.space {
            AtomicSpace::Shared => self.load_shared(to, word, 1),
            AtomicSpace::Global => self.load_wide("LDG", to, &format!("[{word}]"), 1),
            AtomicSpace::Generic | AtomicSpace::Cluster => {
                let address = self.bracket(word, 0, form);
                self.load_wide("LD", to, &address, 1);
            }
        }
    }

    fn compare_and_swap(&mut self, form: &Form, to: Reg, word: &str, b: Reg, c: Reg, fences: bool) {
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

struct Word {
    address: String,
    half: Half,
}

#[derive(Clone, Copy)]
enum Half {
    Known {
        high: bool,
    },
    /// Register that is 0 if the object is the low half of the word, 2 if it is the high half.
    Register(Reg),
}

fn half_operand(value: Value) -> String {
    match value {
        Value::Register(register) => register.to_string(),
        Value::Constant(bits) => signed(bits as u32 & 0xffff),
    }
}
