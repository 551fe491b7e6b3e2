//! Sweeps: measure many points of unit and workload, certify them, and store the results.

mod figure;
mod finding;
mod kept;
mod outcome;
mod plan;
mod run;
mod search;

pub use figure::{CostPart, FIGURES, Figure};
pub(crate) use finding::{Line, LineKey, LineNames, findings, front_findings, lines, series_name, words};
pub use kept::PointStore;
pub use outcome::{PointCost, PointOutcome, PointUsage};
pub use plan::{
    CostMode, Impossible, PlotFile, SearchFile, SweepError, SweepFile, SweepPoint, SweepPoints, Varied,
    VariedOf,
};
pub use run::{Certify, CostOf, Measured, SweepProgress, SweepRun, SweepRunError, sweep};
pub(crate) use search::front;
pub use search::{Searched, search};
