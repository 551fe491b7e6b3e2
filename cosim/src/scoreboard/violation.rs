//! Verdicts of the oracle against a run.

use std::fmt;

use atoms_oracle::Rejection;

/// What the oracle does not accept.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OracleViolation {
    pub(super) message: String,
    pub(super) about: Option<&'static str>,
    pub(super) clause: &'static str,
    pub(super) op: Option<u8>,
}

impl OracleViolation {
    pub(super) fn new(about: impl Into<Option<&'static str>>, clause: &'static str, message: String) -> Self {
        OracleViolation { message, about: about.into(), clause, op: None }
    }

    /// What a rejection says, with `before` in front of it.
    pub(super) fn of(rejection: &Rejection, before: impl fmt::Display) -> Self {
        let about = (!rejection.is_undecided()).then(|| rejection.about());
        Self::new(about, rejection.clause(), format!("{before}: {rejection}"))
    }

    /// A request was never answered: one of operation code `op`, where one is known.
    pub(super) fn unanswered(rejection: &Rejection, op: Option<u8>) -> Self {
        OracleViolation { op, ..Self::of(rejection, "the oracle objects at the end") }
    }

    /// A reset left something behind that no request dropped by it accounts for.
    pub(super) fn reset(rejection: &Rejection, cycle: u64) -> Self {
        Self::of(rejection, format_args!("the oracle objects to the reset in cycle {cycle}"))
    }

    /// Answer `number` came, and no request waits for it.
    pub(super) fn unasked(number: u64) -> Self {
        let message = format!("answer {number} has no request that waits for one (spec 4.6, 4.7)");
        Self::new("answer", "", message)
    }

    /// Answer `number` carries another request's tag.
    pub(super) fn tag(number: u64, found: u8, expected: u8) -> Self {
        Self::new("answer", "", format!("answer {number} has tag {found}, its request {expected}"))
    }

    /// Which request was answered cannot be told: a MBAR.TRY_WAIT needs a tag of its own.
    pub(super) fn ambiguous(cycle: u64, tag: u8) -> Self {
        let message = format!(
            "in cycle {cycle} several requests in flight have tag {tag}, one of them a MBAR.TRY_WAIT; give each its own"
        );
        Self::new(None, "", message)
    }

    /// Answer `number` says that its request took another number of passes than its addresses do.
    pub(super) fn passes(number: u64, found: u8, expected: u32, op: u8) -> Self {
        let message = format!("answer {number} says {found} passes, its request takes {expected} (spec 4.3)");
        OracleViolation { op: Some(op), ..Self::new("passes", "spec 4.3", message) }
    }

    /// Part of the observation that is wrong, in a word, as [`Rejection::about`] says; `None` where there is no
    /// verdict. And the operation code of the request that it is about, where there is one.
    pub fn about(&self) -> (Option<&'static str>, Option<u8>) {
        (self.about, self.op)
    }

    /// Clause of the specification that is broken, as `spec 4.5`; none where none is named.
    pub fn clause(&self) -> Option<&'static str> {
        Some(self.clause).filter(|clause| !clause.is_empty())
    }
}
