//! Coverage of a regression: functional bins ([`atoms_coverage`]), RTL coverage and waivers.

mod renamed;
pub mod rtl;
pub mod summary;
pub mod waivers;
