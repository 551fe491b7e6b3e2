//! What cycles of the unit are in cycles of a GPU: measurements of a GPU, and constants fitted to them.
//!
//! A [`GpuMeasurement`] says what was measured by a workload of [`atoms_workload`]. A round of that workload on the
//! model counts requests and passes ([`RoundCounts`]); a [`CostLaw`] makes of them a sum over [`GpuConstant`]s, which are
//! fitted by least squares. [`calibrate()`] does so with our unit's count of passes and with those of rival models, and
//! keeps the residual of every measurement. `docs/calibration.md` shows what comes of the figures that are published.

mod calibration;
mod counts;
mod doubt;
mod fit;
mod law;
mod measurement;
mod profile;
mod report;
mod rounds;

pub use calibration::{Calibration, FigureResidual, FittedConstant, LawErrors, calibrate};
pub use counts::{KindCounts, PassRule, RoundCounts};
pub use law::{CostLaw, GpuConstant};
pub use measurement::{
    FigureUse, GpuMeasurement, MeasuredOrder, MeasuredWorkload, MeasurementError, Metric, Provenance,
    published, read_measurements,
};
pub use profile::{GpuProfile, GpuTime};
