//! Deterministic random numbers for delays and places.

/// SplitMix64, the published generator. It needs no library.
#[derive(Clone, Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`. `bound` must not be 0.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        (self.roll() % u64::from(bound)) as u32
    }

    pub(super) fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    pub(super) fn lanes(&mut self, count: u32, lanes: u32) -> Vec<u32> {
        let mut all: Vec<_> = (0..lanes).collect();
        while all.len() > count as usize {
            let at = self.below(all.len() as u32);
            all.remove(at as usize);
        }
        all
    }
}
