//! Conversion of requests to the oracle's form.

use atoms_model::port::MAX_LANES;
use atoms_oracle::{Allocation, SerialRequest};
use atoms_stimulus::request::{ClusterRequest, WarpRequest};

/// Writes a warp request into `request`.
pub fn put_warp(request: &mut SerialRequest, asked: &WarpRequest) {
    request.op = asked.op;
    request.size = asked.size;
    request.red = asked.red;
    request.cluster = false;
    request.slot = asked.slot;
    request.mask = asked.mask;
    request.absolute = asked.absolute;
    request.scale = asked.scale;
    request.imm = asked.imm;
    request.ur = asked.ur;
    for (l, lane) in asked.lanes.iter().enumerate().take(MAX_LANES) {
        (request.ra[l], request.b[l], request.c[l]) = (lane.ra, lane.b, lane.c);
    }
    for l in asked.lanes.len()..MAX_LANES {
        (request.ra[l], request.b[l], request.c[l]) = (0, 0, 0);
    }
}

/// Writes a cluster request into `request`. The port gives an offset in the owner's allocation; the oracle needs
/// an address with the rank of the owner.
pub fn put_cluster(request: &mut SerialRequest, asked: &ClusterRequest, allocation: Option<Allocation>) {
    *request = SerialRequest {
        op: asked.op,
        size: asked.size,
        red: asked.red,
        cluster: true,
        slot: asked.slot,
        mask: 1,
        absolute: true,
        imm: asked.addr,
        ur: allocation.map_or(0, |allocation| u32::from(allocation.rank)) << 24,
        ..SerialRequest::default()
    };
    (request.b[0], request.c[0]) = (asked.b, asked.c);
}
