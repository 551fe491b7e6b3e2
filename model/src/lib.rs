//! Bit- and cycle-accurate model of the shared-memory atomic unit, one module per RTL module.
//!
//! Pure: no files, no printing, no clock but the one the caller ticks.

#![forbid(unsafe_code)]

pub mod port;
