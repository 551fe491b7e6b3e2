//! The mbarrier object: its fields, and the effect of one lane on them (spec 6).

pub(crate) mod arrivals;

use std::borrow::Cow;
use std::fmt;

use atoms_ops::{MbarOp, Op, OpKind};

const COUNT: u32 = (1 << 20) - 1;
const TX: u32 = (1 << 21) - 1;
/// Bits that no operation changes: the layout version and the lock (spec 6.2).
const KEPT: u64 = 1 | 1 << 42;
/// Mask of a pending count of sm_80, whose word also holds the phase.
const SM80: u32 = 0x7fff_ffff;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectLayout {
    /// One 64-bit word, sm_90 and later (spec 6.2).
    Sm90,
    /// sm_80 to sm_89, two 32-bit words (spec 6.2.1).
    Sm80,
}

impl ObjectLayout {
    pub(crate) fn of(op: Op) -> Self {
        if op == Op::MbarArriveSm80 { ObjectLayout::Sm80 } else { ObjectLayout::Sm90 }
    }
}

/// A word that is decoded as an mbarrier object. `Display` prints its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectWord {
    pub(crate) word: u64,
    pub(crate) layout: ObjectLayout,
}

impl ObjectWord {
    /// Decodes the fields. An object of sm_80 has no tx-count.
    pub(crate) fn fields(self) -> Fields {
        let (low, high) = (self.word as u32, (self.word >> 32) as u32);
        match self.layout {
            ObjectLayout::Sm90 => Fields::of(self.word),
            ObjectLayout::Sm80 => Fields {
                kept: 0,
                expected: 0x4000_0000_u32.wrapping_sub(low),
                tx: 0,
                pending: high.wrapping_neg() & SM80,
                phase: high >> 31,
            },
        }
    }
}

impl fmt::Display for ObjectWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields();
        let Fields { kept, expected, pending, phase, .. } = fields;
        write!(f, "phase {phase}, expected {expected}, pending {pending}")?;
        if self.layout == ObjectLayout::Sm90 {
            write!(f, ", tx {}", fields.signed_tx())?;
        }
        if kept & 1 << 42 != 0 {
            f.write_str(", lock 1")?;
        }
        if kept & 1 != 0 {
            f.write_str(", layout 1")?;
        }
        write!(f, " ({:#x})", self.word)
    }
}

/// Determines the clause that a wrong object breaks, and the reason. `got` was left. Without a completion,
/// the result would be `sum`. `expected` is the correct result if the order does not matter.
pub(crate) fn wrong_with(
    before: ObjectWord,
    got: ObjectWord,
    sum: Fields,
    expected: Option<ObjectWord>,
) -> (&'static str, Cow<'static, str>) {
    let layout = got.layout;
    let (before, got, expected) = (before.fields(), got.fields(), expected.map(ObjectWord::fields));
    let completes = expected.is_some_and(|e| e.phase != before.phase || e.pending != sum.pending);
    let stays = got.nothing_left() && sum.expected != 0 && got.phase == before.phase;
    let in_phase = expected.map(|expected| got.phase == expected.phase);
    let (clause, wrong) = if got.kept != before.kept {
        ("spec 6.2", "the lock or the layout version changed, which no operation touches".into())
    } else if got.expected != sum.expected {
        ("spec 6.3", "the expected count is wrong".into())
    } else if got.tx != sum.tx {
        ("spec 6.3", "the tx-count is wrong".into())
    } else if stays {
        ("spec 6.4", "no arrival and no transaction is pending, but the phase did not advance".into())
    } else {
        match (in_phase, completes) {
            (None, _) => ("spec 4.5", "no order of the lanes leaves this object".into()),
            (Some(false), false) => {
                let (pending, tx) = (sum.pending, sum.signed_tx());
                let counts = format!("with a pending count of {pending} and a tx-count of {tx}");
                ("spec 6.4", format!("the phase advanced early, {counts}").into())
            }
            (Some(false), true) => {
                ("spec 6.4", "the parity does not match the number of completed phases".into())
            }
            (Some(true), true) => (
                "spec 6.4",
                "the phase completed, but the pending count did not restart at the expected count".into(),
            ),
            (Some(true), false) => ("spec 6.3", "the pending count is wrong".into()),
        }
    };
    (if layout == ObjectLayout::Sm80 { "spec 6.2.1" } else { clause }, wrong)
}

/// Decoded fields of an object, sm_90 and later: plain numbers, not negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Bits that no operation changes, at their positions in the word.
    pub(crate) kept: u64,
    /// Expected arrivals per phase, modulo 2^20.
    pub(crate) expected: u32,
    /// Pending transactions, modulo 2^21.
    pub(crate) tx: u32,
    /// Pending arrivals, modulo 2^20.
    pub(crate) pending: u32,
    /// Parity of the phase: 0 or 1.
    pub(crate) phase: u32,
}

impl Fields {
    pub(crate) fn of(word: u64) -> Self {
        Fields {
            kept: word & KEPT,
            expected: ((word >> 1) as u32).wrapping_neg() & COUNT,
            tx: ((word >> 21) as u32).wrapping_neg() & TX,
            pending: ((word >> 43) as u32).wrapping_neg() & COUNT,
            phase: (word >> 63) as u32,
        }
    }

    pub(crate) fn word(self) -> u64 {
        let field = |value: u32, mask: u32| u64::from(value.wrapping_neg() & mask);
        self.kept
            | field(self.expected, COUNT) << 1
            | field(self.tx, TX) << 21
            | field(self.pending, COUNT) << 43
            | u64::from(self.phase) << 63
    }

    pub(crate) fn signed_tx(self) -> i32 {
        if self.tx > TX / 2 { self.tx as i32 - (1 << 21) } else { self.tx as i32 }
    }

    /// True if no arrival and no transaction is pending, so that the phase completes (spec 6.4).
    pub(crate) fn nothing_left(self) -> bool {
        self.pending == 0 && self.tx == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LaneStep {
    pub(crate) arrivals: u32,
    pub(crate) dropped: u32,
    /// Number added to or subtracted from the tx-count.
    pub(crate) tx: u32,
    /// True if `tx` is added.
    pub(crate) raises: bool,
}

impl LaneStep {
    /// Step of a lane with this Rb; `None` for operations without a step.
    pub(crate) fn of(op: Op, b: u32) -> Option<LaneStep> {
        let OpKind::Mbar(op) = op.kind() else { return None };
        let none = LaneStep { arrivals: 0, dropped: 0, tx: 0, raises: false };
        let (count, bytes) = (b & COUNT, b & TX);
        let step = match op {
            MbarOp::ExpectTx => LaneStep { tx: bytes, raises: true, ..none },
            MbarOp::CompleteTx => LaneStep { tx: bytes, ..none },
            MbarOp::Arrive => LaneStep { arrivals: 1, ..none },
            MbarOp::ArriveCount | MbarOp::ArriveNoComplete => LaneStep { arrivals: count, ..none },
            MbarOp::ArriveExpectTx => LaneStep { arrivals: 1, tx: bytes, raises: true, ..none },
            MbarOp::ArriveDrop => LaneStep { arrivals: 1, dropped: 1, ..none },
            MbarOp::ArriveDropCount | MbarOp::ArriveDropNoComplete => {
                LaneStep { arrivals: count, dropped: count, ..none }
            }
            MbarOp::ArriveDropExpectTx => LaneStep { arrivals: 1, dropped: 1, tx: bytes, raises: true },
            MbarOp::Init | MbarOp::Inval | MbarOp::TestWait | MbarOp::TryWait | MbarOp::ArriveSm80 => {
                return None;
            }
        };
        Some(step)
    }

    /// Subtracts the counts, without completing a phase.
    pub(crate) fn count(self, object: &mut Fields) {
        let tx = if self.raises { self.tx } else { self.tx.wrapping_neg() };
        object.tx = object.tx.wrapping_add(tx) & TX;
        object.expected = object.expected.wrapping_sub(self.dropped) & COUNT;
        object.pending = object.pending.wrapping_sub(self.arrivals) & COUNT;
    }

    /// Performs the step. Returns true if a phase completed (spec 6.4).
    pub(crate) fn perform(self, object: &mut Fields) -> bool {
        self.count(object);
        let completed = object.nothing_left();
        if completed {
            object.phase ^= 1;
            object.pending = object.expected;
        }
        completed
    }
}

/// True if a count can become 0 in steps that add up to `sum`. The count starts at `from` and goes down, or
/// up if `raises`, modulo `mask` + 1. May return true wrongly, but never false wrongly.
fn reaches_zero(from: u32, raises: bool, mask: u32, sum: u64, a_step_of_none: bool) -> bool {
    let distance = if raises { from.wrapping_neg() & mask } else { from };
    match distance {
        0 => a_step_of_none || sum > u64::from(mask),
        distance => sum >= u64::from(distance),
    }
}

/// True if a phase can complete in one of these steps, in some order. May return true wrongly, but never
/// false wrongly.
pub(crate) fn may_complete(object: &Fields, steps: impl Iterator<Item = LaneStep>) -> bool {
    let (mut arrivals, mut tx) = (0, 0);
    let (mut no_arrival, mut no_tx, mut raises) = (false, false, false);
    for step in steps {
        arrivals += u64::from(step.arrivals);
        tx += u64::from(step.tx);
        no_arrival |= step.arrivals == 0;
        no_tx |= step.tx == 0;
        raises |= step.raises;
    }
    reaches_zero(object.pending, false, COUNT, arrivals, no_arrival)
        && reaches_zero(object.tx, raises, TX, tx, no_tx)
}

/// Object after the operation of a lane with this Rb (spec 6.3).
pub(crate) fn leaves(op: Op, word: u64, b: u32) -> u64 {
    if op == Op::MbarArriveSm80 {
        return arrive_sm80(word);
    }
    let mut object = Fields::of(word);
    if let Some(step) = LaneStep::of(op, b) {
        step.perform(&mut object);
    }
    object.word()
}

/// Performs one arrival at an object of sm_80. The count goes up to 2^31 (spec 6.2.1).
fn arrive_sm80(word: u64) -> u64 {
    let (low, high) = (word as u32, (word >> 32) as u32);
    let (mut phase, mut count) = (high & !SM80, (high & SM80) + 1);
    if count > SM80 {
        phase ^= !SM80;
        count = low.wrapping_add(0x4000_0000) & SM80;
    }
    u64::from(phase | count) << 32 | u64::from(low)
}

/// Parity that a wait tests: bit 31 of its Rb (spec 6.8).
pub(crate) fn parity_asked(b: u128) -> u8 {
    (b >> 31 & 1) as u8
}

/// True if the phase of this parity is complete (spec 6.5).
pub(crate) fn is_complete(word: u64, parity: u8) -> bool {
    word >> 63 != u64::from(parity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn init(count: u64) -> u64 {
        ((1 << 20) - count) << 1 | ((1 << 20) - count) << 43
    }

    fn init_sm80(count: u64) -> u64 {
        (0x8000_0000 - count) << 32 | (0x4000_0000 - count)
    }

    type WordCase = (&'static str, u64, &'static [(Op, u32)], u64);

    /// Words after init and operations. Source: spec 6.2, words of init and of objects read from devices.
    #[rustfmt::skip]
    const WORDS: &[WordCase] = &[
        // rule                        init        operations                              word
        ("init(1)",                    1,          &[],                                    0x7fff_f800_001f_fffe),
        ("init(2)",                    2,          &[],                                    0x7fff_f000_001f_fffc),
        ("init(3)",                    3,          &[],                                    0x7fff_e800_001f_fffa),
        ("init(12)",                   12,         &[],                                    0x7fff_a000_001f_ffe8),
        ("init(32)",                   32,         &[],                                    0x7fff_0000_001f_ffc0),
        ("init(128)",                  128,        &[],                                    0x7ffc_0000_001f_ff00),
        ("init(1024)",                 1024,       &[],                                    0x7fe0_0000_001f_f800),
        ("init(65535)",                65535,      &[],                                    0x7800_0800_001e_0002),
        ("init(524287)",               524_287,    &[],                                    0x4000_0800_0010_0002),
        ("init(524288)",               524_288,    &[],                                    0x4000_0000_0010_0000),
        ("init(1048575)",              1_048_575,  &[],                                    0x0000_0800_0000_0002),
        ("an arrival",                 3,          &[(Op::MbarArrive, 0)],                 0x7fff_f000_001f_fffa),
        ("a drop",                     3,          &[(Op::MbarArriveDrop, 0)],             0x7fff_f000_001f_fffc),
        ("expect_tx 64",               3,          &[(Op::MbarExpectTx, 64)],              0x7fff_ebff_f81f_fffa),
        ("expect_tx 0x12345",          3,          &[(Op::MbarExpectTx, 0x12345)],         0x7fff_ebdb_977f_fffa),
        ("expect_tx 1 (.A0T1)",        3,          &[(Op::MbarExpectTx, 1)],               0x7fff_ebff_ffff_fffa),
        ("both arrive",                2,          &[(Op::MbarArrive, 0); 2],              0xffff_f000_001f_fffc),
        ("two at once",                2,          &[(Op::MbarArriveCount, 2)],            0xffff_f000_001f_fffc),
        ("tx comes and goes",          3,          &[(Op::MbarExpectTx, 64), (Op::MbarCompleteTx, 64)], 0x7fff_e800_001f_fffa),
        ("it goes before it comes",    3,          &[(Op::MbarCompleteTx, 64), (Op::MbarExpectTx, 64)], 0x7fff_e800_001f_fffa),
        ("the last of them drops",     1,          &[(Op::MbarArriveDrop, 0)],             0x8000_0000_0000_0000),
        ("arrive.expect_tx stays",     1,          &[(Op::MbarArriveExpectTx, 1)],         0x0000_03ff_ffff_fffe),
        ("and completes with the tx",  1,          &[(Op::MbarArriveExpectTx, 1), (Op::MbarCompleteTx, 1)], 0xffff_f800_001f_fffe),
        ("expect_tx completes",        1,          &[(Op::MbarCompleteTx, 5), (Op::MbarArrive, 0), (Op::MbarExpectTx, 5)], 0xffff_f800_001f_fffe),
    ];

    #[test]
    fn words_are_those_of_every_row() {
        for (rule, count, operations, word) in WORDS {
            let left = operations.iter().fold(init(*count), |word, &(op, b)| leaves(op, word, b));
            assert_eq!(left, *word, "{rule}: {left:#x}");
        }
    }

    /// Words of sm_80 after init and arrivals. Source: spec 6.2.1.
    #[rustfmt::skip]
    const SM80_WORDS: &[(&str, u64, u32, u64)] = &[
        // rule                       init       arrivals word
        ("init(1)",                   1,         0,       0x7fff_ffff_3fff_ffff),
        ("init(2)",                   2,         0,       0x7fff_fffe_3fff_fffe),
        ("init(3)",                   3,         0,       0x7fff_fffd_3fff_fffd),
        ("init(12)",                  12,        0,       0x7fff_fff4_3fff_fff4),
        ("init(32)",                  32,        0,       0x7fff_ffe0_3fff_ffe0),
        ("init(128)",                 128,       0,       0x7fff_ff80_3fff_ff80),
        ("init(1024)",                1024,      0,       0x7fff_fc00_3fff_fc00),
        ("init(1048575)",             1_048_575, 0,       0x7ff0_0001_3ff0_0001),
        ("one of two",                2,         1,       0x7fff_ffff_3fff_fffe),
        ("both",                      2,         2,       0xffff_fffe_3fff_fffe),
        ("both, twice",               2,         4,       0x7fff_fffe_3fff_fffe),
    ];

    #[test]
    fn words_of_sm_80_are_those_of_every_row() {
        for (rule, count, arrivals, word) in SM80_WORDS {
            let left = (0..*arrivals).fold(init_sm80(*count), |word, _| leaves(Op::MbarArriveSm80, word, 0));
            assert_eq!(left, *word, "{rule}: {left:#x}");
        }
    }

    #[test]
    fn a_tx_count_has_a_sign() {
        let signed = |tx| Fields { tx, ..Fields::of(init(1)) }.signed_tx();
        assert_eq!([0, 1, (1 << 20) - 1, 1 << 20, TX].map(signed), [0, 1, 1_048_575, -1_048_576, -1]);
    }

    #[test]
    fn fields_wrap_in_their_width_and_leave_their_neighbours_alone() {
        for kept in [0, 1, 1 << 42, KEPT] {
            for word in [0, u64::MAX, init(1), init(3) | 1 << 63, 0x1234_5678_9abc_def0] {
                let word = word & !KEPT | kept;
                assert_eq!(Fields::of(word).word(), word);
                for b in [0, 1, COUNT, TX, u32::MAX] {
                    for op in [Op::MbarExpectTx, Op::MbarCompleteTx, Op::MbarArriveDropCount] {
                        assert_eq!(leaves(op, word, b) & KEPT, kept, "{op} {word:#x} {b:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_object_prints_its_fields() {
        let print = |word, layout| ObjectWord { word, layout }.to_string();
        assert_eq!(
            print(0x7fff_ebff_f81f_fffa, ObjectLayout::Sm90),
            "phase 0, expected 3, pending 3, tx 64 (0x7fffebfff81ffffa)"
        );
        let owing = leaves(Op::MbarCompleteTx, init(2) | 1 << 42, 5);
        assert_eq!(
            print(owing, ObjectLayout::Sm90),
            "phase 0, expected 2, pending 2, tx -5, lock 1 (0x7ffff40000bffffc)"
        );
        assert_eq!(
            print(0xffff_fffe_3fff_ffff, ObjectLayout::Sm80),
            "phase 1, expected 1, pending 2 (0xfffffffe3fffffff)"
        );
    }

    #[test]
    fn what_may_complete_is_never_missed() {
        // All pairs of steps and objects with a few values, in both orders.
        let values = [0, 1, 2, COUNT - 1, COUNT, TX];
        let ops = [Op::MbarCompleteTx, Op::MbarArriveCount, Op::MbarArriveExpectTx, Op::MbarArriveDropCount];
        for (op, pending, tx) in
            ops.iter().flat_map(|op| (0..4).flat_map(move |p| values.map(move |t| (op, p, t))))
        {
            let object = Fields { kept: 0, expected: 1, tx, pending, phase: 0 };
            for (x, y) in values.iter().flat_map(|x| values.map(move |y| (*x, y))) {
                let steps = [x, y].map(|b| LaneStep::of(*op, b).unwrap());
                let completes = |order: [LaneStep; 2]| {
                    let mut object = object;
                    order.iter().any(|step| step.perform(&mut object))
                };
                if completes(steps) || completes([steps[1], steps[0]]) {
                    assert!(may_complete(&object, steps.into_iter()), "{op} {object:?} {x} {y}");
                }
            }
        }
    }
}
