//! Rewrite of conversions between types.

use super::{HalfSelect, Number, Op, RZ, StatementRewrite, minus, put, r, take};
use crate::sass::operand::ConstText;

impl<'t> StatementRewrite<'_, 't> {
    pub(super) fn convert(&mut self, o: &[Op<'t>]) -> Option<()> {
        match (self.name, o) {
            ("I2I", &[to, a]) if self.modifiers == ["S32", "S32"] => {
                let to = self.kept(to);
                let (negative, a) = minus(a);
                let (absolute, a) = take(a, |signs| &mut signs.absolute);
                put!(self, [if absolute { "IABS" } else { "MOV" }]; to, a);
                if negative {
                    put!(self, "IADD3"; to, -to, RZ, RZ);
                }
                self.note(to, false)
            }
            ("I2F", &[to, a]) => {
                self.take("F32");
                let mut from = a;
                if let ((false, _), (true, plain)) = (minus(a), take(a, |signs| &mut signs.absolute)) {
                    put!(self, "IABS"; r(260), plain);
                    from = r(260);
                }
                put!(self, ["I2F"], self.modifiers; to, from)
            }
            ("F2I", [_, _]) => {
                self.take("F32");
                // A NaN becomes zero if both types have less than 64 bits, as [PTX] cvt specifies. Compiled
                // code does not handle NaN itself.
                if !self.modifiers.iter().any(|m| matches!(*m, "F64" | "S64" | "U64")) {
                    self.modifiers.push("NTZ");
                }
                self.same()
            }
            ("F2F", &[to, a]) => {
                let flush = self.take_name("FTZ");
                let way = match self.modifiers[..] {
                    [from, into, "ROUND"] if from == into => "",
                    [from, into, way @ ("FLOOR" | "CEIL" | "TRUNC")] if from == into => way,
                    [from, into, _] if from == into => return None,
                    _ => {
                        self.modifiers.splice(..0, (!flush.is_empty()).then_some(flush));
                        return self.same();
                    }
                };
                let wide = if self.modifiers[0] == "F64" { "F64" } else { "" };
                put!(self, ["FRND", flush, wide, way]; to, a)
            }
            // RRO converts the operand of a later MUFU. In sm_70 code, MUFU takes turns for sine and cosine,
            // and plain values for all other functions.
            ("RRO", &[to, a]) if self.modifiers == ["SINCOS"] => {
                let turn = Number::Float(f64::from(std::f32::consts::FRAC_1_PI / 2.0));
                put!(self, "FMUL"; to, a, Op::Number(turn))
            }
            ("RRO", &[to, a]) if self.modifiers == ["EX2"] => put!(self, "FADD"; to, a, -RZ),
            // A constant without a suffix in an instruction on halves is a binary32.
            ("HADD2" | "HMUL2" | "HFMA2", _) => {
                for operand in &mut self.operands {
                    if let Op::Const(ConstText { half: half @ HalfSelect::Both, signs, .. }) = operand
                        && !signs.absolute
                    {
                        *half = HalfSelect::Single;
                    }
                }
                self.same()
            }
            _ => self.same(),
        }
    }
}
