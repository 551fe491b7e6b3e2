//! Activity of each bank over time.

use atoms_model::Config;
use atoms_model::port::MAX_BANKS;
use serde::Serialize;

/// Largest number of intervals of a run.
pub const MAX_INTERVALS: usize = 64;
/// Initial length of an interval, in cycles.
const SHORTEST: u64 = 16;

/// One counter for each bank, stored as bit planes. Sets of banks are added sixteen at a time. A set costs a
/// few operations and no branch, whatever it contains.
#[derive(Clone, Copy, Debug, Default)]
struct Planes {
    digits: [u64; Planes::DIGITS],
    sets: [u64; Planes::SETS],
}

impl Planes {
    const DIGITS: usize = 8;
    const SETS: usize = 16;
    /// Sets that can be added before a counter may overflow.
    const ROOM: u64 = (1 << Planes::DIGITS) - Planes::SETS as u64;

    /// Adds the buffered sets to the counters, and clears the buffer.
    #[inline]
    fn add(&mut self) {
        let mut carries = std::mem::take(&mut self.sets);
        let (low, high) = self.digits.split_at_mut(Planes::SETS.ilog2() as usize);
        let mut left = Planes::SETS;
        for digit in low {
            left /= 2;
            for at in 0..left {
                let (a, b) = (carries[2 * at], carries[2 * at + 1]);
                carries[at] = a & b | *digit & (a ^ b);
                *digit ^= a ^ b;
            }
        }
        for digit in high {
            (*digit, carries[0]) = (*digit ^ carries[0], *digit & carries[0]);
        }
    }

    fn drain_to(&mut self, counts: &mut [u64; MAX_BANKS]) {
        self.add();
        for (digit, mut banks) in std::mem::take(&mut self.digits).into_iter().enumerate() {
            while banks != 0 {
                counts[banks.trailing_zeros() as usize] += 1 << digit;
                banks &= banks - 1;
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Interval {
    cycles: u64,
    served: [u64; MAX_BANKS],
    written: [u64; MAX_BANKS],
}

impl Interval {
    const EMPTY: Interval = Interval { cycles: 0, served: [0; MAX_BANKS], written: [0; MAX_BANKS] };

    fn append(&mut self, later: &Interval) {
        self.cycles += later.cycles;
        self.served.iter_mut().zip(&later.served).for_each(|(sum, count)| *sum += count);
        self.written.iter_mut().zip(&later.written).for_each(|(sum, count)| *sum += count);
    }
}

/// Counts bank activity in at most [`MAX_INTERVALS`] intervals. Their length doubles when all are in use.
#[derive(Clone, Debug)]
pub(super) struct BankTimeline {
    /// The last interval is incomplete.
    intervals: Vec<Interval>,
    /// Length of a complete interval, in cycles.
    width: u64,
    served: Planes,
    written: Planes,
    /// Cycles counted in `served` and `written` since the counters were last cleared, at most `room` cycles.
    held: u64,
    room: u64,
}

impl BankTimeline {
    pub(super) fn new() -> Self {
        let (served, written) = Default::default();
        BankTimeline {
            intervals: vec![Interval::EMPTY],
            width: SHORTEST,
            served,
            written,
            held: 0,
            room: SHORTEST,
        }
    }

    /// Counts a cycle. `served` has the banks of the issued pass, `written` the banks that are written.
    #[inline]
    pub(super) fn cycle(&mut self, served: u64, written: u64) {
        let at = self.held as usize % Planes::SETS;
        (self.served.sets[at], self.written.sets[at]) = (served, written);
        self.held += 1;
        if at == Planes::SETS - 1 {
            self.served.add();
            self.written.add();
        }
        if self.held == self.room {
            self.drain();
        }
    }

    #[inline(never)]
    fn drain(&mut self) {
        let Some(now) = self.intervals.last_mut() else { return };
        self.served.drain_to(&mut now.served);
        self.written.drain_to(&mut now.written);
        now.cycles += std::mem::take(&mut self.held);
        if now.cycles == self.width {
            if self.intervals.len() == MAX_INTERVALS {
                self.width *= 2;
                let pairs = self.intervals.chunks(2).map(|pair| {
                    let mut both = pair[0].clone();
                    pair[1..].iter().for_each(|later| both.append(later));
                    both
                });
                self.intervals = pairs.collect();
            }
            self.intervals.push(Interval::EMPTY);
        }
        let now = self.intervals.last().map_or(0, |now| now.cycles);
        self.room = (self.width - now).min(Planes::ROOM);
    }

    pub(super) fn usage(&self, config: &Config) -> BankUsage {
        let mut all = self.clone();
        if all.held > 0 {
            all.drain();
        }
        all.intervals.retain(|interval| interval.cycles > 0);
        let banks = config.num_banks as usize;
        let mut total = Interval::EMPTY;
        all.intervals.iter().for_each(|interval| total.append(interval));
        BankUsage {
            served: total.served[..banks].to_vec(),
            written: total.written[..banks].to_vec(),
            interval_cycles: all.width,
            served_over_time: all.intervals.iter().map(|i| i.served[..banks].to_vec()).collect(),
            written_over_time: all.intervals.iter().map(|i| i.written[..banks].to_vec()).collect(),
        }
    }
}

/// Activity of each bank. A pass accesses one word of a bank, so a word is one cycle of the bank's read port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct BankUsage {
    /// `[bank]`: words served, one for each issued pass that accesses the bank.
    pub served: Vec<u64>,
    /// `[bank]`: words written to the bank.
    pub written: Vec<u64>,
    /// Cycles per interval of the two lists below. The last interval may be shorter.
    pub interval_cycles: u64,
    /// `[interval][bank]`: words served, at most [`MAX_INTERVALS`] intervals.
    pub served_over_time: Vec<Vec<u64>>,
    /// `[interval][bank]`: words written to the bank.
    pub written_over_time: Vec<Vec<u64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the counts of a `BankTimeline` with sums over a list of all cycles, for runs of 1 to 20,000
    /// cycles. In longer runs, the intervals have doubled several times.
    #[test]
    fn words_are_counted_once_and_in_their_time() {
        let config = Config { num_banks: 64, ..Config::default() };
        let (mut banks, mut plain) = (BankTimeline::new(), Vec::new());
        for cycle in 0..20_000_u64 {
            // Irregular sets: a regular pattern could hide an error at some interval length.
            let served = cycle.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(cycle as u32 % 63);
            let written = served & cycle.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            banks.cycle(served, written);
            plain.push((served, written));
            if !(cycle < 300 || cycle % 997 == 0) {
                continue;
            }
            let usage = banks.usage(&config);
            let width = usage.interval_cycles as usize;
            let intervals = usage.served_over_time.len();
            assert!(
                intervals <= MAX_INTERVALS && (intervals - 1) * width < plain.len(),
                "{width} cycles each"
            );
            assert_eq!(intervals, plain.len().div_ceil(width));
            let count = |of: &[(u64, u64)], bank: usize, set: fn(&(u64, u64)) -> u64| {
                of.iter().map(|cycle| set(cycle) >> bank & 1).sum::<u64>()
            };
            for bank in 0..64 {
                assert_eq!(usage.served[bank], count(&plain, bank, |cycle| cycle.0));
                assert_eq!(usage.written[bank], count(&plain, bank, |cycle| cycle.1));
                for (at, interval) in plain.chunks(width).enumerate() {
                    assert_eq!(usage.served_over_time[at][bank], count(interval, bank, |cycle| cycle.0));
                    assert_eq!(usage.written_over_time[at][bank], count(interval, bank, |cycle| cycle.1));
                }
            }
        }
    }
}
