//! What the model does in a run, and what the RTL does in the same one.

use atoms_model::Config;
use atoms_model::diagnosis::Watch;
use atoms_model::port::{In, Out, Probe};
use atoms_verilated::Rtl;

use atoms_cosim::case::Case;
use atoms_cosim::case::trials::run_case;
use atoms_cosim::machine::{Failure, LastCycle, Machine, ModelMachine};
use atoms_cosim::mismatch::{Difference, differences};
use atoms_cosim::session::Session;
use atoms_stimulus::Stimulus;

/// A run of the model: what it was given and what it drove, cycle by cycle. While RTL and model agree, the inputs of a run do
/// not depend on which of them is asked; so the RTL can be compared with a recording, and the model runs only once.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Memory at the start; empty if it is zero.
    memory: Vec<u32>,
    cycles: Vec<(In, Out, Probe)>,
    /// Memory at the end.
    result: Vec<u32>,
}

/// What the RTL does in a recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The same.
    Agrees,
    /// Something else, first in this cycle, in this. Behind the last cycle it is memory that differs.
    Differs(u64, Vec<Difference>),
    /// It stopped itself in this cycle, with a failed assertion for instance: what it said.
    Stops(u64, String),
}

impl Reply {
    /// Cycles before the first that differs; none if there is none.
    pub fn cycle(&self) -> Option<u64> {
        match self {
            Reply::Agrees => None,
            Reply::Differs(cycle, _) | Reply::Stops(cycle, _) => Some(*cycle),
        }
    }
}

impl Recording {
    /// Of a case.
    ///
    /// # Errors
    /// [`Failure`] of the model, which is stuck if it is one at all.
    pub fn of_case(config: &Config, case: &Case) -> Result<Recording, Failure> {
        let mut session = Session::new(Tape::new(*config), None);
        run_case(&mut session, case)?;
        for _ in 0..CYCLES_BEHIND {
            session.step(&mut Idle)?;
        }
        let memory =
            if case.memory.is_empty() { Vec::new() } else { case.memory_of((config.bytes() / 4) as usize) };
        Self::of_tape(session, memory)
    }

    /// Of what a stimulus drives from reset on, and a memory of zeros.
    ///
    /// # Errors
    /// As [`Self::of_case`].
    pub fn of_stimulus(config: &Config, stimulus: &mut impl Stimulus) -> Result<Recording, Failure> {
        let mut session = Session::new(Tape::new(*config), None);
        session.run(stimulus, u64::MAX, |_| {})?;
        Self::of_tape(session, Vec::new())
    }

    fn of_tape(mut session: Session<Tape>, memory: Vec<u32>) -> Result<Recording, Failure> {
        let result = session.machine_mut().read_memory()?;
        let cycles = std::mem::take(&mut session.machine_mut().cycles);
        Ok(Recording { memory, cycles, result })
    }

    /// Its length in cycles.
    pub fn cycles(&self) -> u64 {
        self.cycles.len() as u64
    }

    /// Warp requests that the unit took in the cycles up to this one.
    pub fn requests_until(&self, cycle: u64) -> usize {
        let taken = |(i, out, _): &&(In, Out, Probe)| i.rst_n == 1 && i.req_valid == 1 && out.req_ready == 1;
        self.cycles.iter().take(cycle as usize + 1).filter(taken).count()
    }

    /// Runs `rtl`, which is after reset, on the same inputs, until it differs.
    pub fn replay(&self, rtl: &mut Rtl) -> Reply {
        if !self.memory.is_empty()
            && let Err(error) = rtl.write_memory(&self.memory)
        {
            return Reply::Stops(0, error.to_string());
        }
        for (number, (input, out, probe)) in self.cycles.iter().enumerate() {
            match rtl.cycle_expecting(input, out, probe) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    return Reply::Differs(number as u64, differences((&found.0, &found.1), (out, probe)));
                }
                Err(error) => return Reply::Stops(number as u64, error.to_string()),
            }
        }
        match rtl.read_memory() == self.result {
            true => Reply::Agrees,
            false => Reply::Differs(self.cycles(), Vec::new()),
        }
    }
}

/// Cycles recorded behind a case, so that what hides its failure for one cycle is told from what mends it.
const CYCLES_BEHIND: u64 = 16;

/// Offers nothing, and takes what comes.
struct Idle;

impl Stimulus for Idle {
    fn drive(&mut self, i: &mut In) {
        (i.rsp_ready, i.cl_rsp_ready, i.wake_ready) = (1, 1, 1);
    }

    fn observe(&mut self, _: &In, _: &Out) {}

    fn finished(&self) -> bool {
        true
    }
}

/// The model, with everything that happens at its ports kept.
#[derive(Debug)]
struct Tape {
    model: ModelMachine,
    cycles: Vec<(In, Out, Probe)>,
}

impl Tape {
    fn new(config: Config) -> Self {
        Tape { model: ModelMachine::new(config), cycles: Vec::new() }
    }
}

impl Machine for Tape {
    fn config(&self) -> &Config {
        self.model.config()
    }

    fn cycle(&mut self, i: &In) -> Result<(), Failure> {
        self.model.cycle(i)?;
        self.cycles.push((*i, *self.model.out(), *self.model.probe()));
        Ok(())
    }

    fn last(&self) -> &LastCycle {
        self.model.last()
    }

    fn load_memory(&mut self, words: &[u32]) -> Result<(), Failure> {
        self.model.load_memory(words)
    }

    fn read_memory(&mut self) -> Result<Vec<u32>, Failure> {
        self.model.read_memory()
    }

    fn word(&self, index: usize) -> u32 {
        self.model.word(index)
    }

    fn watched(&self) -> Option<&Watch> {
        self.model.watched()
    }

    fn sides(&self) -> &'static [&'static str] {
        self.model.sides()
    }
}
