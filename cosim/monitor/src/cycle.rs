//! A cycle as transactions and states.

use std::sync::Arc;

use atoms_model::port::{In, MAX_BANKS, MAX_LANES, Out, Probe};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, WarpRequest};

/// A request that its port accepted, and that may be inside the unit.
#[derive(Debug)]
pub struct InFlight<R> {
    /// Number of the request, counted from 0 in the order in which its port accepted them, over resets too.
    pub number: u64,
    /// Cycle in which the port accepted it.
    pub taken_at: u64,
    /// The request.
    pub request: Arc<R>,
}

impl<R> Clone for InFlight<R> {
    fn clone(&self) -> Self {
        InFlight { request: Arc::clone(&self.request), ..*self }
    }
}

/// What happened in a cycle, in this order. Something written in the cycle in which an answer appears belongs to
/// a later request.
///
/// In a cycle of reset answers appear, and nothing else happens but the reset.
#[derive(Debug)]
pub struct Cycle<'a> {
    /// Its number, from 0.
    pub number: u64,
    /// What became of the write of the CTA table that was accepted in the cycle before.
    pub allocation_settled: Option<AllocationSettled>,
    /// The response at the warp port.
    pub warp_answer: Option<WarpAnswer<'a>>,
    /// The response at the cluster port.
    pub cluster_answer: Option<ClusterAnswer>,
    /// The cluster request whose response is taken.
    pub cluster_taken: Option<InFlight<ClusterRequest>>,
    /// The wake-up at its port.
    pub wake_up: Option<WakeUp>,
    /// It is a cycle of reset.
    pub reset: Option<Dropped>,
    /// A pass that is issued.
    pub pass_issued: Option<PassIssued>,
    /// The pass in the last stage of the pipeline.
    pub last_stage: Option<LastStage>,
    /// A cluster request is carried out.
    pub cluster_done: Option<ClusterDone>,
    /// A write of the CTA table is accepted.
    pub allocation: Option<AllocationWrite>,
    /// The warp request accepted.
    pub warp_accepted: Option<InFlight<WarpRequest>>,
    /// The cluster request accepted.
    pub cluster_accepted: Option<InFlight<ClusterRequest>>,
    pub(crate) pins: (&'a In, &'a Out, &'a Probe),
    pub(crate) banks_written: u64,
    pub(crate) at_issue: Option<(u64, bool)>,
}

/// What the driver of the ports offers, and what it would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driven {
    /// A warp request is offered.
    pub warp: bool,
    /// A cluster request is offered.
    pub cluster: bool,
    /// A write of the CTA table is offered.
    pub allocation: bool,
    /// A warp response would be taken.
    pub takes_response: bool,
    /// A cluster response would be taken.
    pub takes_cluster_response: bool,
    /// A wake-up would be taken.
    pub takes_wake_up: bool,
}

/// What became of a write of the CTA table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationSettled {
    /// Slot written.
    pub slot: u8,
    /// The write was refused: the slot has no allocation.
    pub rejected: bool,
}

/// A response of the warp port.
#[derive(Debug)]
pub struct WarpAnswer<'a> {
    /// Of the first cycle in which it is there: the request.
    pub appears: Option<Appearance>,
    /// It is taken, unless the cycle is one of reset.
    pub taken: bool,
    /// Tag.
    pub tag: u8,
    /// Rd per lane.
    pub rd: &'a [u128; MAX_LANES],
    /// Predicate, a bit per lane.
    pub pred: u32,
    /// Fault code.
    pub fault: u8,
    /// Lowest faulting lane.
    pub fault_lane: u8,
    /// Its address.
    pub fault_addr: u32,
    /// Passes that the request took.
    pub passes: u8,
}

/// A response of the cluster port.
#[derive(Clone, Copy, Debug)]
pub struct ClusterAnswer {
    /// It was not there in the cycle before, or another one was.
    pub appears: bool,
    /// It is taken, unless the cycle is one of reset.
    pub taken: bool,
    /// Tag.
    pub tag: u8,
    /// Rd.
    pub rd: u128,
    /// Predicate.
    pub pred: bool,
    /// Fault code.
    pub fault: u8,
    /// The faulting offset.
    pub fault_addr: u32,
}

/// The answer to a request that was suspended.
#[derive(Debug)]
pub struct WakeUp {
    /// Of the first cycle in which it is there: the request.
    pub appears: Option<Appearance>,
    /// It is taken, unless the cycle is one of reset.
    pub taken: bool,
    /// Tag.
    pub tag: u8,
    /// Lanes whose phase is complete; none when the limit has passed.
    pub pred: u32,
}

/// Which warp request an answer belongs to.
#[derive(Clone, Debug)]
pub struct Appearance {
    /// The request, if it can be told.
    pub request: Result<InFlight<WarpRequest>, Unmatched>,
    /// Cycle in which the oldest request of either port was accepted that is still without an answer and not
    /// known to be suspended.
    pub oldest_unanswered: Option<u64>,
}

/// Why an answer cannot be given to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// No request waits for such an answer.
    NoRequest,
    /// The request that is answered next has this tag, which is another.
    OtherTag(u8),
    /// Several requests with this tag wait, one of them a MBAR.TRY_WAIT.
    Ambiguous,
}

/// A pass that leaves issue for the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassIssued {
    /// It is one of a cluster request.
    pub cluster: bool,
    /// Number of the request on its port.
    pub number: u64,
    /// Number of the pass within the request, from 0.
    pub index: u8,
    /// Lanes that it serves.
    pub lanes: u32,
    /// It is the last of the request.
    pub last: bool,
    /// Banks that it works on; none under a fault.
    pub banks: u64,
    /// First lane in the order of the rotating winner policy.
    pub first_lane: u8,
    /// Number of the pass among all of both ports.
    pub serial: u64,
}

/// A pass in the last stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastStage {
    /// As it was issued.
    pub pass: PassIssued,
    /// It is carried out; if not, the response before it is not taken.
    pub done: bool,
    /// Its request is suspended.
    pub suspends: bool,
    /// Its request came through the cluster port and owes a response.
    pub owes: bool,
}

/// Issue and pipeline in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// The request at issue.
    pub at_issue: Option<AtIssue>,
    /// Its pass waits for a word that the pipeline has yet to write.
    pub held_back: bool,
    /// Stages that hold a pass, the first in bit 0.
    pub stages: u16,
    /// The pipeline stands still.
    pub stalled: bool,
}

/// The request at issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtIssue {
    /// It came through the cluster port.
    pub cluster: bool,
    /// Number of the request on its port.
    pub number: u64,
    /// It was not at issue in the cycle before.
    pub arrives: bool,
    /// Lanes that wait for a pass.
    pub pending: u32,
    /// Operation code.
    pub op: u8,
    /// Tag.
    pub tag: u8,
}

/// The queue of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// Requests in it.
    pub level: u8,
    /// A request is offered and not accepted.
    pub refuses: bool,
}

/// Places of the table of waiters, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaiterPlaces {
    /// Their request is suspended.
    pub suspended: u32,
    /// Their request is woken or out of time, and not yet answered.
    pub ready: u32,
}

/// The write ports of the banks.
#[derive(Clone, Copy, Debug)]
pub struct BankPorts<'a> {
    /// Banks written at the end of the cycle, unless it is one of reset.
    pub written: u64,
    /// First banks of the mbarrier objects that complete a phase then.
    pub completed: u64,
    /// Row of each bank.
    pub rows: &'a [u16; MAX_BANKS],
    /// The new word of each bank.
    pub values: &'a [u32; MAX_BANKS],
}

/// A cluster request that is carried out.
#[derive(Clone, Debug)]
pub struct ClusterDone {
    /// The request; none if none is inside.
    pub request: Option<InFlight<ClusterRequest>>,
    /// It owes a response, as the unit sees it.
    pub owes: bool,
    /// As in [`Appearance::oldest_unanswered`].
    pub oldest_unanswered: Option<u64>,
}

/// What a reset finds inside, oldest first but for those known to be suspended, which are first.
#[derive(Debug)]
pub struct Dropped {
    /// Warp requests without an answer.
    pub warps: Vec<InFlight<WarpRequest>>,
    /// Cluster requests not carried out.
    pub clusters: Vec<InFlight<ClusterRequest>>,
    /// Answers to warp requests that nothing has taken.
    pub answers: u64,
}

/// A word that a bank is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankWrite {
    /// Row.
    pub row: u32,
    /// Bank.
    pub bank: u32,
    /// The new value.
    pub value: u32,
}

impl<'a> Cycle<'a> {
    /// What the driver does.
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

    /// Issue and pipeline.
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

    /// The queues of the warp port and of the cluster port.
    #[inline]
    pub fn queues(&self) -> [QueueState; 2] {
        let (i, out, probe) = self.pins;
        let state = |level, valid, ready: u8| QueueState { level, refuses: valid & !ready == 1 };
        [
            state(probe.queue_count, i.req_valid, out.req_ready),
            state(probe.cl_count, i.cl_valid, out.cl_ready),
        ]
    }

    /// Responses that the cluster port owes, from issue until they are taken.
    #[inline]
    pub fn cluster_responses_owed(&self) -> u8 {
        self.pins.2.cl_owed
    }

    /// The write of the CTA table that is offered, accepted or not.
    #[inline]
    pub fn allocation_offered(&self) -> Option<AllocationWrite> {
        let (i, ..) = self.pins;
        (i.cta_valid == 1).then(|| AllocationWrite::sample(i))
    }

    /// The table of waiters.
    #[inline]
    pub fn waiters(&self) -> WaiterPlaces {
        let (.., probe) = self.pins;
        WaiterPlaces { suspended: probe.wait_suspended, ready: probe.wait_ready }
    }

    /// The lane that works on each bank of the pass issued.
    #[inline]
    pub fn winners(&self) -> &'a [u8; MAX_BANKS] {
        &self.pins.2.win_lane
    }

    /// What the banks are about to be written.
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

    /// Phases of mbarrier objects completed.
    #[inline]
    pub fn phases_completed(&self) -> u32 {
        self.count(self.pins.2.completed)
    }

    /// Requests suspended, and neither woken nor out of time.
    #[inline]
    pub fn suspended(&self) -> u32 {
        self.count(self.pins.2.wait_suspended.into())
    }

    #[inline]
    fn count(&self, set: u64) -> u32 {
        // Mostly there is nothing to count.
        if set == 0 || self.reset.is_some() { 0 } else { set.count_ones() }
    }

    /// Words written at its end, by bank.
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
