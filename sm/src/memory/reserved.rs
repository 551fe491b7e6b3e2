//! Shared memory that the system reserves in each CTA.

use atoms_isa::Arch;
use std::ops::Range;

/// Offset in bytes of the second part of the reserved memory from the first reserved byte. [CHOSEN: the
/// driver decides]
const SECOND: u32 = 0x100;

/// Alignment of reserved bytes after the CTA's own bytes, so that accesses of every size are aligned.
/// [CHOSEN]
const ALIGNMENT: u64 = 16;

#[derive(Clone, Debug)]
pub(crate) struct ReservedShared {
    /// Offsets in the allocation; empty if there is no reserved part.
    pub(crate) bytes: Range<u32>,
    /// True if the kernel reads the offset of the reserved bytes. If false, an access to them is an error.
    pub(crate) used: bool,
    /// Offset in bytes of the first part of the reserved memory from the first reserved byte.
    first: u32,
}

impl ReservedShared {
    /// Reserved part of an allocation whose own bytes end at `end`. Reserved bytes after the own bytes exist
    /// only if `used`, so that an access past the end stays out of range.
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

    pub(crate) fn first(&self) -> u32 {
        self.bytes.start + self.first
    }

    pub(crate) fn second(&self) -> u32 {
        self.bytes.start + SECOND
    }

    /// Offsets below this value are forbidden, because the kernel does not read the offset of the reserved
    /// bytes.
    pub(crate) fn forbidden_end(&self) -> u32 {
        if self.used { 0 } else { self.bytes.end }
    }
}
