//! A listing decoded: kernels of one architecture.

use crate::arch::Arch;
use crate::bank;
use crate::decode::{self, Failure, INSTRUCTION_BYTES, Targets};
use crate::instruction::{Instruction, Operation};
use crate::listing::{self, Line, Statement, Text};
use crate::operand::Limits;
use crate::order;
use crate::problem::{MOST_PROBLEMS, Problem, TextError};
use crate::ptx::Directives;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A listing decoded.
#[derive(Clone, Debug)]
pub struct Program {
    /// Architecture named by `.target`.
    pub arch: Arch,
    /// Kernels, in order of the listing.
    pub kernels: Vec<Kernel>,
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
    /// Constant bank 2, which the compiler filled; empty where the text neither holds it nor lets it be told.
    pub constants: Vec<u8>,
    /// Bytes of memory that each thread has to itself, as far as the text declares it.
    pub local: u32,
    /// Parameters, in order, where the text declares them.
    pub params: Option<Vec<KernelParam>>,
    /// Variables in global memory that come with the code.
    pub variables: Vec<ModuleVariable>,
    /// What the text asks of a launch.
    pub directives: Directives,
}

/// A parameter of a kernel, as the text declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParam {
    /// Its name.
    pub name: String,
    /// Byte offset from the first parameter.
    pub offset: u32,
    /// Its size.
    pub bytes: u32,
}

/// A variable in global memory that comes with the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Its name.
    pub name: String,
    /// Address of the first byte.
    pub address: u64,
    /// What it holds before the kernel runs.
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
    /// Reads a listing as `nvdisasm` prints it; `name` is for messages.
    ///
    /// # Errors
    /// Everything that is wrong, with line and column. Instructions that are merely not decoded are
    /// not errors: see [`Operation::Lacking`].
    pub fn parse(name: &str, text: &str) -> Result<Program, TextError> {
        let place = Text::new(text, Limits::MACHINE);
        let mut problems = Vec::new();
        let mut reader = Reader::default();
        let readable = reader.read(&place, &mut problems);
        if reader.arch.is_none() && readable && !reader.target {
            let help = "add a line such as .target sm_80";
            problems.push(Problem::new(0..0, "the listing does not name its architecture", help));
        }
        let Reader { arch, mut sections, mut banks, .. } = reader;
        if sections.is_empty() && problems.is_empty() {
            let help = "a kernel starts with a line such as .section .text.NAME,\"ax\",@progbits";
            problems.push(Problem::new(0..0, "no kernel in this listing", help));
        }
        let bodies: Vec<_> = sections.iter_mut().map(|s| s.decode(&mut problems)).collect();
        let Some(arch) = arch.filter(|_| problems.is_empty()) else {
            return Err(TextError::new(name, text, problems));
        };
        let kernels = sections.iter().zip(bodies).map(|(section, body)| Kernel {
            name: section.name.into(),
            arch,
            instructions: body.instructions,
            source: body.source,
            mnemonics: body.mnemonics,
            registers: body.registers,
            predicates: Limits::MACHINE.predicates,
            shared: None,
            constants: match banks.remove(section.name) {
                Some(bank) => bank.unwrap_or_default(),
                None => bank::of_branches(&section.statements, &section.targets.labels),
            },
            local: 0,
            params: None,
            variables: Vec::new(),
            directives: Directives::default(),
        });
        Ok(Program { arch, kernels: kernels.collect() })
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }
}

impl Kernel {
    /// Whether it comes from PTX, which declares parameters; machine code only reads them.
    pub fn of_ptx(&self) -> bool {
        self.params.is_some()
    }

    /// Mnemonic with modifiers of an instruction; empty if there is no such instruction.
    pub fn mnemonic(&self, index: usize) -> &str {
        let number = self.source.get(index).map(|s| s.mnemonic as usize);
        number.and_then(|n| self.mnemonics.get(n)).map_or("", String::as_str)
    }

    /// Indices of the instructions that could not be decoded.
    pub fn lacking(&self) -> impl Iterator<Item = usize> {
        let each = self.instructions.iter().enumerate();
        each.filter(|(_, i)| i.operation == Operation::Lacking).map(|(index, _)| index)
    }
}

/// Decodes code lowered from PTX, one statement or label (`L0:`) per line, without semicolons. It may name as
/// many registers and predicates as it likes; branch targets are indices into the result.
///
/// # Errors
/// What a listing of these lines would be refused for.
pub(crate) fn assemble(lines: &[String]) -> Result<Vec<Instruction>, TextError> {
    let end = |line: &String| if line.ends_with(':') { "\n" } else { " ;\n" };
    let mut text: String = lines.iter().flat_map(|line| [line.as_str(), end(line)]).collect();
    // Code goes on behind the last line: a label there stands before what comes next.
    text += "NOP ;\n";
    let place = Text::new(&text, Limits::VIRTUAL);
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    reader.section(Some("lowered"), 0..0, &mut problems);
    reader.read(&place, &mut problems);
    let sections = reader.sections.iter_mut();
    let mut body: Vec<_> = sections.flat_map(|s| s.decode(&mut problems).instructions).collect();
    body.pop();
    if problems.is_empty() { Ok(body) } else { Err(TextError::new("lowered code", &text, problems)) }
}

/// The statements and labels of one kernel.
struct Section<'t> {
    name: &'t str,
    statements: Vec<Statement<'t>>,
    targets: Targets<'t>,
}

/// What the lines read so far say.
#[derive(Default)]
struct Reader<'t> {
    arch: Option<Arch>,
    /// A `.target` was met, even if it names nothing known.
    target: bool,
    sections: Vec<Section<'t>>,
    names: HashSet<&'t str>,
    /// The last section is still open.
    inside: bool,
    /// Constant bank 2 by kernel, as far as it is known.
    banks: HashMap<&'t str, Option<Vec<u8>>>,
    /// The kernel whose bank is being read.
    bank: Option<&'t str>,
}

impl<'t> Reader<'t> {
    /// Reads all lines; false if some cannot be read.
    fn read(&mut self, place: &Text<'t>, problems: &mut Vec<Problem>) -> bool {
        let mut readable = true;
        for (number, line) in place.lines() {
            let place = &self.arch.map_or(*place, |arch| place.on(arch));
            match listing::read(place, number, line, self.bank.is_some()) {
                Ok(None) => {}
                Ok(Some(line)) => self.line(line, problems),
                Err(problem) => {
                    problems.push(problem);
                    readable = false;
                }
            }
            if problems.len() >= MOST_PROBLEMS {
                return false;
            }
        }
        readable
    }

    fn line(&mut self, line: Line<'t>, problems: &mut Vec<Problem>) {
        match line {
            Line::Target { name, range } => self.target(name, range, problems),
            Line::Section { kernel, range } => self.section(kernel, range, problems),
            Line::Bank { kernel } => {
                self.inside = false;
                self.bank = Some(kernel);
                self.banks.insert(kernel, Some(Vec::new()));
            }
            Line::Data(data) => {
                if let Some(bank) = self.bank.and_then(|kernel| self.banks.get_mut(kernel)) {
                    *bank = bank.take().zip(data).map(|(before, data)| [before, data].concat());
                }
            }
            Line::Label { name, range } => {
                let Some(section) = self.sections.last_mut().filter(|_| self.inside) else { return };
                let next = section.statements.len() as u32;
                if section.targets.labels.insert(name, next).is_some() {
                    let message = format!("a second label `{name}` in kernel `{}`", section.name);
                    problems.push(Problem::new(range, message, "labels differ within a kernel"));
                }
            }
            Line::Statement(statement) => match self.sections.last_mut().filter(|_| self.inside) {
                Some(section) => {
                    let index = section.statements.len() as u32;
                    if let Some(offset) = statement.offset {
                        section.targets.offsets.insert(offset, index);
                        section.targets.regular &= offset == u64::from(index) * u64::from(INSTRUCTION_BYTES);
                    }
                    section.statements.push(statement);
                    section.targets.count = index + 1;
                }
                None => {
                    let help = "put a line such as .section .text.NAME before it";
                    let range = statement.mnemonic_range;
                    problems.push(Problem::new(range, "an instruction outside a kernel", help));
                }
            },
        }
    }

    fn target(&mut self, name: &str, range: Range<usize>, problems: &mut Vec<Problem>) {
        self.target = true;
        match (Arch::from_name(name).filter(|a| a.runs()), self.arch) {
            (None, _) => {
                let message = format!("architecture `{name}` is not one of those read here");
                let help = "they are sm_70 and later: the machine code text of earlier ones differs";
                problems.push(Problem::new(range, message, help));
            }
            (Some(arch), Some(earlier)) if arch != earlier => {
                let message = format!("a second architecture, {arch} after {earlier}");
                problems.push(Problem::new(range, message, "a listing has one .target; split the file"));
            }
            (arch, _) => self.arch = arch,
        }
    }

    /// Starts a section: of a kernel, or one without code.
    fn section(&mut self, kernel: Option<&'t str>, range: Range<usize>, problems: &mut Vec<Problem>) {
        self.inside = kernel.is_some();
        self.bank = None;
        let Some(name) = kernel else { return };
        if !self.names.insert(name) {
            let message = format!("a second kernel `{name}`");
            problems.push(Problem::new(range, message, "names of kernels differ within a listing"));
        }
        let targets =
            Targets { labels: HashMap::new(), offsets: HashMap::new(), count: 0, at: 0, regular: true };
        self.sections.push(Section { name, statements: Vec::new(), targets });
    }
}

/// What a section decodes to; see [`Kernel`].
struct Body {
    instructions: Vec<Instruction>,
    source: Vec<SourceLine>,
    mnemonics: Vec<String>,
    registers: u16,
}

impl Section<'_> {
    fn decode(&mut self, problems: &mut Vec<Problem>) -> Body {
        // Code names its own beginning, whether there is a label or not.
        self.targets.labels.entry(self.name).or_insert(0);
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut orders = Vec::new();
        let mut body =
            Body { instructions: Vec::new(), source: Vec::new(), mnemonics: Vec::new(), registers: 0 };
        for statement in &self.statements {
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
            let operation = match decode::decode(statement, &self.targets) {
                Ok(operation) => operation,
                Err(Failure::Lacking) => Operation::Lacking,
                Err(Failure::Wrong { range, message, help }) => {
                    problems.push(Problem::new(range, message, help));
                    Operation::Lacking
                }
            };
            let mnemonic = *numbers.entry(statement.mnemonic).or_insert_with(|| {
                body.mnemonics.push(statement.mnemonic.into());
                orders.push(order::of(statement.mnemonic));
                body.mnemonics.len() as u32 - 1
            });
            self.targets.at += 1;
            let ordering = orders.get(mnemonic as usize).copied().flatten();
            body.instructions.push(Instruction { guard: statement.guard, operation, ordering });
            // The last register named may begin a group of four.
            let registers = statement.highest_register().map_or(0, |last| last.saturating_add(4));
            body.registers = body.registers.max(registers.min(Limits::MACHINE.registers));
            body.source.push(SourceLine { line: statement.line, text: statement.text.into(), mnemonic });
        }
        body
    }
}
