//! A small streaming multiprocessor around the shared-memory atomic unit.
//!
//! [`run`] carries out one kernel of a [`atoms_isa::Program`] as a [`Launch`] says. Every access to
//! shared memory goes through a [`MemoryPort`]; which side stands behind it (model, RTL, both in
//! lockstep) is not known here: a warp's own goes through the warp port, asynchronous copies and accesses to
//! other CTAs of the cluster through the cluster port. Registers, predicates, divergence, barriers and global
//! memory are functional; time is one clock of the port per cycle, with the issue model of [`SmConfig`].
//!
//! Absent on purpose: caches, instruction latencies, and any knowledge of how the unit groups lanes.

#![forbid(unsafe_code)]

mod alu;
mod atomic;
mod cluster_port;
mod compute;
mod config;
mod constant;
mod convert;
mod copy;
mod core;
mod cta;
mod element;
mod error;
mod expect;
mod float;
mod formula;
mod global;
mod half;
mod launch;
mod observer;
mod param;
mod profile;
mod quiet;
pub mod races;
mod random;
mod report;
mod request;
mod states;
mod statistics;
mod support;
mod table;
mod template;
mod typed;
mod warp;
mod warp_op;

pub use atoms_model::MemoryPort;
pub use config::SmConfig;
pub use core::{run, run_observed};
pub use element::Element;
pub use error::{KernelError, LackingInstruction, RunError, WarpStanding};
pub use expect::{Expectation, Order, Outcome};
pub use launch::{Launch, LaunchError};
pub use observer::{Access, CopyDone, CopyStart, Issue, Observer, Start};
pub use param::{Param, ParamKind};
pub use profile::{InstructionProfile, MOST_PASSES};
pub use report::{Buffer, RunReport};
pub use statistics::Statistics;
pub use template::template;
