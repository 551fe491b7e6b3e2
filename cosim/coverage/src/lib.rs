//! Functional coverage: groups of bins, sampling, and merging of hits from several runs.
//!
//! A [`Group`] is a cross of dimensions, and a bin is one combination of their values. The bins of all groups
//! share one numbering ([`Model::bins`]), so a [`Map`] is two flat arrays. A [`Sampler`] is a listener of a
//! session and counts the hits.

#![forbid(unsafe_code)]

pub mod corpus;
pub mod cross;
pub mod episode;
mod file;
pub mod groups;
mod map;
mod model;
mod sampler;
pub mod steer;

pub use file::{CoverageFile, CoverageFileError};
pub use map::Map;
pub use model::{Dimension, Group, Model, bin_name};
pub use sampler::Sampler;
