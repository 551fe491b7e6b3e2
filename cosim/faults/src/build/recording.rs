//! Recorded runs of the model, and their replay on the RTL.

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

/// Inputs, outputs and probe of a model run, cycle by cycle. While RTL and model agree, the inputs are the
/// same with either. So the RTL can be compared with the recording, and the model runs only once.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Memory at the start. Empty means all zeros.
    memory: Vec<u32>,
    cycles: Vec<(In, Out, Probe)>,
    result: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Agrees,
    /// First cycle that differs, and the differences. If only memory differs at the end, the cycle is the
    /// length of the recording and the list is empty.
    Differs(u64, Vec<Difference>),
    /// Cycle in which the RTL stopped itself, for example by a failed assertion, and its message.
    Stops(u64, String),
}

impl Reply {
    /// Returns the number of cycles before the first difference or stop. None if the RTL agrees.
    pub fn cycle(&self) -> Option<u64> {
        match self {
            Reply::Agrees => None,
            Reply::Differs(cycle, _) | Reply::Stops(cycle, _) => Some(*cycle),
        }
    }
}

impl Recording {
    /// Records a case, plus a few idle cycles after its end.
    ///
    /// # Errors
    /// [`Failure`] of the model, which can only be that the model is stuck.
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

    /// Records a run of `stimulus` from reset, with memory zero.
    ///
    /// # Errors
    /// As for [`Self::of_case`].
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

    pub fn cycles(&self) -> u64 {
        self.cycles.len() as u64
    }

    /// Counts warp requests that the unit accepted up to and including this cycle.
    pub fn requests_until(&self, cycle: u64) -> usize {
        let taken = |(i, out, _): &&(In, Out, Probe)| i.rst_n == 1 && i.req_valid == 1 && out.req_ready == 1;
        self.cycles.iter().take(cycle as usize + 1).filter(taken).count()
    }

    /// Replays the inputs on `rtl` until it differs. `rtl` must be just after reset.
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

/// Idle cycles recorded after a case. A mutant that only delays the failure by a few cycles then still
/// differs.
const CYCLES_BEHIND: u64 = 16;

/// Stimulus that offers no requests and accepts all responses.
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

/// The model, recording all port activity.
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
