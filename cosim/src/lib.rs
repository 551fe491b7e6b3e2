//! Lockstep of RTL, model and oracle: cases, mismatch reports, waves and usage statistics.
//!
//! This crate knows nothing of argument parsing, terminals or instruction text.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod campaign;
pub mod case;
pub mod embedded;
pub mod follower;
mod foreign;
pub mod inputs;
pub mod internals;
pub mod lockstep;
pub mod machine;
pub mod mismatch;
pub mod parallel;
pub mod rtl;
pub mod scoreboard;
pub mod session;
pub mod trace;
pub mod unit_folder;
pub mod usage;
