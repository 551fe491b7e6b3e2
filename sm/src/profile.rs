//! Counters of each instruction that uses the unit.

use atoms_isa::Kernel;
use atoms_ops::Op;

/// Most passes that are counted singly; requests of more are counted with those of so many.
pub const MOST_PASSES: usize = 32;

/// Counters of one instruction that uses the unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionProfile {
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Operation that it requests.
    pub op: Op,
    /// Requests answered at the warp port.
    pub requests: u64,
    /// Lanes of these.
    pub lanes: u64,
    /// Passes of these.
    pub passes: u64,
    /// Requests by number of passes, which is the index; the last counts those of more as well.
    pub by_passes: [u64; MOST_PASSES + 1],
    /// Cycles from the port's taking a request to the answer, suspension included; over all requests.
    pub latency_cycles: u64,
    /// Requests answered at the cluster port: of lanes for another CTA, and of copies.
    pub cluster_requests: u64,
    /// Lanes that tried what may fail: a compare-and-store, or asking for a phase.
    pub attempts: u64,
    /// Lanes of these that stored, or whose phase was complete.
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

    /// Passes beyond the first of each request.
    pub fn conflicts(&self) -> u64 {
        self.passes.saturating_sub(self.requests)
    }

    /// How often a lane tried until it succeeded: the turns of the loop around a compare-and-store. `None` where
    /// nothing can fail, or nothing succeeded.
    pub fn attempts_per_success(&self) -> Option<f64> {
        (self.successes > 0).then(|| self.attempts as f64 / self.successes as f64)
    }
}

/// An answer, as it counts.
pub(crate) struct Answered {
    pub(crate) op: Op,
    /// Lanes that took part.
    pub(crate) lanes: u32,
    /// Lanes of the predicate.
    pub(crate) holds: u32,
    pub(crate) passes: u32,
}

/// True if a lane is told if it succeeded.
fn may_fail(op: Op) -> bool {
    matches!(op, Op::Cas | Op::Cast | Op::CastSpin | Op::MbarTestWait | Op::MbarTryWait)
}

/// Counts by instruction: one array access for each answer.
pub(crate) struct Profile {
    /// By instruction.
    entries: Vec<Option<Box<InstructionProfile>>>,
    /// Cycle in which the port took the request of each warp slot.
    taken: Vec<u64>,
}

impl Profile {
    pub(crate) fn new(kernel: &Kernel, warps: usize) -> Profile {
        Profile { entries: vec![None; kernel.instructions.len()], taken: vec![0; warps] }
    }

    /// The port has taken the request of a warp slot.
    pub(crate) fn taken(&mut self, slot: usize, cycle: u64) {
        if let Some(taken) = self.taken.get_mut(slot) {
            *taken = cycle;
        }
    }

    /// The port has answered the request of a warp slot.
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

    /// The cluster port has answered a request that an instruction made, or had a copy make.
    pub(crate) fn cluster_answered(&mut self, pc: u32, op: Op) {
        if let Some(entry) = self.entry(pc, op) {
            entry.cluster_requests += 1;
        }
    }

    fn entry(&mut self, pc: u32, op: Op) -> Option<&mut InstructionProfile> {
        let entry = self.entries.get_mut(pc as usize)?;
        Some(entry.get_or_insert_with(|| Box::new(InstructionProfile::new(pc, op))))
    }

    /// Counters in the order of the kernel.
    pub(crate) fn finish(self) -> Vec<InstructionProfile> {
        self.entries.into_iter().flatten().map(|entry| *entry).collect()
    }
}
