//! Tags of warp requests in use.

use atoms_model::port::{In, Out};
use rand::{Rng, RngExt};

/// Set of the tags of warp requests that are offered or in flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tags {
    taken: u64,
}

impl Tags {
    /// Returns true if a request with this tag is offered or in flight.
    pub fn taken(self, tag: u8) -> bool {
        self.taken >> (tag & 63) & 1 != 0
    }

    pub(super) fn all(self) -> u64 {
        self.taken
    }

    /// Marks the tag of an offered request as used.
    pub fn take(&mut self, tag: u8) {
        self.taken |= 1 << (tag & 63);
    }

    /// Frees the tags of requests that are answered in this cycle.
    pub fn observe(&mut self, i: &In, out: &Out) {
        if out.rsp_valid & i.rsp_ready == 1 {
            self.taken &= !(1 << out.rsp_tag);
        }
        if out.wake_valid & i.wake_ready == 1 {
            self.taken &= !(1 << out.wake_tag);
        }
    }

    /// Draws a free tag. One always exists, because the unit holds fewer than 64 requests.
    pub(super) fn draw(self, rng: &mut impl Rng) -> u8 {
        let start = rng.random_range(0..64u32);
        ((start + self.taken.rotate_right(start).trailing_ones()) % 64) as u8
    }
}
