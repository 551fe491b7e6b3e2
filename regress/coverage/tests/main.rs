//! Bins and their page.

mod coverage_bins;
mod coverage_model;
mod coverage_page;
