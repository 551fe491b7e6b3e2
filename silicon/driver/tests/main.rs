//! The CUDA driver binding, on the stand-in driver.

mod kernels;
mod support;
mod troubles;
