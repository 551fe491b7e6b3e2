//! Runs programs in a worker process, within a time budget.

pub mod budget;
pub mod supervisor;
pub mod worker;
