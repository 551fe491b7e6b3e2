//! Cursor over the modifiers and operands of one statement, from which the decoders take them.

use super::{Decoded, Failure, Targets};
use crate::kernel::compute::{Compute, ComputeOp, Path};
use crate::kernel::instruction::Operation;
use crate::kernel::number::Type;
use crate::kernel::program::DRIVER_CODE;
use crate::kernel::register::{BarrierRegister, Pred, PredSource, Reg, UReg};
use crate::kernel::source::{ConstAddress, ConstIndex, HalfSelect, Source, Value};
use crate::sass::listing::{INSTRUCTION_BYTES, Statement};
use crate::sass::operand::{
    self, AddressText, ConstText, Number, Operand, OperandKind, RegText, Signs, Width,
};
use std::ops::Range;
use std::str::FromStr;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Int,
    Int64,
    F32,
    /// Binary64. Of an immediate, the instruction holds only the high word.
    F64,
}

pub(super) struct Args<'a, 't> {
    statement: &'a Statement<'t>,
    pub(super) targets: &'a Targets<'t>,
    modifiers: Vec<&'t str>,
    next: usize,
    pub(super) path: Path,
}

impl<'a, 't> Args<'a, 't> {
    pub(super) fn new(statement: &'a Statement<'t>, targets: &'a Targets<'t>, path: Path) -> Args<'a, 't> {
        Args { statement, targets, modifiers: statement.modifiers.clone(), next: 0, path }
    }

    pub(super) fn modifier(&mut self, name: &str) -> bool {
        let at = self.modifiers.iter().position(|m| *m == name);
        at.map(|at| self.modifiers.remove(at)).is_some()
    }

    pub(super) fn ignore(&mut self, names: &[&str]) {
        self.modifiers.retain(|m| !names.contains(m));
    }

    pub(super) fn first_modifier(&mut self) -> Option<&'t str> {
        (!self.modifiers.is_empty()).then(|| self.modifiers.remove(0))
    }

    pub(super) fn choose<T>(&mut self, choose: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (at, chosen) = self.modifiers.iter().enumerate().find_map(|(i, m)| choose(m).map(|c| (i, c)))?;
        self.modifiers.remove(at);
        Some(chosen)
    }

    pub(super) fn one_of<T: Copy>(&mut self, named: &[(&str, T)]) -> Option<T> {
        self.choose(|m| named.iter().find(|(name, _)| *name == m).map(|(_, value)| *value))
    }

    /// Takes the first modifier that parses as a `T`. Modifiers in lower case do not count.
    pub(super) fn known<T: FromStr>(&mut self) -> Option<T> {
        self.choose(|m| m.parse().ok().filter(|_| !m.bytes().any(|b| b.is_ascii_lowercase())))
    }

    pub(super) fn named<T: FromStr>(&mut self) -> Decoded<T> {
        self.known().ok_or(Failure::Unsupported)
    }

    pub(super) fn require(&mut self, name: &str) -> Decoded<()> {
        if self.modifier(name) { Ok(()) } else { Err(Failure::Unsupported) }
    }

    pub(super) fn modifiers_left(&self) -> &[&'t str] {
        &self.modifiers
    }

    pub(super) fn mnemonic_range(&self) -> Range<usize> {
        self.statement.mnemonic_range.clone()
    }

    pub(super) fn wrong<T>(
        &self,
        range: Range<usize>,
        message: String,
        help: impl Into<String>,
    ) -> Decoded<T> {
        Err(Failure::Wrong { range, message, help: help.into() })
    }

    fn mnemonic(&self) -> String {
        [&[self.statement.name], &self.statement.modifiers[..]].concat().join(".")
    }

    fn expected<T>(&self, what: &str) -> Decoded<T> {
        let mnemonic = self.mnemonic();
        match self.statement.operands.get(self.next) {
            // A modifier that no decoder has taken may be the reason for the unexpected operand, so the
            // operand is not reported as wrong.
            _ if !self.modifiers.is_empty() => Err(Failure::Unsupported),
            // An operand that is only a name occurs only in instructions that are not decoded.
            Some(Operand { kind: OperandKind::Name(_), .. }) => Err(Failure::Unsupported),
            Some(operand) => {
                let message = format!("operand {} of {mnemonic}: expected {what}", self.next + 1);
                self.wrong(operand.range.clone(), message, format!("write {what} here"))
            }
            None => {
                let message = format!("{mnemonic} has {} operands: expected {what} after them", self.next);
                self.wrong(self.mnemonic_range(), message, format!("add {what}"))
            }
        }
    }

    pub(super) fn finish(&self) -> Decoded<()> {
        if !self.modifiers.is_empty() {
            return Err(Failure::Unsupported);
        }
        match self.statement.operands.get(self.next) {
            None => Ok(()),
            Some(Operand { kind: OperandKind::Name(_), .. }) => Err(Failure::Unsupported),
            Some(operand) => {
                let message = format!("{} takes {} operands", self.mnemonic(), self.next);
                self.wrong(operand.range.clone(), message, "remove this operand and those after it")
            }
        }
    }

    pub(super) fn peek(&self) -> Option<&'a OperandKind<'t>> {
        self.statement.operands.get(self.next).map(|o| &o.kind)
    }

    pub(super) fn left(&self) -> usize {
        self.statement.operands.len() - self.next
    }

    pub(super) fn drop_operands(&mut self) {
        self.next = self.statement.operands.len();
    }

    pub(super) fn parse(&self, text: &'t str) -> Decoded<OperandKind<'t>> {
        operand::parse(text, self.statement.limits).map_err(|_| Failure::Unsupported)
    }

    fn take(&mut self) {
        self.next += 1;
    }

    pub(super) fn last_range(&self) -> Range<usize> {
        let last = self.next.checked_sub(1).and_then(|at| self.statement.operands.get(at));
        last.map_or_else(|| self.mnemonic_range(), |o| o.range.clone())
    }

    fn next_as<T>(&mut self, choose: impl FnOnce(&'a OperandKind<'t>) -> Option<T>) -> Option<T> {
        let chosen = self.peek().and_then(choose)?;
        self.take();
        Some(chosen)
    }

    /// Like `next_as`, but the operand is mandatory. `what` describes the operand in messages.
    fn expect<T>(&mut self, what: &str, choose: impl FnOnce(&'a OperandKind<'t>) -> Option<T>) -> Decoded<T> {
        self.next_as(choose).map_or_else(|| self.expected(what), Ok)
    }

    fn plain_register(&mut self, uniform: bool, what: &str) -> Decoded<&'a RegText> {
        let plain =
            |reg: &&RegText| reg.uniform == uniform && reg.signs == Signs::default() && reg.suffix.scale == 0;
        self.expect(what, |kind| kind.try_as_reg_ref().filter(plain))
    }

    pub(super) fn reg(&mut self) -> Decoded<Reg> {
        self.plain_register(false, "a register (R0 to R254, RZ)").map(RegText::of_thread)
    }

    /// Takes the first register of a group of `count` thread registers (1, 2 or 4). Its number must be a
    /// multiple of `count` (spec 2.5).
    pub(super) fn reg_group(&mut self, count: u8) -> Decoded<Reg> {
        let reg = self.reg()?;
        self.aligned(reg, count)
    }

    pub(super) fn ureg(&mut self) -> Decoded<UReg> {
        let what = "a uniform register (UR0 to UR62, URZ; from sm_100 to UR254)";
        self.plain_register(true, what).map(RegText::of_warp)
    }

    pub(super) fn ureg_group(&mut self, count: u8) -> Decoded<UReg> {
        let reg = self.ureg()?;
        self.aligned_uniform(reg, count)
    }

    pub(super) fn dst(&mut self, count: u8) -> Decoded<u16> {
        match self.path {
            Path::Vector => self.reg_group(count).map(|r| r.0),
            Path::Uniform => self.ureg_group(count).map(|r| r.0.into()),
        }
    }

    /// Checks that the register taken last can be the first of a group of `count` registers.
    pub(super) fn aligned(&self, reg: Reg, count: u8) -> Decoded<Reg> {
        let last = self.statement.limits.registers - 1;
        self.starts_group((!reg.is_zero()).then_some(reg.0), count, last, "R").map(|()| reg)
    }

    pub(super) fn aligned_uniform(&self, reg: UReg, count: u8) -> Decoded<UReg> {
        let last = self.statement.limits.uniforms - 1;
        self.starts_group((!reg.is_zero()).then_some(reg.0.into()), count, last, "UR").map(|()| reg)
    }

    fn starts_group(&self, index: Option<u16>, count: u8, last: u16, prefix: &str) -> Decoded<()> {
        let size = u16::from(count);
        let Some(index) = index.filter(|i| !(i.is_multiple_of(size) && i + size - 1 <= last)) else {
            return Ok(());
        };
        let down = index - index % size;
        let bits = u32::from(count) * 32;
        let message = format!("{prefix}{index} cannot start a {bits}-bit operand");
        let rule = if count == 2 { "is even" } else { "is a multiple of four" };
        let help =
            format!("the first register of a {bits}-bit operand {rule}, such as {prefix}{down} (spec 2.5)");
        self.wrong(self.last_range(), message, help)
    }

    pub(super) fn pred_dst(&mut self) -> Decoded<Pred> {
        let written = |source: &PredSource| (!source.negate).then_some(source.pred);
        self.expect("a predicate (P0 to P6, PT)", |kind| kind.try_as_pred_ref().and_then(written))
    }

    pub(super) fn pred_dst_if_any(&mut self) -> Decoded<Option<Pred>> {
        match self.peek() {
            Some(OperandKind::Pred(_)) => self.pred_dst().map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn pred(&mut self) -> Decoded<PredSource> {
        let what = "a predicate (P0 to P6, PT, with or without !)";
        self.expect(what, |kind| kind.try_as_pred_ref().copied())
    }

    pub(super) fn pred_if_any(&mut self) -> Option<PredSource> {
        self.next_as(|kind| kind.try_as_pred_ref().copied())
    }

    pub(super) fn source(&mut self, reading: Reading) -> Decoded<Source> {
        let source = self.source_or_sign(reading)?;
        if source.half == HalfSelect::Sign { Err(Failure::Unsupported) } else { Ok(source) }
    }

    /// Takes a data operand of 32 bits, or an operand that is only a sign bit.
    pub(super) fn source_or_sign(&mut self, reading: Reading) -> Decoded<Source> {
        let (value, signs, half) = match self.peek() {
            Some(OperandKind::Reg(reg)) if reg.suffix.scale == 0 => {
                (register_value(reg), reg.signs, reg.suffix.half)
            }
            Some(OperandKind::Const(text)) => {
                let Some(address) = const_address(text) else {
                    return self.expected("a constant at an offset from 0 to 0xffff");
                };
                (Value::Const(address), text.signs, text.half)
            }
            Some(OperandKind::Number(number)) => {
                let Some(bits) = immediate(*number, reading) else {
                    return self.expected(match reading {
                        Reading::Int => "an integer of at most 32 bits",
                        Reading::Int64 => "an integer of at most 64 bits",
                        Reading::F32 | Reading::F64 => "a number or 32 bits",
                    });
                };
                (Value::Imm(bits), Signs::default(), HalfSelect::Both)
            }
            kind => {
                let word = match kind {
                    Some(OperandKind::Name(text)) if reading == Reading::Int => self.targets.code_word(text),
                    _ => None,
                };
                let Some(word) = word else { return self.expected("a register, a constant or a number") };
                (Value::Imm(i64::from(word)), Signs::default(), HalfSelect::Both)
            }
        };
        self.take();
        let Signs { negate, absolute, invert } = signs;
        Ok(Source { value, wide: false, negate, absolute, invert, half })
    }

    /// Takes a data operand of 64 bits. A register operand is a pair.
    pub(super) fn source_pair(&mut self, reading: Reading) -> Decoded<Source> {
        let mut source = self.source(reading)?;
        source.wide = true;
        match &mut source.value {
            Value::Reg(reg) => _ = self.aligned(*reg, 2)?,
            Value::Uniform(reg) => _ = self.aligned_uniform(*reg, 2)?,
            Value::Imm(high) if reading == Reading::F64 => *high <<= 32,
            Value::Imm(_) | Value::Const(_) => {}
        }
        Ok(source)
    }

    /// Takes a data operand of type `ty`. A 64-bit register operand is a pair. Halves are taken as bits.
    pub(super) fn source_of(&mut self, ty: Type) -> Decoded<Source> {
        match (ty.wide(), ty.float()) {
            (true, true) => self.source_pair(Reading::F64),
            (true, false) => self.source_pair(Reading::Int64),
            (false, _) if ty == Type::F32 => self.source(Reading::F32),
            (false, _) => self.source(Reading::Int),
        }
    }

    /// Takes an operand that is two binary32 values: a register pair, or one word or number that is used for
    /// both.
    pub(super) fn source_floats(&mut self) -> Decoded<Source> {
        if let Some(OperandKind::Reg(reg)) = self.peek()
            && reg.suffix.width == Some(Width::Floats)
        {
            return self.source_pair(Reading::F32);
        }
        let source = self.source(Reading::F32)?;
        match source {
            Source { value: Value::Imm(_), .. } | Source { half: HalfSelect::Single, .. } => {
                Ok(Source { half: HalfSelect::Twice, ..source })
            }
            _ => Err(Failure::Unsupported),
        }
    }

    pub(super) fn sources_of<const N: usize>(&mut self, ty: Type, compute: &mut Compute) -> Decoded<()> {
        compute.sources.iter_mut().take(N).try_for_each(|source| {
            *source = self.source_of(ty)?;
            Ok(())
        })
    }

    pub(super) fn result(&mut self, op: ComputeOp, wide: bool) -> Decoded<Compute> {
        let dst = self.dst(if wide { 2 } else { 1 })?;
        Ok(Compute { dst, wide, ..Compute::new(op, self.path) })
    }

    pub(super) fn pred_results(&mut self, op: ComputeOp) -> Decoded<Compute> {
        let pred_dst = [self.pred_dst()?, self.pred_dst()?];
        Ok(Compute { pred_dst, ..Compute::new(op, self.path) })
    }

    pub(super) fn plain<const N: usize>(&mut self, op: ComputeOp, ty: Type) -> Decoded<Operation> {
        let mut compute = self.result(op, ty.wide())?;
        self.sources_of::<N>(ty, &mut compute)?;
        Ok(Operation::Compute(compute))
    }

    pub(super) fn chosen<const N: usize>(&mut self, mut compute: Compute, ty: Type) -> Decoded<Operation> {
        self.sources_of::<N>(ty, &mut compute)?;
        compute.p[0] = self.pred()?;
        Ok(Operation::Compute(compute))
    }

    pub(super) fn preds_if_any(&mut self, compute: &mut Compute) -> Decoded<()> {
        for result in &mut compute.pred_dst {
            *result = self.pred_dst_if_any()?.unwrap_or(*result);
        }
        Ok(())
    }

    /// Takes an operand that is two packed halves: 32 bits, or two numbers, the high half first.
    pub(super) fn source_halves(&mut self, halves: impl Fn(f64) -> u16) -> Decoded<Source> {
        let as_float = |kind: Option<&OperandKind<'_>>| match kind {
            Some(OperandKind::Number(Number::Float(value))) => Some(*value),
            Some(OperandKind::Number(Number::Dec(value))) => Some(*value as f64),
            Some(OperandKind::Name("SNAN" | "+SNAN" | "-SNAN")) => Some(f64::NAN),
            _ => None,
        };
        let Some(high) = as_float(self.peek()) else { return self.source(Reading::Int) };
        self.take();
        let Some(low) = as_float(self.peek()) else {
            return self.expected("a second number (for the low half)");
        };
        self.take();
        let bits = u32::from(halves(high)) << 16 | u32::from(halves(low));
        Ok(Source::plain(Value::Imm(i64::from(bits))))
    }

    pub(super) fn number(&mut self, last: i64) -> Decoded<i64> {
        let number = |kind: &OperandKind<'_>| kind.try_as_number_ref()?.integer();
        let what = format!("a number from 0 to {last:#x}");
        self.expect(&what, |kind| number(kind).filter(|value| (0..=last).contains(value)))
    }

    pub(super) fn barrier(&mut self) -> Decoded<BarrierRegister> {
        self.expect("a convergence barrier (B0 to B15)", |kind| kind.try_as_barrier_ref().copied())
    }

    pub(super) fn name(&mut self) -> Decoded<&'t str> {
        self.expect("a special register such as SR_TID.X", |kind| kind.try_as_name_ref().copied())
    }

    pub(super) fn word(&mut self, word: &str) -> Decoded<()> {
        self.expect(word, |kind| kind.try_as_name_ref().filter(|name| **name == word)).map(|_| ())
    }

    pub(super) fn address(&mut self) -> Decoded<AddressText> {
        self.expect("an address such as [R2+0x4]", |kind| kind.try_as_address_ref().copied())
    }

    pub(super) fn constant(&mut self) -> Decoded<ConstAddress> {
        match self.peek() {
            Some(OperandKind::Const(text)) if text.signs == Signs::default() => {
                self.expect("a constant at an offset from 0 to 0xffff", |_| const_address(text))
            }
            _ => self.expected("a constant such as c[0x0][0x160]"),
        }
    }

    /// Takes a branch target: a label, a function of the listing, or a byte offset in the section. Returns
    /// the index of the target instruction.
    pub(super) fn target(&mut self) -> Decoded<u32> {
        let targets = self.targets;
        let mut nothing = false;
        let index = match self.peek() {
            Some(OperandKind::Label(name)) => {
                let code = targets.address(name).and_then(|address| u32::try_from(address).ok());
                let Some(address) = code.filter(|address| *address < DRIVER_CODE) else {
                    let range = self.statement.operands[self.next].range.clone();
                    let near = targets.labels.keys().filter(|l| l.starts_with(".L")).min_by_key(|l| {
                        let same = l.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
                        (usize::MAX - same, l.len(), **l)
                    });
                    let help = match near {
                        Some(near) => format!("labels of this kernel look like `{near}`"),
                        None => "this kernel has no labels".into(),
                    };
                    return self.wrong(range, format!("unknown label `{name}`"), help);
                };
                // The label may be after the last instruction, so there is nothing to branch to.
                nothing = targets.labels.get(name) == Some(&targets.count);
                address / INSTRUCTION_BYTES
            }
            Some(OperandKind::Place(place)) => {
                let index = targets.places[*place];
                nothing = index == targets.count;
                targets.base + index
            }
            Some(OperandKind::Number(Number::Hex(offset))) => {
                let found = u64::try_from(*offset).ok().and_then(|o| targets.offsets.get(&o));
                let Some(index) = found else {
                    return self.expected("the offset of an instruction, or a label `(.L_x_0)");
                };
                targets.base + index
            }
            _ => return self.expected("a label `(.L_x_0)"),
        };
        self.take();
        if nothing {
            return self.wrong(
                self.last_range(),
                "no instruction follows the label".into(),
                "branch to a label that is before an instruction",
            );
        }
        Ok(index)
    }
}

fn uniform(index: Option<u16>) -> UReg {
    index.and_then(|i| u8::try_from(i).ok()).map_or(UReg::URZ, UReg)
}

impl RegText {
    pub(super) fn of_thread(&self) -> Reg {
        self.index.map_or(Reg::RZ, Reg)
    }

    pub(super) fn of_warp(&self) -> UReg {
        uniform(self.index)
    }
}

fn register_value(reg: &RegText) -> Value {
    if reg.uniform { Value::Uniform(reg.of_warp()) } else { Value::Reg(reg.of_thread()) }
}

fn const_address(text: &ConstText) -> Option<ConstAddress> {
    let offset = u32::try_from(text.offset).ok().filter(|o| *o <= 0xffff)?;
    let index = match text.index.as_ref().map(register_value) {
        Some(Value::Reg(reg)) if !reg.is_zero() => ConstIndex::Reg(reg),
        Some(Value::Uniform(reg)) if !reg.is_zero() => ConstIndex::Uniform(reg),
        _ => ConstIndex::None,
    };
    Some(ConstAddress { bank: text.bank, index, offset })
}

fn immediate(number: Number, reading: Reading) -> Option<i64> {
    let integer = |value: i64| (-(1 << 31)..1 << 32).contains(&value).then_some(value);
    match (number, reading) {
        (Number::Hex(value) | Number::Dec(value), Reading::Int64) => Some(value),
        (Number::Hex(value), _) | (Number::Dec(value), Reading::Int) => integer(value),
        (Number::Float(_), Reading::Int | Reading::Int64) => None,
        (Number::Dec(value), Reading::F32) => Some(i64::from((value as f32).to_bits())),
        // The text of a binary32 immediate is exact, so parsing it as binary64 first adds no rounding error.
        (Number::Float(value), Reading::F32) => Some(i64::from((value as f32).to_bits())),
        (Number::Dec(value), Reading::F64) => Some(((value as f64).to_bits() >> 32) as i64),
        (Number::Float(value), Reading::F64) => Some((value.to_bits() >> 32) as i64),
    }
}
