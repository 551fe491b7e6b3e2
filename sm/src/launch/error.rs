//! Errors in a launch.

use super::formula::FormulaError;
use atoms_isa::UnreadKernel;
use std::ops::Range;
use std::path::PathBuf;

/// Reason why a launch cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// The file is not TOML, or has keys or types that a launch file does not have.
    #[error("`{name}` is not a launch file: {source}")]
    Syntax { name: String, source: Box<toml::de::Error> },
    /// A value of the launch file makes no sense.
    #[error("`{at}`: {message}; {help}")]
    Value {
        /// Key, or parameter and key.
        at: String,
        message: String,
        help: String,
    },
    /// A formula that cannot be read, or has no value.
    #[error("`{at}`: {message}; {help}{}", marked(text, range))]
    Formula {
        /// Parameter and key.
        at: String,
        text: String,
        /// Bytes of it that are meant.
        range: Range<usize>,
        message: String,
        help: String,
    },
    /// The kernel cannot be read, though others of its file can.
    #[error("kernel `{}` cannot be read: {}", .0.name, .0.error)]
    Unread(Box<UnreadKernel>),
    /// The listing has no such kernel, is for another architecture, or its kernel has other parameters.
    #[error("{0}")]
    Unfit(String),
}

/// Parameters by name, first byte and bytes.
pub(super) fn params_text<'p>(params: impl Iterator<Item = (&'p str, u32, u32)>) -> String {
    let each = params.map(|(name, at, bytes)| format!("`{name}` in {at} to {}", at + bytes - 1));
    let text = each.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "none".into() } else { text }
}

/// A formula with what is meant underlined, on lines of their own; line breaks in it are blanks.
fn marked(text: &str, range: &Range<usize>) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let columns = |bytes: usize| text.char_indices().take_while(|(at, _)| *at < bytes).count();
    let (from, to) = (columns(range.start), columns(range.end));
    format!("\n  {line}\n  {}{}", " ".repeat(from), "^".repeat(to.saturating_sub(from).max(1)))
}

impl LaunchError {
    pub(super) fn formula(at: String, text: &str, error: FormulaError) -> LaunchError {
        let FormulaError { range, message, help } = error;
        LaunchError::Formula { at, text: text.into(), range, message, help }
    }

    /// More of something than there may be.
    pub(super) fn too_many(at: &str, found: String, most: u64) -> LaunchError {
        LaunchError::value(at, found, format!("there are at most {most}"))
    }

    pub(crate) fn value(
        at: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> LaunchError {
        LaunchError::Value { at: at.into(), message: message.into(), help: help.into() }
    }
}
