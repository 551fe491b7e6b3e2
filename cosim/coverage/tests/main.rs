//! Bins, their page, and steering to them.

mod coverage_bins;
mod coverage_model;
mod coverage_page;
mod steering;
