//! What the unit would cost and give if it were built otherwise.
//!
//! [`atoms_workload`] has what the unit is given to do; [`measure`] one point of it; [`certificate`] that the RTL agrees; [`cost`]
//! what it takes to build; [`calibrate`] what its passes are in cycles of a GPU. A [`sweep`] measures many points, of which
//! [`report`] makes tables, plots ([`plot`]) and a page.

#![forbid(unsafe_code)]

pub mod calibrate;
pub mod certificate;
pub mod cost;
mod least_squares;
pub mod measure;
pub mod plot;
pub mod report;
pub mod sweep;
