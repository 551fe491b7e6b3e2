//! Event sequences that no unit causes must end with a verdict, in bounded memory and time.

use atoms_model::Config;
use atoms_ops::{Op, Size};
use atoms_oracle::SerialRequest;
use atoms_scoreboard::{ClusterResponse, PortScoreboard, PortVerdict, WarpResponse};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest};

use crate::bench::Shared;

type Verdict = Result<(), Box<PortVerdict>>;

fn scoreboard() -> PortScoreboard {
    let config = Config { num_banks: 4, num_rows: 8, ..Config::default() };
    let mut scoreboard = PortScoreboard::new(&config);
    let write = AllocationWrite { slot: 0, enable: true, base: 0, size: 128, rank: 0 };
    scoreboard.table_write(0, &write).expect("it is accepted");
    scoreboard
}

/// A request of lane 0 to the word at this byte address.
fn warp(op: Op, address: u32, b: u128) -> SerialRequest {
    let size = if op == Op::MbarTryWait { Size::U64 } else { Size::U32 };
    let (op, size) = (op as u8, size as u8);
    SerialRequest { op, size, mask: 1, ra: [address; 32], b: [b; 32], ..SerialRequest::default() }
}

fn cluster(op: Op, red: bool, address: u32, b: u128) -> ClusterRequest {
    ClusterRequest { op: op as u8, size: Size::U32 as u8, red, addr: address, b, ..ClusterRequest::default() }
}

fn is_undecided(verdict: &Verdict) -> bool {
    verdict.as_ref().is_err_and(|verdict| verdict.rejection.is_undecided())
}

#[test]
fn endless_requests_or_events_without_an_answer_are_undecided() {
    type Event = fn(&mut PortScoreboard, u64) -> Verdict;
    let events: [(&str, usize, Event); 5] = [
        ("warp requests", 1 << 16, |to, cycle| to.warp_request(cycle, 1, warp(Op::Add, 0, 1))),
        ("waits", 1 << 16, |to, cycle| to.warp_request(cycle, 1, warp(Op::MbarTryWait, 0, 0))),
        ("cluster requests", 1 << 16, |to, cycle| to.cluster_request(cycle, &cluster(Op::Add, false, 0, 1))),
        ("events behind a response that waits", 1 << 20, |to, cycle| {
            if cycle == 1 {
                to.warp_request(cycle, 1, warp(Op::Add, 0, 1))?;
                to.cluster_request(cycle, &cluster(Op::Add, false, 0, 1))?;
                return to.cluster_response(cycle + 1, ClusterResponse::default());
            }
            to.quiet(cycle + 1, cycle + 1)
        }),
        ("words behind a response that waits", 1 << 20, |to, cycle| {
            if cycle == 1 {
                to.warp_request(cycle, 1, warp(Op::Add, 0, 1))?;
                to.cluster_request(cycle, &cluster(Op::Add, false, 0, 1))?;
                return to.cluster_response(cycle + 1, ClusterResponse::default());
            }
            to.set_words(cycle + 1, &[(5, 1)])
        }),
    ];
    for (name, most, event) in events {
        let mut scoreboard = scoreboard();
        let ended = (1..2 * most as u64).find(|cycle| is_undecided(&event(&mut scoreboard, *cycle)));
        assert!(ended.is_some_and(|calls| calls as usize > most / 2), "{name}: ended after {ended:?} calls");
        let stray = scoreboard.warp_response(1 << 40, WarpResponse { tag: 1, ..WarpResponse::default() });
        assert!(is_undecided(&stray), "{name}: later events are undecided, too: {stray:?}");
    }
}

#[test]
fn endless_posted_requests_are_judged_on_the_way() {
    let mut scoreboard = scoreboard();
    for cycle in 1..200_000 {
        scoreboard.cluster_request(cycle, &cluster(Op::Add, true, 0, 1)).expect("it has no response");
    }
    assert!(scoreboard.judged() > 195_000, "{}", scoreboard.judged());
    scoreboard.finish(200_000, &[(0, 199_999)]).expect("the sum");
}

/// A warp request without a result, and `posted` requests without a response, write word 0. Returns the verdict on the
/// response of the warp port.
fn exchanges(posted: u32, ended_by_response: bool, recorded: bool) -> (PortScoreboard, Verdict) {
    let mut scoreboard = scoreboard();
    if recorded {
        scoreboard.record(Box::new(Shared::default())).expect("writes");
    }
    scoreboard
        .warp_request(1, 1, SerialRequest { red: true, ..warp(Op::Exch, 0, 1 << 20) })
        .expect("accepted");
    for number in 0..posted {
        let request = cluster(Op::Exch, true, 0, number.into());
        scoreboard.cluster_request(2, &request).expect("it has no response");
    }
    if ended_by_response {
        scoreboard.cluster_request(3, &cluster(Op::Exch, false, 0, 1 << 21)).expect("accepted");
        let found = ClusterResponse { rd: u128::from(posted - 1), ..ClusterResponse::default() };
        scoreboard.cluster_response(8, found).expect("it is judged later");
    }
    let verdict = scoreboard.warp_response(9, WarpResponse { tag: 1, ..WarpResponse::default() });
    (scoreboard, verdict)
}

/// The warp request is before or behind each of the others: the search must not take a stack frame and a memory for each.
#[test]
fn a_search_of_many_orders_ends() {
    for recorded in [false, true] {
        let (_, verdict) = exchanges(30_000, false, recorded);
        assert!(is_undecided(&verdict), "{verdict:?}");
        let (mut scoreboard, verdict) = exchanges(900, true, recorded);
        verdict.expect("orders with equal state are merged");
        scoreboard.finish(10, &[(0, 1 << 21)]).expect("the last request of the cluster port");
    }
}

/// 80 requests have more orders than could be tried one by one, but few states.
#[test]
fn orders_with_equal_state_are_merged_during_a_search() {
    for recorded in [false, true] {
        let mut scoreboard = scoreboard();
        if recorded {
            scoreboard.record(Box::new(Shared::default())).expect("writes");
        }
        for number in 0..40 {
            let value = u128::from(number);
            let request = SerialRequest { red: true, ..warp(Op::Exch, 0, value) };
            scoreboard.warp_request(1, number, request).expect("accepted");
            scoreboard.cluster_request(1, &cluster(Op::Exch, true, 0, 100 + value)).expect("no response");
        }
        // Waits for all responses, and then needs every order of all requests.
        let write = AllocationWrite { slot: 0, enable: true, base: 0, size: 128, rank: 0 };
        scoreboard.table_write(2, &write).expect("accepted");
        for tag in 0..40 {
            scoreboard.warp_response(2, WarpResponse { tag, ..WarpResponse::default() }).expect("any order");
        }
        scoreboard.finish(9, &[(0, 139)]).expect("the last request of the cluster port");
        let wrong = scoreboard.finish(9, &[(0, 138)]).expect_err("overwritten in every order");
        assert_eq!(wrong.rejection.clause(), "spec 4.6");
    }
}

/// Two orders that leave different memory are possible until the end, so that no event can be recorded.
#[test]
fn a_recording_ends_if_two_orders_stay_possible() {
    let mut scoreboard = scoreboard();
    let trace = Shared::default();
    scoreboard.record(Box::new(trace.clone())).expect("writes");
    scoreboard.warp_request(1, 1, SerialRequest { red: true, ..warp(Op::Exch, 0, 7) }).expect("accepted");
    scoreboard.cluster_request(1, &cluster(Op::Exch, true, 0, 8)).expect("accepted");
    let answer = WarpResponse { tag: 1, ..WarpResponse::default() };
    scoreboard.warp_response(2, answer.clone()).expect("any order");
    scoreboard.quiet(9000, 9000).expect("the cluster request has executed");
    for cycle in 9000..150_000 {
        scoreboard.warp_request(cycle, 1, warp(Op::Add, 4, 0)).expect("accepted");
        scoreboard.warp_response(cycle, answer.clone()).expect("accepted");
    }
    let ended = scoreboard.finish_recording().expect_err("too many events wait for the recording");
    assert!(ended.to_string().starts_with("in cycle "), "{ended}");
    let judged = atoms_record::check_trace(trace.take().as_slice()).expect_err("the trace is not complete");
    assert!(!judged.is_verdict() && judged.to_string().ends_with(&ended.to_string()), "{judged}");
    scoreboard.finish(150_000, &[(0, 7)]).expect("one of the orders");
}

#[test]
fn cycles_that_overflow_are_undecided() {
    let mut scoreboard = scoreboard();
    scoreboard.quiet(0, u64::MAX >> 1).expect("the last cycle");
    let late = scoreboard.quiet(0, u64::MAX).expect_err("too large");
    assert!(late.rejection.is_undecided() && late.to_string().contains("too large"), "{late}");
}
