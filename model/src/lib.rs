//! Bit- and cycle-accurate model of the shared-memory atomic unit, one module per RTL module.
//!
//! Pure: no files, no printing, no clock but the one the caller ticks.

#![forbid(unsafe_code)]

pub mod agen;
pub mod alu;
pub mod bank;
pub mod cluster_rsp;
pub mod collect;
pub mod config;
pub mod cta_table;
pub mod diagnosis;
pub mod fifo;
pub mod grouper;
pub mod issue;
pub mod mbarrier;
pub mod memory_port;
pub mod operands;
pub mod pipe;
pub mod port;
pub mod spin;
pub mod unit;
pub mod waiters;

pub use config::Config;
pub use memory_port::MemoryPort;
pub use unit::Unit;
