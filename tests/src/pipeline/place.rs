//! Addresses of objects and data, and the ports to reach them.

/// Address in the allocation of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) slot: u8,
    pub(super) offset: u32,
}

impl Place {
    /// Returns the address as a lane of the CTA computes it. The rank equals the slot.
    pub(super) fn address(self) -> u32 {
        u32::from(self.slot) << 24 | self.offset
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    Warp,
    Cluster,
}

impl Port {
    /// Selects the port for an access from CTA `slot` to `place`.
    pub(super) fn from(slot: u8, place: Place) -> Self {
        if slot == place.slot { Port::Warp } else { Port::Cluster }
    }
}
