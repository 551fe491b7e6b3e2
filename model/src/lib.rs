#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! One module per RTL module. The model is pure: it uses no files and no printing, and time advances only when the
//! caller calls [`Unit::tick`] or [`Unit::clock`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agen;
pub mod alu;
mod bank;
mod cluster_rsp;
mod collect;
pub mod config;
mod cta_table;
pub mod diagnosis;
mod fifo;
mod grouper;
mod issue;
pub mod lanes;
pub mod mbarrier;
pub mod memory_port;
mod operands;
mod pipe;
pub mod port;
pub mod registers;
pub mod spin;
mod unit;
mod waiters;

pub use config::Config;
pub use issue::Pass;
pub use memory_port::{MemoryPort, RequestOrigin};
pub use unit::Unit;
