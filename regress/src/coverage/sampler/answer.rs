//! Answers: who stored, who waits, what was refused, in how many passes.

use atoms_model::Config;
use atoms_ops::{Fault, Op, Size, legal};

use super::flight::{Flight, Flights, bits};
use super::hits::Hits;
use super::moment::Moment;
use crate::coverage::groups::faults::{ClusterIllegal, FaultLane, Named, Why};
use crate::coverage::groups::kernels::{Compare, CompareOp, Meeting, Share};
use crate::coverage::groups::requests::{MergedOp, Merging, Together};
use crate::coverage::groups::values::{AnyOp, AnySize, Few, ObjectOp, Port};
use crate::coverage::groups::waits::{Asking, AtOnce, By, Complete, NotAsleep, Wait, WaitOp};

/// Requests whose last pass was through in the cycle before, by port: their answers appear now.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered {
    /// There are some.
    pub(super) any: bool,
    expected: [Option<u64>; 2],
}

impl Answered {
    /// The answer of this request appears in the next cycle.
    pub(super) fn expect(&mut self, port: Port, number: u64) {
        self.any = true;
        self.expected[port as usize] = Some(number);
    }

    /// Samples the answers that appear.
    #[inline(always)]
    pub(super) fn see(&mut self, config: &Config, hits: &mut Hits, flights: &[Flights; 2], m: &Moment) {
        self.any = false;
        if let Some(number) = self.expected[Port::Warp as usize].take() {
            warp(config, hits, flights[Port::Warp as usize].get(number), m);
        }
        if let Some(number) = self.expected[Port::Cluster as usize].take() {
            cluster(hits, flights[Port::Cluster as usize].get(number), m);
        }
    }
}

fn warp(config: &Config, hits: &mut Hits, f: &Flight, m: &Moment) {
    let fault = Fault::from_code(m.rsp.fault).and_then(Why::new);
    if let Some(why) = fault {
        if let Some(op) = Op::from_code(f.op_code) {
            let lane = match u32::from(m.rsp.fault_lane) {
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
        stored(hits, f, op, size, m.rsp.pred);
    } else if let Some(op) = WaitOp::new(op) {
        asked(hits, f, op, m.rsp.pred);
    }
    if f.crowd.degree > 1
        && let Some(op) = MergedOp::new(op)
    {
        merged(hits, f, op, m.rsp.passes);
    }
}

fn stored(hits: &mut Hits, f: &Flight, op: CompareOp, size: Size, pred: u32) {
    let share = match pred & f.mask {
        0 => Share::None,
        all if all == f.mask => Share::All,
        _ => Share::Some,
    };
    let meeting = if f.mask.is_power_of_two() {
        Meeting::Alone
    } else if f.crowd.same > 1 {
        Meeting::Address
    } else if f.crowd.degree > 1 {
        Meeting::Bank
    } else {
        Meeting::Apart
    };
    hits.hit(Compare, (op, AnySize(size), share, meeting));
}

fn merged(hits: &mut Hits, f: &Flight, op: MergedOp, passes: u8) {
    let (passes, crowd) = (u32::from(passes), f.crowd);
    if crowd.degree == crowd.addresses || crowd.same == 1 {
        return;
    }
    let together = if passes == crowd.addresses {
        Together::Yes
    } else if passes == crowd.degree {
        Together::No
    } else {
        return;
    };
    hits.hit(Merging, (op, f.wanted(), together, Few::new(crowd.addresses)));
}

/// An answer to a request that asked about phases and was not put to sleep.
fn asked(hits: &mut Hits, f: &Flight, op: WaitOp, pred: u32) {
    let mut state = false;
    bits(f.mask.into(), |lane| state |= f.b[lane & 31] as u32 & 0x7fff_ffff != 0);
    let by = if state { By::State } else { By::Parity };
    let complete = match pred & f.mask {
        0 => Complete::None,
        all if all == f.mask => Complete::All,
        _ => Complete::Some,
    };
    let asking = if f.mask.is_power_of_two() { Asking::One } else { Asking::Several };
    hits.hit(Wait, (op, by, complete, asking));
    if op.0 == Op::MbarTryWait {
        let because = match (complete, f.crowd.objects) {
            (Complete::All, _) => AtOnce::Complete,
            (Complete::Some, ..=1) => AtOnce::Parities,
            (Complete::None, ..=1) => AtOnce::Full,
            (Complete::Some, _) => AtOnce::SomeOfSeveral,
            (Complete::None, _) => AtOnce::NoneOfSeveral,
        };
        hits.hit(NotAsleep, (because,));
    }
}

fn cluster(hits: &mut Hits, f: &Flight, m: &Moment) {
    if m.cl_rsp_fault == Fault::Illegal as u8
        && legal(f.op_code, f.size_code)
        && let Some(op) = Op::from_code(f.op_code).and_then(ObjectOp::new)
    {
        hits.hit(ClusterIllegal, (op, f.wanted()));
    }
}
