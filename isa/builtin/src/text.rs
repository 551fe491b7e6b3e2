//! Writer of the PTX of one builtin call: lines, and the registers in them.

use super::{ObjectType, PtxTarget, TypeClass};
use std::fmt::{self, Write};

macro_rules! put {
    ($writer:expr, $($format:tt)*) => { $writer.line(format!($($format)*)) };
}
pub(super) use put;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum RegisterType {
    Pred,
    B16,
    B32,
    B64,
    F32,
    F64,
    B128,
}

impl RegisterType {
    const COUNT: usize = 7;

    pub const fn prefix(self) -> &'static str {
        match self {
            RegisterType::Pred => "%p",
            RegisterType::B16 => "%rs",
            RegisterType::B32 => "%r",
            RegisterType::B64 => "%rd",
            RegisterType::F32 => "%f",
            RegisterType::F64 => "%fd",
            RegisterType::B128 => "%rq",
        }
    }
}

/// A register that the PTX lines use but do not declare.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FreeRegister {
    pub name: String,
    pub ty: RegisterType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputRole {
    Object,
    /// Value that the operation combines or stores. A value of 16 bytes has two inputs, the low half first.
    Value,
    Compare,
    ValueAddress,
    /// Generic address of the expected value of a compare-and-swap. The old value of the object is stored
    /// there too.
    ExpectedAddress,
    ResultAddress,
}

/// A register that must be set before the PTX lines execute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    pub register: String,
    pub role: InputRole,
    /// PTX type of the call's argument that is passed in this register. Values below 32 bits are
    /// sign-extended.
    pub passed_as: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Declarations of shared variables, instructions and labels, one per line.
    pub lines: Vec<String>,
    /// Registers that `lines` uses without declaring them, inputs first.
    pub registers: Vec<FreeRegister>,
    pub inputs: Vec<Input>,
    /// Registers that hold the result, low half first. Empty if the call has no result, or stores it to
    /// memory. A result below 32 bits is sign-extended, except if the dialect `nvvm` expands to a single
    /// instruction.
    pub result: Vec<String>,
    pub warnings: Vec<Warning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub number: u16,
    pub message: String,
}

impl fmt::Display for Expansion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Expansion {
    pub(super) fn of_line(line: String) -> Expansion {
        Expansion { lines: vec![line], ..Expansion::default() }
    }

    /// Returns a PTX module with one kernel `name` that executes the call once per thread. The kernel's
    /// parameters are the inputs in order. If there is a result, the last parameter is the generic address to
    /// store it at.
    pub fn module(&self, name: &str, target: PtxTarget) -> String {
        // 9.4 is the first PTX version that supports every target from sm_75 to sm_121. The assembler for
        // targets before sm_75 accepts PTX versions up to 8.7.
        let version = if target.number() < 75 { "8.7" } else { "9.4" };
        let mut params: Vec<String> = Vec::new();
        let mut loads = String::new();
        for (place, input) in self.inputs.iter().enumerate() {
            params.push(format!("\t.param .{} {name}_param_{place}", input.passed_as));
            let _ =
                writeln!(loads, "\tld.param.{} {}, [{name}_param_{place}];", input.passed_as, input.register);
        }
        let mut stores = String::new();
        if !self.result.is_empty() {
            let place = params.len();
            params.push(format!("\t.param .u64 {name}_param_{place}"));
            let _ = writeln!(loads, "\tld.param.u64 %result, [{name}_param_{place}];");
            let mut offset = 0;
            for register in &self.result {
                let ty = self.registers.iter().find(|r| r.name == *register).map(|r| r.ty);
                let (ty, bytes) = match ty {
                    Some(RegisterType::B16) => ("b16", 2),
                    Some(RegisterType::B64) => ("b64", 8),
                    Some(RegisterType::F32) => ("f32", 4),
                    Some(RegisterType::F64) => ("f64", 8),
                    _ => ("b32", 4),
                };
                let _ = writeln!(stores, "\tst.{ty} [%result+{offset}], {register};");
                offset += bytes;
            }
        }
        let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n\n");
        let _ = writeln!(text, ".visible .entry {name}(\n{}\n)\n{{", params.join(",\n"));
        for register in &self.registers {
            let _ = writeln!(text, "\t.reg .{} {};", register.ty, register.name);
        }
        if !self.result.is_empty() {
            text.push_str("\t.reg .b64 %result;\n");
        }
        let _ = write!(text, "{loads}");
        for line in &self.lines {
            let _ = writeln!(text, "\t{line}");
        }
        let _ = write!(text, "{stores}\tret;\n}}\n");
        text
    }
}

#[derive(Default)]
pub(super) struct Writer {
    text: Expansion,
    used: [u32; RegisterType::COUNT],
    labels: u32,
}

impl Writer {
    pub(super) fn register(&mut self, ty: RegisterType) -> String {
        let used = match self.used.get_mut(ty as usize) {
            Some(count) => {
                *count += 1;
                *count
            }
            None => 0,
        };
        self.named(&format!("{}{used}", ty.prefix()), ty)
    }

    pub(super) fn named(&mut self, name: &str, ty: RegisterType) -> String {
        if !self.text.registers.iter().any(|r| r.name == name) {
            self.text.registers.push(FreeRegister { name: name.into(), ty });
        }
        name.into()
    }

    /// Allocates a register that the caller must set. Inputs must be allocated before all other registers, so
    /// that they are first in the list of registers.
    pub(super) fn input(&mut self, role: InputRole, ty: RegisterType, passed_as: &'static str) -> String {
        let register = self.register(ty);
        self.text.inputs.push(Input { register: register.clone(), role, passed_as });
        register
    }

    pub(super) fn address(&mut self, role: InputRole) -> String {
        self.input(role, RegisterType::B64, "u64")
    }

    /// Emits the sign-extension or zero-extension of a value of an object type to 32 bits.
    pub(super) fn extended(&mut self, ty: ObjectType, value: &str) -> String {
        let register = self.register(RegisterType::B32);
        match ty.class() {
            TypeClass::Signed => put!(self, "cvt.s32.s{} {register}, {value};", ty.bits()),
            _ => put!(self, "and.b32 {register}, {value}, {};", ty.ones()),
        }
        register
    }

    pub(super) fn line(&mut self, line: String) {
        self.text.lines.push(line);
    }

    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L__BB0_{}", self.labels)
    }

    pub(super) fn warn(&mut self, number: u16, message: &str) {
        self.text.warnings.push(Warning { number, message: message.into() });
    }

    /// Ends the PTX. With an address `to`, instruction `store` stores the result there. Without, the
    /// registers `result` hold the result.
    pub(super) fn give(mut self, store: &str, to: Option<&str>, result: &[&str]) -> Expansion {
        let Some(to) = to else { return self.finish(result) };
        match result {
            [one] => put!(self, "{store} [{to}], {one};"),
            several => put!(self, "{store} [{to}], {{{}}};", several.join(", ")),
        }
        self.finish(&[])
    }

    pub(super) fn finish(self, result: &[&str]) -> Expansion {
        Expansion { result: result.iter().map(ToString::to_string).collect(), ..self.text }
    }
}
