//! Generated workloads, one file each.

pub(crate) mod accumulate;
pub(crate) mod contend;
pub(crate) mod hash_insert;
pub(crate) mod lock;
pub(crate) mod pipeline;
pub(crate) mod queue;
pub(crate) mod sum;
