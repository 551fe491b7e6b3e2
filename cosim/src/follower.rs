//! The RTL some cycles behind the model, on a thread of its own or on the same one.
//!
//! The model leads: what it drives is all that the RTL has to be compared with. Where the two differ, the model and all
//! that listens to it have gone on; so the run is repeated cycle by cycle, from a snapshot before the difference.
//!
//! On one thread it is faster than cycle by cycle too: what runs many cycles at a time keeps its code in the caches.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use atoms_model::port::In;
use atoms_verilated::{Rtl, RtlError, Snapshot};
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::inputs::{Inputs, LastCycle};

/// Cycles that are handed over together: handing one over alone takes longer than to run it.
const BATCH_CYCLES: usize = 64;

/// Batches there are.
const BATCHES: usize = 8;

/// Batches that are given back together: the model, which is faster, sleeps until then, and to wake it takes as long as
/// many cycles.
const GIVEN_BACK: usize = BATCHES / 2;

/// Snapshots that are kept: behind the older one there are always enough cycles to show what led to a difference.
const SNAPSHOTS: usize = 2;

/// Cycles handed over together, with what the model drove and showed in each.
#[derive(Debug)]
struct Batch {
    inputs: Inputs,
    // All there can be: a cycle is made in its place.
    expected: Box<[LastCycle]>,
}

/// Where the RTL runs what the model leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowerMode {
    /// On the model's thread, in turns with it.
    InTurns,
    /// On a thread of its own: on two cores a run takes about as long as the RTL alone.
    OnItsOwnThread,
}

/// RTL that follows.
#[derive(Debug)]
pub(crate) struct Follower {
    filling: Batch,
    /// The last cycle of the batch handed over last.
    handed_over: LastCycle,
    place: FollowerThread,
    /// Clocks of the RTL.
    snapshots_every: u64,
}

#[derive(Debug)]
enum FollowerThread {
    Here(Box<FollowedRtl>),
    Thread { to_rtl: Sender<Batch>, used: Receiver<Batch>, thread: JoinHandle<FollowedRtl> },
}

/// RTL that has run every cycle, or all up to one in which it is not as the model.
#[derive(Debug)]
pub(crate) struct FollowedRtl {
    pub(crate) rtl: Rtl,
    /// Of the last cycles, the oldest first.
    pub(crate) snapshots: VecDeque<Snapshot>,
    /// It differed, or stopped itself.
    pub(crate) diverged: bool,
}

impl Batch {
    fn new() -> Self {
        Batch {
            inputs: Inputs::with_capacity(BATCH_CYCLES),
            expected: vec![Default::default(); BATCH_CYCLES].into(),
        }
    }
}

impl Follower {
    /// `rtl` follows from where it is, behind the cycle `last`, and takes a snapshot, if it can, whenever so many of its
    /// clocks are over.
    pub(crate) fn start(rtl: Rtl, following: FollowerMode, last: LastCycle, snapshots_every: u64) -> Self {
        let mut caught = FollowedRtl { rtl, snapshots: VecDeque::new(), diverged: false };
        let place = match following {
            FollowerMode::InTurns => FollowerThread::Here(Box::new(caught)),
            FollowerMode::OnItsOwnThread => {
                let (to_rtl, batches) = bounded(BATCHES);
                let (to_model, used) = bounded(BATCHES);
                for _ in 1..BATCHES {
                    // There is room, and `used` is here.
                    let _ = to_model.send(Batch::new());
                }
                let thread = std::thread::spawn(move || {
                    caught.follow(snapshots_every, &batches, &to_model);
                    caught
                });
                FollowerThread::Thread { to_rtl, used, thread }
            }
        };
        Follower { filling: Batch::new(), handed_over: last, place, snapshots_every }
    }

    /// The place of the model's next cycle.
    pub(crate) fn next(&mut self) -> &mut LastCycle {
        &mut self.filling.expected[self.filling.inputs.cycles()]
    }

    /// The model's last cycle.
    pub(crate) fn last(&self) -> &LastCycle {
        match self.filling.inputs.cycles() {
            0 => &self.handed_over,
            number => &self.filling.expected[number - 1],
        }
    }

    /// Hands over the cycle made in [`Follower::next`], with these inputs; gives whether the RTL is at work still.
    pub(crate) fn push(&mut self, input: &In) -> bool {
        let Batch { inputs, expected } = &mut self.filling;
        inputs.push(input, &expected[inputs.cycles()].out);
        if inputs.cycles() < BATCH_CYCLES {
            return true;
        }
        self.handed_over = self.last().clone();
        match &mut self.place {
            FollowerThread::Here(caught) => {
                let agree = caught.run(&self.filling, self.snapshots_every);
                self.filling.inputs.clear();
                agree
            }
            FollowerThread::Thread { to_rtl, used, .. } => {
                // Without the thread, there is none to be had.
                let Ok(mut next) = used.recv() else { return false };
                next.inputs.clear();
                to_rtl.send(std::mem::replace(&mut self.filling, next)).is_ok()
            }
        }
    }

    /// Waits until the RTL has run all that was handed over.
    ///
    /// # Errors
    /// [`RtlError::Failed`] when its thread panicked.
    pub(crate) fn catch_up(self) -> Result<FollowedRtl, RtlError> {
        match self.place {
            FollowerThread::Here(mut caught) => {
                caught.run(&self.filling, self.snapshots_every);
                Ok(*caught)
            }
            FollowerThread::Thread { to_rtl, used, thread } => {
                // A thread that has ended needs it no more.
                let _ = to_rtl.send(self.filling);
                drop((to_rtl, used));
                thread.join().map_err(|_| RtlError::Failed("the thread of the RTL panicked".to_owned()))
            }
        }
    }
}

impl FollowedRtl {
    /// Runs the cycles of a batch; gives whether the RTL does as the model.
    fn run(&mut self, batch: &Batch, snapshots_every: u64) -> bool {
        if self.diverged {
            return false;
        }
        let mut expected = batch.expected.iter();
        let run = batch.inputs.play(|input| {
            if self.rtl.cycles().is_multiple_of(snapshots_every)
                && let Ok(snapshot) = self.rtl.save()
            {
                self.snapshots.push_back(snapshot);
                if self.snapshots.len() > SNAPSHOTS {
                    self.snapshots.pop_front();
                }
            }
            let agrees = |LastCycle { out, probe, .. }: &LastCycle| {
                matches!(self.rtl.cycle_expecting(input, out, probe), Ok(None))
            };
            if expected.next().is_some_and(agrees) { Ok(()) } else { Err(()) }
        });
        self.diverged = run.is_err();
        !self.diverged
    }

    /// Runs what comes, until nothing does, or the RTL does not do as the model.
    fn follow(&mut self, snapshots_every: u64, batches: &Receiver<Batch>, used: &Sender<Batch>) {
        let mut run = Vec::with_capacity(GIVEN_BACK);
        for batch in batches {
            if !self.run(&batch, snapshots_every) {
                return;
            }
            run.push(batch);
            if run.len() == GIVEN_BACK {
                // The model may have ended.
                run.drain(..).for_each(|batch| drop(used.send(batch)));
            }
        }
    }
}
