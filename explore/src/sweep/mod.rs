//! Sweeps: many points of unit and workload, measured, certified, and kept.

mod figure;
mod finding;
mod kept;
mod outcome;
mod plan;
mod run;

pub use figure::{FIGURES, Figure};
pub(crate) use finding::{Line, findings, lines, words};
pub use kept::PointStore;
pub use outcome::{PointOutcome, PointUsage};
pub use plan::{Impossible, PlotFile, SweepError, SweepFile, SweepPoint, SweepPoints, Varied, VariedOf};
pub use run::{Certify, Measured, SweepProgress, SweepRun, SweepRunError, sweep};
