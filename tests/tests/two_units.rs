//! Two units connected port to port. Each sends its remote operations to the cluster port of the other, and a
//! requester may delay taking responses. The guarantees of spec 4.7 exclude a deadlock. The tests run on the
//! model, on the RTL, and on both in lockstep with the oracle.

use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Machine, ModelMachine, RtlMachine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_model::mbarrier::MbarObject;
use atoms_model::port::In;
use atoms_ops::{Op, Size};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::{ClusterRequest, Lane, WarpRequest};
use atoms_tests::plant::{Patch, plant};
use atoms_tests::{bench, config, lockstep_of, rtl_of, test_each};
use atoms_verilated::Rtl;

const REMOTE: usize = 48;

/// Limit in cycles, far above the time for all requests.
const ENOUGH: u64 = 4_000;

/// Time at which a requester takes responses to its remote requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Always,
    /// Only while the requester offers no request.
    WhileItOffersNone,
    /// Only after all its requests have been accepted.
    AfterItsLast,
    /// Only in the cycle after this side accepted a request of the other side.
    AfterTheOtherIsServed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traffic {
    Posted,
    /// Posted requests, with as many loads and faulting posted requests as there is room for responses.
    WithinRoom,
    /// Every second request has a response.
    Mixed,
    Answered,
}

impl Traffic {
    fn request(self, number: usize, room: usize) -> ClusterRequest {
        let arrive = ClusterRequest {
            op: Op::MbarArrive as u8,
            size: Size::U64 as u8,
            red: true,
            tag: (number % 64) as u8,
            ..ClusterRequest::default()
        };
        let load = ClusterRequest { op: Op::Load as u8, red: false, ..arrive };
        let faults = ClusterRequest { addr: 4, ..arrive };
        match self {
            Traffic::Posted => arrive,
            Traffic::WithinRoom if number.is_multiple_of(3) && number / 3 < room => {
                if number.is_multiple_of(2) { load } else { faults }
            }
            Traffic::WithinRoom => arrive,
            Traffic::Mixed if number.is_multiple_of(2) => load,
            Traffic::Mixed => arrive,
            Traffic::Answered => load,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oracle {
    Listens,
    Off,
}

struct Side<M> {
    session: Session<M>,
    inputs: Box<In>,
    remote: Vec<ClusterRequest>,
    accepted: usize,
    responses: usize,
    warps: usize,
    /// True if this unit accepted a request of the other side in the previous cycle.
    served: bool,
}

impl<M: Machine> Side<M> {
    fn new(machine: M, oracle: Oracle, traffic: Traffic) -> Self {
        let config = *machine.config();
        let room = config.rmw_latency as usize + 4;
        let scoreboard = (oracle == Oracle::Listens).then(|| Scoreboard::new(&config, &[]));
        let mut side = Side {
            session: Session::new(machine, scoreboard),
            inputs: Box::new(In { rst_n: 1, rsp_ready: 1, wake_ready: 1, ..In::default() }),
            remote: (0..REMOTE).map(|number| traffic.request(number, room)).collect(),
            accepted: 0,
            responses: 0,
            warps: 0,
            served: false,
        };
        bench::whole(&config).drive(&mut side.inputs);
        side.clock();
        side.inputs.cta_valid = 0;
        // Object for the arrivals of the other side. It expects more arrivals than there are.
        let object = Lane { b: MbarObject::init(1000).encode().into(), ..Lane::default() };
        let (op, size) = (Op::MbarInit as u8, Size::U64 as u8);
        side.warp(&WarpRequest { op, size, mask: 1, lanes: vec![object], ..WarpRequest::default() });
        for _ in 0..20 {
            side.clock();
        }
        side.warps = 0;
        side
    }

    fn clock(&mut self) {
        self.session.clock(&self.inputs).unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Sends a warp request that the unit takes immediately.
    fn warp(&mut self, request: &WarpRequest) {
        request.drive(&mut self.inputs);
        self.clock();
        self.inputs.req_valid = 0;
    }

    fn offers(&self) -> Option<&ClusterRequest> {
        self.remote.get(self.accepted)
    }

    fn done(&self) -> bool {
        self.accepted == REMOTE && self.session.is_idle()
    }
}

fn couple<M: Machine>(
    machines: [M; 2],
    oracle: Oracle,
    traffic: Traffic,
    takes: Takes,
) -> Result<u64, String> {
    let mut sides = machines.map(|machine| Side::new(machine, oracle, traffic));
    for cycle in 0..ENOUGH {
        if sides.iter().all(Side::done) {
            for side in &mut sides {
                side.session.judge_memory().map_err(|failure| failure.to_string())?;
            }
            return Ok(cycle);
        }
        let takes_now = [0, 1].map(|one: usize| {
            let (side, other) = (&sides[one], &sides[1 - one]);
            match takes {
                Takes::Always => true,
                Takes::WhileItOffersNone | Takes::AfterItsLast => side.offers().is_none(),
                Takes::AfterTheOtherIsServed => side.served || other.accepted == REMOTE,
            }
        });
        for one in [0, 1] {
            let (left, right) = sides.split_at_mut(1);
            let (here, other) = if one == 0 { (&mut left[0], &right[0]) } else { (&mut right[0], &left[0]) };
            here.inputs.cl_valid = 0;
            // Pauses after each accepted request, so that the requester sometimes offers none.
            let pauses = takes == Takes::WhileItOffersNone && here.served;
            if let Some(request) = other.offers().filter(|_| !pauses) {
                request.drive(&mut here.inputs);
            }
            let ready =
                takes_now[1 - one] || (takes == Takes::WhileItOffersNone && here.inputs.cl_valid == 0);
            here.inputs.cl_rsp_ready = u8::from(ready);
            if here.inputs.req_valid == 0 && cycle % 3 == 0 && cycle < 200 {
                let tag = (here.warps % 64) as u8;
                let (op, size) = (Op::PopcInc as u8, Size::U32 as u8);
                let count = WarpRequest { op, size, mask: 3, tag, imm: 8, ..WarpRequest::default() };
                count.drive(&mut here.inputs);
            }
            here.clock();
        }
        for one in [0, 1] {
            let out = *sides[one].session.machine().out();
            let i = &sides[one].inputs;
            let accepted = i.cl_valid & out.cl_ready == 1;
            let answered = out.cl_rsp_valid & i.cl_rsp_ready == 1;
            let warp = i.req_valid & out.req_ready == 1;
            sides[one].served = accepted;
            sides[one].warps += usize::from(warp);
            sides[one].inputs.req_valid &= u8::from(!warp);
            sides[1 - one].accepted += usize::from(accepted);
            sides[1 - one].responses += usize::from(answered);
        }
    }
    let far = sides.map(|side| format!("{} accepted, {} answered", side.accepted, side.responses));
    Err(format!("after {ENOUGH} cycles: {}", far.join("; ")))
}

/// Combinations that end, as spec 4.7 guarantees.
const ENDING: &[(Traffic, Takes)] = &[
    (Traffic::Posted, Takes::Always),
    (Traffic::Posted, Takes::WhileItOffersNone),
    (Traffic::Posted, Takes::AfterItsLast),
    (Traffic::Posted, Takes::AfterTheOtherIsServed),
    (Traffic::WithinRoom, Takes::Always),
    (Traffic::WithinRoom, Takes::WhileItOffersNone),
    (Traffic::WithinRoom, Takes::AfterItsLast),
    (Traffic::WithinRoom, Takes::AfterTheOtherIsServed),
    (Traffic::Mixed, Takes::Always),
    (Traffic::Mixed, Takes::WhileItOffersNone),
    (Traffic::Answered, Takes::Always),
    (Traffic::Answered, Takes::WhileItOffersNone),
];

fn all_come_to_an_end<M: Machine>(side: &str, mut machine: impl FnMut() -> M) {
    for &(traffic, takes) in ENDING {
        let cycles = couple([machine(), machine()], Oracle::Listens, traffic, takes)
            .unwrap_or_else(|far| panic!("{side}, {traffic:?}, {takes:?}: {far}"));
        assert!(cycles > REMOTE as u64, "{side}, {traffic:?}, {takes:?}: {cycles} cycles");
    }
}

fn both_end(name: &str) {
    let config = config(name).config;
    all_come_to_an_end(name, || ModelMachine::new(config));
}

test_each! {
    mod two_models_do_not_wait_for_each_other: both_end;
    default
    small
    tiny
    #[ignore = "nightly: another configuration"]
    deep
    all_options
}

fn rtl_machine(rtl: Rtl, named: &NamedConfig) -> RtlMachine {
    RtlMachine::new(rtl, named.config).expect("the RTL comes out of reset")
}

#[test]
fn two_rtls_and_two_pairs_do_not_wait_for_each_other() {
    let small = config("small");
    all_come_to_an_end("RTL", || rtl_machine(rtl_of(&small), &small));
    all_come_to_an_end("pair", || -> Lockstep { lockstep_of(&small) });
}

/// A requester that takes no responses before its last request is accepted must not have more unanswered
/// requests than there is room for. That is the requester's part of spec 4.7.
#[test]
fn more_unanswered_requests_than_there_is_room_for_need_a_requester_that_takes_responses() {
    let config = config("small").config;
    let machines = || [ModelMachine::new(config), ModelMachine::new(config)];
    for traffic in [Traffic::Mixed, Traffic::Answered] {
        couple(machines(), Oracle::Listens, traffic, Takes::AfterItsLast).expect_err("the queues are full");
    }
}

/// Runs RTL with `patches` without the oracle, which would object before the deadlock.
fn planted(name: &str, patches: &[Patch], traffic: Traffic, takes: Takes) -> Result<u64, String> {
    let small = config("small");
    let library = plant(name, &small, patches);
    let machine = || rtl_machine(library.instantiate().expect("a built library can be loaded"), &small);
    couple([machine(), machine()], Oracle::Off, traffic, takes)
}

#[test]
fn responses_to_posted_requests_would_have_them_wait_for_each_other() {
    let patch =
        Patch { file: "atoms_pkg.sv", find: "posted = red && !compares(op);", replace: "posted = 1'b0;" };
    let far = planted("two-units-all-answered", &[patch], Traffic::Posted, Takes::AfterItsLast);
    let far = far.expect_err("the queues fill up behind responses");
    assert!(far.contains("0 answered"), "{far}");
}

#[test]
#[ignore = "nightly: another bug of a kind"]
fn a_stall_by_cluster_responses_would_have_them_wait_for_each_other() {
    let patches = [
        Patch {
            file: "atoms_unit.sv",
            find: "assign advance = !stall;",
            replace: "assign advance = !stall && !(cl_rsp_valid_o && !cl_rsp_ready_i);",
        },
        Patch {
            file: "atoms_unit.sv",
            find: ".valid_i(cluster_rsp_valid),",
            replace: ".valid_i(cluster_rsp_valid && advance),",
        },
    ];
    let far = planted("two-units-stall", &patches, Traffic::WithinRoom, Takes::AfterItsLast);
    let far = far.expect_err("a response that is not taken stops everything");
    assert!(far.contains("0 answered"), "{far}");
}
