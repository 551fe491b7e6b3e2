//! Errors of shards, one variant for each reaction of the caller.

use std::io;
use std::path::PathBuf;

use crate::run::session::SessionError;
use crate::run::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The manifest is missing or cannot be used. The text says what was found and how to recover.
    #[error("`{path}` is not the manifest of a regression: {1}", path = .0.display())]
    Manifest(PathBuf, String),
    /// The request does not match the output folder: another regression, program or plan, an unknown shard,
    /// or missing results. The text says what was found and how to recover.
    #[error("{0}")]
    Refused(String),
    /// The result of this shard in this folder cannot be used.
    #[error("result of shard {0} (`{path}`) {2}", path = .1.display())]
    Shard(u32, PathBuf, ShardProblem),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A Slurm command failed; Slurm's message, or how to recover.
    #[error("{0}")]
    Slurm(String),
    #[error(transparent)]
    Reports(#[from] SessionError),
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShardProblem {
    #[error("is not there")]
    Absent,
    /// The result is damaged or belongs to another run; the text says what was found.
    #[error("{0}")]
    Unusable(String),
}
