//! A finite test case of a few requests and the pauses between them, to minimize, store and repeat.

pub mod recorder;
pub mod shrink;
pub mod trials;

use std::fmt;

use atoms_model::port::{In, Out};
use atoms_ops::Op;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use atoms_stimulus::request::{AllocationWrite, ClusterRequest, HexNumber, WarpRequest};
use atoms_stimulus::{Stimulus, Tags};

/// Cycles in which a port's valid or ready is low, one bit per cycle. The pattern repeats every 64 cycles.
/// Bit 63 has no effect, so that each port is open in one cycle of 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pauses {
    /// Bit `n` set: in cycle `n` of each 64 cycles, the case offers no new warp request.
    pub warp: u64,
    /// Bit `n` set: in cycle `n` of each 64 cycles, the case takes no warp response.
    pub response: u64,
    /// Bit `n` set: in cycle `n` of each 64 cycles, the case offers no new cluster request.
    pub cluster: u64,
    /// Bit `n` set: in cycle `n` of each 64 cycles, the case takes no cluster response.
    pub cluster_response: u64,
    /// Bit `n` set: in cycle `n` of each 64 cycles, the case takes no wake-up.
    pub wake: u64,
}

impl Pauses {
    /// Returns the pauses with `alter` applied to each pattern.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryWord {
    /// Index of the word, `row * num_banks + bank`.
    pub word: u32,
    /// Value of the word at the start.
    #[serde(with = "HexNumber")]
    pub value: u32,
}

/// An action between requests: a reset, CTA table writes, or a reset followed by writes. Without either, it
/// is a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Warp requests taken before the change. All of them, if the case has fewer.
    pub warps: usize,
    /// Cluster requests taken before the change. All of them, if the case has fewer.
    pub clusters: usize,
    /// Cycles between the last of these requests, or the previous change, and this change.
    pub after: u64,
    /// Cycles of reset, or 0 for no reset.
    pub reset: u64,
    /// CTA table writes, made before any further request. Older files call them `parts`.
    #[serde(alias = "parts")]
    pub allocations: Vec<AllocationWrite>,
}

/// Reads the changes of a case. Older files have a single reset of one cycle instead.
fn read_changes<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<Change>, D::Error> {
    let value = serde_json::Value::deserialize(file)?;
    if value.is_object() {
        let reset = Change::deserialize(value).map_err(D::Error::custom)?;
        return Ok(vec![Change { reset: 1, ..reset }]);
    }
    Deserialize::deserialize(value).map_err(D::Error::custom)
}

/// Displays, for example, `reset of 1 cycle; allocation of slot 0: 64 bytes from row 2 on, rank 0`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reset = match self.reset {
            0 => None,
            1 => Some("reset of 1 cycle".to_string()),
            cycles => Some(format!("reset of {cycles} cycles")),
        };
        let pause = (self.after > 0).then(|| format!("pause of {} cycles", self.after));
        let allocations = self
            .allocations
            .iter()
            .map(|allocation| format!("allocation of slot {}: {allocation}", allocation.slot));
        f.write_str(&pause.into_iter().chain(reset).chain(allocations).collect::<Vec<_>>().join("; "))
    }
}

/// One finite run that starts from reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name of the configuration.
    pub config: String,
    /// Words of memory that are not zero at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<MemoryWord>,
    /// CTA table writes before the first request. Older files call them `parts`.
    #[serde(alias = "parts")]
    pub allocations: Vec<AllocationWrite>,
    /// Warp requests, in the order in which they are offered.
    pub warps: Vec<WarpRequest>,
    /// Cluster requests, in the order in which they are offered.
    #[serde(default)]
    pub clusters: Vec<ClusterRequest>,
    /// Resets and later CTA table writes, in order.
    #[serde(
        default,
        alias = "reset",
        deserialize_with = "read_changes",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub changes: Vec<Change>,
    /// Pauses of the ports (back-pressure).
    #[serde(default)]
    pub pauses: Pauses,
}

impl Case {
    /// Returns all of memory at the start, as `words` words. Words of the case beyond that are ignored.
    pub fn memory_of(&self, words: usize) -> Vec<u32> {
        let mut memory = vec![0; words];
        for MemoryWord { word, value } in &self.memory {
            if let Some(place) = memory.get_mut(*word as usize) {
                *place = *value;
            }
        }
        memory
    }

    /// Returns the number of requests of both ports.
    pub fn requests(&self) -> usize {
        self.warps.len() + self.clusters.len()
    }

    pub(crate) fn writes(&mut self) -> impl Iterator<Item = &mut AllocationWrite> {
        self.allocations.iter_mut().chain(self.changes.iter_mut().flat_map(|change| &mut change.allocations))
    }

    /// Returns the case without changes other than resets: CTA table writes move to the reset before, or to
    /// the start.
    #[must_use]
    pub fn with_early_allocations(mut self) -> Case {
        let mut resets: Vec<Change> = Vec::new();
        for change in std::mem::take(&mut self.changes) {
            if change.reset > 0 {
                resets.push(change);
            } else {
                resets
                    .last_mut()
                    .map_or(&mut self.allocations, |reset| &mut reset.allocations)
                    .extend(change.allocations);
            }
        }
        Case { changes: resets, ..self }
    }
}

/// Stimulus that drives the requests and changes of a case.
#[derive(Clone, Debug)]
pub struct CaseStimulus<'a> {
    case: &'a Case,
    changes: usize,
    allocations: usize,
    warps: usize,
    clusters: usize,
    cycle: u64,
    /// True if some request may be suspended. Requests inside must then have different tags.
    suspends: bool,
    tags: Tags,
    resetting: u64,
    /// Cycles since all requests and writes before the next change were accepted. After the last change:
    /// cycles since that change or its last table write.
    waited: u64,
}

/// Cycles to run after the last change, so that its effects are visible.
const CYCLES_BEHIND: u64 = 2;

impl<'a> CaseStimulus<'a> {
    /// Creates the stimulus, which starts with the first CTA table write.
    pub fn new(case: &'a Case) -> Self {
        let suspends = case.warps.iter().any(|request| request.op == Op::MbarTryWait as u8);
        CaseStimulus {
            case,
            changes: 0,
            allocations: 0,
            warps: 0,
            clusters: 0,
            cycle: 0,
            suspends,
            tags: Tags::default(),
            resetting: 0,
            waited: 0,
        }
    }

    /// Returns the table writes of the last change, and the requests up to the next change or the end.
    fn stretch(&self) -> (&'a [AllocationWrite], &'a [WarpRequest], &'a [ClusterRequest]) {
        let Case { allocations, warps, clusters, changes, .. } = self.case;
        let allocations = self.changes.checked_sub(1).map_or(allocations, |last| &changes[last].allocations);
        match changes.get(self.changes) {
            Some(next) => (
                allocations,
                &warps[..next.warps.min(warps.len())],
                &clusters[..next.clusters.min(clusters.len())],
            ),
            None => (allocations, warps, clusters),
        }
    }

    fn at_the_end(&self) -> bool {
        let (allocations, warps, clusters) = self.stretch();
        self.allocations >= allocations.len() && self.warps >= warps.len() && self.clusters >= clusters.len()
    }
}

impl Stimulus for CaseStimulus<'_> {
    fn drive(&mut self, i: &mut In) {
        let pauses = &self.case.pauses;
        // Keep the last of 64 cycles open: a port that always pauses would never end the case.
        let open = |pattern: u64| pattern >> (self.cycle % 64) & 1 == 0 || self.cycle % 64 == 63;
        self.resetting = self.resetting.saturating_sub(1);
        if self.resetting > 0 {
        } else if let Some(change) = self.case.changes.get(self.changes) {
            if self.at_the_end() && i.cta_valid | i.req_valid | i.cl_valid == 0 {
                if self.waited < change.after {
                    self.waited += 1;
                } else {
                    (self.changes, self.allocations, self.waited) = (self.changes + 1, 0, 0);
                    self.resetting = change.reset;
                }
            }
        } else {
            self.waited += 1;
        }
        i.rst_n = u8::from(self.resetting == 0);
        i.rsp_ready = u8::from(open(pauses.response));
        i.cl_rsp_ready = u8::from(open(pauses.cluster_response));
        i.wake_ready = u8::from(open(pauses.wake));
        let (allocations, warps, clusters) = self.stretch();
        if i.rst_n == 0 {
            // No request is taken in a reset cycle.
            self.tags = Tags::default();
        } else if i.cta_valid == 0
            && let Some(allocation) = allocations.get(self.allocations)
        {
            allocation.drive(i);
            self.allocations += 1;
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
        // The session itself waits until requests are answered. After a change, the case runs some more
        // cycles, so that the effects of the change are visible.
        let requested = self.case.changes.is_empty() && self.case.requests() > 0;
        let shown = requested || self.waited > CYCLES_BEHIND;
        self.changes == self.case.changes.len() && shown && self.at_the_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atoms_stimulus::complete_handshakes;

    fn allocation(size: u32) -> AllocationWrite {
        AllocationWrite { enable: true, size, ..AllocationWrite::default() }
    }

    #[test]
    fn changes_are_driven_between_their_requests() {
        let case = Case {
            allocations: vec![allocation(1)],
            warps: vec![WarpRequest::default(), WarpRequest::default()],
            clusters: vec![ClusterRequest::default()],
            changes: vec![
                Change { warps: 1, after: 2, allocations: vec![allocation(2)], ..Change::default() },
                Change {
                    warps: 1,
                    clusters: 1,
                    reset: 2,
                    allocations: vec![allocation(3)],
                    ..Change::default()
                },
                Change { warps: 9, clusters: 9, after: 1, ..Change::default() },
            ],
            ..Case::default()
        };
        let out = Out { req_ready: 1, cl_ready: 1, cta_ready: 1, ..Out::default() };
        let (mut stimulus, mut i, mut driven) = (CaseStimulus::new(&case), In::default(), String::new());
        while !stimulus.finished() {
            stimulus.drive(&mut i);
            driven += &match (i.rst_n, i.cta_valid, i.req_valid, i.cl_valid) {
                (0, ..) => "reset ".to_string(),
                (_, 1, ..) => format!("allocation{} ", i.cta_size),
                (_, _, 1, _) => "warp ".to_string(),
                (.., 1) => "cluster ".to_string(),
                _ => ". ".to_string(),
            };
            complete_handshakes(&mut i, &out);
        }
        assert_eq!(
            driven,
            "allocation1 warp . . allocation2 cluster reset reset allocation3 warp . . . . . "
        );
        assert_eq!(
            case.changes[0].to_string(),
            "pause of 2 cycles; allocation of slot 0: 2 bytes from row 0 on, rank 0"
        );
        assert_eq!(
            case.changes[1].to_string(),
            "reset of 2 cycles; allocation of slot 0: 3 bytes from row 0 on, rank 0"
        );
        let early = case.with_early_allocations();
        assert_eq!((early.allocations, early.changes.len()), (vec![allocation(1), allocation(2)], 1));
    }

    #[test]
    fn files_of_older_versions_are_read() {
        let text = r#"{
            "config": "small",
            "parts": [{ "slot": 0, "enable": true, "base": 0, "size": 1, "rank": 0 }],
            "warps": [],
            "clusters": [],
            "reset": {
                "warps": 3, "clusters": 1, "after": 7,
                "parts": [{ "slot": 0, "enable": true, "base": 0, "size": 2, "rank": 0 }]
            },
            "pauses": { "warp": 0, "response": 0, "cluster": 0, "cluster_response": 0, "wake": 0 }
        }"#;
        let case: Case = serde_json::from_str(text).expect("it reads");
        let change = Change { warps: 3, clusters: 1, after: 7, reset: 1, allocations: vec![allocation(2)] };
        assert_eq!((&case.allocations[..], &case.changes[..]), (&[allocation(1)][..], &[change][..]));
        let written = serde_json::to_string(&case).expect("plain data");
        assert!(written.contains("\"changes\":[{\"warps\":3"), "{written}");
        assert_eq!(serde_json::from_str::<Case>(&written).expect("it was written"), case);
        let unknown = written.replace("\"after\"", "\"then\"");
        let error = serde_json::from_str::<Case>(&unknown).expect_err("no such field").to_string();
        assert!(error.contains("unknown field `then`"), "{error}");
    }
}
