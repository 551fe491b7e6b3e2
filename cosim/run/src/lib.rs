//! Runs kernels, random requests and cases on RTL, model or both, with oracle, wave and recording on request.
//!
//! [`Setup`] selects the implementation and the files to write. [`kernel::KernelJob`], [`random::run`]
//! and [`random::repeat`] run and return a result. Results are plain values; [`kernel::KernelRun`] and [`usage`]
//! also format reports.

#![forbid(unsafe_code)]

pub mod bench;
pub mod kernel;
pub mod random;
pub mod result;
pub mod setup;
pub mod usage;

pub use setup::{Implementation, RunFiles, Setup, SetupError};

/// Formats `number` with commas between thousands: `12,345`.
pub fn grouped(number: u64) -> String {
    thousands::Separable::separate_with_commas(&number)
}
