//! Machine code of one kernel while it is translated: operands, results, labels.

use super::Fail;
use crate::arch::Arch;
use crate::kernel::compute::{Compute, ComputeOp, IntOp, Path};
use crate::kernel::control::{BranchCondition, Control};
use crate::kernel::instruction::{Guard, Instruction, Operation};
use crate::kernel::order::Ordering;
use crate::kernel::program::SourcePosition;
use crate::kernel::register::{Pred, PredSource, Reg};
use crate::kernel::source::{Source, Value};
use crate::kernel::special::SpecialRegister;
use crate::lower::Frame;
use crate::ptx::{Function, Module, Operand, RegId, StateSpace, Symbol, Type};
use std::collections::HashMap;

/// Pseudo register of PTX for the carry flag, which is a predicate.
const CARRY: RegId = RegId(u32::MAX);
/// Pseudo register of PTX for the shared-memory address of the first byte of the CTA's shared memory.
const SHARED_BASE: RegId = RegId(u32::MAX - 1);

pub(super) struct Emitted {
    pub(super) instruction: Instruction,
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) lowered: Option<String>,
    pub(super) mnemonic: String,
    pub(super) position: Option<SourcePosition>,
}

/// Number of a position in the code. Branches have such numbers as targets until the code is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeLabel(pub(super) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Shared(u32),
    Global(u64),
    Local(u32),
    /// Kernel parameter, at this byte offset in constant bank 0.
    Param(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    None,
    Word(Reg),
    Pair(Reg),
    Pred(u16),
}

impl Output {
    pub(super) fn reg(self) -> Reg {
        match self {
            Output::Word(reg) | Output::Pair(reg) => reg,
            Output::None | Output::Pred(_) => Reg::RZ,
        }
    }

    pub(super) fn value(self) -> Result<Output, Fail> {
        match self {
            Output::Pred(_) => Err(Fail::wrong(
                "expected a register for a value, found a predicate",
                "name a register such as %r1",
            )),
            Output::None | Output::Word(_) | Output::Pair(_) => Ok(self),
        }
    }

    pub(super) fn pred(self) -> Pred {
        match self {
            Output::Pred(number) => Pred::Thread(number),
            Output::None | Output::Word(_) | Output::Pair(_) => Pred::PT,
        }
    }
}

pub(super) const fn word(reg: Reg) -> Source {
    Source::plain(Value::Reg(reg))
}

pub(super) const fn pair(reg: Reg) -> Source {
    Source::pair(Value::Reg(reg))
}

pub(super) const fn imm(bits: u64) -> Source {
    Source::pair(Value::Imm(bits as i64))
}

pub(super) struct FunctionUnit<'a, 't> {
    pub(super) module: &'a Module<'t>,
    pub(super) function: &'a Function<'t>,
    pub(super) arch: Arch,
    pub(super) frame: Frame,
    pub(super) homes: HashMap<Symbol, Home>,
    pub(super) code: Vec<Emitted>,
    pub(super) places: Vec<Option<u32>>,
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) mnemonic: String,
    pub(super) position: Option<SourcePosition>,
    pub(super) guard: Guard,
    pub(super) ordering: Option<Ordering>,
    /// True if the code reads the pseudo register `SHARED_BASE`, so the kernel must set it first.
    pub(super) wants_shared_base: bool,
    /// True if the kernel has an `mbarrier.inval` that produces no machine code.
    pub(super) invalidates: bool,
}

impl<'t> FunctionUnit<'_, 't> {
    pub(super) fn emit(&mut self, operation: Operation) {
        let instruction = Instruction { guard: self.guard, operation, ordering: self.ordering };
        self.push(instruction, None, self.mnemonic.clone());
    }

    /// Emits an instruction that has no PTX statement of its own, or to which the statement is lowered.
    pub(super) fn push(&mut self, instruction: Instruction, lowered: Option<String>, mnemonic: String) {
        let (text, position) = (self.text.clone(), self.position.clone());
        self.code.push(Emitted { instruction, line: self.line, text, lowered, mnemonic, position });
    }

    pub(super) fn control(&mut self, control: Control) {
        self.emit(Operation::Control(control));
    }

    pub(super) fn place(&mut self) -> CodeLabel {
        self.places.push(None);
        CodeLabel(self.places.len() as u32 - 1)
    }

    pub(super) fn bind(&mut self, CodeLabel(place): CodeLabel) {
        if let Some(at) = self.places.get_mut(place as usize) {
            *at = Some(self.code.len() as u32);
        }
    }

    pub(super) fn branch(&mut self, CodeLabel(target): CodeLabel) {
        self.control(Control::Branch { target, condition: BranchCondition::Thread });
    }

    pub(super) fn compute(&mut self, op: ComputeOp, dst: Output, sources: &[Source]) {
        self.compute_with(op, dst, [Pred::PT; 2], sources, PredSource::FALSE);
    }

    /// Emits a compute instruction whose result is a predicate, without a predicate to combine it with.
    pub(super) fn compute_pred(&mut self, op: ComputeOp, dst: Pred, sources: &[Source]) {
        self.compute_with(op, Output::None, [dst, Pred::PT], sources, PredSource::TRUE);
    }

    pub(super) fn compute_with(
        &mut self,
        op: ComputeOp,
        dst: Output,
        pred_dst: [Pred; 2],
        sources: &[Source],
        p: PredSource,
    ) {
        let (dst, wide) = (dst.reg().0, matches!(dst, Output::Pair(_)));
        let mut compute = Compute { dst, wide, pred_dst, ..Compute::new(op, Path::Vector) };
        compute.sources.iter_mut().zip(sources).for_each(|(to, from)| *to = *from);
        compute.p[0] = p;
        self.emit(Operation::Compute(compute));
    }

    pub(super) fn move_to(&mut self, dst: Output, source: Source) {
        self.compute(ComputeOp::Move, dst, &[source]);
    }

    /// Emits a 32-bit addition: `dst = a + b`.
    pub(super) fn add32(&mut self, dst: Output, a: Source, b: u64) {
        self.compute(ComputeOp::int(IntOp::Add, Type::U32), dst, &[a, imm(b)]);
    }

    pub(super) fn type_of(&self, id: RegId) -> Result<Type, Fail> {
        let register = self.function.registers.get(id.0 as usize);
        let ty = register.and_then(|r| r.ty);
        ty.ok_or_else(|| Fail::wrong("the register has no type", "declare the register: .reg .b32 %r1;"))
    }

    /// Returns the first machine register that holds a PTX register, and how many registers hold it.
    pub(super) fn reg(&mut self, id: RegId) -> Result<(Reg, u8), Fail> {
        let words = self.type_of(id)?.words();
        if words == 0 {
            let message = "expected a value, found a predicate";
            return Err(Fail::wrong(message, "convert the predicate to a value: selp.b32 %r1, 1, 0, %p1;"));
        }
        Ok((Reg(self.frame.register(id, words)), words))
    }

    pub(super) fn predicate(&mut self, id: RegId) -> Result<u16, Fail> {
        match self.type_of(id)? {
            Type::Pred => Ok(self.frame.predicate(id)),
            _ => Err(Fail::wrong(
                "expected a predicate, found a value",
                "make a predicate of it: setp.ne.b32 %p1, %r1, 0;",
            )),
        }
    }

    pub(super) fn carry(&mut self) -> u16 {
        self.frame.predicate(CARRY)
    }

    pub(super) fn scratch(&mut self, words: u8) -> Reg {
        Reg(self.frame.scratch(words))
    }

    /// Returns the register with the shared-memory address of the CTA's first byte. `None` on architectures
    /// on which a shared-memory address is the offset in the CTA's shared memory.
    pub(super) fn shared_base(&mut self) -> Option<Reg> {
        if self.arch.number() < 90 {
            return None;
        }
        self.wants_shared_base = true;
        Some(Reg(self.frame.register(SHARED_BASE, 1)))
    }

    pub(super) fn special(&mut self, register: SpecialRegister) -> Reg {
        let reg = self.scratch(1);
        self.special_to(reg, register);
        reg
    }

    pub(super) fn special_to(&mut self, reg: Reg, register: SpecialRegister) {
        self.emit(Operation::Special { path: Path::Vector, dst: reg.0, wide: false, register });
    }

    pub(super) fn home(&self, symbol: Symbol) -> Result<Home, Fail> {
        let home = self.homes.get(&symbol).copied();
        home.ok_or_else(|| {
            Fail::wrong(
                format!("`{}` has no address", self.name(symbol)),
                "functions have no address; call the function by its name",
            )
        })
    }

    fn name(&self, symbol: Symbol) -> &'t str {
        let name = match symbol {
            Symbol::Local(i) => self.function.variables.get(i as usize).map(|v| v.name),
            Symbol::Module(i) => self.module.variables.get(i as usize).map(|v| v.name),
            Symbol::Function(i) => self.module.functions.get(i as usize).map(|f| f.name),
        };
        name.unwrap_or("?")
    }

    fn address_of(&mut self, symbol: Symbol, offset: i64) -> Result<Source, Fail> {
        Ok(match self.home(symbol)? {
            Home::Shared(at) => {
                let at = u64::from(i64::from(at).wrapping_add(offset) as u32);
                match self.shared_base() {
                    None => imm(at),
                    Some(base) => {
                        let sum = self.scratch(1);
                        self.add32(Output::Word(sum), word(base), at);
                        word(sum)
                    }
                }
            }
            Home::Global(at) => imm(at.wrapping_add(offset as u64)),
            Home::Local(at) | Home::Param(at) => imm(i64::from(at).wrapping_add(offset) as u32 as u64),
        })
    }

    /// Returns an operand as a source of type `ty`. A predicate becomes the integer 1 or 0.
    pub(super) fn input(&mut self, operand: &Operand<'t>, ty: Type) -> Result<Source, Fail> {
        Ok(match operand {
            Operand::Register(id) if self.type_of(*id)? != Type::Pred => match self.reg(*id)? {
                (reg, 1) => word(reg),
                (reg, _) => pair(reg),
            },
            Operand::Register(_) | Operand::Not(_) => {
                let (pred, dst) = (self.pred_source(operand)?, self.scratch(1));
                let op = ComputeOp::Select { ty: Type::B32, flush: false };
                self.compute_with(op, Output::Word(dst), [Pred::PT; 2], &[imm(1), imm(0)], pred);
                word(dst)
            }
            Operand::Integer(value) if ty == Type::Pred => imm(u64::from(*value != 0)),
            Operand::Integer(value) => imm(*value as u64),
            Operand::Single(bits) if ty == Type::F64 => imm(f64::from(f32::from_bits(*bits)).to_bits()),
            Operand::Single(bits) => imm((*bits).into()),
            Operand::Double(bits) if ty == Type::F32 => imm((f64::from_bits(*bits) as f32).to_bits().into()),
            Operand::Double(bits) => imm(*bits),
            Operand::Special(name) => self.read_special(name)?,
            Operand::Symbol { symbol, offset } => self.address_of(*symbol, *offset)?,
            _ => {
                let message = "the operand is not a value";
                return Err(Fail::wrong(message, "write a register, a number or a variable's name"));
            }
        })
    }

    pub(super) fn pred_source(&mut self, operand: &Operand<'t>) -> Result<PredSource, Fail> {
        let (id, negate) = match operand {
            Operand::Register(id) if self.type_of(*id)? == Type::Pred => (id, false),
            Operand::Not(id) => (id, true),
            Operand::Integer(0) => return Ok(PredSource::FALSE),
            Operand::Integer(_) => return Ok(PredSource::TRUE),
            _ => {
                let message = "expected a predicate, found a value";
                return Err(Fail::wrong(message, "write a predicate such as %p1"));
            }
        };
        Ok(PredSource { pred: Pred::Thread(self.predicate(*id)?), negate })
    }

    pub(super) fn source(&mut self, operand: &Operand<'t>) -> Result<Source, Fail> {
        Ok(Source { wide: false, ..self.input(operand, Type::U32)? })
    }

    /// Returns a register that holds an operand. If the operand is not a register, it is copied to a scratch
    /// register of type `ty`.
    pub(super) fn in_register(&mut self, operand: &Operand<'t>, ty: Type) -> Result<Reg, Fail> {
        let words = ty.words().max(1);
        match self.input(operand, ty)? {
            Source { value: Value::Reg(reg), wide, .. } if wide || words == 1 => Ok(reg),
            input => {
                let reg = self.scratch(words);
                let to = if words == 1 { Output::Word(reg) } else { Output::Pair(reg) };
                self.move_to(to, input);
                Ok(reg)
            }
        }
    }

    pub(super) fn output(&mut self, operand: &Operand<'t>) -> Result<Output, Fail> {
        match operand {
            Operand::Register(id) if self.type_of(*id)? == Type::Pred => {
                Ok(Output::Pred(self.predicate(*id)?))
            }
            Operand::Register(id) => Ok(match self.reg(*id)? {
                (reg, 1) => Output::Word(reg),
                (reg, _) => Output::Pair(reg),
            }),
            Operand::Sink => Ok(Output::None),
            _ => Err(Fail::wrong("the result operand is not a register", "write a register, or _")),
        }
    }

    pub(super) fn outputs(&mut self, operand: &Operand<'t>) -> Result<(Output, Pred), Fail> {
        let Operand::Pair(pair) = operand else { return Ok((self.output(operand)?, Pred::PT)) };
        let second = match &pair[1] {
            Operand::Sink => Pred::PT,
            Operand::Register(id) => Pred::Thread(self.predicate(*id)?),
            _ => {
                return Err(Fail::wrong(
                    "the second result is not a predicate",
                    "write both results as %r1|%p1",
                ));
            }
        };
        Ok((self.output(&pair[0])?, second))
    }

    pub(super) fn value_output(&mut self, operand: &Operand<'t>) -> Result<Output, Fail> {
        self.output(operand)?.value()
    }

    pub(super) fn pred_output(&mut self, operand: &Operand<'t>) -> Result<Pred, Fail> {
        match operand {
            Operand::Register(id) => Ok(Pred::Thread(self.predicate(*id)?)),
            _ => self.output(operand).map(Output::pred),
        }
    }

    /// Emits a function of two predicates. Bit number `a << 2 | b << 1` of the table is the result.
    pub(super) fn pred_logic(&mut self, table: u8, dst: Pred, [a, b]: [PredSource; 2]) {
        let op = ComputeOp::PredLogic { tables: [table, 0] };
        let pred_dst = [dst, Pred::PT];
        let p = [a, b, PredSource::FALSE];
        self.emit(Operation::Compute(Compute { pred_dst, p, ..Compute::new(op, Path::Vector) }));
    }

    pub(super) fn output_reg(&mut self, operand: &Operand<'t>) -> Result<Reg, Fail> {
        self.value_output(operand).map(Output::reg)
    }

    fn read_special(&mut self, name: &str) -> Result<Source, Fail> {
        use super::special::{Special, special};
        let found = special(name, self.arch).ok_or(Fail::Unsupported)?;
        Ok(match found {
            Special::Number(value) => imm(value),
            Special::Register(register) => word(self.special(register)),
            Special::Pair(low, high) => {
                let to = self.scratch(2);
                self.special_to(to, low);
                self.special_to(to.plus(1), high);
                pair(to)
            }
            Special::Constant(offset) => {
                let reg = self.scratch(1);
                self.constant(reg, offset);
                word(reg)
            }
        })
    }

    pub(super) fn space_of(&self, symbol: Symbol) -> Option<StateSpace> {
        match symbol {
            Symbol::Local(i) => self.function.variables.get(i as usize).map(|v| v.space),
            Symbol::Module(i) => self.module.variables.get(i as usize).map(|v| v.space),
            Symbol::Function(_) => None,
        }
    }
}
