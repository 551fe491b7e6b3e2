//! Livelock detection for whole runs.
//!
//! A warp repeats itself if it returns to an instruction with the same registers, predicates and splits, and
//! nothing visible to it has changed meanwhile. If every warp repeats itself or waits at a barrier, and
//! nothing is in flight, nothing can change any more. Only then does the run stop early. A loop that counts
//! or reads the clock never returns to the same state, so it is not a livelock.

use crate::warp::{Busy, Wait, Warp};

/// Visits of the watched instruction after which a warp is no longer watched: its loop changes registers.
const MOST_VISITS: u32 = 64;

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
    /// The warp returned to the same state.
    Repeats,
    /// The warp returned with a different state each time.
    Changes,
}

/// Watches warps since the last change that another thread could see.
pub(crate) struct LivelockWatch {
    /// Cycles without a change before warps are watched. Watching takes time, and most runs never need it.
    limit: u64,
    since: u64,
    watches: Vec<Watch>,
}

impl LivelockWatch {
    pub(crate) fn new(limit: u64, warps: usize) -> LivelockWatch {
        LivelockWatch { limit, since: 0, watches: (0..warps).map(|_| Watch::Unseen).collect() }
    }

    pub(crate) fn change(&mut self, cycle: u64) {
        if self.long(cycle) {
            self.watches.fill_with(Watch::default);
        }
        self.since = cycle;
    }

    /// True if nothing has changed for more than `limit` cycles, so warps are watched.
    pub(crate) fn long(&self, cycle: u64) -> bool {
        cycle - self.since > self.limit
    }

    pub(crate) fn cycles(&self, cycle: u64) -> u64 {
        cycle - self.since
    }

    /// Checks the warp in `slot` before it issues. Returns `true` if the warp has just been found to repeat
    /// itself.
    pub(crate) fn visit(&mut self, slot: usize, warp: &Warp) -> bool {
        let Some(split) = warp.splits.get(warp.current) else { return false };
        let state = || Box::new(Warp { busy: Busy::No, turns: 0, ..warp.clone() });
        let take = |visits| Watch::Watched(Snapshot { pc: split.pc, state: state(), visits });
        let watch = &mut self.watches[slot];
        match watch {
            Watch::Unseen => *watch = take(0),
            Watch::Watched(snapshot) if snapshot.pc == split.pc => {
                snapshot.visits += 1;
                if state() == snapshot.state {
                    *watch = Watch::Repeats;
                    return true;
                }
                let visits = snapshot.visits;
                if visits >= MOST_VISITS {
                    *watch = Watch::Changes;
                } else if visits.is_power_of_two() {
                    // Take a new snapshot: the repeating state may start only after the old one.
                    *watch = take(visits);
                }
            }
            Watch::Watched(_) | Watch::Repeats | Watch::Changes => {}
        }
        false
    }

    /// True if the warp in `slot` is blocked, or repeats itself since the last change.
    pub(crate) fn is_livelocked(&self, slot: usize, warp: &Warp) -> bool {
        let goes_on = |s: &crate::warp::Split| matches!(s.wait, Wait::Ready | Wait::Until(_));
        let blocked = warp.busy == Busy::No && !warp.splits.iter().any(goes_on);
        blocked || matches!(self.watches[slot], Watch::Repeats)
    }
}
