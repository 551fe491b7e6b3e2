//! Problems in a text (listing or PTX), with line and column.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The parser stops after this number of problems. Users do not read more, and printing one problem takes
/// time in proportion to the length of the text.
pub(crate) const MOST_PROBLEMS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub message: String,
    pub help: String,
    pub line: u32,
    /// Column of the first character, from 1, counted in characters.
    pub column: u32,
    /// Byte range of the text that has the problem.
    pub span: SourceSpan,
    /// Lines of later problems with the same message and help. A report shows the first problem, and only the
    /// lines of these.
    pub same: Vec<u32>,
    /// True if an earlier problem lists the line of this one in `same`, so a report does not show this one
    /// again.
    shown: bool,
}

impl Problem {
    /// Creates a problem. [`TextError::new`] fills in line and column.
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem {
            message: message.into(),
            help: help.into(),
            line: 0,
            column: 0,
            span: range.into(),
            same: Vec::new(),
            shown: false,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl Problem {
    fn advice(&self) -> String {
        let lines: Vec<String> = self.same.iter().map(u32::to_string).collect();
        match lines.as_slice() {
            [] => self.help.clone(),
            lines => format!("{} (the same in lines {})", self.help, lines.join(", ")),
        }
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.advice()))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(miette::LabeledSpan::new_with_span(Some("here".into()), self.span))))
    }
}

#[derive(Clone, Debug)]
pub struct TextError {
    pub name: String,
    /// Problems found, never empty. Not complete if the parser stopped at the maximum number of problems.
    pub problems: Vec<Problem>,
    source: NamedSource<Arc<str>>,
}

impl TextError {
    pub fn headline(&self) -> String {
        let plural = if self.problems.len() == 1 { "problem" } else { "problems" };
        format!("`{}` has {} {plural}", self.name, self.problems.len())
    }

    /// Sorts the problems and finds their lines and columns in one pass over the text.
    pub(crate) fn new(name: &str, text: &str, mut problems: Vec<Problem>) -> TextError {
        problems.sort_by_key(|p| p.span.offset());
        let (mut at, mut line, mut column) = (0, 1, 1);
        for problem in &mut problems {
            let start = problem.span.offset().min(text.len());
            for c in text.get(at..start).unwrap_or("").chars() {
                (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            at = start;
            (problem.line, problem.column) = (line, column);
        }
        let mut firsts: HashMap<(String, String), usize> = HashMap::new();
        for at in 0..problems.len() {
            let text = (problems[at].message.clone(), problems[at].help.clone());
            let first = *firsts.entry(text).or_insert(at);
            if first != at {
                problems[at].shown = true;
                let line = problems[at].line;
                problems[first].same.push(line);
            }
        }
        TextError { name: name.into(), problems, source: NamedSource::new(name, Arc::from(text)) }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.headline())?;
        let mut shown = self.problems.iter().filter(|p| !p.shown);
        shown.try_for_each(|p| write!(f, "\n  {p}\n    {}", p.advice()))?;
        if self.problems.len() >= MOST_PROBLEMS {
            write!(f, "\n  and perhaps more: reading stopped here")
        } else {
            Ok(())
        }
    }
}

impl std::error::Error for TextError {}

impl Diagnostic for TextError {
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems.iter().filter(|p| !p.shown).map(|p| p as &dyn Diagnostic)))
    }
}
