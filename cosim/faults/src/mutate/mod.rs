//! Mutation: who checks the checker.
//!
//! A mutant is the RTL with one small defect ([`Mutant`]). One library of a configuration has them all, each behind a
//! switch ([`crate::woven`]). [`hunt`] plays recorded runs of the model to each, in stages ([`Stage`]), until RTL and
//! model differ: then the mutant is killed. What no switch alters, such as widths and bounds of loops, is built for each mutant
//! ([`hunt_built`]). What no run notices is a hole in the stimulus, or a mutant that behaves as the
//! RTL does; of those, [`Explained`] says why. [`MutationReport`] has the score. [`Planted`] defects are written by hand, and
//! the oracle alone must notice each ([`hunt_planted`]).

mod error;
mod explained;
mod hunt;
mod lint;
mod mutant;
mod planted;
mod report;
mod stage;

pub use error::MutateError;
pub use explained::{Explained, Explanation};
pub use hunt::{Fate, Hunt, JudgedBy, Kill, KillCheck, StageTally, hunt, hunt_built, hunt_planted, woven};
pub use lint::{altered_folder, lint_survivors, write_survivors};
pub use mutant::{Mutant, mutants, sample};
pub use planted::Planted;
pub use report::{MutationReport, MutationResult};
pub use stage::{Stage, stages};
