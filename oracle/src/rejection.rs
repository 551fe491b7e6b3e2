//! Why no order of the lanes explains what was observed.

use std::fmt;

use atoms_ops::{Fault, Op};

use crate::lanes::Lanes;
use crate::mbarrier::{ObjectLayout, ObjectWord, Wrong};
use crate::request::FaultReport;

/// A verdict against the observation, or, as [`Rejection::is_undecided`] says, none.
///
/// Each message names the lanes, the address as the lane formed it, the values, and the clause. Fields of one name mean
/// the same everywhere: `lanes` and `lane` are those that it is about, `addr` is the address that they name, `word` the
/// index of a word of memory, `group` the bank of the first word of a bank group; `before` is what stood there before
/// the request, `got` what was found: in Rd, in the response or in memory afterwards; `compare` is the Rb that a lane
/// compared against, `pred` its predicate, `times` how often a value stood there, `op` the operation or its code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // of fields that are named above
pub enum Rejection {
    /// The fault reported is not the one owed.
    #[error("expected {expected}, got {got} ({})", self.clause())]
    WrongFault {
        /// What the request calls for.
        expected: FaultReport,
        got: FaultReport,
        /// Whether it is about an mbarrier operation at the cluster port.
        cluster_mbarrier: bool,
    },
    /// A request that faults gives no results.
    #[error(
        "{lanes} got a result or a predicate from a request that ends with `{fault}`; a fault gives none ({})",
        self.clause()
    )]
    ResultOfFault {
        lanes: Lanes,
        /// The fault.
        fault: Fault,
    },
    /// Memory was written by a request that writes none, a load or a fault.
    #[error("word {word} (byte {:#x}) was written, but this request writes nothing: {why} ({})", u64::from(*word) * 4, self.clause())]
    MustNotWrite {
        word: u32,
        /// What the request is.
        why: NoWrite,
    },
    /// A word was written that no active lane names.
    #[error("word {word} (byte {:#x}) was written, {before:#x} before and {got:#x} after, but no active lane names it ({})", u64::from(*word) * 4, self.clause())]
    StrayWrite {
        /// Index of the word; it may lie beyond the memory.
        word: u32,
        before: u32,
        got: u32,
    },
    /// A lane that takes no part got something.
    #[error("{lanes} got a result or a predicate without being active ({})", self.clause())]
    InactiveResult { lanes: Lanes },
    /// A result where Rd is RZ or the operation gives none.
    #[error("lane {lane} got {got:#x} from a request that gives no results ({})", self.clause())]
    ResultNotGiven { lane: u8, got: u128 },
    /// A predicate from an operation without compare.
    #[error("{lanes} got a predicate from an operation that compares nothing ({})", self.clause())]
    PredicateNotGiven { lanes: Lanes },
    /// A load did not give what memory held.
    #[error("lane {lane} loaded {got:#x} from {addr:#x}, expected {expected:#x} ({})", self.clause())]
    WrongLoad {
        lane: u8,
        addr: u32,
        /// Memory before the request, extended as the size says.
        expected: u128,
        got: u128,
    },
    /// A value was returned that no order puts there.
    #[error("{lanes} got {got:#x} from {addr:#x}, which never held it: it held {before:#x} before the request and no lane left {got:#x} ({})", self.clause())]
    NeverThere { lanes: Lanes, addr: u32, got: u128, before: u128 },
    /// More lanes got a value than times it stood there.
    #[error("{lanes} all got {got:#x} from {addr:#x}, which stood there {} only: one update was lost ({})", Times(*times), self.clause())]
    LostUpdate { lanes: Lanes, addr: u32, got: u128, times: u32 },
    /// Lanes whose values explain each other and hang on nothing.
    #[error("{lanes} explain each other's values at {addr:#x}, but no order leads there from {before:#x}, the value before the request ({})", self.clause())]
    ClosedCircle { lanes: Lanes, addr: u32, before: u128 },
    /// A flag that is neither 0 nor 1, or differs from the predicate.
    #[error("lane {lane} got {got:#x} in Rd but predicate {pred}; both say whether it stored ({})", self.clause())]
    WrongFlag { lane: u8, got: u128, pred: u8 },
    /// CAS: the predicate contradicts the value returned.
    #[error("lane {lane} compared {compare:#x} with {got:#x} at {addr:#x}, so its predicate must be {}, got {pred} ({})", u8::from(got == compare), self.clause())]
    WrongPredicate { lane: u8, addr: u32, got: u128, compare: u128, pred: u8 },
    /// Stores reported whose compare cannot have matched.
    #[error("{lanes} report a store in place of {compare:#x} at {addr:#x}, which held it {} ({})", Times(*times), self.clause())]
    ImpossibleStore { lanes: Lanes, addr: u32, compare: u128, times: u32 },
    /// A failure reported although the compare matches in every order.
    #[error("lane {lane} reports a failed compare with {compare:#x}, but {addr:#x} held {compare:#x} all the time ({})", self.clause())]
    ImpossibleFailure { lane: u8, addr: u32, compare: u128 },
    /// CAST.SPIN: several lanes of one bank stored.
    #[error("{lanes} all report a store in bank group {group}; CAST.SPIN selects one lane of each ({})", self.clause())]
    TwoWinners { lanes: Lanes, group: u32 },
    /// CAST.SPIN: the selected lane must have stored, whichever it was, but none did.
    #[error("{lanes} all failed in bank group {group}, but every one of their compares matches, so the selected one must store ({})", self.clause())]
    NoWinner { lanes: Lanes, group: u32 },
    /// CAST.SPIN: the lane that reports a store compared against another value.
    #[error("lane {lane} reports a store in place of {compare:#x} at {addr:#x}, which held {before:#x} ({})", self.clause())]
    SpinMismatch { lane: u8, addr: u32, compare: u128, before: u128 },
    /// CAST.SPIN: a lane that keeps asking was not selected within a bound.
    #[error(
        "lane {lane} at {addr:#x} was not selected in {requests} successive CAST.SPIN requests to bank group {group}, although it asked in {} ({})",
        Asked { in_each: *in_each, spin_hold: *spin_hold }, self.clause()
    )]
    NeverSelected {
        lane: u8,
        /// Its address in the last of the requests.
        addr: u32,
        group: u32,
        /// Requests to the group, the first and the last of which it asked in: the bound, or a few more.
        requests: u64,
        /// Whether it asked in each of them.
        in_each: bool,
        /// If not, it asked at least once in any so many.
        spin_hold: u64,
    },
    /// The value left is none that the lanes can leave.
    #[error("{addr:#x} held {before:#x} before the request and {got:#x} after it, {} ({})", Left { lanes: *lanes, expected: *expected }, self.clause())]
    WrongFinal {
        lanes: Lanes,
        /// Address they name; of several in a word the lowest lane's.
        addr: u32,
        before: u128,
        /// The one value every order leaves, if there is one.
        expected: Option<u128>,
        got: u128,
    },
    /// The memory at the end is not what the requests left.
    #[error("at the end word {word} (byte {:#x}) holds {got:#x}; the requests left {}{} ({})", u64::from(*word) * 4, if *possible == 1 { "" } else { "for example " }, format_args!("{expected:#x}"), self.clause())]
    WrongEnd {
        word: u32,
        /// A value that the requests can have left.
        expected: u32,
        /// How many combinations of values are possible here.
        possible: u32,
        got: u32,
    },
    /// Several values were possible before the request, and none of them explains it.
    #[error(
        "none of the {possible} values that earlier requests can have left explains this one; for instance: {instance}"
    )]
    NonePossible {
        /// How many values, or combinations of values of several words, were possible.
        possible: u32,
        /// What speaks against one of them.
        instance: Box<Rejection>,
    },
    /// A state was returned that the object never had.
    #[error("{lanes} got the state {got} from {addr:#x}, which never had it: it was {before} before the request and no lane left that state ({})", self.clause())]
    StateNeverThere { lanes: Lanes, addr: u32, got: ObjectWord, before: ObjectWord },
    /// More lanes got a state than times the object had it.
    #[error("{lanes} all got the state {got} from {addr:#x}, which had it {} only: an arrival was lost ({})", Times(*times), self.clause())]
    LostArrival { lanes: Lanes, addr: u32, got: ObjectWord, times: u32 },
    /// Lanes whose states explain each other and hang on nothing.
    #[error("{lanes} explain each other's states of {addr:#x}, but no order leads there from {before}, the object before the request ({})", self.clause())]
    StateCircle { lanes: Lanes, addr: u32, before: ObjectWord },
    /// The object left is none that the lanes can leave.
    #[error("{op} of {lanes} found {addr:#x} at {before} and left {got}{}: {wrong} ({})", Instead(*expected), self.clause())]
    WrongObject {
        op: Op,
        lanes: Lanes,
        addr: u32,
        before: ObjectWord,
        /// The one that every order leaves, if there is one.
        expected: Option<ObjectWord>,
        got: ObjectWord,
        /// What is wrong with it.
        wrong: Wrong,
    },
    /// A wait's predicate contradicts the object.
    #[error("lane {lane} asked {addr:#x} for the phase of parity {parity} and got predicate {pred}, but the object was {object} ({})", self.clause())]
    WrongWait { lane: u8, addr: u32, parity: u8, pred: u8, object: ObjectWord },
    /// Lanes said to have arrived together that did not all get the same, or are not at one object.
    #[error("lane {lane} got {got:#x} from {addr:#x}: the low word must name the lanes that arrived together, itself among them, and all of them get the same ({})", self.clause())]
    WrongTogether { lane: u8, addr: u32, got: u128 },
    /// Lanes that arrived together when the object cannot have been as they say.
    #[error("{lanes} got the high word {high:#x} of {addr:#x} ({}), but no order of the lanes leads there: it was {before} before the request ({})", ObjectWord { word: u64::from(*high) << 32 | before.word & 0xffff_ffff, layout: before.layout }, self.clause())]
    StateApart {
        lanes: Lanes,
        addr: u32,
        /// High word that the lowest of them got.
        high: u32,
        before: ObjectWord,
    },
    /// A wake-up of nothing that waits.
    #[error("a wake-up in cycle {cycle} names wait {number}, which is no MBAR.TRY_WAIT without an answer ({})", self.clause())]
    NotWaiting { number: u64, cycle: u64 },
    /// A wait ended as it must not, or not when it must.
    #[error("wait {number} of {lanes} {wrong} ({})", self.clause())]
    Wait {
        number: u64,
        lanes: Lanes,
        /// What is wrong.
        wrong: WrongWaiter,
    },
    /// A request got no answer at all.
    #[error("{} of {lanes} at {addr:#x} was never answered{} ({})", Operation(*op), WaitsFor(*waits_for), self.clause())]
    NeverAnswered {
        op: u8,
        lanes: Lanes,
        /// Address of the lowest of them.
        addr: u32,
        /// Parity of the phase that it waits for, and the object, if it waits for one.
        waits_for: Option<(u8, ObjectWord)>,
    },
    /// A posted cluster request without a fault got a response.
    #[error("{} is posted and does not fault, and yet it has a response ({})", Operation(*op), self.clause())]
    PostedAnswered { op: u8 },
    /// No verdict: lanes with different counts have more orders around a completion than the checker
    /// tries.
    #[error(
        "undecided: {lanes} at {addr:#x} pass through more than {limit} states of the object; let fewer counts differ"
    )]
    UndecidedOrder {
        lanes: Lanes,
        addr: u32,
        /// [`MAX_STATES`](crate::MAX_STATES).
        limit: u32,
    },
    /// No verdict: more combinations of values are possible than the checker follows.
    #[error("undecided: at word {word} (byte {:#x}) more than {limit} combinations of values are possible; record the words written (`after`) to narrow them", u64::from(*word) * 4)]
    Undecided {
        word: u32,
        /// [`MAX_WORLDS`](crate::MAX_WORLDS).
        limit: u32,
    },
}

/// What is wrong with the end of a suspended wait. Addresses are of its object, `parity` is of the phase that it asks
/// about, and `object` is what stood there when it was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the fields: see above
pub enum WrongWaiter {
    /// It was woken although its phase had not completed.
    #[error(
        "was woken in cycle {cycle}, too early: it asks {addr:#x} for the phase of parity {parity}, which was never complete; the object is {object}"
    )]
    WokenEarly { addr: u32, parity: u8, cycle: u64, object: ObjectWord },
    /// A wake-up tells all lanes the same.
    #[error(
        "at {addr:#x} was woken with predicates {pred:#x}: its lanes ask the same, so all of them or none are told so"
    )]
    WrongMask { pred: u32, addr: u32 },
    /// It must be answered at once, but was suspended.
    #[error(
        "was woken in cycle {cycle}, but must not sleep: it faults, has no lanes, or its lanes ask for different phases"
    )]
    MustNotSleep { cycle: u64 },
    /// It ended without success before its limit.
    #[error("at {addr:#x} gave up too early, {waited} cycles after it was accepted; its limit is {limit}")]
    GaveUpEarly { addr: u32, waited: u64, limit: u64 },
    /// It ended without success although its phase had completed.
    #[error(
        "gave up in cycle {cycle}: a lost wake-up, as the phase of parity {parity} of {addr:#x} was complete by cycle {complete}, before its limit passed; the object is {object}"
    )]
    LostWakeUp { addr: u32, parity: u8, complete: u64, cycle: u64, object: ObjectWord },
    /// It stays suspended although its phase completed.
    #[error(
        "is left asleep in cycle {cycle}: the phase of parity {parity} of {addr:#x} was complete by cycle {complete}; the object is {object}"
    )]
    NeverWoken { addr: u32, parity: u8, complete: u64, cycle: u64, object: ObjectWord },
    /// It stays suspended although its limit passed.
    #[error(
        "at {addr:#x} overslept: unanswered {waited} cycles after it was accepted, with a limit of {limit}"
    )]
    Overdue { addr: u32, waited: u64, limit: u64 },
}

impl WrongWaiter {
    fn clause(self) -> &'static str {
        match self {
            WrongWaiter::WokenEarly { .. }
            | WrongWaiter::WrongMask { .. }
            | WrongWaiter::MustNotSleep { .. }
            | WrongWaiter::LostWakeUp { .. }
            | WrongWaiter::NeverWoken { .. } => "spec 6.3",
            WrongWaiter::GaveUpEarly { .. } | WrongWaiter::Overdue { .. } => "spec 6.10",
        }
    }
}

/// Why a request writes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWrite {
    /// It ends with a fault.
    Fault(Fault),
    /// It is a load.
    Load,
    /// It only looks at an mbarrier object, or ends its life.
    Look,
    /// It has no active lane.
    NoLane,
}

impl NoWrite {
    fn clause(self) -> &'static str {
        match self {
            NoWrite::Fault(_) => "spec 2.4",
            NoWrite::Load => "spec 3.5",
            NoWrite::Look => "spec 6.3",
            NoWrite::NoLane => "spec 2.6",
        }
    }
}

impl fmt::Display for NoWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoWrite::Fault(fault) => write!(f, "it ends with `{fault}`"),
            NoWrite::Load => f.write_str("it is a load"),
            NoWrite::Look => f.write_str("it only reads the object"),
            NoWrite::NoLane => f.write_str("it has no active lane"),
        }
    }
}

impl Rejection {
    /// The clause of the specification that is broken, `spec 4.5`; empty where there is no verdict.
    pub fn clause(&self) -> &'static str {
        self.clause_and_subject().0
    }

    /// What of the observation it is about, in a word: `rd`, `pred`, `fault`, `memory`, `write`, `object`,
    /// `wait`, `answer`; empty where there is no verdict.
    pub fn about(&self) -> &'static str {
        self.clause_and_subject().1
    }

    fn clause_and_subject(&self) -> (&'static str, &'static str) {
        match self {
            Rejection::WrongFault { expected, got, cluster_mbarrier } => {
                let owed = if expected.fault == Fault::None { got } else { expected };
                let clause = match owed.fault {
                    Fault::Illegal if *cluster_mbarrier => "spec 6.7",
                    Fault::Illegal => "spec 3.3",
                    Fault::None | Fault::Misaligned | Fault::OutOfRange => "spec 2.4",
                };
                (clause, "fault")
            }
            Rejection::ResultOfFault { .. } => ("spec 2.4", "rd"),
            Rejection::MustNotWrite { why, .. } => (why.clause(), "write"),
            Rejection::StrayWrite { .. } => ("spec 2.4", "write"),
            Rejection::InactiveResult { .. } => ("spec 2.6", "rd"),
            Rejection::ResultNotGiven { .. } => ("spec 3", "rd"),
            Rejection::PredicateNotGiven { .. } | Rejection::WrongPredicate { .. } => ("spec 3", "pred"),
            Rejection::WrongLoad { .. } => ("spec 3.5", "rd"),
            Rejection::NeverThere { .. }
            | Rejection::LostUpdate { .. }
            | Rejection::ClosedCircle { .. }
            | Rejection::StateCircle { .. } => ("spec 4.5", "rd"),
            Rejection::WrongFinal { .. } => ("spec 4.5", "memory"),
            Rejection::ImpossibleStore { .. } | Rejection::ImpossibleFailure { .. } => ("spec 4.5", "pred"),
            Rejection::WrongFlag { .. } => ("spec 3.2", "rd"),
            Rejection::TwoWinners { .. } => ("spec 5.1", "pred"),
            Rejection::NoWinner { .. } | Rejection::SpinMismatch { .. } => ("spec 5.3", "pred"),
            Rejection::NeverSelected { .. } => ("spec 5.4", "pred"),
            Rejection::WrongEnd { .. } => ("spec 4.6", "memory"),
            Rejection::NonePossible { instance, .. } => instance.clause_and_subject(),
            Rejection::StateNeverThere { .. } | Rejection::StateApart { .. } => ("spec 6.6", "rd"),
            Rejection::LostArrival { .. } => ("spec 6.3", "rd"),
            Rejection::WrongObject { got, .. } if got.layout == ObjectLayout::Sm80 => {
                ("spec 6.2.1", "object")
            }
            Rejection::WrongObject { wrong, .. } => (wrong.clause(), "object"),
            Rejection::WrongWait { .. } => ("spec 6.5", "pred"),
            Rejection::WrongTogether { .. } => ("spec 6.8", "rd"),
            Rejection::NotWaiting { .. } => ("spec 6.3", "wait"),
            Rejection::Wait { wrong, .. } => (wrong.clause(), "wait"),
            Rejection::NeverAnswered { waits_for: Some(_), .. } => ("spec 6.3", "answer"),
            Rejection::NeverAnswered { waits_for: None, .. } => ("spec 4.6", "answer"),
            Rejection::PostedAnswered { .. } => ("spec 4.7", "answer"),
            Rejection::Undecided { .. } | Rejection::UndecidedOrder { .. } => ("", ""),
        }
    }

    /// Whether this is no verdict at all: the question was too large, not the observation wrong.
    pub fn is_undecided(&self) -> bool {
        matches!(self, Rejection::Undecided { .. } | Rejection::UndecidedOrder { .. })
    }
}

/// `never`, `once`, `3 times`.
struct Times(u32);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("never"),
            1 => f.write_str("once"),
            n => write!(f, "{n} times"),
        }
    }
}

/// How often a lane asked that was not selected.
struct Asked {
    in_each: bool,
    spin_hold: u64,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.in_each {
            true => f.write_str("each of them"),
            false => write!(f, "at least one of any {} of them", self.spin_hold),
        }
    }
}

/// The one value that is left, or that the value found is not among those possible.
struct Left {
    lanes: Lanes,
    expected: Option<u128>,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expected {
            Some(value) => write!(f, "but every order of {} leaves {value:#x}", self.lanes),
            None => write!(f, "which no order of {} leaves", self.lanes),
        }
    }
}

/// Name of an operation, or its code.
struct Operation(u8);

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Op::from_code(self.0) {
            Some(op) => op.fmt(f),
            None => write!(f, "operation {}", self.0),
        }
    }
}

/// What a request without an answer waits for; nothing if it need not wait.
struct WaitsFor(Option<(u8, ObjectWord)>);

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |(parity, object)| {
            write!(f, ": it waits for the phase of parity {parity}, and the object is {object}")
        })
    }
}

/// `, where every order leaves ...`; nothing if there is no such one.
struct Instead(Option<ObjectWord>);

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |object| write!(f, ", where every order leaves {object}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_update_is_one_sentence() {
        let lost = Rejection::LostUpdate { lanes: Lanes(0x88), addr: 0x40, got: 5, times: 1 };
        assert_eq!(
            lost.to_string(),
            "lanes 3 and 7 all got 0x5 from 0x40, which stood there once only: one update was lost (spec 4.5)"
        );
    }

    #[test]
    fn a_rejection_stays_small_enough_to_return() {
        assert!(size_of::<Rejection>() <= 128, "{}", size_of::<Rejection>());
    }
}
