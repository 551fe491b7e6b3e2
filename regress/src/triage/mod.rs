//! What a failing test leaves behind: a [`signature`] that says which bucket it belongs to, a [`minimize`] case that fails the same
//! way, a [`bundle`] with all one needs to look at it, and the means to repeat that ([`repro`]).

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
