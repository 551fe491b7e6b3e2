//! An mbarrier object as \[PTX\] describes it, and the words it is kept in.

/// The largest of every count (spec 6.1).
pub const LIMIT: i64 = (1 << 20) - 1;

/// How objects are kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierLayout {
    /// sm_90 and later: fields of one word of 64 bits (spec 6.2).
    Fields,
    /// sm_80 to sm_89: two words of 32 bits, without tx-count (spec 6.2.1).
    TwoWords,
}

/// An object between two operations.
///
/// Steps that leave the ranges of spec 6.1 panic: they are undefined, and nothing is expected of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Parity of the current phase.
    pub phase: bool,
    /// Arrivals expected in every phase.
    pub expected: i64,
    /// Arrivals still to come in this one.
    pub pending: i64,
    /// Transactions outstanding.
    pub tx: i64,
}

impl Barrier {
    /// An object that init made.
    pub fn new(count: u32) -> Barrier {
        let count = i64::from(count);
        Barrier { phase: false, expected: count, pending: count, tx: 0 }.checked()
    }

    /// expect-tx.
    pub fn expect_tx(&mut self, transactions: u32) {
        self.tx += i64::from(transactions);
        self.complete();
    }

    /// complete-tx.
    pub fn complete_tx(&mut self, transactions: u32) {
        self.tx -= i64::from(transactions);
        self.complete();
    }

    /// arrive-on.
    pub fn arrive(&mut self, count: u32) {
        self.pending -= i64::from(count);
        self.complete();
    }

    /// Fewer arrivals in the phases to come.
    pub fn drop_expected(&mut self, count: u32) {
        self.expected -= i64::from(count);
        *self = self.checked();
    }

    /// One arrival more in this phase.
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

    /// The word, or both words, the first one low.
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

    /// Phase and pending count as the high word of a state holds them, at their places in it.
    pub fn count_in_state(self, layout: BarrierLayout) -> u32 {
        let high = (self.word(layout) >> 32) as u32;
        match layout {
            BarrierLayout::Fields => high & 0xffff_f800,
            BarrierLayout::TwoWords => high,
        }
    }

    /// What of the high word of a state [`Barrier::count_in_state`] speaks of.
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

    /// Words that assemblers make, and that others read from devices.
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
