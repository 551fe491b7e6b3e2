//! Shards: a regression cut into parts that other processes run, on a cluster or not.
//!
//! A [`Manifest`] in the output folder says what is run and which tests each shard has. A shard leaves
//! one result file ([`record`]), whole or not at all. Result files are the truth: what is missing is
//! what has no valid result file, whatever a queue says. Killed, requeued and duplicated tasks
//! therefore neither lose nor double a result.
//!
//! In the output folder: `manifest.json`, `shards/N.result`, `shards/N.failures/` and, of [`slurm`],
//! `slurm/`.

mod cut;
mod error;
mod manifest;
mod publish;
pub mod record;
mod results;
pub mod shard;
pub mod slurm;

pub use cut::{Cut, Shard};
pub use error::{ClusterError, ShardProblem};
pub use manifest::{FORMAT, MANIFEST, Manifest};
pub(crate) use publish::unique;
pub use publish::{Pending, write_whole};
pub use results::{Results, sweep};
