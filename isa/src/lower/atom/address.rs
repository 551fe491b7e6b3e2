//! Address operands of lowered `atom` and `red` instructions.

use super::operand::{Address, AddressBase};
use crate::lower::code::{Base, Code, CodeAddress, Reg, Value, emit};
use crate::lower::offset::{split, split_wide};

impl Code<'_> {
    /// Returns a shared-memory address as LDS and ATOMS write it in brackets. From sm_90 on, the address of a
    /// variable contains the CTA's rank in its cluster (spec 1.4).
    pub(super) fn shared_address(&mut self, address: &Address) -> CodeAddress {
        match address.base {
            AddressBase::Register(register) | AddressBase::Word(register) => {
                let (far, offset) = split(address.offset as i32);
                let register = self.advanced(register, far.into());
                CodeAddress { base: Base::Register(register), offset: offset.into() }
            }
            AddressBase::Shared(byte) if self.number < 90 => {
                CodeAddress { base: Base::Nothing, offset: (i64::from(byte) + address.offset) & 0xff_ffff }
            }
            AddressBase::Shared(byte) => {
                let (uniform, rank) = (self.frame.uniform(1), self.frame.uniform(1));
                self.variable_address(rank, uniform, byte as i32);
                CodeAddress { base: Base::Uniform(uniform), offset: address.offset }
            }
            AddressBase::Global(address) => {
                CodeAddress { base: Base::Nothing, offset: (address as u32).into() }
            }
        }
    }

    pub(super) fn shared_register(&mut self, address: &Address) -> Reg {
        let CodeAddress { base, offset } = self.shared_address(address);
        match (address.base, base) {
            (AddressBase::Register(register), _) => self.advanced(register, address.offset),
            (_, Base::Register(register) | Base::Pair(register)) => self.advanced(register, offset),
            (_, Base::Nothing) => self.in_registers(Value::Constant(offset as u64), 1),
            (_, Base::Uniform(register)) => {
                let base = self.scratch(1);
                emit!(self, "MOV {base}, UR{register}");
                self.advanced(base, offset)
            }
        }
    }

    /// Returns a generic or global address: its register pair, and the immediate offset to write after it.
    pub(super) fn wide_address(&mut self, address: &Address) -> (Reg, i64) {
        let pair = match address.base {
            AddressBase::Register(register) => register,
            AddressBase::Word(register) => {
                let pair = self.scratch(2);
                emit!(self, "MOV {pair}, {register}");
                emit!(self, "MOV {}, RZ", pair.high());
                pair
            }
            AddressBase::Global(byte) => self.in_registers(Value::Constant(byte), 2),
            AddressBase::Shared(byte) => self.in_registers(Value::Constant(u64::from(byte)), 2),
        };
        let (far, offset) = split_wide(address.offset, self.number);
        (self.advanced_wide(pair, far), offset)
    }
}
