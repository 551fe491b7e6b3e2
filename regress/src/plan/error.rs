//! What can be wrong with a plan.

use std::path::PathBuf;

use atoms_cosim::configs::ConfigsError;

/// Why a plan cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: std::io::Error,
    },
    /// No TOML, or not of the form of a plan.
    #[error("plan `{}`: {cause}", path.display())]
    Toml {
        /// The plan.
        path: PathBuf,
        /// What the parser says, with line and column.
        cause: Box<toml::de::Error>,
    },
    /// An entry or a profile that makes no sense.
    #[error("plan `{}`: {place}: {reason}", path.display())]
    Entry {
        /// The plan.
        path: PathBuf,
        /// The entry or profile.
        place: String,
        /// What was found, and what would work.
        reason: String,
    },
    /// The configurations cannot be read, or a named one does not exist.
    #[error(transparent)]
    Configs(#[from] ConfigsError),
}
