//! Ranks the lines of the RTL by how likely they cause a failure.
//!
//! The ranking comes from experiments. A library with all mutants ([`crate::build::SchemataRtl`]) runs the
//! failing case with one mutant at a time. If RTL and model agree with a mutant, in that case and in further
//! runs, its line is the likely cause. A mutant that changes the differences, their cycle or their duration
//! is weaker evidence ([`Evidence`]). The data flow decides between lines of equal evidence: the distance of
//! a line from the signals that differ first. [`score()`] measures how often the ranking is right.

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

#[derive(Debug, thiserror::Error)]
pub enum CauseError {
    #[error(transparent)]
    Schemata(#[from] SchemataBuildError),
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// A run fails other than by a difference between RTL and model.
    #[error(transparent)]
    Run(#[from] Failure),
    #[error("no small case found in {0}: the failure depends on earlier requests of the run")]
    NoCase(Spent),
    /// The case does not fail.
    #[error("RTL and model agree in this case: there is no failure to find the cause of")]
    Agrees,
}
