//! Rewrite of comparisons, and of instructions that select an operand by a comparison.

use super::{CARRY, NEGATIVE, Op, PT, RZ, StatementRewrite, ZERO, p, put, r};
use crate::sass::operand::Signs;

impl<'t> StatementRewrite<'_, 't> {
    pub(super) fn compare(&mut self, o: &[Op<'t>]) -> Option<()> {
        match (self.name, o) {
            ("ISETP", &[to, q, a, b, with]) if self.take("X") => {
                let low = self.low_words()?;
                put!(self, ["ISETP"], self.modifiers, ["EX"]; to, q, a, b, with, low)
            }
            ("ISET", &[to, a, b, with]) => {
                let float = self.take("BF");
                if self.take("X") {
                    let low = self.low_words()?;
                    put!(self, ["ISETP"], self.modifiers, ["EX"]; p(20), PT, a, b, with, low);
                } else {
                    put!(self, ["ISETP"], self.modifiers; p(20), PT, a, b, with);
                }
                self.truth(to, float)
            }
            ("FSET" | "DSET" | "PSET", &[to, a, b, c]) => {
                let float = self.take("BF");
                let compare = match self.name {
                    "FSET" => "FSETP",
                    "DSET" => "DSETP",
                    _ => "PSETP",
                };
                put!(self, [compare], self.modifiers; p(20), PT, a, b, c);
                self.truth(to, float)
            }
            ("CSETP", &[to, q, Op::Name("CC"), with]) if self.modifiers == ["SFT", "AND"] => {
                put!(self, "PSETP.AND.AND"; to, q, NEGATIVE, PT, with)
            }
            ("ICMP", &[to, a, b, c]) => {
                put!(self, ["ISETP"], self.modifiers, ["AND"]; p(20), PT, c, RZ, PT);
                put!(self, "SEL"; to, a, b, p(20))
            }
            ("FCMP", &[to, a, b, c]) if !self.sets => {
                let flush = self.take_name("FTZ");
                // If there is no comparison modifier, the comparison is `.GT`, which disassemblers omit.
                if self.modifiers.is_empty() {
                    self.modifiers.push("GT");
                }
                put!(self, ["FSETP"], self.modifiers, [flush, "AND"]; p(20), PT, c, RZ, PT);
                put!(self, "FSEL"; to, a, b, p(20))
            }
            ("IMNMX", &[to, a, b, min]) if self.take("XHI") => {
                put!(self, ["ISETP.LT"], self.modifiers, ["AND"]; CARRY, PT, a, b, PT);
                put!(self, "ISETP.EQ.AND"; ZERO, PT, a, b, PT);
                put!(self, ["IMNMX"], self.modifiers; to, a, b, min);
                self.sets.then_some(())
            }
            ("IMNMX", &[to, a, b, min]) if self.modifiers == ["U32", "XLO"] && !self.sets => {
                put!(self, "ISETP.LT.U32.AND"; p(20), PT, a, b, ZERO);
                put!(self, "PSETP.OR.AND"; p(20), PT, p(20), CARRY, PT);
                put!(self, "PSETP.XOR.AND"; p(20), PT, p(20), !min, PT);
                put!(self, "SEL"; to, a, b, p(20))
            }
            ("DMNMX", &[to, a, b, min]) if !self.sets && self.modifiers.is_empty() => {
                self.dmnmx(to, a, b, min)
            }
            ("PSET" | "CSETP" | "FCMP" | "DMNMX" | "DSET", _) => None,
            _ => self.same(),
        }
    }

    /// Sets `to` to all ones (or 1.0 if `float`) if P20 is true, else to zero. If needed, sets the condition
    /// code from this result.
    fn truth(&mut self, to: Op<'t>, float: bool) -> Option<()> {
        put!(self, "SEL"; to, RZ, if float { 0x3f80_0000 } else { 0xffff_ffff }, !p(20));
        if std::mem::take(&mut self.sets) {
            put!(self, "PSETP.AND.AND"; ZERO, PT, !p(20), PT, PT);
            put!(self, "PSETP.AND.AND"; NEGATIVE, PT, p(20), PT, PT);
        }
        Some(())
    }

    /// Returns the result of the comparison of the low words. An earlier subtraction of the low words has set
    /// the condition code.
    fn low_words(&mut self) -> Option<Op<'t>> {
        Some(match *self.modifiers.first()? {
            "LT" => !CARRY,
            "GE" => CARRY,
            "EQ" => ZERO,
            "NE" => !ZERO,
            "LE" => {
                put!(self, "PSETP.OR.AND"; p(21), PT, !CARRY, ZERO, PT);
                p(21)
            }
            "GT" => {
                put!(self, "PSETP.AND.AND"; p(21), PT, CARRY, !ZERO, PT);
                p(21)
            }
            _ => return None,
        })
    }

    /// Rewrites `DMNMX d, a, b, p` whose operands have no signs.
    fn dmnmx(&mut self, to: Op<'t>, a: Op<'t>, b: Op<'t>, min: Op<'t>) -> Option<()> {
        let high = |operand: Op<'t>| match operand {
            Op::Reg(register) if register.signs == Signs::default() => Some(r(register.index? + 1)),
            _ => None,
        };
        let way = match min {
            PT => "MIN",
            _ if min == !PT => "MAX",
            _ => return None,
        };
        let (to_high, a_high, b_high) = (high(to)?, high(a)?, high(b)?);
        put!(self, ["DSETP", way, "AND"]; p(20), p(21), a, b, PT);
        put!(self, "SEL"; r(262), a, b, p(20));
        put!(self, "SEL"; r(263), a_high, b_high, p(20));
        // If both operands are NaN, the result is the second one as a quiet NaN.
        put!(self, "LOP3.LUT"; r(264), r(263), 0x80000, RZ, 0xfc, !PT);
        put!(self, "SEL"; to_high, r(264), r(263), p(21));
        put!(self, "MOV"; to, r(262))
    }
}
