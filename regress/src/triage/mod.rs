//! Triage of failing tests. The [`signature`] selects the bucket. [`minimize`] finds a small case that fails
//! in the same way. The [`bundle`] holds everything needed to inspect the failure, and [`repro`] replays a
//! bundle.

pub mod bucket;
pub mod bundle;
pub mod death;
pub mod error;
pub(crate) mod kernel;
pub mod layout;
pub mod minimize;
pub mod page;
pub mod record;
pub mod replay;
pub mod repro;
pub mod rerun;
pub mod signature;
pub mod test_failure;
