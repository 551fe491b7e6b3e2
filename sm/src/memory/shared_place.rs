//! Places in shared memory.

/// A place in the shared memory of a CTA on the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedPlace {
    /// Slot of the CTA.
    pub(crate) slot: usize,
    /// The address as the thread formed it: rank in the top byte, offset below.
    pub(crate) address: u32,
}

impl SharedPlace {
    /// Offset in the CTA's allocation.
    pub(crate) fn offset(self) -> u32 {
        self.address & 0xff_ffff
    }
}
