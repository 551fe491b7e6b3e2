//! What tests ask of the machine they run on: [`programs`] that it may lack, and [`processes`] that must
//! not outlive the test that started them.

#![forbid(unsafe_code)]

pub mod processes;
pub mod programs;
