//! Stdout and stderr: the only place that writes to them.

pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod interrupt;
pub(crate) mod progress;

use std::fmt::Arguments;
use std::io::Write as _;

use serde::Serialize;

use crate::output::error::CliError;

/// Writes a result to stdout.
///
/// # Errors
/// [`CliError`]: a result that is lost without a word must not end with status 0.
pub(crate) fn result(text: Arguments<'_>) -> Result<(), CliError> {
    std::io::stdout().write_fmt(text).map_err(CliError::stdout)
}

/// Writes a result as one line of JSON; keys are in alphabetical order.
///
/// # Errors
/// [`CliError`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let value = serde_json::to_value(value)?;
    result(format_args!("{value}\n"))
}

/// Writes further lines of a report.
///
/// # Errors
/// [`CliError`].
pub(crate) fn print_lines(lines: &[String]) -> Result<(), CliError> {
    lines.iter().try_for_each(|line| result(format_args!("  {line}\n")))
}

/// Writes what stdout still holds back.
///
/// # Errors
/// [`CliError`].
pub(crate) fn finish() -> Result<(), CliError> {
    std::io::stdout().flush().map_err(CliError::stdout)
}

/// Writes a diagnostic to stderr. There is nowhere left to report that stderr cannot be written, and the
/// exit status says the rest.
pub(crate) fn diagnostic(text: Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(text);
}

/// `println!` with an error in place of a panic.
macro_rules! outln {
    ($($text:tt)*) => { $crate::output::result(format_args!("{}\n", format_args!($($text)*))) };
}

/// `print!` with an error in place of a panic.
macro_rules! out {
    ($($text:tt)*) => { $crate::output::result(format_args!($($text)*)) };
}

/// `eprintln!` without a panic.
macro_rules! note {
    ($($text:tt)*) => { $crate::output::diagnostic(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {note, out, outln};
