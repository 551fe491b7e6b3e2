//! Order of the lanes at one word (spec 4.2, 6.10, 6.11), for four lanes. The expected orders are computed by
//! hand.

use crate::serial;

use atoms_ops::{Fault, Op, Size};
use atoms_oracle::{
    Allocation, Checker, Geometry, GoesFirst, Merging, RequestTiming, Response, SerialRequest,
};
use serial::object;

const GEOMETRY: Geometry = Geometry { lanes: 4, banks: 4, rows: 64, xor_hash: false };
/// Byte 0x40 of the allocation is word 16 of memory.
const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 1024, rank: 0 };

/// A checker of a unit with this policy; `None` accepts any order.
fn checker(policy: impl Into<Option<GoesFirst>>) -> Checker {
    let mut checker = Checker::new(GEOMETRY);
    checker.set_allocation(0, Some(ALLOCATION));
    policy.into().inspect(|policy| checker.set_goes_first(*policy));
    checker
}

fn request(op: Op, size: Size, mask: u32) -> SerialRequest {
    SerialRequest { op: op as u8, size: size as u8, mask, ra: [0x40; 32], ..SerialRequest::default() }
}

/// Verdict on lanes that exchange word 16 in this order. Each lane writes its number plus 10.
fn exchange(checker: &mut Checker, order: &[usize]) -> String {
    let mask = order.iter().fold(0, |mask, lane| mask | 1 << lane);
    let (mut req, mut resp) = (request(Op::Exch, Size::U32, mask), Response::default());
    let mut word = checker.word(16);
    for &lane in order {
        req.b[lane] = lane as u128 + 10;
        resp.rd[lane] = word.into();
        word = lane as u32 + 10;
    }
    let verdict = checker.request(&req, &resp, Some(&[(16, word)]));
    verdict.map_or_else(|rejection| rejection.to_string(), |()| "accepted".to_owned())
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 3], [0, 3, 1], [1, 0, 3], [1, 3, 0], [3, 0, 1], [3, 1, 0]];

#[test]
fn a_request_has_one_order_under_each_policy() {
    let rotating = [[0, 1, 3], [1, 3, 0], [3, 0, 1], [3, 0, 1], [0, 1, 3], [1, 3, 0]];
    let policies = [
        (GoesFirst::Lowest, [[0, 1, 3]; 6]),
        (GoesFirst::Highest, [[3, 1, 0]; 6]),
        (GoesFirst::Rotating, rotating),
    ];
    for (policy, right) in policies {
        let mut checker = checker(policy);
        for (number, right) in right.iter().enumerate() {
            for order in &ORDERS {
                let accepted = exchange(&mut checker.clone(), order) == "accepted";
                assert_eq!(accepted, order == right, "{policy:?}, request {number}: {order:?}");
            }
            assert_eq!(exchange(&mut checker, right), "accepted");
        }
    }
    for order in &ORDERS {
        assert_eq!(exchange(&mut checker(None), order), "accepted", "no policy: {order:?}");
    }
}

#[test]
fn a_rejection_names_the_lane_that_goes_first() {
    let says = exchange(&mut checker(GoesFirst::Lowest), &[3, 1, 0]);
    let expected = "lane 0 got 0xb from 0x40, expected 0x0: of lanes 0, 1 and 3, lane 0 goes first and the others in ascending order \
                    (spec 4.2)";
    assert_eq!(says, expected);
    let says = exchange(&mut checker(GoesFirst::Highest), &[3, 0, 1]);
    let expected = "lane 1 got 0xa from 0x40, expected 0xd: of lanes 0, 1 and 3, lane 3 goes first and the others in descending order \
                    (spec 4.2)";
    assert_eq!(says, expected);
    let mut rotating = checker(GoesFirst::Rotating);
    assert_eq!(exchange(&mut rotating, &[2]), "accepted");
    let expected = "lane 1 got 0xa from 0x40, expected 0xc: of lanes 0 and 1, lane 1 goes first and the others in \
                    ascending order, then from lane 0 (spec 4.2)";
    assert_eq!(exchange(&mut rotating, &[0, 1]), expected);

    let mut req = request(Op::Cast, Size::U32, 0b11);
    req.c[..2].copy_from_slice(&[5, 6]);
    let mut resp = Response { pred: 0b10, ..Response::default() };
    resp.rd[1] = 1;
    let says = checker(GoesFirst::Lowest).request(&req, &resp, Some(&[(16, 6)])).unwrap_err().to_string();
    let expected = "lane 0 got predicate 0 at 0x40, but should have stored: of lanes 0 and 1, lane 0 goes first and the \
                    others in ascending order (spec 4.2)";
    assert_eq!(says, expected);
    let mut req = SerialRequest { red: true, ..request(Op::Exch, Size::U64, 0b11) };
    req.b[..2].copy_from_slice(&[5, 6]);
    let after = Some([(16, 6)].as_slice());
    let says =
        checker(GoesFirst::Highest).request(&req, &Response::default(), after).unwrap_err().to_string();
    let expected = "0x40 held 0x0 before the request and 0x6 after it, expected 0x5: of lanes 0 and 1, lane 1 goes first \
                    and the others in descending order (spec 4.2)";
    assert_eq!(says, expected);
}

#[test]
fn what_no_order_explains_is_said_as_without_a_policy() {
    let (mut req, mut resp) = (request(Op::Add, Size::U32, 0b11), Response::default());
    req.b[..2].copy_from_slice(&[1, 1]);
    resp.rd[..2].copy_from_slice(&[0, 0]);
    let says = checker(GoesFirst::Lowest).request(&req, &resp, Some(&[(16, 1)])).unwrap_err().to_string();
    assert_eq!(
        says,
        "lanes 0 and 1 all got 0x0 from 0x40, which held this value only once: one update was lost (spec 4.5)"
    );
}

/// NoComplete arrivals return the mask of lanes that arrived together: here each lane arrives alone (spec
/// 6.6, 6.8).
#[test]
fn arrivals_without_completion_come_in_order() {
    let arrive = |policy: Option<GoesFirst>, pending: [i64; 2]| {
        let mut checker = checker(policy);
        let words = |object: u64| [(16, object as u32), (17, (object >> 32) as u32)];
        words(object(7, 9, 0, 0)).into_iter().for_each(|(word, value)| checker.set_word(word, value));
        let mut req = request(Op::MbarArriveNoComplete, Size::U64, 0b11);
        req.b = [1; 32];
        let mut resp = Response::default();
        for (lane, pending) in pending.into_iter().enumerate() {
            resp.rd[lane] = u128::from(object(7, pending, 0, 0) >> 32 << 32 | 1 << lane);
        }
        checker
            .request(&req, &resp, Some(&words(object(7, 7, 0, 0))))
            .map_err(|rejection| rejection.to_string())
    };
    assert_eq!(arrive(Some(GoesFirst::Lowest), [9, 8]), Ok(()));
    assert_eq!(arrive(None, [8, 9]), Ok(()));
    let said = arrive(Some(GoesFirst::Lowest), [8, 9]).expect_err("lane 0 goes first");
    assert!(said.starts_with("lane 0 got 0x"), "{said}");
}

/// Every request advances the start of the rotation, whatever its result. A reset sets it to lane 0.
#[test]
fn rotation_moves_with_every_request() {
    let mut checker = checker(GoesFirst::Rotating);
    let start = |checker: &Checker| {
        let accepts = |order: &&[usize; 4]| exchange(&mut checker.clone(), *order) == "accepted";
        let orders = [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]];
        orders.iter().find(accepts).map(|order| order[0])
    };
    assert_eq!(start(&checker), Some(0));
    let nothing = Response::default();
    checker.request(&request(Op::Add, Size::U32, 0), &nothing, Some(&[])).expect("no lanes");
    assert_eq!(start(&checker), Some(1));
    let illegal = Response { fault: Fault::Illegal, fault_addr: 0x40, ..Response::default() };
    checker.request(&request(Op::Add, Size::B128, 1), &illegal, Some(&[])).expect("a fault");
    assert_eq!(start(&checker), Some(2));
    let posted = SerialRequest { cluster: true, red: true, ..request(Op::Add, Size::U32, 1) };
    checker.request(&posted, None, Some(&[])).expect("posted");
    assert_eq!(start(&checker), Some(3));
    checker.lost(&[request(Op::Add, Size::U32, 1)], &[]).expect("its response is lost");
    assert_eq!(start(&checker), Some(0));

    // A wait counts once: when a younger request is answered, or when it is woken.
    let answered = |number, answered| RequestTiming { number, answered, oldest_unanswered: None };
    let wait = SerialRequest { ra: [0x48; 32], ..request(Op::MbarTryWait, Size::U64, 1) };
    checker.set_try_wait_limit(1);
    (0..2).for_each(|number| checker.accept(number, 10, &wait));
    let load = request(Op::Load, Size::U32, 0);
    checker.request_at(&answered(1, 20), &load, &nothing, Some(&[])).expect("the second is answered");
    assert_eq!(start(&checker), Some(2), "the first is suspended");
    checker.wake(0, 0, 30).expect("its limit has passed");
    assert_eq!(start(&checker), Some(2));
    checker.accept(2, 31, &wait);
    checker.wake(2, 0, 40).expect("its limit has passed");
    assert_eq!(start(&checker), Some(3));
    checker.reset(&[], &[]).expect("nothing was written");
    checker.set_allocation(0, Some(ALLOCATION));
    assert_eq!(start(&checker), Some(0));
}

/// Two lanes arrive at an object that expects three arrivals. `states` holds the returned states, lane 0
/// first.
fn arrive(merging: bool, policy: GoesFirst, states: [u64; 2]) -> Result<(), String> {
    let mut checker = checker(policy);
    checker.set_merging(Merging { red: false, arrive: merging });
    let words = |word: u64| [(16, word as u32), (17, (word >> 32) as u32)];
    words(object(3, 3, 0, 0)).into_iter().for_each(|(word, value)| checker.set_word(word, value));
    let mut resp = Response::default();
    resp.rd[..2].copy_from_slice(&states.map(|word| u128::from(word >> 32 << 32)));
    let after = words(object(3, 1, 0, 0));
    let verdict = checker.request(&request(Op::MbarArrive, Size::U64, 0b11), &resp, Some(&after));
    verdict.map_err(|rejection| rejection.clause().to_owned())
}

#[test]
fn merged_arrivals_get_one_state_under_every_policy() {
    let [together, upwards, downwards] =
        [[3, 3], [3, 2], [2, 3]].map(|pending| pending.map(|pending| object(3, pending, 0, 0)));
    for policy in [GoesFirst::Lowest, GoesFirst::Highest, GoesFirst::Rotating] {
        assert_eq!(arrive(true, policy, together), Ok(()));
        assert_eq!(arrive(true, policy, upwards), Err("spec 6.11".to_owned()));
        assert_eq!(arrive(true, policy, downwards), Err("spec 6.11".to_owned()));
    }
    assert_eq!(arrive(false, GoesFirst::Highest, downwards), Ok(()));
    assert_eq!(arrive(false, GoesFirst::Highest, upwards), Err("spec 4.2".to_owned()));
    assert_eq!(arrive(false, GoesFirst::Highest, together), Err("spec 4.2".to_owned()));
}

#[test]
fn a_wait_has_the_limit_of_the_lane_that_goes_first() {
    let gives_up = |policy, limits: [u128; 2]| {
        let mut checker = checker(policy);
        let mut wait = request(Op::MbarTryWait, Size::U64, 0b11);
        wait.c[..2].copy_from_slice(&limits);
        checker.accept(0, 10, &wait);
        checker.wake(0, 0, 110).is_ok()
    };
    assert!(gives_up(GoesFirst::Lowest, [100, 500]) && !gives_up(GoesFirst::Lowest, [500, 100]));
    assert!(gives_up(GoesFirst::Highest, [500, 100]) && !gives_up(GoesFirst::Highest, [100, 500]));
    assert!(
        gives_up(GoesFirst::Rotating, [500, 100]) && gives_up(GoesFirst::Rotating, [100, 500]),
        "not known"
    );
}
