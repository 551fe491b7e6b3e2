//! Runs test programs on a real GPU, captures the outputs, checks the captures with the oracle, and replays
//! the programs on the project's own core.
//!
//! A [`TestProgram`](program::TestProgram) is a PTX kernel with inputs; [`catalogue`] lists all of them. A
//! [`capture`] stores the raw output bytes together with the program, so it stays readable after the programs
//! or the decoding change. [`observe`] decodes the bytes to requests and responses. [`judge`] passes these to
//! the oracle. [`replay`] runs the same programs here and compares.

#![forbid(unsafe_code)]

pub mod answer;
mod bytes;
pub mod capture;
pub mod catalogue;
mod experiment;
pub mod instruction;
pub mod judge;
pub mod measurements;
pub mod observe;
pub mod program;
pub mod programs;
pub mod replay;
pub mod report;
pub mod supervise;
pub mod times;
pub mod value;

/// Formats an error and its sources in one line.
pub fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
