//! What an experiment says.

use atoms_cosim::mismatch::Difference;

use crate::build::Reply;
use crate::schemata::MutationOperator;

/// Effect of a mutant on a failing run, the least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// It changes nothing up to the failure.
    Nothing,
    /// RTL and model differ earlier.
    Earlier,
    /// They differ in the same cycle, at other signals as well.
    More,
    /// They differ in the same cycle, at the same signals in another way.
    Alike,
    /// They differ in the same cycle, at fewer signals.
    Less,
    /// They differ later.
    Later,
    /// They agree when it is in force in one cycle.
    AgreesOnce,
    /// They agree.
    Agrees,
}

impl Evidence {
    /// Of the reply `before` it was altered, whose first difference is in cycle `failed`, and the one `after`.
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

    /// What it weighs. The scale is chosen: only the order matters much, and that an operator that changes what differs
    /// is far behind one that mends it.
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

    /// What it says, to go on "RTL and model".
    pub fn words(self) -> &'static str {
        match self {
            Evidence::Nothing => "differ as before",
            Evidence::Earlier => "differ earlier",
            Evidence::More => "differ in the same cycle at other signals too",
            Evidence::Alike => "differ at the same signals in another way",
            Evidence::Less => "differ at fewer signals",
            Evidence::Later => "differ later",
            Evidence::AgreesOnce => "agree if so in one cycle",
            Evidence::Agrees => "agree in the failing run",
        }
    }
}

/// When an operator is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InForce {
    /// In every cycle.
    Always,
    /// In one cycle, each of those before the failure at a time.
    Once,
}

/// How likely it is that this operator mends what a designer got wrong: it decides between lines of equal evidence.
pub(super) fn prior(operator: MutationOperator) -> f64 {
    match operator {
        // An exact one that mends says more than a whole value turned over.
        MutationOperator::NotComplemented | MutationOperator::NotShifted => 0.15,
        MutationOperator::Operator(_) | MutationOperator::Negated => 0.09,
        MutationOperator::OneMore | MutationOperator::OneLess | MutationOperator::Inverted => 0.08,
        MutationOperator::FirstOnly | MutationOperator::SecondOnly => 0.05,
        MutationOperator::AlwaysTrue | MutationOperator::AlwaysFalse => 0.03,
        MutationOperator::Dropped => 0.02,
    }
}
