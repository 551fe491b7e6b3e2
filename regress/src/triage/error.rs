//! What can go wrong with a bundle.

use std::io;
use std::path::PathBuf;

use atoms_cosim::machine::Stop;
use atoms_cosim::rtl::RtlBuildError;
use atoms_verilated::BuildError;

use crate::triage::layout::{FAILURES, FORMAT};

/// Why a bundle cannot be written, or not be read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// There is no such folder.
    #[error("`{}` is no folder; expected one below `failures/` of a regression", path.display())]
    NoFolder {
        /// What was named.
        path: PathBuf,
    },
    /// A regression's output folder.
    #[error("`{}` holds a regression; its bundles are the folders in `{}`", path.display(), path.join(FAILURES).display())]
    Run {
        /// What was named.
        path: PathBuf,
    },
    /// A file is missing or cannot be read.
    #[error("cannot read `{}`; the bundle is not whole", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file ends too early.
    #[error("`{}` is cut short; copy the bundle once more", path.display())]
    Cut {
        /// The file.
        path: PathBuf,
    },
    /// A file that no bundle has.
    #[error("`{}` is not of a bundle: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// Written by another version.
    #[error("`{}` has format {found}, this version reads {FORMAT}; use the atoms that wrote it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// A file or folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// What was run cannot be run again.
    #[error("cannot repeat the run: {message}")]
    Replay {
        /// What it takes.
        message: String,
    },
    /// A source of the RTL cannot be read.
    #[error(transparent)]
    Source(#[from] BuildError),
    /// There is no RTL to run.
    #[error(transparent)]
    Rtl(#[from] RtlBuildError),
    /// A machine cannot be made.
    #[error(transparent)]
    Machine(#[from] Stop),
}
