//! Requests inside the unit, and what is found about them.

use std::sync::Arc;

use atoms_cosim::request::{ClusterRequest, Lane, WarpRequest};
use atoms_model::Config;
use atoms_model::port::{MAX_BANKS, MAX_LANES};
use atoms_ops::{OPS, Op, Size};

use crate::groups::values::{Kind, Port, Wanted, Width};

/// Operation and size by their codes, where they are an instruction: the operation table, laid out to be
/// looked up once a request.
static INSTRUCTIONS: [[Option<(Op, Size)>; 16]; 32] = {
    let mut all = [[None; 16]; 32];
    let mut row = 0;
    while row < OPS.len() {
        let mut at = 0;
        while at < OPS[row].sizes.len() {
            let size = OPS[row].sizes[at];
            all[OPS[row].op as usize][size as usize] = Some((OPS[row].op, size));
            at += 1;
        }
        row += 1;
    }
    all
};

/// A request from the cycle in which it is accepted to that of its answer.
#[derive(Clone, Debug)]
pub(super) struct InFlightRequest {
    pub(super) port: Port,
    /// One of the cluster port as a warp request of lane 0.
    pub(super) request: Arc<WarpRequest>,
    /// Operation and size, if that is an instruction at this port.
    pub(super) kind: Option<(Op, Size)>,
    /// Lanes of the configuration that take part.
    pub(super) mask: u32,
    // What follows is found at issue.
    pub(super) bank: [u8; MAX_LANES],
    pub(super) row: [u16; MAX_LANES],
    pub(super) byte: [u8; MAX_LANES],
    /// Lanes by group of banks.
    pub(super) groups: [u32; MAX_BANKS],
    /// Groups that have lanes.
    pub(super) taken: u64,
    pub(super) conflicts: ConflictStats,
    /// Phases that it completed so far.
    pub(super) completions: u32,
}

/// How crowded the lanes of a request are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConflictStats {
    /// Lanes of the fullest group of banks.
    pub(super) degree: u32,
    /// Addresses in the group with most.
    pub(super) addresses: u32,
    /// Lanes at the address with most.
    pub(super) same: u32,
    /// Addresses in all.
    pub(super) objects: u32,
}

impl InFlightRequest {
    fn empty() -> Self {
        InFlightRequest {
            port: Port::Warp,
            request: Arc::default(),
            kind: None,
            mask: 0,
            bank: [0; MAX_LANES],
            row: [0; MAX_LANES],
            byte: [0; MAX_LANES],
            groups: [0; MAX_BANKS],
            taken: 0,
            conflicts: ConflictStats::default(),
            completions: 0,
        }
    }

    /// Register Ra of a lane.
    #[inline(always)]
    pub(super) fn ra(&self, lane: usize) -> u32 {
        self.request.lanes.get(lane).map_or(0, |lane| lane.ra)
    }

    /// Operand B of a lane.
    #[inline(always)]
    pub(super) fn b(&self, lane: usize) -> u128 {
        self.request.lanes.get(lane).map_or(0, |lane| lane.b)
    }

    /// Operand C of a lane.
    pub(super) fn c(&self, lane: usize) -> u128 {
        self.request.lanes.get(lane).map_or(0, |lane| lane.c)
    }

    pub(super) fn wanted(&self) -> Wanted {
        if self.request.red { Wanted::None } else { Wanted::Result }
    }
}

/// Requests of one port by their numbers: accepted, then at issue, then answered. A ring that is never full,
/// since the unit holds fewer.
#[derive(Clone, Debug)]
pub(super) struct InFlightRequests {
    ring: Vec<InFlightRequest>,
}

impl InFlightRequests {
    /// For a port behind which `inside` requests find room.
    pub(super) fn new(inside: u32) -> Self {
        InFlightRequests { ring: vec![InFlightRequest::empty(); inside.next_power_of_two() as usize] }
    }

    pub(super) fn accept(&mut self, config: &Config, port: Port, number: u64, request: Arc<WarpRequest>) {
        let at = self.get_mut(number);
        let known = INSTRUCTIONS[usize::from(request.op & 31)][usize::from(request.size & 15)];
        at.kind = known.filter(|(op, _)| port == Port::Warp || op.cluster_legal(request.red));
        (at.port, at.mask) = (port, request.mask & config.lane_mask());
        at.completions = 0;
        at.request = request;
    }

    #[inline(always)]
    pub(super) fn get(&self, number: u64) -> &InFlightRequest {
        &self.ring[number as usize & (self.ring.len() - 1)]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, number: u64) -> &mut InFlightRequest {
        let mask = self.ring.len() - 1;
        &mut self.ring[number as usize & mask]
    }
}

/// A cluster request as the warp request of lane 0 that does the same.
pub(super) fn of_lane_0(request: &ClusterRequest) -> WarpRequest {
    let ClusterRequest { op, size, red, tag, slot, addr, b, c } = *request;
    let lanes = vec![Lane { ra: 0, b, c }];
    WarpRequest {
        op,
        size,
        red,
        absolute: true,
        tag,
        slot,
        mask: 1,
        imm: addr,
        lanes,
        ..WarpRequest::default()
    }
}

/// Banks of one access, less one.
#[inline(always)]
pub(super) fn more_banks(size: Size) -> usize {
    match Width::new(size) {
        Width::Sub | Width::Word => 0,
        Width::Pair => 1,
        Width::Quad => 3,
    }
}

/// What of the pipeline a request uses; nothing if it is no instruction.
pub(super) fn kind_of(request: &InFlightRequest) -> Option<Kind> {
    request.kind.map(|(op, _)| Kind::new(op))
}

/// Calls `each` with every bit that is set, lowest first.
#[inline(always)]
pub(super) fn bits(mut set: u64, mut each: impl FnMut(usize)) {
    while set != 0 {
        each(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}
