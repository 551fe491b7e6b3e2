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
        "configuration {0} has other mutation sites than {1}, so the same switch would select another mutant; \
         the RTL of configurations may differ only in `atoms_cfg_pkg.sv`"
    )]
    Sites(String, String),
    #[error(
        "configuration {0}, seed {1}: RTL and model differ in {2} without a mutant; fix this difference first \
         (`atoms cosim`)"
    )]
    Unsound(String, u64, String),
    #[error("`{}`: {}", .0.display(), .1)]
    Corpus(PathBuf, CorpusError),
    #[error("`{}`: {}", .0.display(), .1)]
    Explained(PathBuf, toml::de::Error),
    #[error("`{}` explains `{}` twice: delete one of the two explanations", .0.display(), .1)]
    Twice(PathBuf, String),
    /// The text of a planted defect does not occur exactly once in its file.
    #[error("`{0}` has the text of the defect \"{2}\" {1} times: expected once")]
    Planted(String, usize, String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
