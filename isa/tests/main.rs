//! Tests of listings and PTX: parsing, decoding, lowering, error messages.

mod common;
mod decoding;
mod early;
mod fuzz;
mod listing_forms;
mod listings;
mod lowering;
mod problems;
mod ptx_constructs;
mod ptx_modules;
mod ptx_problems;
mod ptx_vectors;
mod ptx_versions;
mod sample;
mod sequence;
mod table;
