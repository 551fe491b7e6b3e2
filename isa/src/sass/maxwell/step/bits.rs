//! Functions of bits: logic, fields, shifts that add.

use super::super::Code;
use super::Step;

impl Step {
    /// `LEA d, a, b[, shift]`, `LEA.HI[.X] d, a, b, c, shift`
    ///
    /// `LEA.HI.X p, d, a, RZ, c` is the high word of a generic address, with the carry from the lower, and asks
    /// whether that lies outside the shared window (chosen: it is what the code around it makes of the answer).
    pub(super) fn lea(&mut self, code: &mut Code<'_>, o: &[&str]) -> Option<()> {
        let (high, carry) = (code.take("HI"), code.take("X"));
        if let ([p, to, a, "RZ", c], true, true) = (o, high, carry)
            && p.starts_with('P')
            && !self.sets
        {
            self.put(format!("MOV R268, {a}"));
            self.put(format!("MOV R269, {c}"));
            self.put("QSPC.E.S P20, RZ, [R268]".into());
            self.put(format!("PSETP.AND.AND {p}, PT, !P20, PT, PT"));
            self.put(format!("IADD3.X {to}, {c}, RZ, RZ, P10, !PT"));
            return code.modifiers.is_empty().then_some(());
        }
        let to = self.kept(o.first()?).to_string();
        let out = if self.sets { "P10, PT, " } else { "" };
        match (o, high, carry) {
            ([_, a, b], false, false) => self.put(format!("LEA {to}, {out}{a}, {b}, 0x0")),
            ([_, a, b, shift], false, false) => self.put(format!("LEA {to}, {out}{a}, {b}, {shift}")),
            ([_, a, b, c, shift], true, false) => {
                self.put(format!("LEA.HI {to}, {out}{a}, {b}, {c}, {shift}"))
            }
            ([_, a, b, c, shift], true, true) if !to.starts_with('P') => {
                self.put(format!("LEA.HI.X {to}, {out}{a}, {b}, {c}, {shift}, P10"));
            }
            _ => return None,
        }
        self.zero(&to, false);
        code.modifiers.is_empty().then_some(())
    }

    /// `LOP.op[.X][.NZ|.Z] [p,] d, a, b`
    pub(super) fn lop(&mut self, code: &mut Code<'_>, o: &[&str]) -> Option<()> {
        let carry = code.take("X");
        let zero = code.take("Z");
        let (p, to, a, b) = match o {
            [to, a, b] => (None, *to, *a, *b),
            [p, to, a, b] if zero || code.take("NZ") => (Some(*p), *to, *a, *b),
            _ => return None,
        };
        let plain = |operand: &str, bits: u8| match operand.strip_prefix('~') {
            Some(rest) => (rest.to_string(), !bits),
            None => (operand.to_string(), bits),
        };
        let ((a, in_a), (b, in_b)) = (plain(a, 0xf0), plain(b, 0xcc));
        let table = match code.modifiers[..] {
            ["AND"] => in_a & in_b,
            ["OR"] => in_a | in_b,
            ["XOR"] => in_a ^ in_b,
            ["PASS_B"] => in_b,
            _ => return None,
        };
        let to = self.kept(to).to_string();
        self.put(format!("LOP3.LUT P20, {to}, {a}, {b}, RZ, {table:#x}, !PT"));
        if carry {
            self.put("PSETP.OR.AND P20, PT, P20, !P11, PT".into());
        }
        if let Some(p) = p {
            self.put(format!("PSETP.AND.AND {p}, PT, {}P20, PT, PT", if zero { "!" } else { "" }));
        }
        self.zero(&to, carry);
        Some(())
    }

    /// `BFE[.U32][.BREV] d, a, field`: so many bits from a place on, which the low two bytes of the field say.
    pub(super) fn bfe(&mut self, code: &mut Code<'_>, to: &str, a: &str, field: &str) -> Option<()> {
        let unsigned = code.take("U32");
        let reversed = code.take("BREV");
        if !code.modifiers.is_empty() || self.sets {
            return None;
        }
        if reversed {
            self.put(format!("BREV R260, {a}"));
        }
        let a = if reversed { "R260" } else { a };
        let kind = if unsigned { "U32" } else { "S32" };
        let [place, bits] = self.field(field);
        self.put(format!("SHF.R.{kind}.HI R263, RZ, {place}, {a}"));
        self.put(format!("SGXT.{kind} {to}, R263, {bits}"));
        Some(())
    }

    /// `BFI d, a, field, base`: the base, with the low bits of a in the field.
    pub(super) fn bfi(
        &mut self,
        code: &mut Code<'_>,
        to: &str,
        a: &str,
        field: &str,
        base: &str,
    ) -> Option<()> {
        if !code.modifiers.is_empty() || self.sets {
            return None;
        }
        let [place, bits] = self.field(field);
        self.put(format!("MOV R263, {place}"));
        self.put(format!("BMSK R264, R263, {bits}"));
        self.put(format!("SHF.L.U32 R263, {a}, R263, RZ"));
        self.put(format!("LOP3.LUT {to}, R263, R264, {base}, 0xe2, !PT"));
        Some(())
    }

    /// Place and number of bits of a field: its low two bytes.
    fn field(&mut self, field: &str) -> [String; 2] {
        let number = field.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if let Some(number) = number {
            return [number & 0xff, number >> 8 & 0xff].map(|byte| format!("{byte:#x}"));
        }
        for (register, selector) in [("R261", "0x4440"), ("R262", "0x4441")] {
            self.put(format!("PRMT {register}, {field}, {selector}, RZ"));
        }
        ["R261", "R262"].map(String::from)
    }
}
