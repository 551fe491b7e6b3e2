//! Tests of the CUDA driver binding with the stand-in driver.

mod kernels;
mod support;
mod troubles;
