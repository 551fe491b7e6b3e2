//! Shards: a regression cut into parts that other processes run, on a cluster or not.
//!
//! A [`Manifest`] in the output folder says what is run and which tests each shard has. A shard leaves
//! one result ([`result`]), whole or not at all. Results are the truth: what is missing is
//! what has no valid result, whatever a queue says. Killed, requeued and duplicated tasks
//! therefore neither lose nor double a result.
//!
//! In the output folder: `manifest.json`, the folders `shards/N.result` and, of [`slurm`], `slurm/`.

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
