//! A random run in lockstep, and what to do when it fails: the wave of the cycles before, and a
//! small case that fails the same way.

use std::collections::VecDeque;
use std::path::Path;

use atoms_model::port::{In, Out};
use atoms_ops::Op;

use crate::case::{Case, CaseStimulus, Pauses};
use crate::configs::NamedConfig;
use crate::lockstep::Lockstep;
use crate::machine::Machine;
use crate::request::{ClusterRequest, PartWrite, WarpRequest};
use crate::session::{Failure, Session, SessionCheckpoint, Tally};
use crate::shrink::shrink;
use crate::stimulus::{Manner, RandomStimulus, Stimulus};
use crate::trace::Trace;
use crate::witness::Witness;

/// Cycles shown before a failure: the longest pipeline, a full queue and a 32-pass request fit.
pub const CYCLES_SHOWN: u64 = 64;

/// Cycles between checkpoints; one costs about 500 cycles, so less than 1 %.
const CYCLES_BETWEEN_CHECKPOINTS: u64 = 1 << 16;

/// Warp requests remembered, for a failure to be made a case of.
const REQUESTS_REMEMBERED: usize = 256;

/// What to run.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Configuration.
    pub config: NamedConfig,
    /// Operations drawn from; all of them if empty.
    pub ops: Vec<Op>,
    /// Seed: same seed, same run.
    pub seed: u64,
    /// Warp requests.
    pub requests: u64,
    /// Cycles at most.
    pub until: u64,
}

/// A run that failed, and the means to look closer.
#[derive(Debug)]
pub struct Failed {
    /// What happened.
    pub failure: Failure,
    /// Cycle in which it showed.
    pub cycle: u64,
    session: Session<Lockstep>,
    checkpoints: VecDeque<(SessionCheckpoint, RandomStimulus)>,
    remembered: Memory,
    config: String,
}

impl Campaign {
    /// A witness of a machine of this configuration after reset, with a memory of zeros.
    pub fn witness(&self) -> Witness {
        Witness::new(&self.config.config, &[])
    }

    /// The stimulus of this campaign.
    pub fn stimulus(&self) -> RandomStimulus {
        RandomStimulus::new(self.config.config, &self.ops, self.seed, self.requests, Manner::Searching)
    }

    /// Runs in lockstep until everything is answered, or the cycle limit is reached.
    ///
    /// # Errors
    /// [`Failed`], from which [`Failed::write_trace`] and [`Failed::small_case`] go on.
    pub fn run(
        &self,
        mut session: Session<Lockstep>,
        mut progress: impl FnMut(&Tally),
    ) -> Result<(Session<Lockstep>, Tally), Box<Failed>> {
        let mut stimulus = Remembering { inner: self.stimulus(), memory: Memory::default() };
        let mut checkpoints = VecDeque::new();
        let mut outcome = Ok(());
        while outcome.is_ok()
            && session.machine.cycles() < self.until
            && !(stimulus.finished() && session.is_idle())
        {
            let cycle = session.machine.cycles();
            if cycle.is_multiple_of(CYCLES_BETWEEN_CHECKPOINTS)
                && let Ok(checkpoint) = session.save()
            {
                checkpoints.push_back((checkpoint, stimulus.inner.clone()));
                if checkpoints.len() > 2 {
                    checkpoints.pop_front();
                }
                progress(&session.tally());
            }
            outcome = session.step(&mut stimulus);
        }
        if outcome.is_ok() && session.is_idle() {
            outcome = session.judge_memory();
        }
        let tally = session.tally();
        match outcome {
            Ok(()) => Ok((session, tally)),
            Err(failure) => Err(Box::new(Failed {
                failure,
                cycle: session.machine.cycles(),
                session,
                checkpoints,
                remembered: stimulus.memory,
                config: self.config.name.clone(),
            })),
        }
    }
}

impl Failed {
    /// Replays the cycles before the failure from a checkpoint and writes their wave to `path`.
    /// Gives the first cycle in the wave.
    ///
    /// # Errors
    /// [`Failure::Trace`] when the file cannot be written, [`Failure::Stop`] when there is no
    /// checkpoint to go back to.
    pub fn write_trace(&mut self, path: &Path) -> Result<u64, Failure> {
        let from = self.cycle.saturating_sub(CYCLES_SHOWN);
        let checkpoint = self.checkpoints.iter().rev().find(|(c, _)| c.cycles() <= from);
        let Some((checkpoint, stimulus)) = checkpoint.or(self.checkpoints.front()) else {
            return Err(Failure::NoCheckpoint);
        };
        self.session.restore(checkpoint)?;
        let from = from.max(checkpoint.cycles());
        let mut stimulus = stimulus.clone();
        while self.session.machine.cycles() <= self.cycle {
            if self.session.machine.cycles() == from {
                self.session.trace = Some(Trace::create(path, &self.session.machine, Some(self.cycle))?);
            }
            // It fails again in the end: that is why we are here.
            if self.session.step(&mut stimulus).is_err() || stimulus.finished() && self.session.is_idle() {
                break;
            }
        }
        if let Some(trace) = self.session.trace.take() {
            trace.finish()?;
        }
        Ok(from)
    }

    /// A case of the last requests, from reset and a memory of zeros, that fails too, shrunk. None
    /// if the failure needs more of its history. The oracle listens if it is given.
    pub fn small_case(&mut self, witness: Option<Witness>) -> Option<(Case, Failure)> {
        let session = &mut self.session;
        session.witness = witness;
        session.trace = None;
        let mut fails = |case: &Case| -> Option<Failure> {
            session.restart_machine().ok()?;
            run_case(session, case).err().filter(Failure::is_finding)
        };
        let windows = [4, 16, 64, REQUESTS_REMEMBERED];
        let case = windows
            .into_iter()
            .map(|last| self.remembered.case(&self.config, last))
            .find(|case| fails(case).is_some())?;
        let case = shrink(case, |case| fails(case).is_some());
        let failure = fails(&case)?;
        Some((case, failure))
    }
}

/// Runs a case on a session after reset.
///
/// # Errors
/// [`Failure`].
pub fn run_case(session: &mut Session<Lockstep>, case: &Case) -> Result<Tally, Failure> {
    session.run(&mut CaseStimulus::new(case), u64::MAX, |_| {})
}

/// The parts as they stand and the last requests taken.
#[derive(Clone, Debug, Default)]
struct Memory {
    parts: Vec<PartWrite>,
    warps: VecDeque<WarpRequest>,
    clusters: VecDeque<ClusterRequest>,
}

impl Memory {
    fn remember(&mut self, i: &In, out: &Out) {
        if i.cta_valid & out.cta_ready == 1 {
            self.parts.retain(|part| part.slot != i.cta_slot);
            if i.cta_enable == 1 {
                self.parts.push(PartWrite::sample(i));
            }
        }
        if i.req_valid & out.req_ready == 1 {
            self.warps.push_back(WarpRequest::sample(i));
            if self.warps.len() > REQUESTS_REMEMBERED {
                self.warps.pop_front();
            }
        }
        if i.cl_valid & out.cl_ready == 1 {
            self.clusters.push_back(ClusterRequest::sample(i));
            if self.clusters.len() > REQUESTS_REMEMBERED {
                self.clusters.pop_front();
            }
        }
    }

    fn case(&self, config: &str, last: usize) -> Case {
        Case {
            config: config.to_string(),
            parts: self.parts.clone(),
            warps: self.warps.iter().skip(self.warps.len().saturating_sub(last)).cloned().collect(),
            clusters: self.clusters.iter().skip(self.clusters.len().saturating_sub(last)).cloned().collect(),
            pauses: Pauses {
                response: 0x0f0f_3333_5555_ff00,
                wake: 0x00ff_0000_ff00_3333,
                ..Pauses::default()
            },
        }
    }
}

/// A stimulus that is remembered.
struct Remembering {
    inner: RandomStimulus,
    memory: Memory,
}

impl Stimulus for Remembering {
    fn drive(&mut self, i: &mut In) {
        self.inner.drive(i);
    }

    fn observe(&mut self, i: &In, out: &Out) {
        self.memory.remember(i, out);
        self.inner.observe(i, out);
    }

    fn finished(&self) -> bool {
        self.inner.finished()
    }
}
