//! How a command ends.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atoms_regress::report::summary::{Summary, Verdict as Regression};

/// What a command found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They agree, and what was expected came out.
    Agree,
    /// They disagree, or something else came out.
    Disagree,
    /// The question could not be asked.
    NotAsked,
    /// A signal ended it: what a shell says of a command that Ctrl-C ended.
    Interrupted,
}

impl Verdict {
    /// Exit status of what a signal ended.
    pub(crate) const INTERRUPTED: i32 = 130;

    /// As the first line of its report says.
    pub(crate) fn of_regression(summary: &Summary) -> Self {
        match summary.verdict() {
            Regression::Passed => Verdict::Agree,
            Regression::Uncovered | Regression::Incomplete | Regression::Failed => Verdict::Disagree,
        }
    }
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        ExitCode::from(match verdict {
            Verdict::Agree => 0,
            Verdict::Disagree => 1,
            Verdict::NotAsked => 2,
            Verdict::Interrupted => return (Verdict::INTERRUPTED as u8).into(),
        })
    }
}

/// Why a question could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A listing with problems, each shown in its place.
    #[error(transparent)]
    Listing(Box<atoms_isa::TextError>),
    /// A file that cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// A file that cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    /// Stdout cannot be written.
    #[error("cannot write to stdout")]
    Stdout(#[source] std::io::Error),
    /// Anything else, in its own words.
    #[error("{0}")]
    Other(String, #[source] Option<Box<dyn std::error::Error>>),
}

impl CliError {
    /// For `map_err` on reading `path`.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(std::io::Error) -> CliError + '_ {
        move |source| CliError::Read { path: path.to_path_buf(), source }
    }

    /// For `map_err` on writing `path`.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(std::io::Error) -> CliError + '_ {
        move |source| CliError::Write { path: path.to_path_buf(), source }
    }

    /// Whether stdout could not be written because its reader has ended, as `head` does: the status says so, and a
    /// message would be noise at the end of every such pipeline.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, CliError::Stdout(cause) if cause.kind() == ErrorKind::BrokenPipe)
    }

    /// A message of our own.
    pub(crate) fn message(text: impl fmt::Display) -> CliError {
        CliError::Other(text.to_string(), None)
    }

    /// A library's error about the configuration `name`.
    pub(crate) fn about(name: &str, error: impl std::error::Error + 'static) -> CliError {
        let source = error.source().map(|source| source.to_string());
        CliError::Other(format!("configuration {name}: {error}"), source.map(Into::into))
    }

    /// Any library's error, its causes included.
    pub(crate) fn of(error: impl std::error::Error + 'static) -> CliError {
        let source = error.source().map(|source| source.to_string());
        CliError::Other(error.to_string(), source.map(Into::into))
    }
}
