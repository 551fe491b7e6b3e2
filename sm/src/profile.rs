use atoms_isa::Kernel;
use atoms_ops::Op;

/// Largest number of passes per request that has its own counter. Requests with more passes are counted
/// together with those of this number.
pub const MOST_PASSES: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionProfile {
    pub pc: u32,
    pub op: Op,
    /// Requests answered at the warp port.
    pub requests: u64,
    /// Total number of lanes of these requests.
    pub lanes: u64,
    /// Total number of passes of these requests.
    pub passes: u64,
    /// Number of requests by passes, which is the index. The last entry also counts requests with more
    /// passes.
    pub by_passes: [u64; MOST_PASSES + 1],
    /// Total latency of all requests in cycles, from acceptance to response, including suspension.
    pub latency_cycles: u64,
    /// Requests answered at the cluster port: from lanes to another CTA, and from copies.
    pub cluster_requests: u64,
    /// Lanes with an operation that can fail: a compare-and-store, or a test of a phase.
    pub attempts: u64,
    /// Lanes that stored, or whose phase was complete.
    pub successes: u64,
}

impl InstructionProfile {
    fn new(pc: u32, op: Op) -> Self {
        InstructionProfile {
            pc,
            op,
            requests: 0,
            lanes: 0,
            passes: 0,
            by_passes: [0; MOST_PASSES + 1],
            latency_cycles: 0,
            cluster_requests: 0,
            attempts: 0,
            successes: 0,
        }
    }

    pub fn conflicts(&self) -> u64 {
        self.passes.saturating_sub(self.requests)
    }

    /// Average number of attempts of a lane until success, for example iterations of a compare-and-store
    /// loop. `None` if the operation cannot fail, or never succeeded.
    pub fn attempts_per_success(&self) -> Option<f64> {
        (self.successes > 0).then(|| self.attempts as f64 / self.successes as f64)
    }
}

pub(crate) struct Answered {
    pub(crate) op: Op,
    pub(crate) lanes: u32,
    /// Lanes whose predicate is true.
    pub(crate) holds: u32,
    pub(crate) passes: u32,
}

/// True if the operation can fail, and reports it per lane.
fn may_fail(op: Op) -> bool {
    matches!(op, Op::Cas | Op::Cast | Op::CastSpin | Op::MbarTestWait | Op::MbarTryWait)
}

/// Counters by instruction. One array access per response.
pub(crate) struct Profile {
    entries: Vec<Option<Box<InstructionProfile>>>,
    /// Cycle in which the port accepted the request of each warp slot.
    taken: Vec<u64>,
}

impl Profile {
    pub(crate) fn new(kernel: &Kernel, warps: usize) -> Profile {
        Profile { entries: vec![None; kernel.instructions.len()], taken: vec![0; warps] }
    }

    pub(crate) fn taken(&mut self, slot: usize, cycle: u64) {
        if let Some(taken) = self.taken.get_mut(slot) {
            *taken = cycle;
        }
    }

    pub(crate) fn answered(&mut self, slot: usize, cycle: u64, pc: u32, answer: &Answered) {
        let latency = cycle.saturating_sub(self.taken.get(slot).copied().unwrap_or(cycle));
        let Some(entry) = self.entry(pc, answer.op) else { return };
        entry.requests += 1;
        entry.lanes += u64::from(answer.lanes.count_ones());
        entry.passes += u64::from(answer.passes);
        entry.by_passes[(answer.passes as usize).min(MOST_PASSES)] += 1;
        entry.latency_cycles += latency;
        if may_fail(answer.op) {
            entry.attempts += u64::from(answer.lanes.count_ones());
            entry.successes += u64::from((answer.lanes & answer.holds).count_ones());
        }
    }

    pub(crate) fn cluster_answered(&mut self, pc: u32, op: Op) {
        if let Some(entry) = self.entry(pc, op) {
            entry.cluster_requests += 1;
        }
    }

    fn entry(&mut self, pc: u32, op: Op) -> Option<&mut InstructionProfile> {
        let entry = self.entries.get_mut(pc as usize)?;
        Some(entry.get_or_insert_with(|| Box::new(InstructionProfile::new(pc, op))))
    }

    pub(crate) fn finish(self) -> Vec<InstructionProfile> {
        self.entries.into_iter().flatten().map(|entry| *entry).collect()
    }
}
