//! Functional coverage: the bins, what hit them, and how hits of several runs are brought together.
//!
//! A [`Group`] is a cross of dimensions, and a bin one combination of their values. All bins of all
//! groups are numbered through ([`Model::bins`]), so that a [`Map`] is two flat arrays. A [`Sampler`]
//! listens on a session and counts.

#![forbid(unsafe_code)]

pub mod corpus;
pub mod cross;
pub mod episode;
pub mod groups;
mod map;
mod model;
mod sampler;
pub mod steer;

pub use map::Map;
pub use model::{Dimension, Group, Model, bin_name};
pub use sampler::Sampler;
