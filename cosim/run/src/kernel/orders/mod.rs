//! Runs a kernel in many orders, and minimizes the orders that show a finding.

mod key;
mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use atoms_cosim::machine::Failure;
use atoms_cosim::parallel::in_parallel;
use atoms_isa::{Kernel, Operation};
use atoms_ops::Op;
use atoms_sm::{CoreEvent, KernelExtent, Observer, RunError, RunReport, Schedule, SmConfig};
use atoms_stimulus::configs::NamedConfig;

use super::KernelJob;
use super::finding::{FindingPlace, KernelFault, KernelFinding};
use crate::setup::{Implementation, Setup, SetupError};
pub use key::{OrderKey, OrderKeyError, fingerprint};
pub use report::{OrderFindingResult, OrdersResult};

/// Factor between the cycles of an order and the limit for the others.
const LIMIT_FACTOR: u64 = 20;

/// Cycles added to the limit: enough to detect a livelock, and for slow copies.
const LIMIT_CYCLES: u64 = 100_000;

/// Largest number of findings. A kernel with more has them in most orders.
const MOST_FINDINGS: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct OrdersRequest {
    pub orders: u64,
    pub seed: u64,
    /// Number of threads. The result does not depend on it.
    pub workers: usize,
    /// Identifies kernel, launch and configuration in keys ([`fingerprint`]).
    pub fingerprint: u32,
}

#[derive(Debug)]
pub struct OrderFinding<'k> {
    /// Finding of the minimized order.
    pub finding: KernelFinding<'k>,
    /// Number of orders with this finding.
    pub orders: u64,
    /// Minimized order. `None` if the default order has the finding too.
    pub key: Option<OrderKey>,
}

/// Result of all orders.
#[derive(Debug)]
pub struct OrdersFound<'k> {
    pub orders: u64,
    /// Number of different sequences of accesses, synchronization and copies.
    pub distinct: u64,
    pub findings: Vec<OrderFinding<'k>>,
    /// True if a signal ended the command early.
    pub interrupted: bool,
    /// True if the launch file states a result.
    checked: bool,
    kernel: &'k Kernel,
    config: &'k NamedConfig,
}

#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error("the kernel fails in the default order, so no other order was run: {0}")]
    Default(Box<RunError<Failure>>),
}

/// Sequence of the steps of a run, as a hash and counters.
struct StepTrace<'k> {
    kernel: &'k Kernel,
    hash: u64,
    steps: u64,
    try_waits: u64,
}

impl StepTrace<'_> {
    fn add(&mut self, value: u64) {
        self.hash = (self.hash.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Observer for StepTrace<'_> {
    fn observe(&mut self, _: u64, event: &CoreEvent<'_>) {
        match event {
            CoreEvent::Issue(threads, pc, _) => {
                let Some(instruction) = self.kernel.instructions.get(*pc as usize) else { return };
                let operation = &instruction.operation;
                if Schedule::is_step(operation) {
                    self.steps += 1;
                    self.add(u64::from(threads.cta) << 40 | u64::from(threads.warp) << 32 | u64::from(*pc));
                }
                if matches!(operation, Operation::Barrier(access) if access.op == Op::MbarTryWait) {
                    self.try_waits += 1;
                }
            }
            CoreEvent::ClusterRequest(pc, inputs) => {
                self.add(u64::from(pc.unwrap_or(0)) << 32 | u64::from(inputs.cl_addr) | 1 << 63);
            }
            _ => {}
        }
    }
}

/// First order and number of orders of a finding.
#[derive(Clone)]
struct Seen<'k> {
    first: u64,
    orders: u64,
    finding: KernelFinding<'k>,
}

struct OrderRun<'k> {
    trace: StepTrace<'k>,
    /// Errors, without hints.
    found: BTreeMap<FindingPlace, KernelFinding<'k>>,
    outcome: Result<RunReport, RunError<Failure>>,
}

/// Runs of one job in other orders.
struct Explorer<'s, 'k>(KernelJob<'s, 'k>);

impl<'k> Explorer<'_, 'k> {
    fn run(&self, schedule: Option<&Schedule>) -> Result<OrderRun<'k>, SetupError> {
        let mut trace = StepTrace { kernel: self.0.kernel, hash: 0, steps: 0, try_waits: 0 };
        let run = KernelJob { schedule, ..self.0 }.on(self.0.setup.model(), Some(&mut trace))?;
        let found = run.findings().into_iter().filter(|finding| !finding.hint);
        // The first finding stands for those with the same place.
        let found = found.rev().map(|finding| (finding.place(), finding)).collect();
        Ok(OrderRun { trace, found, outcome: run.outcome })
    }

    /// Removes parts of a schedule until the finding needs each preemption and each early timeout. Returns the
    /// finding in the minimized order as well.
    fn minimize(
        &self,
        (mut schedule, mut finding): (Schedule, KernelFinding<'k>),
        place: &FindingPlace,
    ) -> Result<(Schedule, KernelFinding<'k>), SetupError> {
        loop {
            let mut smaller = false;
            let mut at = 0;
            while let Some(candidate) = without(&schedule, at) {
                let same = candidate == schedule;
                let shown = if same { None } else { self.run(Some(&candidate))?.found.remove(place) };
                match shown {
                    Some(shown) => (schedule, finding, smaller) = (candidate, shown, true),
                    None => at += 1,
                }
            }
            if !smaller {
                return Ok((schedule, finding));
            }
        }
    }
}

/// Returns the schedule without its part number `at`: seeds, then preemptions, then early timeouts.
fn without(schedule: &Schedule, at: usize) -> Option<Schedule> {
    let mut less = schedule.clone();
    let (preemptions, timeouts) = (less.preemptions.len(), less.timeouts.len());
    match at {
        0 => less.copies = None,
        1 => less.clusters = 0,
        2 => less.priorities = 0,
        at if at - 3 < preemptions => drop(less.preemptions.remove(at - 3)),
        at if at - 3 - preemptions < timeouts => drop(less.timeouts.remove(at - 3 - preemptions)),
        _ => return None,
    }
    Some(less)
}

/// Runs the kernel of `job` on the model in `request.orders` orders.
///
/// # Errors
/// [`OrdersError`].
pub fn explore<'k>(
    job: KernelJob<'_, 'k>,
    request: &OrdersRequest,
    progress: &(dyn Fn() + Sync),
) -> Result<OrdersFound<'k>, OrdersError> {
    // The oracle checks the unit, which all orders share, so it would only cost time.
    let setup = &Setup { implementation: Implementation::Model, oracle: false, ..job.setup.clone() };
    let explorer = Explorer(KernelJob { setup, ..job });
    let mut found = OrdersFound {
        orders: 0,
        distinct: 0,
        findings: Vec::new(),
        interrupted: false,
        checked: true,
        kernel: job.kernel,
        config: setup.config,
    };
    let base = explorer.run(None)?;
    let report = match base.outcome {
        Ok(report) => report,
        Err(RunError::Port(Failure::Interrupted(_))) => {
            return Ok(OrdersFound { interrupted: true, ..found });
        }
        Err(RunError::Kernel(error)) if error.deadlock().is_some() => {
            let findings = base.found.into_values();
            found.findings = findings.map(|finding| OrderFinding { finding, orders: 0, key: None }).collect();
            return Ok(found);
        }
        Err(error) => return Err(OrdersError::Default(Box::new(error))),
    };
    found.checked = report.checked();
    let most = job.launch.cycle_budget.unwrap_or(0).max(SmConfig::default().cycle_budget);
    let limit = |cycles: u64| (LIMIT_FACTOR.saturating_mul(cycles) + LIMIT_CYCLES).min(most);
    // One warp at a time takes more cycles than the default order, so the limit depends on such a run.
    let cycles = report.statistics.cycles;
    let serial = Schedule { cycle_limit: Some(limit(LIMIT_FACTOR * cycles)), ..Schedule::default() };
    let first = explorer.run(Some(&serial))?;
    let limit = limit(first.outcome.map_or(0, |report| report.statistics.cycles).max(cycles));
    let extent = KernelExtent {
        steps: base.trace.steps.max(first.trace.steps).max(1),
        try_waits: base.trace.try_waits.max(first.trace.try_waits),
        copies: report.statistics.copies,
        clusters: report.statistics.ctas as u32,
    };
    let schedule = |index: u64| Schedule {
        cycle_limit: Some(limit),
        // The first order runs warp after warp.
        ..if index == 0 { Schedule::default() } else { Schedule::draw(request.seed, index, &extent) }
    };
    let seen: Mutex<BTreeMap<FindingPlace, Seen<'k>>> = Mutex::default();
    let interrupted = AtomicBool::new(false);
    let workers = vec![(); request.workers.max(1)];
    let traces = in_parallel(&workers, request.orders as usize, |_, index| -> Result<_, SetupError> {
        let index = index as u64;
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let run = explorer.run(Some(&schedule(index)))?;
        if let Err(RunError::Port(Failure::Interrupted(_))) = run.outcome {
            interrupted.store(true, Ordering::Relaxed);
            return Ok(None);
        }
        if !run.found.is_empty() {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            for (place, finding) in run.found {
                let new = || Seen { first: index, orders: 0, finding: finding.clone() };
                let known = seen.entry(place).or_insert_with(new);
                if index < known.first {
                    (known.first, known.finding) = (index, finding);
                }
                known.orders += 1;
            }
            // Keep the smallest places, which do not depend on the order of threads.
            while seen.len() > MOST_FINDINGS {
                seen.pop_last();
            }
        }
        progress();
        Ok(Some(run.trace.hash))
    })?;
    let hashes: Vec<u64> = traces.into_iter().flatten().collect();
    found.orders = hashes.len() as u64;
    found.distinct = hashes.into_iter().collect::<HashSet<_>>().len() as u64;
    found.interrupted = interrupted.into_inner();
    let mut seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (place, finding) in base.found {
        let orders = seen.remove(&place).map_or(0, |seen| seen.orders);
        found.findings.push(OrderFinding { finding, orders, key: None });
    }
    let seen: Vec<_> = seen.into_iter().collect();
    let minimized = in_parallel(&workers, seen.len(), |_, at| -> Result<_, SetupError> {
        let (place, Seen { first, orders, finding }) = seen[at].clone();
        let order = (schedule(first), finding);
        let (mut schedule, finding) =
            if found.interrupted { order } else { explorer.minimize(order, &place)? };
        if place.fault != KernelFault::Endless {
            schedule.cycle_limit = None;
        }
        let key = Some(OrderKey::new(request.fingerprint, schedule));
        Ok(OrderFinding { finding, orders, key })
    })?;
    found.findings.extend(minimized);
    Ok(found)
}
