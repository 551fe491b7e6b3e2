//! RTL and model on the same inputs. Every output and every probe bit is compared in every cycle.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use atoms_model::diagnosis::Watch;
use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::unit::ForeignUnit;
use atoms_verilated::{Coverage, Library, Rtl, RtlError, Snapshot};

use crate::follower::{FollowedRtl, Follower, FollowerMode};
use crate::foreign::PortMemory;
use crate::internals::{Internals, RegisterAccess, memory_difference};
use crate::machine::{Failure, LastCycle, Machine};
use crate::mismatch::{ComparedSignal, Difference, Mismatch, SignalElement, Subject, differences, subject};

/// Cycles between snapshots of the RTL. A snapshot costs about as much as 500 cycles, so less than 1 %.
pub const CYCLES_BETWEEN_SNAPSHOTS: u64 = 1 << 16;

/// Snapshots kept: those of the last million cycles.
pub const SNAPSHOTS_KEPT: usize = 16;

/// Returns the error for RTL that is lost because its thread panicked.
fn lost() -> Failure {
    RtlError::Failed("the thread of the RTL panicked".to_owned()).into()
}

/// Result of one cycle: outputs and probe of the RTL if they differ from the model's, or the reason of a
/// stop.
type Compared = Result<Option<Box<(Out, Probe)>>, RtlError>;

/// Use of RTL snapshots during a run. The model has no snapshots, because it can run again up to a cycle:
/// alone it is five times as fast as lockstep.
#[derive(Debug)]
enum SnapshotMode {
    Record(VecDeque<Snapshot>),
    /// Snapshot at which the RTL joins. The model runs alone up to there.
    Replay(Snapshot),
}

/// RTL and model in lockstep.
#[derive(Debug)]
pub struct Lockstep {
    /// `None` while the RTL follows the model.
    rtl: Option<Rtl>,
    follower: Option<Follower>,
    /// Mode in which the RTL follows the model from the next cycle on.
    following: Option<FollowerMode>,
    library: Library,
    model: Unit,
    /// Last cycle of both sides. If the sides differ, the values are those of the RTL.
    last: LastCycle,
    model_apart: Option<Box<(Out, Probe)>>,
    /// Snapshot of the RTL after reset, if its variant supports snapshots.
    start: Option<Snapshot>,
    diverged: bool,
    internals: Option<Box<Internals>>,
    snapshot_mode: Option<SnapshotMode>,
    /// Declaration of the unit, if it is not this project's. Then the model does not run.
    foreign: Option<Arc<ForeignUnit>>,
}

/// State of RTL and model at one cycle, used to rewind.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    rtl: Snapshot,
    model: Box<Unit>,
    cycles: u64,
}

impl Checkpoint {
    /// Returns the number of cycles run before the checkpoint.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }
}

impl Lockstep {
    /// Creates a lockstep of `rtl`, built for `config`, and a model, after reset with a memory of zeros.
    ///
    /// # Errors
    /// [`Failure::Rtl`] if the RTL does not come out of reset.
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
            foreign: None,
        })
    }

    /// Creates a lockstep as [`Lockstep::new`] does. If `config` names another unit, its RTL runs without a model.
    ///
    /// # Errors
    /// Those of [`Lockstep::new`].
    pub fn of(rtl: Rtl, config: &NamedConfig) -> Result<Self, Failure> {
        Ok(Lockstep { foreign: config.unit.clone(), ..Self::new(rtl, config.config)? })
    }

    /// Starts over from reset with a memory of zeros, at cycle 0. Also works after a mismatch or after the
    /// RTL stopped. The record of [`Machine::watch`] is emptied.
    ///
    /// Coverage counts continue. RTL without snapshots is instantiated again: its coverage then depends on
    /// the run alone, not on registers that the previous run left behind.
    ///
    /// # Errors
    /// [`Failure::Rtl`] if the simulation of the RTL is lost.
    pub fn restart(&mut self) -> Result<(), Failure> {
        let watched = self.model.watched().is_some();
        self.fetch()?;
        let rtl = self.rtl.as_mut().ok_or_else(lost)?;
        if self.diverged || self.start.is_none() || self.foreign.is_some() {
            // A reset does not clear data registers, which may differ here.
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

    /// Makes the next restart set all registers to their initial values, as after a mismatch.
    pub fn start_anew(&mut self) {
        self.diverged = true;
    }

    /// Returns the RTL's coverage since [`Lockstep::new`], with its reset, or [`Lockstep::zero_coverage`].
    ///
    /// # Errors
    /// [`RtlError::NoCoverage`] unless the RTL was built as a variant that counts coverage.
    pub fn coverage(&self) -> Result<Coverage, RtlError> {
        // At the end of a run the RTL no longer follows, so `rtl` is set.
        self.rtl.as_ref().map_or(Err(RtlError::NoCoverage), Rtl::coverage)
    }

    /// Sets all coverage counts to 0. Call [`Lockstep::restart`] next: Verilator 5.006 counts some processes
    /// only in the first evaluation of a model.
    ///
    /// # Errors
    /// Same as [`Lockstep::coverage`].
    pub fn zero_coverage(&mut self) -> Result<(), RtlError> {
        self.rtl.as_mut().map_or(Err(RtlError::NoCoverage), Rtl::zero_coverage)
    }

    /// Saves the state of both sides.
    ///
    /// # Errors
    /// [`Failure::Rtl`] if the RTL stopped, was built without snapshots, follows the model, or has not joined
    /// yet.
    pub fn save(&mut self) -> Result<Checkpoint, Failure> {
        let alone = self.join()?;
        let rtl = self.rtl.as_mut().filter(|_| !alone).ok_or(RtlError::NoSnapshots)?;
        Ok(Checkpoint { rtl: rtl.save()?, model: Box::new(self.model.clone()), cycles: self.last.cycles })
    }

    /// Restores both sides from a checkpoint of this machine.
    ///
    /// # Errors
    /// [`Failure::Rtl`] if the checkpoint is of another machine.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        self.fetch()?;
        self.rtl.as_mut().ok_or_else(lost)?.restore(&checkpoint.rtl)?;
        self.model = (*checkpoint.model).clone();
        self.last.cycles = checkpoint.cycles;
        (self.diverged, self.model_apart) = (false, None);
        Ok(())
    }

    /// Makes the RTL follow the model from the next cycle on, or run in step with the model again. Results
    /// stay the same.
    ///
    /// RTL that follows reports a difference as [`Failure::FollowerDiverged`]. A run in step then finds the
    /// difference. This call has no effect while registers of the RTL are compared or shown.
    ///
    /// # Errors
    /// [`Failure`] in the cycles that the RTL had yet to run.
    pub fn set_following(&mut self, following: Option<FollowerMode>) -> Result<(), Failure> {
        self.following = following.filter(|_| self.internals.is_none() && self.foreign.is_none());
        self.fetch()
    }

    /// Waits for RTL that follows, and takes it back.
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

    /// Takes snapshots of the RTL from now on, every [`CYCLES_BETWEEN_SNAPSHOTS`] cycles.
    pub fn take_snapshots(&mut self) {
        self.snapshot_mode = Some(SnapshotMode::Record(VecDeque::new()));
    }

    /// Returns the last snapshots, oldest first.
    pub fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        match &self.snapshot_mode {
            Some(SnapshotMode::Record(taken)) => Some(taken.iter()),
            Some(SnapshotMode::Replay(_)) | None => None,
        }
        .into_iter()
        .flatten()
    }

    /// Runs the model alone up to a snapshot of the same run, where both sides agreed so far. There the RTL
    /// joins, and snapshots are taken again. Call this after reset.
    pub fn join_at(&mut self, snapshot: Snapshot) {
        self.snapshot_mode = Some(SnapshotMode::Replay(snapshot));
    }

    /// Returns the clocks of the RTL after `cycles` cycles, with those of the reset before the first cycle.
    pub fn clocks(&self, cycles: u64) -> u64 {
        self.start.as_ref().map_or(0, Snapshot::cycle) + cycles
    }

    /// Restores the RTL at the join point. Returns true if the model runs this cycle alone.
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

    fn cycle_of_the_model(&mut self, i: &In) {
        self.last.out = *self.model.evaluate(i);
        self.model.probe(&mut self.last.probe);
        self.model.tick(i);
        self.last.cycles += 1;
    }

    /// Reads internals from now on, in the cycles that `looking` selects.
    ///
    /// # Errors
    /// Same as [`Internals::open`].
    pub fn look_inside(&mut self, looking: RegisterAccess) -> Result<(), Failure> {
        let rtl = self.rtl.as_mut().ok_or(RtlError::NoWaves)?;
        self.internals = Some(Box::new(Internals::open(rtl, Some(&self.model), looking)?));
        self.following = None;
        Ok(())
    }

    /// Stops reading internals of both sides.
    pub fn look_away(&mut self) {
        self.internals = None;
    }

    /// Runs one cycle like [`Rtl::cycle_expecting`], and reads internals.
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

    /// Returns access to the memory of a unit that is not this project's.
    fn port_memory(&mut self) -> Option<PortMemory<'_>> {
        let unit = self.foreign.as_deref()?;
        Some(PortMemory { rtl: self.rtl.as_mut()?, config: self.model.config(), unit })
    }

    /// Returns the library of the RTL.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Records the first difference. The arguments are outputs and probe of the RTL in this cycle.
    #[cold]
    fn come_apart(&mut self, (out, probe): (Out, Probe)) {
        self.diverged = true;
        let last = &mut self.last;
        let model = (mem::replace(&mut last.out, out), mem::replace(&mut last.probe, probe));
        self.model_apart = Some(Box::new(model));
    }

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

    /// Returns the reference model of this lockstep.
    pub fn model(&self) -> &Unit {
        &self.model
    }

    /// Returns the model's outputs and probe in the last cycle; those of the RTL are [`Machine::out`] and
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
        if self.foreign.is_some() {
            let LastCycle { out, probe, cycles } = &mut self.last;
            self.rtl.as_mut().ok_or_else(lost)?.cycle(i, out, probe)?;
            *cycles += 1;
            return Ok(());
        }
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
            // Report the mismatch first: it explains more than an assertion that fails in the same cycle.
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
        if let Some(mut memory) = self.port_memory() {
            return if memory.write(words)? { Ok(()) } else { Err(Failure::CannotWrite) };
        }
        self.fetch()?;
        self.rtl.as_mut().ok_or_else(lost)?.write_memory(words)?;
        self.model.memory_mut().copy_from_slice(words);
        Ok(())
    }

    fn word(&self, index: usize) -> u32 {
        self.model.memory().get(index).copied().unwrap_or(0)
    }

    fn read_memory(&mut self) -> Result<Vec<u32>, Failure> {
        if let Some(mut memory) = self.port_memory() {
            return Ok(memory.read()?.unwrap_or_default());
        }
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

    fn foreign(&self) -> Option<&ForeignUnit> {
        self.foreign.as_deref()
    }

    fn sides(&self) -> &'static [&'static str] {
        if self.foreign.is_some() { &["rtl"] } else { &["rtl", "model"] }
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
