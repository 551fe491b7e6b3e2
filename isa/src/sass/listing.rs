//! Lines of a listing: directives, labels and statements.

use crate::arch::Arch;
use crate::kernel::register::PredSource;
use crate::problem::Problem;
use crate::sass::data_section::Item;
use crate::sass::operand::{self, Limits, Operand, OperandKind, RegText};
use std::ops::Range;

pub(crate) const INSTRUCTION_BYTES: u32 = 16;

/// Prefixes of the data sections that the reader uses: constant banks, variables, shared memory.
const DATA_SECTIONS: [&str; 3] = [".nv.constant", ".nv.global", ".nv.shared."];

/// Beginnings of lines in which `cuobjdump` describes the file. The reader skips these lines.
const TOLD: [&str; 9] = [
    "Fatbin ",
    "====",
    "arch =",
    "code version =",
    "host =",
    "compile_size =",
    "identifier =",
    "ptxasOptions =",
    "....",
];

pub(crate) struct Text<'t> {
    text: &'t str,
    limits: Limits,
}

impl<'t> Text<'t> {
    pub(crate) fn new(text: &'t str, limits: Limits) -> Text<'t> {
        Text { text, limits }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (u32, &'t str)> {
        (1..).zip(self.text.lines())
    }

    fn range(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        start..(start + part.len()).min(self.text.len())
    }
}

/// A line of a listing, except blank lines, comments and ignored directives.
pub(crate) enum Line<'t> {
    /// Target architecture: `.target sm_75` or `code for sm_75`.
    Target { name: &'t str, range: Range<usize> },
    /// `.headerflags @"... EF_CUDA_SM75 ..."`, which older tools print instead of a `.target`. `None` if the
    /// flags name no known architecture.
    Flags(Option<Arch>),
    /// Start of a data section, such as `.section .nv.constant4,...`.
    DataSection { name: &'t str },
    /// Content of a data section, such as `.byte 0x00, ...`.
    Data(Item<'t>),
    /// Start of a code section: `.section .text.NAME,...` or `Function : NAME`. `None` for another section
    /// without code.
    Section { kernel: Option<&'t str>, range: Range<usize> },
    /// `.other NAME,@"STO_CUDA_ENTRY ..."`, which marks a code section as a kernel. If there are such lines,
    /// all other code sections are functions.
    Entry(&'t str),
    /// `.type NAME,@function`, which names a function. The listing may not contain its code.
    Function(&'t str),
    /// `//## File "kernel.cu", line 12`: position in the source of the instructions that follow. A group of
    /// such lines starts with the position, and the places where it is inlined follow.
    Position { file: &'t str, line: u32 },
    /// A label `NAME:` with its byte range.
    Label { name: &'t str, range: Range<usize> },
    /// An instruction with its operands.
    Statement(Statement<'t>),
}

pub(crate) struct Statement<'t> {
    pub(crate) limits: Limits,
    pub(crate) line: u32,
    /// File and line in the source, if the listing states them.
    pub(crate) position: Option<(&'t str, u32)>,
    /// Byte offset in the kernel, if the listing states it.
    pub(crate) offset: Option<u64>,
    pub(crate) guard: PredSource,
    pub(crate) mnemonic: &'t str,
    pub(crate) name: &'t str,
    pub(crate) modifiers: Vec<&'t str>,
    pub(crate) mnemonic_range: Range<usize>,
    pub(crate) operands: Vec<Operand<'t>>,
    pub(crate) text: &'t str,
    text_range: Range<usize>,
}

impl<'t> Statement<'t> {
    /// Returns a statement that replaces this one. `parts` are the name and the modifiers of the new
    /// mnemonic, with or without dots between them.
    ///
    /// The new statement may use registers and predicates that machine code does not have. A problem in the
    /// new statement is reported at the original statement.
    pub(crate) fn replaced(
        &self,
        guard: PredSource,
        parts: &[&'t str],
        operands: &[OperandKind<'t>],
    ) -> Statement<'t> {
        let mut parts = parts.iter().flat_map(|part| part.split('.')).filter(|part| !part.is_empty());
        let range = self.range();
        Statement {
            limits: Limits::VIRTUAL,
            offset: None,
            guard,
            name: parts.next().unwrap_or(""),
            modifiers: parts.collect(),
            mnemonic_range: range.clone(),
            operands: operands.iter().map(|kind| Operand { kind: *kind, range: range.clone() }).collect(),
            text_range: range,
            ..*self
        }
    }

    pub(crate) fn uniform_beyond(&self) -> Option<&Operand<'_>> {
        let beyond =
            |reg: &RegText| reg.uniform && reg.index.is_some_and(|index| index >= self.limits.uniforms);
        self.operands.iter().find(|operand| match &operand.kind {
            OperandKind::Reg(reg) => beyond(reg),
            OperandKind::Address(address) => address.uniform.as_ref().is_some_and(beyond),
            OperandKind::Const(constant) => constant.index.as_ref().is_some_and(beyond),
            _ => false,
        })
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.text_range.clone()
    }

    pub(crate) fn highest_register(&self) -> Option<u16> {
        let named = |operand: &Operand<'_>| match &operand.kind {
            OperandKind::Reg(reg) => Some(*reg),
            OperandKind::Address(address) => address.reg,
            OperandKind::Const(constant) => constant.index,
            _ => None,
        };
        self.operands.iter().filter_map(named).filter(|r| !r.uniform).filter_map(|r| r.index).max()
    }
}

/// Parses one line. Returns `None` for a blank line, a comment or an ignored directive. Data directives are
/// ignored unless `in_data` is true.
pub(crate) fn read<'t>(
    text: &Text<'t>,
    number: u32,
    line: &'t str,
    in_data: bool,
) -> Result<Option<Line<'t>>, Problem> {
    let mut offset = None;
    let mut rest = line.trim_ascii();
    while let Some(comment) = rest.strip_prefix("/*") {
        let Some((inside, after)) = comment.split_once("*/") else {
            return Err(Problem::new(text.range(rest), "comment is not closed", "end it with */"));
        };
        if offset.is_none() && !inside.starts_with(' ') && inside.len() <= 16 {
            offset = u64::from_str_radix(inside, 16).ok();
        }
        rest = after.trim_ascii_start();
    }
    if rest.starts_with(['{', '}']) {
        rest = rest.trim_start_matches(['{', '}']).trim_ascii_start();
    }
    if rest.is_empty() || rest.starts_with("//") || rest.starts_with('#') {
        return Ok(rest.strip_prefix("//## File \"").and_then(position));
    }
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'@');
    let length = rest.bytes().take_while(named).count();
    if let Some((name, after)) = rest.split_at_checked(length)
        && let Some(after) = after.strip_prefix(':')
    {
        let after = after.trim_ascii_start();
        let ends = after.is_empty() || ["//", "/*", "#"].iter().any(|comment| after.starts_with(comment));
        if length > 0 && ends {
            return Ok(Some(Line::Label { name, range: text.range(name) }));
        }
    }
    if rest.starts_with('.') {
        return Ok(directive(text, rest, in_data));
    }
    if let Some(name) = rest.strip_prefix("Function :").map(str::trim) {
        return Ok(Some(Line::Section { kernel: Some(name), range: text.range(name) }));
    }
    if let Some(name) = rest.strip_prefix("code for ").map(str::trim) {
        return Ok(Some(Line::Target { name, range: text.range(name) }));
    }
    if rest == "compressed" || TOLD.iter().any(|told| rest.starts_with(told)) {
        return Ok(None);
    }
    statement(text, rest, offset, number).map(|s| Some(Line::Statement(s)))
}

fn position(rest: &str) -> Option<Line<'_>> {
    let (file, after) = rest.split_once("\", line ")?;
    let digits = after.split(|c: char| !c.is_ascii_digit()).next()?;
    // With `-G`, a position in the PTX follows the one in the source.
    (file != ".nv_debug_ptx_txt").then_some(Line::Position { file, line: digits.parse().ok()? })
}

fn directive<'t>(text: &Text<'t>, rest: &'t str, in_data: bool) -> Option<Line<'t>> {
    let (name, after) = rest.split_once(char::is_whitespace)?;
    let first = after.split(',').next().unwrap_or("").trim();
    let range = text.range(first);
    match name {
        ".target" => Some(Line::Target { name: first, range }),
        ".headerflags" => Some(Line::Flags(arch_of_flags(after))),
        ".section" if DATA_SECTIONS.iter().any(|data| first.starts_with(data)) => {
            Some(Line::DataSection { name: first.trim_matches('"') })
        }
        ".section" => {
            let kernel = first.strip_prefix(".text.").map(|k| k.trim_matches('"')).filter(|k| !k.is_empty());
            Some(Line::Section { kernel, range })
        }
        ".other" if after.contains("STO_CUDA_ENTRY") => Some(Line::Entry(first)),
        ".type" if after.contains("@function") => Some(Line::Function(first)),
        _ if in_data => Item::read(name, after).map(Line::Data),
        _ => None,
    }
}

/// Returns the architecture that the flags of an object file name, such as `EF_CUDA_SM90`. With the flag
/// `EF_CUDA_ACCELERATORS` it is sm_90a.
fn arch_of_flags(flags: &str) -> Option<Arch> {
    let words = || flags.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '(')));
    let number = words().find_map(|word| word.strip_prefix("EF_CUDA_SM"))?;
    let letter = if words().any(|word| word == "EF_CUDA_ACCELERATORS") { "a" } else { "" };
    Arch::from_name(&format!("sm_{number}{letter}"))
}

fn statement<'t>(
    text: &Text<'t>,
    rest: &'t str,
    offset: Option<u64>,
    line: u32,
) -> Result<Statement<'t>, Problem> {
    // In code before sm_70, two instructions in braces issue together. The second one ends in a brace instead
    // of a semicolon.
    let pair = || rest.split("/*").next().unwrap_or("").trim_ascii_end().strip_suffix('}');
    let Some(body) = rest.split_once(';').map(|(body, _)| body).or_else(pair) else {
        let help = "an instruction ends with a semicolon; other lines are labels, directives and comments";
        return Err(Problem::new(text.range(rest), "this is not a line of a listing", help));
    };
    let body = body.trim_ascii_end();
    let (guard, after_guard) = guard(text, body)?;
    let (mnemonic, operands) = word(after_guard);
    let well_formed = mnemonic.starts_with(|c: char| c.is_ascii_alphabetic())
        && mnemonic.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'));
    if !well_formed {
        let message = format!("`{mnemonic}` is not a mnemonic");
        let range = if mnemonic.is_empty() { text.range(body) } else { text.range(mnemonic) };
        return Err(Problem::new(range, message, "a mnemonic is a word such as IADD3 or ATOMS.ADD"));
    }
    Ok(Statement {
        limits: text.limits,
        line,
        position: None,
        offset,
        guard,
        mnemonic,
        name: mnemonic.split('.').next().unwrap_or(""),
        modifiers: mnemonic.split('.').skip(1).collect(),
        mnemonic_range: text.range(mnemonic),
        operands: operands_of(text, operands)?,
        text: body,
        text_range: text.range(body),
    })
}

fn word(text: &str) -> (&str, &str) {
    let length = text.bytes().take_while(|b| !b.is_ascii_whitespace()).count();
    let (word, rest) = text.split_at_checked(length).unwrap_or((text, ""));
    (word, rest.trim_ascii_start())
}

fn guard<'t>(text: &Text<'t>, body: &'t str) -> Result<(PredSource, &'t str), Problem> {
    let Some(guarded) = body.strip_prefix('@') else { return Ok((PredSource::TRUE, body)) };
    let (name, rest) = word(guarded);
    match operand::parse(name, text.limits) {
        Ok(operand::OperandKind::Pred(pred)) => Ok((pred, rest)),
        _ => {
            let message = format!("`@{name}` is not a guard");
            let range = if name.is_empty() { text.range(body) } else { text.range(name) };
            Err(Problem::new(range, message, "a guard is @P0 to @P6, @UP0 to @UP6, or @! and one of them"))
        }
    }
}

/// Splits operands at commas outside brackets. The list ends before scheduling attributes (`&req={0}`,
/// `?trans1`) and remarks such as `(*"SpillRefill"*)`.
fn operands_of<'t>(text: &Text<'t>, operands: &'t str) -> Result<Vec<Operand<'t>>, Problem> {
    let operands = operands.split_once("(*").map_or(operands, |(before, _)| before.trim_ascii_end());
    let mut parsed = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    let mut end = operands.len();
    let mut after_space = true;
    for (i, byte) in operands.bytes().enumerate() {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            b',' if depth <= 0 => {
                parsed.push(operand(text, operands.get(start..i).unwrap_or(""))?);
                start = i + 1;
            }
            b'&' | b'?' if depth <= 0 && after_space => {
                end = i;
                break;
            }
            _ => {}
        }
        after_space = byte.is_ascii_whitespace();
    }
    let last = operands.get(start..end).unwrap_or("");
    if !parsed.is_empty() || !last.trim_ascii().is_empty() {
        parsed.push(operand(text, last)?);
    }
    Ok(parsed)
}

fn operand<'t>(text: &Text<'t>, operand: &'t str) -> Result<Operand<'t>, Problem> {
    let start = text.range(operand).start;
    let operand = operand.trim_ascii();
    if operand.is_empty() {
        return Err(Problem::new(start..start, "an operand is missing", "there is one comma too many"));
    }
    let range = text.range(operand);
    match operand::parse(operand, text.limits) {
        Ok(kind) => Ok(Operand { kind, range }),
        Err((message, help)) => Err(Problem::new(range, message, help)),
    }
}
