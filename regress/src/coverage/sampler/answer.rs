//! Answers: who stored, who waits, what was refused, in how many passes.

use atoms_model::Config;
use atoms_ops::{Fault, Op, Size, legal};

use super::flight::{Flight, Flights, bits};
use super::hits::Hits;
use super::moment::Moment;
use crate::coverage::groups::faults::{ClusterIllegal, FaultLane, Named, Why};
use crate::coverage::groups::kernels::{Compare, CompareOp, Meeting, Share};
use crate::coverage::groups::requests::{MergedOp, Merging, Together};
use crate::coverage::groups::values::{AnyOp, AnySize, Few, ObjectOp, Wanted};
use crate::coverage::groups::waits::{Asking, AtOnce, By, Complete, NotAsleep, Wait, WaitOp};

/// The warp request whose last pass was through in the cycle before: its answer appears now.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered {
    /// There is one.
    pub(super) any: bool,
    expected: Option<u64>,
}

impl Answered {
    /// The answer of this request appears in the next cycle.
    pub(super) fn expect(&mut self, number: u64) {
        self.any = true;
        self.expected = Some(number);
    }

    /// Samples the answer that appears.
    #[inline(always)]
    pub(super) fn see(&mut self, config: &Config, hits: &mut Hits, flights: &Flights, m: &Moment) {
        self.any = false;
        if let Some(number) = self.expected.take() {
            warp(config, hits, flights.get(number), m);
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

/// What is sampled of a cluster request when its response is taken: the operation on an object that it is, and
/// whether it wants a result.
pub(super) type Owed = Option<(ObjectOp, Wanted)>;

/// A cluster request that owes a response.
pub(super) fn owed(f: &Flight) -> Owed {
    let op = Op::from_code(f.op_code).filter(|_| legal(f.op_code, f.size_code)).and_then(ObjectOp::new);
    op.map(|op| (op, f.wanted()))
}

/// Samples the cluster response that is taken.
pub(super) fn cluster(hits: &mut Hits, owed: Owed, m: &Moment) {
    if m.cl_rsp_fault == Fault::Illegal as u8
        && let Some(bin) = owed
    {
        hits.hit(ClusterIllegal, bin);
    }
}
