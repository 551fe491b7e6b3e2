//! Tags of warp requests: which are in use.

use atoms_model::port::{In, Out};
use rand::{Rng, RngExt};

/// Tags of the warp requests inside, or offered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tags {
    taken: u64,
}

impl Tags {
    /// A request with this tag is inside.
    pub fn taken(self, tag: u8) -> bool {
        self.taken >> (tag & 63) & 1 != 0
    }

    /// All of them, tag 0 in bit 0.
    pub(super) fn all(self) -> u64 {
        self.taken
    }

    /// A request with this tag is offered.
    pub fn take(&mut self, tag: u8) {
        self.taken |= 1 << (tag & 63);
    }

    /// Sees which requests are answered.
    pub fn observe(&mut self, i: &In, out: &Out) {
        if out.rsp_valid & i.rsp_ready == 1 {
            self.taken &= !(1 << out.rsp_tag);
        }
        if out.wake_valid & i.wake_ready == 1 {
            self.taken &= !(1 << out.wake_tag);
        }
    }

    /// A tag drawn from those that are free; there are more of them than requests fit inside.
    pub(super) fn draw(self, rng: &mut impl Rng) -> u8 {
        let start = rng.random_range(0..64u32);
        ((start + self.taken.rotate_right(start).trailing_ones()) % 64) as u8
    }
}
