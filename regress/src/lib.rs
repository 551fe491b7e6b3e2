//! Regressions: plans, tests on workers, coverage, failure buckets, reports, and shards for a cluster.
//!
//! A [`plan`] expands into tests. A random test consists of [`episode`](atoms_coverage::episode)s. A worker
//! runs a test on its own machines and returns a [`run::result::TestResult`] with its coverage
//! ([`coverage`]). The collector takes results in plan order, so that its output is equal for any number of
//! workers. Reports are made from the [`report::summary`].

#![forbid(unsafe_code)]

pub mod checksum;
pub mod cluster;
pub mod coverage;
pub mod plan;
pub mod report;
pub mod run;
pub mod triage;
pub mod whole_file;
