//! Why a launch cannot be used.

use super::formula::FormulaError;
use atoms_isa::{Arch, KernelParam, UnreadKernel};
use std::ops::Range;
use std::path::PathBuf;

/// Why a launch cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML, or has keys or types that a launch file does not have.
    #[error("`{name}` is not a launch file: {source}")]
    Syntax {
        /// Name of the file.
        name: String,
        /// Where and what.
        source: Box<toml::de::Error>,
    },
    /// A value of the launch file makes no sense.
    #[error("`{at}`: {message}; {help}")]
    Value {
        /// Key, or parameter and key.
        at: String,
        /// What was found.
        message: String,
        /// What would work.
        help: String,
    },
    /// A formula that cannot be read, or has no value.
    #[error("`{at}`: {message}; {help}{}", marked(text, range))]
    Formula {
        /// Parameter and key.
        at: String,
        /// The formula.
        text: String,
        /// Bytes of it that are meant.
        range: Range<usize>,
        /// What was found.
        message: String,
        /// What would work.
        help: String,
    },
    /// The listing has no such kernel.
    #[error("no kernel `{name}` in the listing; there is {}", known.join(", "))]
    UnknownKernel {
        /// The name asked for.
        name: String,
        /// The kernels there.
        known: Vec<String>,
    },
    /// The kernel cannot be read, though others of its file can.
    #[error("kernel `{}` cannot be read: {}", .0.name, .0.error)]
    Unread(Box<UnreadKernel>),
    /// The listing is for another architecture.
    #[error("the launch is for {wanted}, the listing for {found}; drop `arch` to run either")]
    OtherArch {
        /// What the launch says.
        wanted: Arch,
        /// What the listing says.
        found: Arch,
    },
    /// The launch gives other parameters than the kernel declares.
    #[error(
        "kernel `{kernel}` declares {}, and the launch gives {}; list every parameter in order of declaration, with its \
         type",
        declared_text(declared),
        params_text(params)
    )]
    Declared {
        /// The kernel.
        kernel: String,
        /// Parameters it declares.
        declared: Vec<KernelParam>,
        /// Parameters given: name, first byte, bytes.
        params: Vec<(String, u32, u32)>,
    },
    /// The kernel reads parameter bytes that the launch does not give.
    #[error(
        "kernel `{kernel}` reads bytes {first} to {last} of its parameters (line {line}: `{text}`), and the launch gives {}; \
         list every parameter in order of declaration, with its type",
        params_text(params)
    )]
    Params {
        /// The kernel.
        kernel: String,
        /// First byte read.
        first: u32,
        /// Last byte read.
        last: u32,
        /// Line in the listing, from 1.
        line: u32,
        /// The instruction as written.
        text: String,
        /// Parameters given: name, first byte, bytes.
        params: Vec<(String, u32, u32)>,
    },
}

fn params_text(params: &[(String, u32, u32)]) -> String {
    if params.is_empty() {
        return "none".into();
    }
    let each = params.iter().map(|(name, at, bytes)| format!("`{name}` in {at} to {}", at + bytes - 1));
    each.collect::<Vec<_>>().join(", ")
}

fn declared_text(params: &[KernelParam]) -> String {
    let each = params.iter().map(|p| (p.name.clone(), p.offset, p.bytes)).collect::<Vec<_>>();
    params_text(&each)
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

    pub(crate) fn value(
        at: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> LaunchError {
        LaunchError::Value { at: at.into(), message: message.into(), help: help.into() }
    }
}
