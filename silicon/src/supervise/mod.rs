//! Runs programs in a worker process, within their budget of time.

pub mod budget;
pub mod supervisor;
pub mod worker;
