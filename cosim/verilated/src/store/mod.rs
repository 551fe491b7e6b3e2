//! The folder of built libraries: entries, their manifests, locks and eviction.

pub(crate) mod entry;
pub(crate) mod evict;
pub(crate) mod kept;
pub(crate) mod lock;
pub(crate) mod manifest;
