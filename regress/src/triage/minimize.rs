//! From the last requests before a failure to the smallest case that fails the same way.

use atoms_cosim::campaign::failure_from_the_start;
use atoms_cosim::case::Case;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::recorder::Recorder;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::{Failure, Session, WATCHDOG_CYCLES};
use atoms_cosim::shrink::shrink;
use atoms_ops::{Op, Size};

use crate::triage::signature::{OpName, Signature};

/// Work that finding a small case may take, in simulated cycles: not in wall time, so that the same failure
/// comes to the same case on any machine. An attempt counts as [`ATTEMPT_CYCLES`] more than it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Cycles at most.
    pub cycles: u64,
}

/// What starting over costs, in cycles: reset, memory and oracle cleared, the memory at the end compared.
pub const ATTEMPT_CYCLES: u64 = 60;

impl Default for Effort {
    /// About two seconds in the configuration `default`.
    fn default() -> Self {
        Effort { cycles: 500_000 }
    }
}

/// Cycles without an answer after which a case is stuck. The slowest answer, of a request with 32 passes
/// behind the longest pipeline and a port that is open in one cycle of 64, takes some hundreds.
const WATCHDOG_CYCLES_OF_CASES: u64 = 2_000;

/// Operations that a failure is tried with, to see whether the operation matters.
const OTHER_OPS: [Op; 6] = [Op::Add, Op::Xor, Op::Or, Op::Max, Op::Exch, Op::Inc];

/// Of them, those that must fail likewise for the operation not to matter. One or two other ones that do
/// may be other defects.
const OTHERS_ENOUGH: usize = 3;

/// A case that fails, as small as it could be made.
#[derive(Debug)]
pub struct MinimizedCase {
    /// The case.
    pub case: Case,
    /// How it fails.
    pub failure: Failure,
    /// Cycle in which it does.
    pub cycle: u64,
    /// Final signature.
    pub signature: Signature,
    /// Cases tried.
    pub attempts: u64,
    /// Cycles spent, of those of [`Effort`].
    pub spent: u64,
}

/// Runs cases on one session until the effort is spent.
struct Trials<'a> {
    session: &'a mut Session<Lockstep>,
    limit: u64,
    spent: u64,
    attempts: u64,
}

impl Trials<'_> {
    /// How a case fails; none if it does not, or if the effort is spent.
    fn run(&mut self, case: &Case) -> Option<(Signature, Failure)> {
        if self.spent >= self.limit {
            return None;
        }
        self.attempts += 1;
        let failure = failure_from_the_start(self.session, case);
        self.spent += ATTEMPT_CYCLES + self.session.machine().cycles();
        let failure = failure?;
        Some((Signature::of(&failure)?, failure))
    }

    fn signature(&mut self, case: &Case) -> Option<Signature> {
        self.run(case).map(|(signature, _)| signature)
    }
}

/// Looks for the smallest case that fails as `raw` says, among the last requests that `recorder`
/// remembers. None if the failure needs more of its history, or is none that a case can show.
///
/// First the key must stay as it is, so that no other defect takes its place; in the smallest case,
/// whose every request is needed, any failure of the kind will do. So what one defect shows in
/// different ways comes to one key.
pub fn minimize_recorded(
    session: &mut Session<Lockstep>,
    recorder: &Recorder,
    config: &str,
    raw: &Signature,
    effort: Effort,
) -> Option<MinimizedCase> {
    minimize(session, recorder.candidates(config), raw, effort)
}

/// The smallest case that fails as `raw` says, made of the first of `candidates` that does.
pub fn minimize(
    session: &mut Session<Lockstep>,
    candidates: impl IntoIterator<Item = Case>,
    raw: &Signature,
    effort: Effort,
) -> Option<MinimizedCase> {
    let kind = Some(raw.kind).filter(|kind| kind.is_dut_failure())?;
    session.set_trace(None);
    session.set_scoreboard(Some(Scoreboard::new(session.machine().config(), &[])));
    session.set_watchdog(WATCHDOG_CYCLES_OF_CASES);
    let mut trials = Trials { session, limit: effort.cycles, spent: 0, attempts: 0 };
    let of_kind = |found: &Option<Signature>| found.as_ref().map(|found| found.kind) == Some(kind);
    let mut second = None;
    let mut first = None;
    for case in candidates {
        match trials.signature(&case) {
            Some(found) if found == *raw => {
                first = Some((case, found));
                break;
            }
            found if second.is_none() && of_kind(&found) => second = found.map(|found| (case, found)),
            _ => {}
        }
    }
    let (case, signature) = first.or(second)?;
    let case = shrink(case, |case| trials.signature(case).is_some_and(|found| found == signature));
    let case = shrink(case, |case| of_kind(&trials.signature(case)));
    let (case, any) = with_any_operation(case, &mut trials);
    let (attempts, spent) = (trials.attempts, trials.spent);
    // What is reported is not cut short by the effort.
    trials.limit = u64::MAX;
    trials.session.set_watchdog(WATCHDOG_CYCLES);
    let (signature, failure) = trials.run(&case)?;
    let cycle = trials.session.machine().cycles();
    let signature = if any { signature.of_any_operation() } else { signature };
    Some(MinimizedCase { case, failure, cycle, signature, attempts, spent })
}

/// Whether the case fails in the same field whatever its operation, and the case with the simplest one.
fn with_any_operation(case: Case, trials: &mut Trials<'_>) -> (Case, bool) {
    let Some(signature) = trials.signature(&case) else { return (case, false) };
    let Some(named) = signature.op else { return (case, false) };
    let place = signature.of_any_operation();
    // The requests with the operation that the signature names; if that came from elsewhere, none.
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
            // It is this operation already.
            found.get_or_insert(candidate);
            continue;
        }
        if trials.signature(&candidate).is_some_and(|found| found.of_any_operation() == place) {
            others += 1;
            found.get_or_insert(candidate);
        }
    }
    match found {
        Some(simplest) if others >= OTHERS_ENOUGH => {
            let simplest = shrink(simplest, |case| {
                trials.signature(case).is_some_and(|s| s.of_any_operation() == place)
            });
            (simplest, true)
        }
        _ => (case, false),
    }
}
