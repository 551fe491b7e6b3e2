//! A CTA on the core: its warps, and the barriers among them.

use super::warp_slots::Slots;
use crate::warp::{Split, Wait, Warp, lanes};
use atoms_isa::BarrierVote;

/// Threads expected at a block barrier by `BAR.ARV` and the forms that name a count.
#[derive(Clone, Copy, Default)]
pub(crate) struct Barrier {
    /// Threads that arrived without waiting.
    pub(crate) arrived: u32,
    /// Threads expected; all that live where there is none.
    pub(crate) expected: Option<u32>,
    /// How a predicate is combined; threads that arrived with one, and those in which it holds.
    votes: Option<(BarrierVote, u32, u32)>,
}

impl Barrier {
    /// Threads arrive with a predicate, which holds in so many of them.
    pub(crate) fn vote(&mut self, vote: BarrierVote, holding: u32, threads: u32) {
        let (_, all, held) = self.votes.unwrap_or((vote, 0, 0));
        self.votes = Some((vote, all + threads, held + holding));
    }

    /// Result of the vote: a count, or all ones for true.
    fn outcome(&self) -> Option<u32> {
        let truth = |holds: bool| if holds { u32::MAX } else { 0 };
        self.votes.map(|(vote, all, held)| match vote {
            BarrierVote::Count => held,
            BarrierVote::All => truth(held == all),
            BarrierVote::Any => truth(held != 0),
        })
    }
}

/// Stage of the life of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The CTA waits for its allocation, or for those of its cluster.
    Starting {
        /// The CTA itself has its allocation.
        granted: bool,
    },
    /// The warps run.
    Running,
    /// All threads have ended; copies may still need the allocation.
    Ending,
    /// The allocation is being released.
    Released,
}

/// A CTA on the core.
pub(crate) struct Cta {
    /// Number in the grid, x first.
    pub(crate) number: u32,
    /// Index in the grid: x, y, z.
    pub(crate) index: [u32; 3],
    /// Slots of its warps.
    pub(crate) warps: Vec<usize>,
    pub(crate) barriers: [Barrier; 16],
    pub(crate) state: Stage,
    /// Number of its cluster in the grid.
    pub(crate) cluster: u32,
    /// Position in its cluster, x first.
    pub(crate) rank: u32,
}

impl Cta {
    /// Lets the threads at every barrier go on for which all have arrived.
    pub(super) fn release_barriers(&mut self, warps: &mut Slots) {
        let at_barrier = |split: &Split| match split.wait {
            Wait::Block(id) if split.mask != 0 => 1 << id,
            _ => 0,
        };
        let splits = self.warps.iter().filter_map(|slot| warps[*slot].as_deref()).flat_map(|w| &w.splits);
        let waited_at = splits.fold(0_u16, |ids, split| ids | at_barrier(split));
        for id in lanes(waited_at.into()) {
            let barrier = &mut self.barriers[id];
            let waits = |w: Wait| w == Wait::Block(id as u8);
            let own = |warps: &Slots, count: &dyn Fn(&Warp) -> u32| -> u32 {
                self.warps.iter().filter_map(|s| warps[*s].as_deref()).map(count).sum()
            };
            let complete = match barrier.expected {
                None => own(warps, &|w| (w.live & !w.waiting(waits)).count_ones()) <= barrier.arrived,
                // A warp all of whose live threads wait counts whole, as the hardware counts warps.
                Some(expected) => {
                    let threads = |w: &Warp| match w.waiting(waits) {
                        all if all == w.live && all != 0 => 32,
                        some => some.count_ones(),
                    };
                    own(warps, &threads) + barrier.arrived >= expected
                }
            };
            if complete {
                let outcome = barrier.outcome();
                *barrier = Barrier::default();
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
