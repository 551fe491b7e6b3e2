//! What the unit would cost and give if it were built otherwise.
//!
//! [`workload`] has what the unit is given to do; [`measure`] one point of it; [`certificate`] that the RTL agrees.

#![forbid(unsafe_code)]

pub mod certificate;
pub mod measure;
pub mod workload;
