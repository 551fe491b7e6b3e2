//! Turns the pins and the probe of a machine into transactions, one [`Cycle`] at a time.
//!
//! A [`Listener`] sees cycles. It need not know handshakes, nor match answers to requests. A request gets a
//! number when its port accepts it, and keeps that number.
//!
//! A warp request is done in the cycle before its answer appears. A cluster request is done when the probe
//! says so: a posted request has no response (spec 4.7), and other responses may wait for earlier ones. Bank
//! writes between two such points therefore belong to the second request.
//!
//! The ports alone determine which warp request an answer belongs to. The unit answers in order, with one
//! exception: a suspended MBAR.TRY_WAIT is answered later, by a wake-up. If an answer belongs to a younger
//! request, all older ones are suspended MBAR.TRY_WAITs.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod cycle;
mod listener;
mod warp_queue;

use std::collections::VecDeque;
use std::sync::Arc;

use atoms_model::Config;
use atoms_model::port::{In, Out, Probe};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, WarpRequest};

pub use cycle::{
    AllocationSettled, Appearance, AtIssue, BankPorts, BankWrite, ClusterAnswer, ClusterDone, Cycle, Driven,
    Dropped, InFlight, LastStage, PassIssued, Pipeline, QueueState, Unmatched, WaiterPlaces, WakeUp,
    WarpAnswer,
};
pub use listener::Listener;
pub use warp_queue::{WarpEntry, WarpQueue};

/// Monitor of the ports and the probe of one machine, from reset on.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    /// Stage of the pipeline that writes the banks.
    last_stage: u32,
    warps: WarpQueue<InFlight<WarpRequest>>,
    /// Warp request whose response is offered. `woken` is the one whose wake-up is offered.
    answered: Option<InFlight<WarpRequest>>,
    woken: Option<InFlight<WarpRequest>>,
    /// Cluster requests that are not carried out. `owing` has those that were, and owe a response.
    clusters: VecDeque<InFlight<ClusterRequest>>,
    owing: VecDeque<InFlight<ClusterRequest>>,
    /// Requests accepted by each port. `issued` counts those that reached issue.
    accepted: [u64; 2],
    issued: [u64; 2],
    at_issue: Option<u64>,
    /// Passes issued so far. `passes` has those still in the pipeline.
    passes_issued: u64,
    passes: VecDeque<PassIssued>,
    /// Ports with an answer that the monitor has already reported as appeared.
    standing: u8,
    /// CTA slot of the table write accepted in the previous cycle.
    allocation: Option<u8>,
    /// True if there is no probe. Then cluster requests are not followed after their acceptance.
    ports_only: bool,
}

/// Bits of the ports in [`Monitor::standing`].
const RESPONSE: u8 = 1;
const WAKE_UP: u8 = 1 << 1;
const CLUSTER_RESPONSE: u8 = 1 << 2;

impl Monitor {
    /// Creates a monitor for a machine of `config`.
    pub fn new(config: &Config) -> Self {
        Monitor { last_stage: config.rmw_latency, ..Monitor::default() }
    }

    /// Creates a monitor for a machine without a probe. It does not follow cluster requests, which can execute
    /// unseen.
    pub fn of_ports() -> Self {
        Monitor { ports_only: true, ..Monitor::default() }
    }

    /// Returns the number of ports with an answer that is not taken.
    pub fn offered(&self) -> usize {
        self.standing.count_ones() as usize
    }

    /// Returns the transactions of cycle `number`, with inputs `i`, outputs `out` and probe `probe`.
    #[inline]
    pub fn cycle<'a>(&mut self, number: u64, i: &'a In, out: &'a Out, probe: &'a Probe) -> Cycle<'a> {
        // Build the cycle where the caller keeps it. A move would copy 600 bytes in every cycle.
        let mut cycle = Cycle {
            number,
            allocation_settled: None,
            warp_answer: None,
            cluster_answer: None,
            cluster_taken: None,
            wake_up: None,
            reset: None,
            pass_issued: None,
            last_stage: None,
            cluster_done: None,
            allocation: None,
            warp_accepted: None,
            cluster_accepted: None,
            pins: (i, out, probe),
            banks_written: 0,
            at_issue: None,
        };
        self.follow(&mut cycle);
        cycle
    }

    #[inline(never)]
    fn follow(&mut self, cycle: &mut Cycle<'_>) {
        let (number, (i, out, probe)) = (cycle.number, cycle.pins);
        if let Some(slot) = self.allocation.take() {
            cycle.allocation_settled = Some(AllocationSettled { slot, rejected: out.cta_reject == 1 });
        }
        if out.rsp_valid == 1 {
            cycle.warp_answer = Some(self.warp_answer(i.rsp_ready == 1, out));
        }
        if out.cl_rsp_valid == 1 {
            cycle.cluster_answer = Some(self.cluster_answer(i.cl_rsp_ready == 1, out));
        }
        if out.wake_valid == 1 {
            cycle.wake_up = Some(self.wake_up(i.wake_ready == 1, out));
        }
        cycle.at_issue = self.at_issue(probe);
        if i.rst_n == 0 {
            cycle.reset = Some(self.reset());
            return;
        }
        if self.standing != 0 {
            cycle.cluster_taken = self.take(i);
        }
        if probe.pipe_valid >> self.last_stage & 1 == 1
            && let Some(pass) = self.passes.front()
        {
            let (done, suspends, owes) = (probe.stall == 0, probe.wait_enter == 1, probe.cl_owes == 1);
            cycle.last_stage = Some(LastStage { pass: *pass, done, suspends, owes });
            if done {
                self.passes.pop_front();
            }
        }
        if probe.pass_fire == 1 {
            cycle.pass_issued = self.pass_issued(probe);
        }
        cycle.banks_written = probe.wr_en;
        if probe.cl_done == 1 {
            let request = self.clusters.pop_front();
            let owes = probe.cl_owes == 1;
            if owes {
                self.owing.extend(request.clone());
            }
            let oldest_unanswered = self.oldest_unanswered();
            cycle.cluster_done = Some(ClusterDone { request, owes, oldest_unanswered });
        }
        if i.cta_valid & out.cta_ready == 1 {
            cycle.allocation = Some(AllocationWrite::sample(i));
            self.allocation = Some(i.cta_slot);
        }
        if i.req_valid & out.req_ready == 1 {
            let request = self.accept(0, number, WarpRequest::sample(i));
            self.warps.accept(request.clone());
            cycle.warp_accepted = Some(request);
        }
        if i.cl_valid & out.cl_ready == 1 {
            let request = self.accept(1, number, ClusterRequest::sample(i));
            if !self.ports_only {
                self.clusters.push_back(request.clone());
            }
            cycle.cluster_accepted = Some(request);
        }
    }

    /// Returns the number of requests inside the unit. A request leaves when its answer is taken; a posted
    /// cluster request leaves when it is carried out.
    pub fn inside(&self) -> usize {
        let answered = usize::from(self.answered.is_some()) + usize::from(self.woken.is_some());
        self.unanswered_warps() + answered + self.clusters.len() + self.owing.len()
    }

    /// Returns the warp requests of [`Monitor::inside`], oldest first.
    pub fn warps(&self) -> Vec<InFlight<WarpRequest>> {
        let answered = self.answered.iter().chain(&self.woken);
        let unanswered = self.warps.suspended().iter().chain(self.warps.waiting());
        let mut inside: Vec<_> = answered.chain(unanswered).cloned().collect();
        inside.sort_by_key(|request| request.number);
        inside
    }

    /// Returns the cluster requests of [`Monitor::inside`], oldest first.
    pub fn clusters(&self) -> Vec<InFlight<ClusterRequest>> {
        self.owing.iter().chain(&self.clusters).cloned().collect()
    }

    /// Returns the oldest warp request without an answer. Requests known to be suspended do not count.
    pub fn unanswered_warp(&self) -> Option<&InFlight<WarpRequest>> {
        self.warps.waiting().front()
    }

    /// Returns the oldest cluster request that is not carried out.
    pub fn waiting_cluster(&self) -> Option<&InFlight<ClusterRequest>> {
        self.clusters.front()
    }

    /// Returns true if every warp request has its answer and every cluster request is carried out.
    pub fn all_done(&self) -> bool {
        self.unanswered_warps() == 0 && self.clusters.is_empty()
    }

    fn unanswered_warps(&self) -> usize {
        self.warps.waiting().len() + self.warps.suspended().len()
    }

    /// Removes the requests whose answer is taken. Returns the one of the cluster port.
    fn take(&mut self, i: &In) -> Option<InFlight<ClusterRequest>> {
        let ready = i.rsp_ready | i.wake_ready << 1 | i.cl_rsp_ready << 2;
        let taken = ready & self.standing;
        self.standing &= !taken;
        if taken & RESPONSE != 0 {
            self.answered = None;
        }
        if taken & WAKE_UP != 0 {
            self.woken = None;
        }
        if taken & CLUSTER_RESPONSE == 0 {
            return None;
        }
        self.owing.pop_front().or_else(|| self.clusters.pop_front())
    }

    /// Marks that an answer is offered at `port`. Returns true if this is its first cycle.
    fn appears(&mut self, port: u8) -> bool {
        let appears = self.standing & port == 0;
        self.standing |= port;
        appears
    }

    fn accept<R>(&mut self, port: usize, taken_at: u64, request: R) -> InFlight<R> {
        self.accepted[port] += 1;
        InFlight { number: self.accepted[port] - 1, taken_at, request: Arc::new(request) }
    }

    /// Returns the number of the request at issue, and true if this is its first cycle there.
    fn at_issue(&mut self, probe: &Probe) -> Option<(u64, bool)> {
        if probe.issue_valid == 0 {
            self.at_issue = None;
            return None;
        }
        let arrives = self.at_issue.is_none();
        let issued = &mut self.issued[usize::from(probe.issue_cluster & 1)];
        let number = *self.at_issue.get_or_insert_with(|| {
            *issued += 1;
            *issued - 1
        });
        Some((number, arrives))
    }

    fn pass_issued(&mut self, probe: &Probe) -> Option<PassIssued> {
        let number = self.at_issue?;
        let last = probe.pass_last == 1;
        self.at_issue = (!last).then_some(number);
        self.passes_issued += 1;
        let pass = PassIssued {
            cluster: probe.issue_cluster == 1,
            number,
            index: probe.pass_index,
            lanes: probe.pass_served,
            last,
            banks: probe.win_valid,
            first_lane: probe.rotate,
            serial: self.passes_issued - 1,
        };
        self.passes.push_back(pass);
        Some(pass)
    }

    fn oldest_unanswered(&self) -> Option<u64> {
        let warp = self.warps.waiting().front().map(|waiting| waiting.taken_at);
        let cluster = self.clusters.front().map(|waiting| waiting.taken_at);
        warp.into_iter().chain(cluster).min()
    }

    fn warp_answer<'a>(&mut self, taken: bool, out: &'a Out) -> WarpAnswer<'a> {
        let appears = self.appears(RESPONSE).then(|| {
            let request = self.warps.answered(out.rsp_tag);
            self.answered = request.clone().ok().or_else(|| self.warps.oldest_with(out.rsp_tag));
            Appearance { request, oldest_unanswered: self.oldest_unanswered() }
        });
        WarpAnswer {
            appears,
            taken,
            tag: out.rsp_tag,
            rd: &out.rsp_rd,
            pred: out.rsp_pred,
            fault: out.rsp_fault,
            fault_lane: out.rsp_fault_lane,
            fault_addr: out.rsp_fault_addr,
            passes: out.rsp_passes,
        }
    }

    fn wake_up(&mut self, taken: bool, out: &Out) -> WakeUp {
        let appears = self.appears(WAKE_UP).then(|| {
            let request = self.warps.woken(out.wake_tag);
            self.woken = request.clone().ok().or_else(|| self.warps.oldest_with(out.wake_tag));
            Appearance { request, oldest_unanswered: self.oldest_unanswered() }
        });
        WakeUp { appears, taken, tag: out.wake_tag, pred: out.wake_pred }
    }

    fn cluster_answer(&mut self, taken: bool, out: &Out) -> ClusterAnswer {
        ClusterAnswer {
            appears: self.appears(CLUSTER_RESPONSE),
            taken,
            tag: out.cl_rsp_tag,
            rd: out.cl_rsp_rd,
            pred: out.cl_rsp_pred == 1,
            fault: out.cl_rsp_fault,
            fault_addr: out.cl_rsp_fault_addr,
        }
    }

    /// Drops all requests. In a reset cycle nothing is taken or written, and no later answer follows.
    fn reset(&mut self) -> Dropped {
        let answers = u64::from(self.answered.is_some()) + u64::from(self.woken.is_some());
        let warps = self.warps.drain();
        let clusters = self.clusters.drain(..).collect();
        let Monitor { last_stage, accepted, passes_issued, ports_only, .. } = *self;
        *self = Monitor {
            last_stage,
            accepted,
            issued: accepted,
            passes_issued,
            ports_only,
            ..Monitor::default()
        };
        Dropped { warps, clusters, answers }
    }
}

#[cfg(test)]
mod tests;
