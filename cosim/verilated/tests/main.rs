//! The binding to Verilator: builds, cache, driving.

mod cache;
mod drive;
mod dummy;
mod refusals;
