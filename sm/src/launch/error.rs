use super::formula::FormulaError;
use atoms_isa::UnreadKernel;
use std::ops::Range;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// The file is not TOML, or has unknown keys or wrong types.
    #[error("`{name}` is not a launch file: {source}")]
    Syntax { name: String, source: Box<toml::de::Error> },
    #[error("`{at}`: {message}; {help}")]
    Value {
        /// Key of the launch file that has the wrong value, or name of the parameter and key.
        at: String,
        message: String,
        help: String,
    },
    #[error("`{at}`: {message}; {help}{}", marked(text, range))]
    Formula {
        at: String,
        text: String,
        /// Byte range of the error in the formula.
        range: Range<usize>,
        message: String,
        help: String,
    },
    /// This kernel cannot be parsed, but other kernels of the file can.
    #[error("kernel `{}` cannot be read: {}", .0.name, .0.error)]
    Unread(Box<UnreadKernel>),
    /// The listing does not have the kernel, is for another architecture, or its kernel has other parameters.
    #[error("{0}")]
    Unfit(String),
}

pub(super) fn params_text<'p>(params: impl Iterator<Item = (&'p str, u32, u32)>) -> String {
    let each = params.map(|(name, at, bytes)| format!("`{name}` in bytes {at} to {}", at + bytes - 1));
    let text = each.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "none".into() } else { text }
}

/// Formats the formula with the error underlined, on separate lines. Control characters become spaces.
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

    pub(super) fn too_many(at: &str, found: String, most: u64) -> LaunchError {
        LaunchError::value(at, found, format!("at most {most} are allowed"))
    }

    pub(crate) fn value(
        at: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> LaunchError {
        LaunchError::Value { at: at.into(), message: message.into(), help: help.into() }
    }
}
