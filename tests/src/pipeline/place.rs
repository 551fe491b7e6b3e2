//! Where objects and data are, and the ways there.

/// An address of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) slot: u8,
    pub(super) offset: u32,
}

impl Place {
    /// As a lane of the CTA forms it; the rank is the slot.
    pub(super) fn address(self) -> u32 {
        u32::from(self.slot) << 24 | self.offset
    }
}

/// Through which port a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    Warp,
    Cluster,
}

impl Port {
    /// From a CTA to a place.
    pub(super) fn from(slot: u8, place: Place) -> Self {
        if slot == place.slot { Port::Warp } else { Port::Cluster }
    }
}
