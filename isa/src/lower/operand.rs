//! Reader of PTX operands: registers, 32-bit values and addresses.

use crate::ptx::{
    Base, Function, Module, Operand, PtxInstruction, PtxRegister, RegId, Symbol, Type, Variable,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Register(RegId),
    Constant(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'t> {
    pub(super) base: Start<'t>,
    pub(super) offset: i32,
}

impl Address<'_> {
    pub(super) fn plus(self, bytes: i32) -> Self {
        Address { offset: self.offset.wrapping_add(bytes), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start<'t> {
    Register(RegId),
    Generic(RegId),
    Symbol(Symbol, &'t str),
    /// No base: the offset counts from the first byte of the CTA's shared memory.
    Nothing,
}

pub(super) struct Reader<'a, 't> {
    pub(super) module: &'a Module<'t>,
    pub(super) function: &'a Function<'t>,
    pub(super) instruction: &'a PtxInstruction<'t>,
}

impl<'t> Reader<'_, 't> {
    pub(super) fn declared(&self, id: RegId) -> Option<&PtxRegister<'t>> {
        self.function.registers.get(id.0 as usize)
    }

    pub(super) fn ty(&self, id: RegId) -> Option<Type> {
        self.declared(id)?.ty
    }

    pub(super) fn register(&self, operand: &Operand<'_>, bits: u32) -> Option<RegId> {
        match *operand {
            Operand::Register(id) if self.ty(id).is_none_or(|ty| ty.bits() == bits) => Some(id),
            _ => None,
        }
    }

    pub(super) fn word(&self, operand: &Operand<'_>) -> Option<Word> {
        match *operand {
            Operand::Integer(value) => Some(Word::Constant(value as u32)),
            Operand::Single(bits) => Some(Word::Constant(bits)),
            _ => self.register(operand, 32).map(Word::Register),
        }
    }

    pub(super) fn address(&self, operand: &Operand<'_>, generic: bool) -> Option<Address<'t>> {
        let Operand::Address { base, offset } = *operand else { return None };
        let base = match base {
            // A register without a declared type, as in loose instructions, is accepted as an address of any
            // width.
            Base::Register(id) => match (generic, self.ty(id).map(Type::bits)) {
                (true, None | Some(64)) => Start::Generic(id),
                (true, Some(32)) if self.module.address_size == 32 => Start::Register(id),
                (false, None | Some(32 | 64)) => Start::Register(id),
                _ => return None,
            },
            Base::Symbol(symbol) => return Some(self.symbol(symbol, offset)),
            Base::None => Start::Nothing,
        };
        Some(Address { base, offset: offset as i32 })
    }

    pub(super) fn symbol(&self, symbol: Symbol, offset: i64) -> Address<'t> {
        Address { base: Start::Symbol(symbol, self.name(symbol)), offset: offset as i32 }
    }

    pub(super) fn variable(&self, symbol: Symbol) -> Option<&Variable<'t>> {
        match symbol {
            Symbol::Local(at) => self.function.variables.get(at as usize),
            Symbol::Module(at) => self.module.variables.get(at as usize),
            Symbol::Function(_) => None,
        }
    }

    fn name(&self, symbol: Symbol) -> &'t str {
        match symbol {
            Symbol::Function(at) => self.module.functions.get(at as usize).map_or("", |f| f.name),
            Symbol::Local(_) | Symbol::Module(_) => self.variable(symbol).map_or("", |v| v.name),
        }
    }
}
