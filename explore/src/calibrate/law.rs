//! Laws that predict the time of a round: sums over requests and passes, weighted with constants of a GPU.

use atoms_ops::OpClass;
use serde::{Deserialize, Serialize};

use super::counts::{PassRule, RoundCounts};
use super::measurement::MeasuredOrder;
use crate::least_squares::dot;

/// A constant of a GPU that is fitted to measurements, in cycles of its SM.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum GpuConstant {
    /// Round-trip time of an atomic, without its passes.
    Atom,
    /// Round-trip time of a load or store, without its passes.
    Load,
    /// Round-trip time of an operation on an mbarrier object, without its passes.
    Mbar,
    /// Time of the instructions of one iteration of a compare-and-store loop, without its request.
    Loop,
    /// Extra time of an atomic with acquire semantics.
    Acquire,
    /// Extra time of an atomic with release semantics.
    Release,
    /// Extra time of a release whose scope is the GPU instead of the CTA.
    Gpu,
    /// Time of one pass. For [`CostLaw::Queue`]: time of a request whose lanes access different words.
    Pass,
    /// Extra time of a pass of CAS, CAST or CAST.SPIN.
    CasPass,
    /// Only for [`CostLaw::Queue`]: extra time of each lane after the first at the same word.
    Lane,
    /// Only for [`CostLaw::Queue`]: extra time of each lane after the first at the same word, for CAS, CAST
    /// and CAST.SPIN.
    CasLane,
}

impl GpuConstant {
    pub const ALL: [GpuConstant; 11] = [
        GpuConstant::Atom,
        GpuConstant::Load,
        GpuConstant::Mbar,
        GpuConstant::Loop,
        GpuConstant::Acquire,
        GpuConstant::Release,
        GpuConstant::Gpu,
        GpuConstant::Pass,
        GpuConstant::CasPass,
        GpuConstant::Lane,
        GpuConstant::CasLane,
    ];

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Law that predicts the time of a round. In a round, each warp completes one unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostLaw {
    /// Counts the passes that the unit of this project takes.
    Unit,
    /// Counts passes by the rule of GPGPU-Sim.
    GpgpuSim,
    /// Counts passes by the rule of gem5.
    Gem5,
    /// Single-server queue of Dong and Pai, whose service time depends on the contention and the class of a
    /// request. Here the service time is linear in the contention, since the tables of the paper are not
    /// available. The law ignores banks.
    Queue,
}

impl CostLaw {
    pub const ALL: [CostLaw; 4] = [CostLaw::Unit, CostLaw::GpgpuSim, CostLaw::Gem5, CostLaw::Queue];

    pub fn name(self) -> &'static str {
        match self {
            CostLaw::Unit => "unit",
            CostLaw::GpgpuSim => "GPGPU-Sim",
            CostLaw::Gem5 => "gem5",
            CostLaw::Queue => "queue",
        }
    }

    /// Returns the rule that counts the passes of a request; `None` for the queue.
    pub fn rule(self) -> Option<PassRule> {
        match self {
            CostLaw::Unit => Some(PassRule::Unit),
            CostLaw::GpgpuSim => Some(PassRule::GpgpuSim),
            CostLaw::Gem5 => Some(PassRule::Gem5),
            CostLaw::Queue => None,
        }
    }

    pub(super) fn round(self, counts: &RoundCounts, order: MeasuredOrder) -> CycleSum {
        let mut busy = vec![0.0; GpuConstant::ALL.len()];
        for (class, of) in counts.by_class.iter().enumerate() {
            let is_compare = class == OpClass::Compare as usize;
            let passes = self.rule().map_or(of.requests, |rule| of.passes[rule as usize]);
            busy[GpuConstant::Pass as usize] += passes;
            if is_compare {
                busy[GpuConstant::CasPass as usize] += passes;
            }
            if self == CostLaw::Queue {
                let lane = if is_compare { GpuConstant::CasLane } else { GpuConstant::Lane };
                busy[lane as usize] += of.further_lanes;
            }
        }
        let atomics = counts.requests(&[OpClass::Update, OpClass::Compare]);
        let (acquire, release, gpu) = match order {
            MeasuredOrder::Relaxed => (0.0, 0.0, 0.0),
            MeasuredOrder::Acquire => (1.0, 0.0, 0.0),
            MeasuredOrder::Release => (0.0, 1.0, 0.0),
            MeasuredOrder::AcquireRelease => (1.0, 1.0, 0.0),
            MeasuredOrder::ReleaseGpu => (0.0, 1.0, 1.0),
            MeasuredOrder::AcquireReleaseGpu => (1.0, 1.0, 1.0),
        };
        let mut alone = busy.clone();
        for (constant, count) in [
            (GpuConstant::Atom, atomics),
            (GpuConstant::Load, counts.requests(&[OpClass::Load, OpClass::Store])),
            (GpuConstant::Mbar, counts.requests(&[OpClass::Barrier])),
            (GpuConstant::Loop, counts.trips),
            (GpuConstant::Acquire, atomics * acquire),
            (GpuConstant::Release, atomics * release),
            (GpuConstant::Gpu, atomics * gpu),
        ] {
            alone[constant as usize] += count;
        }
        alone.iter_mut().for_each(|count| *count /= counts.warps);
        CycleSum { alone, busy }
    }
}

/// Time of a round as two sums over constants. `alone` is the time of one warp, `busy` the time for which all
/// warps together occupy the unit; the round takes the larger one. Both vectors hold the count of each
/// constant, indexed by [`GpuConstant`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CycleSum {
    pub(super) alone: Vec<f64>,
    pub(super) busy: Vec<f64>,
}

impl CycleSum {
    /// Returns the busy time per unit of work for a round with `units` units of work, without the latency of
    /// a warp.
    pub(super) fn busy_per(&self, units: f64) -> CycleSum {
        let busy: Vec<f64> = self.busy.iter().map(|count| count / units).collect();
        CycleSum { alone: busy.clone(), busy }
    }

    /// Returns the counts of the larger sum, `alone` or `busy`.
    pub(super) fn at(&self, constants: &[f64]) -> &[f64] {
        if self.is_saturated(constants) { &self.busy } else { &self.alone }
    }

    pub(super) fn is_saturated(&self, constants: &[f64]) -> bool {
        dot(&self.busy, constants) > dot(&self.alone, constants)
    }
}
