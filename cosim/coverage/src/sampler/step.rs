//! Samples the effect of a pass on plain memory, in the last pipeline stage.

use atoms_model::Config;
use atoms_model::lanes::{accesses, lanes};
use atoms_model::port::{MAX_BANKS, MAX_LANES};
use atoms_monitor::{BankPorts, PassIssued};
use atoms_ops::{Coalescing, Op, Size};
use atoms_stimulus::request::Lane;

use super::hits::Hits;
use super::in_flight::InFlightRequest;
use super::shadow::{Shadow, Word};
use crate::groups::kernels::{
    Arithmetic, ArithmeticOp, BinaryOp, Class, CompareOp, CompareWords, Difference, DistinctWords, Losers,
    Moved, Outcome, Selected, Spin, StoredWords, Values,
};
use crate::groups::objects::{Live, LiveObject};
use crate::groups::pipeline::{Distance, Forward, ForwardWidth, Source};
use crate::groups::requests::{Byte, Crossbar, Sign, SubWord, WideAccess};
use crate::groups::values::{AnyOp, AnySize, Bank, Kind, Lane as LaneNumber, PlainOp, Port, Width};

pub(super) struct MemoryStep<'a> {
    pub(super) config: &'a Config,
    pub(super) request: &'a InFlightRequest,
    pub(super) pass: &'a PassIssued,
    pub(super) winners: &'a Winners,
    pub(super) banks: BankPorts<'a>,
    /// Number of the current pipeline step.
    pub(super) number: u32,
    pub(super) op: Op,
    pub(super) size: Size,
    pub(super) kind: Kind,
    pub(super) width: Width,
}

impl MemoryStep<'_> {
    #[inline(always)]
    pub(super) fn lane(&self, bank: usize) -> usize {
        winner(self.winners, bank)
    }

    /// Samples a lane's access to a bank. Returns the word in memory before the access.
    #[inline(always)]
    pub(super) fn reach(&self, hits: &mut Hits, shadow: &Shadow, lane: usize, bank: usize) -> Word {
        let word = shadow.read(self.request.row[lane], bank);
        hits.hit(Crossbar, (LaneNumber(lane as u8), Bank(bank as u8)));
        let age = word.age(self.number);
        if age <= self.config.rmw_latency + 1 && age != 0 {
            let (writer, width) = shadow.writer(self.number.wrapping_sub(age));
            let source = if age <= self.config.rmw_latency { Source::Forwarded } else { Source::Memory };
            hits.hit(Forward, (writer, self.kind, Distance(age as u8)));
            hits.hit(ForwardWidth, (width, self.width, source));
        }
        word
    }

    /// True if some lanes share one access, so that the operand may combine several lanes.
    fn joined(&self) -> bool {
        self.pass.lanes.count_ones() as usize * self.width.banks() != self.pass.banks.count_ones() as usize
    }

    pub(super) fn plain(&self, hits: &mut Hits, shadow: &Shadow) {
        // Each width gets its own compiled copy, because most passes access words.
        match self.width {
            Width::Sub => self.accesses(hits, shadow, Width::Sub),
            Width::Word => self.accesses(hits, shadow, Width::Word),
            Width::Pair => self.accesses(hits, shadow, Width::Pair),
            Width::Quad => self.accesses(hits, shadow, Width::Quad),
        }
        if self.op == Op::CastSpin {
            self.spin(hits, shadow);
        }
    }

    #[inline(always)]
    fn accesses(&self, hits: &mut Hits, shadow: &Shadow, width: Width) {
        let (op, size) = (self.op, AnySize(self.size));
        let merged = self.joined() && op.row().coalescing == Coalescing::MergeRed;
        let (binary, arithmetic) = (BinaryOp::new(op), ArithmeticOp::new(op));
        let (mut live, mut word) = (false, false);
        for first in accesses(self.pass.banks, width.banks()) {
            let lane = self.lane(first);
            let mut b = self.request.request.lane(lane).b;
            let (mut held, mut new) = (0, 0);
            for k in 0..width.banks() {
                let old = self.reach(hits, shadow, lane, first + k);
                live |= old.live();
                word |= !old.live();
                held |= u128::from(old.value) << (32 * k);
                new |= u128::from(self.banks.values[first + k]) << (32 * k);
            }
            match width {
                Width::Sub => {
                    let byte = self.request.byte[lane];
                    held >>= 8 * byte;
                    let moved = if op == Op::Store { b } else { held };
                    let sign =
                        if moved >> (8 * self.size.bytes() - 1) & 1 != 0 { Sign::Set } else { Sign::Clear };
                    hits.hit(SubWord, (PlainOp(op), size, Byte(byte), sign));
                }
                Width::Word => b = u128::from(b as u32),
                Width::Pair | Width::Quad => self.wide(hits, first, lane, held),
            }
            if let Some(op) = binary.filter(|_| !merged) {
                let class = |value: u128| match width {
                    Width::Word => Class::word(value as u32),
                    _ => Class::sized(value, self.size),
                };
                hits.hit(Values, (op, size, class(b), class(held)));
            }
            if let Some(arithmetic) = arithmetic.filter(|_| !merged) {
                hits.hit(Arithmetic, (arithmetic, size, outcome(op, held, new, b)));
            }
        }
        for (_, live) in [(live, Live::Object), (word, Live::Word)].into_iter().filter(|(met, _)| *met) {
            hits.hit(LiveObject, (AnyOp(op), live));
        }
    }

    fn wide(&self, hits: &mut Hits, first: usize, lane: usize, held: u128) {
        let (words, size) = (self.width.banks(), AnySize(self.size));
        let Lane { b, c, .. } = self.request.request.lane(lane);
        hits.hit(WideAccess, (self.width, Bank(first as u8)));
        let differ: u32 = (0..words).map(|k| u32::from(word(held ^ b, k) != 0) << k).sum();
        let compares = CompareOp::new(self.op);
        if let Some(op) = compares {
            let difference = match differ {
                0 => Difference::Equal,
                1 => Difference::First,
                last if last == 1 << (words - 1) => Difference::Last,
                one if one.is_power_of_two() => Difference::Middle,
                _ => Difference::Several,
            };
            hits.hit(CompareWords, (op, size, difference));
        }
        let returned = !self.request.request.red && (compares.is_none() || self.op == Op::Cas);
        let distinct = |value| (1..words).all(|k| (0..k).all(|j| word(value, j) != word(value, k)));
        for (moved, value, used) in [
            (Moved::B, b, self.op != Op::Load),
            (Moved::C, c, compares.is_some() && differ == 0),
            (Moved::Word, held, self.op != Op::Store && returned),
        ] {
            if used && distinct(value) {
                hits.hit(DistinctWords, (PlainOp(self.op), size, moved, self.request.port));
                if let (Moved::C, Port::Warp, Some(op)) = (moved, self.request.port, compares) {
                    hits.hit(StoredWords, (op, size, LaneNumber(lane as u8)));
                }
            }
        }
    }

    fn spin(&self, hits: &mut Hits, shadow: &Shadow) {
        let words = self.width.banks();
        for first in accesses(self.pass.banks, words) {
            let winner = self.lane(first);
            let losers = self.request.groups[first / words] & !(1 << winner);
            let (mut same, mut other, mut missed) = (false, false, false);
            for lane in lanes(losers) {
                let row = self.request.row[lane];
                same |= row == self.request.row[winner];
                other |= row != self.request.row[winner];
                let b = self.request.request.lane(lane).b;
                missed |= (0..words).all(|k| shadow.read(row, first + k).value == word(b, k));
            }
            let losers = match (same, other) {
                (false, false) => Losers::None,
                (true, false) => Losers::Same,
                (false, true) => Losers::Other,
                (true, true) => Losers::Both,
            };
            let selected = match (self.banks.written >> first & 1 != 0, missed) {
                (true, _) => Selected::Stored,
                (false, true) => Selected::Missed,
                (false, false) => Selected::Failed,
            };
            hits.hit(Spin, (AnySize(self.size), losers, selected));
        }
    }
}

#[inline(always)]
fn word(value: u128, k: usize) -> u32 {
    (value >> (32 * k)) as u32
}

/// Lane that wins each bank in a pass.
pub(super) type Winners = [u8; MAX_BANKS];

#[inline(always)]
pub(super) fn winner(winners: &Winners, bank: usize) -> usize {
    usize::from(winners[bank & (MAX_BANKS - 1)]) & (MAX_LANES - 1)
}

/// Returns the outcome of an operation that changed `old` to `new`. All values must be truncated to the
/// access width.
#[inline(always)]
fn outcome(op: Op, old: u128, new: u128, b: u128) -> Outcome {
    match op {
        Op::Add => {
            let carry = (old as u32).checked_add(b as u32).is_none();
            let overflow = (old as i32).checked_add(b as i32).is_none();
            // Use a table instead of branches, which would be mispredicted.
            let sums = [Outcome::Changed, Outcome::Carry, Outcome::Overflow, Outcome::Both];
            let sum = sums[usize::from(carry) | usize::from(overflow) << 1];
            if b == 0 { Outcome::Unchanged } else { sum }
        }
        Op::PopcInc if new < old => Outcome::Carry,
        Op::PopcInc if (new as i32) < old as i32 => Outcome::Overflow,
        Op::PopcInc => Outcome::Changed,
        Op::Dec if old == 0 => Outcome::FromZero,
        Op::Inc | Op::Dec if old == b => Outcome::AtBound,
        Op::Inc | Op::Dec if old > b => Outcome::BeyondBound,
        Op::Inc | Op::Dec => Outcome::Changed,
        _ if new == old => Outcome::Unchanged,
        _ => Outcome::Changed,
    }
}
