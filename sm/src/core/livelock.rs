//! Finding threads that wait for ever.
//!
//! A warp that comes back to an instruction with the same registers, predicates and splits, while nothing
//! changed that it could see in between, will come back to it again, and so on. When every warp does that or
//! waits at a barrier, and nothing is on its way, nothing will ever change. Only then is a run given up early:
//! a loop that counts, or looks at the clock, never comes back to the same state.

use crate::warp::{Busy, Wait, Warp};

/// Returns to the instruction watched after which a warp is no longer looked at: its loop changes registers.
const MOST_VISITS: u32 = 64;

/// A warp's state at some instruction, to see whether it comes back.
struct Snapshot {
    pc: u32,
    state: Box<Warp>,
    visits: u32,
}

#[derive(Default)]
enum Watch {
    #[default]
    Unseen,
    Watched(Snapshot),
    /// The warp came back to the same state.
    Repeats,
    /// The warp comes back in another state each time.
    Changes,
}

/// Watches warps since the last change that another thread could see.
pub(crate) struct LivelockWatch {
    /// Cycles before warps are looked at: looking takes time, and most runs never need it.
    limit: u64,
    since: u64,
    /// By warp slot.
    watches: Vec<Watch>,
}

impl LivelockWatch {
    pub(crate) fn new(limit: u64, warps: usize) -> LivelockWatch {
        LivelockWatch { limit, since: 0, watches: (0..warps).map(|_| Watch::Unseen).collect() }
    }

    /// Notes a change that another thread could see.
    pub(crate) fn change(&mut self, cycle: u64) {
        if self.long(cycle) {
            self.watches.fill_with(Watch::default);
        }
        self.since = cycle;
    }

    /// True if nothing has changed for so long that warps are watched.
    pub(crate) fn long(&self, cycle: u64) -> bool {
        cycle - self.since > self.limit
    }

    /// Cycles since the last change.
    pub(crate) fn cycles(&self, cycle: u64) -> u64 {
        cycle - self.since
    }

    /// The warp in `slot` is about to issue; `true` if it has just been found to repeat itself.
    pub(crate) fn visit(&mut self, slot: usize, warp: &Warp) -> bool {
        let Some(split) = warp.splits.get(warp.current) else { return false };
        let take = |visits| {
            let state = Box::new(Warp { busy: Busy::No, turns: 0, ..warp.clone() });
            Watch::Watched(Snapshot { pc: split.pc, state, visits })
        };
        let watch = &mut self.watches[slot];
        match watch {
            Watch::Unseen => *watch = take(0),
            Watch::Watched(snapshot) if snapshot.pc == split.pc => {
                let now = Warp { busy: Busy::No, turns: 0, ..warp.clone() };
                snapshot.visits += 1;
                if now == *snapshot.state {
                    *watch = Watch::Repeats;
                    return true;
                }
                let visits = snapshot.visits;
                if visits >= MOST_VISITS {
                    *watch = Watch::Changes;
                } else if visits.is_power_of_two() {
                    // The state it comes back to may be a later one.
                    *watch = take(visits);
                }
            }
            Watch::Watched(_) | Watch::Repeats | Watch::Changes => {}
        }
        false
    }

    /// True if the warp in `slot` can only repeat what it did since the last change.
    pub(crate) fn is_livelocked(&self, slot: usize, warp: &Warp) -> bool {
        let goes_on = |s: &crate::warp::Split| matches!(s.wait, Wait::Ready | Wait::Until(_));
        let blocked = warp.busy == Busy::No && !warp.splits.iter().any(goes_on);
        blocked || matches!(self.watches[slot], Watch::Repeats)
    }
}
