//! Lines of a listing: directives, labels and statements.

use crate::arch::Arch;
use crate::bank;
use crate::operand::{self, Limits, Operand, OperandKind};
use crate::problem::Problem;
use crate::register::PredSource;
use std::ops::Range;

/// What the section of a kernel's constant bank 2 is called, before the kernel's name.
const BANK_SECTION: &str = ".nv.constant2.";

/// The text of a listing.
#[derive(Clone, Copy)]
pub(crate) struct Text<'t> {
    text: &'t str,
    limits: Limits,
}

impl<'t> Text<'t> {
    pub(crate) fn new(text: &'t str, limits: Limits) -> Text<'t> {
        Text { text, limits }
    }

    /// The text, as it is read for an architecture.
    pub(crate) fn on(self, arch: Arch) -> Text<'t> {
        Text { limits: self.limits.on(arch), ..self }
    }

    /// Each line, with its number from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u32, &'t str)> {
        (1..).zip(self.text.lines())
    }

    /// Where a slice of the text stands in it.
    fn range(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        start..(start + part.len()).min(self.text.len())
    }
}

/// One line that is neither blank nor a comment nor an ignored directive.
pub(crate) enum Line<'t> {
    /// `.target sm_75`
    Target { name: &'t str, range: Range<usize> },
    /// `.section .nv.constant2.NAME,...`: what follows is the kernel's constant bank 2.
    Bank { kernel: &'t str },
    /// `.byte 0x00, ...` and the like, in whatever section; `None` for what only a linker knows.
    Data(Option<Vec<u8>>),
    /// `.section .text.NAME,...`; `None` for a section without code.
    Section { kernel: Option<&'t str>, range: Range<usize> },
    /// `NAME:`
    Label { name: &'t str, range: Range<usize> },
    /// An instruction.
    Statement(Statement<'t>),
}

/// One instruction as text.
pub(crate) struct Statement<'t> {
    /// Registers that the text may name.
    pub(crate) limits: Limits,
    /// Line in the listing, from 1.
    pub(crate) line: u32,
    /// Byte offset in the kernel, where the listing says it.
    pub(crate) offset: Option<u64>,
    pub(crate) guard: PredSource,
    pub(crate) mnemonic: &'t str,
    pub(crate) mnemonic_range: Range<usize>,
    pub(crate) operands: Vec<Operand<'t>>,
    /// Guard to last operand, for messages.
    pub(crate) text: &'t str,
}

impl Statement<'_> {
    /// The highest number of a thread's register in the operands.
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

/// Reads a line; nothing if it is blank, a comment or an ignored directive. Data count only in a constant bank.
pub(crate) fn read<'t>(
    text: &Text<'t>,
    number: u32,
    line: &'t str,
    in_bank: bool,
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
    if rest.is_empty() || rest.starts_with("//") {
        return Ok(None);
    }
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'@');
    let length = rest.bytes().take_while(named).count();
    if let Some((name, after)) = rest.split_at_checked(length)
        && let Some(after) = after.strip_prefix(':')
    {
        let after = after.trim_ascii_start();
        if length > 0 && (after.is_empty() || after.starts_with("//") || after.starts_with("/*")) {
            return Ok(Some(Line::Label { name, range: text.range(name) }));
        }
    }
    if rest.starts_with('.') {
        return Ok(directive(text, rest, in_bank));
    }
    statement(text, rest, offset, number).map(|s| Some(Line::Statement(s)))
}

fn directive<'t>(text: &Text<'t>, rest: &'t str, in_bank: bool) -> Option<Line<'t>> {
    let (name, after) = rest.split_once(char::is_whitespace)?;
    let first = after.split(',').next().unwrap_or("").trim();
    let range = text.range(first);
    match name {
        ".target" => Some(Line::Target { name: first, range }),
        ".section" if first.starts_with(BANK_SECTION) => {
            Some(Line::Bank { kernel: first.strip_prefix(BANK_SECTION)?.trim_matches('"') })
        }
        ".byte" | ".short" | ".hword" | ".2byte" | ".word" | ".4byte" | ".dword" | ".quad" | ".8byte"
        | ".zero"
            if in_bank =>
        {
            Some(Line::Data(bank::data(name, after)))
        }
        ".section" => {
            let kernel = first.strip_prefix(".text.").map(|k| k.trim_matches('"')).filter(|k| !k.is_empty());
            Some(Line::Section { kernel, range })
        }
        _ => None,
    }
}

fn statement<'t>(
    text: &Text<'t>,
    rest: &'t str,
    offset: Option<u64>,
    line: u32,
) -> Result<Statement<'t>, Problem> {
    let Some((body, _)) = rest.split_once(';') else {
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
        offset,
        guard,
        mnemonic,
        mnemonic_range: text.range(mnemonic),
        operands: operands_of(text, operands)?,
        text: body,
    })
}

/// What stands before the first white space, and what after it.
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

/// Operands, parted by commas outside brackets; scheduling attributes (`&req={0}`, `?trans1`) end them.
fn operands_of<'t>(text: &Text<'t>, operands: &'t str) -> Result<Vec<Operand<'t>>, Problem> {
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
