//! The RTL on a thread of its own, some cycles behind the model.
//!
//! The model leads: what it drives is all that the RTL has to be compared with. Where the two differ, the model and all
//! that listens to it have gone on; so the run is repeated on one thread, from a snapshot before the difference.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use atoms_model::port::{In, Out, Probe};
use atoms_verilated::{Rtl, RtlError, Snapshot};
use crossbeam_channel::{Receiver, Sender, bounded};

/// Cycles that are handed over together: handing one over alone takes longer than to run it.
const BATCH_CYCLES: usize = 64;

/// Batches there are.
const BATCHES: usize = 8;

/// Batches that are given back together: the model, which is faster, sleeps until then, and to wake it takes as long as
/// many cycles.
const GIVEN_BACK: usize = BATCHES / 2;

/// Snapshots that are kept: behind the older one there are always enough cycles to show what led to a difference.
const SNAPSHOTS: usize = 2;

/// A cycle of the model.
#[derive(Debug, Default)]
struct Step {
    input: In,
    out: Out,
    probe: Probe,
}

/// Cycles handed over together, of which the first `used` count.
#[derive(Debug)]
struct Batch {
    steps: Box<[Step]>,
    used: usize,
}

/// RTL that follows.
#[derive(Debug)]
pub(crate) struct Follower {
    filling: Batch,
    to_rtl: Sender<Batch>,
    used: Receiver<Batch>,
    thread: JoinHandle<Caught>,
}

/// RTL that has run every cycle, or all up to one in which it is not as the model.
#[derive(Debug)]
pub(crate) struct Caught {
    pub(crate) rtl: Rtl,
    /// Of the last cycles, the oldest first.
    pub(crate) snapshots: VecDeque<Snapshot>,
    /// It differed, or stopped itself.
    pub(crate) apart: bool,
}

impl Follower {
    /// `rtl` follows from where it is, and takes a snapshot whenever so many of its clocks are over.
    pub(crate) fn start(rtl: Rtl, snapshots_every: u64) -> Self {
        let (to_rtl, batches) = bounded(BATCHES);
        let (to_model, used) = bounded(BATCHES);
        let batch = || Batch { steps: (0..BATCH_CYCLES).map(|_| Step::default()).collect(), used: 0 };
        for _ in 1..BATCHES {
            // There is room, and `used` is here.
            let _ = to_model.send(batch());
        }
        let thread = std::thread::spawn(move || follow(rtl, snapshots_every, &batches, &to_model));
        Follower { filling: batch(), to_rtl, used, thread }
    }

    /// Hands over a cycle; gives whether the RTL is at work still.
    pub(crate) fn push(&mut self, input: &In, out: &Out, probe: &Probe) -> bool {
        let step = &mut self.filling.steps[self.filling.used];
        (step.input, step.out, step.probe) = (*input, *out, *probe);
        self.filling.used += 1;
        if self.filling.used < BATCH_CYCLES {
            return true;
        }
        // Without the thread, there is none to be had.
        let Ok(mut next) = self.used.recv() else { return false };
        next.used = 0;
        self.to_rtl.send(std::mem::replace(&mut self.filling, next)).is_ok()
    }

    /// Waits until the RTL has run all that was handed over.
    ///
    /// # Errors
    /// [`RtlError::Failed`] when its thread panicked.
    pub(crate) fn catch_up(self) -> Result<Caught, RtlError> {
        let Follower { filling, to_rtl, used, thread } = self;
        // A thread that has ended needs it no more.
        let _ = to_rtl.send(filling);
        drop((to_rtl, used));
        thread.join().map_err(|_| RtlError::Failed("the thread of the RTL panicked".to_owned()))
    }
}

fn follow(mut rtl: Rtl, snapshots_every: u64, batches: &Receiver<Batch>, used: &Sender<Batch>) -> Caught {
    let mut snapshots = VecDeque::new();
    let mut run = Vec::with_capacity(GIVEN_BACK);
    for batch in batches {
        for Step { input, out, probe } in &batch.steps[..batch.used] {
            if rtl.cycles().is_multiple_of(snapshots_every)
                && let Ok(snapshot) = rtl.save()
            {
                snapshots.push_back(snapshot);
                if snapshots.len() > SNAPSHOTS {
                    snapshots.pop_front();
                }
            }
            if !matches!(rtl.cycle_expecting(input, out, probe), Ok(None)) {
                return Caught { rtl, snapshots, apart: true };
            }
        }
        run.push(batch);
        if run.len() == GIVEN_BACK {
            // The model may have ended.
            run.drain(..).for_each(|batch| drop(used.send(batch)));
        }
    }
    Caught { rtl, snapshots, apart: false }
}
