//! What can go wrong with shards, one variant for each thing the caller can do about it.

use std::io;
use std::path::PathBuf;

use crate::run::session::SessionError;
use crate::run::store::StoreError;

/// Why shards could not be described, run or merged.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A file or folder cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no manifest, or none that can be used: what was found, and what would work.
    #[error("`{path}` is no manifest of a regression: {1}", path = .0.display())]
    Manifest(PathBuf, String),
    /// What was asked for does not fit what is there: another regression, program or plan, no such shard, or
    /// results that are missing. What was found, and what would work.
    #[error("{0}")]
    Refused(String),
    /// The result of a shard, in this folder, cannot be used.
    #[error("result of shard {0} (`{path}`) {2}", path = .1.display())]
    Shard(u32, PathBuf, ShardProblem),
    /// The folder in which a shard was run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Slurm does not do what it was asked: in its words, or what would work.
    #[error("{0}")]
    Slurm(String),
    /// The reports of a merge.
    #[error(transparent)]
    Reports(#[from] SessionError),
}

/// Why a result cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShardProblem {
    /// There is none yet.
    #[error("is not there")]
    Absent,
    /// It is damaged, or of something else: what was found.
    #[error("{0}")]
    Unusable(String),
}
