//! Random contents of buffers. A seed gives the same contents on every machine.

/// SplitMix64, chosen because its specification fits in five lines.
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Value from `min` to `max`, inclusive. The multiply-shift has a bias below 2^-64 of the range, which is
    /// acceptable for test data.
    pub(crate) fn between(&mut self, min: i128, max: i128) -> i128 {
        let span = (max - min) as u128 + 1;
        min + ((u128::from(self.next()) * span) >> 64) as i128
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn the_published_sequence() {
        let mut random = SplitMix64::new(1234567);
        assert_eq!(random.next(), 6457827717110365317);
        assert_eq!(random.next(), 3203168211198807973);
    }
}
