//! Operands of `atom` and `red`: kinds checked as an assembler does, registers found.

use super::form::{AtomicOp, AtomicSpace, Form};
use crate::arch::Arch;
use crate::lower::code::{Reg, Value};
use crate::lower::{Frame, Refusal};
use crate::ptx::{Base, Function, Instruction, Module, Operand, RegId, StateSpace, Symbol, Type};

/// Where names of an instruction mean something.
pub(super) struct Place<'a, 't> {
    pub(super) module: &'a Module<'t>,
    pub(super) function: &'a Function<'t>,
    pub(super) arch: Arch,
}

/// What an address is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressBase {
    /// A machine register that holds a shared address, or the first of two with a 64-bit one.
    Register(Reg),
    /// A 32-bit generic address: no second register.
    Word(Reg),
    /// A shared variable, at this byte of the CTA's part.
    Shared(u32),
    /// A global variable at this address.
    Global(u64),
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) base: AddressBase,
    /// Bytes added.
    pub(super) offset: i64,
}

/// Operands of one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    /// The first machine register of the destination; `None` for `_` and for `red`.
    pub(super) destination: Option<Reg>,
    pub(super) address: Address,
    pub(super) b: Value,
    /// The new value of `cas`; else as `b`.
    pub(super) c: Value,
}

impl Operands {
    /// Looks at number and kinds of the operands and gives each its registers.
    ///
    /// # Errors
    /// What the assembler says.
    pub(super) fn read(
        place: &Place<'_, '_>,
        instruction: &Instruction<'_>,
        form: &Form,
        frame: &mut Frame,
    ) -> Result<Operands, Refusal> {
        let sources = if form.op == AtomicOp::Cas { 2 } else { 1 };
        let expected = usize::from(!form.red) + 1 + sources + usize::from(form.hinted);
        if instruction.operands.len() != expected {
            let shape = match (form.red, form.op) {
                (true, _) => "[a], b",
                (_, AtomicOp::Cas) => "d, [a], b, c",
                _ => "d, [a], b",
            };
            let help = format!(
                "{} operands; it takes {shape}, and _ in place of d where nobody wants the result",
                instruction.operands.len()
            );
            return Err(Refusal::mismatch(instruction.opcode, help));
        }
        let (destination, rest) = match instruction.operands.split_first() {
            Some((first, rest)) if !form.red => (destination(place, first, form, frame)?, rest),
            _ => (None, &instruction.operands[..]),
        };
        let [address, values @ ..] = rest else {
            return Err(Refusal::mismatch(instruction.opcode, "no address"));
        };
        let address = self::address(place, address, form, frame)?;
        let mut values = values.iter().take(sources).map(|v| value(place, v, form, frame));
        let b = values.next().transpose()?.unwrap_or(Value::Constant(0));
        let c = values.next().transpose()?.unwrap_or(b);
        Ok(Operands { destination, address, b, c })
    }
}

fn opcode(form: &Form) -> &'static str {
    if form.red { "red" } else { "atom" }
}

/// Whether a register of one type may stand where an operation on another is.
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

fn register(place: &Place<'_, '_>, id: RegId, form: &Form, frame: &mut Frame) -> Result<Reg, Refusal> {
    let declared = place.function.registers.get(id.0 as usize);
    if let Some((name, ty)) = declared.and_then(|r| Some((&r.name, r.ty?)))
        && !fits(ty, form.ty)
    {
        let (has, wants) = (ty.name(), form.ty.name());
        return Err(Refusal::mismatch(
            opcode(form),
            format!("{name} is a .{has}; the operation is on .{wants}"),
        ));
    }
    Ok(Reg(frame.register(id, form.words())))
}

fn destination(
    place: &Place<'_, '_>,
    operand: &Operand<'_>,
    form: &Form,
    frame: &mut Frame,
) -> Result<Option<Reg>, Refusal> {
    match operand {
        Operand::Register(id) => register(place, *id, form, frame).map(Some),
        Operand::Sink => Ok(None),
        _ => Err(Refusal::mismatch(opcode(form), "the destination is a register, or _")),
    }
}

fn value(
    place: &Place<'_, '_>,
    operand: &Operand<'_>,
    form: &Form,
    frame: &mut Frame,
) -> Result<Value, Refusal> {
    let constant = |bits: u64| Ok(Value::Constant(bits));
    match (operand, form.ty) {
        (Operand::Register(id), _) => register(place, *id, form, frame).map(Value::Register),
        (
            Operand::Integer(value),
            Type::B16 | Type::B32 | Type::U32 | Type::S32 | Type::B64 | Type::U64 | Type::S64 | Type::B128,
        ) => constant(*value as u64),
        (Operand::Single(bits), Type::F32 | Type::B32) => constant(u64::from(*bits)),
        (Operand::Single(bits), Type::F64 | Type::B64) => {
            constant(f64::from(f32::from_bits(*bits)).to_bits())
        }
        (Operand::Double(bits), Type::F64 | Type::B64) => constant(*bits),
        (Operand::Double(bits), Type::F32) => constant(u64::from((f64::from_bits(*bits) as f32).to_bits())),
        _ => Err(Refusal::mismatch(
            opcode(form),
            format!(
                "an operand of .{} is a register{}",
                form.ty.name(),
                match form.ty {
                    Type::F32 | Type::F64 => ", or a float such as 1.0 or 0f3F800000",
                    Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => "",
                    _ => ", or an integer",
                }
            ),
        )),
    }
}

fn address(
    place: &Place<'_, '_>,
    operand: &Operand<'_>,
    form: &Form,
    frame: &mut Frame,
) -> Result<Address, Refusal> {
    let Operand::Address { base, offset } = operand else {
        return Err(Refusal::mismatch(opcode(form), "the address stands in brackets: [%r1+4]"));
    };
    let base = match base {
        Base::None => {
            return Err(Refusal::new(
                "Immediate addresses allowed only for .local state space",
                "put the address in a register, or name a variable",
            ));
        }
        Base::Register(id) => {
            let declared = place.function.registers.get(id.0 as usize).and_then(|r| r.ty);
            let wide = matches!(form.space, AtomicSpace::Global | AtomicSpace::Generic);
            let words = declared.map_or(if wide { 2 } else { 1 }, Type::words);
            match Reg(frame.register(*id, words)) {
                register if wide && words < 2 => AddressBase::Word(register),
                register => AddressBase::Register(register),
            }
        }
        Base::Symbol(symbol) => variable(place, *symbol, form, frame)?,
    };
    Ok(Address { base, offset: *offset })
}

/// Where a variable is. One that has no place yet, as in a loose instruction, is the first of its space.
fn variable(
    place: &Place<'_, '_>,
    symbol: Symbol,
    form: &Form,
    frame: &mut Frame,
) -> Result<AddressBase, Refusal> {
    let variable = match symbol {
        Symbol::Local(index) => place.function.variables.get(index as usize),
        Symbol::Module(index) => place.module.variables.get(index as usize),
        Symbol::Function(_) => None,
    };
    let space = variable.map(|v| v.space);
    match (form.space, space) {
        (AtomicSpace::Shared | AtomicSpace::Cluster, Some(StateSpace::Shared)) => {
            let address = frame.shared_address(symbol).unwrap_or(place.arch.shared_origin());
            Ok(AddressBase::Shared(address))
        }
        (AtomicSpace::Global | AtomicSpace::Generic, Some(StateSpace::Global)) => {
            match frame.global_address(symbol) {
                Some(address) => Ok(AddressBase::Global(address)),
                None => Err(Refusal::new(
                    format!("where global variable `{}` is is not known", variable.map_or("", |v| v.name)),
                    "take its address into a register with mov first",
                )),
            }
        }
        _ => Err(Refusal::mismatch(
            opcode(form),
            format!("`{}` is in another state space", variable.map_or("", |v| v.name)),
        )),
    }
}
