//! Counts of one round of a workload: requests, and their passes by the rules of three models.

use std::collections::BTreeSet;

use atoms_monitor::Cycle;
use atoms_monitor::Listener;
use atoms_ops::{Op, OpClass};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::WarpRequest;
use atoms_workload::{Generated, Workload};

use super::measurement::whole;
use crate::measure::{Behind, Judging, Trial, TrialError, TrialLimits, measure};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassRule {
    Unit,
    /// GPGPU-Sim: largest number of different words that a request accesses in one bank, for all classes of
    /// requests.
    GpgpuSim,
    /// Local data share (LDS) of gem5: largest number of lanes that access one bank. In loads and stores,
    /// lanes at one word count once. gem5 selects the bank by the byte address, this rule by the word
    /// address; both give the same counts.
    Gem5,
}

impl PassRule {
    pub const ALL: [PassRule; 3] = [PassRule::Unit, PassRule::GpgpuSim, PassRule::Gem5];
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KindCounts {
    pub requests: f64,
    /// Passes of these requests, indexed by [`PassRule`].
    pub passes: [f64; 3],
    /// Number of lanes at the most contended word of a request, minus one; summed over the requests.
    pub further_lanes: f64,
}

/// Mean counts of one round of a workload. In a round, each warp completes one unit of work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundCounts {
    /// Counts of all warps together, indexed by `class as usize`.
    pub by_class: [KindCounts; 5],
    /// Compare-and-store requests that belong to a retry loop.
    pub trips: f64,
    pub units: f64,
    pub warps: f64,
    /// Number of rounds that the counts are averaged over.
    pub rounds: f64,
}

impl RoundCounts {
    /// Runs a workload on the model of `config` and counts its requests.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn of(workload: &Generated, config: &NamedConfig, seed: u64) -> Result<Self, TrialError> {
        let rounds = f64::from(whole(workload, "units"));
        let warps = f64::from(whole(workload, "warps"));
        let workload = Workload::Generated(workload.clone());
        let trial = Trial { config, workload: &workload, seed, limits: TrialLimits::default() };
        let counter = RequestCounter { num_banks: config.config.num_banks, by_class: Default::default() };
        let (measured, counter) = measure(&trial, Behind::Model, Judging::No, counter);
        let measured = measured?;
        let each = |counts: KindCounts| KindCounts {
            requests: counts.requests / rounds,
            passes: counts.passes.map(|passes| passes / rounds),
            further_lanes: counts.further_lanes / rounds,
        };
        let by_class = counter.by_class.map(each);
        let trips = if measured.tries > 0 { by_class[OpClass::Compare as usize].requests } else { 0.0 };
        Ok(RoundCounts { by_class, trips, units: measured.units as f64 / rounds, warps, rounds })
    }

    pub fn requests(&self, classes: &[OpClass]) -> f64 {
        classes.iter().map(|class| self.by_class[*class as usize].requests).sum()
    }

    pub fn passes_per_request(&self, rule: PassRule) -> f64 {
        let passes: f64 = self.by_class.iter().map(|counts| counts.passes[rule as usize]).sum();
        let requests: f64 = self.by_class.iter().map(|counts| counts.requests).sum();
        passes / requests
    }
}

struct RequestCounter {
    num_banks: u32,
    by_class: [KindCounts; 5],
}

impl RequestCounter {
    fn count(&mut self, request: &WarpRequest, passes: u8) {
        let Some(class) = Op::from_code(request.op).map(|op| op.row().class) else { return };
        let form = request.address_form();
        let lanes = (0..32).filter(|lane| request.mask >> lane & 1 != 0);
        let words: Vec<u32> = lanes.map(|lane| form.address(request.lane(lane).ra) / 4).collect();
        let distinct: Vec<u32> = words.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let most_in_bank = |words: &[u32]| {
            let lanes = |bank| words.iter().filter(|word| *word % self.num_banks == bank).count();
            (0..self.num_banks).map(lanes).max().unwrap_or(0) as f64
        };
        let is_atomic = match class {
            OpClass::Update | OpClass::Compare | OpClass::Barrier => true,
            OpClass::Load | OpClass::Store => false,
        };
        let at_one = distinct.iter().map(|word| words.iter().filter(|other| *other == word).count()).max();
        let of_rule = |rule| match rule {
            PassRule::Unit => passes.into(),
            PassRule::GpgpuSim => most_in_bank(&distinct),
            PassRule::Gem5 => most_in_bank(if is_atomic { &words } else { &distinct }),
        };
        let by_rule = PassRule::ALL.map(of_rule);
        let counts = &mut self.by_class[class as usize];
        counts.requests += 1.0;
        counts.passes.iter_mut().zip(by_rule).for_each(|(sum, passes)| *sum += passes);
        if is_atomic {
            counts.further_lanes += at_one.unwrap_or(1) as f64 - 1.0;
        }
    }
}

impl Listener for RequestCounter {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        let answer =
            cycle.warp_answer.as_ref().and_then(|answer| Some((answer.appears.as_ref()?, answer.passes)));
        // A wake-up has no pass count: a suspended request has taken exactly one pass.
        let woken = cycle.wake_up.as_ref().and_then(|wake_up| Some((wake_up.appears.as_ref()?, 1)));
        for (appearance, passes) in answer.into_iter().chain(woken) {
            if let Ok(in_flight) = &appearance.request {
                self.count(&in_flight.request, passes);
            }
        }
    }
}
