//! Which lines of the RTL are the likeliest cause of a failure.
//!
//! The answer comes from experiments. Every condition, operator, constant and assignment of the RTL is altered, one at a
//! time, in a library that has all operators put in ([`crate::build::SchemataRtl`]), and the failing case is repeated under each. An
//! operator under which RTL and model agree, in that case and in further runs, names its line; one that changes what
//! differs, when, or for how long, says less, but something ([`Evidence`]). What is equal is decided by the data flow: how
//! many steps a line is away from the signals that differ first. [`score()`] measures how often the list is right.

use atoms_cosim::case::trials::Spent;
use atoms_cosim::machine::Failure;
use atoms_verilated::RtlError;

use crate::build::SchemataBuildError;

mod evidence;
mod experiments;
mod rank;
mod score;

pub use evidence::Evidence;
pub use rank::{CauseSuspect, failing_case, list, list_with, listed};
pub use score::{CauseScore, CauseShare, PlantedDefect, score};

/// Why there is no list of causes.
#[derive(Debug, thiserror::Error)]
pub enum CauseError {
    /// There is no RTL to alter.
    #[error(transparent)]
    Schemata(#[from] SchemataBuildError),
    /// The RTL cannot be simulated.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// A run fails, but RTL and model do not differ.
    #[error(transparent)]
    Run(#[from] Failure),
    /// No small case shows the failure of a run.
    #[error("no case found in {0}: the failure needs more of its history")]
    NoCase(Spent),
    /// There is nothing to find a cause of.
    #[error("RTL and model agree in this case: nothing to find a cause of")]
    Agrees,
}
