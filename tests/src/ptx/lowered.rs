//! Lines of PTX as this project lowers them, made to run, and compared with what a real assembler makes of them.

use std::collections::BTreeMap;

use atoms_isa::Arch;
use atoms_isa::lower::{self, Frame, LoweringRefusal};
use atoms_isa::ptx::{self, Function, Module, RegId, Symbol};

use super::body::{Body, KernelRegister, RegisterRole};
use super::spelling::{SpelledOperation, Spelling};

/// A line lowered: its machine code, and where its operands are.
pub struct LoweredCode<'t> {
    /// Statements and labels.
    pub lines: Vec<String>,
    function: Function<'t>,
    frame: Frame,
}

/// Lowers a line, all of whose results are used.
///
/// # Errors
/// Why the architecture does not have it.
///
/// # Panics
/// If the line cannot be parsed, or holds an instruction that is not lowered.
pub fn lower(text: &str, arch: Arch) -> Result<LoweredCode<'_>, LoweringRefusal> {
    let function = ptx::snippet(text).unwrap_or_else(|e| panic!("`{text}`: {e}"));
    let module = Module {
        version: (9, 0),
        target: arch,
        address_size: 64,
        variables: Vec::new(),
        functions: Vec::new(),
    };
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

    /// The code in the form in which a kernel is put around it.
    ///
    /// # Panics
    /// If it names more registers than the kernel leaves it.
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
            // Of objects of layout 0 nothing is ever reported: what is would show in other bits.
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
