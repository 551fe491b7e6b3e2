//! Reasons why no order of the lanes explains an observation.

use std::fmt;

use atoms_ops::Op;

use crate::lanes::Lanes;
use crate::mbarrier::ObjectWord;

/// Verdict against an observation, or no verdict ([`Rejection::is_undecided`]).
///
/// The message contains the lanes, the address as the lane formed it, the values, and the clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    clause: &'static str,
    about: &'static str,
    message: String,
    values: Option<Box<RejectedValues>>,
}

/// Lanes and values that a [`Rejection`] is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RejectedValues {
    /// Lanes that are wrong, lane 0 in bit 0. 0 if the whole request is wrong.
    pub lanes: u32,
    /// Address as the first of these lanes formed it.
    pub address: Option<u32>,
    /// The only value that the specification allows. `None` if several are possible.
    pub expected: Option<u128>,
    /// Value that the unit returned or left.
    pub got: Option<u128>,
}

impl Rejection {
    /// Creates a verdict: `what` was observed and breaks `clause`. For `about` see [`Rejection::about`].
    pub fn new(clause: &'static str, about: &'static str, what: impl fmt::Display) -> Self {
        Rejection { clause, about, message: format!("{what} ({clause})"), values: None }
    }

    /// Adds the lanes that are wrong, and the address of the first of them.
    pub(crate) fn at(mut self, lanes: u32, address: impl Into<Option<u32>>) -> Self {
        let values = self.values.get_or_insert_default();
        (values.lanes, values.address) = (lanes, address.into());
        self
    }

    /// Adds the value found, and the only correct value if there is one.
    pub(crate) fn values(mut self, got: impl Into<u128>, expected: impl Into<Option<u128>>) -> Self {
        let values = self.values.get_or_insert_default();
        (values.got, values.expected) = (Some(got.into()), expected.into());
        self
    }

    /// Creates a rejection without a verdict, because the check was too large.
    pub fn undecided(why: impl fmt::Display) -> Self {
        Rejection { clause: "", about: "", message: format!("undecided: {why}"), values: None }
    }

    /// Creates the verdict that a scoreboard has recorded, with its text.
    pub fn recorded(undecided: bool, text: &str) -> Self {
        let about = if undecided { "" } else { "verdict" };
        let message = format!("the scoreboard that recorded this trace found: {text}");
        Rejection { clause: "", about, message, values: None }
    }

    /// Rejects a request that none of `possible` values, or combinations of values, explains. `instance` is
    /// the rejection for one of them.
    pub(crate) fn of_all(possible: usize, instance: Rejection) -> Self {
        let message = format!(
            "none of the {possible} values that earlier requests may have left explains this request; the rejection \
             for one of them: {instance}"
        );
        Rejection { message, ..instance }
    }

    /// Rejects a write to a word that no active lane accesses. The word may lie beyond the memory.
    pub(crate) fn stray_write(word: u32, before: u32, got: u32) -> Self {
        let byte = u64::from(word) * 4;
        let what = format_args!(
            "word {word} (byte {byte:#x}) was written, {before:#x} before and {got:#x} after, but no active lane \
             accesses this word"
        );
        Rejection::new("spec 2.4", "write", what).values(got, u128::from(before))
    }

    /// Rejects a final memory that differs from what the requests left, given `possible` combinations of
    /// values.
    pub(crate) fn wrong_end(word: u32, expected: u32, possible: usize, got: u32) -> Self {
        let (byte, must) =
            (u64::from(word) * 4, if possible == 1 { "must hold" } else { "may hold for example" });
        let what = format_args!(
            "at the end word {word} (byte {byte:#x}) holds {got:#x}; after all requests it {must} {expected:#x}"
        );
        let only = (possible == 1).then(|| expected.into());
        Rejection::new("spec 4.6", "memory", what).values(got, only)
    }

    /// Rejects a result that no order can produce.
    pub(crate) fn never_there(lanes: u32, addr: u32, got: u128, before: u128) -> Self {
        let what = format_args!(
            "{} got {got:#x} from {addr:#x}, which never held it: it held {before:#x} before the request and no lane \
             left {got:#x}",
            Lanes(lanes)
        );
        Rejection::new("spec 4.5", "rd", what).at(lanes, addr).values(got, None)
    }

    /// Rejects a request without an answer. `waits_for` is the parity that the request tests, and the object.
    pub(crate) fn never_answered(op: u8, lanes: u32, addr: u32, waits_for: Option<(u8, ObjectWord)>) -> Self {
        let (clause, waits) = match waits_for {
            Some((parity, object)) => (
                "spec 6.3",
                format!(": it waits for the phase of parity {parity}, and the object is {object}"),
            ),
            None => ("spec 4.6", String::new()),
        };
        let (op, named) = (operation(op), Lanes(lanes));
        let what = format_args!("{op} of {named} at {addr:#x} was never answered{waits}");
        Rejection::new(clause, "answer", what).at(lanes, addr)
    }

    /// Clause of the specification that is broken, such as `spec 4.5`; empty without a verdict, and for a recorded
    /// one.
    pub fn clause(&self) -> &'static str {
        self.clause
    }

    /// Part of the observation that is wrong: `rd`, `pred`, `fault`, `memory`, `write`, `object`, `order`,
    /// `wait`, `answer`, `passes` or `verdict`; empty without a verdict.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Lanes and values that are wrong, if the verdict is about certain lanes or values.
    pub fn wrong_values(&self) -> Option<&RejectedValues> {
        self.values.as_deref()
    }

    /// True if this is no verdict: the check was too large, and the observation may be right.
    pub fn is_undecided(&self) -> bool {
        self.about.is_empty()
    }
}

pub(crate) fn held_value(stood: u32) -> String {
    match stood {
        0 => "never held this value".to_string(),
        stood => format!("held this value only {}", times(stood)),
    }
}

pub(crate) fn times(number: u32) -> String {
    match number {
        0 => "never".to_string(),
        1 => "once".to_string(),
        n => format!("{n} times"),
    }
}

/// Name of an operation; for an undefined code, the code.
pub(crate) fn operation(code: u8) -> String {
    Op::from_code(code).map_or_else(|| format!("operation {code}"), |op| op.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_stays_small_enough_to_return() {
        assert!(size_of::<Rejection>() <= 64, "{}", size_of::<Rejection>());
    }
}
