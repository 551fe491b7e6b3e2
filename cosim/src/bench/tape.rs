//! Inputs of many cycles, as small as they can be: what is measured is what reads them, not the memory they come from.

use std::sync::atomic::Ordering;
use std::time::Duration;

use atoms_model::Config;
use atoms_model::port::{In, MAX_LANES, Pins, Shape};

use super::Limit;
use crate::machine::{Machine, ModelMachine};
use crate::session::Failure;
use crate::stimulus::{Profile, RandomStimulus, Stimulus, settle};

/// Cycles on the tape: long enough to be a mix of everything, short enough to stay in the cache.
const CYCLES: usize = 4096;

/// Inputs of consecutive cycles, the first of them a reset.
#[derive(Debug, Default)]
pub(super) struct Tape {
    steps: Vec<Step>,
    /// Field and value.
    changes: Vec<(usize, u128)>,
    lanes: Vec<Lanes>,
    requests: f64,
}

/// What a cycle changes.
#[derive(Debug)]
struct Step {
    changes: usize,
    lanes: bool,
}

/// What a warp request brings for each lane.
#[derive(Debug)]
struct Lanes {
    ra: [u32; MAX_LANES],
    b: [u128; MAX_LANES],
    c: [u128; MAX_LANES],
}

impl Tape {
    /// Random inputs, with what the model answers.
    pub(super) fn record(config: Config, profile: &Profile, seed: u64) -> Result<Tape, Failure> {
        let mut machine = ModelMachine::new(config);
        let mut stimulus = RandomStimulus::new(config, profile, seed, u64::MAX);
        let mut tape = Tape::default();
        let mut i = In::default();
        tape.push(&i, &i);
        machine.cycle(&i)?;
        let mut before = i;
        while tape.steps.len() < CYCLES {
            stimulus.drive(&mut i);
            tape.push(&before, &i);
            before = i;
            machine.cycle(&i)?;
            stimulus.observe(&i, machine.out());
            tape.requests += f64::from(i.req_valid & machine.out().req_ready);
            settle(&mut i, machine.out());
        }
        Ok(tape)
    }

    fn push(&mut self, before: &In, i: &In) {
        let mut step = Step { changes: self.changes.len(), lanes: false };
        i.changes(Some(before), |field, _, value| match In::FIELDS[field].shape {
            Shape::PerLane(_) => step.lanes = true,
            _ => self.changes.push((field, value)),
        });
        step.changes = self.changes.len() - step.changes;
        if step.lanes {
            self.lanes.push(Lanes { ra: i.req_ra, b: i.req_b, c: i.req_c });
        }
        self.steps.push(step);
    }

    /// Cycles per warp request.
    pub(super) fn cycles_per_request(&self) -> f64 {
        self.steps.len() as f64 / self.requests
    }

    fn play(&self, mut cycle: impl FnMut(&In) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut i = In::default();
        let mut lanes = self.lanes.iter();
        let mut changes = self.changes.iter();
        for step in &self.steps {
            for (field, value) in changes.by_ref().take(step.changes) {
                i.set_element(*field, 0, *value);
            }
            if step.lanes
                && let Some(Lanes { ra, b, c }) = lanes.next()
            {
                (i.req_ra, i.req_b, i.req_c) = (*ra, *b, *c);
            }
            cycle(&i)?;
        }
        Ok(())
    }

    /// Plays it over and over for as long as the limit says by `clock`; gives the cycles.
    pub(super) fn play_for(
        &self,
        limit: Limit,
        clock: impl Fn() -> Duration,
        mut cycle: impl FnMut(&In) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let start = clock();
        let mut cycles = 0;
        loop {
            self.play(&mut cycle)?;
            cycles += self.steps.len();
            if (clock() - start).as_secs_f64() >= limit.seconds || limit.stop.load(Ordering::SeqCst) {
                return Ok(cycles);
            }
        }
    }

    /// As [`Tape::play_for`], behind one that does not count; gives cycles per second.
    pub(super) fn rate(
        &self,
        limit: Limit,
        clock: impl Fn() -> Duration,
        mut cycle: impl FnMut(&In) -> Result<(), Failure>,
    ) -> Result<f64, Failure> {
        self.play(&mut cycle)?;
        let start = clock();
        let cycles = self.play_for(limit, &clock, cycle)?;
        Ok(cycles as f64 / (clock() - start).as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_plays_what_was_recorded() {
        let (config, profile) = (Config::default(), Profile::busy());
        let mut inputs = Vec::new();
        let tape = Tape::record(config, &profile, 1).expect("the model does not stop");
        tape.play(|i| {
            inputs.push(*i);
            Ok(())
        })
        .expect("nothing fails");
        let mut machine = ModelMachine::new(config);
        let mut stimulus = RandomStimulus::new(config, &profile, 1, u64::MAX);
        let mut i = In::default();
        for (cycle, played) in inputs.iter().enumerate() {
            if cycle > 0 {
                stimulus.drive(&mut i);
            }
            assert_eq!(*played, i, "cycle {cycle}");
            machine.cycle(&i).expect("the model does not stop");
            if cycle > 0 {
                stimulus.observe(&i, machine.out());
                settle(&mut i, machine.out());
            }
        }
        assert_eq!(inputs.len(), CYCLES);
        assert!(tape.lanes.len() * 4 < CYCLES, "{} requests", tape.lanes.len());
    }
}
