//! Why no order of the lanes explains what was observed.

use std::fmt;

use atoms_ops::Op;

use crate::lanes::Lanes;
use crate::mbarrier::ObjectWord;

/// A verdict against the observation, or, as [`Rejection::is_undecided`] says, none.
///
/// Its message names the lanes, the address as the lane formed it, the values, and the clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    clause: &'static str,
    about: &'static str,
    message: String,
}

impl Rejection {
    /// `what` was found against `clause`; for `about` see [`Rejection::about`].
    pub(crate) fn new(clause: &'static str, about: &'static str, what: impl fmt::Display) -> Self {
        Rejection { clause, about, message: format!("{what} ({clause})") }
    }

    /// No verdict: the question was too large.
    pub(crate) fn undecided(why: impl fmt::Display) -> Self {
        Rejection { clause: "", about: "", message: format!("undecided: {why}") }
    }

    /// Of `possible` values, or combinations of values of several words, none explains the request; `instance` is what
    /// speaks against one of them.
    pub(crate) fn of_all(possible: usize, instance: Rejection) -> Self {
        let message = format!(
            "none of the {possible} values that earlier requests can have left explains this one; for instance: {instance}"
        );
        Rejection { message, ..instance }
    }

    /// A word was written that no active lane names; it may lie beyond the memory.
    pub(crate) fn stray_write(word: u32, before: u32, got: u32) -> Self {
        let byte = u64::from(word) * 4;
        let what = format_args!(
            "word {word} (byte {byte:#x}) was written, {before:#x} before and {got:#x} after, but no active lane names it"
        );
        Rejection::new("spec 2.4", "write", what)
    }

    /// The memory at the end is not what the requests left: one of `possible` combinations of values.
    pub(crate) fn wrong_end(word: u32, expected: u32, possible: usize, got: u32) -> Self {
        let (byte, example) = (u64::from(word) * 4, if possible == 1 { "" } else { "for example " });
        let what = format_args!(
            "at the end word {word} (byte {byte:#x}) holds {got:#x}; the requests left {example}{expected:#x}"
        );
        Rejection::new("spec 4.6", "memory", what)
    }

    /// A value was returned that no order puts there.
    pub(crate) fn never_there(lanes: u32, addr: u32, got: u128, before: u128) -> Self {
        let what = format_args!(
            "{} got {got:#x} from {addr:#x}, which never held it: it held {before:#x} before the request and no lane \
             left {got:#x}",
            Lanes(lanes)
        );
        Rejection::new("spec 4.5", "rd", what)
    }

    /// A request got no answer at all; `waits_for` is the parity of the phase that it waits for, and the object.
    pub(crate) fn never_answered(op: u8, lanes: u32, addr: u32, waits_for: Option<(u8, ObjectWord)>) -> Self {
        let (clause, waits) = match waits_for {
            Some((parity, object)) => (
                "spec 6.3",
                format!(": it waits for the phase of parity {parity}, and the object is {object}"),
            ),
            None => ("spec 4.6", String::new()),
        };
        let (op, lanes) = (operation(op), Lanes(lanes));
        Rejection::new(
            clause,
            "answer",
            format_args!("{op} of {lanes} at {addr:#x} was never answered{waits}"),
        )
    }

    /// The clause of the specification that is broken, `spec 4.5`; empty where there is no verdict.
    pub fn clause(&self) -> &'static str {
        self.clause
    }

    /// What of the observation it is about, in a word: `rd`, `pred`, `fault`, `memory`, `write`, `object`,
    /// `order`, `wait`, `answer`; empty where there is no verdict.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Whether this is no verdict at all: the question was too large, not the observation wrong.
    pub fn is_undecided(&self) -> bool {
        self.about.is_empty()
    }
}

/// `never`, `once`, `3 times`.
pub(crate) fn times(number: u32) -> String {
    match number {
        0 => "never".to_string(),
        1 => "once".to_string(),
        n => format!("{n} times"),
    }
}

/// Name of an operation, or its code.
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
