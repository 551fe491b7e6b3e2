//! Plans: which tests there are, and how many.
//!
//! A plan is a TOML file (`regress.toml`, described in `docs/regress.md`) of entries and profiles. A
//! profile picks entries by tag and says for how long. [`Plan::tests`] numbers the tests of a profile
//! from 0; what test `n` is depends on nothing but the files, the seed and `n`.

mod error;
mod expand;
mod file;

use std::time::Duration;

pub use error::PlanError;
pub use expand::{Job, Test, Tests, mixed};
pub use file::{
    CorpusEntry, DirectedEntry, Entry, KernelEntry, Plan, Profile, RandomEntry, RtlCoverage, Source,
};

/// Wall time a test may take where its entry does not say.
pub const TIMEOUT: Duration = Duration::from_secs(120);
