//! Model of an mbarrier object after \[PTX\], and its words in memory.

/// Maximum of each count of an object (spec 6.1).
pub const LIMIT: i64 = (1 << 20) - 1;

/// Layout of objects in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierLayout {
    /// sm_90 and later: fields of one 64-bit word (spec 6.2).
    Fields,
    /// sm_80 to sm_89: two 32-bit words without tx-count (spec 6.2.1).
    TwoWords,
}

/// State of an object between two operations.
///
/// An operation that leaves the ranges of spec 6.1 panics, because its result is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    pub phase: bool,
    /// Arrivals expected in each phase.
    pub expected: i64,
    /// Arrivals still missing in the current phase.
    pub pending: i64,
    /// Transaction count of the current phase; negative if more completed than expected.
    pub tx: i64,
}

impl Barrier {
    pub fn new(count: u32) -> Barrier {
        let count = i64::from(count);
        Barrier { phase: false, expected: count, pending: count, tx: 0 }.checked()
    }

    pub fn expect_tx(&mut self, transactions: u32) {
        self.tx += i64::from(transactions);
        self.complete();
    }

    pub fn complete_tx(&mut self, transactions: u32) {
        self.tx -= i64::from(transactions);
        self.complete();
    }

    pub fn arrive(&mut self, count: u32) {
        self.pending -= i64::from(count);
        self.complete();
    }

    /// Reduces the expected arrivals of later phases.
    pub fn drop_expected(&mut self, count: u32) {
        self.expected -= i64::from(count);
        *self = self.checked();
    }

    pub fn increment(&mut self) {
        self.pending += 1;
        *self = self.checked();
    }

    fn complete(&mut self) {
        if self.pending == 0 && self.tx == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
        *self = self.checked();
    }

    fn checked(self) -> Barrier {
        let Barrier { expected, pending, tx, .. } = self;
        assert!((1..=LIMIT).contains(&expected), "{self:?}: expected");
        assert!((0..=LIMIT).contains(&pending), "{self:?}: pending");
        assert!((-LIMIT..=LIMIT).contains(&tx), "{self:?}: tx-count");
        self
    }

    /// Returns the 64-bit word of the object. In the two-word layout, the low half is the first word.
    pub fn word(self, layout: BarrierLayout) -> u64 {
        let Barrier { phase, expected, pending, tx } = self;
        let field = |value: i64, bits: u32| (value as u64) & ((1 << bits) - 1);
        let phase = u64::from(phase) << 63;
        match layout {
            BarrierLayout::Fields => {
                phase | field(-pending, 20) << 43 | field(-tx, 21) << 21 | field(-expected, 20) << 1
            }
            BarrierLayout::TwoWords => {
                phase | field((1 << 31) - pending, 31) << 32 | field((1 << 30) - expected, 32)
            }
        }
    }

    /// Returns the high word of a state with only phase and pending count set, at their bit positions.
    pub fn count_in_state(self, layout: BarrierLayout) -> u32 {
        let high = (self.word(layout) >> 32) as u32;
        match layout {
            BarrierLayout::Fields => high & 0xffff_f800,
            BarrierLayout::TwoWords => high,
        }
    }

    /// Returns the mask of the bits that [`Barrier::count_in_state`] returns.
    pub fn count_mask(layout: BarrierLayout) -> u32 {
        match layout {
            BarrierLayout::Fields => 0xffff_f800,
            BarrierLayout::TwoWords => u32::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model produces object words that assemblers emit and that others read from devices.
    #[test]
    fn words_are_those_of_devices() {
        let three = Barrier::new(3);
        let mut expecting = three;
        expecting.expect_tx(0x12345);
        let mut dropped = three;
        dropped.drop_expected(1);
        dropped.arrive(1);
        let mut completed = Barrier::new(2);
        completed.arrive(2);
        for (barrier, word) in [
            (Barrier::new(1_048_575), 0x0000_0800_0000_0002),
            (three, 0x7fff_e800_001f_fffa),
            (expecting, 0x7fff_ebdb_977f_fffa),
            (dropped, 0x7fff_f000_001f_fffc),
            (completed, 0xffff_f000_001f_fffc),
        ] {
            assert_eq!(barrier.word(BarrierLayout::Fields), word, "{barrier:?}");
        }
        assert_eq!(Barrier::new(128).word(BarrierLayout::TwoWords), 0x7fff_ff80_3fff_ff80);
        assert_eq!(completed.word(BarrierLayout::TwoWords), 0xffff_fffe_3fff_fffe);
    }
}
