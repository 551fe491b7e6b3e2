//! Reader of a listing: it groups lines into sections, and decodes each code section to a kernel.

use crate::arch::Arch;
use crate::kernel::instruction::{Instruction, Operation};
use crate::kernel::order;
use crate::kernel::program::{
    CompiledBank, DRIVER_CODE, Directives, Kernel, Program, SourceLine, SourcePosition, UnreadKernel,
};
use crate::problem::{MOST_PROBLEMS, Problem, TextError};
use crate::sass::bank;
use crate::sass::data_section::{DataSections, Placed};
use crate::sass::decode::{self, Failure, Targets};
use crate::sass::link::Calls;
use crate::sass::listing::{self, INSTRUCTION_BYTES, Line, Statement, Text};
use crate::sass::maxwell;
use crate::sass::operand::{Limits, Operand, OperandKind};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

impl Program {
    /// Parses a listing that `nvdisasm` or `cuobjdump -sass` printed. `name` is the name of the text in
    /// messages.
    ///
    /// # Errors
    /// Every problem with line and column, if no kernel can be decoded. Instructions that are not supported
    /// are not errors: see [`Operation::Unsupported`].
    pub fn parse(name: &str, text: &str) -> Result<Program, TextError> {
        let place = Text::new(text, Limits::MACHINE);
        let mut problems = Vec::new();
        let mut reader = Reader::default();
        let readable = reader.read(&place, &mut problems);
        let Reader { target, arch, mut sections, mut names, data, entries, functions, .. } = reader;
        if arch.is_none() && readable && !target {
            let help = "add a line such as .target sm_90: the architecture that the code was compiled for";
            problems.push(Problem::new(0..0, "the listing does not state its architecture", help));
        }
        if sections.is_empty() && problems.is_empty() {
            let help = "a kernel starts with a line such as .section .text.NAME,\"ax\",@progbits";
            problems.push(Problem::new(0..0, "no kernel in this listing", help));
        }
        let code = sections.iter().map(|section| (section.name, section.statements.as_slice()));
        let marked = entries.iter().any(|name| names.contains(name));
        let driver: Vec<&str> = functions.into_iter().filter(|name| names.insert(name)).collect();
        let addresses: HashMap<&str, u64> = (u64::from(DRIVER_CODE)..)
            .step_by(INSTRUCTION_BYTES as usize)
            .zip(&driver)
            .map(|(address, name)| (*name, address))
            .collect();
        let mut calls = Calls::new(code, data.expressions(), driver.len());
        let placed = data.place(addresses.clone());
        let mut wrong: usize = sections.iter().map(|section| section.problems.len()).sum();
        let mut found: Vec<Decoded<'_>> = Vec::new();
        for number in 0..sections.len() {
            if marked && !entries.contains(sections[number].name) {
                continue;
            }
            let parts = match arch.is_some_and(Arch::early) {
                true => vec![number],
                false => calls.reached(number).unwrap_or_else(|message| {
                    let help = "print fewer kernels into one listing";
                    sections[number].problems.push(Problem::new(0..0, message, help));
                    wrong += 1;
                    vec![number]
                }),
            };
            let placed = if parts.len() == 1 {
                placed.clone()
            } else {
                let mut addresses = addresses.clone();
                let mut next = 0;
                for part in &parts {
                    addresses.insert(sections[*part].name, next * u64::from(INSTRUCTION_BYTES));
                    next += sections[*part].statements.len() as u64;
                }
                data.place(addresses)
            };
            let mut body = Body::default();
            for part in &parts {
                let section = &mut sections[*part];
                section.targets.module = placed.addresses.clone();
                wrong -= section.problems.len();
                section.decode(arch, MOST_PROBLEMS.saturating_sub(wrong).max(1), &mut body);
                wrong += section.problems.len();
            }
            found.push(Decoded { parts, placed, body });
        }
        let is_wrong =
            |decoded: &Decoded<'_>| decoded.parts.iter().any(|part| !sections[*part].problems.is_empty());
        let Some(arch) = arch.filter(|_| problems.is_empty() && !found.iter().all(is_wrong)) else {
            problems.extend(sections.into_iter().flat_map(|section| section.problems));
            return Err(TextError::new(name, text, problems));
        };
        let driver_functions: Arc<[String]> = driver.iter().map(|name| (*name).into()).collect();
        let (mut kernels, mut unread) = (Vec::new(), Vec::new());
        for decoded in found {
            let section = &sections[decoded.parts[0]];
            if is_wrong(&decoded) {
                let problems = decoded.parts.iter().flat_map(|part| sections[*part].problems.clone());
                let error = TextError::new(name, text, problems.collect());
                unread.push(UnreadKernel { name: section.name.into(), error });
                continue;
            }
            let Decoded { placed, body, .. } = decoded;
            let labels = section.targets.labels.iter();
            let labels =
                labels.map(|(name, index)| (*name, u64::from(*index) * u64::from(INSTRUCTION_BYTES)));
            let own = data.bank_of(section.name, &placed, &labels.collect()).or_else(|| {
                let bytes = bank::of_branches(&section.statements, &section.targets.labels, arch.early());
                (!bytes.is_empty()).then(|| CompiledBank { bytes, unknown: Vec::new() })
            });
            let mut constants = placed.banks;
            constants.extend(own.map(|own| (bank::BANK, own)));
            kernels.push(Kernel {
                name: section.name.into(),
                arch,
                instructions: body.instructions,
                source: body.source,
                mnemonics: body.mnemonics,
                registers: body.registers,
                predicates: if arch.early() { maxwell::PREDICATES } else { Limits::MACHINE.predicates },
                shared: data.shared(section.name).map(|bytes| bytes.saturating_sub(arch.shared_origin())),
                constants,
                local: 0,
                params: None,
                variables: placed.variables,
                shared_variables: Vec::new(),
                driver_functions: driver_functions.clone(),
                directives: Directives::default(),
            });
        }
        Ok(Program { arch, forward_of: None, kernels, unread })
    }
}

/// Decodes machine code that was lowered from PTX. Each line is one statement without semicolon, or a label
/// (`L0:`). The code may use any number of registers and predicates. In the result, branch targets are
/// indices of instructions.
///
/// # Errors
/// The problems that a listing with these lines would have.
pub(crate) fn assemble(lines: &[String]) -> Result<Vec<Instruction>, TextError> {
    let end = |line: &String| if line.ends_with(':') { "\n" } else { " ;\n" };
    let mut text: String = lines.iter().flat_map(|line| [line.as_str(), end(line)]).collect();
    // The last line may be a label, which needs an instruction after it.
    text += "NOP ;\n";
    let place = Text::new(&text, Limits::VIRTUAL);
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    reader.section(Some("lowered"), 0..0, &mut problems);
    reader.read(&place, &mut problems);
    let mut body = Vec::new();
    for mut section in reader.sections {
        let mut decoded = Body::default();
        section.decode(None, MOST_PROBLEMS, &mut decoded);
        body.extend(decoded.instructions);
        problems.extend(section.problems);
    }
    body.pop();
    if problems.is_empty() { Ok(body) } else { Err(TextError::new("lowered code", &text, problems)) }
}

struct Section<'t> {
    name: &'t str,
    statements: Vec<Statement<'t>>,
    targets: Targets<'t>,
    problems: Vec<Problem>,
}

#[derive(Default)]
struct Reader<'t> {
    arch: Option<Arch>,
    /// True after a `.target` line, even one with an unknown architecture.
    target: bool,
    sections: Vec<Section<'t>>,
    names: HashSet<&'t str>,
    /// Names of the code sections that the listing marks as kernels.
    entries: HashSet<&'t str>,
    functions: Vec<&'t str>,
    /// True while lines belong to the last code section.
    inside: bool,
    data: DataSections<'t>,
    in_data: bool,
    wrong: usize,
    /// Last position in the source.
    position: Option<(&'t str, u32)>,
    /// True if the line before states a position.
    in_position: bool,
}

impl<'t> Reader<'t> {
    fn read(&mut self, place: &Text<'t>, problems: &mut Vec<Problem>) -> bool {
        let mut readable = true;
        for (number, line) in place.lines() {
            match listing::read(place, number, line, self.in_data) {
                Ok(None) => {}
                Ok(Some(line)) => self.line(line, problems),
                Err(problem) => {
                    self.wrong(problem, problems);
                    readable = false;
                }
            }
            if problems.len() + self.wrong >= MOST_PROBLEMS {
                return false;
            }
        }
        readable
    }

    fn wrong(&mut self, problem: Problem, problems: &mut Vec<Problem>) {
        match self.sections.last_mut().filter(|_| self.inside) {
            Some(section) => {
                section.problems.push(problem);
                self.wrong += 1;
            }
            None => problems.push(problem),
        }
    }

    fn line(&mut self, line: Line<'t>, problems: &mut Vec<Problem>) {
        let inlined = std::mem::replace(&mut self.in_position, matches!(line, Line::Position { .. }));
        match line {
            Line::Position { file, line } if !inlined => self.position = Some((file, line)),
            Line::Position { .. } => {}
            Line::Target { name, range } => self.target(name, range, problems),
            Line::Flags(arch) => self.arch = self.arch.or(arch),
            Line::Section { kernel, range } => self.section(kernel, range, problems),
            Line::DataSection { name } => {
                self.inside = false;
                self.in_data = true;
                self.data.begin(name);
            }
            Line::Data(item) => self.data.put(item),
            Line::Entry(name) => _ = self.entries.insert(name),
            Line::Function(name) => self.functions.push(name),
            Line::Label { name, .. } if self.in_data => self.data.label(name),
            Line::Label { name, range } => {
                let Some(section) = self.sections.last_mut().filter(|_| self.inside) else { return };
                let next = section.statements.len() as u32;
                if section.targets.labels.insert(name, next).is_some() {
                    let message = format!("a second label `{name}` in kernel `{}`", section.name);
                    self.wrong(Problem::new(range, message, "labels must differ within a kernel"), problems);
                }
            }
            Line::Statement(mut statement) => match self.sections.last_mut().filter(|_| self.inside) {
                Some(section) => {
                    let index = section.statements.len() as u32;
                    if let Some(offset) = statement.offset {
                        section.targets.offsets.insert(offset, index);
                        section.targets.regular &= offset == u64::from(index) * u64::from(INSTRUCTION_BYTES);
                    }
                    statement.position = self.position;
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
        match (Arch::from_name(name), self.arch) {
            (None, _) => {
                let message = format!("architecture `{name}` is not supported");
                let help = "supported architectures are sm_50 and later";
                problems.push(Problem::new(range, message, help));
            }
            (Some(arch), Some(earlier)) if arch != earlier => {
                let message = format!("a second architecture, {arch} after {earlier}");
                let help = format!(
                    "a listing has one architecture: split the file, or print a single one with cuobjdump -arch {earlier}"
                );
                problems.push(Problem::new(range, message, help));
            }
            (arch, _) => self.arch = arch,
        }
    }

    fn section(&mut self, kernel: Option<&'t str>, range: Range<usize>, problems: &mut Vec<Problem>) {
        self.inside = kernel.is_some();
        self.in_data = false;
        self.position = None;
        let Some(name) = kernel else { return };
        if !self.names.insert(name) {
            let message = format!("a second kernel `{name}`");
            problems.push(Problem::new(range, message, "names of kernels must differ within a listing"));
        }
        let targets = Targets { regular: true, ..Targets::default() };
        self.sections.push(Section { name, statements: Vec::new(), targets, problems: Vec::new() });
    }
}

struct Decoded<'t> {
    parts: Vec<usize>,
    placed: Placed<'t>,
    body: Body,
}

#[derive(Default)]
struct Body {
    instructions: Vec<Instruction>,
    source: Vec<SourceLine>,
    mnemonics: Vec<String>,
    numbers: HashMap<String, u32>,
    registers: u16,
}

impl Section<'_> {
    /// Decodes the section and appends its instructions to `body`. The problems are stored in the section, at
    /// most `most`.
    fn decode(&mut self, arch: Option<Arch>, most: usize, body: &mut Body) {
        let rewrites = arch.is_some_and(Arch::early) && self.problems.is_empty();
        if let Some(arch) = arch {
            let early = self.statements.iter().filter_map(|statement| decode::too_early(statement, arch));
            self.problems.extend(early.take(most));
        }
        if rewrites {
            self.rewrite(most, body);
        } else {
            self.read(arch, most, body);
        }
    }

    /// Rewrites the code of sm_50 to sm_62 to code of sm_70, and decodes the result.
    fn rewrite(&mut self, most: usize, body: &mut Body) {
        self.problems.extend(self.statements.iter().filter_map(maxwell::wrong_atomic).take(most));
        let (statements, places) = maxwell::rewritten(&self.statements, &self.targets.labels);
        let count = statements.len() as u32;
        let targets = Targets { places, count, regular: true, ..Targets::default() };
        let mut section = Section { name: self.name, statements, targets, problems: Vec::new() };
        section.read(None, most, body);
        self.problems.extend(section.problems);
        self.problems.dedup();
    }

    fn read(&mut self, arch: Option<Arch>, most: usize, body: &mut Body) {
        let uniforms = arch.map_or(Limits::MACHINE.uniforms, Arch::uniform_registers);
        // The code may refer to the start of the section by its name, so this name is added as a label.
        self.targets.labels.entry(self.name).or_insert(0);
        self.targets.base = body.instructions.len() as u32;
        self.targets.at = self.targets.base;
        for statement in &mut self.statements {
            if self.problems.len() >= most {
                break;
            }
            statement.limits.uniforms = uniforms;
            // A function has no constant bank 2 of its own. It reads the bank of the kernel in ways that are
            // not supported here.
            let in_function = |operand: &Operand<'_>| {
                self.targets.base > 0
                    && matches!(&operand.kind, OperandKind::Const(c) if c.bank == bank::BANK)
            };
            let operation = match decode::decode(statement, &self.targets) {
                Ok(_) if statement.operands.iter().any(in_function) => Operation::Unsupported,
                Ok(operation) => operation,
                Err(Failure::Unsupported) => Operation::Unsupported,
                Err(Failure::Wrong { range, message, help }) => {
                    let problem = Problem::new(range, message, help);
                    // If several kernels call the function, it is decoded several times, but its problems are
                    // stored only once.
                    if !self.problems.contains(&problem) {
                        self.problems.push(problem);
                    }
                    Operation::Unsupported
                }
            };
            let mnemonic = body.number(statement.mnemonic);
            self.targets.at += 1;
            let ordering = order::of(statement.name, &statement.modifiers);
            body.instructions.push(Instruction { guard: statement.guard, operation, ordering });
            // The register with the highest number may be the first of a group of four.
            let registers = statement.highest_register().map_or(0, |last| last.saturating_add(4));
            body.registers = body.registers.max(registers.min(statement.limits.registers));
            let (line, text) = (statement.line, statement.text.into());
            let position = statement.position.map(|(file, line)| SourcePosition { file: file.into(), line });
            body.source.push(SourceLine { line, text, lowered: None, mnemonic, position });
        }
    }
}

impl Body {
    fn number(&mut self, mnemonic: &str) -> u32 {
        if let Some(number) = self.numbers.get(mnemonic) {
            return *number;
        }
        let number = self.mnemonics.len() as u32;
        self.numbers.insert(mnemonic.into(), number);
        self.mnemonics.push(mnemonic.into());
        number
    }
}
