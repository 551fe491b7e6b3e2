//! Lowering of vector atomics: one operation on each of several consecutive registers. They exist only in
//! global memory.

use super::form::Form;
use super::operand::{Kinds, Operands};
use crate::lower::code::{Code, Reg, Value, emit};
use crate::lower::{LoweringRefusal, refuse};
use crate::ptx::{Operand, Type};

impl Form {
    /// Returns operation and type in the spelling of ATOM, ATOMG and RED, such as `ADD.F32x2.FTZ.RN` or
    /// `MIN.BF16x8.RN`.
    pub(super) fn vector_name(&self) -> String {
        let (ty, elements) = match self.ty {
            Type::F16 => ("F16", self.lanes),
            Type::F16x2 => ("F16", 2 * self.lanes),
            Type::Bf16 => ("BF16", self.lanes),
            Type::Bf16x2 => ("BF16", 2 * self.lanes),
            _ => ("F32", self.lanes),
        };
        let flush = if self.ty == Type::F32 && !self.noftz { ".FTZ" } else { "" };
        format!("{}.{ty}x{elements}{flush}.RN", self.op.mnemonic())
    }
}

impl Kinds<'_, '_, '_> {
    /// Returns the elements of a vector operand. `at` is the index of the operand in the instruction, from 0.
    fn elements<'o, 't>(
        &self,
        operand: &'o Operand<'t>,
        at: usize,
    ) -> Result<&'o [Operand<'t>], LoweringRefusal> {
        let lanes = self.form.lanes;
        let help = format!("write {lanes} registers in braces");
        match operand {
            Operand::Vector(parts) if parts.len() == usize::from(lanes) => Ok(parts),
            Operand::Vector(_) => {
                let opcode = self.opcode;
                let of = format!("Argument {at} of instruction '{opcode} instruction with vector types'");
                refuse(format!("{of}: Argument vector size mismatch"), help)
            }
            _ => refuse(format!("Vector expected for argument {at}"), help),
        }
    }

    pub(super) fn vector_destination(&mut self, operand: &Operand<'_>) -> Result<Reg, LoweringRefusal> {
        for (at, element) in self.elements(operand, 0)?.iter().enumerate() {
            let register = match element {
                Operand::Sink => None,
                Operand::Register(id) => Some(self.register(*id)?),
                _ => return self.mismatch("the elements of the destination must be registers, or _"),
            };
            self.parts[at] = register;
        }
        match self.parts.iter().any(Option::is_some) {
            true => Ok(self.code.scratch(self.form.words())),
            false => self.mismatch("write _ for the vector if the result is not needed"),
        }
    }

    pub(super) fn vector(&mut self, operand: &Operand<'_>, at: usize) -> Result<Value, LoweringRefusal> {
        let elements = self.elements(operand, at)?;
        let values = elements.iter().map(|e| self.value(e)).collect::<Result<Vec<_>, _>>()?;
        let all = self.code.scratch(self.form.words());
        let each = values.len() as u8 / self.form.words();
        for (to, values) in (0..).map(|word| all.plus(word)).zip(values.chunks(each.into())) {
            match *values {
                [Value::Constant(bits)] => self.code.move_constant(to, bits, 1),
                [Value::Register(from)] => self.code.copy(to, from, 1),
                [Value::Register(low), Value::Register(high)] => {
                    emit!(self.code, "PRMT {to}, {low}, 0x5410, {high}");
                }
                _ => return self.mismatch("elements of 16 bits must be registers"),
            }
        }
        Ok(Value::Register(all))
    }
}

impl Code<'_> {
    pub(super) fn take_apart(&mut self, form: &Form, operands: &Operands) {
        let Some(all) = operands.destination else { return };
        for (at, to) in (0..).zip(operands.parts).filter_map(|(at, to)| Some((at, to?))) {
            match form.ty.bits() {
                16 => {
                    let half = if at % 2 == 0 { "0x4410" } else { "0x4432" };
                    emit!(self, "PRMT {to}, {}, {half}, RZ", all.plus(at / 2));
                }
                _ => self.copy(to, all.plus(at), 1),
            }
        }
    }
}
