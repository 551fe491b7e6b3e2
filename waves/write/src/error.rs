//! Errors of writing waves.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum WaveError {
    #[error("cannot write trace to `{}`", path.display())]
    WaveTrace { path: PathBuf, source: io::Error },
    #[error("cannot write viewer layout to `{}`", path.display())]
    Layout { path: PathBuf, source: io::Error },
}
