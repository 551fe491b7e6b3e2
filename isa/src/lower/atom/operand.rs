//! Operands of `atom` and `red`: checks of their kinds as in the assembler, and their registers.

use super::form::{AtomicOp, AtomicSpace, Form};
use crate::lower::code::{Code, Reg, Value};
use crate::lower::operand::Reader;
use crate::lower::{LoweringRefusal, mismatch, refuse};
use crate::ptx::{Base, Operand, RegId, StateSpace, Symbol, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressBase {
    /// Register with a 32-bit shared address, or the first of a pair with a 64-bit address.
    Register(Reg),
    Word(Reg),
    /// Address of a shared variable: byte offset in the CTA's shared memory.
    Shared(u32),
    Global(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) base: AddressBase,
    pub(super) offset: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    /// First register of the destination. `None` for the destination `_`, and for `red`.
    pub(super) destination: Option<Reg>,
    pub(super) address: Address,
    pub(super) b: Value,
    /// New value of `cas`. For other operations, the same as `b`.
    pub(super) c: Value,
    /// Destination registers of the elements of a vector, in order. The machine instruction writes
    /// consecutive scratch registers, from which the result is copied to these.
    pub(super) parts: [Option<Reg>; MOST_ELEMENTS],
}

pub(super) const MOST_ELEMENTS: usize = 8;

impl Operands {
    /// Checks number and kinds of the operands of an instruction, and assigns machine registers to them.
    ///
    /// # Errors
    /// The assembler's message.
    pub(super) fn read(
        reader: &Reader<'_, '_>,
        form: &Form,
        code: &mut Code<'_>,
    ) -> Result<Operands, LoweringRefusal> {
        let opcode = reader.instruction.opcode;
        let sources = if form.op == AtomicOp::Cas { 2 } else { 1 };
        let expected = usize::from(!form.red) + 1 + sources + usize::from(form.hinted);
        let found = reader.instruction.operands.as_slice();
        if found.len() != expected {
            let shape = match (form.red, form.op) {
                (true, _) => "[a], b",
                (_, AtomicOp::Cas) => "d, [a], b, c",
                _ => "d, [a], b",
            };
            let help = format!(
                "found {} operands; write {shape}, with _ for d if the result is not needed",
                found.len()
            );
            return mismatch(opcode, help);
        }
        let mut kinds = Kinds { reader, form, opcode, code, parts: [None; MOST_ELEMENTS] };
        let (destination, rest) = match found.split_first() {
            Some((first, rest)) if !form.red => (kinds.destination(first)?, rest),
            _ => (None, found),
        };
        let [address, values @ ..] = rest else {
            return mismatch(opcode, "no address");
        };
        let address = kinds.address(address)?;
        let mut values = values.iter().take(sources).map(|v| match form.lanes {
            1 => kinds.value(v),
            _ => kinds.vector(v, if form.red { 1 } else { 2 }),
        });
        let b = values.next().transpose()?.unwrap_or(Value::Constant(0));
        let c = values.next().transpose()?.unwrap_or(b);
        Ok(Operands { destination, address, b, c, parts: kinds.parts })
    }
}

/// True if a register of type `register` is a legal operand of an operation on type `operation`.
fn fits(register: Type, operation: Type) -> bool {
    let bits = |ty| matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128);
    let float = |ty| matches!(ty, Type::F32 | Type::F64);
    let half = |ty| matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2);
    register != Type::Pred
        && register.bits() == operation.bits()
        && (bits(register)
            || bits(operation)
            || register == operation
            || !(float(register) || half(register) || float(operation) || half(operation)))
}

pub(super) struct Kinds<'a, 't, 'f> {
    reader: &'a Reader<'a, 't>,
    pub(super) form: &'a Form,
    pub(super) opcode: &'t str,
    pub(super) code: &'a mut Code<'f>,
    pub(super) parts: [Option<Reg>; MOST_ELEMENTS],
}

impl Kinds<'_, '_, '_> {
    pub(super) fn mismatch<T>(&self, help: impl Into<String>) -> Result<T, LoweringRefusal> {
        mismatch(self.opcode, help)
    }

    pub(super) fn register(&mut self, id: RegId) -> Result<Reg, LoweringRefusal> {
        let declared = self.reader.declared(id);
        if let Some((name, ty)) = declared.and_then(|r| Some((&r.name, r.ty?)))
            && !fits(ty, self.form.ty)
        {
            let (has, wants) = (ty.name(), self.form.ty.name());
            return self.mismatch(format!("{name} has the type .{has}, but the operation needs .{wants}"));
        }
        Ok(self.code.registers(id, self.form.ty.words()))
    }

    fn destination(&mut self, operand: &Operand<'_>) -> Result<Option<Reg>, LoweringRefusal> {
        match operand {
            Operand::Sink => Ok(None),
            _ if self.form.lanes > 1 => self.vector_destination(operand).map(Some),
            Operand::Register(id) => self.register(*id).map(Some),
            _ => self.mismatch("the destination must be a register, or _"),
        }
    }

    pub(super) fn value(&mut self, operand: &Operand<'_>) -> Result<Value, LoweringRefusal> {
        use Type::{B16, B32, B64, B128, Bf16, Bf16x2, F16, F16x2, F32, F64, S32, S64, U32, U64};
        Ok(Value::Constant(match (operand, self.form.ty) {
            (Operand::Register(id), _) => return self.register(*id).map(Value::Register),
            (Operand::Integer(value), B16 | B32 | U32 | S32 | B64 | U64 | S64 | B128) => *value as u64,
            (Operand::Single(bits), F32 | B32) => u64::from(*bits),
            (Operand::Single(bits), F64 | B64) => f64::from(f32::from_bits(*bits)).to_bits(),
            (Operand::Double(bits), F64 | B64) => *bits,
            (Operand::Double(bits), F32) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
            (_, ty) => {
                let or = match ty {
                    F32 | F64 => ", or a float such as 1.0 or 0f3F800000",
                    F16 | F16x2 | Bf16 | Bf16x2 => "",
                    _ => ", or an integer",
                };
                return self.mismatch(format!("an operand of type .{} must be a register{or}", ty.name()));
            }
        }))
    }

    fn address(&mut self, operand: &Operand<'_>) -> Result<Address, LoweringRefusal> {
        let Operand::Address { base, offset } = operand else {
            return self.mismatch("write the address in brackets: [%r1+4]");
        };
        let base = match base {
            Base::None => {
                let message = "Immediate addresses allowed only for .local state space";
                return refuse(message, "use a register for the address, or name a variable");
            }
            Base::Register(id) => {
                let wide = matches!(self.form.space, AtomicSpace::Global | AtomicSpace::Generic);
                let words = self.reader.ty(*id).map_or(if wide { 2 } else { 1 }, Type::words);
                match self.code.registers(*id, words) {
                    register if wide && words < 2 => AddressBase::Word(register),
                    register => AddressBase::Register(register),
                }
            }
            Base::Symbol(symbol) => self.variable(*symbol)?,
        };
        Ok(Address { base, offset: *offset })
    }

    /// Returns the address of a variable. A variable that is not declared, as in a loose instruction, counts
    /// as the first variable of its space.
    fn variable(&self, symbol: Symbol) -> Result<AddressBase, LoweringRefusal> {
        let variable = self.reader.variable(symbol);
        let name = variable.map_or("", |v| v.name);
        match (self.form.space, variable.map(|v| v.space)) {
            (AtomicSpace::Shared | AtomicSpace::Cluster, Some(StateSpace::Shared)) => {
                let address = self.code.frame.shared_address(symbol);
                Ok(AddressBase::Shared(address.unwrap_or(self.code.arch.shared_origin())))
            }
            (AtomicSpace::Global | AtomicSpace::Generic, Some(StateSpace::Global)) => {
                self.code.frame.global_address(symbol).map(AddressBase::Global).ok_or_else(|| {
                    let message = format!("the address of global variable `{name}` is not known");
                    LoweringRefusal::new(message, "first copy the address to a register with mov")
                })
            }
            _ => self.mismatch(format!("`{name}` is in another state space than the access")),
        }
    }
}
