//! The code of one kernel while it is written: operands, results, labels.

use super::{Fail, Mods};
use crate::arch::Arch;
use crate::kernel::compute::{COMPUTE_OPERANDS, Compute, ComputeInput, ComputeOp, ComputeOutput, IntOp};
use crate::kernel::control::{BranchCondition, Control};
use crate::kernel::instruction::{Guard, Instruction, Operation};
use crate::kernel::order::Ordering;
use crate::kernel::register::{Pred, PredSource, Reg};
use crate::kernel::source::{Source, Value};
use crate::kernel::special::SpecialRegister;
use crate::lower::Frame;
use crate::ptx::{self, Function, Module, Operand, RegId, StateSpace, Symbol, Type};
use std::collections::HashMap;

/// Stands for the predicate that holds the carry flag.
const CARRY: RegId = RegId(u32::MAX);
/// Stands for the register that holds the shared address of offset 0 of the own CTA.
const SHARED_BASE: RegId = RegId(u32::MAX - 1);

/// An instruction and the text it comes from.
pub(super) struct Emitted {
    pub(super) instruction: Instruction,
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) mnemonic: String,
}

/// Number of a place in the code; branches name these until all code is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) u32);

/// Where a variable of the kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Offset in the CTA's allocation.
    Shared(u32),
    /// Address in global memory, constants included.
    Global(u64),
    /// Offset in the thread's own memory.
    Local(u32),
    /// Offset in constant bank 0.
    Param(u32),
}

pub(super) struct Unit<'a, 't> {
    pub(super) module: &'a Module<'t>,
    pub(super) function: &'a Function<'t>,
    pub(super) arch: Arch,
    pub(super) frame: Frame,
    pub(super) homes: HashMap<Symbol, Home>,
    pub(super) code: Vec<Emitted>,
    /// Index of the instruction at each place.
    pub(super) places: Vec<Option<u32>>,
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) mnemonic: String,
    /// Guard and ordering of what is emitted.
    pub(super) guard: Guard,
    pub(super) ordering: Option<Ordering>,
    /// The shared address of offset 0 is wanted in its register.
    pub(super) wants_shared_base: bool,
}

impl<'t> Unit<'_, 't> {
    /// Adds an instruction under the statement's guard.
    pub(super) fn emit(&mut self, operation: Operation) {
        self.emit_as(operation, self.text.clone(), self.mnemonic.clone());
    }

    pub(super) fn emit_as(&mut self, operation: Operation, text: String, mnemonic: String) {
        let instruction = Instruction { guard: self.guard, operation, ordering: self.ordering };
        self.code.push(Emitted { instruction, line: self.line, text, mnemonic });
    }

    pub(super) fn control(&mut self, control: Control) {
        self.emit(Operation::Control(control));
    }

    pub(super) fn place(&mut self) -> Place {
        self.places.push(None);
        Place(self.places.len() as u32 - 1)
    }

    /// Says that a place is here.
    pub(super) fn bind(&mut self, Place(place): Place) {
        if let Some(at) = self.places.get_mut(place as usize) {
            *at = Some(self.code.len() as u32);
        }
    }

    pub(super) fn branch(&mut self, Place(target): Place) {
        self.control(Control::Branch { target, condition: BranchCondition::Thread });
    }

    pub(super) fn compute(&mut self, op: ComputeOp, dst: ComputeOutput, inputs: &[ComputeInput]) {
        self.compute_with(op, dst, None, inputs);
    }

    pub(super) fn compute_with(
        &mut self,
        op: ComputeOp,
        dst: ComputeOutput,
        second: Option<u16>,
        inputs: &[ComputeInput],
    ) {
        let mut all = [ComputeInput::Imm(0); COMPUTE_OPERANDS];
        all.iter_mut().zip(inputs).for_each(|(to, from)| *to = *from);
        self.emit(Operation::Ptx(Compute { op, dst, second, inputs: all }));
    }

    pub(super) fn move_to(&mut self, dst: ComputeOutput, input: ComputeInput) {
        self.compute(ComputeOp::Move, dst, &[input]);
    }

    /// Declared type of a register.
    pub(super) fn type_of(&self, id: RegId) -> Result<Type, Fail> {
        let register = self.function.registers.get(id.0 as usize);
        let ty = register.and_then(|r| r.ty);
        ty.ok_or_else(|| Fail::wrong("a register without a type", "declare it: .reg .b32 %r1;"))
    }

    /// First machine register of a PTX register, and how many there are.
    pub(super) fn reg(&mut self, id: RegId) -> Result<(Reg, u8), Fail> {
        let words = self.type_of(id)?.words();
        if words == 0 {
            return Err(Fail::wrong(
                "a predicate where a value should be",
                "make a value of it: selp.b32 %r1, 1, 0, %p1;",
            ));
        }
        Ok((Reg(self.frame.register(id, words)), words))
    }

    pub(super) fn predicate(&mut self, id: RegId) -> Result<u16, Fail> {
        match self.type_of(id)? {
            Type::Pred => Ok(self.frame.predicate(id)),
            _ => Err(Fail::wrong(
                "a value where a predicate should be",
                "make a predicate of it: setp.ne.b32 %p1, %r1, 0;",
            )),
        }
    }

    /// The predicate of the carry flag.
    pub(super) fn carry(&mut self) -> u16 {
        self.frame.predicate(CARRY)
    }

    pub(super) fn scratch(&mut self, words: u8) -> Reg {
        Reg(self.frame.scratch(words))
    }

    /// Register with the shared address of offset 0; none where addresses are offsets.
    pub(super) fn shared_base(&mut self) -> Option<Reg> {
        if self.arch.number() < 90 {
            return None;
        }
        self.wants_shared_base = true;
        Some(Reg(self.frame.register(SHARED_BASE, 1)))
    }

    /// Reads a special register into a scratch register.
    pub(super) fn special(&mut self, register: SpecialRegister) -> Reg {
        let reg = self.scratch(1);
        self.special_to(reg, register);
        reg
    }

    pub(super) fn special_to(&mut self, reg: Reg, register: SpecialRegister) {
        let path = crate::kernel::alu::Path::Vector;
        self.emit(Operation::Special { path, dst: reg.0, wide: false, register });
    }

    pub(super) fn home(&self, symbol: Symbol) -> Result<Home, Fail> {
        let home = self.homes.get(&symbol).copied();
        home.ok_or_else(|| {
            Fail::wrong(
                format!("the address of `{}`", self.name(symbol)),
                "functions have no address here; call them by name",
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

    /// The address of a variable in its own space, as an operand.
    fn address_of(&mut self, symbol: Symbol, offset: i64) -> Result<ComputeInput, Fail> {
        Ok(match self.home(symbol)? {
            Home::Shared(at) => {
                let at = i64::from(at).wrapping_add(offset) as u32;
                match self.shared_base() {
                    None => ComputeInput::Imm(at.into()),
                    Some(base) => {
                        let sum = self.scratch(1);
                        let op = ComputeOp::Int { op: IntOp::Add, ty: Type::U32, saturate: false };
                        self.compute(
                            op,
                            ComputeOutput::Word(sum),
                            &[ComputeInput::Word(base), ComputeInput::Imm(at.into())],
                        );
                        ComputeInput::Word(sum)
                    }
                }
            }
            Home::Global(at) => ComputeInput::Imm(at.wrapping_add(offset as u64)),
            Home::Local(at) | Home::Param(at) => {
                ComputeInput::Imm(i64::from(at).wrapping_add(offset) as u32 as u64)
            }
        })
    }

    /// What an operand of this type reads.
    pub(super) fn input(&mut self, operand: &Operand<'t>, ty: Type) -> Result<ComputeInput, Fail> {
        Ok(match operand {
            Operand::Register(id) if self.type_of(*id)? == Type::Pred => {
                let pred = Pred::Thread(self.predicate(*id)?);
                ComputeInput::Pred(PredSource { pred, negate: false })
            }
            Operand::Register(id) => match self.reg(*id)? {
                (reg, 1) => ComputeInput::Word(reg),
                (reg, _) => ComputeInput::Pair(reg),
            },
            Operand::Not(id) => {
                ComputeInput::Pred(PredSource { pred: Pred::Thread(self.predicate(*id)?), negate: true })
            }
            Operand::Integer(value) if ty == Type::Pred => {
                ComputeInput::Pred(if *value != 0 { PredSource::TRUE } else { PredSource::FALSE })
            }
            Operand::Integer(value) => ComputeInput::Imm(*value as u64),
            Operand::Single(bits) if ty == Type::F64 => {
                ComputeInput::Imm(f64::from(f32::from_bits(*bits)).to_bits())
            }
            Operand::Single(bits) => ComputeInput::Imm((*bits).into()),
            Operand::Double(bits) if ty == Type::F32 => {
                ComputeInput::Imm((f64::from_bits(*bits) as f32).to_bits().into())
            }
            Operand::Double(bits) => ComputeInput::Imm(*bits),
            Operand::Special(name) => self.read_special(name)?,
            Operand::Symbol { symbol, offset } => self.address_of(*symbol, *offset)?,
            _ => {
                return Err(Fail::wrong(
                    "an operand that is no value",
                    "write a register, a number or a variable's name",
                ));
            }
        })
    }

    /// A predicate operand.
    pub(super) fn pred_source(&mut self, operand: &Operand<'t>) -> Result<PredSource, Fail> {
        match self.input(operand, Type::Pred)? {
            ComputeInput::Pred(source) => Ok(source),
            _ => Err(Fail::wrong("a value where a predicate should be", "write a predicate such as %p1")),
        }
    }

    /// An operand of 32 bits as instructions of the machine take it.
    pub(super) fn source(&mut self, operand: &Operand<'t>) -> Result<Source, Fail> {
        Ok(match self.input(operand, Type::U32)? {
            ComputeInput::Word(reg) | ComputeInput::Pair(reg) => Source::plain(Value::Reg(reg)),
            ComputeInput::Imm(bits) => Source::plain(Value::Imm(bits as i64)),
            input @ ComputeInput::Pred(_) => {
                let reg = self.scratch(1);
                self.move_to(ComputeOutput::Word(reg), input);
                Source::plain(Value::Reg(reg))
            }
        })
    }

    /// An operand in a register: where it is none, in a scratch register of `words`.
    pub(super) fn in_register(&mut self, operand: &Operand<'t>, ty: Type) -> Result<Reg, Fail> {
        let words = ty.words().max(1);
        match self.input(operand, ty)? {
            ComputeInput::Word(reg) if words == 1 => Ok(reg),
            ComputeInput::Pair(reg) => Ok(reg),
            input => {
                let reg = self.scratch(words);
                let to = if words == 1 { ComputeOutput::Word(reg) } else { ComputeOutput::Pair(reg) };
                self.move_to(to, input);
                Ok(reg)
            }
        }
    }

    /// Where a result goes.
    pub(super) fn output(&mut self, operand: &Operand<'t>) -> Result<ComputeOutput, Fail> {
        match operand {
            Operand::Register(id) if self.type_of(*id)? == Type::Pred => {
                Ok(ComputeOutput::Pred(self.predicate(*id)?))
            }
            Operand::Register(id) => Ok(match self.reg(*id)? {
                (reg, 1) => ComputeOutput::Word(reg),
                (reg, _) => ComputeOutput::Pair(reg),
            }),
            Operand::Sink => Ok(ComputeOutput::None),
            _ => Err(Fail::wrong("a result that goes nowhere", "name a register, or _")),
        }
    }

    /// A result and, after `|`, a predicate.
    pub(super) fn outputs(&mut self, operand: &Operand<'t>) -> Result<(ComputeOutput, Option<u16>), Fail> {
        let Operand::Pair(pair) = operand else { return Ok((self.output(operand)?, None)) };
        let second = match &pair[1] {
            Operand::Sink => None,
            Operand::Register(id) => Some(self.predicate(*id)?),
            _ => {
                return Err(Fail::wrong("a second result that is no predicate", "write it as %r1|%p1"));
            }
        };
        Ok((self.output(&pair[0])?, second))
    }

    /// Register of a result that has to be one.
    pub(super) fn output_reg(&mut self, operand: &Operand<'t>) -> Result<Reg, Fail> {
        match self.output(operand)? {
            ComputeOutput::Word(reg) | ComputeOutput::Pair(reg) => Ok(reg),
            ComputeOutput::None => Ok(Reg::RZ),
            ComputeOutput::Pred(_) => {
                Err(Fail::wrong("a predicate where a value should go", "name a register such as %r1"))
            }
        }
    }

    fn read_special(&mut self, name: &str) -> Result<ComputeInput, Fail> {
        use super::special::{Special, special};
        let found = special(name, self.arch).ok_or(Fail::Lacking)?;
        Ok(match found {
            Special::Number(value) => ComputeInput::Imm(value),
            Special::Register(register) => ComputeInput::Word(self.special(register)),
            Special::Pair(low, high) => {
                let pair = self.scratch(2);
                self.special_to(pair, low);
                self.special_to(pair.plus(1), high);
                ComputeInput::Pair(pair)
            }
            Special::Constant(offset) => {
                let reg = self.scratch(1);
                self.emit(Operation::Const(crate::kernel::memory::ConstAccess {
                    path: crate::kernel::alu::Path::Vector,
                    dst: reg.0,
                    grain: crate::kernel::memory::Grain::Words(1),
                    address: crate::kernel::source::ConstAddress {
                        bank: 0,
                        index: crate::kernel::source::ConstIndex::None,
                        offset,
                    },
                }));
                ComputeInput::Word(reg)
            }
        })
    }

    /// State space of the variable an operand names.
    pub(super) fn space_of(&self, symbol: Symbol) -> Option<StateSpace> {
        match symbol {
            Symbol::Local(i) => self.function.variables.get(i as usize).map(|v| v.space),
            Symbol::Module(i) => self.module.variables.get(i as usize).map(|v| v.space),
            Symbol::Function(_) => None,
        }
    }
}

/// Operand `index` of an instruction.
pub(super) fn operand<'i, 't>(
    instruction: &'i ptx::PtxInstruction<'t>,
    index: usize,
) -> Result<&'i Operand<'t>, Fail> {
    instruction.operands.get(index).ok_or_else(|| {
        Fail::wrong(
            format!("{} operand(s)", instruction.operands.len()),
            format!("{} has at least {}", Mods::name(instruction), index + 1),
        )
    })
}
