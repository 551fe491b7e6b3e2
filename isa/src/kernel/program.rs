//! Kernels of one architecture, with their constants, variables and metadata.

use super::instruction::{Instruction, Operation};
use crate::arch::Arch;
use crate::problem::TextError;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Code address of the first function that the driver provides, such as `vprintf`. Each further function is
/// 16 bytes later. No kernel is long enough to reach this address.
pub const DRIVER_CODE: u32 = 0xfff0_0000;

/// Launch limits that a function's header declares. `None` if the header does not declare a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// `.maxntid`: maximum number of threads of a CTA in x, y, z.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: exact number of threads of a CTA in x, y, z.
    pub threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`: CTAs of a cluster in x, y, z.
    pub cluster: Option<[u32; 3]>,
}

#[derive(Clone, Debug)]
pub struct Program {
    /// Architecture of the kernels: the one of `.target`, or the one for which PTX is translated.
    pub arch: Arch,
    /// Architecture that the PTX names, if it is too early for translation and the user requested none. The
    /// program then runs as [`Arch::FIRST_OF_PTX`].
    pub forward_of: Option<Arch>,
    /// Kernels that could be decoded, in order of the text. Never empty.
    pub kernels: Vec<Kernel>,
    pub unread: Vec<UnreadKernel>,
}

#[derive(Clone, Debug)]
pub struct UnreadKernel {
    pub name: String,
    pub error: TextError,
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: String,
    pub arch: Arch,
    /// Decoded instructions. A branch target is an index into this vector.
    pub instructions: Vec<Instruction>,
    pub source: Vec<SourceLine>,
    /// Distinct mnemonics with modifiers. [`SourceLine::mnemonic`] is an index into this vector.
    pub mnemonics: Vec<String>,
    /// Number of registers per thread: one more than the highest register that an instruction uses, alone or
    /// in a pair or quad.
    pub registers: u16,
    pub predicates: u16,
    /// Static shared memory of a CTA in bytes, if the text declares it.
    pub shared: Option<u32>,
    /// Content of the constant banks that the compiler filled, by bank number. Bank 2 belongs to the kernel,
    /// banks 3 and 4 to the module. A bank is absent if its content is neither in the text nor derivable from
    /// it.
    pub constants: BTreeMap<u8, CompiledBank>,
    /// Private memory per thread in bytes, if the text declares it, else 0.
    pub local: u32,
    pub params: Option<Vec<KernelParam>>,
    pub variables: Vec<ModuleVariable>,
    /// Variables in shared memory, in order of their addresses. Only PTX names them.
    pub shared_variables: Vec<SharedVariable>,
    /// Names of functions that the listing calls but does not contain, such as `vprintf`. Function number i
    /// has the address `DRIVER_CODE + 16 * i` ([`DRIVER_CODE`]).
    pub driver_functions: Arc<[String]>,
    pub directives: Directives,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompiledBank {
    pub bytes: Vec<u8>,
    /// Words of the bank whose value the text does not give, such as the address of a symbol of another
    /// module. Each entry has the byte offset, the size in bytes, and the text of the value.
    pub unknown: Vec<(u32, u32, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParam {
    pub name: String,
    pub offset: u32,
    pub bytes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    pub name: String,
    pub address: u64,
    pub bytes: Vec<u8>,
    pub constant: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedVariable {
    pub name: String,
    /// Offset in the shared memory of the CTA.
    pub address: u32,
    pub bytes: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLine {
    /// Line in the kernel's file, from 1.
    pub line: u32,
    /// Instruction in the kernel's file: a PTX statement, or machine code.
    pub text: String,
    /// Machine instruction, if the PTX statement is lowered to it.
    pub lowered: Option<String>,
    pub mnemonic: u32,
    /// Line from which a compiler made the instruction, if the file has line information.
    pub position: Option<SourcePosition>,
}

impl SourceLine {
    /// Text of the instruction that the core executes.
    pub fn code(&self) -> &str {
        self.lowered.as_ref().unwrap_or(&self.text)
    }
}

/// Formats the place and the instruction, such as ``line 40 (histogram.cu:12): `ld.shared.u32 %r1, [%r2]` ``.
impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SourceLine { line, text, position, .. } = self;
        match position {
            Some(position) => write!(f, "line {line} ({position}): `{text}`"),
            None => write!(f, "line {line}: `{text}`"),
        }
    }
}

/// Line of a source file. Displayed as `histogram.cu:12`, without the folder of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    pub file: Arc<str>,
    /// Line number, from 1.
    pub line: u32,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        write!(f, "{name}:{}", self.line)
    }
}

impl Program {
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }
}

impl Kernel {
    /// True if the kernel comes from PTX, false if from a listing.
    pub fn of_ptx(&self) -> bool {
        self.params.is_some()
    }

    /// Variable of the PTX that contains a shared address, with the offset, such as `bar+0x8`.
    pub fn shared_variable(&self, address: u32) -> Option<String> {
        let holds = |v: &&SharedVariable| (v.address..v.address.saturating_add(v.bytes)).contains(&address);
        let variable = self.shared_variables.iter().find(holds)?;
        let offset = address - variable.address;
        Some(if offset == 0 { variable.name.clone() } else { format!("{}+{offset:#x}", variable.name) })
    }

    /// Mnemonic with modifiers of the instruction `index`. Empty if the index is out of range.
    pub fn mnemonic(&self, index: usize) -> &str {
        let number = self.source.get(index).map(|s| s.mnemonic as usize);
        number.and_then(|n| self.mnemonics.get(n)).map_or("", String::as_str)
    }

    /// Indices of the instructions that could not be decoded.
    pub fn unsupported(&self) -> impl Iterator<Item = usize> {
        let each = self.instructions.iter().enumerate();
        each.filter(|(_, i)| i.operation == Operation::Unsupported).map(|(index, _)| index)
    }
}
