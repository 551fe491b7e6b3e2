//! What reports say of coverage: bins hit ([`atoms_coverage`]), lines of the RTL, and what is waived.

mod renamed;
pub mod rtl;
pub mod summary;
pub mod waivers;
