//! Scripts of `.ci/` and generated files.

mod ci;
mod generated;
mod tiers;
