//! Faults of the RTL: alterations woven into one build ([`schemata`], [`woven`]), mutation testing with them ([`mutate`]),
//! and the lines that are the likeliest cause of a failure ([`cause`]).

#![forbid(unsafe_code)]

pub mod cause;
pub mod mutate;
pub mod schemata;
pub mod woven;
