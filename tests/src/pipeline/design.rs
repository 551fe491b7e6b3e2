//! Parameters of a pipeline run.

use atoms_cosim::case::Pauses;

/// Wait limit in cycles that no run reaches.
pub const NO_LIMIT: u32 = 1 << 30;

/// Pipelines that run concurrently, and the conditions of the run.
#[derive(Clone, Debug)]
pub struct Design {
    /// Pipelines. Pipeline `n` has its consumers in slot `n`, modulo the number of slots.
    pub pipelines: Vec<PipelineDesign>,
    pub pauses: Pauses,
    /// Seed for delays, arbitration among agents, participating lanes, and places of objects and data.
    pub seed: u64,
    /// Deliberate error in the first pipeline. None for a correct design.
    pub mistake: Option<Mistake>,
}

#[derive(Clone, Debug)]
pub struct PipelineDesign {
    /// Number of stages, reduced if memory is too small.
    pub stages: u32,
    /// Number of times that each stage is filled.
    pub visits: u32,
    pub reach: ProducerReach,
    /// True if all members synchronize at a separate object before every visit, and wait there with the state
    /// of their own arrival. Ignored if the members are in different CTAs.
    pub meets: bool,
    /// Warps that fill stages. The first one stays to the end.
    pub producers: Vec<Member>,
    /// Warps that empty stages. The first one stays to the end.
    pub consumers: Vec<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProducerReach {
    Local,
    /// Producers and their objects in another CTA. Data and arrivals use the cluster port in both directions.
    Remote,
}

#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub arrives: Manner,
    pub waits: Waiting,
    /// Number of visits after which the member leaves with arrive_drop, if the pipeline has more visits.
    pub leaves_after: u32,
    pub delay: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// This many lanes arrive once each, limited to the lanes of a warp.
    Lanes(u32),
    Count(u32),
    /// One lane arrives and expects this many bytes from a copy. A consumer only arrives.
    ExpectTx(u32),
    /// Same as [`Manner::ExpectTx`], with separate requests for expect-tx and arrival.
    ExpectThenArrive(u32),
    /// One lane arrives with this count by noComplete, then arrives once more.
    NoComplete(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// test_wait, repeated until the phase is complete.
    Poll,
    /// try_wait with the limit of the configuration.
    Suspend,
    /// try_wait with this limit in cycles.
    SuspendFor(u32),
}

/// Error of the first producer of the first pipeline at stage 0 of its second visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    ForgetsArrival,
    /// The copy completes one byte less than expected. No effect if the producer expects no bytes.
    LosesByte,
    DropsAndStays,
}

impl Manner {
    pub(super) fn weight(self, lanes: u32) -> u32 {
        match self {
            Manner::Lanes(count) => count.min(lanes),
            Manner::Count(count) => count,
            Manner::ExpectTx(_) | Manner::ExpectThenArrive(_) => 1,
            Manner::NoComplete(count) => count + 1,
        }
    }
}
