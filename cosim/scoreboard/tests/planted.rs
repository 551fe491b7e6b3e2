//! Bugs in the outputs of the unit, which the scoreboard must reject.

use atoms_model::Config;
use atoms_model::port::Out;
use atoms_ops::{Op, Size};
use atoms_oracle::{Response, SerialRequest};
use atoms_scoreboard::{ClusterResponse, PortScoreboard, WarpResponse};
use atoms_stimulus::Profile;
use atoms_stimulus::request::{AllocationWrite, ClusterRequest};

use crate::bench::{Bench, Shared};

type Spoil = fn(&mut Out, &mut u64);

struct Planted {
    name: &'static str,
    profile: &'static str,
    /// Changes the outputs of a cycle; the number counts the events of the kind so far.
    spoil: Spoil,
    /// Clauses that may be named.
    clauses: &'static [&'static str],
}

/// True for event 40 of those for which `is` holds.
fn once(count: &mut u64, is: bool) -> bool {
    *count += u64::from(is);
    is && *count == 40
}

#[rustfmt::skip]
const PLANTED: &[Planted] = &[
    Planted { name: "a result", profile: "default", clauses: &["spec 4.2", "spec 4.5", "spec 3.5", "spec 3", "spec 6.6"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_rd[0] != 0) { out.rsp_rd[0] ^= 2 } },
    Planted { name: "a result that was 0", profile: "busy", clauses: &["spec 2.6", "spec 3", "spec 4.2", "spec 4.5"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_rd[5] == 0) { out.rsp_rd[5] = 1 } },
    Planted { name: "a predicate", profile: "default", clauses: &["spec 3", "spec 3.2", "spec 4.2", "spec 5.1", "spec 5.3", "spec 5.4", "spec 6.5"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_pred != 0) { out.rsp_pred ^= 1 << out.rsp_pred.trailing_zeros() } },
    Planted { name: "a fault", profile: "faults", clauses: &["spec 2.4", "spec 3.3", "spec 6.7"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_fault != 0) { out.rsp_fault = out.rsp_fault % 3 + 1 } },
    Planted { name: "the number of passes", profile: "default", clauses: &["spec 4.3"],
        spoil: |out, count| if once(count, out.rsp_valid == 1) { out.rsp_passes += 1 } },
    Planted { name: "a cluster result", profile: "default", clauses: &["spec 4.2", "spec 4.5", "spec 3.5", "spec 3"],
        spoil: |out, count| if once(count, out.cl_rsp_valid == 1 && out.cl_rsp_rd != 0) { out.cl_rsp_rd ^= 1 } },
    Planted { name: "a tag", profile: "default", clauses: &["spec 4.6"],
        spoil: |out, count| if once(count, out.cl_rsp_valid == 1) { out.cl_rsp_tag ^= 1 } },
    Planted { name: "a response without a request", profile: "busy", clauses: &["spec 4.6", "spec 4.7"],
        spoil: |out, count| if once(count, out.cl_rsp_valid == 0) { out.cl_rsp_valid = 1 } },
    Planted { name: "a wake-up that tells nothing", profile: "objects", clauses: &["spec 6.3", "spec 6.10", "spec 6.12"],
        spoil: |out, count| if once(count, out.wake_valid == 1 && out.wake_pred != 0) { out.wake_pred = 0 } },
    Planted { name: "a wake-up that is early", profile: "objects", clauses: &["spec 6.3", "spec 6.12"],
        spoil: |out, count| if once(count, out.wake_valid == 1 && out.wake_pred == 0) { out.wake_pred = 1 } },
    Planted { name: "the answer of the CTA table", profile: "default", clauses: &["spec 1.3"],
        spoil: |out, _| out.cta_reject ^= 1 },
];

#[test]
fn every_planted_bug_is_rejected_with_its_clause() {
    let small = Config { num_lanes: 8, num_banks: 8, num_rows: 64, num_cta_slots: 4, ..Config::default() };
    let mut missed = Vec::new();
    for Planted { name, profile, spoil, clauses } in PLANTED {
        for observed in [false, true] {
            // A change can be without effect for some requests, so that one of a few runs must show it.
            let rejected = (0..4).find_map(|seed| {
                let (mut bench, mut count) = (Bench::new(small, observed), 0);
                let named = Profile::named(profile).expect("a profile of this name");
                let trace = Shared::default();
                bench.scoreboard.record(Box::new(trace.clone())).expect("writes");
                let verdict = bench.run(named, 2000, seed, |out| spoil(out, &mut count)).err()?;
                bench.scoreboard.finish_recording().expect("a single order is left");
                let judged = atoms_record::check_trace(trace.take().as_slice());
                if !judged.as_ref().is_err_and(|error| error.is_verdict()) {
                    missed.push(format!("{name}, observed {observed}: {verdict}; its trace: {judged:?}"));
                }
                Some(verdict)
            });
            match rejected {
                Some(verdict) if clauses.contains(&verdict.rejection.clause()) => {
                    println!("{name}: {verdict}")
                }
                found => missed.push(format!("{name}, observed {observed}: {found:?}")),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A scoreboard with an addition of the warp port and one of the cluster port in flight, both to word 0.
fn two_additions() -> PortScoreboard {
    let mut scoreboard = PortScoreboard::new(&Config::default());
    let write = AllocationWrite { slot: 0, enable: true, base: 0, size: 4096, rank: 0 };
    scoreboard.table_write(0, &write).expect("it is accepted");
    let (op, size) = (Op::Add as u8, Size::U32 as u8);
    let warp = SerialRequest { op, size, mask: 1, b: [3; 32], ..SerialRequest::default() };
    scoreboard.warp_request(1, 5, warp).expect("it is accepted");
    let cluster = ClusterRequest { op, size, b: 1, ..ClusterRequest::default() };
    scoreboard.cluster_request(2, &cluster).expect("it is accepted");
    scoreboard
}

#[test]
fn a_missing_response_is_named_before_answers_that_depend_on_it() {
    let mut scoreboard = two_additions();
    // 3 is the value that the warp request left.
    let found = ClusterResponse { rd: 3, ..ClusterResponse::default() };
    scoreboard.cluster_response(9, found).expect("it is judged later");
    let verdict = scoreboard.finish(20, &[]).expect_err("the warp request has no response");
    assert_eq!((verdict.rejection.clause(), verdict.request.map(|of| of.tag)), ("spec 4.6", Some(5)));
}

#[test]
fn a_wrong_number_of_passes_is_named_if_one_order_explains_the_values() {
    let mut scoreboard = two_additions();
    // The cluster request executed first and left 1. The other order is tried first.
    let mut response = Response::default();
    response.rd[0] = 1;
    let found = WarpResponse { tag: 5, response, passes: Some(2), written: None };
    scoreboard.warp_response(8, found).expect("it is judged later");
    let verdict = scoreboard.cluster_response(9, ClusterResponse::default());
    let verdict = verdict.expect_err("the warp request took one pass");
    assert_eq!(verdict.rejection.clause(), "spec 4.3");
    scoreboard.finish(10, &[(0, 4)]).expect("the memory is known");
}

/// The response of the first cluster request is blocked. The second one executes in the new allocation of its slot.
#[test]
fn a_request_without_an_answer_may_have_executed_before_a_reset() {
    let mut scoreboard = PortScoreboard::new(&Config::default());
    let write = AllocationWrite { slot: 0, enable: true, base: 8, size: 4096, rank: 0 };
    let (op, size) = (Op::Add as u8, Size::U32 as u8);
    let cluster = ClusterRequest { op, size, b: 1, ..ClusterRequest::default() };
    let warp = SerialRequest { op, size, mask: 1, b: [3; 32], ..SerialRequest::default() };
    let mut response = Response::default();
    response.rd[0] = 1;
    let report = |scoreboard: &mut PortScoreboard| {
        scoreboard.table_write(0, &write)?;
        scoreboard.cluster_request(1, &cluster)?;
        scoreboard.table_write(2, &AllocationWrite { base: 0, ..write })?;
        scoreboard.cluster_request(3, &cluster)?;
        scoreboard.warp_request(4, 5, warp.clone())?;
        scoreboard.warp_response(8, WarpResponse { tag: 5, response, ..WarpResponse::default() })?;
        scoreboard.reset(9, None)
    };
    report(&mut scoreboard).expect("the second cluster request has executed");
}
