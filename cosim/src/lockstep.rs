//! RTL and model on the same inputs, every output and every probe bit compared in every cycle.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

use atoms_model::diagnosis::Watch;
use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_verilated::{Coverage, Library, Rtl, RtlError, Snapshot};

use crate::follower::{FollowedRtl, Follower, FollowerMode};
use crate::internals::{Internals, RegisterAccess, memory_difference};
use crate::machine::{Failure, LastCycle, Machine};
use crate::mismatch::{ComparedSignal, Difference, Mismatch, SignalElement, Subject, differences, subject};

/// Cycles from one snapshot of the RTL to the next, where they are taken; one costs about 500 cycles, so less than 1 %.
pub const CYCLES_BETWEEN_SNAPSHOTS: u64 = 1 << 16;

/// Snapshots that are kept: those of the last million cycles.
pub const SNAPSHOTS_KEPT: usize = 16;

/// The thread of the RTL panicked, and took it along.
fn lost() -> Failure {
    RtlError::Failed("the RTL is lost".to_owned()).into()
}

/// What of a cycle the RTL does not do as the model: nothing, outputs and probe, or it stopped itself.
type Compared = Result<Option<Box<(Out, Probe)>>, RtlError>;

/// Snapshots of the RTL along a run. The model needs none: alone it is five times as fast as both.
#[derive(Debug)]
enum SnapshotMode {
    /// They are taken.
    Record(VecDeque<Snapshot>),
    /// The model runs alone up to this one, where the RTL joins it.
    Replay(Snapshot),
}

/// RTL and model side by side.
#[derive(Debug)]
pub struct Lockstep {
    /// None while it follows.
    rtl: Option<Rtl>,
    follower: Option<Follower>,
    /// It is to follow, here.
    following: Option<FollowerMode>,
    library: Library,
    model: Unit,
    /// Of both sides; of the RTL where they differ.
    last: LastCycle,
    /// What the model drove and showed in the cycle in which they differed.
    model_apart: Option<Box<(Out, Probe)>>,
    /// The RTL after reset, where its variant can be saved.
    start: Option<Snapshot>,
    diverged: bool,
    internals: Option<Box<Internals>>,
    snapshot_mode: Option<SnapshotMode>,
}

/// Both sides at one moment, to come back to.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    rtl: Snapshot,
    model: Box<Unit>,
    cycles: u64,
}

impl Checkpoint {
    /// Cycles run before it.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }
}

impl Lockstep {
    /// `rtl`, built for `config`, and a model of it, both after reset with a memory of zeros.
    ///
    /// # Errors
    /// [`Failure::Rtl`] when the RTL does not come out of reset.
    pub fn new(mut rtl: Rtl, config: Config) -> Result<Self, Failure> {
        rtl.reset()?;
        rtl.clear_memory();
        let start = rtl.library().variant().has_snapshots().then(|| rtl.save()).transpose()?;
        Ok(Lockstep {
            start,
            diverged: false,
            internals: None,
            snapshot_mode: None,
            follower: None,
            following: None,
            library: rtl.library().clone(),
            rtl: Some(rtl),
            model: Unit::new(config),
            last: LastCycle::default(),
            model_apart: None,
        })
    }

    /// Starts over: reset, with a memory of zeros, cycle 0, nothing named. Also after a mismatch, and
    /// after the RTL has stopped itself. What was covered goes on being counted, and by a new model of the
    /// RTL: what a run covers depends on it alone, not on registers that the run before left behind.
    ///
    /// # Errors
    /// [`Failure::Rtl`] when the simulation of the RTL is lost.
    pub fn restart(&mut self) -> Result<(), Failure> {
        let watched = self.model.watched().is_some();
        self.fetch()?;
        let rtl = self.rtl.as_mut().ok_or_else(lost)?;
        if self.diverged || self.start.is_none() {
            // A reset leaves registers that hold data as they were, and here they may differ.
            match &self.start {
                Some(start) => rtl.restore(start)?,
                None => {
                    rtl.renew()?;
                    rtl.reset()?;
                }
            }
            self.model = Unit::new(*self.model.config());
            (self.diverged, self.model_apart) = (false, None);
        } else {
            rtl.reset()?;
            rtl.clear_memory();
            self.model.reset();
            self.model.memory_mut().fill(0);
        }
        if watched {
            self.model.watch();
        }
        self.last.cycles = 0;
        Ok(())
    }

    /// The next restart sets all registers as they were at first, as it does after a mismatch.
    pub fn start_anew(&mut self) {
        self.diverged = true;
    }

    /// What of the RTL was covered since [`Lockstep::new`], its reset included, or since
    /// [`Lockstep::zero_coverage`].
    ///
    /// # Errors
    /// [`RtlError::NoCoverage`] unless the RTL was built as a variant that counts.
    pub fn coverage(&self) -> Result<Coverage, RtlError> {
        // Where a run has ended, the RTL is here.
        self.rtl.as_ref().map_or(Err(RtlError::NoCoverage), Rtl::coverage)
    }

    /// Nothing is covered from here on. To be followed by [`Lockstep::restart`]: Verilator 5.006 counts
    /// some processes only when a model is evaluated for the first time.
    ///
    /// # Errors
    /// As [`Lockstep::coverage`].
    pub fn zero_coverage(&mut self) -> Result<(), RtlError> {
        self.rtl.as_mut().map_or(Err(RtlError::NoCoverage), Rtl::zero_coverage)
    }

    /// Both sides as they are now.
    ///
    /// # Errors
    /// [`Failure::Rtl`] when the RTL has stopped itself, was built as a variant that cannot be saved, follows, or has
    /// not joined yet.
    pub fn save(&mut self) -> Result<Checkpoint, Failure> {
        let alone = self.join()?;
        let rtl = self.rtl.as_mut().filter(|_| !alone).ok_or(RtlError::NoSnapshots)?;
        Ok(Checkpoint { rtl: rtl.save()?, model: Box::new(self.model.clone()), cycles: self.last.cycles })
    }

    /// Goes back to a checkpoint of this machine.
    ///
    /// # Errors
    /// [`Failure::Rtl`] when it is another machine's.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        self.fetch()?;
        self.rtl.as_mut().ok_or_else(lost)?.restore(&checkpoint.rtl)?;
        self.model = (*checkpoint.model).clone();
        self.last.cycles = checkpoint.cycles;
        (self.diverged, self.model_apart) = (false, None);
        Ok(())
    }

    /// Lets the RTL follow the model on its own thread from the next cycle, or run abreast of it again. Results stay the
    /// same. RTL that follows reports a difference as [`Failure::FollowerDiverged`]; a run abreast then finds it. No effect
    /// while registers of the RTL are compared or shown.
    ///
    /// # Errors
    /// [`Failure`] of what the RTL was still to run.
    pub fn set_following(&mut self, following: Option<FollowerMode>) -> Result<(), Failure> {
        self.following = following.filter(|_| self.internals.is_none());
        self.fetch()
    }

    /// Has the RTL here again, if it followed.
    fn fetch(&mut self) -> Result<(), Failure> {
        let Some(follower) = self.follower.take() else { return Ok(()) };
        self.last.clone_from(follower.last());
        let FollowedRtl { rtl, mut snapshots, diverged } = follower.catch_up()?;
        self.rtl = Some(rtl);
        if !diverged {
            return Ok(());
        }
        self.diverged = true;
        Err(Failure::FollowerDiverged(snapshots.pop_front()))
    }

    /// Takes snapshots of the RTL from now on, [`CYCLES_BETWEEN_SNAPSHOTS`] apart.
    pub fn take_snapshots(&mut self) {
        self.snapshot_mode = Some(SnapshotMode::Record(VecDeque::new()));
    }

    /// The last snapshots taken, the oldest first.
    pub fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        match &self.snapshot_mode {
            Some(SnapshotMode::Record(taken)) => Some(taken.iter()),
            Some(SnapshotMode::Replay(_)) | None => None,
        }
        .into_iter()
        .flatten()
    }

    /// The model runs alone up to a snapshot of the same run, in which the two agreed so far; there the RTL joins it, and
    /// snapshots are taken. To be called after reset.
    pub fn join_at(&mut self, snapshot: Snapshot) {
        self.snapshot_mode = Some(SnapshotMode::Replay(snapshot));
    }

    /// Clocks of the RTL after so many cycles of this: it was reset before the first.
    pub fn clocks(&self, cycles: u64) -> u64 {
        self.start.as_ref().map_or(0, Snapshot::cycle) + cycles
    }

    /// Has the RTL join where it is to; gives whether the model runs this cycle alone.
    fn join(&mut self) -> Result<bool, Failure> {
        let clocks = self.clocks(self.last.cycles);
        match &self.snapshot_mode {
            Some(SnapshotMode::Replay(snapshot)) if snapshot.cycle() > clocks => Ok(true),
            Some(SnapshotMode::Replay(snapshot)) => {
                self.rtl.as_mut().ok_or_else(lost)?.restore(snapshot)?;
                self.take_snapshots();
                Ok(false)
            }
            Some(SnapshotMode::Record(_)) | None => Ok(false),
        }
    }

    /// Takes a snapshot if one is due.
    fn take_snapshot(&mut self) -> Result<(), Failure> {
        if let (Some(SnapshotMode::Record(taken)), Some(rtl)) = (&mut self.snapshot_mode, &mut self.rtl)
            && self.last.cycles.is_multiple_of(CYCLES_BETWEEN_SNAPSHOTS)
            && self.last.cycles > 0
        {
            if taken.len() == SNAPSHOTS_KEPT {
                taken.pop_front();
            }
            taken.push_back(rtl.save()?);
        }
        Ok(())
    }

    /// A cycle without the RTL.
    fn cycle_of_the_model(&mut self, i: &In) {
        self.last.out = *self.model.evaluate(i);
        self.model.probe(&mut self.last.probe);
        self.model.tick(i);
        self.last.cycles += 1;
    }

    /// Looks inside from now on, as said.
    ///
    /// # Errors
    /// As [`Internals::open`].
    pub fn look_inside(&mut self, looking: RegisterAccess) -> Result<(), Failure> {
        let rtl = self.rtl.as_mut().ok_or(RtlError::NoWaves)?;
        self.internals = Some(Box::new(Internals::open(rtl, Some(&self.model), looking)?));
        self.following = None;
        Ok(())
    }

    /// Looks inside no more.
    pub fn look_away(&mut self) {
        self.internals = None;
    }

    /// As [`Rtl::cycle_expecting`], in a cycle that is looked into.
    #[cold]
    fn cycle_inside(&mut self, i: &In) -> Result<Compared, Failure> {
        let Self { rtl, model, last, internals, .. } = self;
        let rtl = rtl.as_mut().ok_or_else(lost)?;
        let Some(internals) = internals else { return Ok(rtl.cycle_expecting(i, &last.out, &last.probe)) };
        let memory = if internals.compares() { memory_difference(rtl, model, last.cycles) } else { None };
        let mut found = Box::<(Out, Probe)>::default();
        let outcome = rtl.cycle_inside(i, &mut found.0, &mut found.1);
        internals.see(rtl, Some(model));
        let differs = *found != (last.out, last.probe);
        match internals.compare(last.cycles, memory) {
            Some(difference) => {
                self.come_apart(*found);
                Err(Failure::Register(Box::new(difference)))
            }
            None if differs => Ok(Ok(Some(found))),
            None => Ok(outcome.map(|()| None)),
        }
    }

    /// The library that the RTL is of.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The RTL drives and shows this in the cycle last run.
    #[cold]
    fn come_apart(&mut self, (out, probe): (Out, Probe)) {
        self.diverged = true;
        let last = &mut self.last;
        let model = (mem::replace(&mut last.out, out), mem::replace(&mut last.probe, probe));
        self.model_apart = Some(Box::new(model));
    }

    /// A mismatch in the outputs or the probe of this cycle.
    #[cold]
    fn mismatch(&self) -> Mismatch {
        let last = self.model.last_pass().map(|pass| Subject {
            cluster: pass.cluster,
            tag: pass.tag,
            op: pass.kind.map(|(op, _)| op as u8),
        });
        let (rtl, model) = ((&self.last.out, &self.last.probe), self.model_side());
        let found = differences(rtl, model);
        let subject = found.first().and_then(|first| subject(first.signal, rtl, model, last));
        Mismatch { subject, ..Mismatch::new(self.last.cycles, found) }
    }

    /// True if RTL and model diverged: their outputs differed, or the RTL stopped.
    pub fn is_apart(&self) -> bool {
        self.diverged
    }

    /// The model.
    pub fn model(&self) -> &Unit {
        &self.model
    }

    /// The model's outputs and probe of the cycle last run; the RTL's are [`Machine::out`] and
    /// [`Machine::probe`].
    pub fn model_side(&self) -> (&Out, &Probe) {
        let last = self.last();
        self.model_apart.as_deref().map_or((&last.out, &last.probe), |(out, probe)| (out, probe))
    }
}

impl Machine for Lockstep {
    fn config(&self) -> &Config {
        self.model.config()
    }

    fn cycle(&mut self, i: &In) -> Result<(), Failure> {
        if self.snapshot_mode.is_some() {
            if self.join()? {
                self.cycle_of_the_model(i);
                return Ok(());
            }
            self.take_snapshot()?;
        }
        if let Some(following) = self.following
            && let Some(rtl) = self.rtl.take()
        {
            self.follower =
                Some(Follower::start(rtl, following, self.last.clone(), CYCLES_BETWEEN_SNAPSHOTS));
        }
        if let Some(follower) = &mut self.follower {
            self.last.cycles += 1;
            let next = follower.next();
            next.out = *self.model.evaluate(i);
            self.model.probe(&mut next.probe);
            next.cycles = self.last.cycles;
            self.model.tick(i);
            if follower.push(i) {
                return Ok(());
            }
            self.fetch()?;
            return Err(lost());
        }
        self.last.out = *self.model.evaluate(i);
        self.model.probe(&mut self.last.probe);
        let compared = match (&self.internals, &mut self.rtl) {
            (Some(internals), _) if internals.looks_at(self.last.cycles) => self.cycle_inside(i)?,
            (_, Some(rtl)) => rtl.cycle_expecting(i, &self.last.out, &self.last.probe),
            (_, None) => return Err(lost()),
        };
        match compared {
            Ok(None) => {
                self.model.tick(i);
                self.last.cycles += 1;
                Ok(())
            }
            // It explains more than the failed assertion that it may lead to in the same cycle.
            Ok(Some(found)) => {
                self.come_apart(*found);
                Err(Failure::Mismatch(Box::new(self.mismatch())))
            }
            Err(stopped) => {
                self.diverged = true;
                Err(stopped.into())
            }
        }
    }

    fn catch_up(&mut self) -> Result<(), Failure> {
        self.fetch()
    }

    fn last(&self) -> &LastCycle {
        self.follower.as_ref().map_or(&self.last, Follower::last)
    }

    fn load_memory(&mut self, words: &[u32]) -> Result<(), Failure> {
        self.fetch()?;
        self.rtl.as_mut().ok_or_else(lost)?.write_memory(words)?;
        self.model.memory_mut().copy_from_slice(words);
        Ok(())
    }

    fn word(&self, index: usize) -> u32 {
        self.model.memory().get(index).copied().unwrap_or(0)
    }

    fn read_memory(&mut self) -> Result<Vec<u32>, Failure> {
        self.fetch()?;
        let words = self.rtl.as_ref().ok_or_else(lost)?.read_memory();
        let banks = self.model.config().num_banks as usize;
        let found: Vec<_> = words
            .iter()
            .zip(self.model.memory())
            .enumerate()
            .filter(|(_, (rtl, model))| rtl != model)
            .map(|(word, (rtl, model))| Difference {
                signal: ComparedSignal::Memory,
                element: Some(SignalElement::Word { bank: word % banks, row: word / banks }),
                rtl: u128::from(*rtl),
                model: u128::from(*model),
            })
            .collect();
        if found.is_empty() {
            Ok(words)
        } else {
            self.diverged = true;
            Err(Failure::Mismatch(Box::new(Mismatch::new(self.last.cycles, found))))
        }
    }

    fn watch(&mut self) {
        self.model.watch();
    }

    fn unwatch(&mut self) {
        self.model.unwatch();
    }

    fn watched(&self) -> Option<&Watch> {
        self.model.watched()
    }

    fn sides(&self) -> &'static [&'static str] {
        &["rtl", "model"]
    }

    fn other_side(&self) -> Option<(&Out, &Probe)> {
        self.diverged.then(|| self.model_side())
    }

    fn passes_at_issue(&self) -> Option<u32> {
        self.model.passes_at_issue()
    }

    fn show_inside(&mut self, window: Range<u64>) -> Result<(), Failure> {
        self.look_inside(RegisterAccess::Show(window))
    }

    fn internals(&self) -> Option<(&Rtl, &Internals)> {
        Some((self.rtl.as_ref()?, self.internals.as_deref()?))
    }
}
