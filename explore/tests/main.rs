//! Workloads, sweeps, certificates, cost and plots.

mod calibration;
mod cells;
mod float_adder;
mod page;
mod plots;
mod recorded;
mod studies;
mod sweeps;
mod workloads;
