//! Functions for a scoreboard that does not know the order of requests: words of a request, order of two requests, and
//! merged checkers.

use atoms_ops::{OPS, Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, GoesFirst, RequestTiming, Response, SerialRequest};

const GEOMETRY: Geometry = Geometry { lanes: 4, banks: 4, rows: 64, xor_hash: false };

/// A checker with two allocations: slot 0 from word 0 on, slot 1 from word 128 on.
fn checker() -> Checker {
    let mut checker = Checker::new(GEOMETRY);
    checker.set_allocation(0, Some(Allocation { base_row: 0, size_bytes: 512, rank: 0 }));
    checker.set_allocation(1, Some(Allocation { base_row: 32, size_bytes: 512, rank: 0 }));
    checker
}

/// A request of slot 0. Lane `n` accesses the address `addresses[n]`.
fn request(op: Op, size: Size, addresses: &[u32]) -> SerialRequest {
    let mask = (1 << addresses.len()) - 1;
    let mut req = SerialRequest { op: op as u8, size: size as u8, mask, ..SerialRequest::default() };
    req.ra[..addresses.len()].copy_from_slice(addresses);
    req
}

fn sorted(mut words: Vec<u32>) -> Vec<u32> {
    words.sort_unstable();
    words.dedup();
    words
}

#[test]
fn a_request_accesses_every_word_of_its_active_lanes() {
    let rows: &[(Size, &[u32], &[u32])] = &[
        (Size::U8, &[0x43, 0x44], &[16, 17]),
        (Size::U16, &[0x42], &[16]),
        (Size::U32, &[0x48, 0x40], &[16, 18]),
        (Size::U64, &[0x40], &[16, 17]),
        (Size::B128, &[0x40], &[16, 17, 18, 19]),
        (Size::U32, &[0x1fc], &[127]),
        (Size::U32, &[], &[]),
    ];
    for (size, addresses, words) in rows {
        let req = request(Op::Store, *size, addresses);
        assert_eq!(sorted(checker().accesses(&req)), *words, "{size} {addresses:x?}");
        assert_eq!(sorted(checker().may_write(&req)), *words, "{size} {addresses:x?}");
    }
    let mut req = request(Op::Store, Size::U32, &[0x40, 0x44, 0x48]);
    req.mask = 0b101;
    assert_eq!(sorted(checker().accesses(&req)), [16, 18], "lane 1 is not active");
    req.mask = 0b1_0001;
    assert_eq!(sorted(checker().accesses(&req)), [16], "lane 4 does not exist");
    req.slot = 1;
    assert_eq!(sorted(checker().accesses(&req)), [128 + 16], "slot 1 is another allocation");
}

#[test]
fn a_request_with_a_fault_accesses_no_word() {
    let beyond = request(Op::Store, Size::U32, &[0x40, 0x200]);
    let misaligned = request(Op::Store, Size::U32, &[0x40, 0x42]);
    let illegal = request(Op::Add, Size::U64, &[0x40]);
    let no_allocation = SerialRequest { slot: 2, ..request(Op::Store, Size::U32, &[0x40]) };
    for req in [beyond, misaligned, illegal, no_allocation] {
        assert_eq!(checker().accesses(&req), [], "{req:?}");
        assert_eq!(checker().may_write(&req), [], "{req:?}");
    }
}

#[test]
fn only_loads_waits_and_invals_write_no_word() {
    let reads = [Op::Load, Op::MbarInval, Op::MbarTestWait, Op::MbarTryWait];
    for row in OPS {
        let req = request(row.op, row.sizes[0], &[0x40]);
        let words = if reads.contains(&row.op) { Vec::new() } else { checker().accesses(&req) };
        assert_eq!(checker().may_write(&req), words, "{}", row.name);
        assert!(!checker().accesses(&req).is_empty(), "{}", row.name);
    }
}

type Pair = (&'static str, (Op, Size, &'static [u32]), (Op, Size, &'static [u32]), bool);

#[rustfmt::skip]
const PAIRS: &[Pair] = &[
    // rule                                    request                                 request                               order matters
    ("one word",                               (Op::Add, Size::U32, &[0x40]),          (Op::Add, Size::U32, &[0x40]),        true),
    ("the next word",                          (Op::Add, Size::U32, &[0x40]),          (Op::Add, Size::U32, &[0x44]),        false),
    ("two bytes of one word",                  (Op::Store, Size::U8, &[0x40]),         (Op::Store, Size::U8, &[0x43]),       true),
    ("bytes of two words",                     (Op::Store, Size::U8, &[0x43]),         (Op::Store, Size::U8, &[0x44]),       false),
    ("the second word of a pair",              (Op::Store, Size::U64, &[0x40]),        (Op::Add, Size::U32, &[0x44]),        true),
    ("the word after a pair",                  (Op::Store, Size::U64, &[0x40]),        (Op::Add, Size::U32, &[0x48]),        false),
    ("the word before a pair",                 (Op::Store, Size::U64, &[0x40]),        (Op::Add, Size::U32, &[0x3c]),        false),
    ("the last word of a quad",                (Op::Store, Size::B128, &[0x40]),       (Op::Add, Size::U32, &[0x4c]),        true),
    ("the pair after a quad",                  (Op::Store, Size::B128, &[0x40]),       (Op::Store, Size::U64, &[0x50]),      false),
    ("loads of one word",                      (Op::Load, Size::U32, &[0x40]),         (Op::Load, Size::U32, &[0x40]),       false),
    ("a load and a store",                     (Op::Load, Size::U32, &[0x40]),         (Op::Store, Size::U32, &[0x40]),      true),
    ("a load and a test of a phase",           (Op::Load, Size::U64, &[0x40]),         (Op::MbarTestWait, Size::U64, &[0x40]), false),
    ("the last lanes share a word",            (Op::Add, Size::U32, &[0, 4, 8, 0x40]), (Op::Add, Size::U32, &[0x80, 0x40]),  true),
    ("no lanes share a word",                  (Op::Add, Size::U32, &[0, 4, 8, 0x40]), (Op::Add, Size::U32, &[0x80, 0x44]),  false),
    ("a lane that is not active",              (Op::Add, Size::U32, &[0x44]),          (Op::Add, Size::U32, &[0x40, 0x48]),  false),
    ("no active lane",                         (Op::Add, Size::U32, &[]),              (Op::Add, Size::U32, &[0x40]),        false),
    ("a request with a fault",                 (Op::Add, Size::U32, &[0x40, 0x42]),    (Op::Add, Size::U32, &[0x40]),        false),
    ("CAST.SPINs at one bank",                 (Op::CastSpin, Size::U32, &[0x40]),     (Op::CastSpin, Size::U32, &[0x10]),   true),
    ("CAST.SPINs at two banks",                (Op::CastSpin, Size::U32, &[0x40]),     (Op::CastSpin, Size::U32, &[0x14]),   false),
    // Word 0 is in bank 0, as word 16 is.
    ("CAST.SPIN and CAST at one bank",         (Op::CastSpin, Size::U32, &[0x40]),     (Op::Cast, Size::U32, &[0]),          false),
    ("CAST.SPIN and CAST at one word",         (Op::CastSpin, Size::U32, &[0x40]),     (Op::Cast, Size::U32, &[0x40]),       true),
];

#[test]
fn order_matters_for_a_shared_word_that_is_written_or_a_shared_bank_of_cast_spin() {
    for (rule, a, b, matters) in PAIRS {
        let [a, b] = [a, b].map(|(op, size, addresses)| request(*op, *size, addresses));
        let checker = checker();
        assert_eq!(checker.order_matters(&a, &b), *matters, "{rule}");
        assert_eq!(checker.order_matters(&b, &a), *matters, "{rule}, exchanged");
    }
    let slot_1 = |address| SerialRequest { slot: 1, ..request(Op::Add, Size::U32, &[address]) };
    let slot_0 = request(Op::Add, Size::U32, &[0x40]);
    assert!(!checker().order_matters(&slot_0, &slot_1(0x40)), "equal addresses of two allocations");
}

#[test]
fn order_always_matters_for_the_rotating_policy() {
    let (a, b) = (request(Op::Add, Size::U32, &[0x40]), request(Op::Add, Size::U32, &[0x44]));
    for (policy, matters) in
        [(GoesFirst::Lowest, false), (GoesFirst::Highest, false), (GoesFirst::Rotating, true)]
    {
        let mut checker = checker();
        checker.set_goes_first(policy);
        assert_eq!(checker.order_matters(&a, &b), matters, "{policy:?}");
    }
}

/// A checker that has seen one lane store `value` into word 16.
fn stored(value: u32) -> Checker {
    let mut checker = checker();
    let mut req = request(Op::Store, Size::U32, &[0x40]);
    req.b[0] = value.into();
    checker.request(&req, &Response::default(), None).expect("a store");
    checker
}

/// True if the checker accepts a load of word 16 with this result.
fn loads(checker: &Checker, value: u32) -> bool {
    let mut resp = Response::default();
    resp.rd[0] = value.into();
    checker.clone().request(&request(Op::Load, Size::U32, &[0x40]), &resp, None).is_ok()
}

#[test]
fn a_merged_checker_accepts_either_value() {
    let mut merged = stored(5);
    assert!(merged.merge(&stored(7), true));
    assert_eq!(merged.possible(16), [5, 7]);
    assert_eq!([4, 5, 6, 7, 8].map(|value| loads(&merged, value)), [false, true, false, true, false]);
}

#[test]
fn without_widen_only_checkers_that_accept_the_same_merge() {
    let mut one = stored(5);
    assert!(one.merge(&stored(5), false));
    assert!(!one.merge(&stored(7), false));
    assert_eq!(one.possible(16), [5], "unchanged");
    let mut both = one.clone();
    assert!(both.merge(&stored(7), true));
    assert!(!one.merge(&both, false) && !both.clone().merge(&one, false));
    assert!(both.clone().merge(&both, false));
}

/// The checkers hold different words, so that a wrong merge would also show in memory.
#[track_caller]
fn do_not_merge(mut one: Checker, mut other: Checker) {
    assert!(one.clone().merge(&one.clone(), true) && other.clone().merge(&other.clone(), true));
    one.set_word(3, 1);
    other.set_word(3, 2);
    assert!(!one.clone().merge(&other, true) && !other.clone().merge(&one, true));
    assert!(!one.merge(&other, true) && one.possible(3) == [1], "unchanged");
}

#[test]
fn checkers_with_different_allocations_do_not_merge() {
    let mut other = checker();
    other.set_allocation(1, None);
    do_not_merge(checker(), other);
}

#[test]
fn checkers_with_different_numbers_of_requests_do_not_merge() {
    let mut other = checker();
    other.request(&request(Op::Load, Size::U32, &[0x40]), &Response::default(), None).expect("a load");
    do_not_merge(checker(), other);
}

#[test]
fn checkers_with_cast_spins_at_different_banks_do_not_merge() {
    let spin = |hold: Option<u32>, address| {
        let mut checker = checker();
        hold.into_iter().for_each(|hold| checker.set_spin_hold(hold));
        let mut req = request(Op::CastSpin, Size::U32, &[address]);
        req.b[0] = 1;
        checker.request(&req, &Response::default(), None).expect("the comparison fails");
        checker
    };
    do_not_merge(spin(Some(4), 0x40), spin(Some(4), 0x44));
    assert!(spin(Some(4), 0x40).merge(&spin(Some(4), 0x50), false), "one bank");
    assert!(spin(None, 0x40).merge(&spin(None, 0x44), false), "fairness is not judged");
}

/// A checker with a wait of request 0, which tests the incomplete phase of an object of zeros.
fn waiting(cycle: u64) -> Checker {
    let mut checker = checker();
    checker.set_try_wait_limit(10);
    let mut wait = request(Op::MbarTryWait, Size::U64, &[0x40]);
    wait.c[0] = 100;
    checker.accept(0, cycle, &wait);
    checker
}

#[test]
fn checkers_with_different_waits_do_not_merge() {
    do_not_merge(checker(), waiting(20));
    do_not_merge(waiting(20), waiting(21));
    assert!(waiting(20).merge(&waiting(20), false));
}

#[test]
fn checkers_with_different_quiet_cycles_merge_only_without_waits() {
    let quiet = |mut checker: Checker, to| {
        checker.quiet(30, to).expect("no wait is due");
        checker
    };
    do_not_merge(quiet(waiting(20), 40), quiet(waiting(20), 41));
    assert!(quiet(waiting(20), 40).merge(&quiet(waiting(20), 40), false));
    assert!(quiet(checker(), 40).merge(&quiet(checker(), 41), false));
}

#[test]
fn checkers_with_different_cycles_of_an_answer_do_not_merge() {
    let answered = |answered| {
        let mut checker = waiting(20);
        let timing = RequestTiming { number: 0, answered, oldest_unanswered: None };
        let load = SerialRequest { cluster: true, ..request(Op::Load, Size::U32, &[0x80]) };
        checker.request_at(&timing, &load, &Response::default(), None).expect("a load");
        checker
    };
    do_not_merge(answered(30), answered(31));
    assert!(answered(30).merge(&answered(30), false));
}

/// A suspended wait counts as a request for the rotating policy.
#[test]
fn checkers_with_different_numbers_of_suspended_waits_do_not_merge() {
    let mut woken = waiting(20);
    woken.wake(0, 0, 200).expect("its limit has passed");
    assert!(!woken.is_waiting());
    do_not_merge(checker(), woken);
}

/// A wake-up without a known reason stays as a claim.
#[test]
fn checkers_with_different_wake_ups_do_not_merge() {
    let woken = |cycle| {
        let mut checker = waiting(20);
        checker.wake(0, 1, cycle).expect("judged later");
        checker
    };
    do_not_merge(woken(40), woken(41));
}
