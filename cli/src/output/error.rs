//! How a command ends.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

use atoms_regress::report::summary::{Summary, Verdict as Regression};

/// What a command found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They agree, and what was expected came out.
    Agree,
    /// They disagree, or something else came out.
    Disagree,
    /// The command could not run.
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

/// Reason why a command could not run. It is no [`std::error::Error`], so that `?` makes one of any error.
#[derive(Debug)]
pub(crate) enum CliError {
    /// A listing with problems, each shown in its place.
    Listing(Box<atoms_isa::TextError>),
    /// The reader of stdout has ended, as `head` does. The exit status says so, and a message would be noise at the
    /// end of every such pipeline.
    ClosedPipe,
    /// A message, and the cause of the error.
    Message(String, Option<String>),
}

impl<E: std::error::Error + 'static> From<E> for CliError {
    fn from(error: E) -> Self {
        CliError::of(&error)
    }
}

impl CliError {
    /// The message of a library's error, and its cause.
    pub(crate) fn of(error: &(impl std::error::Error + 'static)) -> CliError {
        CliError::Message(error.to_string(), error.source().map(ToString::to_string))
    }

    /// For `map_err` on reading `path`.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> CliError + '_ {
        |cause| CliError::caused(format!("cannot read `{}`", path.display()), &cause)
    }

    /// For `map_err` on writing `path`.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> CliError + '_ {
        |cause| CliError::caused(format!("cannot write `{}`", path.display()), &cause)
    }

    /// For `map_err` on writing to stdout.
    pub(crate) fn stdout(cause: io::Error) -> CliError {
        match cause.kind() {
            ErrorKind::BrokenPipe => CliError::ClosedPipe,
            _ => CliError::caused("cannot write to stdout", &cause),
        }
    }

    /// A message without a cause.
    pub(crate) fn message(text: impl fmt::Display) -> CliError {
        CliError::Message(text.to_string(), None)
    }

    /// A message with the error that caused it.
    pub(crate) fn caused(text: impl fmt::Display, cause: &io::Error) -> CliError {
        CliError::Message(text.to_string(), Some(cause.to_string()))
    }

    /// A library's error about the configuration `name`.
    pub(crate) fn about(name: &str, error: impl std::error::Error + 'static) -> CliError {
        let source = error.source().map(ToString::to_string);
        CliError::Message(format!("configuration {name}: {error}"), source)
    }
}

/// The [`CliError`] with a message, written as in `format!`.
macro_rules! message {
    ($($text:tt)*) => { $crate::output::error::CliError::message(format_args!($($text)*)) };
}

pub(crate) use message;
