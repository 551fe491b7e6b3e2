//! Usage statistics of a run: cycles, latencies, passes, conflicts, hazards, queues, banks over time, and
//! retries. `docs/reports.md` explains each figure.
//!
//! [`Usage`] listens to a session. Model and RTL give the same figures: all come from transactions.

mod banks;
mod distribution;
mod report;
mod retries;
mod stack;

use std::collections::VecDeque;

use atoms_model::Config;
use atoms_ops::Op;

pub use banks::{BankUsage, MAX_INTERVALS};
pub use distribution::Distribution;
pub use report::{
    BackPressure, ClusterUsage, HazardUsage, LatencyUsage, Throughput, UsageReport, WaitUsage, WarpUsage,
};
pub use retries::RetryUsage;
pub use stack::{CycleClass, CycleStack};

use atoms_monitor::Listener;
use atoms_monitor::{Cycle, InFlight, PassIssued, Pipeline, WarpAnswer};
use atoms_stimulus::request::{ClusterRequest, WarpRequest};
use banks::BankTimeline;
use retries::{Retries, Tried, may_fail, not_selected};
use stack::CycleSample;

#[derive(Clone, Debug)]
struct Stages {
    number: u64,
    accepted: u64,
    /// Cycles in which the first pass and the latest pass were issued.
    passes: Option<(u64, u64)>,
}

impl Stages {
    fn new<R>(request: &InFlight<R>) -> Self {
        Stages { number: request.number, accepted: request.taken_at, passes: None }
    }
}

#[derive(Clone, Debug)]
struct WarpInside {
    stages: Stages,
    lanes: u32,
    may_fail: Option<Op>,
    size: u8,
    retry: bool,
    not_selected: u32,
}

#[derive(Clone, Debug)]
struct ClusterInside {
    stages: Stages,
    may_fail: Option<Op>,
    /// True if the request owes a response only after a fault.
    posted: bool,
}

/// Measures the usage of the unit. It must listen to a session from its first cycle.
#[derive(Clone, Debug)]
pub struct Usage {
    config: Config,
    report: UsageReport,
    banks: BankTimeline,
    retries: Retries,
    passes: u64,
    /// Requests without an answer, oldest first. Suspended requests are in `suspended`.
    warps: VecDeque<WarpInside>,
    /// Suspended requests, each with the cycle in which it was suspended.
    suspended: Vec<(WarpInside, u64)>,
    /// Cluster requests not carried out, oldest first. `owing` has those whose response is not taken.
    clusters: VecDeque<ClusterInside>,
    owing: VecDeque<ClusterInside>,
    /// Number of the request whose response is offered. `wake_up` is that of the wake-up.
    response: Option<u64>,
    wake_up: Option<u64>,
    /// Posted request at the head of its queue whose address was looked up while there was no room for a response.
    looked_up: Option<u64>,
}

impl Usage {
    /// Creates statistics for a machine of `config`.
    pub fn new(config: &Config) -> Self {
        let report = UsageReport {
            cycles: 0,
            stack: CycleStack::default(),
            throughput: Throughput::default(),
            warp: WarpUsage::default(),
            cluster: ClusterUsage::default(),
            waits: WaitUsage::default(),
            back_pressure: BackPressure::default(),
            hazards: HazardUsage { forwarding: config.forwarding, ..HazardUsage::default() },
            warp_queue: Distribution::default(),
            cluster_queue: Distribution::default(),
            banks: BankUsage::default(),
            retries: Vec::new(),
        };
        Usage {
            config: *config,
            report,
            banks: BankTimeline::new(),
            retries: Retries::new(),
            passes: 0,
            warps: VecDeque::new(),
            suspended: Vec::new(),
            clusters: VecDeque::new(),
            owing: VecDeque::new(),
            response: None,
            wake_up: None,
            looked_up: None,
        }
    }

    /// Returns the figures of all cycles seen.
    pub fn report(&self) -> UsageReport {
        let UsageReport { cycles, warp, cluster, .. } = &self.report;
        let banks = self.banks.usage(&self.config);
        let per = |count: u64, of: u64| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        let throughput = Throughput {
            passes_per_cycle: per(self.passes, *cycles),
            requests_per_cycle: per(warp.answered + cluster.answered + cluster.posted, *cycles),
            lane_operations_per_cycle: per(warp.lane_operations + cluster.lane_operations, *cycles),
            bank_utilisation: per(banks.served.iter().sum(), cycles * u64::from(self.config.num_banks)),
        };
        UsageReport { throughput, banks, retries: self.retries.usage(), ..self.report.clone() }
    }

    fn answers(&mut self, cycle: &Cycle<'_>) {
        if let Some(answer) = &cycle.warp_answer {
            if let Some(appears) = &answer.appears {
                self.response = appears.request.as_ref().ok().map(|request| request.number);
                if let Ok(InFlight { request, .. }) = &appears.request
                    && Op::from_code(request.op).is_some_and(Op::compares)
                {
                    let lanes = request.mask & self.config.lane_mask() & !answer.pred;
                    self.retries.failed(request, if answer.fault == 0 { lanes } else { 0 });
                }
            }
            if answer.taken {
                self.warp_answered(answer, cycle.number);
            }
            self.report.back_pressure.warp_responses += u64::from(!answer.taken);
        }
        if let Some(answer) = &cycle.wake_up {
            if let Some(appears) = &answer.appears {
                self.wake_up = appears.request.as_ref().ok().map(|request| request.number);
            }
            if answer.taken {
                self.woken(answer.pred, cycle.number);
            }
            self.report.back_pressure.wake_ups += u64::from(!answer.taken);
        }
        if let Some(answer) = &cycle.cluster_answer {
            if answer.taken
                && let Some(request) = self.owing.pop_front()
            {
                let usage = &mut self.report.cluster;
                usage.answered += 1;
                usage.faults += u64::from(answer.fault != 0);
                usage.latency.record(&request.stages, cycle.number);
                if let Some(op) = request.may_fail.filter(|_| answer.fault == 0) {
                    let succeeded = answer.pred.into();
                    self.retries.answered(&Tried { op, lanes: 1, succeeded, retry: false, not_selected: 0 });
                }
            }
            self.report.back_pressure.cluster_responses += u64::from(!answer.taken);
        }
    }

    fn warp_answered(&mut self, answer: &WarpAnswer<'_>, now: u64) {
        let Some(number) = self.response.take() else { return };
        // Drop older requests: they get no answer any more.
        while self.warps.front().is_some_and(|older| older.stages.number < number) {
            self.warps.pop_front();
        }
        if self.warps.front().is_none_or(|request| request.stages.number != number) {
            return;
        }
        let Some(request) = self.warps.pop_front() else { return };
        let usage = &mut self.report.warp;
        usage.answered += 1;
        usage.faults += u64::from(answer.fault != 0);
        usage.latency.record(&request.stages, now);
        if answer.fault == 0 {
            self.tried(&request, answer.pred);
        }
    }

    fn woken(&mut self, pred: u32, now: u64) {
        let number = self.wake_up.take();
        let Some(place) = self.suspended.iter().position(|(r, _)| Some(r.stages.number) == number) else {
            return;
        };
        let (request, since) = self.suspended.swap_remove(place);
        self.report.warp.answered += 1;
        let waits = &mut self.report.waits;
        let cycles = if pred == 0 { &mut waits.timed_out } else { &mut waits.woken };
        cycles.record(now - since);
        self.tried(&request, pred);
    }

    /// Counts the attempts of a warp request that was answered without a fault.
    fn tried(&mut self, request: &WarpInside, pred: u32) {
        let WarpInside { may_fail, lanes, retry, not_selected, .. } = *request;
        if let Some(op) = may_fail {
            self.retries.answered(&Tried { op, lanes, succeeded: pred, retry, not_selected });
        }
    }

    /// Counts an issued pass. Returns true if its request repeats a failed attempt.
    fn issued(&mut self, pass: &PassIssued, now: u64) -> bool {
        self.passes += 1;
        let lanes = u64::from(pass.lanes.count_ones());
        if pass.cluster {
            self.report.cluster.lane_operations += lanes;
            if let Some(request) = inside(&mut self.clusters, pass.number, |r| r.stages.number) {
                request.stages.passes = Some((now, now));
            }
            return false;
        }
        let usage = &mut self.report.warp;
        usage.lane_operations += lanes;
        usage.conflicts += u64::from(pass.index > 0);
        if pass.last {
            usage.passes.record(u64::from(pass.index) + u64::from(pass.lanes != 0));
        }
        let Some(request) = inside(&mut self.warps, pass.number, |r| r.stages.number) else { return false };
        let (first, _) = request.stages.passes.unwrap_or((now, now));
        request.stages.passes = Some((first, now));
        if request.may_fail == Some(Op::CastSpin) {
            request.not_selected = not_selected(request.size, pass.lanes, pass.banks);
        }
        request.retry
    }

    fn ends(&mut self, cycle: &Cycle<'_>) {
        if let Some(last) = cycle.last_stage
            && last.done
            && last.suspends
            && let Some(place) = self.warps.iter().position(|r| r.stages.number == last.pass.number)
        {
            self.report.waits.suspended += 1;
            let request = self.warps.remove(place);
            self.suspended.extend(request.map(|request| (request, cycle.number)));
        }
        if let Some(done) = &cycle.cluster_done
            && let Some(request) = self.clusters.pop_front()
        {
            if done.owes {
                self.owing.push_back(request);
            } else {
                self.report.cluster.posted += 1;
                self.report.cluster.posted_latency.record(&request.stages, cycle.number);
            }
        }
        if let Some(accepted) = &cycle.warp_accepted {
            self.report.warp.accepted += 1;
            let request = self.warp_request(accepted);
            self.warps.push_back(request);
        }
        if let Some(accepted) = &cycle.cluster_accepted {
            self.report.cluster.accepted += 1;
            let ClusterRequest { op, red, .. } = *accepted.request;
            let op = Op::from_code(op);
            self.clusters.push_back(ClusterInside {
                stages: Stages::new(accepted),
                may_fail: op.filter(|op| may_fail(*op)),
                posted: red && !op.is_some_and(Op::compares),
            });
        }
    }

    fn warp_request(&self, accepted: &InFlight<WarpRequest>) -> WarpInside {
        let request = &accepted.request;
        let lanes = request.mask & self.config.lane_mask();
        let may_fail = Op::from_code(request.op).filter(|op| may_fail(*op));
        WarpInside {
            stages: Stages::new(accepted),
            lanes,
            may_fail,
            size: request.size,
            retry: may_fail.is_some_and(Op::compares) && self.retries.repeats(request, lanes),
            not_selected: 0,
        }
    }

    /// Returns true if the next cluster request waits for room for its response. A posted request needs room
    /// only after a fault, which is known once its address was looked up.
    fn no_room(&mut self, cycle: &Cycle<'_>, pipeline: &Pipeline) -> bool {
        let waiting = usize::from(cycle.queues()[1].level);
        if waiting == 0 || u32::from(cycle.cluster_responses_owed()) < self.config.cluster_responses() {
            return false;
        }
        let next = self.clusters.len().checked_sub(waiting).and_then(|place| self.clusters.get(place));
        let Some(ClusterInside { stages, posted, .. }) = next else { return false };
        let issue_is_free = pipeline.at_issue.is_none() || cycle.pass_issued.is_some_and(|pass| pass.last);
        let looks = issue_is_free && !pipeline.stalled && cycle.queues()[0].level == 0;
        !posted || looks && self.looked_up.replace(stages.number) == Some(stages.number)
    }

    /// Counts a cycle in which a hazard holds back the pass at issue.
    fn held_back(&mut self, pipeline: &Pipeline) {
        let Some(at_issue) = pipeline.at_issue else { return };
        let request =
            inside(&mut self.warps, at_issue.number, |r| r.stages.number).filter(|_| !at_issue.cluster);
        let hazards = &mut self.report.hazards;
        match request.and_then(|request| request.stages.passes) {
            None => hazards.first_pass += 1,
            Some(_) => hazards.between_passes += 1,
        }
    }

    fn reset(&mut self) {
        self.report.warp.dropped += (self.warps.len() + self.suspended.len()) as u64;
        self.report.cluster.dropped += (self.clusters.len() + self.owing.len()) as u64;
        self.warps.clear();
        self.suspended.clear();
        self.clusters.clear();
        self.owing.clear();
        (self.response, self.wake_up, self.looked_up) = (None, None, None);
        self.retries.reset();
    }
}

impl Listener for Usage {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        self.report.cycles += 1;
        let (mut retry, mut no_room, mut written) = (false, false, 0);
        let (pass, pipeline) = (cycle.pass_issued, cycle.pipeline());
        let [warps, clusters] = cycle.queues();
        if cycle.reset.is_some() {
            self.reset();
        } else {
            self.answers(cycle);
            retry = pass.is_some_and(|pass| self.issued(&pass, cycle.number));
            no_room = self.no_room(cycle, &pipeline);
            written = cycle.bank_ports().written;
            let held = &mut self.report.back_pressure;
            held.warp_requests += u64::from(warps.refuses);
            held.cluster_requests += u64::from(clusters.refuses);
            held.table_writes += u64::from(cycle.driven().allocation && cycle.allocation.is_none());
        }
        let class = CycleClass::of(&CycleSample { cycle, pipeline, pass, retry, no_room });
        self.report.stack.count(class);
        if class == CycleClass::Hazard {
            self.held_back(&pipeline);
        }
        self.banks.cycle(pass.map_or(0, |pass| pass.banks), written);
        self.report.warp_queue.record(warps.level.into());
        self.report.cluster_queue.record(clusters.level.into());
        if cycle.reset.is_none() {
            self.ends(cycle);
        }
    }

    fn restart(&mut self) {
        *self = Usage::new(&self.config);
    }
}

impl LatencyUsage {
    /// Records a request whose answer is taken in cycle `end`.
    fn record(&mut self, stages: &Stages, end: u64) {
        let Some((first, last)) = stages.passes else { return };
        self.total.record(end - stages.accepted);
        self.queueing.record(first - stages.accepted);
        self.service.record(last - first);
        self.answer.record(end - last);
    }
}

/// Finds a request by number in a list sorted by number. Without gaps, the first number gives the index.
#[inline]
fn inside<R>(requests: &mut VecDeque<R>, number: u64, of: impl Fn(&R) -> u64) -> Option<&mut R> {
    let mut place = number.checked_sub(of(requests.front()?))? as usize;
    if requests.get(place).is_none_or(|request| of(request) != number) {
        place = requests.partition_point(|request| of(request) < number);
    }
    requests.get_mut(place).filter(|request| of(request) == number)
}
