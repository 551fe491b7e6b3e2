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

use std::collections::VecDeque;
use std::sync::Arc;

use atoms_model::Config;
use atoms_model::port::{In, Out, Probe};
use atoms_ops::Op;
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, WarpRequest};

pub use cycle::{
    AllocationSettled, Appearance, AtIssue, BankPorts, BankWrite, ClusterAnswer, ClusterDone, Cycle, Driven,
    Dropped, InFlight, LastStage, PassIssued, Pipeline, QueueState, Unmatched, WaiterPlaces, WakeUp,
    WarpAnswer,
};
pub use listener::Listener;

/// Monitor of the ports and the probe of one machine, from reset on.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    /// Stage of the pipeline that writes the banks.
    last_stage: u32,
    /// Warp requests without an answer. Requests that a younger one overtook are in `overtaken`.
    warps: VecDeque<InFlight<WarpRequest>>,
    overtaken: Vec<InFlight<WarpRequest>>,
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
            self.warps.push_back(request.clone());
            cycle.warp_accepted = Some(request);
        }
        if i.cl_valid & out.cl_ready == 1 {
            let request = self.accept(1, number, ClusterRequest::sample(i));
            self.clusters.push_back(request.clone());
            cycle.cluster_accepted = Some(request);
        }
    }

    /// Returns the number of requests inside the unit. A request leaves when its answer is taken; a posted
    /// cluster request leaves when it is carried out.
    pub fn inside(&self) -> usize {
        let answered = usize::from(self.answered.is_some()) + usize::from(self.woken.is_some());
        self.warps.len() + self.overtaken.len() + answered + self.clusters.len() + self.owing.len()
    }

    /// Returns the warp requests of [`Monitor::inside`], oldest first.
    pub fn warps(&self) -> Vec<InFlight<WarpRequest>> {
        let answered = self.answered.iter().chain(&self.woken);
        let mut inside: Vec<_> = answered.chain(&self.overtaken).chain(&self.warps).cloned().collect();
        inside.sort_by_key(|request| request.number);
        inside
    }

    /// Returns the cluster requests of [`Monitor::inside`], oldest first.
    pub fn clusters(&self) -> Vec<InFlight<ClusterRequest>> {
        self.owing.iter().chain(&self.clusters).cloned().collect()
    }

    /// Returns the oldest warp request without an answer. Requests known to be suspended do not count.
    pub fn unanswered_warp(&self) -> Option<&InFlight<WarpRequest>> {
        self.warps.front()
    }

    /// Returns the oldest cluster request that is not carried out.
    pub fn waiting_cluster(&self) -> Option<&InFlight<ClusterRequest>> {
        self.clusters.front()
    }

    /// Returns true if every warp request has its answer and every cluster request is carried out.
    pub fn all_done(&self) -> bool {
        self.warps.is_empty() && self.overtaken.is_empty() && self.clusters.is_empty()
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
        let warp = self.warps.front().map(|waiting| waiting.taken_at);
        let cluster = self.clusters.front().map(|waiting| waiting.taken_at);
        warp.into_iter().chain(cluster).min()
    }

    fn warp_answer<'a>(&mut self, taken: bool, out: &'a Out) -> WarpAnswer<'a> {
        let appears = self.appears(RESPONSE).then(|| {
            let request = self.warp_of(out.rsp_tag);
            self.answered = request.clone().ok().or_else(|| self.oldest_with(out.rsp_tag));
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
            let request = self.suspended_of(out.wake_tag);
            self.woken = request.clone().ok().or_else(|| self.oldest_with(out.wake_tag));
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
        let warps = self.overtaken.drain(..).chain(self.warps.drain(..)).collect();
        let clusters = self.clusters.drain(..).collect();
        let Monitor { last_stage, accepted, passes_issued, .. } = *self;
        *self = Monitor { last_stage, accepted, issued: accepted, passes_issued, ..Monitor::default() };
        Dropped { warps, clusters, answers }
    }

    /// Finds the warp request that a response with this tag answers. All older requests are suspended.
    fn warp_of(&mut self, tag: u8) -> Result<InFlight<WarpRequest>, Unmatched> {
        let older = |waiting: &&InFlight<WarpRequest>| waits(waiting) && waiting.request.tag != tag;
        let overtaken = self.warps.iter().take_while(older).count();
        let answered = self.warps.get(overtaken).ok_or(Unmatched::NoRequest)?;
        if answered.request.tag != tag {
            return Err(Unmatched::OtherTag(answered.request.tag));
        }
        if waits(answered) {
            // If this wait is suspended, the response may belong to a younger request with the same tag.
            let mut younger = self.warps.iter().skip(overtaken + 1);
            let next = younger.find(|waiting| !waits(waiting) || waiting.request.tag == tag);
            if next.is_some_and(|waiting| waiting.request.tag == tag) {
                return Err(Unmatched::Ambiguous);
            }
        }
        self.overtaken.extend(self.warps.drain(..overtaken));
        self.warps.pop_front().ok_or(Unmatched::NoRequest)
    }

    /// Finds the request that a wake-up with this tag answers: a request known to be suspended, or a wait at
    /// the head of the queue that only waits precede.
    fn suspended_of(&mut self, tag: u8) -> Result<InFlight<WarpRequest>, Unmatched> {
        let fits = |waiting: &InFlight<WarpRequest>| waiting.request.tag == tag;
        let overtaken = self.overtaken.iter().position(fits);
        let mut head = self.warps.iter().take_while(|waiting| waits(waiting));
        let waiting = head.position(fits);
        if overtaken.is_some() && waiting.is_some()
            || self.overtaken.iter().filter(|waiting| fits(waiting)).count() > 1
            || head.any(fits)
        {
            return Err(Unmatched::Ambiguous);
        }
        if let Some(place) = waiting {
            self.overtaken.extend(self.warps.drain(..place));
            return self.warps.pop_front().ok_or(Unmatched::NoRequest);
        }
        Ok(self.overtaken.swap_remove(overtaken.ok_or(Unmatched::NoRequest)?))
    }

    /// Removes the oldest request with this tag, for an answer that matches no request for certain.
    fn oldest_with(&mut self, tag: u8) -> Option<InFlight<WarpRequest>> {
        let suspended = self.overtaken.iter().enumerate().filter(|(_, waiting)| waiting.request.tag == tag);
        if let Some((place, _)) = suspended.min_by_key(|(_, waiting)| waiting.number) {
            return Some(self.overtaken.swap_remove(place));
        }
        let place = self.warps.iter().position(|waiting| waiting.request.tag == tag)?;
        self.warps.remove(place)
    }
}

/// Returns true for an MBAR.TRY_WAIT, the only operation that can be suspended.
fn waits(waiting: &InFlight<WarpRequest>) -> bool {
    waiting.request.op == Op::MbarTryWait as u8
}

#[cfg(test)]
mod tests;
