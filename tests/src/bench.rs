//! A bench: one configuration's model, RTL and lockstep pair, to run a case on each.

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

/// What a case came to.
#[derive(Clone, Debug)]
pub struct CaseAnswers {
    /// The outputs with each warp response, in order.
    pub warps: Vec<Out>,
    /// The outputs with each wake-up, in order.
    pub wakes: Vec<Out>,
    /// The outputs with each cluster response, in order.
    pub clusters: Vec<Out>,
    /// Writes of the CTA table that were refused.
    pub refused: u32,
    /// Memory at the end: word `row * num_banks + bank`.
    pub memory: Vec<u32>,
}

/// A stimulus, and the answers to it.
#[derive(Debug)]
pub struct Listening<S> {
    stimulus: S,
    warps: Vec<Out>,
    wakes: Vec<Out>,
    clusters: Vec<Out>,
    refused: u32,
}

impl<S> Listening<S> {
    /// Listens to what `stimulus` is answered.
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

/// Runs `case` from reset on a machine whose memory is `memory` first, with the oracle listening.
///
/// # Errors
/// [`Failure`]: RTL and model differ, an assertion of the RTL fails, or the oracle objects.
pub fn run_case<M: Machine>(
    session: &mut Session<M>,
    case: &Case,
    memory: &[u32],
) -> Result<CaseAnswers, Failure> {
    // All inputs zero are reset.
    session.machine_mut().cycle(&In::default())?;
    session.machine_mut().load_memory(memory)?;
    session.restart(Some(Scoreboard::new(session.machine().config(), memory)));
    let mut listening = Listening::new(CaseStimulus::new(case));
    session.run(&mut listening, u64::MAX, |_| {})?;
    let memory = session.machine_mut().read_memory()?;
    let Listening { warps, wakes, clusters, refused, .. } = listening;
    Ok(CaseAnswers { warps, wakes, clusters, refused, memory })
}

/// The three that a case is run on.
pub struct Bench {
    named: NamedConfig,
    model: Session<ModelMachine>,
    rtl: Session<RtlMachine>,
    lockstep: Session<Lockstep>,
}

impl Bench {
    /// A bench for one configuration.
    pub fn new(named: NamedConfig) -> Self {
        let rtl = RtlMachine::new(rtl_of(&named), named.config).expect("the RTL comes out of reset");
        Bench {
            model: Session::new(ModelMachine::new(named.config), None),
            rtl: Session::new(rtl, None),
            lockstep: Session::new(lockstep_of(&named), None),
            named,
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        &self.named.config
    }

    /// Runs a case on each, the oracle listening to each, and gives `(which, what it came to)`.
    ///
    /// # Panics
    /// When one of them does not run to its end; `rule` says what was being tried.
    pub fn run(&mut self, rule: &str, case: &Case, memory: &[u32]) -> [(&'static str, CaseAnswers); 3] {
        let results = [
            ("model", run_case(&mut self.model, case, memory)),
            ("RTL", run_case(&mut self.rtl, case, memory)),
            ("pair", run_case(&mut self.lockstep, case, memory)),
        ];
        if results.iter().any(|(_, result)| result.is_err()) {
            // A machine that has found something may have stopped itself: the next case gets new ones.
            *self = Bench::new(self.named.clone());
        }
        results.map(|(on, result)| match result {
            Ok(observed) => (on, observed),
            Err(failure) => panic!("{rule}, on the {on}: {failure}"),
        })
    }

    /// The allocation that holds all of memory, for slot 0.
    pub fn whole(&self) -> AllocationWrite {
        whole(self.config())
    }

    /// Number of the word at a byte address of physical memory.
    pub fn word(&self, addr: u32) -> usize {
        word(self.config(), addr)
    }
}

/// The allocation that holds all of memory, for slot 0.
pub fn whole(config: &Config) -> AllocationWrite {
    AllocationWrite { slot: 0, enable: true, base: 0, size: config.bytes() as u32, rank: 0 }
}

/// Number of the word at a byte address of physical memory, `row * num_banks + bank`; spec 1.2.
pub fn word(config: &Config, addr: u32) -> usize {
    let (row, bank) = (addr / config.row_bytes(), addr / 4 % config.num_banks);
    let swizzle = if config.bank_hash { (row & (config.num_banks / 4 - 1)) << 2 } else { 0 };
    (row * config.num_banks + (bank ^ swizzle)) as usize
}
