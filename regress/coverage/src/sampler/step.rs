//! A pass in the last stage of the pipeline: what it does to plain memory.

use atoms_cosim::monitor::PassIssued;
use atoms_model::Config;
use atoms_model::port::{MAX_BANKS, MAX_LANES};
use atoms_ops::{Coalescing, Op, Size};

use super::hits::Hits;
use super::in_flight::{InFlightRequest, bits, more_banks};
use super::sample::CycleSample;
use super::shadow::{Shadow, Word};
use crate::cross::BinValue;
use crate::groups::kernels::{
    Arithmetic, ArithmeticOp, BinaryOp, Class, CompareOp, CompareWords, Difference, DistinctWords, Losers,
    Moved, Outcome, Selected, Spin, StoredWords, Values,
};
use crate::groups::objects::{Live, LiveObject};
use crate::groups::pipeline::{Distance, Forward, ForwardWidth, Source};
use crate::groups::requests::{Byte, Crossbar, Sign, SubWord, WideAccess};
use crate::groups::values::{AnyOp, AnySize, Bank, Kind, Lane, PlainOp, Port, Width};

/// A pass as it meets memory.
pub(super) struct Step<'a> {
    pub(super) config: &'a Config,
    pub(super) request: &'a InFlightRequest,
    pub(super) pass: &'a PassIssued,
    pub(super) winners: &'a Winners,
    pub(super) m: &'a CycleSample,
    /// Steps of the pipeline until now.
    pub(super) number: u32,
    pub(super) op: Op,
    pub(super) size: Size,
    pub(super) kind: Kind,
    pub(super) width: Width,
}

impl Step<'_> {
    /// The lane that works on a bank.
    #[inline(always)]
    pub(super) fn lane(&self, bank: usize) -> usize {
        winner(self.winners, bank)
    }

    /// Samples that a lane reaches a bank, and gives the word that it meets there.
    #[inline(always)]
    pub(super) fn reach(&self, hits: &mut Hits, shadow: &Shadow, lane: usize, bank: usize) -> Word {
        let word = shadow.read(self.request.row[lane], bank);
        hits.hit(Crossbar, (Lane(lane as u8), Bank(bank as u8)));
        let age = word.age(self.number);
        if age <= self.config.rmw_latency + 1 && age != 0 {
            self.meet_young(hits, word, age);
        }
        word
    }

    #[inline(never)] // seldom
    fn meet_young(&self, hits: &mut Hits, word: Word, age: u32) {
        let (writer, width) = word.writer();
        let source = if age <= self.config.rmw_latency { Source::Forwarded } else { Source::Memory };
        hits.hit(Forward, (writer, self.kind, Distance(age as u8)));
        hits.hit(ForwardWidth, (width, self.width, source));
    }

    fn live(&self, hits: &mut Hits, live: bool, word: bool) {
        if live {
            hits.hit(LiveObject, (AnyOp(self.op), Live::Object));
        }
        if word {
            hits.hit(LiveObject, (AnyOp(self.op), Live::Word));
        }
    }

    /// Some lanes of the pass are served together with others, so that an operand is not one lane's.
    fn joined(&self) -> bool {
        let accesses = self.pass.banks.count_ones() as usize / (more_banks(self.size) + 1);
        self.pass.lanes.count_ones() as usize != accesses
    }

    /// Samples a pass on plain memory.
    pub(super) fn plain(&self, hits: &mut Hits, shadow: &Shadow) {
        match self.width {
            Width::Sub => self.sub_words(hits, shadow),
            Width::Word => self.words(hits, shadow),
            Width::Pair | Width::Quad => self.wide(hits, shadow),
        }
        if self.op == Op::CastSpin {
            self.spin(hits, shadow);
        }
    }

    fn words(&self, hits: &mut Hits, shadow: &Shadow) {
        let merged = self.op.row().coalescing == Coalescing::MergeRed && self.joined();
        // What all lanes share is looked up once.
        let values = BinaryOp::new(self.op)
            .filter(|_| !merged)
            .map(|op| Hits::base(Values, (op, AnySize(self.size), Class::Zero, Class::Zero)));
        let arithmetic = ArithmeticOp::new(self.op)
            .filter(|_| !merged)
            .map(|op| Hits::base(Arithmetic, (op, AnySize(self.size), Outcome::Unchanged)));
        let (mut live, mut word) = (false, false);
        bits(self.pass.banks, |bank| {
            let lane = self.lane(bank);
            let old = self.reach(hits, shadow, lane, bank);
            live |= old.live();
            word |= !old.live();
            let b = self.request.b(lane) as u32;
            if let Some(base) = values {
                let (operand, held) = (Class::word(b), Class::word(old.value));
                hits.hit_at(base + operand.index() * Class::COUNT + held.index());
            }
            if let Some(base) = arithmetic {
                let new = self.m.values[bank & 63];
                hits.hit_at(base + outcome(self.op, old.value, new, b).index());
            }
        });
        self.live(hits, live, word);
    }

    fn sub_words(&self, hits: &mut Hits, shadow: &Shadow) {
        let (mut live, mut word) = (false, false);
        bits(self.pass.banks, |bank| {
            let lane = self.lane(bank);
            let old = self.reach(hits, shadow, lane, bank);
            live |= old.live();
            word |= !old.live();
            let byte = self.request.byte[lane] & 3;
            let (held, b) = (u128::from(old.value >> (8 * byte)), self.request.b(lane));
            let moved = if self.op == Op::Store { b } else { held };
            let sign = if moved >> (8 * self.size.bytes() - 1) & 1 != 0 { Sign::Set } else { Sign::Clear };
            hits.hit(SubWord, (PlainOp(self.op), AnySize(self.size), Byte(byte), sign));
            if let Some(op) = BinaryOp::new(self.op) {
                let classes = (Class::sized(b, self.size), Class::sized(held, self.size));
                hits.hit(Values, (op, AnySize(self.size), classes.0, classes.1));
            }
        });
        self.live(hits, live, word);
    }

    fn wide(&self, hits: &mut Hits, shadow: &Shadow) {
        let words = more_banks(self.size) + 1;
        let (mut live, mut word) = (false, false);
        let mut left = self.pass.banks;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            left &= !(((1u64 << words) - 1) << first);
            let lane = self.lane(first);
            let mut held = 0u128;
            let b = self.request.b(lane);
            let mut differ = 0u32;
            for k in 0..words {
                let old = self.reach(hits, shadow, lane, first + k);
                live |= old.live();
                word |= !old.live();
                held |= u128::from(old.value) << (32 * k);
                differ |= u32::from(old.value != (b >> (32 * k)) as u32) << k;
            }
            hits.hit(WideAccess, (Width::new(self.size), Bank(first as u8)));
            if let Some(op) = BinaryOp::new(self.op) {
                let classes = (Class::sized(b, self.size), Class::sized(held, self.size));
                hits.hit(Values, (op, AnySize(self.size), classes.0, classes.1));
            }
            if let Some(op) = ArithmeticOp::new(self.op) {
                let outcome = if differ == 0 { Outcome::Unchanged } else { Outcome::Changed };
                hits.hit(Arithmetic, (op, AnySize(self.size), outcome));
            }
            if let Some(op) = CompareOp::new(self.op) {
                let difference = match differ {
                    0 => Difference::Equal,
                    1 => Difference::First,
                    last if last == 1 << (words - 1) => Difference::Last,
                    one if one.is_power_of_two() => Difference::Middle,
                    _ => Difference::Several,
                };
                hits.hit(CompareWords, (op, AnySize(self.size), difference));
            }
            self.moved(hits, lane, held, differ == 0);
        }
        self.live(hits, live, word);
    }

    /// Samples the values of an access of which all words differ; `equal` says that a comparison holds.
    fn moved(&self, hits: &mut Hits, lane: usize, held: u128, equal: bool) {
        let (request, size) = (self.request, AnySize(self.size));
        let compares = CompareOp::new(self.op);
        let returned = !request.request.red && (compares.is_none() || self.op == Op::Cas);
        let (b, c) = (request.b(lane), request.c(lane));
        for (value, word, used) in [
            (Moved::B, b, self.op != Op::Load),
            (Moved::C, c, compares.is_some() && equal),
            (Moved::Word, held, self.op != Op::Store && returned),
        ] {
            if used && words_differ(word, self.size) {
                hits.hit(DistinctWords, (PlainOp(self.op), size, value, request.port));
                if let (Moved::C, Port::Warp, Some(op)) = (value, request.port, compares) {
                    hits.hit(StoredWords, (op, size, Lane(lane as u8)));
                }
            }
        }
    }

    /// Samples which lanes lose on each group of banks.
    fn spin(&self, hits: &mut Hits, shadow: &Shadow) {
        let words = more_banks(self.size) + 1;
        let mut left = self.pass.banks;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            left &= !(((1u64 << words) - 1) << first);
            let winner = self.lane(first);
            let group = self.request.groups[(first / words) & 63];
            let (mut same, mut other, mut missed) = (false, false, false);
            bits(u64::from(group & !(1 << winner)), |lane| {
                let meets = self.request.row[lane & 31] == self.request.row[winner];
                same |= meets;
                other |= !meets;
                missed |= (0..words).all(|k| {
                    let held = shadow.read(self.request.row[lane & 31], first + k).value;
                    held == (self.request.b(lane & 31) >> (32 * k)) as u32
                });
            });
            let losers = match (same, other) {
                (false, false) => Losers::None,
                (true, false) => Losers::Same,
                (false, true) => Losers::Other,
                (true, true) => Losers::Both,
            };
            let stored = self.m.written >> first & 1 != 0;
            let selected = match (stored, missed) {
                (true, _) => Selected::Stored,
                (false, true) => Selected::Missed,
                (false, false) => Selected::Failed,
            };
            hits.hit(Spin, (AnySize(self.size), losers, selected));
        }
    }
}

/// The lanes of a pass, by the bank they work on.
pub(super) type Winners = [u8; MAX_BANKS];

/// The lane that works on a bank.
#[inline(always)]
pub(super) fn winner(winners: &Winners, bank: usize) -> usize {
    usize::from(winners[bank & (MAX_BANKS - 1)]) & (MAX_LANES - 1)
}

/// Returns true if all words of a value of this size differ from each other.
fn words_differ(value: u128, size: Size) -> bool {
    let word = |k: u32| (value >> (32 * k)) as u32;
    let words = size.bytes().div_ceil(4);
    (1..words).all(|k| (0..k).all(|j| word(j) != word(k)))
}

/// What an operation made of `old`, on one word.
#[inline(always)]
fn outcome(op: Op, old: u32, new: u32, b: u32) -> Outcome {
    match op {
        Op::Add => {
            let carry = old.checked_add(b).is_none();
            let overflow = (old as i32).checked_add(b as i32).is_none();
            // Neither can be foretold: looked up instead of asked for.
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
