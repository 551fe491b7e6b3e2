//! Tests of bins, of the coverage page, and of steering.

mod coverage_bins;
mod coverage_model;
mod coverage_page;
mod steering;
