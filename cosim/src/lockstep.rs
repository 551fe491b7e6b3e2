//! RTL and model on the same inputs, every output and every probe bit compared in every cycle.

use std::collections::VecDeque;

use atoms_model::diagnosis::Watch;
use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_verilated::{Coverage, Library, Rtl, RtlError, Snapshot};

use crate::internals::{Internals, Looking, memory_difference};
use crate::machine::{LastCycle, Machine, Stop};
use crate::mismatch::{ComparedSignal, Difference, Mismatch, SignalElement, Subject, differences, subject};

/// Cycles from one snapshot of the RTL to the next, where they are taken; one costs about 500 cycles, so less than 1 %.
pub const CYCLES_BETWEEN_SNAPSHOTS: u64 = 1 << 16;

/// Snapshots that are kept: those of the last million cycles.
pub const SNAPSHOTS_KEPT: usize = 16;

/// Snapshots of the RTL along a run. The model needs none: alone it is five times as fast as both.
#[derive(Debug)]
enum Shortcut {
    /// They are taken.
    Taking(VecDeque<Snapshot>),
    /// The model runs alone up to this one, where the RTL joins it.
    Joining(Snapshot),
}

/// RTL and model side by side.
#[derive(Debug)]
pub struct Lockstep {
    rtl: Rtl,
    model: Unit,
    last: LastCycle,
    model_probe: Probe,
    /// The RTL after reset, where its variant can be saved.
    start: Option<Snapshot>,
    apart: bool,
    internals: Option<Box<Internals>>,
    shortcut: Option<Shortcut>,
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
    /// [`Stop::Rtl`] when the RTL does not come out of reset.
    pub fn new(mut rtl: Rtl, config: Config) -> Result<Self, Stop> {
        rtl.reset()?;
        rtl.clear_memory();
        let start = rtl.library().variant().has_snapshots().then(|| rtl.save()).transpose()?;
        Ok(Lockstep {
            start,
            apart: false,
            internals: None,
            shortcut: None,
            rtl,
            model: Unit::new(config),
            last: LastCycle::default(),
            model_probe: Probe::default(),
        })
    }

    /// Starts over: reset, with a memory of zeros, cycle 0, nothing named. Also after a mismatch, and
    /// after the RTL has stopped itself. What was covered goes on being counted, and by a new model of the
    /// RTL: what a run covers depends on it alone, not on registers that the run before left behind.
    ///
    /// # Errors
    /// [`Stop::Rtl`] when the simulation of the RTL is lost.
    pub fn restart(&mut self) -> Result<(), Stop> {
        let watched = self.model.watched().is_some();
        if self.apart || self.start.is_none() {
            // A reset leaves registers that hold data as they were, and here they may differ.
            match &self.start {
                Some(start) => self.rtl.restore(start)?,
                None => {
                    self.rtl.renew()?;
                    self.rtl.reset()?;
                }
            }
            self.model = Unit::new(*self.model.config());
            self.apart = false;
        } else {
            self.rtl.reset()?;
            self.rtl.clear_memory();
            self.model.reset();
            self.model.memory_mut().fill(0);
        }
        if watched {
            self.model.watch();
        }
        self.last.cycles = 0;
        Ok(())
    }

    /// What of the RTL was covered since [`Lockstep::new`], its reset included, or since
    /// [`Lockstep::zero_coverage`].
    ///
    /// # Errors
    /// [`RtlError::NoCoverage`] unless the RTL was built as a variant that counts.
    pub fn coverage(&self) -> Result<Coverage, RtlError> {
        self.rtl.coverage()
    }

    /// Nothing is covered from here on. To be followed by [`Lockstep::restart`]: Verilator 5.006 counts
    /// some processes only when a model is evaluated for the first time.
    ///
    /// # Errors
    /// As [`Lockstep::coverage`].
    pub fn zero_coverage(&mut self) -> Result<(), RtlError> {
        self.rtl.zero_coverage()
    }

    /// Both sides as they are now.
    ///
    /// # Errors
    /// [`Stop::Rtl`] when the RTL has stopped itself, or was built as a variant that cannot be saved.
    pub fn save(&mut self) -> Result<Checkpoint, Stop> {
        Ok(Checkpoint {
            rtl: self.rtl.save()?,
            model: Box::new(self.model.clone()),
            cycles: self.last.cycles,
        })
    }

    /// Goes back to a checkpoint of this machine.
    ///
    /// # Errors
    /// [`Stop::Rtl`] when it is another machine's.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), Stop> {
        self.rtl.restore(&checkpoint.rtl)?;
        self.model = (*checkpoint.model).clone();
        self.last.cycles = checkpoint.cycles;
        Ok(())
    }

    /// Takes snapshots of the RTL from now on, [`CYCLES_BETWEEN_SNAPSHOTS`] apart.
    pub fn take_snapshots(&mut self) {
        self.shortcut = Some(Shortcut::Taking(VecDeque::new()));
    }

    /// The last snapshots taken, the oldest first.
    pub fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        match &self.shortcut {
            Some(Shortcut::Taking(taken)) => Some(taken.iter()),
            Some(Shortcut::Joining(_)) | None => None,
        }
        .into_iter()
        .flatten()
    }

    /// The model runs alone up to a snapshot of the same run, in which the two agreed so far; there the RTL joins it, and
    /// snapshots are taken. To be called after reset.
    pub fn join_at(&mut self, snapshot: Snapshot) {
        self.shortcut = Some(Shortcut::Joining(snapshot));
    }

    /// Clocks of the RTL after so many cycles of this: it was reset before the first.
    pub fn clocks(&self, cycles: u64) -> u64 {
        self.start.as_ref().map_or(0, Snapshot::cycle) + cycles
    }

    /// Takes a snapshot, or goes on from one; gives whether the model runs this cycle alone.
    fn along(&mut self) -> Result<bool, Stop> {
        let clocks = self.clocks(self.last.cycles);
        match self.shortcut.take() {
            Some(Shortcut::Joining(snapshot)) if snapshot.cycle() > clocks => {
                self.shortcut = Some(Shortcut::Joining(snapshot));
                return Ok(true);
            }
            Some(Shortcut::Joining(snapshot)) => {
                self.rtl.restore(&snapshot)?;
                self.take_snapshots();
            }
            Some(Shortcut::Taking(mut taken)) => {
                if self.last.cycles.is_multiple_of(CYCLES_BETWEEN_SNAPSHOTS) && self.last.cycles > 0 {
                    if taken.len() == SNAPSHOTS_KEPT {
                        taken.pop_front();
                    }
                    taken.push_back(self.rtl.save()?);
                }
                self.shortcut = Some(Shortcut::Taking(taken));
            }
            None => {}
        }
        Ok(false)
    }

    /// A cycle without the RTL.
    fn cycle_of_the_model(&mut self, i: &In) {
        self.last.out = *self.model.evaluate(i);
        self.model.probe(&mut self.model_probe);
        self.last.probe = self.model_probe;
        self.model.tick(i);
        self.last.cycles += 1;
    }

    /// Looks inside from now on, as said.
    ///
    /// # Errors
    /// As [`Internals::open`].
    pub fn look_inside(&mut self, looking: Looking) -> Result<(), RtlError> {
        self.internals = Some(Box::new(Internals::open(&mut self.rtl, Some(&self.model), looking)?));
        Ok(())
    }

    /// Looks inside no more.
    pub fn look_away(&mut self) {
        self.internals = None;
    }

    /// The RTL, and what is inside, if it is looked at.
    pub fn internals(&self) -> Option<(&Rtl, &Internals)> {
        Some((&self.rtl, self.internals.as_deref()?))
    }

    /// As [`Machine::cycle`], in a cycle that is looked into.
    #[cold]
    fn cycle_inside(&mut self, i: &In) -> Result<Result<(), RtlError>, Stop> {
        let Self { rtl, model, last, internals, apart, .. } = self;
        let Some(internals) = internals else { return Ok(rtl.cycle(i, &mut last.out, &mut last.probe)) };
        let memory = if internals.compares() { memory_difference(rtl, model, last.cycles) } else { None };
        let outcome = rtl.cycle_inside(i, &mut last.out, &mut last.probe);
        model.evaluate(i);
        internals.see(rtl, Some(model));
        match internals.compare(last.cycles, memory) {
            Some(difference) => {
                *apart = true;
                Err(Stop::Register(Box::new(difference)))
            }
            None => Ok(outcome),
        }
    }

    /// The library that the RTL is of.
    pub fn library(&self) -> &Library {
        self.rtl.library()
    }

    /// A mismatch in the outputs or the probe of this cycle.
    #[cold]
    fn mismatch(&self, found: Vec<Difference>) -> Mismatch {
        let last = self.model.last_pass().map(|pass| Subject {
            cluster: pass.cluster,
            tag: pass.tag,
            op: pass.kind.map(|(op, _)| op as u8),
        });
        let subject = found.first().and_then(|first| {
            subject(first.signal, (&self.last.out, &self.last.probe), self.model_side(), last)
        });
        Mismatch { subject, ..Mismatch::new(self.last.cycles, found) }
    }

    /// Whether the sides have come apart: they did not drive the same, or the RTL stopped.
    pub fn is_apart(&self) -> bool {
        self.apart
    }

    /// The model.
    pub fn model(&self) -> &Unit {
        &self.model
    }

    /// The model's outputs and probe of the cycle last run; the RTL's are [`Machine::out`] and
    /// [`Machine::probe`].
    pub fn model_side(&self) -> (&Out, &Probe) {
        // The clock edge has changed the model's outputs since, unless the two are apart; but then
        // they were equal.
        (if self.apart { self.model.out() } else { &self.last.out }, &self.model_probe)
    }
}

impl Machine for Lockstep {
    fn config(&self) -> &Config {
        self.model.config()
    }

    fn cycle(&mut self, i: &In) -> Result<(), Stop> {
        if self.shortcut.is_some() && self.along()? {
            self.cycle_of_the_model(i);
            return Ok(());
        }
        let rtl = match &self.internals {
            Some(internals) if internals.looks_at(self.last.cycles) => self.cycle_inside(i)?,
            Some(_) | None => self.rtl.cycle(i, &mut self.last.out, &mut self.last.probe),
        };
        self.model.evaluate(i);
        self.model.probe(&mut self.model_probe);
        // A difference explains more than the failed assertion it may lead to in the same cycle.
        if self.last.out != *self.model.out() || self.last.probe != self.model_probe {
            self.apart = true;
            let found = differences((&self.last.out, &self.last.probe), self.model_side());
            return Err(Stop::Mismatch(Box::new(self.mismatch(found))));
        }
        if let Err(stopped) = rtl {
            self.apart = true;
            return Err(stopped.into());
        }
        self.model.tick(i);
        self.last.cycles += 1;
        Ok(())
    }

    fn last(&self) -> &LastCycle {
        &self.last
    }

    fn load_memory(&mut self, words: &[u32]) -> Result<(), Stop> {
        self.rtl.write_memory(words)?;
        self.model.memory_mut().copy_from_slice(words);
        Ok(())
    }

    fn word(&self, index: usize) -> u32 {
        self.model.memory().get(index).copied().unwrap_or(0)
    }

    fn read_memory(&mut self) -> Result<Vec<u32>, Stop> {
        let words = self.rtl.read_memory();
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
            self.apart = true;
            Err(Stop::Mismatch(Box::new(Mismatch::new(self.last.cycles, found))))
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
}
