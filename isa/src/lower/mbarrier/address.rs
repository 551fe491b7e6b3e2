//! Addresses of objects and data, as instructions name them.

use crate::lower::LoweringRefusal;
use crate::lower::code::{Base, Code, CodeAddress, Reg, emit};
use crate::lower::offset::{hex, near, split};
use crate::lower::operand::{Address, Start, Word};

impl Code<'_> {
    /// The operand's register, or a new one that holds it.
    pub(super) fn word(&mut self, word: Word) -> Reg {
        match word {
            Word::Register(id) => self.register(id),
            Word::Constant(value) => self.constant(value),
        }
    }

    /// `target = source + value`, in 32 bits.
    pub(super) fn offset_by(&mut self, target: Reg, source: &str, value: i32) {
        let value = hex(value);
        match self.number {
            ..=99 => emit!(self, "IADD3 {target}, {source}, {value}, RZ"),
            100..=106 => emit!(self, "IADD3 {target}, PT, PT, {source}, {value}, RZ"),
            _ => emit!(self, "IADD {target}, {source}, {value}"),
        }
    }

    /// `target = value - source`, in 32 bits.
    pub(super) fn subtract_from(&mut self, target: Reg, value: i32, source: Reg) {
        self.offset_by(target, &format!("-{source}"), value);
    }

    /// Where an address is. Generic addresses stay so before sm_90; from there on their low word is that of
    /// the shared window.
    pub(super) fn place(&mut self, address: Address<'_>) -> Result<CodeAddress, LoweringRefusal> {
        let Address { base, offset } = address;
        let (base, offset) = match base {
            Start::Register(id) => (Base::Register(self.register(id)), offset),
            Start::Generic(id) if self.number < 90 => (Base::Pair(self.pair(id)), offset),
            Start::Generic(id) => {
                let (low, copy) = (self.pair(id), self.scratch(1));
                emit!(self, "MOV {copy}, {low}");
                (Base::Register(copy), offset)
            }
            Start::Symbol(symbol, name) => {
                let at = self.frame.shared_address(symbol).ok_or_else(|| {
                    LoweringRefusal::new(
                        format!("Address of '{name}' is not in state space '.shared'"),
                        "objects live in shared memory: declare it .shared",
                    )
                })?;
                self.fixed(at as i32, offset)
            }
            Start::Nothing => self.fixed(0, offset),
        };
        Ok(self.near(base, offset))
    }

    /// The same for a load or a store, whose offset from a generic address may have more than 24 bits [TOOLS].
    pub(super) fn long_place(&mut self, address: Address<'_>) -> Result<CodeAddress, LoweringRefusal> {
        match address.base {
            Start::Generic(id) if self.number < 90 => {
                Ok(CodeAddress { base: Base::Pair(self.pair(id)), offset: address.offset.into() })
            }
            _ => self.place(address),
        }
    }

    /// The second word of an object.
    pub(super) fn second_word(&mut self, first: CodeAddress) -> CodeAddress {
        self.near(first.base, (first.offset as i32).wrapping_add(4))
    }

    /// An address in the CTA's allocation that is known. From sm_90 on it is made of the CTA's rank (spec 1.4).
    fn fixed(&mut self, at: i32, offset: i32) -> (Base, i32) {
        if self.number < 90 {
            return (Base::Nothing, at.wrapping_add(offset));
        }
        let (rank, base) = (self.frame.uniform(1), self.frame.uniform(1));
        let (at, offset) = if near(offset.into()) { (at, offset) } else { (at.wrapping_add(offset), 0) };
        self.variable_address(rank, base, at);
        (Base::Uniform(base), offset)
    }

    /// Adds to a register what does not fit beside it.
    fn near(&mut self, base: Base, offset: i32) -> CodeAddress {
        let (far, rest) = split(offset);
        let (base, offset) = match base {
            Base::Register(_) if far == 0 => (base, rest),
            Base::Register(register) => {
                let sum = self.scratch(1);
                self.offset_by(sum, &register.to_string(), far);
                (Base::Register(sum), rest)
            }
            Base::Pair(pair) => (Base::Pair(self.add_wide(pair, far)), rest),
            Base::Uniform(_) | Base::Nothing => (base, offset),
        };
        CodeAddress { base, offset: offset.into() }
    }

    /// A pair of registers that holds a global address.
    pub(super) fn global_address(&mut self, address: Address<'_>) -> Result<Reg, LoweringRefusal> {
        match address.base {
            Start::Generic(id) => {
                let pair = self.pair(id);
                Ok(self.add_wide(pair, address.offset))
            }
            Start::Symbol(symbol, name) => {
                let at = self.frame.global_address(symbol).ok_or_else(|| {
                    LoweringRefusal::new(
                        format!("Address of '{name}' is not in state space '.global'"),
                        "copies come from global memory: declare it .global",
                    )
                })?;
                Ok(self.moved(at.wrapping_add_signed(address.offset.into()), 2))
            }
            Start::Register(_) | Start::Nothing => Ok(self.moved(address.offset as u32 as u64, 2)),
        }
    }

    /// A pair of registers that holds the sum of a pair and a constant.
    fn add_wide(&mut self, pair: Reg, far: i32) -> Reg {
        if far == 0 {
            return pair;
        }
        let (sum, carry) = (self.scratch(2), self.predicate());
        emit!(self, "IADD3 {sum}, {carry}, {pair}, {}, RZ", hex(far));
        emit!(self, "IADD3.X {}, {}, {}, RZ, {carry}, !PT", sum.high(), pair.high(), hex(far >> 31));
        sum
    }

    /// The same place with nothing beside its register.
    pub(super) fn all_in_register(&mut self, place: CodeAddress) -> CodeAddress {
        CodeAddress { base: Base::Register(self.address_register(place)), offset: 0 }
    }

    /// A register that holds the address.
    pub(super) fn address_register(&mut self, place: CodeAddress) -> Reg {
        let CodeAddress { base, offset } = place;
        let offset = offset as i32;
        let from = match base {
            Base::Register(register) | Base::Pair(register) if offset == 0 => return register,
            Base::Register(register) | Base::Pair(register) => register,
            Base::Nothing => Reg::RZ,
            Base::Uniform(uniform) => {
                let copy = self.scratch(1);
                emit!(self, "MOV {copy}, UR{uniform}");
                if offset != 0 {
                    self.offset_by(copy, &copy.to_string(), offset);
                }
                return copy;
            }
        };
        let sum = self.scratch(1);
        self.offset_by(sum, &from.to_string(), offset);
        sum
    }
}
