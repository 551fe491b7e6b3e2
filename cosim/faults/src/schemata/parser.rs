//! Parses tokens to [`syntax`](crate::schemata::syntax).

mod expression;
mod item;
mod statement;

use crate::schemata::lexer::{Kind, Token, tokens};
use crate::schemata::syntax::SourceUnit;
use crate::schemata::{SchemataError, SyntaxError};
use std::collections::BTreeSet;
use std::ops::Range;

/// Parses the modules and packages of a source.
///
/// # Errors
/// [`SyntaxError`] at the first construct that the parser does not support.
pub(crate) fn parse(text: &str) -> Result<Vec<SourceUnit>, SyntaxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, at: 0 };
    let mut units = Vec::new();
    while parser.at < parser.tokens.len() {
        units.push(parser.unit()?);
    }
    Ok(units)
}

/// Collects names declared as an enumeration or unpacked array in any of `sources`. Such a value cannot be
/// inverted bit by bit. Names are not scoped, because one name has one meaning throughout the design.
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

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
}

type Parsed<T> = Result<T, SyntaxError>;

impl<'a> Parser<'a> {
    /// Returns the text of the token `ahead` of the next one, or an empty text at the end.
    fn peek_at(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| &self.text[token.span.clone()])
    }

    fn peek(&self) -> &'a str {
        self.peek_at(0)
    }

    fn kind_at(&self, ahead: usize) -> Option<Kind> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |token| token.span.start)
    }

    /// Returns the range from `start` to the end of the last token taken.
    fn span_from(&self, start: usize) -> Range<usize> {
        start..self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span.end).max(start)
    }

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

    /// Skips a bracketed text. The next token must be the opening bracket.
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

    /// Skips past the next `;` outside brackets.
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

    /// Reads a type definition and records an enumeration or unpacked array. Skips one token if there is
    /// none.
    fn opaque_type(&mut self, types: &mut BTreeSet<String>) {
        if !self.take("typedef") {
            self.at += 1;
            return;
        }
        let mut opaque = self.peek() == "enum";
        let mut name = "";
        while !matches!(self.peek(), ";" | "") {
            if matches!(self.peek(), "[" | "{") {
                // An opening bracket after the name starts unpacked dimensions.
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

    /// True if the declaration ends after the current brackets.
    fn unpacked(&self) -> bool {
        let behind = (0..).find(|ahead| matches!(self.peek_at(*ahead), "]" | "")).unwrap_or(0);
        self.peek_at(behind + 1) == ";"
    }

    /// Reads the names declared with one of `types`, if such a type is next. Skips one token otherwise.
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

    fn skip_label(&mut self) -> Parsed<()> {
        if self.take(":") {
            self.name()?;
        }
        Ok(())
    }
}
