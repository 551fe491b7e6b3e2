//! Programs of the capture kit: random ones, and those about one instruction, barriers or times.

pub mod barrier;
pub(crate) mod cases;
pub mod draw;
pub mod kernel;
pub mod timing;
