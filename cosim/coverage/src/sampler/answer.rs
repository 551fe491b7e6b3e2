//! Samples responses: lanes that stored, lanes whose phase is complete, faults and merged lanes.

use atoms_model::Config;
use atoms_model::lanes::lanes;
use atoms_monitor::WarpAnswer;
use atoms_ops::{Fault, Op, Size, instruction};
use atoms_stimulus::request::ClusterRequest;

use super::hits::Hits;
use super::in_flight::InFlightRequest;
use crate::groups::faults::{ClusterIllegal, FaultLane, Named, Why};
use crate::groups::kernels::{Compare, CompareOp, Meeting, Share};
use crate::groups::requests::{MergedOp, Merging, Together};
use crate::groups::values::{AnyOp, AnySize, Few, ObjectOp, Wanted};
use crate::groups::waits::{Asking, AtOnce, By, Complete, NotSuspended, Wait, WaitOp};

/// Samples a warp response in the cycle in which it appears.
pub(super) fn warp(config: &Config, hits: &mut Hits, f: &InFlightRequest, answer: &WarpAnswer<'_>) {
    let fault = Fault::from_code(answer.fault).and_then(Why::new);
    if let Some(why) = fault {
        if let Some(op) = Op::from_code(f.request.op) {
            let lane = match u32::from(answer.fault_lane) {
                0 => Named::First,
                last if last + 1 == config.num_lanes => Named::Last,
                _ => Named::Between,
            };
            hits.hit(FaultLane, (AnyOp(op), why, lane));
        }
        return;
    }
    let Some((op, size)) = f.kind else { return };
    if f.mask == 0 {
        return;
    }
    if let Some(op) = CompareOp::new(op) {
        stored(hits, f, op, size, answer.pred);
    } else if let Some(op) = WaitOp::new(op) {
        asked(hits, f, op, answer.pred);
    }
    if f.conflicts.degree > 1
        && let Some(op) = MergedOp::new(op)
    {
        merged(hits, f, op, answer.passes);
    }
}

fn stored(hits: &mut Hits, f: &InFlightRequest, op: CompareOp, size: Size, pred: u32) {
    let share = match pred & f.mask {
        0 => Share::None,
        all if all == f.mask => Share::All,
        _ => Share::Some,
    };
    let contention = if f.mask.is_power_of_two() {
        Meeting::Alone
    } else if f.conflicts.same > 1 {
        Meeting::Address
    } else if f.conflicts.degree > 1 {
        Meeting::Bank
    } else {
        Meeting::Apart
    };
    hits.hit(Compare, (op, AnySize(size), share, contention));
}

fn merged(hits: &mut Hits, f: &InFlightRequest, op: MergedOp, passes: u8) {
    let (passes, conflicts) = (u32::from(passes), f.conflicts);
    if conflicts.degree == conflicts.addresses || conflicts.same == 1 {
        return;
    }
    let together = if passes == conflicts.addresses {
        Together::Yes
    } else if passes == conflicts.degree {
        Together::No
    } else {
        return;
    };
    hits.hit(Merging, (op, f.wanted(), together, Few::new(conflicts.addresses)));
}

/// Samples a response to a query about phases that was not suspended.
fn asked(hits: &mut Hits, f: &InFlightRequest, op: WaitOp, pred: u32) {
    let is_state = |lane| f.request.lane(lane).b as u32 & 0x7fff_ffff != 0;
    let by = if lanes(f.mask).any(is_state) { By::State } else { By::Parity };
    let complete = match pred & f.mask {
        0 => Complete::None,
        all if all == f.mask => Complete::All,
        _ => Complete::Some,
    };
    let asking = if f.mask.is_power_of_two() { Asking::One } else { Asking::Several };
    hits.hit(Wait, (op, by, complete, asking));
    if op.0 == Op::MbarTryWait {
        let because = match (complete, f.conflicts.objects) {
            (Complete::All, _) => AtOnce::Complete,
            (Complete::Some, ..=1) => AtOnce::Parities,
            (Complete::None, ..=1) => AtOnce::Full,
            (Complete::Some, _) => AtOnce::SomeOfSeveral,
            (Complete::None, _) => AtOnce::NoneOfSeveral,
        };
        hits.hit(NotSuspended, (because,));
    }
}

/// Samples a cluster response in the cycle in which it is taken.
pub(super) fn cluster(hits: &mut Hits, request: &ClusterRequest, fault: u8) {
    let op = instruction(request.op, request.size).and_then(|(op, _)| ObjectOp::new(op));
    if let Some(op) = op.filter(|_| fault == Fault::Illegal as u8) {
        hits.hit(ClusterIllegal, (op, Wanted::new(request.red)));
    }
}
