//! A finite case: a few requests and the pauses between them, to shrink, store and repeat.

use atoms_model::port::{In, Out};
use atoms_ops::Op;
use serde::{Deserialize, Serialize};

use crate::request::{ClusterRequest, PartWrite, WarpRequest, hex};
use crate::stimulus::{Stimulus, Tags};

/// Cycles in which a port's valid or ready is low, as a pattern that repeats every 64 cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pauses {
    /// No new warp request is offered.
    pub warp: u64,
    /// Warp responses are not taken.
    pub response: u64,
    /// No new cluster request is offered.
    pub cluster: u64,
    /// Cluster responses are not taken.
    pub cluster_response: u64,
    /// Wake-ups are not taken.
    pub wake: u64,
}

impl Pauses {
    /// Each pattern altered in the same way.
    pub fn map(self, alter: impl Fn(u64) -> u64) -> Pauses {
        let Pauses { warp, response, cluster, cluster_response, wake } = self;
        Pauses {
            warp: alter(warp),
            response: alter(response),
            cluster: alter(cluster),
            cluster_response: alter(cluster_response),
            wake: alter(wake),
        }
    }
}

/// A word of memory that is not zero at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryWord {
    /// Its index, `row * num_banks + bank`.
    pub word: u32,
    /// Its value.
    #[serde(with = "hex")]
    pub value: u32,
}

/// A cycle of reset in the middle of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// Warp requests taken before it; all, if there are fewer.
    pub warps: usize,
    /// Cluster requests taken before it, likewise.
    pub clusters: usize,
    /// Cycles between the last of them and the reset.
    pub after: u64,
    /// CTA table writes behind it, before any further request.
    pub parts: Vec<PartWrite>,
}

/// One finite run from reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Configuration it is for.
    pub config: String,
    /// Memory at the start, where it is not zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<MemoryWord>,
    /// CTA table writes, all before the first request.
    pub parts: Vec<PartWrite>,
    /// Warp requests in order.
    pub warps: Vec<WarpRequest>,
    /// Cluster requests in order.
    #[serde(default)]
    pub clusters: Vec<ClusterRequest>,
    /// A reset with requests inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
    /// Back-pressure.
    #[serde(default)]
    pub pauses: Pauses,
}

impl Case {
    /// All of memory at the start, of `words` words; what the case says of words beyond does not count.
    pub fn memory_of(&self, words: usize) -> Vec<u32> {
        let mut memory = vec![0; words];
        for MemoryWord { word, value } in &self.memory {
            if let Some(place) = memory.get_mut(*word as usize) {
                *place = *value;
            }
        }
        memory
    }

    /// Requests, of both ports.
    pub fn requests(&self) -> usize {
        self.warps.len() + self.clusters.len()
    }
}

/// Drives a case.
#[derive(Clone, Debug)]
pub struct CaseStimulus<'a> {
    case: &'a Case,
    parts: usize,
    warps: usize,
    clusters: usize,
    cycle: u64,
    /// Some request may be suspended: tags must then tell the requests inside apart.
    suspends: bool,
    tags: Tags,
    /// The reset that is yet to come.
    reset: Option<&'a Reset>,
    /// Cycles since the last request before it was taken, and after it since the reset; or since a write of the CTA table.
    waited: u64,
}

/// Cycles after a reset, or a write of the CTA table, in which what it left behind shows.
const CYCLES_BEHIND: u64 = 2;

impl<'a> CaseStimulus<'a> {
    /// From the first part on.
    pub fn new(case: &'a Case) -> Self {
        let suspends = case.warps.iter().any(|request| request.op == Op::MbarTryWait as u8);
        CaseStimulus {
            case,
            parts: 0,
            warps: 0,
            clusters: 0,
            cycle: 0,
            suspends,
            tags: Tags::default(),
            reset: case.reset.as_ref(),
            waited: 0,
        }
    }

    /// Table writes and requests up to the reset, or to the end.
    fn stretch(&self) -> (&'a [PartWrite], &'a [WarpRequest], &'a [ClusterRequest]) {
        let Case { parts, warps, clusters, .. } = self.case;
        match (self.reset, &self.case.reset) {
            (Some(to), _) => {
                (parts, &warps[..to.warps.min(warps.len())], &clusters[..to.clusters.min(clusters.len())])
            }
            (None, Some(from)) => (&from.parts, warps, clusters),
            (None, None) => (parts, warps, clusters),
        }
    }

    fn at_the_end(&self) -> bool {
        let (parts, warps, clusters) = self.stretch();
        (self.parts, self.warps, self.clusters) == (parts.len(), warps.len(), clusters.len())
    }
}

impl Stimulus for CaseStimulus<'_> {
    fn drive(&mut self, i: &mut In) {
        let pauses = &self.case.pauses;
        // A port that pauses for ever would never end the case: the last of 64 cycles is open.
        let open = |pattern: u64| pattern >> (self.cycle % 64) & 1 == 0 || self.cycle % 64 == 63;
        i.rst_n = 1;
        if let Some(reset) = self.reset
            && self.at_the_end()
            && i.cta_valid | i.req_valid | i.cl_valid == 0
        {
            if self.waited == reset.after {
                i.rst_n = 0;
                (self.reset, self.parts, self.tags) = (None, 0, Tags::default());
                self.waited = 0;
            } else {
                self.waited += 1;
            }
        } else if self.reset.is_none() {
            self.waited += 1;
        }
        i.rsp_ready = u8::from(open(pauses.response));
        i.cl_rsp_ready = u8::from(open(pauses.cluster_response));
        i.wake_ready = u8::from(open(pauses.wake));
        let (parts, warps, clusters) = self.stretch();
        if i.rst_n == 0 {
            // Nothing is taken in this cycle.
        } else if i.cta_valid == 0
            && let Some(part) = parts.get(self.parts)
        {
            part.drive(i);
            self.parts += 1;
            self.waited = 0;
        } else if i.cta_valid == 0 {
            if i.req_valid == 0
                && open(pauses.warp)
                && let Some(request) = warps.get(self.warps)
                && !(self.suspends && self.tags.taken(request.tag))
            {
                self.tags.take(request.tag);
                request.drive(i);
                self.warps += 1;
            }
            if i.cl_valid == 0
                && open(pauses.cluster)
                && let Some(request) = clusters.get(self.clusters)
            {
                request.drive(i);
                self.clusters += 1;
            }
        }
        self.cycle += 1;
    }

    fn observe(&mut self, i: &In, out: &Out) {
        if i.rst_n == 1 {
            self.tags.observe(i, out);
        }
    }

    fn finished(&self) -> bool {
        // A request is waited for; what else is done shows soon.
        let requested = self.case.reset.is_none() && self.case.requests() > 0;
        let shown = requested || self.waited > CYCLES_BEHIND;
        self.reset.is_none() && shown && self.at_the_end()
    }
}
