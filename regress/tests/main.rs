//! Plans, engine, store, supervisor and reports of a regression.

mod engine;
mod plan;
mod report;
mod rtl_coverage;
mod store;
mod supervisor;
