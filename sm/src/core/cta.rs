use super::warp_slots::Slots;
use crate::warp::{Wait, Warp, lanes};
use atoms_isa::BarrierVote;

/// State of a block barrier. The splits that wait at the barrier are not part of it; they are in their warps.
#[derive(Clone, Copy, Default)]
pub(crate) struct Barrier {
    /// Threads that arrived without waiting (`BAR.ARV`).
    pub(crate) arrived: u32,
    /// Number of threads expected. `None` for all live threads of the CTA.
    pub(crate) expected: Option<u32>,
    /// Instruction and count of the phase's first arrival.
    pub(crate) first: Option<(u32, u32)>,
    /// Threads that have arrived since the start of the CTA, in all phases.
    pub(crate) total: u32,
    /// Vote of the barrier: kind of combination, number of threads that arrived with a predicate, number of
    /// true predicates.
    votes: Option<(BarrierVote, u32, u32)>,
}

impl Barrier {
    /// Adds `threads` arrivals with a predicate, of which `holding` are true.
    pub(crate) fn vote(&mut self, vote: BarrierVote, holding: u32, threads: u32) {
        let (_, all, held) = self.votes.unwrap_or((vote, 0, 0));
        self.votes = Some((vote, all + threads, held + holding));
    }

    /// Result of the vote for every thread: a count, or all ones for true and 0 for false.
    fn outcome(&self) -> Option<u32> {
        let truth = |holds: bool| if holds { u32::MAX } else { 0 };
        self.votes.map(|(vote, all, held)| match vote {
            BarrierVote::Count => held,
            BarrierVote::All => truth(held == all),
            BarrierVote::Any => truth(held != 0),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The CTA waits for its own allocation, or for those of the rest of its cluster.
    Starting {
        granted: bool,
    },
    Running,
    /// All threads have ended, but copies may still need the allocation.
    Ending,
    Released,
}

pub(crate) struct Cta {
    /// Number in the grid, x first.
    pub(crate) number: u32,
    /// Index in the grid: x, y, z.
    pub(crate) index: [u32; 3],
    pub(crate) warps: Vec<usize>,
    pub(crate) barriers: [Barrier; 16],
    pub(crate) state: Stage,
    pub(crate) cluster: u32,
    /// Rank in its cluster, x first.
    pub(crate) rank: u32,
}

impl Cta {
    /// Ends the phases in which all threads have arrived, with or without a wait. Calls `tell` with the number of
    /// each barrier, and true if ended threads count as arrived.
    pub(super) fn release_barriers(&mut self, warps: &mut Slots, mut tell: impl FnMut(u32, bool)) {
        for (id, barrier) in self.barriers.iter_mut().enumerate().filter(|(_, b)| b.first.is_some()) {
            let waits = |w: Wait| w == Wait::Block(id as u8);
            let own = |warps: &Slots, count: &dyn Fn(&Warp) -> u32| -> u32 {
                self.warps.iter().filter_map(|s| warps[*s].as_deref()).map(count).sum()
            };
            let complete = match barrier.expected {
                None => own(warps, &|w| (w.live & !w.waiting(waits)).count_ones()) <= barrier.arrived,
                // If all live threads of a warp wait, the warp counts as 32 threads, because the hardware
                // counts warps.
                Some(expected) => {
                    let threads = |w: &Warp| match w.waiting(waits) {
                        all if all == w.live && all != 0 => 32,
                        some => some.count_ones(),
                    };
                    own(warps, &threads) + barrier.arrived >= expected
                }
            };
            if complete {
                tell(id as u32, barrier.expected.is_none());
                let outcome = barrier.outcome();
                *barrier = Barrier { total: barrier.total, ..Barrier::default() };
                for slot in &self.warps {
                    if let Some(warp) = warps[*slot].as_deref_mut() {
                        if let Some(outcome) = outcome {
                            lanes(warp.waiting(waits)).for_each(|lane| warp.vote[lane] = outcome);
                        }
                        warp.join(!0, waits);
                    }
                }
            }
        }
    }
}
