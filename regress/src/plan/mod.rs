//! Plans: which tests there are, and how many.
//!
//! A plan is a TOML file (`regress.toml`, described in `docs/regress.md`) of entries and profiles. A
//! profile picks entries by tag and says for how long. [`Tests`] numbers the tests of a profile
//! from 0; what test `n` is depends on nothing but the files, the seed and `n`.

mod error;
mod expand;
mod file;
mod numbered;

use std::time::Duration;

pub use error::PlanError;
pub use expand::PlanChoice;
pub use file::{
    CorpusEntry, DirectedEntry, KernelEntry, Plan, PlanEntry, Profile, RandomEntry, RtlCoverage,
    StimulusSource,
};
pub use numbered::{Job, Test, Tests, derive_seed};

/// Wall time a test of so much work, in warp requests, may take where its entry does not say: two minutes,
/// and twenty times what it takes on a machine that does nothing else.
pub fn timeout(cost: u64) -> Duration {
    Duration::from_secs(120)
        + Duration::from_secs(20) * u32::try_from(cost / numbered::REQUESTS_PER_SECOND).unwrap_or(u32::MAX)
}
