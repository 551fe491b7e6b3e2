//! Verdict and error of a command.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

use atoms_regress::report::summary::{Summary, Verdict as Regression};

/// Outcome of a command, which determines its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// RTL, model and oracle agree, and the results are as expected.
    Agree,
    /// RTL, model and oracle disagree, or a result is not as expected.
    Disagree,
    NotAsked,
    /// A signal ended the command. The exit status is that of a shell for Ctrl-C.
    Interrupted,
}

impl Verdict {
    pub(crate) const INTERRUPTED: i32 = 130;

    /// Returns the verdict of a regression, as in the first line of its report.
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

/// Reason why a command could not run. [`CliError`] does not implement [`std::error::Error`], so that `?` can
/// convert any error.
#[derive(Debug)]
pub(crate) enum CliError {
    /// Problems in a listing, each shown at its line.
    Listing(Box<atoms_isa::TextError>),
    /// The reader of stdout has closed its pipe, as `head` does. Only the exit status reports this, because a
    /// message would appear in every such pipeline.
    ClosedPipe,
    /// Message and the cause of the error.
    Message(String, Option<String>),
}

impl<E: std::error::Error + 'static> From<E> for CliError {
    fn from(error: E) -> Self {
        CliError::of(&error)
    }
}

impl CliError {
    pub(crate) fn of(error: &(impl std::error::Error + 'static)) -> CliError {
        CliError::Message(error.to_string(), error.source().map(ToString::to_string))
    }

    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> CliError + '_ {
        |cause| CliError::caused(format!("cannot read `{}`", path.display()), &cause)
    }

    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> CliError + '_ {
        |cause| CliError::caused(format!("cannot write `{}`", path.display()), &cause)
    }

    pub(crate) fn stdout(cause: io::Error) -> CliError {
        match cause.kind() {
            ErrorKind::BrokenPipe => CliError::ClosedPipe,
            _ => CliError::caused("cannot write to stdout", &cause),
        }
    }

    pub(crate) fn message(text: impl fmt::Display) -> CliError {
        CliError::Message(text.to_string(), None)
    }

    pub(crate) fn caused(text: impl fmt::Display, cause: &io::Error) -> CliError {
        CliError::Message(text.to_string(), Some(cause.to_string()))
    }

    pub(crate) fn about(name: &str, error: impl std::error::Error + 'static) -> CliError {
        let source = error.source().map(ToString::to_string);
        CliError::Message(format!("configuration {name}: {error}"), source)
    }
}

macro_rules! message {
    ($($text:tt)*) => { $crate::output::error::CliError::message(format_args!($($text)*)) };
}

pub(crate) use message;
