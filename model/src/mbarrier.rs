//! mbarrier objects: their fields, and the effect of each operation (spec 6). Mirror of `rtl/atoms_mbar.sv`.
//!
//! The hardware works on the negated counts in memory, and performs simultaneous arrivals in one step. The
//! model decodes the counts to plain numbers and performs arrivals one by one.

use std::fmt;

use atoms_ops::{MbarOp, Op, OpKind};

/// Largest count of arrivals, and largest absolute tx-count (spec 6.1).
pub const MAX_COUNT: u32 = (1 << 20) - 1;

const COUNT_MASK: u32 = (1 << 20) - 1;
const TX_MASK: u32 = (1 << 21) - 1;

/// Decoded fields of a 64-bit mbarrier object, sm_90 and later (spec 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MbarObject {
    /// Parity of the phase.
    pub phase: bool,
    /// Arrivals expected in every phase, modulo 2^20.
    pub expected: u32,
    /// Arrivals that the current phase still waits for, modulo 2^20.
    pub pending: u32,
    /// Transactions that the current phase still waits for, as two's complement of 21 bits.
    pub tx: i32,
    /// Lock in bit 42; 0 at rest.
    pub lock: bool,
    /// Layout version in bit 0; this unit supports version 0 only.
    pub version: bool,
}

impl MbarObject {
    /// Object after `mbarrier.init`; `count` is taken modulo 2^20.
    pub fn init(count: u32) -> Self {
        let count = count & COUNT_MASK;
        MbarObject { expected: count, pending: count, ..MbarObject::default() }
    }

    /// Decodes the 64-bit word of an object.
    pub fn decode(word: u64) -> Self {
        let negated = |shift: u32, mask: u32| ((word >> shift) as u32).wrapping_neg() & mask;
        let tx = negated(21, TX_MASK);
        MbarObject {
            phase: word >> 63 != 0,
            expected: negated(1, COUNT_MASK),
            pending: negated(43, COUNT_MASK),
            // Extends the sign of 21 bits.
            tx: ((tx << 11) as i32) >> 11,
            lock: word >> 42 & 1 != 0,
            version: word & 1 != 0,
        }
    }

    /// Encodes the object as a 64-bit word.
    pub fn encode(self) -> u64 {
        let negated = |count: u32, mask: u32| u64::from(count.wrapping_neg() & mask);
        u64::from(self.version)
            | negated(self.expected, COUNT_MASK) << 1
            | negated(self.tx as u32, TX_MASK) << 21
            | u64::from(self.lock) << 42
            | negated(self.pending, COUNT_MASK) << 43
            | u64::from(self.phase) << 63
    }

    /// Applies a change. Returns true, after completing the phase, if no arrival and no transaction is left
    /// (spec 6.4).
    fn apply(&mut self, change: Change) -> bool {
        // Extends the sign of 21 bits.
        self.tx = (self.tx.wrapping_add(change.tx as i32) << 11) >> 11;
        self.expected = self.expected.wrapping_sub(change.drop) & COUNT_MASK;
        self.pending = self.pending.wrapping_sub(change.arrive) & COUNT_MASK;
        let completed = self.pending == 0 && self.tx == 0;
        if completed {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
        completed
    }
}

impl fmt::Display for MbarObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MbarObject { phase, expected, pending, tx, .. } = self;
        write!(
            f,
            "phase parity {}, {pending} of {expected} arrivals pending, tx-count {tx}",
            u8::from(*phase)
        )?;
        if self.lock {
            write!(f, ", locked")?;
        }
        if self.version {
            write!(f, ", unknown layout 1")?;
        }
        Ok(())
    }
}

/// Transactions, arrivals and dropped expected arrivals of one lane, not yet reduced to field widths; as in
/// `change_t`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) tx: i64,
    pub(crate) arrive: u32,
    pub(crate) drop: u32,
}

impl Change {
    /// Change by a lane with operand B. Operations without an operand arrive `b` times. `None` for operations
    /// that count nothing.
    pub(crate) fn of(op: Op, b: u32) -> Option<Change> {
        let OpKind::Mbar(op) = op.kind() else { return None };
        let none = Change { tx: 0, arrive: 0, drop: 0 };
        let tx = i64::from(b);
        Some(match op {
            MbarOp::ExpectTx => Change { tx, ..none },
            MbarOp::CompleteTx => Change { tx: -tx, ..none },
            MbarOp::Arrive | MbarOp::ArriveCount | MbarOp::ArriveNoComplete => Change { arrive: b, ..none },
            MbarOp::ArriveExpectTx => Change { tx, arrive: 1, ..none },
            MbarOp::ArriveDrop | MbarOp::ArriveDropCount | MbarOp::ArriveDropNoComplete => {
                Change { arrive: b, drop: b, ..none }
            }
            MbarOp::ArriveDropExpectTx => Change { tx, arrive: 1, drop: 1 },
            MbarOp::Init | MbarOp::Inval | MbarOp::TestWait | MbarOp::TryWait | MbarOp::ArriveSm80 => {
                return None;
            }
        })
    }
}

/// Effect of one operation on an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectStep {
    /// Word after the operation; `None` if the operation does not write.
    pub new: Option<u64>,
    /// True if the operation completed the phase.
    pub completed: bool,
}

/// Applies `op` to `word`. `b` is operand B; for operations without an operand, the number of lanes that
/// arrive together.
///
/// Cannot fail: counts wrap at the width of their fields, even where PTX leaves the result undefined (spec
/// 6.9). Operations on plain memory change nothing.
pub fn step(op: Op, word: u64, b: u64) -> ObjectStep {
    if op == Op::MbarInit {
        return ObjectStep { new: Some(b), completed: false };
    }
    if op == Op::MbarArriveSm80 {
        return step_sm80(word);
    }
    let Some(change) = Change::of(op, b as u32) else { return ObjectStep { new: None, completed: false } };
    let mut object = MbarObject::decode(word);
    let completed = if op == Op::MbarArrive {
        let once = Change { arrive: 1, ..change };
        (0..change.arrive).fold(false, |completed, _| object.apply(once) | completed)
    } else {
        object.apply(change)
    };
    ObjectStep { new: Some(object.encode()), completed }
}

/// Arrives once at an object of two words. Offset 0 holds 2^30 - expected; offset 4 holds 2^31 - pending in
/// bits 30:0 and the phase in bit 31 (spec 6.2.1).
fn step_sm80(word: u64) -> ObjectStep {
    const HALF: u32 = 1 << 31;
    let (low, high) = (word as u32, (word >> 32) as u32);
    let phase = high >> 31;
    let pending = (high.wrapping_neg() & (HALF - 1)).wrapping_sub(1) & (HALF - 1);
    let completed = pending == 0;
    let (phase, pending) =
        if completed { (phase ^ 1, (1u32 << 30).wrapping_sub(low) & (HALF - 1)) } else { (phase, pending) };
    let high = phase << 31 | pending.wrapping_neg() & (HALF - 1);
    ObjectStep { new: Some(u64::from(high) << 32 | u64::from(low)), completed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts, and the words that `mbarrier.init` makes of them in assembler output and on devices (spec
    /// 6.2).
    const INIT: [(u32, u64); 7] = [
        (1, 0x7fff_f800_001f_fffe),
        (3, 0x7fff_e800_001f_fffa),
        (32, 0x7fff_0000_001f_ffc0),
        (65_535, 0x7800_0800_001e_0002),
        (524_287, 0x4000_0800_0010_0002),
        (524_288, 0x4000_0000_0010_0000),
        (1_048_575, 0x0000_0800_0000_0002),
    ];

    #[test]
    fn objects_are_encoded_as_devices_hold_them() {
        for (count, word) in INIT {
            assert_eq!(MbarObject::init(count).encode(), word, "init({count})");
        }
        let object = MbarObject { tx: 64, ..MbarObject::init(3) };
        assert_eq!(object.encode(), 0x7fff_ebff_f81f_fffa);
        let object = MbarObject { phase: true, ..MbarObject::init(2) };
        assert_eq!(object.encode(), 0xffff_f000_001f_fffc);
    }

    #[test]
    fn every_word_survives_decoding() {
        let mut word = 0x0123_4567_89ab_cdef_u64;
        for _ in 0..10_000 {
            assert_eq!(MbarObject::decode(word).encode(), word);
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
    }

    #[test]
    fn two_words_count_as_sm_80_does() {
        // The object after init(2), after one arrival and after two arrivals.
        let init = 0x7fff_fffe_3fff_fffe;
        let one = step(Op::MbarArriveSm80, init, 1);
        assert_eq!(one, ObjectStep { new: Some(0x7fff_ffff_3fff_fffe), completed: false });
        let two = step(Op::MbarArriveSm80, 0x7fff_ffff_3fff_fffe, 1);
        assert_eq!(two, ObjectStep { new: Some(0xffff_fffe_3fff_fffe), completed: true });
    }
}
