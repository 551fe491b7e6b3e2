//! All output to stdout and stderr.

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
/// Stdout cannot be written. The caller must not exit with status 0, because the result is lost.
pub(crate) fn result(text: Arguments<'_>) -> Result<(), CliError> {
    std::io::stdout().write_fmt(text).map_err(CliError::stdout)
}

/// Writes a result as one line of JSON with sorted keys.
///
/// # Errors
/// Stdout cannot be written.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let value = serde_json::to_value(value)?;
    result(format_args!("{value}\n"))
}

/// Writes further lines of a report, indented.
///
/// # Errors
/// Stdout cannot be written.
pub(crate) fn print_lines(lines: &[String]) -> Result<(), CliError> {
    lines.iter().try_for_each(|line| result(format_args!("  {line}\n")))
}

/// Flushes stdout.
///
/// # Errors
/// Stdout cannot be written.
pub(crate) fn finish() -> Result<(), CliError> {
    std::io::stdout().flush().map_err(CliError::stdout)
}

/// Writes a diagnostic to stderr, and ignores errors because there is no other place to report them.
pub(crate) fn diagnostic(text: Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(text);
}

/// Like `println!`, but returns an error instead of a panic.
macro_rules! outln {
    ($($text:tt)*) => { $crate::output::result(format_args!("{}\n", format_args!($($text)*))) };
}

/// Like `print!`, but returns an error instead of a panic.
macro_rules! out {
    ($($text:tt)*) => { $crate::output::result(format_args!($($text)*)) };
}

/// Like `eprintln!`, but never panics.
macro_rules! note {
    ($($text:tt)*) => { $crate::output::diagnostic(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {note, out, outln};
