//! What requests and passes cost: a sum over constants of a GPU, by several laws.

use atoms_ops::OpClass;
use serde::{Deserialize, Serialize};

use super::counts::{PassRule, RoundCounts};
use super::measurement::MeasuredOrder;
use crate::least_squares::dot;

/// A constant of a GPU, in cycles of its SM.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum GpuConstant {
    /// A round trip of an atomic, beside its passes.
    Atom,
    /// A round trip of a load or store, beside its passes.
    Load,
    /// A round trip of an operation on an mbarrier object, beside its passes.
    Mbar,
    /// Instructions of a trip of a compare-and-store loop.
    Loop,
    /// What acquire adds to an atomic.
    Acquire,
    /// What release adds to an atomic.
    Release,
    /// What scope gpu adds to release.
    Gpu,
    /// A pass: the service time. Of the queue, a request with one lane at each word.
    Pass,
    /// What a pass of CAS, CAST or CAST.SPIN takes beyond another one.
    CasPass,
    /// Of the queue, each further lane at one word.
    Lane,
    /// Of the queue, the same of a CAS, CAST or CAST.SPIN.
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
        match self {
            GpuConstant::Atom => "atom",
            GpuConstant::Load => "load",
            GpuConstant::Mbar => "mbar",
            GpuConstant::Loop => "loop",
            GpuConstant::Acquire => "acquire",
            GpuConstant::Release => "release",
            GpuConstant::Gpu => "gpu",
            GpuConstant::Pass => "pass",
            GpuConstant::CasPass => "cas_pass",
            GpuConstant::Lane => "lane",
            GpuConstant::CasLane => "cas_lane",
        }
    }
}

/// How the time of a round is made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostLaw {
    /// Passes as the unit takes them.
    Unit,
    /// Passes by the rule of GPGPU-Sim.
    GpgpuSim,
    /// Passes by the rule of gem5.
    Gem5,
    /// The single-server queue of Dong and Pai, whose service time S(n, e, c) depends on contention e and class c: here
    /// linear in e, since the tables of the paper were not to be had. It knows nothing of banks.
    Queue,
}

impl CostLaw {
    /// Every one, ours first.
    pub const ALL: [CostLaw; 4] = [CostLaw::Unit, CostLaw::GpgpuSim, CostLaw::Gem5, CostLaw::Queue];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            CostLaw::Unit => "unit",
            CostLaw::GpgpuSim => "GPGPU-Sim",
            CostLaw::Gem5 => "gem5",
            CostLaw::Queue => "queue",
        }
    }

    /// The rule that says how many passes a request takes; the queue has none.
    pub fn rule(self) -> Option<PassRule> {
        match self {
            CostLaw::Unit => Some(PassRule::Unit),
            CostLaw::GpgpuSim => Some(PassRule::GpgpuSim),
            CostLaw::Gem5 => Some(PassRule::Gem5),
            CostLaw::Queue => None,
        }
    }

    /// Cycles of a round.
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

/// Cycles as a sum over constants, by [`GpuConstant`]: those of a warp by itself, and those for which all warps together
/// occupy the unit, whichever are more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CycleSum {
    pub(super) alone: Vec<f64>,
    pub(super) busy: Vec<f64>,
}

impl CycleSum {
    /// What occupies the unit for each of so many units of work, however long a warp waits.
    pub(super) fn busy_per(&self, units: f64) -> CycleSum {
        let busy: Vec<f64> = self.busy.iter().map(|count| count / units).collect();
        CycleSum { alone: busy.clone(), busy }
    }

    /// Coefficients of the greater sum.
    pub(super) fn at(&self, constants: &[f64]) -> &[f64] {
        if self.is_saturated(constants) { &self.busy } else { &self.alone }
    }

    /// Tests whether the time of the unit exceeds that of a single warp.
    pub(super) fn is_saturated(&self, constants: &[f64]) -> bool {
        dot(&self.busy, constants) > dot(&self.alone, constants)
    }
}
