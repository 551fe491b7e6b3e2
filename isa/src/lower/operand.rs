//! Operands of PTX instructions, by what they are for.

use crate::ptx::{
    Base, Function, Module, Operand, PtxInstruction, PtxRegister, RegId, Symbol, Type, Variable,
};

/// A 32-bit operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Register(RegId),
    Constant(u32),
}

/// An address in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'t> {
    pub(super) base: Start<'t>,
    /// Bytes added, modulo 2^32.
    pub(super) offset: i32,
}

impl Address<'_> {
    /// So many bytes further on.
    pub(super) fn plus(self, bytes: i32) -> Self {
        Address { offset: self.offset.wrapping_add(bytes), ..self }
    }
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start<'t> {
    /// A shared address.
    Register(RegId),
    /// A generic address, in two words.
    Generic(RegId),
    /// A variable, and its name for messages.
    Symbol(Symbol, &'t str),
    /// The CTA's first byte.
    Nothing,
}

/// An instruction, and the registers and variables that it names.
pub(super) struct Reader<'a, 't> {
    pub(super) module: &'a Module<'t>,
    pub(super) function: &'a Function<'t>,
    pub(super) instruction: &'a PtxInstruction<'t>,
}

impl<'t> Reader<'_, 't> {
    /// A register as it is declared.
    pub(super) fn declared(&self, id: RegId) -> Option<&PtxRegister<'t>> {
        self.function.registers.get(id.0 as usize)
    }

    /// Declared type of a register; `None` in a snippet.
    pub(super) fn ty(&self, id: RegId) -> Option<Type> {
        self.declared(id)?.ty
    }

    /// A register of so many bits; `None` if the operand is something else.
    pub(super) fn register(&self, operand: &Operand<'_>, bits: u32) -> Option<RegId> {
        match *operand {
            Operand::Register(id) if self.ty(id).is_none_or(|ty| ty.bits() == bits) => Some(id),
            _ => None,
        }
    }

    /// A register of 32 bits or a constant.
    pub(super) fn word(&self, operand: &Operand<'_>) -> Option<Word> {
        match *operand {
            Operand::Integer(value) => Some(Word::Constant(value as u32)),
            Operand::Single(bits) => Some(Word::Constant(bits)),
            _ => self.register(operand, 32).map(Word::Register),
        }
    }

    /// An address, of the shared window or `generic`.
    pub(super) fn address(&self, operand: &Operand<'_>, generic: bool) -> Option<Address<'t>> {
        let Operand::Address { base, offset } = *operand else { return None };
        let base = match base {
            // Without a declared type, the register is as wide as an address.
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

    /// The address of a variable, with bytes added.
    pub(super) fn symbol(&self, symbol: Symbol, offset: i64) -> Address<'t> {
        Address { base: Start::Symbol(symbol, self.name(symbol)), offset: offset as i32 }
    }

    /// A variable; `None` of a function.
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
