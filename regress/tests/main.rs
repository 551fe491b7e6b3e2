//! Integration tests of plans, scheduler, store, supervisor and reports.

mod engine;
mod plan;
mod report;
mod rtl_coverage;
mod store;
mod supervisor;
