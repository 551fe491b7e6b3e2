//! Test plans: entries, profiles and the numbered tests that result from them.
//!
//! A plan is a TOML file of entries and profiles (`regress.toml`, described in `docs/regress.md`). A profile
//! selects entries by tag and sets a budget. [`Tests`] numbers the tests of a profile from 0. Test `n`
//! depends only on the files, the seed and `n`.

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

/// Returns the default wall-time limit of a test with `cost` warp requests. The limit is two minutes plus 20
/// times the expected time on an idle machine.
pub fn timeout(cost: u64) -> Duration {
    Duration::from_secs(120)
        + Duration::from_secs(20) * u32::try_from(cost / numbered::REQUESTS_PER_SECOND).unwrap_or(u32::MAX)
}
