//! Shared memory that the system reserves in each CTA.

use atoms_isa::Arch;
use std::ops::Range;

/// Bytes from the first reserved byte to the second part. [CHOSEN: the driver says]
const SECOND: u32 = 0x100;

/// Reserved bytes lie behind the CTA's own at a multiple of this, so that accesses of every size are aligned there. [CHOSEN]
const ALIGNMENT: u64 = 16;

/// The reserved part of a CTA's allocation.
#[derive(Clone, Debug)]
pub(crate) struct ReservedShared {
    /// Offsets in the allocation; empty before sm_80.
    pub(crate) bytes: Range<u32>,
    /// The kernel reads where they are. Otherwise, an access to them is a mistake.
    pub(crate) used: bool,
    /// Bytes from the first one to the first part.
    first: u32,
}

impl ReservedShared {
    /// The reserved part of an allocation whose own bytes end at `end`; `used` as in [`ReservedShared::used`]. Where
    /// the reserved bytes lie behind the own ones, they are left out unless the kernel uses them: an access past the
    /// end then stays out of range.
    pub(crate) fn new(arch: Arch, used: bool, end: u64) -> ReservedShared {
        let bytes = match (arch.shared_origin(), used) {
            (0, false) => 0..0,
            (0, true) => {
                let begin = end.next_multiple_of(ALIGNMENT).min(u64::from(u32::MAX / 2)) as u32;
                begin..begin + arch.reserved_shared_bytes()
            }
            (origin, _) => 0..origin,
        };
        ReservedShared { bytes, used, first: arch.reserved_shared_first() }
    }

    /// Offset of the first part.
    pub(crate) fn first(&self) -> u32 {
        self.bytes.start + self.first
    }

    /// Offset of the second part.
    pub(crate) fn second(&self) -> u32 {
        self.bytes.start + SECOND
    }

    /// Offsets below this one are not for the kernel: it does not read where the reserved bytes are.
    pub(crate) fn forbidden_end(&self) -> u32 {
        if self.used { 0 } else { self.bytes.end }
    }
}
