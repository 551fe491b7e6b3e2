//! From tokens to [`syntax`](crate::schemata::syntax).

mod expression;
mod item;
mod statement;

use crate::schemata::lexer::{Kind, Token, tokens};
use crate::schemata::syntax::SourceUnit;
use crate::schemata::{SchemataError, SyntaxError};
use std::collections::BTreeSet;
use std::ops::Range;

/// Parses a source: its modules and packages.
///
/// # Errors
/// [`SyntaxError`] with the first place that is none of the constructs that the design uses.
pub(crate) fn parse(text: &str) -> Result<Vec<SourceUnit>, SyntaxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, at: 0 };
    let mut units = Vec::new();
    while parser.at < parser.tokens.len() {
        units.push(parser.unit()?);
    }
    Ok(units)
}

/// Names of what is declared with an enumeration or an unpacked array as its type, in any of `sources`: what has no
/// bits that could be inverted at once. By name alone, since a name means one thing throughout the design.
///
/// # Errors
/// [`SchemataError`].
pub(crate) fn opaque_names(sources: &[(String, String)]) -> Result<BTreeSet<String>, SchemataError> {
    let (mut types, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (file, text) in sources {
        let tokens = tokens(text).map_err(|error| SchemataError { file: file.clone(), error })?;
        let mut parser = Parser { text, tokens, at: 0 };
        while parser.at < parser.tokens.len() {
            parser.opaque_type(&mut types);
        }
    }
    for (file, text) in sources {
        let tokens = tokens(text).map_err(|error| SchemataError { file: file.clone(), error })?;
        let mut parser = Parser { text, tokens, at: 0 };
        while parser.at < parser.tokens.len() {
            parser.declared_with(&types, &mut names);
        }
    }
    Ok(names)
}

/// Where in the tokens we are.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
}

type Parsed<T> = Result<T, SyntaxError>;

impl<'a> Parser<'a> {
    /// The text of the token `ahead` of the next one; nothing at the end.
    fn peek_at(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| &self.text[token.span.clone()])
    }

    fn peek(&self) -> &'a str {
        self.peek_at(0)
    }

    fn kind_at(&self, ahead: usize) -> Option<Kind> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    /// Where the next token begins.
    fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |token| token.span.start)
    }

    /// From `start` to the end of the token taken last.
    fn span_from(&self, start: usize) -> Range<usize> {
        start..self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span.end).max(start)
    }

    /// Takes the next token if it is `sign`.
    fn take(&mut self, sign: &str) -> bool {
        let found = self.peek() == sign;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn name(&mut self) -> Parsed<String> {
        let name = self.peek().to_owned();
        if self.kind_at(0) != Some(Kind::Word) {
            return Err(self.unexpected("a name"));
        }
        self.at += 1;
        Ok(name)
    }

    fn unexpected(&self, expected: &str) -> SyntaxError {
        let found = if self.peek().is_empty() {
            "the end of the file".to_owned()
        } else {
            format!("`{}`", self.peek())
        };
        SyntaxError::new(self.text, self.start(), expected, &found)
    }

    /// Skips what is in brackets, with them; the next token is the first one.
    fn skip_brackets(&mut self) -> Parsed<()> {
        let mut depth = 0_u32;
        loop {
            match self.peek() {
                "(" | "[" | "{" | "'(" | "'{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "" => return Err(self.unexpected("a closing bracket")),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips to behind the next `;` that is in no brackets.
    fn skip_statement(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                ";" => {
                    self.at += 1;
                    return Ok(());
                }
                "(" | "[" | "{" | "'(" | "'{" => self.skip_brackets()?,
                "" => return Err(self.unexpected("`;`")),
                _ => self.at += 1,
            }
        }
    }

    /// Takes a type definition, and notes it if it is an enumeration or an unpacked array; else one token.
    fn opaque_type(&mut self, types: &mut BTreeSet<String>) {
        if !self.take("typedef") {
            self.at += 1;
            return;
        }
        let mut opaque = self.peek() == "enum";
        let mut name = "";
        while !matches!(self.peek(), ";" | "") {
            if matches!(self.peek(), "[" | "{") {
                // Dimensions behind the name, which has another word before it.
                opaque |=
                    self.peek() == "[" && !matches!(name, "" | "logic" | "bit" | "packed") && self.unpacked();
                if self.skip_brackets().is_err() {
                    return;
                }
            } else {
                name = self.peek();
                self.at += 1;
            }
        }
        if opaque {
            types.insert(name.to_owned());
        }
    }

    /// Whether these brackets, and what others follow, end the declaration.
    fn unpacked(&self) -> bool {
        let behind = (0..).find(|ahead| matches!(self.peek_at(*ahead), "]" | "")).unwrap_or(0);
        self.peek_at(behind + 1) == ";"
    }

    /// Takes the names declared with one of `types`, if one of them is next; else one token.
    fn declared_with(&mut self, types: &BTreeSet<String>, names: &mut BTreeSet<String>) {
        let declares = types.contains(self.peek());
        self.at += 1;
        while declares && self.kind_at(0) == Some(Kind::Word) && !matches!(self.peek(), "input" | "output") {
            names.insert(self.peek().to_owned());
            self.at += 1;
            if self.peek_at(1) == "input" || self.peek_at(1) == "output" || !self.take(",") {
                break;
            }
        }
    }

    /// Skips `: name`, if it is there.
    fn skip_label(&mut self) -> Parsed<()> {
        if self.take(":") {
            self.name()?;
        }
        Ok(())
    }
}
