//! Posted requests: cluster requests that want no result get no response (spec 4.7).

use atoms_ops::{Fault, Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Response, SerialRequest};

fn checker() -> Checker {
    let mut checker = Checker::new(Geometry { lanes: 4, banks: 4, rows: 8, xor_hash: false });
    checker.set_allocation(0, Some(Allocation { base_row: 0, size_bytes: 64, rank: 0 }));
    checker
}

fn add(red: bool, imm: u32) -> SerialRequest {
    let (op, size) = (Op::Add as u8, Size::U32 as u8);
    let mut request = SerialRequest {
        op,
        size,
        red,
        cluster: true,
        mask: 1,
        absolute: true,
        imm,
        ..SerialRequest::default()
    };
    request.b[0] = 5;
    request
}

#[test]
fn a_posted_request_is_judged_by_what_it_leaves() {
    let mut checker = checker();
    checker.request(&add(true, 8), None, Some(&[(2, 5)])).unwrap();
    checker.request(&add(true, 8), None, None).unwrap();
    assert_eq!(checker.word(2), 10);
    checker.request(&add(true, 8), None, Some(&[])).expect_err("nothing was added");
    checker.request(&add(true, 8), None, Some(&[(2, 16)])).expect_err("6 were added");
}

#[test]
fn a_posted_request_without_a_fault_has_no_response() {
    let rejection = checker().request(&add(true, 8), &Response::default(), Some(&[(2, 5)])).unwrap_err();
    assert!(rejection.to_string().contains("is a posted request without a fault"), "{rejection}");
    assert_eq!((rejection.clause(), rejection.about()), ("spec 4.7", "answer"));
}

#[test]
fn a_posted_request_that_faults_has_one() {
    let mut checker = checker();
    let out_of_range =
        Response { fault: Fault::OutOfRange, fault_lane: 0, fault_addr: 64, ..Response::default() };
    assert!(checker.owes_response(&add(true, 64)) && !checker.owes_response(&add(true, 60)));
    checker.request(&add(true, 64), &out_of_range, Some(&[])).unwrap();
    let rejection = checker.request(&add(true, 64), None, Some(&[])).unwrap_err();
    assert!(rejection.to_string().contains("was never answered"), "{rejection}");
}

#[test]
fn what_is_not_posted_has_one() {
    let mut checker = checker();
    checker.request(&add(false, 8), None, Some(&[(2, 5)])).expect_err("it wants a result");
    let mut warp = add(true, 8);
    warp.cluster = false;
    checker.request(&warp, None, Some(&[(2, 5)])).expect_err("it came from a warp");
    let cas = SerialRequest { op: Op::Cas as u8, ..add(true, 8) };
    assert!(!cas.is_posted(), "a compare-and-store tells whether it stored (spec 3.2)");
}
