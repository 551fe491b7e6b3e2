//! Inputs of many cycles, played over and over: their reader is measured, not the memory they come from.

use std::sync::atomic::Ordering;
use std::time::Duration;

use atoms_model::Config;
use atoms_model::port::In;
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

use super::Limit;
use atoms_cosim::inputs::Inputs;
use atoms_cosim::machine::{Failure, Machine, ModelMachine};

/// Cycles on the tape: long enough to be a mix of everything, short enough to stay in the cache.
const CYCLES: usize = 4096;

/// Inputs of consecutive cycles, the first of them a reset.
#[derive(Debug)]
pub struct Tape {
    /// The inputs.
    pub inputs: Inputs,
    /// Warp requests taken.
    pub requests: usize,
}

impl Tape {
    /// Records 4,096 cycles of random requests to the model.
    ///
    /// # Errors
    /// [`Failure`] of the model.
    pub fn record(config: Config, profile: &Profile, seed: u64) -> Result<Tape, Failure> {
        let mut machine = ModelMachine::new(config);
        let mut stimulus = RandomStimulus::new(config, profile, seed, u64::MAX);
        let mut tape = Tape { inputs: Inputs::with_capacity(CYCLES), requests: 0 };
        let mut i = In::default();
        machine.cycle(&i)?;
        tape.inputs.push(&i, machine.out());
        while tape.inputs.cycles() < CYCLES {
            stimulus.drive(&mut i);
            machine.cycle(&i)?;
            tape.inputs.push(&i, machine.out());
            stimulus.observe(&i, machine.out());
            tape.requests += usize::from(i.req_valid & machine.out().req_ready);
            complete_handshakes(&mut i, machine.out());
        }
        Ok(tape)
    }

    /// Cycles per warp request.
    pub(super) fn cycles_per_request(&self) -> f64 {
        self.inputs.cycles() as f64 / self.requests as f64
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
            self.inputs.play(&mut cycle)?;
            cycles += self.inputs.cycles();
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
        self.inputs.play(&mut cycle)?;
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
        tape.inputs
            .play(|i| {
                inputs.push(*i);
                Ok::<_, Failure>(())
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
                complete_handshakes(&mut i, machine.out());
            }
        }
        assert_eq!(inputs.len(), CYCLES);
        assert!(tape.inputs.offers() * 4 < CYCLES, "{} requests", tape.inputs.offers());
    }
}
