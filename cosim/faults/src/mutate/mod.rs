//! Mutation testing of the RTL.
//!
//! A mutant is the RTL with one small defect ([`Mutant`]). One library of a configuration has them all, each behind a
//! switch ([`crate::build`]). [`evaluate`] plays recorded runs of the model to each, in stages ([`Stage`]), until RTL and
//! model differ: then the mutant is killed. What no switch alters, such as widths and bounds of loops, is built for each mutant
//! ([`evaluate_built`]). What no run notices is a hole in the stimulus, or a mutant that behaves as the
//! RTL does; of those, [`Explained`] says why. [`MutationReport`] has the score. [`Planted`] defects are written by hand, and
//! the oracle alone must notice each ([`evaluate_planted`]).

mod error;
mod evaluate;
mod explained;
mod lint;
mod mutant;
mod planted;
mod report;
mod stage;

pub use error::MutateError;
pub use evaluate::{
    EvaluationSettings, Fate, JudgedBy, Kill, KillCheck, StageTally, evaluate, evaluate_built,
    evaluate_planted, schemata,
};
pub use explained::{Explained, Explanation};
pub use lint::{altered_folder, lint_survivors, write_survivors};
pub use mutant::{Mutant, mutants, sample};
pub use planted::Planted;
pub use report::{MutationReport, MutationResult};
pub use stage::{Stage, stages};
