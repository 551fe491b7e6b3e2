//! A cycle as it is kept until it is looked at.
//!
//! Cycles are looked at in batches: between two of them the simulation runs through more code than the
//! processor keeps at hand, and a sampler that woke up for each would find its own code gone.

use atoms_cosim::monitor::{AllocationSettled, Cycle, LastStage, PassIssued, Pipeline, WaiterPlaces};
use atoms_cosim::request::PartWrite;
use atoms_model::port::MAX_BANKS;

/// Most configurations have half of the banks that fit.
const HALF: usize = MAX_BANKS / 2;

/// What a sampler looks at in a cycle. Requests are taken down elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleSample {
    pub(super) pipeline: Pipeline,
    pub(super) issued: Option<PassIssued>,
    pub(super) last_stage: Option<LastStage>,
    pub(super) waiters: WaiterPlaces,
    pub(super) cluster_responses_owed: u8,
    /// Responses and wake-up that stand at their ports, and whether they are taken: [`RSP`] and so on, and
    /// [`SUSPENDED`].
    pub(super) answers: u8,
    /// Queues of both ports: level, and whether a request is accepted or refused.
    pub(super) queues: [u8; 2],
    /// Slot and tag of the requests accepted, by port.
    pub(super) accepted: [Option<(u8, u8)>; 2],
    /// The write of the CTA table that is offered, and whether it is accepted.
    pub(super) allocation: Option<(PartWrite, bool)>,
    pub(super) settled: Option<AllocationSettled>,
    /// The warp response that appears.
    pub(super) response: Option<Response>,
    /// Tags of the answers at their ports, as of the last ones: warp response, cluster response, wake-up.
    pub(super) tags: [u8; 3],
    /// Fault of the last cluster response.
    pub(super) cluster_fault: u8,
    /// As of the last pass issued.
    pub(super) winners: [u8; MAX_BANKS],
    pub(super) written: u64,
    pub(super) completed: u64,
    /// As of the last cycle in which banks were written.
    pub(super) rows: [u16; MAX_BANKS],
    pub(super) values: [u32; MAX_BANKS],
}

/// A warp response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) number: u64,
    pub(super) pred: u32,
    pub(super) fault: u8,
    pub(super) fault_lane: u8,
    pub(super) passes: u8,
}

impl CycleSample {
    pub(super) const NONE: CycleSample = CycleSample {
        pipeline: Pipeline { at_issue: None, held_back: false, stages: 0, stalled: false },
        issued: None,
        last_stage: None,
        waiters: WaiterPlaces { suspended: 0, ready: 0 },
        cluster_responses_owed: 0,
        answers: 0,
        queues: [0; 2],
        accepted: [None; 2],
        allocation: None,
        settled: None,
        response: None,
        tags: [0; 3],
        cluster_fault: 0,
        winners: [0; MAX_BANKS],
        written: 0,
        completed: 0,
        rows: [0; MAX_BANKS],
        values: [0; MAX_BANKS],
    };

    /// Takes a cycle down.
    #[inline(always)]
    pub(super) fn set(&mut self, cycle: &Cycle<'_>) {
        self.pipeline = cycle.pipeline();
        keep(&mut self.issued, &cycle.pass_issued);
        keep(&mut self.last_stage, &cycle.last_stage);
        if cycle.pass_issued.is_some() {
            self.winners = *cycle.winners();
        }
        self.waiters = cycle.waiters();
        self.cluster_responses_owed = cycle.cluster_responses_owed();
        self.settled = cycle.allocation_settled;
        self.allocation = cycle.allocation_offered().map(|write| (write, cycle.allocation.is_some()));
        let [warp, cluster] = cycle.queues();
        let queue = |level, came, refuses| level | u8::from(came) << 5 | u8::from(refuses) << 6;
        self.queues = [
            queue(warp.level, cycle.warp_accepted.is_some(), warp.refuses),
            queue(cluster.level, cycle.cluster_accepted.is_some(), cluster.refuses),
        ];
        self.accepted = [
            cycle.warp_accepted.as_ref().map(|accepted| (accepted.request.slot, accepted.request.tag)),
            cycle.cluster_accepted.as_ref().map(|accepted| (accepted.request.slot, accepted.request.tag)),
        ];
        let mut answers = u8::from(self.waiters.suspended != 0) << 6;
        self.response = None;
        if let Some(answer) = &cycle.warp_answer {
            answers |= if answer.taken { RSP } else { RSP_HELD };
            self.tags[0] = answer.tag;
            let request = answer.appears.as_ref().and_then(|appears| appears.request.as_ref().ok());
            self.response = request.map(|request| Response {
                number: request.number,
                pred: answer.pred,
                fault: answer.fault,
                fault_lane: answer.fault_lane,
                passes: answer.passes,
            });
        }
        if let Some(answer) = &cycle.cluster_answer {
            answers |= if answer.taken { CL_RSP } else { CL_RSP_HELD };
            self.tags[1] = answer.tag;
            self.cluster_fault = answer.fault;
        }
        if let Some(wake_up) = &cycle.wake_up {
            answers |= if wake_up.taken { WAKE } else { WAKE_HELD };
            self.tags[2] = wake_up.tag;
        }
        self.answers = answers;
        let banks = cycle.bank_ports();
        (self.written, self.completed) = (banks.written, banks.completed);
        if banks.written >> HALF != 0 {
            (self.rows, self.values) = (*banks.rows, *banks.values);
        } else if banks.written != 0 {
            self.rows[..HALF].copy_from_slice(&banks.rows[..HALF]);
            self.values[..HALF].copy_from_slice(&banks.values[..HALF]);
        }
    }
}

/// Copies what is there. Mostly nothing is, and large.
#[inline(always)]
fn keep<T: Copy>(to: &mut Option<T>, from: &Option<T>) {
    match from {
        Some(there) => *to = Some(*there),
        None => *to = None,
    }
}

/// An answer at its port in [`CycleSample::answers`], that is taken or held.
pub(super) const RSP: u8 = 0b11;
const RSP_HELD: u8 = 0b01;
pub(super) const CL_RSP: u8 = 0b11 << 2;
pub(super) const CL_RSP_HELD: u8 = 0b01 << 2;
pub(super) const WAKE: u8 = 0b11 << 4;
pub(super) const WAKE_HELD: u8 = 0b01 << 4;
/// Some request is suspended.
pub(super) const SUSPENDED: u8 = 1 << 6;

/// Level of a queue, and whether a request was accepted or refused, in [`CycleSample::queues`].
pub(super) const LEVEL: u8 = 31;
pub(super) const CAME: u8 = 1 << 5;
pub(super) const REFUSED: u8 = 1 << 6;
