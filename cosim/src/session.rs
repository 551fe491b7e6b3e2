//! Session: a machine with its driver, checks, wave, counters and the data for reports.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use atoms_model::memory_port::word_index;
use atoms_model::port::{In, Out};
use atoms_model::{MemoryPort, RequestOrigin};
use atoms_monitor::{Cycle, Listener, Monitor};
use atoms_stimulus::{Stimulus, complete_handshakes};

use crate::lockstep::{Checkpoint, Lockstep};
use crate::machine::{Failure, LastCycle, Machine};
use crate::mismatch::Subject;
use crate::scoreboard::Scoreboard;
use crate::trace::Trace;

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Tally {
    /// Number of clock cycles.
    pub cycles: u64,
    /// Number of warp requests answered.
    pub requests: u64,
    /// Suspended requests that a complete phase woke. Included in `requests`.
    pub wake_ups: u64,
    /// Suspended requests that timed out. Included in `requests`.
    pub time_outs: u64,
    /// Completed phases of mbarrier objects.
    pub phases: u64,
    /// Cluster requests carried out. Of a unit that is not this project's: accepted.
    pub cluster_requests: u64,
    /// Passes of the warp requests.
    pub passes: u64,
    /// Warp requests answered with a fault.
    pub faults: u64,
    /// Answers that the oracle checked.
    pub judged: u64,
    /// Reset cycles, except for the initial reset of the machine.
    pub resets: u64,
    /// Warp requests that a reset dropped.
    pub dropped: u64,
}

impl Tally {
    fn count(&mut self, cycle: &Cycle<'_>, is_foreign: bool) {
        self.cycles += 1;
        if let Some(dropped) = &cycle.reset {
            self.resets += 1;
            self.dropped += dropped.warps.len() as u64 + dropped.answers;
            return;
        }
        if let Some(answer) = cycle.warp_answer.as_ref().filter(|answer| answer.taken) {
            self.requests += 1;
            self.passes += u64::from(answer.passes);
            self.faults += u64::from(answer.fault != 0);
        }
        if let Some(wake_up) = cycle.wake_up.as_ref().filter(|wake_up| wake_up.taken) {
            self.requests += 1;
            *(if wake_up.pred == 0 { &mut self.time_outs } else { &mut self.wake_ups }) += 1;
        }
        self.phases += u64::from(cycle.phases_completed());
        let has_cluster =
            if is_foreign { cycle.cluster_accepted.is_some() } else { cycle.cluster_done.is_some() };
        self.cluster_requests += u64::from(has_cluster);
    }
}

/// Fails a run in which requests get no answers, or are not accepted.
#[derive(Clone, Copy, Debug)]
struct Watchdog {
    cycles: u64,
    /// Cycle of the last answer, or the last cycle in which none was due and no port refused a request.
    last_answer: u64,
}

impl Watchdog {
    /// Checks a cycle after which `inside` requests are inside.
    fn see(&mut self, cycle: &Cycle<'_>, inside: usize) -> Result<(), Failure> {
        let accepted =
            usize::from(cycle.warp_accepted.is_some()) + usize::from(cycle.cluster_accepted.is_some());
        let answered = cycle.cluster_done.is_some()
            || cycle.warp_answer.as_ref().is_some_and(|answer| answer.taken)
            || cycle.cluster_answer.as_ref().is_some_and(|answer| answer.taken)
            || cycle.wake_up.as_ref().is_some_and(|wake_up| wake_up.taken);
        // Suspended requests do not count: their limits may be long.
        let refused = cycle.refused().filter(|_| inside == 0);
        let waits = inside != accepted && inside > cycle.suspended() as usize || refused.is_some();
        if answered || !waits || cycle.reset.is_some() {
            self.last_answer = cycle.number;
        }
        let (waiting, cycle) = (inside as u64, cycle.number);
        let cycles = cycle.saturating_sub(self.last_answer);
        if cycles <= self.cycles {
            return Ok(());
        }
        Err(match refused {
            Some(ready) => Failure::Refused { ready, cycles, cycle },
            None => Failure::Stuck { waiting, cycles, cycle },
        })
    }
}

/// Default number of cycles without an answer after which a run is stuck. The longest request takes one pass
/// for each lane and waits for the pipeline between passes, after a full queue: a few thousand cycles.
pub const WATCHDOG_CYCLES: u64 = 20_000;

/// Cycles between checks of the deadline: a few milliseconds.
const CYCLES_BETWEEN_DEADLINE_CHECKS: u64 = 1 << 12;

/// A machine that is driven, checked, and observed by `L`.
#[derive(Debug)]
pub struct Session<M, L = ()> {
    machine: M,
    /// Receiver of the monitor's transactions. Not part of a checkpoint.
    listener: L,
    bench: TestBench,
}

/// Parts of a session that do not depend on the types of machine and listener, compiled only once.
#[derive(Debug)]
struct TestBench {
    scoreboard: Option<Scoreboard>,
    trace: Option<Trace>,
    deadline: Option<Instant>,
    interrupt: Option<&'static AtomicBool>,
    end: u64,
    /// Cycles since the last check of the deadline, counted over all runs of the session, so that many short
    /// runs also reach a check.
    cycles_since_deadline_check: u64,
    monitor: Monitor,
    watchdog: Watchdog,
    // `None` only during a step, which needs the rest of the session too.
    inputs: Option<Box<In>>,
    tally: Tally,
}

/// State of a lockstep session at one cycle, used to rewind. The oracle is not included.
#[derive(Clone, Debug)]
pub struct SessionCheckpoint {
    machine: Checkpoint,
    inputs: Box<In>,
    monitor: Monitor,
    last_answer: u64,
}

impl SessionCheckpoint {
    /// Returns the number of cycles run before the checkpoint.
    pub fn cycles(&self) -> u64 {
        self.machine.cycles()
    }
}

impl<L: Listener> Session<Lockstep, L> {
    /// Saves the state of the session, without the oracle.
    ///
    /// # Errors
    /// Same as [`Lockstep::save`].
    pub fn save(&mut self) -> Result<SessionCheckpoint, Failure> {
        Ok(SessionCheckpoint {
            machine: self.machine.save()?,
            inputs: self.bench.inputs.clone().unwrap_or_default(),
            monitor: self.bench.monitor.clone(),
            last_answer: self.bench.watchdog.last_answer,
        })
    }

    /// Restores a checkpoint of this session. The session continues without the oracle.
    ///
    /// # Errors
    /// [`Failure::Rtl`] if the checkpoint is of another machine.
    pub fn restore(&mut self, checkpoint: &SessionCheckpoint) -> Result<(), Failure> {
        self.machine.restore(&checkpoint.machine)?;
        self.bench.scoreboard = None;
        self.bench.inputs = Some(checkpoint.inputs.clone());
        self.bench.monitor = checkpoint.monitor.clone();
        self.bench.watchdog.last_answer = checkpoint.last_answer;
        Ok(())
    }

    /// Starts over: machine, oracle and counters are as after reset, with a memory of zeros.
    ///
    /// # Errors
    /// [`Failure::Rtl`] if the simulation of the RTL is lost.
    pub fn restart_machine(&mut self) -> Result<(), Failure> {
        self.machine.restart()?;
        let scoreboard = self.bench.scoreboard.is_some();
        let (config, unit) = (self.machine.config(), self.machine.foreign());
        self.restart(scoreboard.then(|| Scoreboard::of(config, unit)));
        Ok(())
    }
}

impl<M: Machine> Session<M> {
    /// Creates a session on a machine after reset. A scoreboard enables the oracle at the ports.
    pub fn new(machine: M, scoreboard: Option<Scoreboard>) -> Self {
        let bench = TestBench {
            monitor: monitor(&machine),
            scoreboard,
            trace: None,
            deadline: None,
            interrupt: None,
            end: u64::MAX,
            cycles_since_deadline_check: 0,
            watchdog: Watchdog { cycles: WATCHDOG_CYCLES, last_answer: 0 },
            inputs: Some(Box::default()),
            tally: Tally::default(),
        };
        Session { machine, listener: (), bench }
    }
}

impl<M: Machine, L: Listener> Session<M, L> {
    /// Replaces the listener. Returns the session and the previous listener.
    pub fn listened_by<N: Listener>(self, listener: N) -> (Session<M, N>, L) {
        let Session { machine, listener: before, bench } = self;
        (Session { machine, listener, bench }, before)
    }

    /// Returns the machine of this session.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the machine, to set it up.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// Returns the listener of this session.
    pub fn listener(&mut self) -> &mut L {
        &mut self.listener
    }

    /// Returns the scoreboard, if the oracle is enabled.
    pub fn scoreboard(&mut self) -> Option<&mut Scoreboard> {
        self.bench.scoreboard.as_mut()
    }

    /// Enables or disables the oracle.
    pub fn set_scoreboard(&mut self, scoreboard: Option<Scoreboard>) {
        self.bench.scoreboard = scoreboard;
    }

    /// Writes the cycles from now on to this wave, or to none.
    pub fn set_trace(&mut self, trace: Option<Trace>) {
        self.bench.trace = trace;
    }

    /// Returns the wave that is being written, if any.
    pub fn trace(&self) -> Option<&Trace> {
        self.bench.trace.as_ref()
    }

    /// Returns the wave that is being written, if any, and stops writing to it.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.bench.trace.take()
    }

    /// Sets the time at which a run fails with [`Failure::OutOfTime`], or removes the deadline.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.bench.deadline = deadline;
    }

    /// Sets the number of cycles after which a run is interrupted.
    pub fn set_end(&mut self, cycles: u64) {
        self.bench.end = cycles;
    }

    /// Sets the flag that interrupts a run. The run ends soon after the flag becomes true.
    pub fn set_interrupt(&mut self, interrupt: &'static AtomicBool) {
        self.bench.interrupt = Some(interrupt);
    }

    /// Starts over on a machine that was reset: nothing is in flight, and the counters are 0.
    pub fn restart(&mut self, scoreboard: Option<Scoreboard>) {
        self.bench.inputs = Some(Box::default());
        self.bench.scoreboard = scoreboard;
        self.bench.tally = Tally::default();
        self.bench.monitor = monitor(&self.machine);
        self.bench.watchdog.last_answer = self.machine.cycles();
        self.listener.restart();
    }

    /// Sets the number of cycles without an answer after which a run is stuck.
    pub fn set_watchdog(&mut self, cycles: u64) {
        self.bench.watchdog.cycles = cycles;
    }

    /// Returns the counters of the run so far.
    pub fn tally(&self) -> Tally {
        self.bench.tally()
    }

    /// Runs one cycle with inputs from `stimulus`.
    ///
    /// # Errors
    /// [`Failure`]. A mismatch includes the requests in flight.
    pub fn step(&mut self, stimulus: &mut impl Stimulus) -> Result<(), Failure> {
        self.bench.step(&mut self.machine, &mut self.listener, stimulus)
    }

    /// Runs one cycle with inputs `i`.
    ///
    /// # Errors
    /// [`Failure`]. A mismatch includes the requests in flight.
    pub fn clock(&mut self, i: &In) -> Result<(), Failure> {
        self.bench.clock(&mut self.machine, &mut self.listener, i)
    }

    /// Completes the recording of the scoreboard, if there is one: see [`Scoreboard::finish_recording`].
    ///
    /// # Errors
    /// The first I/O error of the recording.
    pub fn finish_recording(&mut self) -> io::Result<()> {
        let TestBench { scoreboard, monitor, .. } = &mut self.bench;
        scoreboard.as_mut().map_or(Ok(()), |scoreboard| scoreboard.finish_recording(monitor))
    }

    /// Runs until the stimulus has finished and every request is answered, until `limit` cycles, or until an
    /// interrupt. Checks memory at the end, if no request is inside.
    ///
    /// # Errors
    /// [`Failure`] of the run.
    pub fn run(
        &mut self,
        stimulus: &mut impl Stimulus,
        limit: u64,
        mut progress: impl FnMut(&Tally),
    ) -> Result<Tally, Failure> {
        self.bench.run(&mut self.machine, &mut self.listener, stimulus, limit, &mut progress)
    }

    /// Ends a run: waits for cycles in the background and, if no request is inside, checks memory.
    ///
    /// # Errors
    /// [`Failure`] of these cycles or of the memory.
    pub fn settle_up(&mut self) -> Result<(), Failure> {
        self.bench.settle_up(&mut self.machine)
    }

    /// Compares the memories of both sides and lets the oracle check them. No request may be inside.
    ///
    /// # Errors
    /// [`Failure`] with the first word that differs or that the oracle rejects.
    pub fn judge_memory(&mut self) -> Result<(), Failure> {
        self.bench.judge_memory(&mut self.machine)
    }

    /// Returns true if no request is offered or inside.
    pub fn is_idle(&self) -> bool {
        self.bench.is_idle()
    }
}

fn monitor(machine: &impl Machine) -> Monitor {
    if machine.foreign().is_some() { Monitor::of_ports() } else { Monitor::new(machine.config()) }
}

impl TestBench {
    /// Returns the number of requests inside the unit, and of answers that are not taken.
    fn inside(&self) -> usize {
        let open = self.scoreboard.as_ref().and_then(Scoreboard::open);
        open.map_or_else(|| self.monitor.inside(), |open| open + self.monitor.offered())
    }

    fn tally(&self) -> Tally {
        Tally { judged: self.scoreboard.as_ref().map_or(0, Scoreboard::answers), ..self.tally }
    }

    fn step(
        &mut self,
        machine: &mut dyn Machine,
        listener: &mut dyn Listener,
        stimulus: &mut dyn Stimulus,
    ) -> Result<(), Failure> {
        let mut inputs = self.inputs.take().unwrap_or_default();
        stimulus.drive(&mut inputs);
        let outcome = self.clock(machine, listener, &inputs);
        if outcome.is_ok() {
            let out = machine.out();
            stimulus.observe(&inputs, out);
            complete_handshakes(&mut inputs, out);
        }
        self.inputs = Some(inputs);
        outcome
    }

    fn clock(
        &mut self,
        machine: &mut dyn Machine,
        listener: &mut dyn Listener,
        i: &In,
    ) -> Result<(), Failure> {
        let outcome = self.clock_and_judge(machine, listener, i);
        if outcome.is_err() {
            // The failure may be the consequence of a difference in an earlier cycle.
            machine.catch_up()?;
        }
        outcome
    }

    fn clock_and_judge(
        &mut self,
        machine: &mut dyn Machine,
        listener: &mut dyn Listener,
        i: &In,
    ) -> Result<(), Failure> {
        let cycle = machine.cycles();
        if let Some(why) = self.scoreboard.as_ref().and_then(|scoreboard| scoreboard.refuses(i)) {
            return Err(Failure::Undeclared(why));
        }
        let mut outcome = machine.cycle(i);
        if let Some(trace) = self.trace.as_mut().filter(|_| outcome.is_err()) {
            trace.cycle(cycle, i, machine, None)?;
        }
        if let Err(Failure::Mismatch(mismatch)) = &mut outcome {
            if let Some(trace) = &mut self.trace {
                trace.points_at(cycle, mismatch.differences.first().copied(), mismatch.subject);
            }
            mismatch.surround(self.monitor.warps(), self.monitor.clusters());
        }
        outcome?;
        let LastCycle { out, probe, cycles } = machine.last();
        let seen = self.monitor.cycle(cycle, i, out, probe);
        if let Some(trace) = &mut self.trace {
            trace.cycle(cycle, i, machine, Some(&seen))?;
        }
        if let Some(scoreboard) = &mut self.scoreboard
            && let Err(violation) = scoreboard.see(&seen)
        {
            if let Some(trace) = &mut self.trace {
                trace.points_at(cycle, None, Subject::answered_in(&seen));
            }
            return Err(violation.into());
        }
        listener.cycle(&seen);
        self.tally.count(&seen, machine.foreign().is_some());
        let inside = self.inside();
        self.watchdog.see(&seen, inside)?;
        let (cycles, is_reset) = (*cycles, seen.reset.is_some());
        if is_reset && machine.foreign().is_some() {
            // What the dropped requests have written is visible only here.
            let memory = machine.read_memory()?;
            self.scoreboard.iter_mut().for_each(|scoreboard| scoreboard.replace_memory(&memory));
        }
        self.look_at_the_clock(cycles)
    }

    fn run(
        &mut self,
        machine: &mut dyn Machine,
        listener: &mut dyn Listener,
        stimulus: &mut dyn Stimulus,
        limit: u64,
        progress: &mut dyn FnMut(&Tally),
    ) -> Result<Tally, Failure> {
        while machine.cycles() < limit && !(stimulus.finished() && self.is_idle()) {
            match self.step(machine, listener, stimulus) {
                Err(Failure::Interrupted { .. }) => break,
                outcome => outcome?,
            }
            if self.tally.cycles.is_multiple_of(1 << 14) {
                progress(&self.tally);
            }
        }
        if self.is_idle() {
            let behind = self.scoreboard.as_ref().map_or(0, Scoreboard::cycles_behind);
            let ready = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
            (0..behind).try_for_each(|_| self.clock(machine, listener, &ready))?;
        }
        self.settle_up(machine)?;
        Ok(self.tally())
    }

    fn settle_up(&mut self, machine: &mut dyn Machine) -> Result<(), Failure> {
        if self.is_idle() { self.judge_memory(machine) } else { machine.catch_up() }
    }

    fn judge_memory(&mut self, machine: &mut dyn Machine) -> Result<(), Failure> {
        let memory = machine.read_memory()?;
        if let Some(scoreboard) = &mut self.scoreboard {
            scoreboard.finish(&memory, &self.monitor)?;
        }
        Ok(())
    }

    fn is_idle(&self) -> bool {
        let offered = |i: &In| i.req_valid | i.cl_valid | i.cta_valid == 1;
        self.inside() == 0 && !self.inputs.as_deref().is_some_and(offered)
    }

    fn look_at_the_clock(&mut self, cycles: u64) -> Result<(), Failure> {
        let cycle = cycles - 1;
        if cycles >= self.end {
            return Err(Failure::Interrupted(cycle));
        }
        self.cycles_since_deadline_check += 1;
        if self.cycles_since_deadline_check >= CYCLES_BETWEEN_DEADLINE_CHECKS {
            self.cycles_since_deadline_check = 0;
            if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(Failure::OutOfTime(cycle));
            }
            if self.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::SeqCst)) {
                return Err(Failure::Interrupted(cycle));
            }
        }
        Ok(())
    }
}

impl<M: Machine, L: Listener> MemoryPort for Session<M, L> {
    type Error = Failure;

    fn lanes(&self) -> u32 {
        self.machine.config().num_lanes
    }

    fn rows(&self) -> u32 {
        self.machine.config().num_rows
    }

    fn banks(&self) -> u32 {
        self.machine.config().num_banks
    }

    fn cta_slots(&self) -> u32 {
        self.machine.config().num_cta_slots
    }

    fn word(&self, row: u32, bank: u32) -> u32 {
        self.machine.word(word_index(self.machine.config(), row, bank))
    }

    fn offer_from(&mut self, origin: &RequestOrigin<'_>) {
        if let Some(trace) = &mut self.bench.trace {
            trace.offer_from(origin);
        }
    }

    fn cycle(&mut self, inputs: &In) -> Result<&Out, Failure> {
        self.clock(inputs)?;
        Ok(self.machine.out())
    }
}
