//! Addresses of mbarrier objects and data in machine code.

use crate::lower::LoweringRefusal;
use crate::lower::code::{Base, Code, CodeAddress, Reg, emit};
use crate::lower::offset::{hex, near, split};
use crate::lower::operand::{Address, Start, Word};

impl Code<'_> {
    /// Returns the register of a 32-bit operand. A constant is moved to a new register.
    pub(super) fn word(&mut self, word: Word) -> Reg {
        match word {
            Word::Register(id) => self.register(id),
            Word::Constant(value) => self.constant(value),
        }
    }

    pub(super) fn offset_by(&mut self, target: Reg, source: &str, value: i32) {
        let value = hex(value);
        match self.number {
            ..=99 => emit!(self, "IADD3 {target}, {source}, {value}, RZ"),
            100..=106 => emit!(self, "IADD3 {target}, PT, PT, {source}, {value}, RZ"),
            _ => emit!(self, "IADD {target}, {source}, {value}"),
        }
    }

    pub(super) fn subtract_from(&mut self, target: Reg, value: i32, source: Reg) {
        self.offset_by(target, &format!("-{source}"), value);
    }

    /// Returns the machine address of a PTX address operand. Before sm_90, a generic address stays a 64-bit
    /// pair. From sm_90 on, its low word is used as a shared-memory address.
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
                        "mbarrier objects are in shared memory: declare the variable .shared",
                    )
                })?;
                self.fixed(at as i32, offset)
            }
            Start::Nothing => self.fixed(0, offset),
        };
        Ok(self.near(base, offset))
    }

    /// Like `place`, for the address of a load or a store. These instructions accept an offset from a generic
    /// address beyond 24 bits [TOOLS].
    pub(super) fn long_place(&mut self, address: Address<'_>) -> Result<CodeAddress, LoweringRefusal> {
        match address.base {
            Start::Generic(id) if self.number < 90 => {
                Ok(CodeAddress { base: Base::Pair(self.pair(id)), offset: address.offset.into() })
            }
            _ => self.place(address),
        }
    }

    pub(super) fn second_word(&mut self, first: CodeAddress) -> CodeAddress {
        self.near(first.base, (first.offset as i32).wrapping_add(4))
    }

    /// Returns the constant address of byte `at` in the CTA's shared memory. From sm_90 on, the address
    /// contains the CTA's rank in its cluster (spec 1.4).
    fn fixed(&mut self, at: i32, offset: i32) -> (Base, i32) {
        if self.number < 90 {
            return (Base::Nothing, at.wrapping_add(offset));
        }
        let (rank, base) = (self.frame.uniform(1), self.frame.uniform(1));
        let (at, offset) = if near(offset.into()) { (at, offset) } else { (at.wrapping_add(offset), 0) };
        self.variable_address(rank, base, at);
        (Base::Uniform(base), offset)
    }

    /// Returns an address whose offset fits in the immediate. Emits an addition to the register for the rest
    /// of the offset.
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
                        "the source of the copy is global memory: declare the variable .global",
                    )
                })?;
                Ok(self.moved(at.wrapping_add_signed(address.offset.into()), 2))
            }
            Start::Register(_) | Start::Nothing => Ok(self.moved(address.offset as u32 as u64, 2)),
        }
    }

    fn add_wide(&mut self, pair: Reg, far: i32) -> Reg {
        if far == 0 {
            return pair;
        }
        let (sum, carry) = (self.scratch(2), self.predicate());
        emit!(self, "IADD3 {sum}, {carry}, {pair}, {}, RZ", hex(far));
        emit!(self, "IADD3.X {}, {}, {}, RZ, {carry}, !PT", sum.high(), pair.high(), hex(far >> 31));
        sum
    }

    /// Returns the same address without an offset: emits an addition that puts the complete address in one
    /// register.
    pub(super) fn all_in_register(&mut self, place: CodeAddress) -> CodeAddress {
        CodeAddress { base: Base::Register(self.address_register(place)), offset: 0 }
    }

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
