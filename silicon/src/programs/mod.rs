//! Programs of the capture kit: random cases, barrier sequences and timing.

pub mod barrier;
pub(crate) mod cases;
pub mod draw;
pub mod kernel;
pub mod timing;
