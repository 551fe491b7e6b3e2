//! Tokens of a SystemVerilog source, with their byte ranges.

use crate::schemata::SyntaxError;
use std::ops::Range;

/// Macros treated as defined. `SYNTHESIS` leaves out verification code; `ATOMS_PROBE` includes the probe that
/// lockstep compares.
const DEFINED: [&str; 2] = ["SYNTHESIS", "ATOMS_PROBE"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    /// Unsized literal: `'0`, `'1`.
    Fill,
    Text,
    Sign,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
    /// True if the token is in code that only the probe needs.
    pub(crate) probe: bool,
}

const SIGNS: [&str; 31] = [
    "<<<", ">>>", "===", "!==", "==?", "!=?", "<<=", ">>=", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>",
    "+=", "-=", "&=", "|=", "^=", "++", "--", "::", "+:", "-:", "~&", "~|", "~^", "'{", "'(",
];

/// Reads the tokens of `text`, without comments, directives, macro calls and code that the directives
/// exclude.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut lexer = Lexer { text, at: 0, found: Vec::new(), conditions: Vec::new() };
    while lexer.at < text.len() {
        lexer.step()?;
    }
    match lexer.conditions.is_empty() {
        true => Ok(lexer.found),
        false => Err(SyntaxError::new(text, text.len(), "`endif", "the end of the file")),
    }
}

/// An `ifdef` or `ifndef` without its `endif` yet.
struct Condition {
    /// True if the tokens of the current branch are read, provided that all outer branches are read too.
    taken: bool,
    /// True if the macro is `ATOMS_PROBE`.
    probe: bool,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Token>,
    conditions: Vec<Condition>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn counts(&self) -> bool {
        self.conditions.iter().all(|condition| condition.taken)
    }

    fn step(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(()) };
        let length = |taken: fn(char) -> bool| rest.find(|c| !taken(c)).unwrap_or(rest.len());
        if first.is_whitespace() {
            self.at += length(char::is_whitespace);
        } else if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if first == '`' {
            return self.directive();
        } else if first == '"' {
            self.at += text_length(rest);
            self.push(Kind::Text, start);
        } else if first.is_alphabetic() || matches!(first, '_' | '$' | '\\') {
            let taken = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            self.at +=
                1 + rest[first.len_utf8()..].find(|c| !taken(c)).unwrap_or(rest.len() - first.len_utf8());
            self.push(Kind::Word, start);
        } else if first.is_ascii_digit() {
            self.at += number_length(rest);
            self.push(Kind::Number, start);
        } else if let Some(base) = based(rest) {
            self.at += base;
            self.push(Kind::Number, start);
        } else if first == '\'' && rest[1..].starts_with(['0', '1', 'x', 'z']) {
            self.at += 2;
            self.push(Kind::Fill, start);
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            self.at += sign.map_or(first.len_utf8(), |sign| sign.len());
            self.push(Kind::Sign, start);
        }
        Ok(())
    }

    fn push(&mut self, kind: Kind, start: usize) {
        if self.counts() {
            let probe = self.conditions.iter().any(|condition| condition.probe);
            self.found.push(Token { kind, span: start..self.at, probe });
        }
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn directive(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 1;
        let name = self.word().to_owned();
        match name.as_str() {
            "ifdef" | "ifndef" => {
                self.at += self.rest().len() - self.rest().trim_start().len();
                let asked = self.word().to_owned();
                let taken = DEFINED.contains(&asked.as_str()) == (name == "ifdef");
                self.conditions.push(Condition { taken, probe: asked == "ATOMS_PROBE" });
            }
            "else" | "endif" => {
                let Some(open) = self.conditions.last_mut() else {
                    return Err(SyntaxError::new(self.text, start, "`ifdef before it", &format!("`{name}")));
                };
                open.taken = !open.taken;
                if name == "endif" {
                    self.conditions.pop();
                }
            }
            "define" | "undef" | "include" | "timescale" | "default_nettype" => {
                // Skip to the end of the line, and over its continuation lines.
                while let Some(end) = self.rest().find('\n') {
                    let more = self.rest()[..end].trim_end().ends_with('\\');
                    self.at += end + 1;
                    if !more {
                        return Ok(());
                    }
                }
                self.at = self.text.len();
            }
            _ => {
                // Skip the call. Macros are assertions and cover properties, which are not part of the
                // design.
                if self.rest().starts_with('(') {
                    let length = balanced(self.rest());
                    let missing = || SyntaxError::new(self.text, start, "`)`", "the end of the file");
                    self.at += length.ok_or_else(missing)?;
                }
            }
        }
        Ok(())
    }
}

fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a parenthesized text at the start of `rest`, including the parentheses.
fn balanced(rest: &str) -> Option<usize> {
    let (mut depth, mut skip) = (0_u32, 0);
    for (at, c) in rest.char_indices() {
        match c {
            _ if at < skip => {}
            '"' => skip = at + text_length(&rest[at..]),
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the length of base and digits, such as `'h1f`, at the start of `rest`.
fn based(rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix('\'')?;
    let behind = behind.strip_prefix(['s', 'S']).unwrap_or(behind);
    let digits = behind.strip_prefix(['b', 'o', 'd', 'h', 'B', 'O', 'D', 'H'])?;
    let length =
        digits.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '?').unwrap_or(digits.len());
    (length > 0).then(|| rest.len() - digits.len() + length)
}

fn number_length(rest: &str) -> usize {
    let length = rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len());
    length + based(&rest[length..]).unwrap_or(0)
}
