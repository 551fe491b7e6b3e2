//! Design-space exploration: performance, area and clock of the unit in other configurations.
//!
//! [`atoms_workload`] provides workloads. [`measure`] measures one point, [`certificate`] proves by lockstep
//! that the RTL agrees, and [`cost`] measures area and clock. [`calibrate`] converts passes to cycles of a
//! GPU. [`sweep`] measures many points; [`report`] turns them into tables, plots ([`plot`]) and a page.

#![forbid(unsafe_code)]

pub mod calibrate;
pub mod certificate;
pub mod cost;
mod least_squares;
pub mod measure;
pub mod plot;
pub mod report;
pub mod sweep;
