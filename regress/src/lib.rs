//! Regressions: plans made into tests, tests run by workers, what they covered, failures in buckets,
//! reports, and shards for a cluster.
//!
//! The way of a test: a [`plan`] is expanded into tests, each a function of its [`episode`](atoms_coverage::episode); a worker
//! runs it on machines of its own and gives a [`run::result::TestResult`] with what it covered
//! ([`coverage`]); the collector takes results in the order of the plan, so that everything it writes
//! is the same for any number of workers; reports are made of the [`report::summary`] alone.

#![forbid(unsafe_code)]

pub mod checksum;
pub mod cluster;
pub mod coverage;
pub mod plan;
pub mod report;
pub mod run;
pub mod triage;
pub mod whole_file;
