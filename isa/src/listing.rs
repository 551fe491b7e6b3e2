//! Lines of a listing: directives, labels and statements.

use crate::operand::{self, Limits, Operand, OperandKind};
use crate::problem::Problem;
use crate::register::PredSource;
use std::ops::Range;

/// The text of a listing, with the place of each line.
pub(crate) struct Text<'t> {
    text: &'t str,
    limits: Limits,
    line_starts: Vec<usize>,
}

impl<'t> Text<'t> {
    pub(crate) fn new(text: &'t str, limits: Limits) -> Text<'t> {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Text { text, limits, line_starts: std::iter::once(0).chain(starts).collect() }
    }

    /// Where a slice of the text stands in it.
    fn range(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        start..(start + part.len()).min(self.text.len())
    }

    /// The line, from 1, that the byte is in.
    fn line(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte)
    }

    pub(crate) fn problem(&self, range: Range<usize>, message: String, help: String) -> Problem {
        Problem::new(range, message, help)
    }
}

/// One line that is neither blank nor a comment nor an ignored directive.
pub(crate) enum Line<'t> {
    /// `.target sm_75`
    Target { name: &'t str, range: Range<usize> },
    /// `.section .text.NAME,...`; `None` for a section without code.
    Section { kernel: Option<&'t str>, range: Range<usize> },
    /// `NAME:`
    Label { name: &'t str, range: Range<usize> },
    /// An instruction.
    Statement(Box<Statement<'t>>),
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

/// Reads all lines; what cannot be read goes to `problems`.
pub(crate) fn lines<'t>(text: &Text<'t>, problems: &mut Vec<Problem>) -> Vec<Line<'t>> {
    text.text
        .lines()
        .filter_map(|line| {
            read(text, line).unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        })
        .collect()
}

fn read<'t>(text: &Text<'t>, line: &'t str) -> Result<Option<Line<'t>>, Problem> {
    let mut offset = None;
    let mut rest = line.trim();
    while let Some(comment) = rest.strip_prefix("/*") {
        let Some((inside, after)) = comment.split_once("*/") else {
            return Err(text.problem(
                text.range(rest),
                "comment is not closed".into(),
                "end it with */".into(),
            ));
        };
        if offset.is_none() && !inside.starts_with(' ') && inside.len() <= 16 {
            offset = u64::from_str_radix(inside, 16).ok();
        }
        rest = after.trim_start();
    }
    rest = rest.trim_start_matches(['{', '}']).trim();
    if rest.is_empty() || rest.starts_with("//") {
        return Ok(None);
    }
    if let Some((name, after)) = rest.split_once(':') {
        let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.$@".contains(c));
        let after = after.trim();
        if named && (after.is_empty() || after.starts_with("//") || after.starts_with("/*")) {
            return Ok(Some(Line::Label { name, range: text.range(name) }));
        }
    }
    if rest.starts_with('.') {
        return Ok(directive(text, rest));
    }
    statement(text, rest, offset).map(|s| Some(Line::Statement(Box::new(s))))
}

fn directive<'t>(text: &Text<'t>, rest: &'t str) -> Option<Line<'t>> {
    let (name, after) = rest.split_once(char::is_whitespace)?;
    let first = after.split(',').next().unwrap_or("").trim();
    let range = text.range(first);
    match name {
        ".target" => Some(Line::Target { name: first, range }),
        ".section" => {
            let kernel = first.strip_prefix(".text.").map(|k| k.trim_matches('"')).filter(|k| !k.is_empty());
            Some(Line::Section { kernel, range })
        }
        _ => None,
    }
}

fn statement<'t>(text: &Text<'t>, rest: &'t str, offset: Option<u64>) -> Result<Statement<'t>, Problem> {
    let Some((body, _)) = rest.split_once(';') else {
        let help = "an instruction ends with a semicolon; other lines are labels, directives and comments";
        return Err(text.problem(text.range(rest), "this is not a line of a listing".into(), help.into()));
    };
    let body = body.trim();
    let line = text.line(text.range(rest).start) as u32;
    let (guard, after_guard) = guard(text, body)?;
    let (mnemonic, operands) = after_guard.split_once(char::is_whitespace).unwrap_or((after_guard, ""));
    let well_formed = mnemonic.starts_with(|c: char| c.is_ascii_alphabetic())
        && mnemonic.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c));
    if !well_formed {
        let message = format!("`{mnemonic}` is not a mnemonic");
        let range = if mnemonic.is_empty() { text.range(body) } else { text.range(mnemonic) };
        return Err(text.problem(range, message, "a mnemonic is a word such as IADD3 or ATOMS.ADD".into()));
    }
    let operands = split(operands)
        .into_iter()
        .map(|operand| {
            let range = text.range(operand);
            match operand::parse(operand, text.limits) {
                _ if operand.is_empty() => Err(text.problem(
                    range,
                    "an operand is missing".into(),
                    "there is one comma too many".into(),
                )),
                Ok(kind) => Ok(Operand { kind, range }),
                Err((message, help)) => Err(text.problem(range, message, help)),
            }
        })
        .collect::<Result<_, _>>()?;
    Ok(Statement {
        limits: text.limits,
        line,
        offset,
        guard,
        mnemonic,
        mnemonic_range: text.range(mnemonic),
        operands,
        text: body,
    })
}

fn guard<'t>(text: &Text<'t>, body: &'t str) -> Result<(PredSource, &'t str), Problem> {
    let Some(guarded) = body.strip_prefix('@') else { return Ok((PredSource::TRUE, body)) };
    let (name, rest) = guarded.split_once(char::is_whitespace).unwrap_or((guarded, ""));
    match operand::parse(name, text.limits) {
        Ok(operand::OperandKind::Pred(pred)) => Ok((pred, rest.trim_start())),
        _ => {
            let message = format!("`@{name}` is not a guard");
            let range = if name.is_empty() { text.range(body) } else { text.range(name) };
            Err(text.problem(
                range,
                message,
                "a guard is @P0 to @P6, @UP0 to @UP6, or @! and one of them".into(),
            ))
        }
    }
}

/// Splits operands at commas outside brackets; scheduling attributes (`&req={0}`, `?trans1`) end them.
fn split(operands: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    let mut end = operands.len();
    let mut after_space = true;
    for (i, c) in operands.char_indices() {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(operands[start..i].trim());
                start = i + 1;
            }
            '&' | '?' if depth <= 0 && after_space => {
                end = i;
                break;
            }
            _ => {}
        }
        after_space = c.is_whitespace();
    }
    let last = operands[start..end].trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}
