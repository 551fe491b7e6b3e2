//! Calibration: fits constants of a GPU to its measurements, which convert cycles of the unit to cycles of
//! the GPU.
//!
//! A [`GpuMeasurement`] names a workload of [`atoms_workload`] and its measured figure. The model runs a
//! round of that workload and counts requests and passes ([`RoundCounts`]). A [`CostLaw`] turns these counts
//! into a sum over [`GpuConstant`]s. [`calibrate()`] fits the constants by least squares, for our unit's
//! passes and for rival models. It keeps the residual of every measurement. `docs/calibration.md` shows the
//! results for the published figures.

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
