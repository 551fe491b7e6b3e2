//! Diagnoses of mbarrier use that PTX leaves undefined (spec 6.9).
//!
//! A [`Watch`] checks every pass that leaves the pipeline. It tracks state that memory does not hold: which
//! words are live objects, how many phases each has completed, and which states it returned. The watch never
//! changes the unit: fields wrap in the model as they do in the RTL.
//!
//! An object begins with `MBAR.INIT`. Compilers for sm_100 use a plain store instead, and a harness may load
//! memory. A word of init's form ([`init_fault`]) that no operation has used yet therefore becomes an object
//! at its first mbarrier operation.
//!
//! An object ends with `MBAR.INVAL`, with a plain write (which is reported), or silently with its CTA's
//! allocation. After that, only `MBAR.INIT` or a plain write can start a new object there. A word that merely
//! remained in memory is not a new object.
//!
//! Objects of sm_80 (spec 6.2.1) are also changed by plain accesses, so the watch cannot track their life. It
//! checks each `MBAR.ARRIVE.SM80` by the two words that the operation finds.

mod watch;

pub(crate) use watch::{Enters, Seen};
pub use watch::{KEPT, OBJECT_INIT, OBJECT_LOAD, Watch};

use std::fmt;

use atoms_ops::{Op, Size};

use crate::mbarrier::MbarObject;

/// One use of an mbarrier object by one lane that PTX leaves undefined.
///
/// `Display` prints two lines. The first line has the use, the request and the clause. The second line has
/// the word found there, and advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Cycle in which the operation was performed, from 0.
    pub cycle: u64,
    /// Cycle in which the port accepted the request. A port accepts one request per cycle, so this field and
    /// [`Diagnosis::cluster`] identify the request.
    pub taken: u64,
    /// Tag of the request.
    pub tag: u8,
    /// CTA slot of the request.
    pub slot: u8,
    /// True if the request came through the cluster port; `lane` is then 0.
    pub cluster: bool,
    /// Lane that performed the operation.
    pub lane: u8,
    /// Address as the lane formed it. The top byte is the rank of the CTA that owns the allocation.
    pub address: u32,
    /// Operation of the request.
    pub op: Op,
    /// Size of the access.
    pub size: Size,
    /// Operand B of mbarrier operations that read one, else 0. Exception: if a plain store repeats an init
    /// that no operation has used yet, the word stored.
    pub operand: u64,
    /// Word of the object before the operation.
    pub word: u64,
    /// Rule that the use breaks.
    pub kind: DiagnosisKind,
}

/// Rule of PTX that a use of an mbarrier object breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagnosisKind {
    /// An mbarrier operation on a word that is not a live object.
    ///
    /// Holds the end and the end cycle of the object that was there before, if there was one.
    NotLive(Option<(ObjectEnd, u64)>),
    /// An init over a live object, by `MBAR.INIT` or by a plain store of an init word.
    InitOverLive,
    /// A plain access to a live object.
    PlainAccess(Touched),
    /// An `MBAR.INIT` with a word that no valid init writes.
    InitWord(InitFault),
    /// An arrive or drop count outside 1 .. 2^20-1.
    Count,
    /// A transaction count above 2^20-1.
    TxOperand,
    /// The tx-count leaves the range -(2^20-1) .. 2^20-1. Holds the resulting count.
    TxRange(i64),
    /// More arrivals are dropped than are expected. Holds the number dropped.
    DropBeyondExpected(u32),
    /// More arrivals than are pending. Holds the number of arrivals.
    ArriveBeyondPending(u32),
    /// A noComplete arrive completes the phase.
    NoCompleteCompletes,
    /// A lane arrives after another lane of its request completed the phase.
    ArriveAcrossPhases,
    /// A wait with the state of a phase older than the previous phase. Holds the age in phases.
    StalePhase(u64),
    /// A wait with a state that this object never returned.
    ForeignState,
    /// The first arrival of a phase, although no wait has seen the previous phase complete.
    ArriveUnwaited,
    /// An object of two words (sm_80) with counts that no init and arrivals produce.
    CountSm80,
}

/// Event that ended an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectEnd {
    /// An `MBAR.INVAL` on the object.
    Invalidated,
    /// A plain write to the object's word.
    Overwritten,
    /// A write of the slot's entry in the CTA table, or a reset.
    PartTaken,
}

/// Words of an object that a plain access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// The low word and the high word.
    Both,
    /// The low word: expected count, and part of the tx-count.
    Low,
    /// The high word: pending count, phase, and part of the tx-count.
    High,
}

/// Reason why a word is not a valid init word (spec 6.1, 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitFault {
    /// Bit 0 is set: an unknown layout.
    Layout,
    /// The lock bit is set.
    Locked,
    /// The phase bit is 1.
    Phase,
    /// The tx-count is not 0.
    Tx,
    /// Expected count and pending count differ.
    CountsDiffer,
    /// The count is 0, or does not fit its 20-bit field.
    NoCount,
}

/// Reason why `word` is not a valid init word; `None` if the word is valid.
pub fn init_fault(word: u64) -> Option<InitFault> {
    let object = MbarObject::decode(word);
    let (low, high) = (word as u32, (word >> 32) as u32);
    // Software shifts 2^20 - count into both words. Outside 1 to 2^20 - 1, the difference reaches other fields.
    let outside = !object.version && high == low << 10 && !(2..1 << 21).contains(&low);
    [
        (outside, InitFault::NoCount),
        (object.version, InitFault::Layout),
        (object.lock, InitFault::Locked),
        (object.phase, InitFault::Phase),
        (object.tx != 0, InitFault::Tx),
        (object.expected != object.pending, InitFault::CountsDiffer),
    ]
    .into_iter()
    .find_map(|(found, fault)| found.then_some(fault))
}

impl DiagnosisKind {
    /// Name in counts and reports, without the values that the kind holds.
    pub const fn name(self) -> &'static str {
        self.name_and_clause().0
    }

    const fn name_and_clause(self) -> (&'static str, &'static str) {
        use DiagnosisKind as Kind;
        match self {
            Kind::NotLive { .. } => ("no live object", "spec 6.9"),
            Kind::InitOverLive => ("init over a live object", "spec 6.9"),
            Kind::PlainAccess(_) => ("plain access to a live object", "spec 6.9"),
            Kind::InitWord(InitFault::Layout | InitFault::Locked) => ("no init word", "spec 6.2, 6.9"),
            Kind::InitWord(_) => ("no init word", "spec 6.1, 6.3, 6.9"),
            Kind::Count => ("count out of range", "spec 6.1, 6.9"),
            Kind::TxOperand => ("transaction count out of range", "spec 6.1, 6.9"),
            Kind::TxRange { .. } => ("tx-count out of range", "spec 6.1, 6.9"),
            Kind::DropBeyondExpected { .. } => ("drop beyond expected", "spec 6.1, 6.9"),
            Kind::ArriveBeyondPending { .. } => ("arrive beyond pending", "spec 6.9"),
            Kind::NoCompleteCompletes => ("noComplete completes", "spec 6.3, 6.9"),
            Kind::ArriveAcrossPhases => ("arrives across phases", "spec 6.6, 6.9"),
            Kind::StalePhase { .. } => ("stale phase", "spec 6.5, 6.9"),
            Kind::ForeignState => ("foreign state", "spec 6.5, 6.9"),
            Kind::ArriveUnwaited => ("arrive without a wait", "[PTX] 9.7.13.15.4"),
            Kind::CountSm80 => ("counts out of range (sm_80)", "spec 6.1, 6.2.1, 6.9"),
        }
    }
}

impl Diagnosis {
    /// Clause that leaves the use undefined, such as `spec 6.1, 6.9`.
    pub fn clause(&self) -> &'static str {
        self.kind.name_and_clause().1
    }

    /// Description of the use: one sentence without a full stop.
    pub fn what(&self) -> String {
        let op = self.op;
        match self.kind {
            DiagnosisKind::NotLive { .. } => format!("{op} on a word that is not a live mbarrier object"),
            DiagnosisKind::InitOverLive if op == Op::Store => {
                format!("{op}.{} of an init word over a live mbarrier object", self.size)
            }
            DiagnosisKind::InitOverLive => format!("{op} over a live mbarrier object"),
            DiagnosisKind::PlainAccess(touched) => {
                let part = match touched {
                    Touched::Both => "",
                    Touched::Low => "the low word of ",
                    Touched::High => "the high word of ",
                };
                format!("{op}.{} touches {part}a live mbarrier object", self.size)
            }
            DiagnosisKind::InitWord(fault) => {
                let made = MbarObject::decode(self.operand);
                let fault = match fault {
                    InitFault::Layout => "bit 0 set, an unknown layout".to_string(),
                    InitFault::Locked => "the lock set".to_string(),
                    InitFault::Phase => "phase parity 1".to_string(),
                    InitFault::Tx => format!("tx-count {}", made.tx),
                    InitFault::CountsDiffer => {
                        format!("{} arrivals expected, but {} pending", made.expected, made.pending)
                    }
                    InitFault::NoCount => "a count of 0, or beyond 1048575".to_string(),
                };
                format!("{op} writes {:#018x}: {fault}", self.operand)
            }
            DiagnosisKind::Count => format!("{op} with a count of {}", self.operand as u32),
            DiagnosisKind::TxOperand => format!("{op} of {} transactions", self.operand as u32),
            DiagnosisKind::TxRange(tx) => {
                format!("{op} of {} transactions takes the tx-count to {tx}", self.operand as u32)
            }
            DiagnosisKind::DropBeyondExpected(count) => {
                format!("{op} drops {count} of {} expected arrivals", MbarObject::decode(self.word).expected)
            }
            DiagnosisKind::ArriveBeyondPending(count) => {
                let sm80 = self.op == Op::MbarArriveSm80;
                let word = self.word;
                let pending =
                    if sm80 { TwoWords::decode(word).pending } else { MbarObject::decode(word).pending };
                let times = if count == 1 { "once".to_string() } else { format!("{count} times") };
                format!("{op} arrives {times} with {pending} arrivals pending")
            }
            DiagnosisKind::NoCompleteCompletes => format!("{op} completes the phase"),
            DiagnosisKind::ArriveAcrossPhases => {
                format!("{op} after another lane of the same request completed the phase")
            }
            DiagnosisKind::StalePhase(behind) => {
                format!("{op} tests the state {:#010x}, which is {behind} phases old", self.operand as u32)
            }
            DiagnosisKind::ForeignState => {
                format!("{op} tests the state {:#010x}, which the object never returned", self.operand as u32)
            }
            DiagnosisKind::ArriveUnwaited => {
                format!("{op} in a phase, but no wait saw the previous phase complete")
            }
            DiagnosisKind::CountSm80 => {
                format!("{op} on two words that are not the result of an init and arrivals")
            }
        }
    }

    /// Source of the use: lane or cluster port, address, tag, slot, cycle.
    pub fn site(&self) -> String {
        let Diagnosis { cycle, tag, slot, lane, address, .. } = self;
        let who = if self.cluster { "cluster request".to_string() } else { format!("lane {lane}") };
        format!("{who} at {address:#010x}, tag {tag}, slot {slot}, cycle {cycle}")
    }

    /// Description of the word found before the operation.
    pub fn found(&self) -> String {
        match self.kind {
            DiagnosisKind::NotLive(ended) => {
                let word = self.word;
                match ended {
                    None => format!("word {word:#018x}, which was not written by an init"),
                    Some((ObjectEnd::Invalidated, cycle)) => format!("object invalidated in cycle {cycle}"),
                    Some((ObjectEnd::Overwritten, cycle)) => {
                        format!("object overwritten in cycle {cycle}, now {word:#018x}")
                    }
                    Some((ObjectEnd::PartTaken, cycle)) => {
                        format!("object of an earlier CTA, removed in cycle {cycle}")
                    }
                }
            }
            _ if self.op == Op::MbarArriveSm80 => TwoWords::decode(self.word).to_string(),
            // A store of two words, which is not a valid word of layout 0.
            DiagnosisKind::InitOverLive if self.operand != 0 && init_fault(self.operand).is_some() => {
                TwoWords::decode(self.word).to_string()
            }
            DiagnosisKind::InitWord(_) => format!("word {:#018x}", self.word),
            _ => MbarObject::decode(self.word).to_string(),
        }
    }

    /// Advice: the probable intent of the program.
    pub fn advice(&self) -> &'static str {
        match self.kind {
            DiagnosisKind::NotLive(Some((ObjectEnd::Overwritten, _))) => {
                "the object's bytes are also used for other data; use separate bytes"
            }
            DiagnosisKind::NotLive { .. } if self.op == Op::MbarInval => "inval a live object, and only once",
            DiagnosisKind::NotLive { .. } => "init it first, and let every thread wait until that is done",
            DiagnosisKind::InitOverLive => "let one thread init, once; inval before the next init",
            DiagnosisKind::PlainAccess(_) => "inval the object before its bytes are used for other data",
            DiagnosisKind::InitWord(_) => {
                "init of n writes (2^20-n) << 1 below and (2^20-n) << 11 above, n from 1 to 1048575"
            }
            DiagnosisKind::Count => "counts go from 1 to 1048575",
            DiagnosisKind::TxOperand => {
                "one operation counts up to 1048575 transactions; split larger copies"
            }
            DiagnosisKind::TxRange { .. } => {
                "expect exactly the transactions that complete; the unit wraps the tx-count"
            }
            DiagnosisKind::DropBeyondExpected { .. } => {
                "let each thread drop at most once; the unit wraps the expected count"
            }
            DiagnosisKind::ArriveBeyondPending { .. } => {
                "init with all arrivals of a phase, and wait between two phases; the unit wraps the pending count"
            }
            DiagnosisKind::NoCompleteCompletes => {
                "make the last arrival of a phase with an arrive without noComplete"
            }
            DiagnosisKind::ArriveAcrossPhases => {
                "init with as many arrivals as one request brings; on an H200 such a launch fails (docs/silicon.md)"
            }
            DiagnosisKind::StalePhase { .. } => {
                "a wait can test only the current and the previous phase; wait in every phase"
            }
            DiagnosisKind::ForeignState => "pass the state of an arrive on this object, or parity << 31",
            DiagnosisKind::ArriveUnwaited => {
                "let at least one wait see a phase complete before any thread arrives in the next phase"
            }
            DiagnosisKind::CountSm80 => {
                "init of n stores 2^30 - n below and 2^31 - n above, n from 1 to 1048575"
            }
        }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} ({})", self.what(), self.site(), self.clause())?;
        write!(f, "  found {}; {}", self.found(), self.advice())
    }
}

/// Decoded object of sm_80 to sm_89 (spec 6.2.1).
struct TwoWords {
    phase: bool,
    expected: u32,
    pending: u32,
}

impl TwoWords {
    fn decode(word: u64) -> Self {
        let (low, high) = (word as u32, (word >> 32) as u32);
        TwoWords {
            phase: high >> 31 != 0,
            expected: (1u32 << 30).wrapping_sub(low),
            pending: high.wrapping_neg() & 0x7fff_ffff,
        }
    }
}

impl fmt::Display for TwoWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TwoWords { phase, expected, pending } = self;
        // Plain atomics decrement the expected count, also below zero.
        let expected = *expected as i32;
        write!(f, "phase parity {}, {pending} of {expected} arrivals pending, two words", u8::from(*phase))
    }
}
