//! Faults of the RTL: all mutants in one build ([`schemata`], [`build`]), mutation testing with them
//! ([`mutate`]), and the ranking of lines that may cause a failure ([`cause`]).

#![forbid(unsafe_code)]

pub mod build;
pub mod cause;
pub mod mutate;
pub mod schemata;
