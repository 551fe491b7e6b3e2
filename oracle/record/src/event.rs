//! Events and header of a recording.

use atoms_oracle::{
    Allocation, Checker, Geometry, GoesFirst, Merging, RequestTiming, Response, SerialRequest,
};

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A slot of the CTA table gets an allocation or loses it.
    Allocation {
        /// CTA slot that changes.
        slot: u8,
        /// Allocation from now on; `None` removes it.
        allocation: Option<Allocation>,
    },
    /// Words of memory that were set from outside the unit: (index, value).
    Init(Vec<(u32, u32)>),
    /// A request with its response.
    Request(Box<Exchange>),
    /// The acceptance of a request that may be suspended, for [`atoms_oracle::Checker::accept`].
    Wait {
        /// Number of the request on the warp port, in order of acceptance.
        number: u64,
        /// Cycle in which the port accepted the request.
        accepted: u64,
        /// The accepted request itself.
        request: Box<SerialRequest>,
    },
    /// A suspension, for [`atoms_oracle::Checker::suspend`].
    Suspended {
        /// Number of the suspended request.
        number: u64,
        /// Cycle in which it was suspended.
        cycle: u64,
    },
    /// A wake-up, for [`atoms_oracle::Checker::wake`].
    Wake {
        /// Number of the woken request.
        number: u64,
        /// Predicates of the wake-up, one bit per lane.
        pred: u32,
        /// Cycle in which the wake-up appeared.
        cycle: u64,
    },
    /// Cycles in which no wake-up is offered and no answer waits at a port, for
    /// [`atoms_oracle::Checker::quiet`].
    Quiet {
        /// First quiet cycle.
        from: u64,
        /// Last quiet cycle, inclusive.
        to: u64,
    },
    /// A request that ran, but whose response the next reset dropped, for [`atoms_oracle::Checker::lost`].
    Lost {
        /// The request without a response.
        request: Box<SerialRequest>,
        /// Words written for the request: (index, final value).
        written: Vec<(u32, u32)>,
    },
    /// A reset, for [`atoms_oracle::Checker::reset`].
    Reset {
        /// Requests in flight, which get no answer.
        dropped: Vec<SerialRequest>,
        /// Words written for these requests: (index, final value).
        written: Vec<(u32, u32)>,
    },
    /// The end of a run: no more answers come.
    End,
    /// Words of memory found at this point: (index, value).
    Final(Vec<(u32, u32)>),
    /// Verdict of the scoreboard that recorded the trace. It has also judged what a trace does not hold: tags,
    /// numbers of passes, missing and surplus answers.
    Verdict {
        /// True if the scoreboard could not decide.
        undecided: bool,
        /// Text of the verdict.
        text: String,
    },
}

/// A request, its response, and the words written if they were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The request as accepted at its port.
    pub request: SerialRequest,
    /// The response; `None` for a posted request without a fault (spec 4.7).
    pub response: Option<Response>,
    /// Words written: (index, final value), for [`atoms_oracle::Checker::request`]. `None` if they were not
    /// recorded.
    pub after: Option<Vec<(u32, u32)>>,
    /// Times for [`atoms_oracle::Checker::request_at`]; needed only while a wait is unanswered.
    pub moment: Option<RequestTiming>,
    /// Cycle in which the port accepted the request, for a replay.
    pub accepted: Option<u64>,
}

/// Contents of the first line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceHeader {
    /// Shape of the warp and of the memory.
    pub geometry: Geometry,
    /// Limit, in cycles, of waits without a limit of their own (spec 6.10). `None`: their timeouts are not
    /// judged.
    pub try_wait_limit: Option<u64>,
    /// Number of CAST.SPIN requests for which one lane keeps priority (spec 5.4). `None`: the selected lane
    /// is not judged.
    pub spin_hold: Option<u32>,
    /// Options of the recorded unit, if the unit is this project's.
    pub unit: Option<DeclaredUnit>,
}

impl TraceHeader {
    /// Creates a checker that knows what the header declares about the unit.
    pub fn checker(&self) -> Checker {
        let mut checker = Checker::new(self.geometry);
        self.try_wait_limit.inspect(|cycles| checker.set_try_wait_limit(*cycles));
        self.spin_hold.inspect(|requests| checker.set_spin_hold(*requests));
        if let Some(DeclaredUnit { winner_policy, merge_red, merge_arrive }) = self.unit {
            checker.set_merging(Merging { red: merge_red, arrive: merge_arrive });
            checker.set_goes_first(winner_policy);
            checker.set_timed();
        }
        checker
    }
}

/// Declares that the recorded unit is this project's, and that the recording has every request since reset.
/// Then the order of lanes is judged (spec 4.2, 6.11), the selection of CAST.SPIN (spec 5.4), and the cycles
/// in which waits end (spec 6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredUnit {
    /// Policy that determines which lane wins first.
    #[serde(with = "PolicyName")]
    pub winner_policy: GoesFirst,
    /// True if lanes at one address merge for operations without a result, such as ADD.
    #[serde(default)]
    pub merge_red: bool,
    /// True if lanes that arrive at one mbarrier object merge.
    #[serde(default)]
    pub merge_arrive: bool,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "GoesFirst", rename_all = "lowercase")]
enum PolicyName {
    Lowest,
    Highest,
    Rotating,
}
