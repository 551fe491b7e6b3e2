use std::io;
use std::ops::Range;
use std::path::PathBuf;

use atoms_cosim::machine::Failure;
use atoms_verilated::BuildError;
use atoms_wave_view::WaveReadError;

#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The path is not a readable bundle; the text gives the reason and a remedy.
    #[error("{0}")]
    Unreadable(String),
    #[error("{0}; the bundle is incomplete")]
    NotWhole(io::Error),
    /// The file does not belong in a bundle; the text says what was found.
    #[error("`{path}` does not belong to a bundle: {1}", path = .0.display())]
    Foreign(PathBuf, String),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The run cannot be repeated; the text says what is missing.
    #[error("cannot repeat the run: {0}")]
    Replay(String),
    /// The run ends before the requested cycles.
    #[error(
        "cycles {}..{} are outside of the run, which {} cycle {}; choose a cycle before the end",
        window.start, window.end, if *fails { "fails in" } else { "ends with" }, cycles.saturating_sub(1)
    )]
    Window { window: Range<u64>, cycles: u64, fails: bool },
    #[error(transparent)]
    Wave(#[from] WaveReadError),
    #[error(transparent)]
    Rtl(#[from] BuildError),
    /// The RTL and the model could not be started.
    #[error(transparent)]
    Machine(#[from] Failure),
}
