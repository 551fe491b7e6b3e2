//! Faults of the RTL: all mutants in one build ([`schemata`], [`build`]), mutation testing with them ([`mutate`]),
//! and the lines that are the likeliest cause of a failure ([`cause`]).

#![forbid(unsafe_code)]

pub mod build;
pub mod cause;
pub mod mutate;
pub mod schemata;
