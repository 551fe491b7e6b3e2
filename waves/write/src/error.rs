//! What can go wrong when writing waves.

use std::io;
use std::path::PathBuf;

/// Why a trace or a layout could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WaveError {
    /// The trace file: free space, or choose another place.
    #[error("cannot write trace to `{}`", path.display())]
    WaveTrace {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The viewer layout.
    #[error("cannot write viewer layout to `{}`", path.display())]
    Layout {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}
