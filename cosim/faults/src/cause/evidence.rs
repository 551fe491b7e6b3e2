//! Effect of a mutant on a failing run, and its weight in the ranking.

use atoms_cosim::mismatch::Difference;

use crate::build::Reply;
use crate::schemata::MutationOperator;

/// Effect of a mutant on a failing run, weakest evidence first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The mutant changes nothing up to the failure.
    Nothing,
    /// With the mutant, RTL and model differ in an earlier cycle.
    Earlier,
    /// RTL and model differ in the same cycle, at additional signals.
    More,
    /// RTL and model differ in the same cycle at the same signals, but with other values.
    Alike,
    /// RTL and model differ in the same cycle, at fewer signals.
    Less,
    /// With the mutant, RTL and model first differ in a later cycle.
    Later,
    /// RTL and model agree if the mutant is active in one cycle only.
    AgreesOnce,
    /// With the mutant, RTL and model agree in the whole failing run.
    Agrees,
}

impl Evidence {
    /// Compares the results of the failing run without (`before`) and with (`after`) the mutant. Without the
    /// mutant, `failed` is the first cycle in which RTL and model differ.
    pub(super) fn of(before: &Reply, failed: u64, after: &Reply, in_force: InForce) -> Evidence {
        match (after, before) {
            _ if after == before => Evidence::Nothing,
            (Reply::Agrees, _) => match in_force {
                InForce::Always => Evidence::Agrees,
                InForce::Once => Evidence::AgreesOnce,
            },
            (Reply::Differs(cycle, _) | Reply::Stops(cycle, _), _) if *cycle > failed => Evidence::Later,
            (Reply::Differs(cycle, after), Reply::Differs(_, before)) if *cycle == failed => {
                let among = |one: &Difference, all: &[Difference]| {
                    all.iter().any(|other| (other.signal, other.element) == (one.signal, one.element))
                };
                let added = after.iter().any(|one| !among(one, before));
                let gone = before.iter().any(|one| !among(one, after));
                match (added, gone) {
                    (false, false) => Evidence::Alike,
                    (false, true) => Evidence::Less,
                    (true, _) => Evidence::More,
                }
            }
            (Reply::Differs(..) | Reply::Stops(..), _) => Evidence::Earlier,
        }
    }

    /// Returns the weight in the ranking. The scale is arbitrary. Only two things matter: the order, and a
    /// mutant that makes RTL and model agree weighs far more than one that only changes the differences.
    pub(super) fn weight(self) -> f64 {
        match self {
            Evidence::Nothing | Evidence::Earlier => 0.0,
            Evidence::More => 0.5,
            Evidence::Alike => 2.0,
            Evidence::Less => 3.0,
            Evidence::Later => 5.0,
            Evidence::AgreesOnce => 7.0,
            Evidence::Agrees => 8.0,
        }
    }

    /// Returns the text that follows "RTL and model" in a report.
    pub fn words(self) -> &'static str {
        match self {
            Evidence::Nothing => "differ as before",
            Evidence::Earlier => "differ earlier",
            Evidence::More => "differ in the same cycle at other signals too",
            Evidence::Alike => "differ in the same cycle at the same signals, with other values",
            Evidence::Less => "differ in the same cycle at fewer signals",
            Evidence::Later => "differ later",
            Evidence::AgreesOnce => "agree if the mutant is active in one cycle only",
            Evidence::Agrees => "agree in the failing run",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InForce {
    Always,
    /// The mutant is active in one cycle, and each cycle shortly before the failure is tried in turn.
    Once,
}

/// Returns the prior weight: how likely it is that this operator undoes a designer's mistake. The prior
/// decides between lines with equal evidence.
pub(super) fn prior(operator: MutationOperator) -> f64 {
    match operator {
        // A specific operator that repairs the design says more than the inversion of a whole value.
        MutationOperator::NotComplemented | MutationOperator::NotShifted => 0.15,
        MutationOperator::Operator(_) | MutationOperator::Negated => 0.09,
        MutationOperator::OneMore | MutationOperator::OneLess | MutationOperator::Inverted => 0.08,
        MutationOperator::FirstOnly | MutationOperator::SecondOnly => 0.05,
        MutationOperator::AlwaysTrue | MutationOperator::AlwaysFalse => 0.03,
        MutationOperator::Dropped => 0.02,
    }
}
