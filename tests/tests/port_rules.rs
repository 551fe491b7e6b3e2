//! Rules for the inputs of the unit (spec 4.8): an offer stays unchanged until it is taken, and a wait has a tag that
//! no other warp request in flight has. The RTL stops at the first clock edge after a violation, and names the rule.

use atoms_cosim::follower::FollowerMode;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, RtlMachine};
use atoms_model::port::In;
use atoms_ops::{Op, Size};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, Lane, WarpRequest};
use atoms_tests::bench::whole;
use atoms_tests::{config, rtl_of};

type Change = fn(&mut In);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Warp,
    Cluster,
    Table,
}

/// Unit that takes requests but whose responses are not taken.
struct Bench {
    machine: Box<dyn Machine>,
    i: In,
    tag: u8,
}

impl Bench {
    fn new() -> Bench {
        let named = config("small");
        let machine = RtlMachine::new(rtl_of(&named), named.config).expect("the RTL comes out of reset");
        Bench::of(Box::new(machine))
    }

    fn following() -> Bench {
        let named = config("small");
        let mut machine = Lockstep::new(rtl_of(&named), named.config).expect("the RTL comes out of reset");
        machine.set_following(Some(FollowerMode::InTurns)).expect("nothing is behind");
        Bench::of(Box::new(machine))
    }

    fn of(machine: Box<dyn Machine>) -> Bench {
        let mut bench = Bench { machine, i: In { rst_n: 1, ..In::default() }, tag: 0 };
        whole(bench.machine.config()).drive(&mut bench.i);
        bench.clock().expect("nothing is wrong");
        bench.i.cta_valid = 0;
        bench
    }

    fn clock(&mut self) -> Result<(), Failure> {
        self.machine.cycle(&self.i)
    }

    fn warp(&mut self) {
        let lanes = (0..self.machine.config().num_lanes).map(|l| Lane { ra: 0, b: l.into(), c: 3 }).collect();
        let (op, size) = (Op::Cas as u8, Size::U32 as u8);
        WarpRequest { op, size, mask: 1, tag: self.tag, lanes, ..WarpRequest::default() }.drive(&mut self.i);
        self.tag += 1;
    }

    fn offer_waits(&self, port: Port) -> bool {
        let (i, out) = (&self.i, self.machine.out());
        match port {
            Port::Warp => i.req_valid == 1 && out.req_ready == 0,
            Port::Cluster => i.cl_valid == 1 && out.cl_ready == 0,
            Port::Table => i.cta_valid == 1 && out.cta_ready == 0,
        }
    }

    fn waiting(port: Port) -> Bench {
        Bench::new().waits(port)
    }

    fn waits(self, port: Port) -> Bench {
        let mut bench = self;
        bench.warp();
        while !bench.offer_waits(port) {
            bench.clock().expect("nothing is wrong");
            match port {
                Port::Warp if bench.offer_waits(port) => {}
                Port::Warp => bench.warp(),
                Port::Cluster if !bench.offer_waits(port) => {
                    bench.i.req_valid = 0;
                    let (op, size) = (Op::Load as u8, Size::U32 as u8);
                    ClusterRequest { op, size, ..ClusterRequest::default() }.drive(&mut bench.i);
                }
                Port::Cluster => {}
                // The write waits because a request of the slot is in flight.
                Port::Table => {
                    bench.i.req_valid = 0;
                    AllocationWrite { slot: 0, ..AllocationWrite::default() }.drive(&mut bench.i);
                }
            }
            assert!(bench.machine.cycles() < 200, "{port:?} never waits");
        }
        bench.clock().expect("nothing is wrong");
        bench
    }

    fn until_taken(&mut self, port: Port) -> Result<(), Failure> {
        (self.i.rsp_ready, self.i.cl_rsp_ready) = (1, 1);
        for _ in 0..200 {
            self.clock()?;
            if !self.offer_waits(port) {
                return Ok(());
            }
        }
        panic!("{port:?} is never taken");
    }
}

fn says(stop: Result<(), Failure>, assertion: &str) {
    match stop {
        Err(Failure::Rtl(error)) => {
            let text = error.to_string();
            assert!(text.contains(&format!("assertion failed: {assertion}")), "{text}");
            assert!(text.contains("atoms_port_rules.sv"), "{text}");
        }
        other => panic!("expected {assertion}: {other:?}"),
    }
}

#[test]
fn what_waits_and_stays_is_taken() {
    for port in [Port::Warp, Port::Cluster, Port::Table] {
        Bench::waiting(port).until_taken(port).unwrap_or_else(|stop| panic!("{port:?}: {stop}"));
    }
}

#[test]
fn an_offer_that_is_withdrawn_is_found() {
    let rows = [
        (Port::Warp, "WarpValidStableUntilReady", (|i| i.req_valid = 0) as Change),
        (Port::Cluster, "ClusterOfferStableUntilReady", |i| i.cl_valid = 0),
        (Port::Table, "CtaOfferStableUntilReady", |i| i.cta_valid = 0),
    ];
    for (port, assertion, withdraw) in rows {
        let mut bench = Bench::waiting(port);
        withdraw(&mut bench.i);
        says(bench.clock(), assertion);
    }
}

#[test]
fn an_offer_that_changes_is_found() {
    let rows: [(&str, Change); 13] = [
        ("op", |i| i.req_op ^= 1),
        ("size", |i| i.req_size ^= 1),
        ("red", |i| i.req_red ^= 1),
        ("absolute", |i| i.req_absolute ^= 1),
        ("scale", |i| i.req_scale ^= 2),
        ("tag", |i| i.req_tag ^= 32),
        ("slot", |i| i.req_slot ^= 1),
        ("mask", |i| i.req_mask ^= 2),
        ("imm", |i| i.req_imm ^= 1 << 23),
        ("ur", |i| i.req_ur ^= 1 << 31),
        ("ra of a lane", |i| i.req_ra[1] ^= 4),
        ("b of a lane", |i| i.req_b[3] ^= 1 << 127),
        ("c of a lane that does not take part", |i| i.req_c[2] ^= 1),
    ];
    for (what, change) in rows {
        let mut bench = Bench::waiting(Port::Warp);
        change(&mut bench.i);
        let found = bench.until_taken(Port::Warp);
        assert!(found.is_err(), "{what}");
        says(found, "WarpPayloadStableUntilReady");
        // A following RTL receives the offer only once. It must still detect the change.
        let mut bench = Bench::following().waits(Port::Warp);
        change(&mut bench.i);
        let found = bench.until_taken(Port::Warp).and_then(|()| bench.machine.catch_up());
        assert!(matches!(found, Err(Failure::FollowerDiverged(_))), "{what}: {found:?}");
    }
    let rows: [(Port, &str, Change); 5] = [
        (Port::Cluster, "ClusterOfferStableUntilReady", |i| i.cl_addr ^= 4),
        (Port::Cluster, "ClusterOfferStableUntilReady", |i| i.cl_b ^= 1 << 127),
        (Port::Table, "CtaOfferStableUntilReady", |i| i.cta_enable ^= 1),
        (Port::Table, "CtaOfferStableUntilReady", |i| i.cta_size ^= 1 << 24),
        (Port::Table, "CtaOfferStableUntilReady", |i| i.cta_rank ^= 1),
    ];
    for (port, assertion, change) in rows {
        let mut bench = Bench::waiting(port);
        change(&mut bench.i);
        says(bench.clock(), assertion);
    }
}

#[test]
fn a_reset_lets_offers_change() {
    for port in [Port::Warp, Port::Cluster, Port::Table] {
        let mut bench = Bench::waiting(port);
        bench.i.rst_n = 0;
        bench.clock().expect("nothing holds in reset");
        bench.i = In { rst_n: 1, ..In::default() };
        bench.clock().unwrap_or_else(|stop| panic!("{port:?}: {stop}"));
        // The reset frees the tags of requests in flight.
        bench.tag = 0;
        bench.warp();
        (bench.i.req_op, bench.i.req_size) = (Op::MbarTryWait as u8, Size::U64 as u8);
        bench.clock().unwrap_or_else(|stop| panic!("{port:?}: {stop}"));
    }
}

/// Sends two requests with tag 0, the second while the first is in flight.
fn again(first: Op, second: Op) -> Result<(), Failure> {
    let mut bench = Bench::new();
    for op in [first, second] {
        bench.tag = 0;
        bench.warp();
        bench.i.req_op = op as u8;
        bench.i.req_size = Size::U64 as u8;
        bench.clock()?;
    }
    Ok(())
}

#[test]
fn another_request_with_the_tag_of_a_wait_is_found() {
    for (first, second) in
        [(Op::MbarTryWait, Op::Load), (Op::Load, Op::MbarTryWait), (Op::MbarTryWait, Op::MbarTryWait)]
    {
        says(again(first, second), "TryWaitTagUnique");
    }
    again(Op::Load, Op::Cas).expect("answers come in order");
}

#[test]
fn the_tag_of_a_wait_is_free_when_its_answer_is_taken() {
    for port in ["response", "wake-up"] {
        let mut bench = Bench::new();
        for round in 0..3 {
            bench.tag = 0;
            bench.warp();
            let wait = WarpRequest {
                op: Op::MbarTryWait as u8,
                size: Size::U64 as u8,
                mask: 1,
                // Parity 1 names the complete previous phase, which is answered immediately. Parity 0 names
                // the current phase, so the request waits for its limit of ten cycles.
                lanes: vec![Lane { ra: 0, b: u128::from(port == "response") << 31, c: 10 }],
                ..WarpRequest::default()
            };
            wait.drive(&mut bench.i);
            // From the second round on, this cycle also takes the answer of the previous round.
            bench.clock().unwrap_or_else(|stop| panic!("{port}, round {round}: {stop}"));
            (bench.i.req_valid, bench.i.rsp_ready, bench.i.wake_ready) = (0, 0, 0);
            let answered = |bench: &Bench| (bench.machine.out().rsp_valid, bench.machine.out().wake_valid);
            bench.clock().expect("nothing is wrong");
            while answered(&bench) == (0, 0) {
                bench.clock().expect("nothing is wrong");
                assert!(bench.machine.cycles() < 500, "no answer");
            }
            assert_eq!(answered(&bench), if port == "response" { (1, 0) } else { (0, 1) }, "{port}");
            (bench.i.rsp_ready, bench.i.wake_ready) = (1, 1);
        }
    }
}
