//! Runs PTX lines as this project lowers them.

use std::collections::BTreeMap;

use atoms_isa::Arch;
use atoms_isa::lower::{self, Frame, LoweringRefusal};
use atoms_isa::ptx::{self, Function, Module, RegId, Symbol};

use super::body::{Body, KernelRegister, RegisterRole};
use super::spelling::{SpelledOperation, Spelling};

pub struct LoweredCode<'t> {
    pub lines: Vec<String>,
    function: Function<'t>,
    frame: Frame,
}

/// Lowers a line and treats all its results as used.
///
/// # Errors
/// The architecture does not support the line.
///
/// # Panics
/// If the line cannot be parsed, or holds an instruction that is not lowered.
pub fn lower(text: &str, arch: Arch) -> Result<LoweredCode<'_>, LoweringRefusal> {
    let function = ptx::snippet(text).unwrap_or_else(|e| panic!("`{text}`: {e}"));
    let module = Module::new((9, 0), arch, Vec::new());
    let mut frame = Frame::new();
    for at in 0..function.variables.len() {
        frame.place(Symbol::Local(at as u32), arch.shared_origin());
    }
    let mut lines = Vec::new();
    for instruction in &function.instructions {
        frame.begin();
        let lowered = lower::lower(&module, &function, instruction, true, arch, &mut frame);
        lines.extend(lowered.unwrap_or_else(|| panic!("`{text}`: not lowered"))?);
    }
    Ok(LoweredCode { lines, function, frame })
}

impl LoweredCode<'_> {
    fn id(&self, name: &str) -> Option<RegId> {
        let at = self.function.registers.iter().position(|register| register.name == name)?;
        Some(RegId(at as u32))
    }

    /// Returns the code in the form that [`super::kernel::BarrierKernel`] runs.
    ///
    /// # Panics
    /// The code uses more registers than the kernel reserves for the line.
    pub fn body(mut self, spelling: &Spelling) -> Body {
        let copies = spelling.operation == SpelledOperation::BulkCopy;
        let pair = if copies {
            [RegisterRole::Source, RegisterRole::SourceHigh]
        } else {
            [RegisterRole::Address, RegisterRole::AddressHigh]
        };
        let roles: [(&str, &[RegisterRole]); 7] = [
            ("%a", &[RegisterRole::Address]),
            ("%ga", &pair),
            ("%r3", &[RegisterRole::Barrier]),
            ("%c", if spelling.mapped { &[RegisterRole::Rank] } else { &[RegisterRole::Count] }),
            ("%s", &[RegisterRole::State, RegisterRole::StateHigh]),
            ("%par", &[RegisterRole::Parity]),
            ("%h", &[RegisterRole::Hint]),
        ];
        let numbered = |number: u16| KernelRegister {
            uniform: false,
            number: u8::try_from(number).expect("a register in reach of a listing"),
        };
        let mut inputs = BTreeMap::new();
        for (name, roles) in roles {
            let Some(id) = self.id(name) else { continue };
            let first = self.frame.register(id, roles.len() as u8);
            inputs.extend((first..).map(numbered).zip(roles.iter().copied()));
        }
        let state = self.id("%st").map(|id| numbered(self.frame.register(id, 2)));
        let last = self.id("%r1").map(|id| numbered(self.frame.register(id, 1)));
        let flag = self.id("%p1").map(|id| {
            let complete = self.frame.predicate(id);
            let flag = self.frame.scratch(1);
            self.lines.push(format!("SEL R{flag}, RZ, 0x1, !P{complete}"));
            // A report never occurs for objects of layout 0. The extra bits of the flag would show one.
            if let Some(seen) = self.id("%p2").map(|id| self.frame.predicate(id)) {
                let (sum, bit) = (flag, self.frame.scratch(1));
                self.lines.insert(0, format!("PLOP3.LUT P{seen}, PT, PT, PT, PT, 0x80, 0x8"));
                self.lines.push(format!("SEL R{bit}, RZ, 0x2, !P{seen}"));
                self.lines.push(format!("IADD3 R{sum}, R{sum}, R{bit}, RZ"));
            }
            if let Some(report) = self.id("%rep").map(|id| self.frame.register(id, 1)) {
                self.lines.insert(0, format!("MOV R{report}, 0x1"));
                self.lines.push(format!("LEA R{flag}, R{report}, R{flag}, 0x2"));
            }
            numbered(flag)
        });
        Body { spare: Vec::new(), lines: self.lines, inputs, state, flag, last }
    }
}
