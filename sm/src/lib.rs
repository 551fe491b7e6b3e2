//! Small streaming multiprocessor around the shared-memory atomic unit.
//!
//! [`run`] executes one kernel of a [`atoms_isa::Program`] as a [`Launch`] describes. Every access to shared
//! memory goes through a [`MemoryPort`]. This crate does not know if model, RTL or both in lockstep implement
//! the port. A warp's accesses to its own CTA use the warp port. Asynchronous copies and accesses to other
//! CTAs of the cluster use the cluster port. Registers, predicates, divergence, barriers and global memory
//! are functional. Time is one clock of the port per cycle, with the issue model of [`SmConfig`].
//!
//! Absent on purpose: caches, instruction latencies, and any knowledge of how the unit groups lanes.

#![forbid(unsafe_code)]

mod compute;
mod config;
mod core;
mod deadlock;
mod error;
mod launch;
mod livelock;
mod memory;
mod observer;
mod port;
mod profile;
pub mod races;
mod random;
mod report;
mod schedule;
mod statistics;
mod support;
mod template;
mod warp;

pub use atoms_model::MemoryPort;
pub use config::SmConfig;
pub use core::{run, run_observed, run_scheduled};
pub use deadlock::{
    BlockedObject, DeadlockHint, DeadlockReport, HintCause, WaitEdge, WaitObject, WaitPlace, WarpLanes,
};
pub use error::{KernelError, RunError, UnsupportedInstruction};
pub use launch::{Element, Expectation, Launch, LaunchError, Order, Outcome, Param, ParamKind};
pub use observer::{Access, CopyDone, CopyStart, CoreEvent, Observer, Threads};
pub use profile::{InstructionProfile, MOST_PASSES};
pub use report::{Buffer, RunReport};
pub use schedule::{KernelExtent, SCHEDULE_VERSION, Schedule, ScheduleError};
pub use statistics::Statistics;
pub use template::template;
