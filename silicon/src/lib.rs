//! The real unit as a third witness: programs that ask a GPU how it carries out atomics and mbarriers, captures of
//! what it answered, and their replay here.
//!
//! A [`TestProgram`](program::TestProgram) is a kernel in PTX with its inputs; [`catalogue`] has all of them. What a GPU gave is kept as raw
//! bytes in a [`capture`] together with the program, so that a capture outlives changes of the programs and of how
//! answers are read. [`observe`] turns the bytes into requests and responses, which [`judge`] gives to the oracle;
//! [`replay`] runs the same programs here and compares.

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

/// An error and its causes in one line.
pub fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
