use std::io;
use std::path::PathBuf;

use atoms_stimulus::configs::ConfigsError;

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The plan is not valid TOML, or an entry or profile is invalid. The text says where, what was found and
    /// what would be valid.
    #[error("plan `{path}`: {1}", path = .0.display())]
    Malformed(PathBuf, String),
    /// The configurations cannot be read, or a configuration named in the plan does not exist.
    #[error(transparent)]
    Configs(#[from] ConfigsError),
}
