//! What can be wrong with a plan.

use std::io;
use std::path::PathBuf;

use atoms_stimulus::configs::ConfigsError;

/// Why a plan cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The plan is no TOML, or has an entry or a profile that makes no sense: where, what was found, and what would
    /// work.
    #[error("plan `{path}`: {1}", path = .0.display())]
    Malformed(PathBuf, String),
    /// The configurations cannot be read, or a named one does not exist.
    #[error(transparent)]
    Configs(#[from] ConfigsError),
}
