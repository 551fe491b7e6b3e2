//! What can go wrong with shards, one variant for each thing the caller can do about it.

use std::io;
use std::path::PathBuf;

use super::cut::Shard;
use super::tools::SlurmError;
use crate::report::command::quote;
use crate::run::store::StoreError;

/// Why shards could not be described, run or merged.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A file or folder cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or folder cannot be written: a full disk, missing rights.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no manifest, or none that can be used.
    #[error("`{}` is no manifest of a regression: {problem}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What was found, and what would work.
        problem: String,
    },
    /// The folder belongs to another regression.
    #[error(
        "`{}` belongs to another regression, which differs in {}; resume that one, or choose another folder",
        path.display(), differences.join(", ")
    )]
    Occupied {
        /// Its manifest.
        path: PathBuf,
        /// What differs.
        differences: Vec<String>,
    },
    /// What would run is not what the manifest was made for.
    #[error(
        "`{}` was made by something else:\n  {}\nrun what made it, or begin anew in another folder",
        path.display(), differences.join("\n  ")
    )]
    Origin {
        /// The manifest.
        path: PathBuf,
        /// What differs, with both values.
        differences: Vec<String>,
    },
    /// No such shard.
    #[error("no shard {shard}: the manifest has shards 0 to {}", shards.saturating_sub(1))]
    NoShard {
        /// What was asked for.
        shard: u32,
        /// How many there are.
        shards: u32,
    },
    /// A result that cannot be used.
    #[error("result of shard {shard} (`{}`) {problem}", path.display())]
    Shard {
        /// The shard.
        shard: u32,
        /// Its folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: ShardProblem,
    },
    /// A shard gave results that its manifest does not ask for: a defect of what runs shards.
    #[error("shard {shard}: {problem}")]
    Order {
        /// The shard.
        shard: u32,
        /// What was found, and what would work.
        problem: String,
    },
    /// Results are missing.
    #[error(
        "{} of {shards} shards have no valid result: {missing}{}\nrun them with `atoms regress resume {}`",
        count, problems.iter().map(|p| format!("\n  {p}")).collect::<String>(), quote(&out.to_string_lossy())
    )]
    Missing {
        /// The output folder.
        out: PathBuf,
        /// How many shards there are.
        shards: u32,
        /// How many have no valid result.
        count: usize,
        /// Which: `3, 5-7`.
        missing: String,
        /// Of those whose result is there, what is wrong with it.
        problems: Vec<String>,
    },
    /// The folder in which a shard was run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The scheduler.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
}

impl ClusterError {
    pub(super) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| ClusterError::Read { path, source }
    }

    pub(super) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| ClusterError::Write { path, source }
    }
}

/// Why a result cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShardProblem {
    /// There is none yet.
    #[error("is not there")]
    Absent,
    /// Its content is not what was written: it is cut short, or changed.
    #[error("is damaged: {0}")]
    Damaged(String),
    /// It is of another shard: it was copied or renamed.
    #[error("is of shard {0}")]
    OtherShard(u32),
    /// It has other tests: the plan was cut into other shards.
    #[error("has tests {} to {}, of another cut", .0.first, .0.end.saturating_sub(1))]
    OtherTests(Shard),
    /// It is of another version of ATOMS or of the RTL.
    #[error("is of something else: {}", .0.join("; "))]
    Foreign(Vec<String>),
    /// It is of another manifest: another plan, seed or input.
    #[error("is of another manifest: {found}, expected {expected}")]
    OtherManifest {
        /// Hash of the manifest in the result.
        found: String,
        /// Hash of the manifest at hand.
        expected: String,
    },
    /// Tests without a result, or results of tests that are not in this shard.
    #[error("has {0}")]
    Order(String),
    /// A bundle of a failure is gone.
    #[error("names `{0}` among its failures, which is not there")]
    BundleMissing(String),
}
