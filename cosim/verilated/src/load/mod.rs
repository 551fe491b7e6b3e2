//! A built library: loads it, drives it, reads its signals and coverage.

pub(crate) mod coverage;
pub(crate) mod library;
pub(crate) mod rtl;
pub(crate) mod signals;
pub(crate) mod snapshot;
