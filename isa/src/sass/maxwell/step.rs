//! Rewrite of compute, move and memory instructions of sm_50 to sm_62 to one or several instructions of
//! sm_70.
//!
//! Predicates from P20 on and registers from R260 on hold intermediate values.

mod bits;
mod compare;
mod convert;
mod product;

use crate::kernel::register::{Pred, PredSource};
use crate::kernel::source::HalfSelect;
use crate::sass::listing::Statement;
use crate::sass::operand::{self, Number, OperandKind as Op, RegText, Signs};
use std::ops::{Neg, Not};

pub(super) const PT: Op<'static> = Op::Pred(PredSource::TRUE);
const RZ: Op<'static> = Op::Reg(RegText::plain(None));

// Predicates of the rewritten code that hold the condition code: carry, zero, negative.
const CARRY: Op<'static> = p(10);
const ZERO: Op<'static> = p(11);
const NEGATIVE: Op<'static> = p(12);

pub(super) const fn predicate(number: u16) -> PredSource {
    PredSource { pred: Pred::Thread(number), negate: false }
}

const fn p(number: u16) -> Op<'static> {
    Op::Pred(predicate(number))
}

pub(super) const fn r(number: u16) -> Op<'static> {
    Op::Reg(RegText::plain(Some(number)))
}

impl Not for Op<'_> {
    type Output = Self;

    fn not(mut self) -> Self {
        if let Op::Pred(pred) = &mut self {
            pred.negate = !pred.negate;
        } else if let Some((signs, _)) = parts_of(&mut self) {
            signs.invert = true;
        }
        self
    }
}

impl Neg for Op<'_> {
    type Output = Self;

    fn neg(mut self) -> Self {
        if let Some((signs, _)) = parts_of(&mut self) {
            signs.negate = true;
        }
        self
    }
}

impl From<i64> for Op<'_> {
    fn from(bits: i64) -> Self {
        Op::Number(Number::Hex(bits))
    }
}

/// Appends an instruction with the guard of the original one. Arguments are the name and the modifiers, then
/// the operands. Empty modifiers are dropped.
macro_rules! put {
    ($step:ident, $mnemonic:literal $(; $($operand:expr),+)?) => {
        $step.put(&[$mnemonic], &[$($(Op::from($operand)),+)?])
    };
    ($step:ident, $($parts:expr),+; $($operand:expr),+) => {
        $step.put(&[$(&$parts[..]),+].concat(), &[$(Op::from($operand)),+])
    };
}
use put;

/// Returns the predicate for a condition on the condition code, such as `CC.EQ`.
pub(super) fn condition(operand: Op<'_>) -> Option<Op<'static>> {
    match operand {
        Op::Name("CC.EQ" | "CC.EQU") => Some(ZERO),
        Op::Name("CC.NE" | "CC.NEU") => Some(!ZERO),
        _ => None,
    }
}

pub(super) fn rewritten<'t>(statement: &Statement<'t>) -> Option<Vec<Statement<'t>>> {
    let mut step = StatementRewrite {
        statement,
        name: statement.name,
        modifiers: statement.modifiers.clone(),
        operands: statement.operands.iter().map(|operand| operand.kind).collect(),
        lines: Vec::new(),
        sets: false,
    };
    // `.CC` after the destination means that the instruction sets the condition code.
    for operand in &mut step.operands {
        if let Op::Name(text) = operand
            && let Some(plain) = text.strip_suffix(".CC")
        {
            *operand = operand::parse(plain, statement.limits).ok()?;
            step.sets = true;
        }
    }
    step.rewrite()?;
    Some(step.lines)
}

struct StatementRewrite<'s, 't> {
    statement: &'s Statement<'t>,
    name: &'t str,
    modifiers: Vec<&'t str>,
    operands: Vec<Op<'t>>,
    lines: Vec<Statement<'t>>,
    /// True if the instruction sets the condition code, and no appended instruction sets it yet.
    sets: bool,
}

fn parts_of<'o>(operand: &'o mut Op<'_>) -> Option<(&'o mut Signs, &'o mut HalfSelect)> {
    match operand {
        Op::Reg(register) => Some((&mut register.signs, &mut register.suffix.half)),
        Op::Const(constant) => Some((&mut constant.signs, &mut constant.half)),
        _ => None,
    }
}

/// Removes a sign from a register or constant operand. Returns true if the operand had the sign, and the
/// operand without it.
fn take<'t>(mut operand: Op<'t>, sign: fn(&mut Signs) -> &mut bool) -> (bool, Op<'t>) {
    let had = parts_of(&mut operand).is_some_and(|(signs, _)| std::mem::take(sign(signs)));
    (had, operand)
}

fn minus(operand: Op<'_>) -> (bool, Op<'_>) {
    take(operand, |signs| &mut signs.negate)
}

/// Returns the half that an operand selects, and the operand without this suffix.
fn half(mut operand: Op<'_>) -> (HalfSelect, Op<'_>) {
    let half = parts_of(&mut operand).map(|(_, half)| std::mem::replace(half, HalfSelect::Both));
    (half.unwrap_or(HalfSelect::Both), operand)
}

impl<'t> StatementRewrite<'_, 't> {
    fn put(&mut self, parts: &[&'t str], operands: &[Op<'t>]) -> Option<()> {
        self.lines.push(self.statement.replaced(self.statement.guard, parts, operands));
        Some(())
    }

    fn take(&mut self, modifier: &str) -> bool {
        let at = self.modifiers.iter().position(|m| *m == modifier);
        at.map(|at| self.modifiers.remove(at)).is_some()
    }

    fn take_name(&mut self, modifier: &'static str) -> &'t str {
        if self.take(modifier) { modifier } else { "" }
    }

    fn done(&self) -> Option<()> {
        self.modifiers.is_empty().then_some(())
    }

    /// Fails if the instruction sets the condition code but no appended instruction does.
    fn unset(&self) -> Option<()> {
        (!self.sets).then_some(())
    }

    /// Returns the register for a result that also sets the condition code. It is not RZ, which would discard
    /// the result.
    fn kept(&self, to: Op<'t>) -> Op<'t> {
        if self.sets && to == RZ { r(267) } else { to }
    }

    /// Appends the code that sets ZERO and NEGATIVE from a result. With `and`, ZERO is true only if it was
    /// also true for the lower words.
    fn note(&mut self, result: Op<'t>, and: bool) -> Option<()> {
        if std::mem::take(&mut self.sets) {
            put!(self, "ISETP.EQ.AND"; ZERO, PT, result, RZ, if and { ZERO } else { PT });
            put!(self, "ISETP.LT.AND"; NEGATIVE, PT, result, RZ, PT);
        }
        Some(())
    }

    /// Appends an instruction. If the original instruction sets the condition code, the carry goes there.
    fn put_carry(&mut self, mnemonic: &'t str, to: Op<'t>, sources: &[Op<'t>]) -> Option<()> {
        let carry = if self.sets { &[CARRY, PT][..] } else { &[] };
        self.put(&[mnemonic], &[&[to], carry, sources].concat())
    }

    /// Appends code that copies a half of an operand to a register, extended to 32 bits.
    fn piece(&mut self, to: Op<'t>, operand: Op<'t>, signed: bool) {
        let (half, whole) = half(operand);
        let selector = match (half == HalfSelect::High, signed) {
            (false, false) => 0x4410,
            (true, false) => 0x4432,
            (false, true) => 0x9910,
            (true, true) => 0xbb32,
        };
        put!(self, "PRMT"; to, whole, selector, RZ);
    }

    fn rewrite(&mut self) -> Option<()> {
        let operands = self.operands.clone();
        let o = &operands[..];
        match self.name {
            "IADD" | "IADD32I" | "IADD3" | "ISCADD" | "ISCADD32I" | "IMAD" | "IMUL" | "IMUL32I" | "XMAD" => {
                self.sum(o)
            }
            "LEA" | "LOP" | "LOP32I" | "LOP3" | "SHL" | "SHR" | "SHF" | "BFE" | "BFI" => self.bits(o),
            "ISETP" | "ISET" | "FSET" | "DSET" | "PSET" | "CSETP" | "ICMP" | "FCMP" | "IMNMX" | "DMNMX" => {
                self.compare(o)
            }
            "I2I" | "I2F" | "F2I" | "F2F" | "RRO" | "HADD2" | "HMUL2" | "HFMA2" => self.convert(o),
            "P2R" | "R2P" | "S2R" | "B2R" | "DEPBAR" | "TEXDEPBAR" | "MOV32I" | "FMUL32I" | "FADD32I"
            | "FCHK" | "LD" | "ST" | "LDG" | "STG" | "MEMBAR" => self.transfer(o),
            "VABSDIFF" => self.difference(o),
            "CSET" | "JCAL" | "LONGJMP" | "PLONGJMP" | "PRET" | "VADD" | "VMAD" | "VMNMX" | "VSET"
            | "VSETP" | "VSHL" | "VSHR" => None,
            _ => self.same(),
        }
    }

    fn same(&mut self) -> Option<()> {
        let (parts, operands) = ([&[self.name], &self.modifiers[..]].concat(), self.operands.clone());
        self.put(&parts, &operands);
        self.unset()
    }

    fn renamed(&mut self, name: &'static str) -> Option<()> {
        self.name = name;
        self.same()
    }

    fn transfer(&mut self, o: &[Op<'t>]) -> Option<()> {
        match (self.name, o) {
            // P2R and R2P save and restore the condition code. Only these two know the order of its bits in
            // the register.
            ("P2R", &[to, Op::Name("CC"), zero, Op::Number(Number::Hex(0xf))]) if zero == RZ => {
                put!(self, "SEL"; r(260), RZ, 1, !CARRY);
                put!(self, "SEL"; r(261), RZ, 2, !ZERO);
                put!(self, "SEL"; r(262), RZ, 4, !NEGATIVE);
                put!(self, "LOP3.LUT"; to, r(260), r(261), r(262), 0xfe, !PT)
            }
            ("R2P", &[Op::Name("CC"), from, Op::Number(Number::Hex(0xf))]) => {
                [(CARRY, 1), (ZERO, 2), (NEGATIVE, 4)]
                    .into_iter()
                    .try_for_each(|(flag, bit)| put!(self, "LOP3.LUT"; flag, RZ, from, bit, RZ, 0xc0, !PT))
            }
            // Lower end of the stack: zero, because the core checks each access itself.
            ("S2R", &[to, Op::Name("SR_LMEMHIOFF")]) => put!(self, "MOV"; to, RZ),
            ("B2R", &[to]) if self.modifiers == ["RESULT"] => put!(self, "B2R.RESULT"; to, PT),
            ("B2R", [_]) => None,
            // Results are complete when an instruction is done, so there is nothing to wait for.
            ("DEPBAR" | "TEXDEPBAR", _) => put!(self, "NOP"),
            ("MOV32I", _) => self.renamed("MOV"),
            ("FMUL32I", _) => self.renamed("FMUL"),
            ("FADD32I", _) => self.renamed("FADD"),
            ("FCHK", _) => {
                self.take("DIVIDE");
                self.same()
            }
            ("LD" | "ST" | "LDG" | "STG", _) => {
                // `.CV` and `.WT` mark volatile accesses, which bypass caches.
                if self.take("CV") || self.take("WT") {
                    self.modifiers.extend(["STRONG", "SYS"]);
                }
                if let [_, _, Op::Pred(_)] = o {
                    self.operands.pop();
                }
                self.same()
            }
            ("MEMBAR", []) => {
                self.modifiers.retain(|m| *m != "IVALLD");
                self.modifiers.iter_mut().filter(|m| **m == "GL").for_each(|m| *m = "GPU");
                self.same()
            }
            _ => self.same(),
        }
    }

    fn difference(&mut self, o: &[Op<'t>]) -> Option<()> {
        let &[to, a, b, c] = o else { return self.same() };
        self.unset()?;
        match self.modifiers[..] {
            ["SD", "ACC"] => put!(self, "VABSDIFF"; to, a, b, c),
            ["U32", "U32", "ACC"] => put!(self, "VABSDIFF.U32"; to, a, b, c),
            _ => None,
        }
    }
}
