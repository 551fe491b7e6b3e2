//! Shards: parts of a regression that separate processes run, on a cluster or locally.
//!
//! A [`Manifest`] in the output folder lists the plan, the origin and the tests of each shard. A shard
//! publishes one complete result or none ([`result`]). Only results decide which shards are missing, not the
//! state of a queue. Killed, requeued or duplicated tasks therefore neither lose nor duplicate a result.
//!
//! Files in the output folder: `manifest.json`, the folders `shards/N.result`, and `slurm/` of [`slurm`].

mod cut;
mod error;
mod manifest;
pub mod result;
mod results;
pub mod shard;
pub mod slurm;

pub use cut::{Cut, Shard};
pub use error::{ClusterError, ShardProblem};
pub use manifest::{FORMAT, MANIFEST, Manifest};
pub use results::{Results, sweep};
