//! Runs the RTL some cycles behind the model, on its own thread or in turns with the model.
//!
//! The model runs first, and the RTL is compared with the recorded outputs of the model. When the two differ,
//! the model has already run further. The caller then repeats the run cycle by cycle, from a snapshot before
//! the difference.
//!
//! Batches are faster than single cycles even on one thread: the code of one side stays in the caches.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use atoms_model::port::In;
use atoms_verilated::{Rtl, RtlError, Snapshot};
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::inputs::{Inputs, LastCycle};

/// Cycles handed over in one batch. Handing over a single cycle costs more than running it.
const BATCH_CYCLES: usize = 64;

const BATCHES: usize = 8;

/// Number of used batches that the RTL thread returns together. The faster model sleeps until then, and
/// waking it costs as much as many cycles.
const GIVEN_BACK: usize = BATCHES / 2;

/// Snapshots kept. With two, the older one is always early enough to show the cycles before a difference.
const SNAPSHOTS: usize = 2;

/// Consecutive cycles, with outputs and probe of the model in each.
#[derive(Debug)]
struct Batch {
    inputs: Inputs,
    // Allocated at full length: the model writes each cycle in place.
    expected: Box<[LastCycle]>,
}

/// Thread on which the RTL follows the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowerMode {
    /// On the model's thread, in turns with the model.
    InTurns,
    /// On a separate thread. On two cores, a run then takes about as long as the RTL alone.
    OnItsOwnThread,
}

#[derive(Debug)]
pub(crate) struct Follower {
    filling: Batch,
    /// Last cycle of the batch handed over most recently.
    handed_over: LastCycle,
    place: FollowerThread,
    snapshots_every: u64,
}

#[derive(Debug)]
enum FollowerThread {
    Here(Box<FollowedRtl>),
    Thread { to_rtl: Sender<Batch>, used: Receiver<Batch>, thread: JoinHandle<FollowedRtl> },
}

/// RTL after a run as follower. The RTL has run every cycle up to the first difference, if there is one.
#[derive(Debug)]
pub(crate) struct FollowedRtl {
    pub(crate) rtl: Rtl,
    /// Snapshots of the last cycles, oldest first.
    pub(crate) snapshots: VecDeque<Snapshot>,
    /// True if the RTL differed from the model or stopped.
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
    /// Starts following after the cycle `last`, with snapshots every `snapshots_every` clocks if supported.
    pub(crate) fn start(rtl: Rtl, following: FollowerMode, last: LastCycle, snapshots_every: u64) -> Self {
        let mut caught = FollowedRtl { rtl, snapshots: VecDeque::new(), diverged: false };
        let place = match following {
            FollowerMode::InTurns => FollowerThread::Here(Box::new(caught)),
            FollowerMode::OnItsOwnThread => {
                let (to_rtl, batches) = bounded(BATCHES);
                let (to_model, used) = bounded(BATCHES);
                for _ in 1..BATCHES {
                    // The channel has room, and `used` keeps the channel open.
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

    /// Returns the slot for the model's next cycle.
    pub(crate) fn next(&mut self) -> &mut LastCycle {
        &mut self.filling.expected[self.filling.inputs.cycles()]
    }

    pub(crate) fn last(&self) -> &LastCycle {
        match self.filling.inputs.cycles() {
            0 => &self.handed_over,
            number => &self.filling.expected[number - 1],
        }
    }

    /// Hands over the cycle in [`Follower::next`]. Returns false if the RTL has diverged or its thread has
    /// ended.
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
                let Ok(mut next) = used.recv() else { return false };
                next.inputs.clear();
                to_rtl.send(std::mem::replace(&mut self.filling, next)).is_ok()
            }
        }
    }

    /// Waits until the RTL has run every cycle that was handed over.
    ///
    /// # Errors
    /// [`RtlError::Failed`] if the thread of the RTL panicked.
    pub(crate) fn catch_up(self) -> Result<FollowedRtl, RtlError> {
        match self.place {
            FollowerThread::Here(mut caught) => {
                caught.run(&self.filling, self.snapshots_every);
                Ok(*caught)
            }
            FollowerThread::Thread { to_rtl, used, thread } => {
                let _ = to_rtl.send(self.filling);
                drop((to_rtl, used));
                thread.join().map_err(|_| RtlError::Failed("the thread of the RTL panicked".to_owned()))
            }
        }
    }
}

impl FollowedRtl {
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

    /// Runs batches until the channel closes or the RTL diverges.
    fn follow(&mut self, snapshots_every: u64, batches: &Receiver<Batch>, used: &Sender<Batch>) {
        let mut run = Vec::with_capacity(GIVEN_BACK);
        for batch in batches {
            if !self.run(&batch, snapshots_every) {
                return;
            }
            run.push(batch);
            if run.len() == GIVEN_BACK {
                // Ignore the error: the model may have ended.
                run.drain(..).for_each(|batch| drop(used.send(batch)));
            }
        }
    }
}
