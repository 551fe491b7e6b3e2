//! Transactions and states of one cycle.

use std::sync::Arc;

use atoms_model::port::{In, MAX_BANKS, MAX_LANES, Out, Probe};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, WarpRequest};

/// A request that its port accepted and that may still be inside the unit.
#[derive(Debug)]
pub struct InFlight<R> {
    /// Number of the request, counted from 0 per port in order of acceptance, also across resets.
    pub number: u64,
    /// Cycle in which the port accepted it.
    pub taken_at: u64,
    /// Operation, addresses and operands, as sampled at the port.
    pub request: Arc<R>,
}

impl<R> Clone for InFlight<R> {
    fn clone(&self) -> Self {
        InFlight { request: Arc::clone(&self.request), ..*self }
    }
}

/// Transactions of one cycle, in the order in which they take effect. A word written in the cycle in which an
/// answer appears belongs to a later request.
///
/// In a reset cycle, only `allocation_settled`, the answers and `reset` can be set.
#[derive(Debug)]
pub struct Cycle<'a> {
    /// Number of the cycle, from 0.
    pub number: u64,
    /// Result of the CTA table write that was accepted in the previous cycle.
    pub allocation_settled: Option<AllocationSettled>,
    /// Response offered at the warp port.
    pub warp_answer: Option<WarpAnswer<'a>>,
    /// Response offered at the cluster port.
    pub cluster_answer: Option<ClusterAnswer>,
    /// Cluster request whose response the driver takes in this cycle.
    pub cluster_taken: Option<InFlight<ClusterRequest>>,
    /// Wake-up offered at the wake-up port.
    pub wake_up: Option<WakeUp>,
    /// Requests that the reset drops. `None` unless this is a reset cycle.
    pub reset: Option<Dropped>,
    /// Pass issued in this cycle.
    pub pass_issued: Option<PassIssued>,
    /// Pass in the last stage of the pipeline.
    pub last_stage: Option<LastStage>,
    /// Cluster request that is carried out in this cycle.
    pub cluster_done: Option<ClusterDone>,
    /// CTA table write accepted in this cycle.
    pub allocation: Option<AllocationWrite>,
    /// Warp request accepted in this cycle.
    pub warp_accepted: Option<InFlight<WarpRequest>>,
    /// Cluster request accepted in this cycle.
    pub cluster_accepted: Option<InFlight<ClusterRequest>>,
    pub(crate) pins: (&'a In, &'a Out, &'a Probe),
    pub(crate) banks_written: u64,
    pub(crate) at_issue: Option<(u64, bool)>,
}

/// Valid and ready signals that the driver of the ports sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driven {
    /// True if the driver offers a warp request.
    pub warp: bool,
    /// True if the driver offers a cluster request.
    pub cluster: bool,
    /// True if the driver offers a CTA table write.
    pub allocation: bool,
    /// True if the driver is ready for a warp response.
    pub takes_response: bool,
    /// True if the driver is ready for a cluster response.
    pub takes_cluster_response: bool,
    /// True if the driver is ready for a wake-up.
    pub takes_wake_up: bool,
}

/// Result of a CTA table write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationSettled {
    /// CTA slot of the write.
    pub slot: u8,
    /// True if the unit rejected the write. The slot then has no allocation.
    pub rejected: bool,
}

/// A response of the warp port.
#[derive(Debug)]
pub struct WarpAnswer<'a> {
    /// Request that the response answers. Set only in the first cycle of the response.
    pub appears: Option<Appearance>,
    /// True if the driver is ready. A handshake in a reset cycle does not count.
    pub taken: bool,
    /// Tag of the response.
    pub tag: u8,
    /// Value of Rd for each lane.
    pub rd: &'a [u128; MAX_LANES],
    /// Predicate, one bit per lane.
    pub pred: u32,
    /// Fault code, 0 without a fault.
    pub fault: u8,
    /// Lowest lane that faults.
    pub fault_lane: u8,
    /// Faulting address of that lane.
    pub fault_addr: u32,
    /// Passes that the request took.
    pub passes: u8,
}

/// A response of the cluster port.
#[derive(Clone, Copy, Debug)]
pub struct ClusterAnswer {
    /// True in the first cycle of this response.
    pub appears: bool,
    /// True if the driver is ready. A handshake in a reset cycle does not count.
    pub taken: bool,
    /// Tag of the response.
    pub tag: u8,
    /// Value of Rd for the single lane.
    pub rd: u128,
    /// Predicate of the single lane.
    pub pred: bool,
    /// Fault code, 0 without a fault.
    pub fault: u8,
    /// Faulting offset in the allocation.
    pub fault_addr: u32,
}

/// A wake-up: the answer to a suspended request.
#[derive(Debug)]
pub struct WakeUp {
    /// Request that the wake-up answers. Set only in the first cycle of the wake-up.
    pub appears: Option<Appearance>,
    /// True if the driver is ready. A handshake in a reset cycle does not count.
    pub taken: bool,
    /// Tag of the suspended request.
    pub tag: u8,
    /// Mask of the lanes whose phase is complete. 0 after a timeout.
    pub pred: u32,
}

/// First cycle of an answer: the warp request that it belongs to.
#[derive(Clone, Debug)]
pub struct Appearance {
    /// The request, or the reason why no single request matches.
    pub request: Result<InFlight<WarpRequest>, Unmatched>,
    /// Acceptance cycle of the oldest unanswered request of either port, except those known to be suspended.
    pub oldest_unanswered: Option<u64>,
}

/// Reason why no request matches an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// No request waits for such an answer.
    NoRequest,
    /// The request to be answered next has another tag, given here.
    OtherTag(u8),
    /// Several waiting requests have this tag, and one of them is an MBAR.TRY_WAIT.
    Ambiguous,
}

/// A pass that moves from issue into the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassIssued {
    /// True for a pass of a cluster request.
    pub cluster: bool,
    /// Number of the request on its port.
    pub number: u64,
    /// Number of the pass in its request, from 0.
    pub index: u8,
    /// Mask of the lanes that the pass serves.
    pub lanes: u32,
    /// True for the last pass of the request.
    pub last: bool,
    /// Mask of the banks that the pass accesses. 0 if the request faults.
    pub banks: u64,
    /// First lane in the order of the rotating winner policy (spec 4.2).
    pub first_lane: u8,
    /// Number of the pass among all passes of both ports.
    pub serial: u64,
}

/// A pass in the last stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastStage {
    /// The pass, with the values of its issue.
    pub pass: PassIssued,
    /// True if the pass is carried out. False if the pipeline stalls on a response that is not taken.
    pub done: bool,
    /// True if the pass suspends its request.
    pub suspends: bool,
    /// True if the pass belongs to a cluster request to which the unit must send a response.
    pub owes: bool,
}

/// State of issue and pipeline in one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Request at issue, if there is one.
    pub at_issue: Option<AtIssue>,
    /// True if a hazard holds the pass back: it needs a word that the pipeline has yet to write.
    pub held_back: bool,
    /// Pipeline stages that hold a pass. Bit 0 is the first stage.
    pub stages: u16,
    /// True if the pipeline stalls.
    pub stalled: bool,
}

/// The request at issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtIssue {
    /// True for a cluster request.
    pub cluster: bool,
    /// Number of the request on its port.
    pub number: u64,
    /// True in the first cycle at issue.
    pub arrives: bool,
    /// Mask of the lanes that still wait for a pass.
    pub pending: u32,
    /// Operation code of the request.
    pub op: u8,
    /// Tag of the request.
    pub tag: u8,
}

/// State of the queue of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// Number of requests in the queue.
    pub level: u8,
    /// True if a request is offered and not accepted.
    pub refuses: bool,
}

/// Entries of the waiter table, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaiterPlaces {
    /// Waiters that are still suspended.
    pub suspended: u32,
    /// Waiters that are woken or timed out, and not yet answered.
    pub ready: u32,
}

/// Write ports of the banks in one cycle.
#[derive(Clone, Copy, Debug)]
pub struct BankPorts<'a> {
    /// Mask of the banks written at the end of the cycle, unless it is a reset cycle.
    pub written: u64,
    /// First bank of each mbarrier object that completes a phase at the end of the cycle.
    pub completed: u64,
    /// Row written in each bank.
    pub rows: &'a [u16; MAX_BANKS],
    /// New word for each bank.
    pub values: &'a [u32; MAX_BANKS],
}

/// A cluster request that is carried out in this cycle.
#[derive(Clone, Debug)]
pub struct ClusterDone {
    /// The request. `None` if the monitor knows of no cluster request inside.
    pub request: Option<InFlight<ClusterRequest>>,
    /// True if the unit must send a response to this request, from probe signal `cl_owes`. A posted request
    /// gets a response only if it faults.
    pub owes: bool,
    /// Same meaning as [`Appearance::oldest_unanswered`].
    pub oldest_unanswered: Option<u64>,
}

/// Requests that a reset drops. Those known to be suspended come first; the rest is oldest first.
#[derive(Debug)]
pub struct Dropped {
    /// Warp requests without an answer.
    pub warps: Vec<InFlight<WarpRequest>>,
    /// Cluster requests that are not carried out.
    pub clusters: Vec<InFlight<ClusterRequest>>,
    /// Number of warp answers that were offered and not taken.
    pub answers: u64,
}

/// One word written to a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankWrite {
    /// Row of the word.
    pub row: u32,
    /// Bank of the word.
    pub bank: u32,
    /// New value of the word.
    pub value: u32,
}

impl<'a> Cycle<'a> {
    /// Returns the valid and ready signals of the driver.
    #[inline]
    pub fn driven(&self) -> Driven {
        let (i, ..) = self.pins;
        Driven {
            warp: i.req_valid == 1,
            cluster: i.cl_valid == 1,
            allocation: i.cta_valid == 1,
            takes_response: i.rsp_ready == 1,
            takes_cluster_response: i.cl_rsp_ready == 1,
            takes_wake_up: i.wake_ready == 1,
        }
    }

    /// Returns the ready signal of the first port that refuses what the driver offers.
    #[inline]
    pub fn refused(&self) -> Option<&'static str> {
        let (i, out, _) = self.pins;
        let ports = [
            (i.req_valid, out.req_ready, "req_ready_o"),
            (i.cl_valid, out.cl_ready, "cl_ready_o"),
            (i.cta_valid, out.cta_ready, "cta_ready_o"),
        ];
        ports.into_iter().find(|(valid, ready, _)| valid & !ready == 1).map(|(.., name)| name)
    }

    /// Returns the state of issue and pipeline.
    #[inline]
    pub fn pipeline(&self) -> Pipeline {
        let (.., probe) = self.pins;
        Pipeline {
            at_issue: self.at_issue.map(|(number, arrives)| AtIssue {
                cluster: probe.issue_cluster == 1,
                number,
                arrives,
                pending: probe.issue_pending,
                op: probe.issue_op,
                tag: probe.issue_tag,
            }),
            held_back: probe.hazard == 1,
            stages: probe.pipe_valid,
            stalled: probe.stall == 1,
        }
    }

    /// Returns the queue of the warp port, then that of the cluster port.
    #[inline]
    pub fn queues(&self) -> [QueueState; 2] {
        let (i, out, probe) = self.pins;
        let state = |level, valid, ready: u8| QueueState { level, refuses: valid & !ready == 1 };
        [
            state(probe.queue_count, i.req_valid, out.req_ready),
            state(probe.cl_count, i.cl_valid, out.cl_ready),
        ]
    }

    /// Returns the number of responses that the cluster port owes, from issue until they are taken.
    #[inline]
    pub fn cluster_responses_owed(&self) -> u8 {
        self.pins.2.cl_owed
    }

    /// Returns the CTA table write that the driver offers, accepted or not.
    #[inline]
    pub fn allocation_offered(&self) -> Option<AllocationWrite> {
        let (i, ..) = self.pins;
        (i.cta_valid == 1).then(|| AllocationWrite::sample(i))
    }

    /// Returns the waiter table.
    #[inline]
    pub fn waiters(&self) -> WaiterPlaces {
        let (.., probe) = self.pins;
        WaiterPlaces { suspended: probe.wait_suspended, ready: probe.wait_ready }
    }

    /// Returns the winner of each bank in the issued pass.
    #[inline]
    pub fn winners(&self) -> &'a [u8; MAX_BANKS] {
        &self.pins.2.win_lane
    }

    /// Returns the write ports of the banks.
    #[inline]
    pub fn bank_ports(&self) -> BankPorts<'a> {
        let (.., probe) = self.pins;
        BankPorts {
            written: probe.wr_en,
            completed: probe.completed,
            rows: &probe.wr_row,
            values: &probe.wr_data,
        }
    }

    /// Returns true if no wake-up is offered and no port holds an answer that is not taken.
    pub fn is_quiet(&self) -> bool {
        let held = self.warp_answer.as_ref().is_some_and(|answer| !answer.taken)
            || self.cluster_answer.as_ref().is_some_and(|answer| !answer.taken);
        self.wake_up.is_none() && !held
    }

    /// Returns the number of mbarrier phases that complete in this cycle.
    #[inline]
    pub fn phases_completed(&self) -> u32 {
        self.count(self.pins.2.completed)
    }

    /// Returns the number of waiters that are neither woken nor timed out.
    #[inline]
    pub fn suspended(&self) -> u32 {
        self.count(self.pins.2.wait_suspended.into())
    }

    #[inline]
    fn count(&self, set: u64) -> u32 {
        if set == 0 || self.reset.is_some() { 0 } else { set.count_ones() }
    }

    /// Returns the words written at the end of the cycle, ordered by bank.
    #[inline]
    pub fn writes(&self) -> impl Iterator<Item = BankWrite> + '_ {
        let (mut banks, (.., probe)) = (self.banks_written, self.pins);
        std::iter::from_fn(move || {
            let bank = (banks != 0).then(|| banks.trailing_zeros())?;
            banks &= banks - 1;
            let at = bank as usize;
            Some(BankWrite { row: probe.wr_row[at].into(), bank, value: probe.wr_data[at] })
        })
    }
}
