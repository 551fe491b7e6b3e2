//! Runs a case on the model, the RTL and the lockstep pair of one configuration.

use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, ModelMachine, RtlMachine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_model::Config;
use atoms_model::port::{In, Out};
use atoms_stimulus::Stimulus;
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::AllocationWrite;

use crate::{lockstep_of, rtl_of};

/// Answers to a case, with the outputs of each cycle that transfers one, and memory at the end.
#[derive(Clone, Debug)]
pub struct CaseAnswers {
    pub warps: Vec<Out>,
    pub wakes: Vec<Out>,
    pub clusters: Vec<Out>,
    pub refused: u32,
    /// Memory at the end, indexed by `row * num_banks + bank`.
    pub memory: Vec<u32>,
}

#[derive(Debug)]
pub struct Listening<S> {
    stimulus: S,
    warps: Vec<Out>,
    wakes: Vec<Out>,
    clusters: Vec<Out>,
    refused: u32,
}

impl<S> Listening<S> {
    pub fn new(stimulus: S) -> Self {
        Listening { stimulus, warps: Vec::new(), wakes: Vec::new(), clusters: Vec::new(), refused: 0 }
    }
}

impl<S: Stimulus> Stimulus for Listening<S> {
    fn drive(&mut self, i: &mut In) {
        self.stimulus.drive(i);
    }

    fn observe(&mut self, i: &In, out: &Out) {
        self.stimulus.observe(i, out);
        self.refused += u32::from(out.cta_reject);
        if i.rsp_ready & out.rsp_valid == 1 {
            self.warps.push(*out);
        }
        if i.wake_ready & out.wake_valid == 1 {
            self.wakes.push(*out);
        }
        if i.cl_rsp_ready & out.cl_rsp_valid == 1 {
            self.clusters.push(*out);
        }
    }

    fn finished(&self) -> bool {
        self.stimulus.finished()
    }
}

/// Runs `case` from reset on a machine with the initial memory `memory`. The oracle checks all answers.
///
/// # Errors
/// [`Failure`]: RTL and model differ, an RTL assertion fails, or the oracle rejects an answer.
pub fn run_case<M: Machine>(
    session: &mut Session<M>,
    case: &Case,
    memory: &[u32],
) -> Result<CaseAnswers, Failure> {
    // `In::default()` is a reset cycle because all its inputs are zero.
    session.machine_mut().cycle(&In::default())?;
    session.machine_mut().load_memory(memory)?;
    session.restart(Some(Scoreboard::new(session.machine().config(), memory)));
    let mut listening = Listening::new(CaseStimulus::new(case));
    session.run(&mut listening, u64::MAX, |_| {})?;
    let memory = session.machine_mut().read_memory()?;
    let Listening { warps, wakes, clusters, refused, .. } = listening;
    Ok(CaseAnswers { warps, wakes, clusters, refused, memory })
}

pub struct Bench {
    named: NamedConfig,
    model: Session<ModelMachine>,
    rtl: Session<RtlMachine>,
    lockstep: Session<Lockstep>,
}

impl Bench {
    pub fn new(named: NamedConfig) -> Self {
        let rtl = RtlMachine::new(rtl_of(&named), named.config).expect("the RTL comes out of reset");
        Bench {
            model: Session::new(ModelMachine::new(named.config), None),
            rtl: Session::new(rtl, None),
            lockstep: Session::new(lockstep_of(&named), None),
            named,
        }
    }

    pub fn config(&self) -> &Config {
        &self.named.config
    }

    /// Runs a case on each machine with the oracle. Returns the name of each machine and its answers.
    ///
    /// # Panics
    /// A machine fails. The message names `rule`, the rule under test.
    pub fn run(&mut self, rule: &str, case: &Case, memory: &[u32]) -> [(&'static str, CaseAnswers); 3] {
        let results = [
            ("model", run_case(&mut self.model, case, memory)),
            ("RTL", run_case(&mut self.rtl, case, memory)),
            ("pair", run_case(&mut self.lockstep, case, memory)),
        ];
        if results.iter().any(|(_, result)| result.is_err()) {
            // A machine can be stopped after a failure, so the next case gets new machines.
            *self = Bench::new(self.named.clone());
        }
        results.map(|(on, result)| match result {
            Ok(observed) => (on, observed),
            Err(failure) => panic!("{rule}, on the {on}: {failure}"),
        })
    }

    pub fn whole(&self) -> AllocationWrite {
        whole(self.config())
    }

    pub fn word(&self, addr: u32) -> usize {
        word(self.config(), addr)
    }
}

pub fn whole(config: &Config) -> AllocationWrite {
    AllocationWrite { slot: 0, enable: true, base: 0, size: config.bytes() as u32, rank: 0 }
}

/// Returns the index of the word at a physical byte address: `row * num_banks + bank` (spec 1.2).
pub fn word(config: &Config, addr: u32) -> usize {
    let (row, bank) = (addr / config.row_bytes(), addr / 4 % config.num_banks);
    let swizzle = if config.bank_hash { (row & (config.num_banks / 4 - 1)) << 2 } else { 0 };
    (row * config.num_banks + (bank ^ swizzle)) as usize
}
