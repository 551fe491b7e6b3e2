//! Mbarrier objects: accepted observations of full warps, and the message for each kind of error.

use crate::serial;

use atoms_ops::{Fault, Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, GoesFirst, Response, SerialRequest};
use serial::{Machine, object};

const GEOMETRY: Geometry = Geometry { lanes: 32, banks: 32, rows: 64, xor_hash: false };
/// Byte 0x40 of the allocation is word 16 of memory.
const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 1024, rank: 0 };

fn request(op: Op, red: bool, lanes: &[(usize, u128)]) -> SerialRequest {
    let mut req = SerialRequest { op: op as u8, size: Size::U64 as u8, red, ..SerialRequest::default() };
    for &(lane, b) in lanes {
        req.mask |= 1 << lane;
        (req.ra[lane], req.b[lane]) = (0x40, b);
    }
    req
}

fn checker(word: u64) -> Checker {
    let mut checker = Checker::new(GEOMETRY);
    checker.set_allocation(0, Some(ALLOCATION));
    checker.set_word(16, word as u32);
    checker.set_word(17, (word >> 32) as u32);
    checker
}

fn after(word: u64) -> [(u32, u32); 2] {
    [(16, word as u32), (17, (word >> 32) as u32)]
}

/// Verdict on a request without results. Each lane from lane 0 on has one of these Rb; `left` is the final
/// object.
fn verdict(op: Op, before: u64, operands: &[u128], left: u64) -> String {
    let lanes: Vec<_> = operands.iter().copied().enumerate().collect();
    let req = request(op, true, &lanes);
    let verdict = checker(before).request(&req, &Response::default(), Some(&after(left)));
    verdict.map_or_else(|rejection| rejection.to_string(), |()| "accepted".to_owned())
}

const fn init_sm80(count: u64, phase: u64) -> u64 {
    phase << 63 | (0x8000_0000 - count) << 32 | (0x4000_0000 - count)
}

type Fields = (i64, i64, i64, u64);

struct Row {
    rule: &'static str,
    op: Op,
    before: Fields,
    operands: &'static [u128],
    left: Fields,
    says: &'static str,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Objects are given as (expected, pending, tx, phase).
    Row { rule: "phase advanced twice", op: Op::MbarArrive,
        before: (1, 1, 0, 0), operands: &[0], left: (1, 1, 0, 0),
        says: "MBAR.ARRIVE of lane 0 found 0x40 at phase 0, expected 1, pending 1, tx 0 (0x7ffff800001ffffe) and left phase 0, expected 1, pending 1, tx 0 (0x7ffff800001ffffe), but every order of the lanes leaves phase 1, expected 1, pending 1, tx 0 (0xfffff800001ffffe): the parity does not match the number of completed phases (spec 6.4)" },
    Row { rule: "phase advanced early with tx outstanding", op: Op::MbarCompleteTx,
        before: (2, 0, 64, 0), operands: &[16, 16], left: (2, 2, 32, 1),
        says: "MBAR.COMPLETE_TX of lanes 0 and 1 found 0x40 at phase 0, expected 2, pending 0, tx 64 (0x3fff81ffffc) and left phase 1, expected 2, pending 2, tx 32 (0xfffff3fffc1ffffc), but every order of the lanes leaves phase 0, expected 2, pending 0, tx 32 (0x3fffc1ffffc): the phase advanced early, with a pending count of 0 and a tx-count of 32 (spec 6.4)" },
    Row { rule: "phase advanced with arrivals pending", op: Op::MbarArrive,
        before: (3, 3, 0, 1), operands: &[0, 0], left: (3, 3, 0, 0),
        says: "MBAR.ARRIVE of lanes 0 and 1 found 0x40 at phase 1, expected 3, pending 3, tx 0 (0xffffe800001ffffa) and left phase 0, expected 3, pending 3, tx 0 (0x7fffe800001ffffa), but every order of the lanes leaves phase 1, expected 3, pending 1, tx 0 (0xfffff800001ffffa): the phase advanced early, with a pending count of 1 and a tx-count of 0 (spec 6.4)" },
    Row { rule: "an arrive lost", op: Op::MbarArriveCount,
        before: (9, 9, 0, 0), operands: &[2, 2, 2], left: (9, 5, 0, 0),
        says: "MBAR.ARRIVE_COUNT of lanes 0, 1 and 2 found 0x40 at phase 0, expected 9, pending 9, tx 0 (0x7fffb800001fffee) and left phase 0, expected 9, pending 5, tx 0 (0x7fffd800001fffee), but every order of the lanes leaves phase 0, expected 9, pending 3, tx 0 (0x7fffe800001fffee): the pending count is wrong (spec 6.3)" },
    Row { rule: "a transaction lost", op: Op::MbarExpectTx,
        before: (1, 1, 0, 0), operands: &[8, 16], left: (1, 1, 16, 0),
        says: "MBAR.EXPECT_TX of lanes 0 and 1 found 0x40 at phase 0, expected 1, pending 1, tx 0 (0x7ffff800001ffffe) and left phase 0, expected 1, pending 1, tx 16 (0x7ffffbfffe1ffffe), but every order of the lanes leaves phase 0, expected 1, pending 1, tx 24 (0x7ffffbfffd1ffffe): the tx-count is wrong (spec 6.3)" },
    Row { rule: "expect_tx completes nothing", op: Op::MbarExpectTx,
        before: (1, 0, -8, 0), operands: &[8], left: (1, 0, 0, 0),
        says: "MBAR.EXPECT_TX of lane 0 found 0x40 at phase 0, expected 1, pending 0, tx -8 (0x11ffffe) and left phase 0, expected 1, pending 0, tx 0 (0x1ffffe), but every order of the lanes leaves phase 1, expected 1, pending 1, tx 0 (0xfffff800001ffffe): no arrival and no transaction is pending, but the phase did not advance (spec 6.4)" },
    Row { rule: "phase not advanced though complete", op: Op::MbarArriveCount,
        before: (4, 4, 0, 0), operands: &[1, 3], left: (4, 0, 0, 0),
        says: "MBAR.ARRIVE_COUNT of lanes 0 and 1 found 0x40 at phase 0, expected 4, pending 4, tx 0 (0x7fffe000001ffff8) and left phase 0, expected 4, pending 0, tx 0 (0x1ffff8): no arrival and no transaction is pending, but the phase did not advance (spec 6.4)" },
    Row { rule: "phase not advanced by a single lane", op: Op::MbarArriveCount,
        before: (4, 4, 0, 0), operands: &[4], left: (4, 0, 0, 0),
        says: "MBAR.ARRIVE_COUNT of lane 0 found 0x40 at phase 0, expected 4, pending 4, tx 0 (0x7fffe000001ffff8) and left phase 0, expected 4, pending 0, tx 0 (0x1ffff8), but every order of the lanes leaves phase 1, expected 4, pending 4, tx 0 (0xffffe000001ffff8): no arrival and no transaction is pending, but the phase did not advance (spec 6.4)" },
    Row { rule: "drop not counted in the next phase", op: Op::MbarArriveDrop,
        before: (3, 1, 0, 0), operands: &[0], left: (3, 3, 0, 1),
        says: "MBAR.ARRIVE_DROP of lane 0 found 0x40 at phase 0, expected 3, pending 1, tx 0 (0x7ffff800001ffffa) and left phase 1, expected 3, pending 3, tx 0 (0xffffe800001ffffa), but every order of the lanes leaves phase 1, expected 2, pending 2, tx 0 (0xfffff000001ffffc): the expected count is wrong (spec 6.3)" },
    Row { rule: "drop counted too late for the next phase", op: Op::MbarArriveDrop,
        before: (3, 1, 0, 0), operands: &[0], left: (2, 3, 0, 1),
        says: "MBAR.ARRIVE_DROP of lane 0 found 0x40 at phase 0, expected 3, pending 1, tx 0 (0x7ffff800001ffffa) and left phase 1, expected 2, pending 3, tx 0 (0xffffe800001ffffc), but every order of the lanes leaves phase 1, expected 2, pending 2, tx 0 (0xfffff000001ffffc): the phase completed, but the pending count did not restart at the expected count (spec 6.4)" },
    Row { rule: "completion without reload", op: Op::MbarArrive,
        before: (2, 2, 0, 0), operands: &[0, 0], left: (2, 0, 0, 1),
        says: "MBAR.ARRIVE of lanes 0 and 1 found 0x40 at phase 0, expected 2, pending 2, tx 0 (0x7ffff000001ffffc) and left phase 1, expected 2, pending 0, tx 0 (0x80000000001ffffc), but every order of the lanes leaves phase 1, expected 2, pending 2, tx 0 (0xfffff000001ffffc): the phase completed, but the pending count did not restart at the expected count (spec 6.4)" },
    Row { rule: "tx not waited for by arrive.expect_tx", op: Op::MbarArriveExpectTx,
        before: (1, 1, 0, 0), operands: &[16], left: (1, 1, 16, 1),
        says: "MBAR.ARRIVE.EXPECT_TX of lane 0 found 0x40 at phase 0, expected 1, pending 1, tx 0 (0x7ffff800001ffffe) and left phase 1, expected 1, pending 1, tx 16 (0xfffffbfffe1ffffe), but every order of the lanes leaves phase 0, expected 1, pending 0, tx 16 (0x3fffe1ffffe): the phase advanced early, with a pending count of 0 and a tx-count of 16 (spec 6.4)" },
];

#[test]
fn every_row_is_rejected_in_its_words() {
    for row in ROWS {
        let word = |(expected, pending, tx, phase): Fields| object(expected, pending, tx, phase);
        let said = verdict(row.op, word(row.before), row.operands, word(row.left));
        assert_eq!(said, row.says, "{}", row.rule);
    }
}

#[test]
fn fields_of_another_width_run_into_the_lock_and_the_pending_count() {
    // tx 1 minus 2 would borrow from bit 42 if the tx-count had 22 bits, and from the pending count if it had
    // 23 bits.
    let before = object(1, 5, 1, 0);
    let lock = object(1, 5, -1, 0) | 1 << 42;
    assert_eq!(
        verdict(Op::MbarCompleteTx, before, &[2], lock),
        "MBAR.COMPLETE_TX of lane 0 found 0x40 at phase 0, expected 1, pending 5, tx 1 (0x7fffdbfffffffffe) and left \
         phase 0, expected 1, pending 5, tx -1, lock 1 (0x7fffdc00003ffffe), but every order of the lanes leaves phase 0, \
         expected 1, pending 5, tx -1 (0x7fffd800003ffffe): the lock or the layout version changed, which no \
         operation touches (spec 6.2)"
    );
    let pending = object(1, 4, -1, 0);
    let said = verdict(Op::MbarCompleteTx, before, &[2], pending);
    assert!(said.ends_with("the pending count is wrong (spec 6.3)"), "{said}");
    let expected = object(2, 5, 1, 0);
    let said = verdict(Op::MbarArriveCount, before, &[0], expected);
    assert!(said.ends_with("the expected count is wrong (spec 6.3)"), "{said}");
    // A lane subtracts a count of 20 bits, or a tx-count of 21 bits.
    assert_eq!(verdict(Op::MbarArriveCount, before, &[1 << 20 | 1], object(1, 4, 1, 0)), "accepted");
    assert_eq!(verdict(Op::MbarCompleteTx, before, &[1 << 21 | 2], object(1, 5, -1, 0)), "accepted");
    assert_eq!(verdict(Op::MbarCompleteTx, before, &[1 << 20], object(1, 5, 1 - (1 << 20), 0)), "accepted");
}

#[test]
fn states_are_those_of_some_order() {
    let before = object(3, 3, 0, 0);
    let say = |states: &[(usize, u64)], left: u64| {
        let lanes: Vec<_> = states.iter().map(|&(lane, _)| (lane, 0)).collect();
        let req = request(Op::MbarArrive, false, &lanes);
        let mut resp = Response::default();
        states.iter().for_each(|&(lane, state)| resp.rd[lane] = state.into());
        let verdict = checker(before).request(&req, &resp, Some(&after(left)));
        verdict.map_or_else(|rejection| rejection.to_string(), |()| "accepted".to_owned())
    };
    let state = |word: u64| word >> 32 << 32;
    let two_left = object(3, 2, 0, 0);
    assert_eq!(say(&[(3, state(two_left)), (7, state(before))], object(3, 1, 0, 0)), "accepted");
    assert_eq!(say(&[(3, state(before)), (7, state(before))], object(3, 1, 0, 0)), "accepted");
    assert_eq!(
        say(&[(3, state(before)), (7, state(before))], two_left),
        "MBAR.ARRIVE of lanes 3 and 7 found 0x40 at phase 0, expected 3, pending 3, tx 0 (0x7fffe800001ffffa) and left \
         phase 0, expected 3, pending 2, tx 0 (0x7ffff000001ffffa), but every order of the lanes leaves phase 0, \
         expected 3, pending 1, tx 0 (0x7ffff800001ffffa): the pending count is wrong (spec 6.3)"
    );
    assert_eq!(
        say(&[(3, state(two_left))], two_left),
        "lane 3 got the high word 0x7ffff000 of the object at 0x40 (phase 0, expected 3, pending 2, tx 0 \
         (0x7ffff000001ffffa)), but no order of the lanes leads there from phase 0, expected 3, pending 3, tx 0 \
         (0x7fffe800001ffffa), the object before the request (spec 6.6)"
    );
    assert_eq!(
        say(&[(3, before)], two_left),
        "lane 3 got 0x7fffe800001ffffa from 0x40: the low word of a returned state must be 0 (spec 6.6)"
    );
    assert_eq!(
        say(&[(3, state(before))], before),
        "MBAR.ARRIVE of lane 3 found 0x40 at phase 0, expected 3, pending 3, tx 0 (0x7fffe800001ffffa) and left phase \
         0, expected 3, pending 3, tx 0 (0x7fffe800001ffffa), but every order of the lanes leaves phase 0, expected \
         3, pending 2, tx 0 (0x7ffff000001ffffa): the pending count is wrong (spec 6.3)"
    );
}

#[test]
fn the_lane_that_is_wrong_is_named() {
    let before = object(7, 9, 0, 0);
    let says = |op, states: &[(usize, u128)]| {
        let lanes: Vec<_> = states.iter().map(|&(lane, _)| (lane, 1)).collect();
        let mut resp = Response::default();
        states.iter().for_each(|&(lane, state)| resp.rd[lane] = state);
        checker(before).request(&request(op, false, &lanes), &resp, None).unwrap_err().to_string()
    };
    let wide = says(Op::MbarArrive, &[(3, (before >> 32 << 32).into()), (5, 1 << 64)]);
    assert!(wide.starts_with("lane 5 got 0x10000000000000000 from 0x40: the low word"), "{wide}");
    // Results of lanes that arrive alone: the high word, and the lane's own bit.
    let alone = |lane: usize, state: u64| (lane, u128::from(state >> 32 << 32 | 1 << lane));
    let never = object(7, 20, 0, 0);
    let stuck = says(
        Op::MbarArriveNoComplete,
        &[alone(1, before), alone(2, never), alone(5, object(7, 8, 0, 0)), alone(6, object(7, 7, 0, 0))],
    );
    assert!(stuck.starts_with("lane 2 got the high word"), "{stuck}");
}

#[test]
fn a_full_warp_of_states_passes_through_completions() {
    let step = 13; // visits the lanes out of order
    for (expected, pending) in [(32, 32), (32, 40), (40, 20), (5, 3), (1, 1), (7, 31)] {
        for op in [Op::MbarArrive, Op::MbarArriveDrop, Op::MbarArriveExpectTx, Op::MbarArriveCount] {
            let lanes: Vec<_> = (0..32).map(|lane| (lane, if lane % 3 == 0 { 2 } else { 0 })).collect();
            let req = request(op, false, &lanes);
            let (mut machine, before) = (Machine::new(GEOMETRY, ALLOCATION), object(expected, pending, 0, 0));
            after(before).iter().for_each(|&(word, value)| machine.set_word(word, value));
            let order: Vec<usize> = (0..32).map(|i| i * step % 32).collect();
            let (resp, _) = machine.run(&req, &order);
            let left = [(16, machine.word(16)), (17, machine.word(17))];
            assert_eq!(
                checker(before).request(&req, &resp, Some(&left)),
                Ok(()),
                "{op} {expected} {pending}"
            );
            assert_eq!(checker(before).request(&req, &resp, None), Ok(()), "{op} {expected} {pending}");
        }
    }
}

#[test]
fn lanes_that_arrive_together_say_so() {
    let before = object(32, 32, 0, 0);
    let high = |pending: i64| u128::from(object(32, pending, 0, 0) >> 32) << 32;
    let say = |given: &[(usize, u128)], left: u64| {
        let lanes: Vec<_> = given.iter().map(|&(lane, _)| (lane, 2)).collect();
        let req = request(Op::MbarArriveNoComplete, false, &lanes);
        let mut resp = Response::default();
        given.iter().for_each(|&(lane, rd)| resp.rd[lane] = rd);
        let verdict = checker(before).request(&req, &resp, Some(&after(left)));
        verdict.map_or_else(|rejection| rejection.to_string(), |()| "accepted".to_owned())
    };
    let three_done = object(32, 26, 0, 0);
    // All lanes together, then one lane before the other two, then all one by one.
    assert_eq!(say(&[(0, high(32) | 7), (1, high(32) | 7), (2, high(32) | 7)], three_done), "accepted");
    assert_eq!(say(&[(0, high(30) | 5), (1, high(32) | 2), (2, high(30) | 5)], three_done), "accepted");
    assert_eq!(say(&[(0, high(30) | 1), (1, high(28) | 2), (2, high(32) | 4)], three_done), "accepted");
    assert_eq!(
        say(&[(0, high(32) | 7), (1, high(32) | 7), (2, high(32) | 3)], three_done),
        "lane 0 got 0x7fff000000000007 from 0x40: the low word must be the mask of the lanes that arrived together, \
         this lane included, and all of these lanes must get the same value (spec 6.8)"
    );
    assert!(say(&[(0, high(32) | 2), (1, high(32) | 2)], object(32, 28, 0, 0)).starts_with("lane 0 got"));
    assert!(say(&[(0, high(32) | 9)], object(32, 30, 0, 0)).starts_with("lane 0 got"));
    assert_eq!(
        say(&[(0, high(32) | 1), (1, high(32) | 2)], object(32, 28, 0, 0)),
        "lane 1 got the high word 0x7fff0000 of the object at 0x40 (phase 0, expected 32, pending 32, tx 0 \
         (0x7fff0000001fffc0)), but no order of the lanes leads there from phase 0, expected 32, pending 32, tx 0 \
         (0x7fff0000001fffc0), the object before the request (spec 6.6)"
    );
    assert!(
        say(&[(0, high(32) | 3), (1, high(32) | 3)], object(32, 30, 0, 0)).ends_with("(spec 6.3)"),
        "one of two lanes counted"
    );
}

#[test]
fn waits_are_told_how_the_object_stands() {
    let object = object(2, 1, 0, 1);
    let say = |op: Op, red: bool, pred: u32, rd: u128| {
        // Lane 0 tests parity 0, which is complete; lane 1 tests parity 1.
        let mut resp = Response { pred, ..Response::default() };
        resp.rd[0] = rd;
        let verdict =
            checker(object).request(&request(op, red, &[(0, 0), (1, 0x8000_0000)]), &resp, Some(&[]));
        verdict.map_or_else(|rejection| rejection.to_string(), |()| "accepted".to_owned())
    };
    for op in [Op::MbarTestWait, Op::MbarTryWait] {
        assert_eq!(say(op, false, 1, 0), "accepted");
        assert_eq!(say(op, true, 1, 0), "accepted");
        assert_eq!(
            say(op, false, 3, 0),
            "lane 1 tested the phase of parity 1 of the object at 0x40 and got predicate 1, but the object was \
             phase 1, expected 2, pending 1, tx 0 (0xfffff800001ffffc) (spec 6.5)"
        );
        assert!(say(op, false, 0, 0).starts_with("lane 0 tested"));
        assert_eq!(say(op, false, 1, 1), "lane 0 got 0x1 from a request that gives no results (spec 3)");
    }
    let verdict = checker(object).request(
        &request(Op::MbarTestWait, false, &[(0, 0)]),
        &Response { pred: 1, ..Response::default() },
        Some(&[(16, 1)]),
    );
    let says = "word 16 (byte 0x40) was written, but this request writes nothing: it only reads the object (spec 6.3)";
    assert_eq!(verdict.unwrap_err().to_string(), says);
}

#[test]
fn init_and_inval_give_what_they_give() {
    let (before, new) = (object(2, 1, 5, 1), object(4, 4, 0, 0));
    let mut resp = Response::default();
    resp.rd[3] = before.into();
    let req = request(Op::MbarInit, false, &[(3, new.into())]);
    assert_eq!(checker(before).request(&req, &resp, Some(&after(new))), Ok(()));
    assert!(checker(before).request(&req, &resp, Some(&after(before))).is_err(), "not written");
    let inval = request(Op::MbarInval, false, &[(3, 0)]);
    assert!(checker(before).request(&inval, &resp, Some(&[])).is_err(), "gives nothing");
    assert_eq!(checker(before).request(&inval, &Response::default(), Some(&[])), Ok(()));
    assert!(checker(before).request(&inval, &Response::default(), Some(&after(0))).is_err());
}

#[test]
fn objects_of_sm_80_are_two_words() {
    let run =
        |before: u64, count: usize, left: u64| verdict(Op::MbarArriveSm80, before, &vec![0; count], left);
    assert_eq!(run(init_sm80(2, 0), 2, init_sm80(2, 1)), "accepted");
    assert_eq!(run(init_sm80(2, 1), 4, init_sm80(2, 1)), "accepted");
    assert_eq!(
        run(init_sm80(2, 0), 2, init_sm80(2, 0)),
        "MBAR.ARRIVE.SM80 of lanes 0 and 1 found 0x40 at phase 0, expected 2, pending 2 (0x7ffffffe3ffffffe) and left \
         phase 0, expected 2, pending 2 (0x7ffffffe3ffffffe), but every order of the lanes leaves phase 1, expected \
         2, pending 2 (0xfffffffe3ffffffe): the parity does not match the number of completed phases (spec 6.2.1)"
    );
    let not_reloaded = 0x8000_0000_u64 << 32 | 0x3fff_fffe;
    let said = run(init_sm80(2, 0), 2, not_reloaded);
    assert!(said.contains("the pending count did not restart at the expected count"), "{said}");
    let said = run(init_sm80(3, 0), 2, init_sm80(3, 0) + (1 << 32));
    assert!(said.ends_with("the pending count is wrong (spec 6.2.1)"), "{said}");
    let said = run(init_sm80(3, 0), 1, init_sm80(3, 0) + (1 << 32) - 1);
    assert!(said.ends_with("the expected count is wrong (spec 6.2.1)"), "{said}");
    // The state is the whole word before the arrival. The carry changes only the phase.
    let mut resp = Response::default();
    (resp.rd[0], resp.rd[1]) = ((init_sm80(2, 1) + (1 << 32)).into(), init_sm80(2, 1).into());
    let req = request(Op::MbarArriveSm80, false, &[(0, 0), (1, 0)]);
    assert_eq!(checker(init_sm80(2, 1)).request(&req, &resp, Some(&after(init_sm80(2, 0)))), Ok(()));
    resp.rd.swap(0, 2);
    resp.rd[0] = resp.rd[1];
    resp.rd[2] = 0;
    let said = checker(init_sm80(2, 1)).request(&req, &resp, Some(&after(init_sm80(2, 0)))).unwrap_err();
    assert!(said.to_string().contains("an arrival was lost"), "{said}");
}

#[test]
fn the_cluster_knows_what_needs_no_result() {
    let legal = |op: Op, red: bool| {
        let mut req = request(op, red, &[(0, 1)]);
        req.cluster = true;
        let fault = Response { fault: Fault::Illegal, fault_addr: 0x40, ..Response::default() };
        match checker(object(9, 9, 9, 0)).request(&req, &fault, Some(&[])) {
            Ok(()) => false,
            Err(rejection) => {
                let says =
                    "expected no fault, got `illegal instruction` for lane 0 at 0x40 (spec 6.7)".to_owned();
                assert_eq!(rejection.to_string(), says);
                true
            }
        }
    };
    for code in Op::MbarInit as u8..=Op::MbarArriveSm80 as u8 {
        let op = Op::from_code(code).unwrap();
        assert!(!legal(op, false), "{op}");
        let never = [
            Op::MbarInit,
            Op::MbarInval,
            Op::MbarArriveNoComplete,
            Op::MbarArriveDropNoComplete,
            Op::MbarTestWait,
            Op::MbarTryWait,
        ];
        assert_eq!(legal(op, true), !never.contains(&op), "{op}");
    }
    let mut add = request(Op::Add, false, &[(0, 1)]);
    (add.size, add.cluster) = (Size::U32 as u8, true);
    assert_eq!(checker(0).request(&add, &Response::default(), Some(&[(16, 1)])), Ok(()));
}

#[test]
fn different_counts_leave_what_no_order_leaves() {
    let before = object(4, 3, 0, 0);
    assert_eq!(verdict(Op::MbarArriveCount, before, &[1, 2, 4], object(4, 4, 0, 0)), "accepted");
    assert_eq!(
        verdict(Op::MbarArriveCount, before, &[1, 2, 3], object(4, 4, 0, 1)),
        "MBAR.ARRIVE_COUNT of lanes 0, 1 and 2 found 0x40 at phase 0, expected 4, pending 3, tx 0 (0x7fffe800001ffff8) and \
         left phase 1, expected 4, pending 4, tx 0 (0xffffe000001ffff8): no order of the lanes leaves this object \
         (spec 4.5)"
    );
}

/// Even counts, so that no sum is odd. Each set of lanes is still a separate state of the search.
fn even_counts() -> Vec<u128> {
    (1..19).map(|bit| 1 << bit).collect()
}

/// An object for which the search visits too many states, and a result that no order leaves.
fn too_many_states() -> [u64; 2] {
    [object(3, (1 << 18) + 1, 0, 0), object(3, (1 << 18) + 1 + 3 - ((1 << 19) - 2), 0, 1)]
}

#[test]
fn too_many_orders_are_no_verdict() {
    let (counts, [before, left]) = (even_counts(), too_many_states());
    let sum = (1 << 19) - 2;
    let said = verdict(Op::MbarArriveCount, before, &counts, left);
    assert_eq!(
        said,
        "undecided: lanes 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and 17 at 0x40 pass through more than \
         65536 states of the object; use fewer different counts"
    );
    // An end that one of the first orders reaches is accepted all the same.
    let left = object(3, (1 << 18) + 1 - sum, 0, 0);
    assert_eq!(verdict(Op::MbarArriveCount, before, &counts, left), "accepted");
}

fn arrivals_of_even_counts() -> SerialRequest {
    let lanes: Vec<_> = even_counts().into_iter().enumerate().collect();
    request(Op::MbarArriveCount, true, &lanes)
}

#[test]
fn one_order_is_followed_however_many_there_are() {
    let [before, left] = too_many_states();
    let mut checker = checker(before);
    checker.set_goes_first(GoesFirst::Lowest);
    let verdict = checker.request(&arrivals_of_even_counts(), &Response::default(), Some(&after(left)));
    assert!(verdict.as_ref().is_err_and(|rejection| !rejection.is_undecided()), "{verdict:?}");
}

/// The word has two possible values. The verdict is undecided if the check of one value is, even if the other
/// value explains the observation.
#[test]
fn what_is_undecided_of_one_value_is_undecided() {
    let [before, left] = too_many_states();
    // From this object they do lead to `left`, because the phase is already over.
    let explains = object(3, (1 << 18) + 4, 0, 1);
    let verdict = |values: [u64; 2]| {
        let mut checker = checker(0);
        let exchange = request(Op::Exch, true, &[(0, values[0].into()), (1, values[1].into())]);
        checker.request(&exchange, &Response::default(), None).unwrap();
        checker.request(&arrivals_of_even_counts(), &Response::default(), Some(&after(left)))
    };
    assert_eq!(verdict([explains, explains ^ 1 << 42]), Ok(()));
    let undecided = verdict([explains, before]);
    assert!(undecided.as_ref().is_err_and(|rejection| rejection.is_undecided()), "{undecided:?}");
}
