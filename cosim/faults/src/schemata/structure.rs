//! Sites that are fixed at elaboration: constants, bounds of loops and ranges, `generate` conditions and
//! labels. They cannot have a switch, so each mutant needs its own source text.

use std::ops::Range;

use crate::schemata::insert::{SchemataError, line_of, one_line};
use crate::schemata::lexer::{Kind, Token, tokens};
use crate::schemata::operator::{MutationSite, SiteKind, SourceRange};

/// Returns all such sites in `sources`, given as names and texts.
///
/// Leaves out code that only the probe needs, and everything without a value: types, names and enumeration
/// values.
///
/// # Errors
/// [`SchemataError`] of the first source that the lexer cannot read.
pub fn structure(sources: &[(String, String)]) -> Result<Vec<MutationSite>, SchemataError> {
    let mut sites = Vec::new();
    for (file, text) in sources {
        let tokens = tokens(text).map_err(|error| SchemataError { file: file.clone(), error })?;
        let mut scan = Scan { file, text, tokens, module: String::new(), sites: &mut sites };
        for at in 0..scan.tokens.len() {
            scan.token(at);
        }
    }
    Ok(sites)
}

struct Scan<'a> {
    file: &'a str,
    text: &'a str,
    tokens: Vec<Token>,
    module: String,
    sites: &'a mut Vec<MutationSite>,
}

impl<'a> Scan<'a> {
    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.span.clone()])
    }

    fn token(&mut self, at: usize) {
        match self.text(at) {
            "module" | "package" => self.module = self.text(at + 1).to_owned(),
            "localparam" | "parameter" => self.constant(at),
            "for" => self.bounds(at),
            "if" => self.generate(at),
            "[" => self.range(at),
            "case" => self.labels(at),
            "inside" => self.list(at + 1),
            _ => {}
        }
    }

    /// Returns the first token from `at` that is one of `ends`, outside brackets that open after `at`.
    fn until(&self, at: usize, ends: &[&str]) -> usize {
        let mut depth = 0_u32;
        for next in at..self.tokens.len() {
            match self.text(next) {
                text if depth == 0 && ends.contains(&text) => return next,
                "(" | "[" | "{" | "'(" | "'{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Adds a site for the tokens of `range`. `shown` is the part to print.
    fn site(&mut self, kind: SiteKind, range: Range<usize>, shown: Range<usize>) {
        let [whole, shown] = [range, shown].map(|of| {
            let (first, last) =
                (self.tokens.get(of.start), of.end.checked_sub(1).and_then(|at| self.tokens.get(at)));
            first
                .zip(last)
                .filter(|(first, _)| !first.probe)
                .map(|(first, last)| first.span.start..last.span.end)
        });
        let Some((whole, shown)) =
            whole.zip(shown).filter(|(whole, shown)| !whole.is_empty() && !shown.is_empty())
        else {
            return;
        };
        self.sites.push(MutationSite {
            file: self.file.to_owned(),
            module: self.module.clone(),
            line: line_of(self.text, shown.start),
            text: one_line(&self.text[shown]),
            kind,
            place: SourceRange::of(&whole),
        });
    }

    fn number(&mut self, range: Range<usize>) {
        self.site(SiteKind::Number, range.clone(), range);
    }

    /// Adds the value of `localparam TYPE NAME = VALUE`.
    fn constant(&mut self, at: usize) {
        let equals = self.until(at, &["=", ";", ",", ")"]);
        let end = self.until(equals + 1, &[";", ",", ")"]);
        // Structures and strings cannot be incremented.
        let is_number = !matches!(self.text(equals + 1), "'{" | "{")
            && self.tokens.get(equals + 1).map(|one| one.kind) != Some(Kind::Text);
        if self.text(equals) == "=" && self.text(at + 1) != "type" && is_number {
            self.number(equals + 1..end);
        }
    }

    /// Adds the bounds of `for (TYPE NAME = FIRST; NAME < BOUND; ...)`.
    fn bounds(&mut self, at: usize) {
        let equals = self.until(at + 2, &["=", ";"]);
        let first = self.until(equals, &[";"]);
        let sign = self.until(first + 1, &["<", "<=", ">", ">=", ";"]);
        let bound = self.until(first + 1, &[";"]);
        if self.text(equals) == "=" && sign < bound {
            self.number(equals + 1..first);
            self.number(sign + 1..bound);
        }
    }

    /// Adds the condition of a generate block: `if (CONDITION) begin : NAME`.
    fn generate(&mut self, at: usize) {
        let end = self.until(at + 2, &[")"]);
        if self.text(end + 1) == "begin" && self.text(end + 2) == ":" {
            self.site(SiteKind::Presence, at + 2..end, at + 2..end);
        }
    }

    /// Adds the bounds of `[FIRST:LAST]` in a type, value or list, and the width of `[FIRST +: WIDTH]`.
    fn range(&mut self, at: usize) {
        let end = self.until(at + 1, &["]"]);
        let colon = self.until(at + 1, &[":", "+:", "?", "]"]);
        match self.text(colon) {
            ":" => {
                // Skip names of operations, which cannot be incremented.
                for bound in [at + 1..colon, colon + 1..end] {
                    let is_name = |word: &str| word.starts_with(char::is_uppercase);
                    if !(bound.len() == 1
                        && self.text(at.wrapping_sub(1)) != "logic"
                        && is_name(self.text(bound.start)))
                    {
                        self.number(bound);
                    }
                }
            }
            "+:" => self.number(colon + 1..end),
            _ => {}
        }
    }

    /// Adds the arms and labels of `case (VALUE) LABEL, LABEL: STATEMENT ... endcase`.
    fn labels(&mut self, at: usize) {
        let mut next = self.until(at + 2, &[")"]) + 1;
        if self.text(next) == "inside" {
            next += 1;
        }
        while !matches!(self.text(next), "endcase" | "") {
            let colon = self.until(next, &[":"]);
            let end = self.statement(colon + 1);
            let labels = self.split(next..colon);
            match labels.as_slice() {
                _ if self.text(next) == "default" => {}
                [only] => self.site(SiteKind::Choice, next..end, only.clone()),
                several => self.one_of(several),
            }
            next = end;
        }
    }

    /// Adds the elements of `{ELEMENT, ELEMENT}`.
    fn list(&mut self, at: usize) {
        let elements = self.split(at + 1..self.until(at + 1, &["}"]));
        if elements.len() > 1 {
            self.one_of(&elements);
        }
    }

    fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let (mut found, mut from) = (Vec::new(), range.start);
        while from < range.end {
            let end = self.until(from, &[","]).min(range.end);
            found.push(from..end);
            from = end + 1;
        }
        found
    }

    /// Adds each element, together with the comma next to it.
    fn one_of(&mut self, elements: &[Range<usize>]) {
        for (number, element) in elements.iter().enumerate() {
            let with_comma =
                if number == 0 { element.start..element.end + 1 } else { element.start - 1..element.end };
            self.site(SiteKind::Choice, with_comma, element.clone());
        }
    }

    /// Returns the first token after the statement that begins at `at`.
    fn statement(&self, at: usize) -> usize {
        let block = |open: &[&str], close: &str| {
            let mut depth = 0_u32;
            for next in at..self.tokens.len() {
                depth += u32::from(open.contains(&self.text(next)));
                if self.text(next) == close {
                    depth -= 1;
                    if depth == 0 {
                        return next + 1;
                    }
                }
            }
            self.tokens.len()
        };
        match self.text(at) {
            "begin" => block(&["begin"], "end"),
            "case" => block(&["case"], "endcase"),
            "unique" | "priority" | "automatic" => self.statement(at + 1),
            "for" => self.statement(self.until(at + 2, &[")"]) + 1),
            "if" => {
                let then = self.statement(self.until(at + 2, &[")"]) + 1);
                if self.text(then) == "else" { self.statement(then + 1) } else { then }
            }
            _ => self.until(at, &[";"]) + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of each mutant.
    fn altered(text: &str) -> Vec<String> {
        let sites =
            structure(&[("a.sv".to_owned(), text.to_owned())]).unwrap_or_else(|error| panic!("{error}"));
        let each = |site: &MutationSite| {
            let by = |(_, by)| one_line(&site.altered_source(text, by));
            site.operators().into_iter().map(by).collect::<Vec<_>>()
        };
        sites.iter().flat_map(each).collect()
    }

    #[test]
    fn constants_bounds_and_ranges_are_one_off() {
        assert_eq!(
            altered("localparam int A = B / 2;"),
            ["localparam int A = (B / 2 + 1'b1);", "localparam int A = (B / 2 - 1'b1);"]
        );
        assert_eq!(
            altered("for (int i = 0; i < N; i++) a[i] = b;"),
            [
                "for (int i = (0 + 1'b1); i < N; i++) a[i] = b;",
                "for (int i = (0 - 1'b1); i < N; i++) a[i] = b;",
                "for (int i = 0; i < (N + 1'b1); i++) a[i] = b;",
                "for (int i = 0; i < (N - 1'b1); i++) a[i] = b;",
            ]
        );
        assert_eq!(altered("logic [N-1:0] a;").len(), 4);
        assert_eq!(altered("a = b[2*i +: 2];"), ["a = b[2*i +: (2 + 1'b1)];", "a = b[2*i +: (2 - 1'b1)];"]);
        assert_eq!(
            altered("localparam type T = logic; localparam pair_t P = '{1, 2};"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn labels_and_elements_are_left_out() {
        assert_eq!(
            altered("case (a) A, B: x = 1; C: begin x = 2; end default: x = 3; endcase"),
            [
                "case (a) B: x = 1; C: begin x = 2; end default: x = 3; endcase",
                "case (a) A: x = 1; C: begin x = 2; end default: x = 3; endcase",
                "case (a) A, B: x = 1; default: x = 3; endcase",
            ]
        );
        assert_eq!(altered("a = b inside {A, [B:C]};"), ["a = b inside { [B:C]};", "a = b inside {A};"]);
        assert_eq!(altered("a = b inside {A};"), Vec::<String>::new());
    }

    #[test]
    fn a_block_that_is_there_is_not() {
        assert_eq!(altered("if (A) begin : g_a end"), ["if (!(A)) begin : g_a end"]);
        assert_eq!(altered("if (a) begin end"), Vec::<String>::new());
    }
}
