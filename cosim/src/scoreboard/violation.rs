//! Violations that the oracle finds in a run.

use std::fmt;

use atoms_oracle::Rejection;

/// Violation of the specification, or a case that the oracle cannot decide.
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

    pub(super) fn of(rejection: &Rejection, before: impl fmt::Display) -> Self {
        let about = (!rejection.is_undecided()).then(|| rejection.about());
        Self::new(about, rejection.clause(), format!("{before}: {rejection}"))
    }

    pub(super) fn unanswered(rejection: &Rejection, op: Option<u8>) -> Self {
        OracleViolation { op, ..Self::of(rejection, "the oracle rejects the end of the run") }
    }

    /// Violation: before a reset, words were written for which no dropped request accounts.
    pub(super) fn reset(rejection: &Rejection, cycle: u64) -> Self {
        Self::of(rejection, format_args!("the oracle rejects the reset in cycle {cycle}"))
    }

    pub(super) fn unasked(number: u64) -> Self {
        let message = format!("answer {number} does not belong to any request (spec 4.6, 4.7)");
        Self::new("answer", "", message)
    }

    pub(super) fn tag(number: u64, found: u8, expected: u8) -> Self {
        Self::new(
            "answer",
            "",
            format!("answer {number} has tag {found}, but its request has tag {expected}"),
        )
    }

    /// Violation: several requests match an answer. An MBAR.TRY_WAIT needs a unique tag.
    pub(super) fn ambiguous(cycle: u64, tag: u8) -> Self {
        let message = format!(
            "in cycle {cycle} several requests in flight have tag {tag}, one of them an MBAR.TRY_WAIT; give each \
             request a different tag"
        );
        Self::new(None, "", message)
    }

    pub(super) fn passes(number: u64, found: u8, expected: u32, op: u8) -> Self {
        let message =
            format!("answer {number} states {found} passes, but its request takes {expected} (spec 4.3)");
        OracleViolation { op: Some(op), ..Self::new("passes", "spec 4.3", message) }
    }

    /// Returns the part of the observation that is wrong, in the words of [`Rejection::about`], and the
    /// operation code of the request. The part is `None` if there is no verdict.
    pub fn about(&self) -> (Option<&'static str>, Option<u8>) {
        (self.about, self.op)
    }

    /// Returns the clause that is broken, such as `spec 4.5`. `None` if the rejection names none.
    pub fn clause(&self) -> Option<&'static str> {
        Some(self.clause).filter(|clause| !clause.is_empty())
    }
}
