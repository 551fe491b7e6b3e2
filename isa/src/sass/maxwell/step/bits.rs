//! Rewrite of logic, shift and bit-field instructions.

use super::{CARRY, Number, Op, PT, RZ, StatementRewrite, ZERO, p, put, r, take};
use crate::sass::operand::{AddressText, RegText};

impl<'t> StatementRewrite<'_, 't> {
    pub(super) fn bits(&mut self, o: &[Op<'t>]) -> Option<()> {
        match (self.name, o) {
            ("LEA", _) => self.lea(o),
            ("LOP" | "LOP32I", _) => self.lop(o),
            ("LOP3", &[to, a, b, c, table]) if !self.sets => put!(self, "LOP3.LUT"; to, a, b, c, table, !PT),
            ("LOP3", &[p, to, a, b, c, table]) if self.take("NZ") && !self.sets => {
                put!(self, "LOP3.LUT"; p, to, a, b, c, table, !PT)
            }
            ("SHL", &[to, a, count]) => {
                let wrap = self.take_name("W");
                put!(self, ["SHF.L", wrap, "U32"]; to, a, count, RZ);
                self.unset()
            }
            ("SHR", &[to, a, count]) => {
                let wrap = self.take_name("W");
                let kind = if self.take("U32") { "U32" } else { "S32" };
                put!(self, ["SHF.R", wrap, kind, "HI"]; to, RZ, count, a);
                self.unset()
            }
            ("SHF", &[to, low, count, high]) => {
                let wrap = self.take_name("W");
                let kind = ["U64", "S64"].into_iter().find(|kind| self.take(kind)).unwrap_or("U32");
                match (self.take("L"), self.take("R")) {
                    (true, _) => put!(self, ["SHF.L", wrap, kind, "HI"]; to, low, count, high),
                    (_, true) => put!(self, ["SHF.R", wrap, kind]; to, low, count, high),
                    _ => None,
                }
                .and(self.unset())
            }
            ("BFE", &[to, a, field]) => self.bfe(to, a, field),
            ("BFI", &[to, a, field, base]) => self.bfi(to, a, field, base),
            ("BFI", _) => None,
            _ => self.same(),
        }
    }

    /// Rewrites `LEA d, a, b[, shift]` and `LEA.HI[.X] d, a, b, c, shift`.
    ///
    /// `LEA.HI.X p, d, a, RZ, c` computes the high word of a generic address with the carry from the low
    /// word. Its predicate result is true if the address is not in shared memory (project choice, derived
    /// from the surrounding compiled code).
    fn lea(&mut self, o: &[Op<'t>]) -> Option<()> {
        let (high, carry) = (self.take("HI"), self.take("X"));
        if let (&[out @ Op::Pred(_), to, a, zero, c], true, true, false) = (o, high, carry, self.sets)
            && zero == RZ
        {
            put!(self, "MOV"; r(268), a);
            put!(self, "MOV"; r(269), c);
            let generic = AddressText { reg: Some(RegText::plain(Some(268))), uniform: None, imm: 0 };
            put!(self, "QSPC.E.S"; p(20), RZ, Op::Address(generic));
            put!(self, "PSETP.AND.AND"; out, PT, !p(20), PT, PT);
            put!(self, "IADD3.X"; to, c, RZ, RZ, CARRY, !PT);
            return self.done();
        }
        let to = self.kept(*o.first()?);
        match (o, high, carry) {
            (&[_, a, b], false, false) => self.put_carry("LEA", to, &[a, b, Op::from(0)]),
            (&[_, a, b, shift], false, false) => self.put_carry("LEA", to, &[a, b, shift]),
            (&[_, a, b, c, shift], true, false) => self.put_carry("LEA.HI", to, &[a, b, c, shift]),
            (&[_, a, b, c, shift], true, true) if !matches!(to, Op::Pred(_)) => {
                self.put_carry("LEA.HI.X", to, &[a, b, c, shift, CARRY])
            }
            _ => None,
        }?;
        self.note(to, false);
        self.done()
    }

    /// Rewrites `LOP.op[.X][.NZ|.Z] [p,] d, a, b`.
    fn lop(&mut self, o: &[Op<'t>]) -> Option<()> {
        let (carry, zero) = (self.take("X"), self.take("Z"));
        let (out, to, a, b) = match *o {
            [to, a, b] => (None, to, a, b),
            [out, to, a, b] if zero || self.take("NZ") => (Some(out), to, a, b),
            _ => return None,
        };
        // The bitwise complement of an operand becomes part of the LOP3 look-up table.
        let plain = |operand, bits: u8| match take(operand, |signs| &mut signs.invert) {
            (true, plain) => (plain, !bits),
            (false, plain) => (plain, bits),
        };
        let ((a, in_a), (b, in_b)) = (plain(a, 0xf0), plain(b, 0xcc));
        let table = match self.modifiers[..] {
            ["AND"] => in_a & in_b,
            ["OR"] => in_a | in_b,
            ["XOR"] => in_a ^ in_b,
            ["PASS_B"] => in_b,
            _ => return None,
        };
        let to = self.kept(to);
        put!(self, "LOP3.LUT"; p(20), to, a, b, RZ, i64::from(table), !PT);
        if carry {
            put!(self, "PSETP.OR.AND"; p(20), PT, p(20), !ZERO, PT);
        }
        if let Some(out) = out {
            put!(self, "PSETP.AND.AND"; out, PT, if zero { !p(20) } else { p(20) }, PT, PT);
        }
        self.note(to, carry)
    }

    /// Rewrites `BFE[.U32][.BREV] d, a, field`, which extracts bits of `a`. Byte 0 of `field` is the
    /// position, byte 1 the width.
    fn bfe(&mut self, to: Op<'t>, mut a: Op<'t>, field: Op<'t>) -> Option<()> {
        let kind = if self.take("U32") { "U32" } else { "S32" };
        let reversed = self.take("BREV");
        self.done()?;
        self.unset()?;
        if reversed {
            put!(self, "BREV"; r(260), a);
            a = r(260);
        }
        let [position, bits] = self.field(field);
        put!(self, ["SHF.R", kind, "HI"]; r(263), RZ, position, a);
        put!(self, ["SGXT", kind]; to, r(263), bits)
    }

    /// Rewrites `BFI d, a, field, base`, which replaces a bit field of `base` by the low bits of `a`.
    fn bfi(&mut self, to: Op<'t>, a: Op<'t>, field: Op<'t>, base: Op<'t>) -> Option<()> {
        self.done()?;
        self.unset()?;
        let [position, bits] = self.field(field);
        put!(self, "MOV"; r(263), position);
        put!(self, "BMSK"; r(264), r(263), bits);
        put!(self, "SHF.L.U32"; r(263), a, r(263), RZ);
        put!(self, "LOP3.LUT"; to, r(263), r(264), base, 0xe2, !PT)
    }

    /// Returns the position and the width of a bit field, which are bytes 0 and 1 of the operand `field`.
    fn field(&mut self, field: Op<'t>) -> [Op<'t>; 2] {
        if let Op::Number(Number::Hex(number)) = field {
            return [number & 0xff, number >> 8 & 0xff].map(Op::from);
        }
        put!(self, "PRMT"; r(261), field, 0x4440, RZ);
        put!(self, "PRMT"; r(262), field, 0x4441, RZ);
        [r(261), r(262)]
    }
}
