//! Recorded trace as a workload: the requests are offered again in order, independent of the answers.

use std::collections::BTreeMap;
use std::io::BufRead;

use atoms_model::Config;
use atoms_model::port::{In, Out};
use atoms_ops::{Fault, Op};
use atoms_oracle::{Allocation, SerialRequest};
use atoms_record::{RecordingError, TraceEvent, TraceHeader, TraceReader};
use atoms_stimulus::Stimulus;
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, Lane, WarpRequest};

use super::closed_loop::{GivenUp, PortCounts};
use super::program::WorkloadError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// Ignore recorded gaps: each request is offered as soon as its port accepts it.
    None,
    /// Keep recorded gaps: requests keep their distances in cycles. A request is late if its port is not
    /// ready.
    Recorded,
}

#[derive(Clone, Debug)]
pub struct Replay {
    header: TraceHeader,
    memory: Vec<(u32, u32)>,
    events: Vec<Recorded>,
}

#[derive(Clone, Debug)]
struct Recorded {
    line: u64,
    /// Cycle in which the request was accepted; `None` if the trace does not say.
    accepted: Option<u64>,
    offer: Offer,
}

#[derive(Clone, Debug)]
enum Offer {
    Allocation(AllocationWrite),
    Warp(Box<WarpRequest>, Fault),
    Cluster(Box<ClusterRequest>, Fault),
}

#[derive(Debug, thiserror::Error)]
pub enum TraceReplayError {
    #[error(transparent)]
    Read(#[from] RecordingError),
    /// The trace contains an event that cannot be replayed.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

impl Replay {
    /// Reads a trace. Answers are not checked; `atoms check` does that.
    ///
    /// # Errors
    /// [`TraceReplayError`] with the line.
    pub fn read(reader: impl BufRead) -> Result<Self, TraceReplayError> {
        let mut trace = TraceReader::new(reader)?;
        let header = *trace.header();
        let (mut memory, mut events, mut requests) = (Vec::new(), Vec::new(), 0);
        // Index in `events` of each suspended request, by its number in the trace. The trace lists such a
        // request when it is accepted and when it is answered.
        let mut waits = BTreeMap::new();
        while let Some((line, event)) = trace.next_event()? {
            let at = events.len();
            let recorded = |accepted, offer| Recorded { line, accepted, offer };
            requests += usize::from(matches!(event, TraceEvent::Request(_) | TraceEvent::Wait { .. }));
            let refused =
                |why: &str| Err(TraceReplayError::from(WorkloadError::Trace(line, why.to_string())));
            let slot = match &event {
                TraceEvent::Allocation { slot, .. } => *slot,
                TraceEvent::Wait { request, .. } => request.slot,
                TraceEvent::Request(exchange) => exchange.request.slot,
                TraceEvent::Init(_)
                | TraceEvent::Suspended { .. }
                | TraceEvent::Wake { .. }
                | TraceEvent::Quiet { .. }
                | TraceEvent::Lost { .. }
                | TraceEvent::Reset { .. }
                | TraceEvent::End
                | TraceEvent::Verdict { .. }
                | TraceEvent::Final(_) => 0,
            };
            if slot > 15 {
                return refused("the CTA slot is above 15, the highest slot of any unit");
            }
            match event {
                TraceEvent::Allocation { allocation: Some(allocation), .. }
                    if allocation.base_row > u16::MAX.into() =>
                {
                    return refused("an allocation starts at a row above 65535, the highest row of any unit");
                }
                TraceEvent::Allocation { slot, allocation } => {
                    events.push(recorded(None, Offer::Allocation(allocation_write(slot, allocation))))
                }
                TraceEvent::Init(words) if requests == 0 => memory.extend(words),
                TraceEvent::Init(_) => {
                    return refused(
                        "memory that is set from outside after the first request cannot be replayed",
                    );
                }
                TraceEvent::Wait { number, accepted, request } => {
                    waits.insert(number, at);
                    events.push(recorded(Some(accepted), Offer::Warp(warp(&request, &header), Fault::None)));
                }
                TraceEvent::Request(exchange) => {
                    let request = &exchange.request;
                    let fault = exchange.response.as_ref().map_or(Fault::None, |response| response.fault);
                    // Each port has its own numbering; only warp requests can wait.
                    let wait = exchange.moment.filter(|_| !request.cluster);
                    let wait = wait.and_then(|moment| waits.remove(&moment.number));
                    if request.cluster {
                        events.push(recorded(exchange.accepted, Offer::Cluster(cluster(request), fault)));
                    } else if request.op == Op::MbarTryWait as u8
                        && let Some(Recorded { offer: Offer::Warp(_, faults), .. }) =
                            wait.and_then(|at| events.get_mut(at))
                    {
                        *faults = fault;
                    } else {
                        events.push(recorded(exchange.accepted, Offer::Warp(warp(request, &header), fault)));
                    }
                }
                TraceEvent::Lost { .. } | TraceEvent::Reset { .. } => {
                    return refused(
                        "a reset cannot be replayed: which requests it dropped depends on the unit",
                    );
                }
                TraceEvent::Suspended { .. }
                | TraceEvent::Wake { .. }
                | TraceEvent::Quiet { .. }
                | TraceEvent::End
                | TraceEvent::Verdict { .. }
                | TraceEvent::Final(_) => {}
            }
        }
        Ok(Replay { header, memory, events })
    }

    pub fn requests(&self) -> u64 {
        self.events.iter().filter(|event| !matches!(event.offer, Offer::Allocation(_))).count() as u64
    }

    /// True if every request has the cycle in which it was accepted.
    pub fn has_gaps(&self) -> bool {
        self.without_time().is_none()
    }

    fn without_time(&self) -> Option<&Recorded> {
        self.events
            .iter()
            .find(|event| event.accepted.is_none() && !matches!(event.offer, Offer::Allocation(_)))
    }

    /// Returns the words of memory that are not zero at the start: byte address and value.
    pub fn memory(&self) -> Vec<(u32, u32)> {
        self.memory.iter().map(|(word, value)| (4 * word, *value)).collect()
    }

    /// Creates the stimulus for a unit of `config`.
    ///
    /// # Errors
    /// [`WorkloadError`] if the trace does not fit the unit, or it lacks the cycles that `gaps` needs.
    pub fn stimulus(&self, config: &Config, gaps: Gaps, limit: u64) -> Result<ReplayStimulus, WorkloadError> {
        let geometry = self.header.geometry;
        let unfit = |message: String| Err(WorkloadError::Combination(message));
        if geometry.lanes > config.num_lanes {
            let (there, lanes) = (config.num_lanes, geometry.lanes);
            return unfit(format!("the trace has warps of {lanes} lanes, but the unit has {there} lanes"));
        }
        let allocations = || {
            self.events.iter().filter_map(|event| match &event.offer {
                Offer::Allocation(allocation) if allocation.enable => Some((event.line, allocation)),
                Offer::Allocation(_) | Offer::Warp(..) | Offer::Cluster(..) => None,
            })
        };
        if geometry.banks != config.num_banks && allocations().any(|(_, allocation)| allocation.base != 0) {
            return unfit(format!(
                "the trace was recorded with {} banks, but the unit has {}: all allocations must start at row 0",
                geometry.banks, config.num_banks
            ));
        }
        for (line, allocation) in allocations() {
            let end = u64::from(allocation.base) * u64::from(config.row_bytes()) + u64::from(allocation.size);
            if end > config.bytes() {
                let why =
                    format!("the allocation ends at byte {end}, but the unit has {} bytes", config.bytes());
                return Err(WorkloadError::Trace(line, why));
            }
            if u32::from(allocation.slot) >= config.num_cta_slots {
                let why =
                    format!("CTA slot {}, but the unit has {} slots", allocation.slot, config.num_cta_slots);
                return Err(WorkloadError::Trace(line, why));
            }
        }
        if let Some((word, _)) = self.memory.iter().find(|(word, _)| u64::from(*word) >= config.bytes() / 4) {
            return unfit(format!(
                "the trace sets word {word}, but the unit has {} words",
                config.bytes() / 4
            ));
        }
        let mut events = self.events.clone();
        if gaps == Gaps::Recorded {
            if let Some(event) = self.without_time() {
                let why = "the request has no cycle `accepted`; replay the trace without gaps";
                return Err(WorkloadError::Trace(event.line, why.to_string()));
            }
            // The trace is in order of execution; sort it by acceptance. A CTA table write takes the latest
            // cycle before it, so it stays after earlier requests.
            let mut latest = 0;
            for event in &mut events {
                let accepted = event.accepted.unwrap_or(latest);
                event.accepted = Some(accepted);
                latest = latest.max(accepted);
            }
            events.sort_by_key(|event| event.accepted);
        }
        let first = events.iter().find(|event| !matches!(event.offer, Offer::Allocation(_)));
        Ok(ReplayStimulus {
            start: first.and_then(|event| event.accepted).unwrap_or(0),
            gaps,
            limit,
            events,
            next: 0,
            began: None,
            inside: [0; 2],
            faults: [[Fault::None; 64]; 2],
            cluster_tag: 0,
            counts: PortCounts::default(),
            given_up: None,
        })
    }
}

fn allocation_write(slot: u8, allocation: Option<Allocation>) -> AllocationWrite {
    let Some(Allocation { base_row, size_bytes, rank }) = allocation else {
        return AllocationWrite { slot, ..AllocationWrite::default() };
    };
    AllocationWrite { slot, enable: true, base: base_row as u16, size: size_bytes, rank }
}

fn warp(request: &SerialRequest, header: &TraceHeader) -> Box<WarpRequest> {
    let lanes = request.ra.iter().zip(&request.b).zip(&request.c).take(header.geometry.lanes as usize);
    Box::new(WarpRequest {
        op: request.op,
        size: request.size,
        red: request.red,
        absolute: request.absolute,
        scale: request.scale,
        tag: 0,
        slot: request.slot,
        mask: request.mask & header.geometry.lane_mask(),
        imm: request.imm,
        ur: request.ur,
        lanes: lanes.map(|((ra, b), c)| Lane { ra: *ra, b: *b, c: *c }).collect(),
    })
}

fn cluster(request: &SerialRequest) -> Box<ClusterRequest> {
    Box::new(ClusterRequest {
        op: request.op,
        size: request.size,
        red: request.red,
        tag: 0,
        slot: request.slot,
        addr: request.imm,
        b: request.b[0],
        c: request.c[0],
    })
}

#[derive(Clone, Debug)]
pub struct ReplayStimulus {
    gaps: Gaps,
    limit: u64,
    events: Vec<Recorded>,
    next: usize,
    /// Cycle of the recording in which the first request was accepted. `began` is the cycle of its replay.
    start: u64,
    began: Option<u64>,
    /// Bit masks of tags in flight, for the warp port and the cluster port.
    inside: [u64; 2],
    /// Recorded fault, by port and tag.
    faults: [[Fault; 64]; 2],
    cluster_tag: u8,
    counts: PortCounts,
    given_up: Option<GivenUp>,
}

impl ReplayStimulus {
    /// Returns the counters so far. One unit of work is one request.
    pub fn counts(&self) -> PortCounts {
        self.counts
    }

    pub fn given_up(&self) -> Option<&GivenUp> {
        self.given_up.as_ref()
    }

    /// True if a request accepted in this cycle of the recording is due now. Without recorded gaps, always
    /// true.
    fn due(&self, accepted: Option<u64>) -> bool {
        match (self.gaps, accepted, self.began) {
            (Gaps::Recorded, Some(accepted), Some(began)) => {
                self.counts.cycles - began >= accepted.saturating_sub(self.start)
            }
            _ => true,
        }
    }

    /// Checks an answer on a port, 0 or 1, against the recorded fault.
    fn answered(&mut self, port: usize, tag: u8, fault: u8, address: u32) {
        let (cycle, tag) = (self.counts.cycles, tag & 63);
        self.inside[port] &= !(1 << tag);
        let recorded = self.faults[port][usize::from(tag)];
        let found = Fault::from_code(fault).unwrap_or(Fault::Illegal);
        if found != recorded {
            self.given_up.get_or_insert(GivenUp::OtherFault {
                found: found.name(),
                recorded: recorded.name(),
                address,
                cycle,
            });
        }
    }
}

impl Stimulus for ReplayStimulus {
    fn drive(&mut self, i: &mut In) {
        (i.rst_n, i.rsp_ready, i.cl_rsp_ready, i.wake_ready) = (1, 1, 1, 1);
        while self.given_up.is_none()
            && i.cta_valid == 0
            && let Some(event) = self.events.get(self.next)
            && self.due(event.accepted)
        {
            match &event.offer {
                // Drain earlier requests, hold later ones.
                Offer::Allocation(allocation) if i.req_valid | i.cl_valid == 0 => allocation.drive(i),
                Offer::Warp(request, fault) if i.req_valid == 0 && self.inside[0] != u64::MAX => {
                    request.drive(i);
                    i.req_tag = self.inside[0].trailing_ones() as u8;
                    self.inside[0] |= 1 << i.req_tag;
                    self.faults[0][usize::from(i.req_tag)] = *fault;
                    self.began = self.began.or(Some(self.counts.cycles));
                }
                Offer::Cluster(request, fault) if i.cl_valid == 0 => {
                    request.drive(i);
                    // Reusing tags is safe: there are far more tags than cluster requests in flight.
                    self.cluster_tag = (self.cluster_tag + 1) & 63;
                    i.cl_tag = self.cluster_tag;
                    self.faults[1][usize::from(i.cl_tag)] = *fault;
                    self.began = self.began.or(Some(self.counts.cycles));
                    self.counts.requests += 1;
                }
                Offer::Allocation(_) | Offer::Warp(..) | Offer::Cluster(..) => return,
            }
            self.next += 1;
        }
    }

    fn observe(&mut self, _: &In, out: &Out) {
        self.counts.cycles += 1;
        if out.rsp_valid == 1 {
            self.counts.requests += 1;
            self.counts.passes += u64::from(out.rsp_passes);
            self.answered(0, out.rsp_tag, out.rsp_fault, out.rsp_fault_addr);
        }
        if out.wake_valid == 1 {
            self.counts.requests += 1;
            self.counts.passes += 1;
            self.answered(0, out.wake_tag, 0, 0);
        }
        if out.cl_rsp_valid == 1 {
            self.answered(1, out.cl_rsp_tag, out.cl_rsp_fault, out.cl_rsp_fault_addr);
        }
        self.counts.work.units = self.counts.requests;
        let PortCounts { cycles, work, .. } = self.counts;
        if cycles >= self.limit && !self.finished() {
            let left = self.events.len() - self.next;
            let warps = vec![format!("{left} requests of the trace have not been offered yet")];
            self.given_up = Some(GivenUp::Limit { cycles, units: work.units, warps });
        }
    }

    fn finished(&self) -> bool {
        self.given_up.is_some() || self.next == self.events.len() && self.inside[0] == 0
    }
}
