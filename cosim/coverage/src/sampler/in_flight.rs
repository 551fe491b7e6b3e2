//! Requests inside the unit, and their properties found at issue.

use std::sync::Arc;

use atoms_model::Config;
use atoms_model::port::{MAX_BANKS, MAX_LANES};
use atoms_ops::{Op, Size, instruction};
use atoms_stimulus::request::{ClusterRequest, Lane, WarpRequest};

use crate::groups::values::{Kind, Port, Wanted};

/// A request, from the cycle in which it is accepted to that of its response.
#[derive(Clone, Debug)]
pub(super) struct InFlightRequest {
    pub(super) port: Port,
    /// A cluster request is stored as a warp request of lane 0.
    pub(super) request: Arc<WarpRequest>,
    /// Operation and size. None if the codes are not a legal instruction at this port.
    pub(super) kind: Option<(Op, Size)>,
    pub(super) pipeline_kind: Option<Kind>,
    /// Participating lanes, limited to the lanes of the configuration.
    pub(super) mask: u32,
    // Bank of each lane. This field and those below are valid from issue on.
    pub(super) bank: [u8; MAX_LANES],
    pub(super) row: [u16; MAX_LANES],
    pub(super) byte: [u8; MAX_LANES],
    /// For each bank group: mask of the lanes that access it.
    pub(super) groups: [u32; MAX_BANKS],
    /// Mask of the bank groups that at least one lane accesses.
    pub(super) taken: u64,
    pub(super) conflicts: ConflictStats,
    pub(super) completions: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConflictStats {
    /// Highest number of lanes on one bank group.
    pub(super) degree: u32,
    /// Highest number of different addresses on one bank group.
    pub(super) addresses: u32,
    /// Highest number of lanes at one address.
    pub(super) same: u32,
    /// Number of different addresses of the request.
    pub(super) objects: u32,
}

impl InFlightRequest {
    fn empty(port: Port) -> Self {
        InFlightRequest {
            port,
            request: Arc::default(),
            kind: None,
            pipeline_kind: None,
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

    /// Replaces the request in place, because moving half a kilobyte would be slow.
    pub(super) fn accept(&mut self, config: &Config, request: Arc<WarpRequest>) {
        let kind = instruction(request.op, request.size);
        self.kind = kind.filter(|(op, _)| self.port == Port::Warp || op.cluster_legal(request.red));
        self.pipeline_kind = self.kind.map(|(op, _)| Kind::new(op));
        self.mask = request.mask & config.lane_mask();
        self.request = request;
        self.completions = 0;
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted::new(self.request.red)
    }
}

/// Requests of both ports in rings, indexed by request number. A ring never overflows, because the unit holds
/// fewer requests.
#[derive(Clone, Debug)]
pub(super) struct InFlightRequests([Vec<InFlightRequest>; 2]);

impl InFlightRequests {
    pub(super) fn new(config: &Config) -> Self {
        // A request can be in the queue, at the port, at issue, in the pipeline, or answered but not yet
        // taken.
        let inside = |queue: u32| (queue + config.rmw_latency + 4).next_power_of_two() as usize;
        let ring = |port, queue| vec![InFlightRequest::empty(port); inside(queue)];
        InFlightRequests([ring(Port::Warp, config.queue_depth), ring(Port::Cluster, 2)])
    }

    /// Creates room for the requests of a unit of unknown size.
    pub(super) fn many() -> Self {
        const MOST: usize = 1024;
        InFlightRequests([Port::Warp, Port::Cluster].map(|port| vec![InFlightRequest::empty(port); MOST]))
    }

    #[inline(always)]
    pub(super) fn get(&self, port: Port, number: u64) -> &InFlightRequest {
        let ring = &self.0[port as usize];
        &ring[number as usize & (ring.len() - 1)]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, port: Port, number: u64) -> &mut InFlightRequest {
        let ring = &mut self.0[port as usize];
        let last = ring.len() - 1;
        &mut ring[number as usize & last]
    }
}

/// Converts a cluster request to an equivalent warp request of lane 0.
pub(super) fn of_lane_0(request: &ClusterRequest) -> WarpRequest {
    let ClusterRequest { op, size, red, tag, slot, addr, b, c } = *request;
    let lanes = vec![Lane { ra: 0, b, c }];
    let header = WarpRequest { op, size, red, tag, slot, ..WarpRequest::default() };
    WarpRequest { absolute: true, mask: 1, imm: addr, lanes, ..header }
}
