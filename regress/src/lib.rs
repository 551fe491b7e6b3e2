//! Regressions: plans made into tests, tests run by workers, what they covered, failures in buckets,
//! reports, and shards for a cluster.
//!
//! The way of a test: a [`plan`] is expanded into tests, each a function of its [`episode`]; a worker
//! runs it on machines of its own and gives a [`result::TestResult`] with what it covered
//! ([`coverage`]); the collector takes results in the order of the plan, so that everything it writes
//! is the same for any number of workers; reports are made of the [`summary`] alone.

#![forbid(unsafe_code)]

mod cause;
pub mod cluster;
pub mod corpus;
pub mod cover;
pub mod coverage;
pub mod engine;
pub mod episode;
pub mod failure;
pub mod finish;
mod kernel;
pub mod plan;
pub mod processes;
pub mod report;
pub mod result;
pub mod run;
pub mod runner;
pub mod running;
pub mod seal;
pub mod shard;
pub mod state;
pub mod steer;
pub mod store;
pub mod summarize;
pub mod summary;
pub mod supervisor;
pub mod trouble;
