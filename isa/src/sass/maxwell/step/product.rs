//! Products and sums of words, and of halves of them.

use super::super::Code;
use super::{Step, half, sign};

impl Step {
    /// The sum of two signed words, limited to what a word holds.
    pub(super) fn limited_sum(&mut self, to: &str, a: &str, b: &str) -> Option<()> {
        let ((minus_a, a), (minus_b, b)) = (sign(a), sign(b));
        if (minus_a && minus_b) || self.sets {
            return None;
        }
        let (a, b, minus) = if minus_a { (b, a, true) } else { (a, b, minus_b) };
        let [low, high] = if minus { ["-R261", "~R264"] } else { ["R261", "R264"] };
        self.put(format!("MOV R260, {a}"));
        self.put(format!("MOV R261, {b}"));
        self.put("SHF.R.S32.HI R263, RZ, 0x1f, R260".into());
        self.put("SHF.R.S32.HI R264, RZ, 0x1f, R261".into());
        self.put(format!("IADD3 R262, P20, PT, R260, {low}, RZ"));
        self.put(format!("IADD3.X R263, R263, {high}, RZ, P20, !PT"));
        // The higher word is the sign of the lower where the sum fits.
        self.put("SHF.R.S32.HI R264, RZ, 0x1f, R262".into());
        self.put("ISETP.EQ.AND P20, PT, R263, R264, PT".into());
        self.put("SHF.R.S32.HI R263, RZ, 0x1f, R263".into());
        self.put("LOP3.LUT R263, R263, 0x7fffffff, RZ, 0x3c, !PT".into());
        self.put(format!("SEL {to}, R262, R263, P20"));
        Some(())
    }

    /// `IMAD[.U32.U32][.HI][.X][.SAT] d, a, b, c`: a word of the product, and c; later code adds two words to the higher.
    pub(super) fn product(&mut self, code: &mut Code<'_>, to: &str, [a, b, c]: [&str; 3]) -> Option<()> {
        let (high, carry, limited) = (code.take("HI"), code.take("X"), code.take("SAT"));
        let kind = match code.modifiers[..] {
            [] => "",
            ["U32", "U32"] => ".U32",
            _ => return None,
        };
        let word = if high { format!(".HI{kind}") } else { String::new() };
        self.put(format!("IMAD{word} R267, {a}, {b}, RZ"));
        if limited {
            return if high && kind.is_empty() && !carry { self.limited_sum(to, "R267", c) } else { None };
        }
        self.add(to, ["R267", c, "RZ"], carry);
        Some(())
    }

    /// `IADD3[.X][.RS] d, a, b, c`: with `.RS` the upper halves of the sum of a and b are added to c.
    pub(super) fn iadd3(&mut self, code: &mut Code<'_>, to: &str, operands: [&str; 3]) -> Option<()> {
        let (carry, right) = (code.take("X"), code.take("RS"));
        let mut terms = operands.map(str::to_string);
        for (at, term) in terms.iter_mut().enumerate() {
            if term.ends_with(".H0") || term.ends_with(".H1") {
                let place = format!("R{}", 270 + at);
                let (negative, base) = sign(term);
                let base = base.to_string();
                self.piece(&place, &base, false);
                *term = if negative { format!("-{place}") } else { place };
            }
        }
        if !code.modifiers.is_empty() || (right && (carry || self.sets)) {
            return None;
        }
        let [a, b, c] = &terms;
        if right {
            // The sum has 33 bits.
            self.put(format!("IADD3 R262, P20, PT, {a}, {b}, RZ"));
            self.put("SHF.R.U32.HI R262, RZ, 0x10, R262".into());
            self.put("SEL R263, RZ, 0x10000, !P20".into());
            self.put(format!("IADD3 {to}, R262, R263, {c}"));
        } else {
            self.add(to, [a, b, c], carry);
        }
        Some(())
    }

    /// `XMAD[.types][.CLO|.CHI|.CBCC|.CSFU][.PSL][.MRG][.X] d, a, b, c`: the product of two halves, and c
    pub(super) fn xmad(&mut self, code: &mut Code<'_>, to: &str, [a, b, c]: [&str; 3]) -> Option<()> {
        let types: Vec<_> = code.modifiers.iter().filter(|m| matches!(**m, "U16" | "S16")).copied().collect();
        let (a_signed, b_signed) = match types[..] {
            [] => (false, false),
            [a, b] => (a == "S16", b == "S16"),
            _ => return None,
        };
        code.modifiers.retain(|m| !matches!(*m, "U16" | "S16"));
        let (shift, merge, carry) = (code.take("PSL"), code.take("MRG"), code.take("X"));
        let (low, high, both) = (code.take("CLO"), code.take("CHI"), code.take("CBCC"));
        let signs = code.take("CSFU");
        // What the carry is of a sum of more than two, or of a part of one, no code was seen to ask.
        let joined = carry || self.sets;
        if !code.modifiers.is_empty() || (joined && (shift || merge || both || signs)) {
            return None;
        }
        let (_, b_whole) = half(b, ".H1", ".H0");
        self.piece("R260", a, a_signed);
        self.piece("R261", b, b_signed);
        self.put("IMAD R262, R260, R261, RZ".into());
        if shift {
            self.put("SHF.L.U32 R262, R262, 0x10, RZ".into());
        }
        let mut addend = c;
        if low || high {
            self.piece("R263", &if high { format!("{c}.H1") } else { c.to_string() }, false);
            addend = "R263";
        }
        if both {
            self.put(format!("SHF.L.U32 R264, {b_whole}, 0x10, RZ"));
        }
        if signs {
            self.sign_words([(a, a_signed), (b, b_signed)])?;
        }
        if joined {
            self.add(to, ["R262", addend, "RZ"], carry);
            return Some(());
        }
        let sum = if merge { "R262" } else { to };
        let third = match (both, signs) {
            (true, _) => "R264",
            (_, true) => "-R265",
            _ => "RZ",
        };
        self.put(format!("IADD3 {sum}, R262, {addend}, {third}"));
        if merge {
            self.put(format!("PRMT {to}, R262, 0x5410, {b_whole}"));
        }
        Some(())
    }

    /// R265: 2^16 for each factor below zero whose low half is not zero. That is by how much the sum of the
    /// products across, taken without sign and shifted by IADD3.RS, is too large; each of them is below zero if the
    /// half with the sign is, and the other is not zero (chosen: the only value with which compiled products are right).
    fn sign_words(&mut self, [a, b]: [(&str, bool); 2]) -> Option<()> {
        let whole = |(operand, signed): (&str, bool)| {
            operand.strip_suffix(".H1").filter(|_| signed).map(str::to_string)
        };
        let (a, b) = (whole(a)?, whole(b)?);
        for (place, sign, other) in [("R265", &a, &b), ("R266", &b, &a)] {
            self.put(format!("LOP3.LUT P20, RZ, {other}, 0xffff, RZ, 0xc0, !PT"));
            self.put(format!("ISETP.LT.AND P20, PT, {sign}, RZ, P20"));
            self.put(format!("SEL {place}, RZ, 0x10000, !P20"));
        }
        self.put("IADD3 R265, R265, R266, RZ".into());
        Some(())
    }
}
