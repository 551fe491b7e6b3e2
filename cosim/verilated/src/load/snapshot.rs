//! State of a model at one cycle.

use crate::{Library, RtlError};

/// Registers, memory and cycle number of any [`Rtl`](crate::Rtl) of the same library.
///
/// Only a model can create a snapshot. Bytes cannot become a snapshot, except for those that the cache kept:
/// Verilated code trusts its state, and would follow an index out of range.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    key: String,
    cycle: u64,
    state: Vec<u8>,
}

impl Snapshot {
    pub(crate) fn new(library: &Library, cycle: u64, state: Vec<u8>) -> Self {
        Self { key: library.key().to_owned(), cycle, state }
    }

    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    pub(crate) fn state_for(&self, library: &Library) -> Result<&[u8], RtlError> {
        if self.key == library.key() { Ok(&self.state) } else { Err(RtlError::Snapshot) }
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot {{ cycle: {}, {} bytes }}", self.cycle, self.state.len())
    }
}
