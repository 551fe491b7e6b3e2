//! Why there is no score.

use std::path::PathBuf;

use atoms_cosim::machine::Failure;
use atoms_coverage::corpus::CorpusError;
use atoms_stimulus::UnknownProfile;
use atoms_stimulus::configs::ConfigsError;
use atoms_verilated::{BuildError, RtlError};

use crate::build::SchemataBuildError;
use crate::schemata::SchemataError;

/// Why there is no score.
#[derive(Debug, thiserror::Error)]
pub enum MutateError {
    /// There are no such configurations.
    #[error(transparent)]
    Configs(#[from] ConfigsError),
    #[error(transparent)]
    Profile(#[from] UnknownProfile),
    /// The RTL cannot be altered, or does not build.
    #[error("configuration {0}: {1}")]
    Schemata(String, SchemataBuildError),
    /// The RTL cannot be read, or its lint not be run.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// What is elaborated cannot be read.
    #[error(transparent)]
    Structure(#[from] SchemataError),
    /// It cannot be simulated.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// The model does not run an episode.
    #[error("configuration {0}: {1}")]
    Model(String, Failure),
    /// What can be altered depends on the configuration.
    #[error(
        "configuration {0} has other places to alter than {1}: a switch would mean another mutant there; \
         configurations may differ in `atoms_cfg_pkg.sv` alone"
    )]
    Sites(String, String),
    /// RTL and model differ without any mutant.
    #[error(
        "configuration {0}, seed {1}: RTL and model differ in {2} without a defect planted; mend that first \
         (`atoms cosim`)"
    )]
    Unsound(String, u64, String),
    /// The corpus cannot be read.
    #[error("`{}`: {}", .0.display(), .1)]
    Corpus(PathBuf, CorpusError),
    /// The list of explained mutants cannot be read.
    #[error("`{}`: {}", .0.display(), .1)]
    Explained(PathBuf, toml::de::Error),
    /// The same mutant is explained twice.
    #[error("`{}` explains `{}` twice: take one of them away", .0.display(), .1)]
    Twice(PathBuf, String),
    /// A defect does not fit the RTL.
    #[error("`{0}` has the text of the defect \"{2}\" {1} times: expected once")]
    Planted(String, usize, String),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
