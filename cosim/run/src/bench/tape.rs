//! Recorded inputs of many cycles, played repeatedly. The tape fits into the cache, so that memory does not
//! limit the speed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use atoms_model::Config;
use atoms_model::port::In;
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

use super::Limit;
use atoms_cosim::inputs::Inputs;
use atoms_cosim::machine::{Failure, Machine, ModelMachine};

/// Length of the tape: long enough for a mix of all requests, short enough for the cache.
const CYCLES: usize = 4096;

/// Inputs of consecutive cycles. The first cycle is a reset.
#[derive(Debug)]
pub struct Tape {
    pub inputs: Inputs,
    /// Number of warp requests accepted on the tape.
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

    pub(super) fn cycles_per_request(&self) -> f64 {
        self.inputs.cycles() as f64 / self.requests as f64
    }

    /// Plays the tape repeatedly until `clock` reaches the limit or the stop flag is set. Returns the number
    /// of cycles.
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

    /// Plays the tape once as a warm-up, then measures with [`Tape::play_for`]. Returns cycles per second.
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
