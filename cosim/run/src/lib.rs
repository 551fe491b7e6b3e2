//! Runs of kernels, random requests and cases on RTL, model or both, with oracle, wave and recording on request.
//!
//! [`Setup`] says what runs and what is written. [`kernel::run`], [`random::run`] and [`random::repeat`] run and return a
//! result. Results are values; [`kernel::KernelRun`] and [`usage`] also give the text of a report.

#![forbid(unsafe_code)]

pub mod bench;
pub mod kernel;
pub mod random;
pub mod setup;
pub mod usage;

pub use setup::{Implementation, RunFiles, Setup, SetupError};

/// Formats `number` with a comma between thousands: `12,345`.
pub fn grouped(number: u64) -> String {
    thousands::Separable::separate_with_commas(&number)
}
