//! Kernels of one architecture, and what comes with them.

use super::instruction::{Instruction, Operation};
use crate::arch::Arch;
use crate::problem::TextError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Code address of the first function of the driver; each further one is 16 bytes behind. No kernel reaches there.
pub const DRIVER_CODE: u32 = 0xfff0_0000;

/// What a function's header says about launches. `None` where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// `.maxntid`: threads of a CTA at most, x, y, z.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: threads of a CTA, x, y, z.
    pub threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`: CTAs of a cluster, x, y, z.
    pub cluster: Option<[u32; 3]>,
}

/// A listing decoded.
#[derive(Clone, Debug)]
pub struct Program {
    /// Architecture of the kernels: the one that `.target` names, or another that PTX is translated for.
    pub arch: Arch,
    /// Architecture that PTX names, where that is too early to be translated for and no other was asked for: it then
    /// runs as [`Arch::FIRST_OF_PTX`].
    pub forward_of: Option<Arch>,
    /// Kernels, in order of the listing; at least one.
    pub kernels: Vec<Kernel>,
    /// Kernels that cannot be read: no reason not to run the others.
    pub unread: Vec<UnreadKernel>,
}

/// A kernel that cannot be read, and why.
#[derive(Clone, Debug)]
pub struct UnreadKernel {
    pub name: String,
    pub error: TextError,
}

/// One kernel: instructions, and for each the place it comes from.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name, after `.text.`.
    pub name: String,
    /// Architecture named by `.target`.
    pub arch: Arch,
    /// Instructions; branch targets are indices into them.
    pub instructions: Vec<Instruction>,
    /// Place of each instruction.
    pub source: Vec<SourceLine>,
    /// Distinct mnemonics with their modifiers, as [`SourceLine::mnemonic`] numbers them.
    pub mnemonics: Vec<String>,
    /// Registers of a thread: none of a higher number is named, nor is part of a group.
    pub registers: u16,
    /// Predicates of a thread.
    pub predicates: u16,
    /// Bytes of static shared memory of a CTA, where the text declares them.
    pub shared: Option<u32>,
    /// Constant banks that the compiler filled, by number: 2 is the kernel's own, 3 and 4 are the module's. Those
    /// that the text neither holds nor lets be told are absent.
    pub constants: BTreeMap<u8, CompiledBank>,
    /// Bytes of memory that each thread has to itself, as far as the text declares it.
    pub local: u32,
    /// Parameters, in order, where the text declares them.
    pub params: Option<Vec<KernelParam>>,
    /// Variables in global memory that come with the code.
    pub variables: Vec<ModuleVariable>,
    /// Functions that the listing names and does not contain, such as `vprintf`, in order of address from
    /// [`DRIVER_CODE`] on.
    pub driver_functions: Arc<[String]>,
    pub directives: Directives,
}

/// A constant bank that the compiler filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompiledBank {
    pub bytes: Vec<u8>,
    /// Words whose value the text does not say, such as the address of what another module defines: offset, bytes, and
    /// the text.
    pub unknown: Vec<(u32, u32, String)>,
}

/// A parameter of a kernel, as the text declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParam {
    pub name: String,
    /// Byte offset from the first parameter.
    pub offset: u32,
    pub bytes: u32,
}

/// A variable in global memory that comes with the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    pub name: String,
    /// Address of the first byte.
    pub address: u64,
    /// Content before the kernel runs.
    pub bytes: Vec<u8>,
    /// It can only be read.
    pub constant: bool,
}

/// Where an instruction comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Line in the listing, from 1.
    pub line: u32,
    /// Guard to last operand, as written.
    pub text: String,
    /// Index into [`Kernel::mnemonics`].
    pub mnemonic: u32,
}

impl Program {
    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }
}

impl Kernel {
    /// True if it comes from PTX, which declares parameters; machine code only reads them.
    pub fn of_ptx(&self) -> bool {
        self.params.is_some()
    }

    /// Mnemonic with modifiers of an instruction; empty if there is no such instruction.
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
