//! What is wrong with a listing.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::fmt;
use std::sync::Arc;

/// One thing wrong in a listing, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, and what was found.
    pub message: String,
    /// What would work.
    pub help: String,
    /// Line in the listing, from 1.
    pub line: u32,
    /// Column of the first character, from 1, in characters.
    pub column: u32,
    /// Bytes of the listing the problem is about.
    pub span: SourceSpan,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.help))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(miette::LabeledSpan::new_with_span(Some("here".into()), self.span))))
    }
}

/// Everything wrong with a listing, in order of place.
#[derive(Clone, Debug)]
pub struct ListingError {
    /// Name of the listing, for messages.
    pub name: String,
    /// Its problems; never empty.
    pub problems: Vec<Problem>,
    source: NamedSource<Arc<str>>,
}

impl ListingError {
    pub(crate) fn new(name: &str, text: &str, mut problems: Vec<Problem>) -> ListingError {
        problems.sort_by_key(|p| (p.line, p.column));
        ListingError { name: name.into(), problems, source: NamedSource::new(name, Arc::from(text)) }
    }
}

impl fmt::Display for ListingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.problems.len() == 1 { "problem" } else { "problems" };
        write!(f, "`{}` has {} {plural}", self.name, self.problems.len())?;
        self.problems.iter().try_for_each(|p| write!(f, "\n  {p}\n    {}", p.help))
    }
}

impl std::error::Error for ListingError {}

impl Diagnostic for ListingError {
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems.iter().map(|p| p as &dyn Diagnostic)))
    }
}
