//! What is run: pipelines side by side, and the conditions they run under.

use atoms_cosim::case::Pauses;

/// A limit that no run lasts for.
pub const NO_LIMIT: u32 = 1 << 30;

/// What is run: pipelines side by side, and the conditions they run under.
#[derive(Clone, Debug)]
pub struct Design {
    /// The pipelines; pipeline `n` has its consumers in slot `n`, modulo the slots there are.
    pub pipelines: Vec<PipelineDesign>,
    /// Back-pressure.
    pub pauses: Pauses,
    /// Draws delays, which agent goes first, which lanes take part, and where objects and data lie.
    pub seed: u64,
    /// What is wrong with the first pipeline, if anything is.
    pub mistake: Option<Mistake>,
}

/// Producers and consumers around a ring of stages.
#[derive(Clone, Debug)]
pub struct PipelineDesign {
    /// Stages; fewer where memory does not hold so many.
    pub stages: u32,
    /// How often each stage is filled.
    pub visits: u32,
    /// Where the producers are.
    pub reach: ProducerReach,
    /// All members meet at an object of their own at the beginning of every visit, and wait there with
    /// the state of their own arrival. Only where all are in one CTA.
    pub meets: bool,
    /// Warps that fill stages; the first stays to the end.
    pub producers: Vec<Member>,
    /// Warps that empty stages; the first stays to the end.
    pub consumers: Vec<Member>,
}

/// How a producer gets at the consumers' stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProducerReach {
    /// It is in their CTA.
    Local,
    /// It is in another CTA of the cluster, where it waits at objects of its own; data and arrivals
    /// come through the cluster port, both ways.
    Remote,
}

/// One warp of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// How it arrives.
    pub arrives: Manner,
    /// How it waits.
    pub waits: Waiting,
    /// It leaves, with arrive_drop, after so many visits to each stage, if that is before the end.
    pub leaves_after: u32,
    /// It pauses for up to so many cycles between two steps.
    pub delay: u32,
}

/// How a member arrives at the end of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// So many lanes arrive once each; no more than there are.
    Lanes(u32),
    /// One lane arrives so many times.
    Count(u32),
    /// One lane arrives and expects so many bytes, which a copy brings; a consumer just arrives.
    ExpectTx(u32),
    /// As [`Manner::ExpectTx`], in two steps.
    ExpectThenArrive(u32),
    /// One lane arrives so many times without completing the phase, then once more.
    NoComplete(u32),
}

/// How a member waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It asks over and over.
    Poll,
    /// It is suspended until the limit of the configuration.
    Suspend,
    /// It is suspended for so many cycles at most.
    SuspendFor(u32),
}

/// What the first producer of the first pipeline does wrong at stage 0 of its second visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It does not arrive.
    ForgetsArrival,
    /// Its copy completes one byte less than it expects; nothing is wrong where it expects none.
    LosesByte,
    /// It drops out and carries on.
    DropsAndStays,
}

impl Manner {
    /// Arrivals in a phase, where a warp has so many lanes.
    pub(super) fn weight(self, lanes: u32) -> u32 {
        match self {
            Manner::Lanes(count) => count.min(lanes),
            Manner::Count(count) => count,
            Manner::ExpectTx(_) | Manner::ExpectThenArrive(_) => 1,
            Manner::NoComplete(count) => count + 1,
        }
    }
}
