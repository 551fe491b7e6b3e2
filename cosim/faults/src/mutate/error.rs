//! Reasons why a mutation run failed.

use std::path::PathBuf;

use atoms_cosim::machine::Failure;
use atoms_coverage::corpus::CorpusError;
use atoms_stimulus::UnknownProfile;
use atoms_stimulus::configs::ConfigsError;
use atoms_verilated::{BuildError, RtlError};

use crate::build::SchemataBuildError;
use crate::schemata::SchemataError;

#[derive(Debug, thiserror::Error)]
pub enum MutateError {
    #[error(transparent)]
    Configs(#[from] ConfigsError),
    #[error(transparent)]
    Profile(#[from] UnknownProfile),
    #[error("configuration {0}: {1}")]
    Schemata(String, SchemataBuildError),
    /// The RTL cannot be read, or its lint cannot be run.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The RTL cannot be parsed for mutants that need their own build.
    #[error(transparent)]
    Structure(#[from] SchemataError),
    #[error(transparent)]
    Rtl(#[from] RtlError),
    #[error("configuration {0}: {1}")]
    Model(String, Failure),
    #[error(
        "configuration {0} has other places to alter than {1}: a switch would mean another mutant there; \
         configurations may differ in `atoms_cfg_pkg.sv` alone"
    )]
    Sites(String, String),
    #[error(
        "configuration {0}, seed {1}: RTL and model differ in {2} without a defect planted; mend that first \
         (`atoms cosim`)"
    )]
    Unsound(String, u64, String),
    #[error("`{}`: {}", .0.display(), .1)]
    Corpus(PathBuf, CorpusError),
    #[error("`{}`: {}", .0.display(), .1)]
    Explained(PathBuf, toml::de::Error),
    #[error("`{}` explains `{}` twice: take one of them away", .0.display(), .1)]
    Twice(PathBuf, String),
    /// The text of a planted defect does not occur exactly once in its file.
    #[error("`{0}` has the text of the defect \"{2}\" {1} times: expected once")]
    Planted(String, usize, String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
