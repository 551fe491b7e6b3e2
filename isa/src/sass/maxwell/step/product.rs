//! Rewrite of additions and multiplications of words and half words.

use super::{CARRY, HalfSelect, Op, PT, RZ, StatementRewrite, half, minus, p, parts_of, put, r};

impl<'t> StatementRewrite<'_, 't> {
    pub(super) fn sum(&mut self, o: &[Op<'t>]) -> Option<()> {
        match (self.name, o) {
            ("IADD" | "IADD32I", &[to, a, b]) if self.take("SAT") => {
                self.done()?;
                self.limited_sum(to, a, b)
            }
            ("IADD" | "IADD32I", &[to, a, b]) => {
                let carry = self.take("X");
                self.done()?;
                self.add(to, [a, b, RZ], carry)
            }
            ("IADD3", &[to, a, b, c]) => self.iadd3(to, [a, b, c]),
            ("ISCADD" | "ISCADD32I", &[to, a, b, shift]) => {
                let ((negative, a), carry) = (minus(a), self.take("X"));
                put!(self, "SHF.L.U32"; r(261), a, shift, RZ);
                let shifted = if negative { -r(261) } else { r(261) };
                self.add(to, [shifted, b, RZ], carry)
            }
            ("IMAD", &[to, a, b, c]) => self.product(to, [a, b, c]),
            ("IMUL" | "IMUL32I", &[to, a, b]) => self.product(to, [a, b, RZ]),
            ("XMAD", &[to, a, b, c]) => self.xmad(to, [a, b, c]),
            ("XMAD", _) => None,
            _ => self.same(),
        }
    }

    /// Appends code for `to = terms[0] + terms[1] + terms[2]`, plus the carry in if `carry` is true. The
    /// carry out is kept if the instruction sets the condition code.
    fn add(&mut self, to: Op<'t>, terms: [Op<'t>; 3], carry: bool) -> Option<()> {
        let to = self.kept(to);
        if carry {
            let [a, b, c] = terms.map(|term| match minus(term) {
                // The carry from the lower words already contains the plus one of the two's complement.
                (true, plain) => !plain,
                (false, plain) => plain,
            });
            self.put_carry("IADD3.X", to, &[a, b, c, CARRY, !PT]);
        } else {
            self.put_carry("IADD3", to, &terms);
        }
        self.note(to, carry)
    }

    fn limited_sum(&mut self, to: Op<'t>, a: Op<'t>, b: Op<'t>) -> Option<()> {
        let ((minus_a, a), (minus_b, b)) = (minus(a), minus(b));
        if (minus_a && minus_b) || self.sets {
            return None;
        }
        let (a, b, minus) = if minus_a { (b, a, true) } else { (a, b, minus_b) };
        let [low, high] = if minus { [-r(261), !r(264)] } else { [r(261), r(264)] };
        put!(self, "MOV"; r(260), a);
        put!(self, "MOV"; r(261), b);
        put!(self, "SHF.R.S32.HI"; r(263), RZ, 0x1f, r(260));
        put!(self, "SHF.R.S32.HI"; r(264), RZ, 0x1f, r(261));
        put!(self, "IADD3"; r(262), p(20), PT, r(260), low, RZ);
        put!(self, "IADD3.X"; r(263), r(263), high, RZ, p(20), !PT);
        // The 64-bit sum fits in 32 bits if its high word is the sign extension of its low word.
        put!(self, "SHF.R.S32.HI"; r(264), RZ, 0x1f, r(262));
        put!(self, "ISETP.EQ.AND"; p(20), PT, r(263), r(264), PT);
        put!(self, "SHF.R.S32.HI"; r(263), RZ, 0x1f, r(263));
        put!(self, "LOP3.LUT"; r(263), r(263), 0x7fff_ffff, RZ, 0x3c, !PT);
        put!(self, "SEL"; to, r(262), r(263), p(20))
    }

    /// Rewrites `IMAD[.U32.U32][.HI][.X][.SAT] d, a, b, c`: the low or high word of the product, plus the
    /// word `c`. IMAD.HI of sm_70 adds a 64-bit `c`, so the addition is a second instruction.
    fn product(&mut self, to: Op<'t>, [a, b, c]: [Op<'t>; 3]) -> Option<()> {
        let (high, carry, limited) = (self.take("HI"), self.take("X"), self.take("SAT"));
        let kind = match self.modifiers[..] {
            [] => "",
            ["U32", "U32"] => "U32",
            _ => return None,
        };
        let [word, kind_of_word] = if high { ["HI", kind] } else { ["", ""] };
        put!(self, ["IMAD", word, kind_of_word]; r(267), a, b, RZ);
        if limited {
            return if high && kind.is_empty() && !carry { self.limited_sum(to, r(267), c) } else { None };
        }
        self.add(to, [r(267), c, RZ], carry)
    }

    /// Rewrites `IADD3[.X][.RS] d, a, b, c`. With `.RS` the sum of `a` and `b`, shifted right by 16 bits, is
    /// added to `c`.
    fn iadd3(&mut self, to: Op<'t>, mut terms: [Op<'t>; 3]) -> Option<()> {
        let (carry, right) = (self.take("X"), self.take("RS"));
        for (term, copy) in terms.iter_mut().zip([r(270), r(271), r(272)]) {
            if half(*term).0 != HalfSelect::Both {
                let (negative, plain) = minus(*term);
                self.piece(copy, plain, false);
                *term = if negative { -copy } else { copy };
            }
        }
        self.done()?;
        if !right {
            return self.add(to, terms, carry);
        }
        self.unset().filter(|()| !carry)?;
        let [a, b, c] = terms;
        // The sum has 33 bits, so its carry is needed for the shift.
        put!(self, "IADD3"; r(262), p(20), PT, a, b, RZ);
        put!(self, "SHF.R.U32.HI"; r(262), RZ, 0x10, r(262));
        put!(self, "SEL"; r(263), RZ, 0x10000, !p(20));
        put!(self, "IADD3"; to, r(262), r(263), c)
    }

    /// Rewrites `XMAD[.types][.CLO|.CHI|.CBCC|.CSFU][.PSL][.MRG][.X] d, a, b, c`: the product of two 16-bit
    /// halves, plus `c`.
    fn xmad(&mut self, to: Op<'t>, [a, b, c]: [Op<'t>; 3]) -> Option<()> {
        let is_type = |modifier: &&str| matches!(*modifier, "U16" | "S16");
        let types: Vec<_> = self.modifiers.iter().copied().filter(is_type).collect();
        let (a_signed, b_signed) = match types[..] {
            [] => (false, false),
            [a, b] => (a == "S16", b == "S16"),
            _ => return None,
        };
        self.modifiers.retain(|modifier| !is_type(modifier));
        let (shift, merge, carry) = (self.take("PSL"), self.take("MRG"), self.take("X"));
        let (low, high, both) = (self.take("CLO"), self.take("CHI"), self.take("CBCC"));
        let signs = self.take("CSFU");
        // The carry of a sum with more than two terms, or of part of a sum, is not supported. Compiled code
        // is not known to use it.
        let joined = carry || self.sets;
        if joined && (shift || merge || both || signs) {
            return None;
        }
        self.done()?;
        let whole_b = half(b).1;
        self.piece(r(260), a, a_signed);
        self.piece(r(261), b, b_signed);
        put!(self, "IMAD"; r(262), r(260), r(261), RZ);
        if shift {
            put!(self, "SHF.L.U32"; r(262), r(262), 0x10, RZ);
        }
        let mut addend = c;
        if low || high {
            let mut part = c;
            if let (true, Some((_, half))) = (high, parts_of(&mut part)) {
                *half = HalfSelect::High;
            }
            self.piece(r(263), part, false);
            addend = r(263);
        }
        if both {
            put!(self, "SHF.L.U32"; r(264), whole_b, 0x10, RZ);
        }
        if signs {
            self.sign_words([(a, a_signed), (b, b_signed)])?;
        }
        if joined {
            return self.add(to, [r(262), addend, RZ], carry);
        }
        let third = match (both, signs) {
            (true, _) => r(264),
            (_, true) => -r(265),
            _ => RZ,
        };
        let sum = if merge { r(262) } else { to };
        put!(self, "IADD3"; sum, r(262), addend, third);
        if merge {
            put!(self, "PRMT"; to, r(262), 0x5410, whole_b);
        }
        Some(())
    }

    /// Sets R265 to a correction of a product of signed words: the sum of 2^16 for each factor that is
    /// negative while the low half of the other factor is not zero. IADD3.RS adds and shifts the cross
    /// products as unsigned values, so its result is too large by this sum. Project choice: only this
    /// correction makes compiled products correct.
    fn sign_words(&mut self, factors: [(Op<'t>, bool); 2]) -> Option<()> {
        let [(a_half, a), (b_half, b)] = factors.map(|(factor, _)| half(factor));
        let signed = factors.iter().all(|(_, signed)| *signed);
        if !signed || [a_half, b_half] != [HalfSelect::High; 2] {
            return None;
        }
        for (word, sign, other) in [(r(265), a, b), (r(266), b, a)] {
            put!(self, "LOP3.LUT"; p(20), RZ, other, 0xffff, RZ, 0xc0, !PT);
            put!(self, "ISETP.LT.AND"; p(20), PT, sign, RZ, p(20));
            put!(self, "SEL"; word, RZ, 0x10000, !p(20));
        }
        put!(self, "IADD3"; r(265), r(265), r(266), RZ)
    }
}
