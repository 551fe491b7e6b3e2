//! Pace of a port: the pattern of its valid or ready for a while.

use rand::{Rng, RngExt};

use crate::profile::weights::choices;

choices! {
    /// Pattern of a port's valid or ready for a while.
    Pace, "pace" {
        /// Valid or ready is high in every cycle.
        Free "free" 4;
        /// Valid or ready is high in 1 to 15 of 16 cycles, at random.
        Some "some" 3;
        /// Valid or ready is high in one cycle of 16, at random.
        Heavy "heavy" 0;
        /// Valid or ready is low in every cycle, for 40 cycles only, because a request must get its response
        /// in the end.
        Held "held" 1;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beat {
    /// Average number of cycles out of 16 in which the signal is high.
    of_16: u8,
}

impl Beat {
    pub(crate) const FREE: Beat = Beat { of_16: 16 };
    pub(crate) const HELD: Beat = Beat { of_16: 0 };

    pub(crate) fn draw(pace: Pace, rng: &mut impl Rng) -> Beat {
        match pace {
            Pace::Free => Beat::FREE,
            Pace::Some => Beat { of_16: rng.random_range(1..16) },
            Pace::Heavy => Beat { of_16: 1 },
            Pace::Held => Beat::HELD,
        }
    }

    #[inline]
    pub(crate) fn high(self, rng: &mut impl Rng) -> bool {
        match self.of_16 {
            0 => false,
            16.. => true,
            of_16 => rng.random_range(0..16) < of_16,
        }
    }
}
