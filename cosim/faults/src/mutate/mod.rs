//! Mutation testing of the RTL.
//!
//! A mutant is the RTL with one small defect ([`Mutant`]). One library of a configuration has all mutants,
//! each with a switch ([`crate::build`]). [`evaluate`] replays recorded runs of the model on each mutant,
//! in stages ([`Stage`]). A mutant is killed when RTL and model differ. Mutants of widths and loop bounds
//! cannot have a switch, and each needs its own build ([`evaluate_built`]). A survivor shows a hole in the
//! stimulus or is equivalent to the RTL; [`Explained`] lists the reasons. [`MutationReport`] has the score.
//! [`Planted`] defects are written by hand, and the oracle must notice each without the model
//! ([`evaluate_planted`]).

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
