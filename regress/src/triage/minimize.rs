//! Minimizes the last requests before a failure to the smallest case that fails in the same way.

use atoms_cosim::case::Case;
use atoms_cosim::case::recorder::Recorder;
use atoms_cosim::case::shrink::shrink;
use atoms_cosim::case::trials::{Effort, Spent, Trials};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_ops::{Op, Size};

use crate::triage::signature::{OpName, Signature};

/// Operations to substitute, to find out if the failure depends on the operation.
const OTHER_OPS: [Op; 6] = [Op::Add, Op::Xor, Op::Or, Op::Max, Op::Exch, Op::Inc];

/// Number of substituted operations that must fail in the same way before the operation counts as irrelevant.
/// One or two may be other defects.
const OTHERS_ENOUGH: usize = 3;

#[derive(Debug)]
pub struct MinimizedCase {
    pub case: Case,
    pub failure: Failure,
    /// Cycle of the failure in this case.
    pub cycle: u64,
    /// Final signature, without operation if the operation is irrelevant.
    pub signature: Signature,
    pub spent: Spent,
}

/// Runs a case and returns its signature; `None` if the case passes or the effort is spent.
fn signature_of(trials: &mut Trials<'_>, case: &Case) -> Option<Signature> {
    Signature::of(&trials.run(case)?)
}

/// Minimizes the last requests of `recorder` to a case that fails like `raw`. Returns `None` if the case
/// would need earlier requests, or if the failure is outside the unit.
///
/// The first pass keeps the signature, so that no other defect takes its place. The second pass accepts any
/// failure of the same kind, since each remaining request is needed. One defect that shows in several ways
/// thus gets one signature.
pub fn minimize_recorded(
    session: &mut Session<Lockstep>,
    recorder: &Recorder,
    config: &str,
    raw: &Signature,
    effort: Effort,
) -> Option<MinimizedCase> {
    minimize(session, recorder.candidates(config), raw, effort)
}

/// Minimizes the first of `candidates` that fails with `raw`, or else the first that fails with the same
/// kind.
pub fn minimize(
    session: &mut Session<Lockstep>,
    candidates: impl IntoIterator<Item = Case>,
    raw: &Signature,
    effort: Effort,
) -> Option<MinimizedCase> {
    let kind = Some(raw.kind).filter(|kind| kind.is_dut_failure())?;
    let scoreboard = Scoreboard::of(session.machine().config(), session.machine().foreign());
    session.set_scoreboard(Some(scoreboard));
    let mut trials = Trials::new(session, effort);
    let of_kind = |found: &Option<Signature>| found.as_ref().map(|found| found.kind) == Some(kind);
    let mut second = None;
    let mut first = None;
    for case in candidates {
        match signature_of(&mut trials, &case) {
            Some(found) if found == *raw => {
                first = Some((case, found));
                break;
            }
            found if second.is_none() && of_kind(&found) => second = found.map(|found| (case, found)),
            _ => {}
        }
    }
    let (case, signature) = first.or(second)?;
    let case = shrink(case, |case| signature_of(&mut trials, case).is_some_and(|found| found == signature));
    let case = shrink(case, |case| of_kind(&signature_of(&mut trials, case)));
    let (case, any) = with_any_operation(case, &mut trials);
    let (failure, spent) = trials.finish(&case)?;
    let cycle = session.machine().cycles();
    let signature = Signature::of(&failure)?;
    let signature = if any { signature.of_any_operation() } else { signature };
    Some(MinimizedCase { case, failure, cycle, signature, spent })
}

/// Returns the case with the simplest operation, and true, if it fails in the same field with several other
/// operations.
fn with_any_operation(case: Case, trials: &mut Trials<'_>) -> (Case, bool) {
    let Some(signature) = signature_of(trials, &case) else { return (case, false) };
    let Some(named) = signature.op else { return (case, false) };
    let place = signature.of_any_operation();
    // Matches the requests with the operation of the signature.
    let named = |op: u8| OpName::of(op) == named;
    let mut found: Option<Case> = None;
    let mut others = 0;
    for op in OTHER_OPS {
        let mut candidate = case.clone();
        for request in candidate.warps.iter_mut().filter(|request| named(request.op)) {
            (request.op, request.size) = (op as u8, Size::U32 as u8);
        }
        for request in candidate.clusters.iter_mut().filter(|request| named(request.op)) {
            (request.op, request.size) = (op as u8, Size::U32 as u8);
        }
        if candidate == case {
            // The case already uses this operation, so the substitution changes nothing.
            found.get_or_insert(candidate);
            continue;
        }
        if signature_of(trials, &candidate).is_some_and(|found| found.of_any_operation() == place) {
            others += 1;
            found.get_or_insert(candidate);
        }
    }
    match found {
        Some(simplest) if others >= OTHERS_ENOUGH => {
            let simplest = shrink(simplest, |case| {
                signature_of(trials, case).is_some_and(|s| s.of_any_operation() == place)
            });
            (simplest, true)
        }
        _ => (case, false),
    }
}
