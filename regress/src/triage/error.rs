//! What can go wrong with a bundle.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use atoms_cosim::machine::Failure;
use atoms_verilated::BuildError;
use atoms_wave_view::WaveReadError;

/// Why a bundle cannot be written, or not be read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// What was named is no bundle that can be read: what it is, and what would work.
    #[error("{0}")]
    Unreadable(String),
    /// A file of a bundle is missing or cannot be read.
    #[error("{0}; the bundle is not whole")]
    NotWhole(io::Error),
    /// A file that no bundle has: what was found.
    #[error("`{path}` is not of a bundle: {1}", path = .0.display())]
    Foreign(PathBuf, String),
    /// A file or folder cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What was run cannot be run again: what it takes.
    #[error("cannot repeat the run: {0}")]
    Replay(String),
    /// None of the cycles asked for is run: how many are.
    #[error(
        "cycles {}..{} are outside of the run, which {} cycle {}; choose a cycle up to there",
        window.start, window.end, if *fails { "fails in" } else { "ends with" }, cycles.saturating_sub(1)
    )]
    Window { window: Range<u64>, cycles: u64, fails: bool },
    /// The wave of a bundle cannot be read.
    #[error(transparent)]
    Wave(#[from] WaveReadError),
    /// There is no RTL to run.
    #[error(transparent)]
    Rtl(#[from] BuildError),
    /// A machine cannot be made.
    #[error(transparent)]
    Machine(#[from] Failure),
}
