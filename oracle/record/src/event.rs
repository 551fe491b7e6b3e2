//! Events of a recording, and its header.

use atoms_oracle::{Allocation, Geometry, GoesFirst, RequestTiming, Response, SerialRequest};

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A slot of the CTA table gets an allocation or loses it.
    Allocation {
        /// The slot.
        slot: u8,
        /// Its allocation from now on.
        allocation: Option<Allocation>,
    },
    /// Words of memory set from outside: (index, value).
    Init(Vec<(u32, u32)>),
    /// A request and what came of it.
    Request(Box<Exchange>),
    /// A request that may be suspended was accepted, as [`atoms_oracle::Checker::accept`] takes it.
    Wait {
        /// Number on the warp port.
        number: u64,
        /// Cycle of acceptance.
        accepted: u64,
        /// The request.
        request: Box<SerialRequest>,
    },
    /// A suspension, as for [`atoms_oracle::Checker::suspend`].
    Suspended {
        /// Number of the request.
        number: u64,
        /// Cycle in which it was suspended.
        cycle: u64,
    },
    /// A wake-up, as for [`atoms_oracle::Checker::wake`].
    Wake {
        /// Number of the request.
        number: u64,
        /// Its predicates.
        pred: u32,
        /// Cycle in which it appeared.
        cycle: u64,
    },
    /// Cycles without a wake-up, as for [`atoms_oracle::Checker::quiet`].
    Quiet {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
    /// A request that was carried out, and whose response the next reset dropped, as for [`atoms_oracle::Checker::lost`].
    Lost {
        /// The request.
        request: Box<SerialRequest>,
        /// Words written for it, and their values afterwards.
        written: Vec<(u32, u32)>,
    },
    /// A reset, as for [`atoms_oracle::Checker::reset`].
    Reset {
        /// Requests without an answer.
        dropped: Vec<SerialRequest>,
        /// Words written for them, and their values afterwards.
        written: Vec<(u32, u32)>,
    },
    /// Nothing is left to be answered.
    End,
    /// Words of memory as found at this point: (index, value).
    Final(Vec<(u32, u32)>),
}

/// A request, its response, and the words written, if they were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The request.
    pub request: SerialRequest,
    /// The response; none for a posted request without a fault (spec 4.7).
    pub response: Option<Response>,
    /// Words written and their values afterwards, as for [`atoms_oracle::Checker::request`].
    pub after: Option<Vec<(u32, u32)>>,
    /// When, as for [`atoms_oracle::Checker::request_at`]; needed only while a wait is open.
    pub moment: Option<RequestTiming>,
    /// Cycle in which its port accepted it, for a replay.
    pub accepted: Option<u64>,
}

/// What the first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceHeader {
    /// Shape of the warp and of the memory.
    pub geometry: Geometry,
    /// Limit, in cycles, of waits that name none, if they are to be judged (spec 6.10).
    pub try_wait_limit: Option<u64>,
    /// Number of CAST.SPIN requests for which one lane has priority, if that is to be judged (spec 5.4).
    pub spin_hold: Option<u32>,
    /// The unit recorded, if it is one of ours.
    pub unit: Option<DeclaredUnit>,
}

/// Declares that the unit recorded is one of ours, from reset on and with every request: its order of lanes is judged
/// (spec 4.2, 6.11), the selection of CAST.SPIN (spec 5.4), and the cycles in which waits end (spec 6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredUnit {
    /// The lane that goes first.
    #[serde(with = "PolicyName")]
    pub winner_policy: GoesFirst,
    /// True if operations without a result merge.
    #[serde(default)]
    pub merge_red: bool,
    /// True if arrivals merge.
    #[serde(default)]
    pub merge_arrive: bool,
}

/// Names of [`GoesFirst`] in a header.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "GoesFirst", rename_all = "lowercase")]
enum PolicyName {
    Lowest,
    Highest,
    Rotating,
}
