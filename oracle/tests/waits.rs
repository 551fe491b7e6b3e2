//! Suspended waits: accepted observations, and the message for each kind of wrong wake-up.

use crate::serial;

use atoms_ops::{Op, Size};
use atoms_oracle::{
    Allocation, Checker, Geometry, GoesFirst, Rejection, RequestTiming, Response, SerialRequest,
    WORK_OFF_CYCLES,
};
use serial::{heard, object};

const GEOMETRY: Geometry = Geometry { lanes: 32, banks: 32, rows: 64, xor_hash: false };
const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 1024, rank: 0 };

/// A checker with an object at byte 0x40. Counts the requests of the warp port.
struct Bench {
    checker: Checker,
    object: u64,
    number: u64,
}

fn wait(lanes: u32, parity: u128, limit: u128) -> SerialRequest {
    let (op, size) = (Op::MbarTryWait as u8, Size::U64 as u8);
    let mut req = SerialRequest { op, size, mask: lanes, ra: [0x40; 32], ..SerialRequest::default() };
    (req.b, req.c) = ([parity << 31; 32], [limit; 32]);
    req
}

impl Bench {
    fn new(expected: i64) -> Self {
        let mut checker = Checker::new(GEOMETRY);
        checker.set_allocation(0, Some(ALLOCATION));
        checker.set_try_wait_limit(1000);
        let object = object(expected, expected, 0, 0);
        checker.set_word(16, object as u32);
        checker.set_word(17, (object >> 32) as u32);
        Bench { checker, object, number: 0 }
    }

    /// Accepts a wait of lanes 0 and 1 for phase 0, and returns its number.
    fn waits(&mut self, cycle: u64, limit: u128) -> u64 {
        self.accepts(cycle, &wait(3, 0, limit))
    }

    fn accepts(&mut self, cycle: u64, req: &SerialRequest) -> u64 {
        self.checker.accept(self.number, cycle, req);
        self.number += 1;
        self.number - 1
    }

    /// Performs one arrival by a lane, as the next request of the port.
    fn arrives(&mut self, cycle: u64) -> Result<(), Rejection> {
        let number = self.number;
        self.number += 1;
        self.arrives_as(number, false, cycle, None)
    }

    fn arrives_as(
        &mut self,
        number: u64,
        cluster: bool,
        answered: u64,
        oldest_unanswered: Option<u64>,
    ) -> Result<(), Rejection> {
        let (op, size) = (Op::MbarArrive as u8, Size::U64 as u8);
        let req = SerialRequest {
            op,
            size,
            red: true,
            cluster,
            mask: 1,
            ra: [0x40; 32],
            ..SerialRequest::default()
        };
        let field = |at: u32| (1 << 20) - (self.object >> at & 0xf_ffff) as i64;
        let (expected, pending, phase) = (field(1), field(43) - 1, self.object >> 63);
        self.object = match pending {
            0 => object(expected, expected, 0, phase ^ 1),
            _ => object(expected, pending, 0, phase),
        };
        let after = [(16, self.object as u32), (17, (self.object >> 32) as u32)];
        let moment = RequestTiming { number, answered, oldest_unanswered };
        self.checker.request_at(&moment, &req, heard(&req, &Response::default()), Some(&after))
    }
}

fn says(verdict: Result<(), Rejection>) -> String {
    verdict.map_or_else(|rejection| rejection.to_string(), |()| "accepted".to_owned())
}

#[test]
fn a_wait_sleeps_until_its_phase_completes() {
    let mut bench = Bench::new(2);
    let number = bench.waits(10, 0);
    bench.arrives(20).unwrap();
    assert_eq!(bench.checker.quiet(11, 29), Ok(()), "one arrival is missing");
    bench.arrives(30).unwrap();
    assert_eq!(bench.checker.quiet(31, 34), Ok(()));
    assert_eq!(bench.checker.wake(number, 3, 35), Ok(()));
    assert!(!bench.checker.is_waiting());
    assert_eq!(bench.checker.finish_waits(), Ok(()));
}

#[test]
fn a_completion_may_show_after_the_wake_up() {
    let mut bench = Bench::new(1);
    let number = bench.waits(10, 0);
    assert_eq!(bench.checker.wake(number, 3, 20), Ok(()));
    assert_eq!(bench.arrives(25), Ok(()));
    assert!(!bench.checker.is_waiting(), "it has been explained");
}

#[test]
fn two_phases_later_it_may_still_be_woken() {
    let mut bench = Bench::new(1);
    let number = bench.waits(10, 0);
    bench.arrives(20).unwrap();
    bench.arrives(21).unwrap();
    assert_eq!(bench.checker.wake(number, 3, 22), Ok(()));
    assert!(!bench.checker.is_waiting());
}

#[test]
fn woken_too_early() {
    let expected = "wait 0 of lanes 0 and 1 was woken in cycle 20, too early: it waits for the phase of parity 0 of \
                    the object at 0x40, which was never complete; the object is phase 0, expected 3, pending 2, tx \
                    0 (0x7ffff000001ffffa) (spec 6.3)";
    // The wake-up is judged when every request accepted before it is answered ...
    let mut bench = Bench::new(3);
    let number = bench.waits(10, 0);
    bench.checker.wake(number, 3, 20).unwrap();
    assert_eq!(bench.arrives_as(1, false, 25, Some(20)), Ok(()), "another may complete it yet");
    let mut later = Bench { checker: bench.checker.clone(), ..bench };
    assert_eq!(later.checker.clone().quiet(26, 25 + WORK_OFF_CYCLES), Ok(()), "one may be under way");
    assert_eq!(says(later.checker.quiet(26, 26 + WORK_OFF_CYCLES)), expected, "none is under way");
    assert_eq!(says(bench.checker.finish_waits()), expected, "at the end");
    let said = says(bench.arrives_as(2, true, 30, Some(21)));
    assert_eq!(said, expected.replace("pending 2", "pending 1").replace("0x7ffff000", "0x7ffff800"));
    // ... and later events do not explain it.
    let mut bench = Bench::new(2);
    let number = bench.waits(10, 0);
    bench.checker.wake(number, 3, 20).unwrap();
    assert!(bench.arrives_as(1, false, 25, Some(30)).is_err());
}

#[test]
fn left_asleep() {
    let mut bench = Bench::new(2);
    bench.waits(10, 0);
    bench.arrives(20).unwrap();
    bench.arrives(30).unwrap();
    assert_eq!(bench.checker.quiet(31, 34), Ok(()));
    assert_eq!(
        says(bench.checker.quiet(35, 35)),
        "wait 0 of lanes 0 and 1 is still suspended in cycle 35: the phase of parity 0 of the object at 0x40 was \
         complete by cycle 30; the object is phase 1, expected 2, pending 2, tx 0 (0xfffff000001ffffc) (spec 6.3)"
    );
    assert!(!bench.checker.is_waiting(), "said once");
}

#[test]
fn a_busy_port_excuses_a_late_wake_up() {
    let mut bench = Bench::new(1);
    let (first, second) = (bench.waits(10, 0), bench.waits(11, 0));
    bench.arrives(20).unwrap();
    bench.checker.quiet(21, 23).unwrap();
    bench.checker.wake(first, 3, 24).unwrap();
    assert_eq!(bench.checker.quiet(30, 33), Ok(()), "24 to 29 were not quiet");
    assert_eq!(bench.checker.quiet(38, 41), Ok(()), "34 to 37 were not, without a wake-up");
    assert_eq!(bench.checker.wake(second, 3, 42), Ok(()));
}

#[test]
fn a_wait_not_worked_off_yet_is_no_sleeper() {
    // An older request completes the phase. The wait will find the phase complete, and there is still time
    // for its wake-up.
    let mut bench = Bench::new(1);
    bench.number = 1;
    let number = bench.waits(10, 0);
    bench.arrives_as(0, false, 20, None).unwrap();
    assert_eq!(bench.checker.quiet(21, 60), Ok(()));
    // Once a younger request is answered, the wait must have been answered, or is suspended without a reason.
    bench.arrives_as(2, false, 70, None).unwrap();
    assert_eq!(bench.checker.quiet(71, 74), Ok(()), "the cluster's are not counted");
    let said = says(bench.checker.quiet(75, 80));
    assert!(said.starts_with("wait 1 of lanes 0 and 1 is still suspended in cycle 80"), "{said}");
    assert_eq!(
        says(bench.checker.wake(number, 3, 90)),
        "a wake-up in cycle 90 is for wait 1, but no MBAR.TRY_WAIT with this number is unanswered (spec 6.3)"
    );
}

#[test]
fn a_lone_wait_is_missed_in_the_end() {
    let mut bench = Bench::new(1);
    bench.waits(10, 0);
    bench.arrives_as(7, true, 20, None).unwrap();
    assert_eq!(bench.checker.quiet(21, 20 + WORK_OFF_CYCLES), Ok(()));
    let said = says(bench.checker.quiet(21 + WORK_OFF_CYCLES, 30 + WORK_OFF_CYCLES));
    assert!(said.contains("is still suspended"), "{said}");
}

#[test]
fn gave_up_too_early() {
    let mut bench = Bench::new(2);
    let (named, default) = (bench.waits(10, 100), bench.waits(11, 0));
    assert_eq!(bench.checker.wake(named, 0, 110), Ok(()));
    assert_eq!(
        says(bench.checker.wake(default, 0, 111)),
        "wait 1 of lanes 0 and 1 at 0x40 timed out too early, 100 cycles after it was accepted; its limit is 1000 \
         (spec 6.10)"
    );
    // With different limits, any of them may apply.
    let mut req = wait(3, 0, 500);
    req.c[1] = 50;
    let either = bench.accepts(20, &req);
    assert_eq!(bench.checker.wake(either, 0, 70), Ok(()));
}

#[test]
fn a_lost_wake_up() {
    let mut bench = Bench::new(1);
    let number = bench.waits(10, 100);
    bench.arrives(109).unwrap();
    assert_eq!(
        says(bench.checker.wake(number, 0, 112)),
        "wait 0 of lanes 0 and 1 timed out in cycle 112, but needed a wake-up: the phase of parity 0 of the object \
         at 0x40 was complete by cycle 109, before its limit passed; the object is phase 1, expected 1, pending 1, \
         tx 0 (0xfffff800001ffffe) (spec 6.3)"
    );
    let mut bench = Bench::new(1);
    let number = bench.waits(10, 100);
    bench.arrives(110).unwrap();
    assert_eq!(bench.checker.wake(number, 0, 112), Ok(()), "the limit passed at the same time");
}

/// An expect_tx that makes the tx-count 0, with no arrival pending, completes the phase (spec 6.4) and wakes
/// the waiter.
#[test]
fn an_expect_tx_completes_a_wait() {
    let expects = |bench: &mut Bench, cycle: u64| {
        let before = object(1, 0, -8, 0);
        bench.checker.set_word(16, before as u32);
        bench.checker.set_word(17, (before >> 32) as u32);
        let number = bench.waits(10, 100);
        let (op, size) = (Op::MbarExpectTx as u8, Size::U64 as u8);
        let mut req = SerialRequest { op, size, red: true, mask: 1, ..SerialRequest::default() };
        (req.ra, req.b) = ([0x40; 32], [8; 32]);
        let left = object(1, 1, 0, 1);
        let after = [(16, left as u32), (17, (left >> 32) as u32)];
        let moment = RequestTiming { number: number + 1, answered: cycle, oldest_unanswered: None };
        let verdict = bench.checker.request_at(&moment, &req, &Response::default(), Some(&after));
        assert_eq!(verdict, Ok(()));
        number
    };
    let mut bench = Bench::new(1);
    let number = expects(&mut bench, 30);
    assert_eq!(bench.checker.wake(number, 3, 33), Ok(()));
    assert!(!bench.checker.is_waiting());
    let mut bench = Bench::new(1);
    let number = expects(&mut bench, 109);
    let said = says(bench.checker.wake(number, 0, 112));
    assert!(said.contains("timed out in cycle 112, but needed a wake-up"), "{said}");
}

#[test]
fn a_missed_limit() {
    let mut bench = Bench::new(9);
    bench.waits(10, 100);
    bench.arrives(40).unwrap();
    assert_eq!(bench.checker.quiet(41, 144), Ok(()), "it was suspended from cycle 40 on at the latest");
    assert_eq!(
        says(bench.checker.quiet(145, 145)),
        "wait 0 of lanes 0 and 1 at 0x40 missed its limit: unanswered 135 cycles after it was accepted, with a \
         limit of 100 (spec 6.10)"
    );
    let mut bench = Bench::new(9);
    bench.waits(10, 100);
    assert_eq!(bench.checker.quiet(11, WORK_OFF_CYCLES), Ok(()), "perhaps it is not worked off");
    let said = says(bench.checker.quiet(WORK_OFF_CYCLES, WORK_OFF_CYCLES + 115));
    assert!(said.contains("missed its limit"), "{said}");
}

#[test]
fn all_lanes_are_told_the_same() {
    let mut bench = Bench::new(1);
    let number = bench.waits(10, 0);
    assert_eq!(
        says(bench.checker.wake(number, 1, 20)),
        "wait 0 of lanes 0 and 1 at 0x40 was woken with predicates 0x1: its lanes test the same phase, so all of \
         them or none must get predicate 1 (spec 6.3)"
    );
}

#[test]
fn what_asks_different_questions_must_not_sleep() {
    let mut bench = Bench::new(1);
    let mut parities = wait(3, 0, 0);
    parities.b[1] = 1 << 31;
    let mut objects = wait(3, 0, 0);
    objects.ra[1] = 0x48;
    let mut faults = wait(3, 0, 0);
    faults.ra[1] = 0x44;
    for req in [parities, objects, faults] {
        let number = bench.accepts(10, &req);
        let said = says(bench.checker.wake(number, 3, 20));
        let says = "was woken in cycle 20, but must never be suspended: it faults, has no active lanes, or its \
                    lanes test different phases (spec 6.3)";
        assert!(said.ends_with(says), "{said}");
    }
}

#[test]
fn two_answers_to_one_wait() {
    let not_suspended =
        "a wake-up in cycle 21 is for wait 0, but no MBAR.TRY_WAIT with this number is unanswered (spec 6.3)";
    let mut bench = Bench::new(2);
    let number = bench.waits(10, 1);
    bench.checker.wake(number, 0, 20).unwrap();
    assert_eq!(says(bench.checker.wake(number, 0, 21)), not_suspended);

    let mut bench = Bench::new(2);
    let number = bench.waits(10, 0);
    let moment = RequestTiming { number, answered: 20, oldest_unanswered: None };
    bench.checker.request_at(&moment, &wait(3, 0, 0), &Response::default(), Some(&[])).unwrap();
    assert_eq!(says(bench.checker.wake(number, 3, 21)), not_suspended);
    assert_eq!(says(bench.checker.wake(9, 3, 21)), not_suspended.replace("wait 0", "wait 9"));
}

#[test]
fn never_answered() {
    let mut bench = Bench::new(3);
    bench.waits(10, 0);
    bench.arrives(20).unwrap();
    assert_eq!(
        says(bench.checker.finish_waits()),
        "MBAR.TRY_WAIT of lanes 0 and 1 at 0x40 was never answered: it waits for the phase of parity 0, and the object is \
         phase 0, expected 3, pending 2, tx 0 (0x7ffff000001ffffa) (spec 6.3)"
    );
    let add = SerialRequest { op: Op::Add as u8, mask: 4, ra: [0x44; 32], ..SerialRequest::default() };
    assert_eq!(
        bench.checker.never_answered(&add).to_string(),
        "ADD of lane 2 at 0x44 was never answered (spec 4.6)"
    );
}

#[test]
fn several_phases_in_one_request_excuse_a_wake_up() {
    // Two lanes complete two phases, so that the parity is as before.
    let mut bench = Bench::new(1);
    let number = bench.waits(10, 0);
    let (op, size) = (Op::MbarArrive as u8, Size::U64 as u8);
    let req = SerialRequest { op, size, red: true, mask: 3, ra: [0x40; 32], ..SerialRequest::default() };
    let moment = RequestTiming { number: 1, answered: 20, oldest_unanswered: None };
    let after = [(16, bench.object as u32), (17, (bench.object >> 32) as u32)];
    bench.checker.request_at(&moment, &req, &Response::default(), Some(&after)).unwrap();
    let said = says(bench.checker.clone().quiet(21, 60));
    assert!(said.contains("is still suspended"), "{said}");
    assert_eq!(bench.checker.wake(number, 3, 25), Ok(()));
    assert!(!bench.checker.is_waiting());

    // Two lanes arrive 2^19 times each. The pending count is the same as without a completion.
    let mut bench = Bench::new(1 << 19);
    let number = bench.waits(10, 0);
    let req = SerialRequest { op: Op::MbarArriveCount as u8, b: [1 << 19; 32], ..req };
    let after = [(16, bench.object as u32), (17, (bench.object >> 32) as u32)];
    bench.checker.request_at(&moment, &req, &Response::default(), Some(&after)).unwrap();
    assert_eq!(bench.checker.clone().quiet(21, 60), Ok(()), "the words alone do not tell");
    assert_eq!(bench.checker.wake(number, 3, 25), Ok(()));
    assert!(!bench.checker.is_waiting());
}

#[test]
fn a_store_completes_a_wait_that_is_worked_off_later() {
    let stored = |cluster| {
        let mut bench = Bench::new(2);
        bench.number = 1;
        bench.waits(10, 1 << 20);
        let (op, size) = (Op::Store as u8, Size::U32 as u8);
        let mut req =
            SerialRequest { op, size, cluster, mask: 1, ra: [0x44; 32], ..SerialRequest::default() };
        req.b[0] = 0xffff_f000;
        let moment = RequestTiming { number: 0, answered: 20, oldest_unanswered: None };
        bench.checker.request_at(&moment, &req, &Response::default(), Some(&[(17, 0xffff_f000)])).unwrap();
        says(bench.checker.quiet(21, 60 + WORK_OFF_CYCLES))
    };
    let said = stored(false);
    assert!(said.contains("is still suspended"), "{said}");
    assert_eq!(stored(true), "accepted", "suspended before it, the wait would not have ended by it");
}

#[test]
fn after_a_reset_limits_are_judged_as_before() {
    let mut bench = Bench::new(2);
    bench.checker.set_goes_first(GoesFirst::Lowest);
    bench.checker.reset(&[], &[]).unwrap();
    bench.checker.set_allocation(0, Some(ALLOCATION));
    let mut req = wait(3, 0, 0);
    req.c[1] = 50;
    let number = bench.accepts(10, &req);
    let said = says(bench.checker.wake(number, 0, 70));
    assert!(
        said.contains("timed out too early, 60 cycles after it was accepted; its limit is 1000"),
        "{said}"
    );
}

#[test]
fn a_store_to_an_object_wakes_nobody_for_certain() {
    let mut bench = Bench::new(2);
    let number = bench.waits(10, 100);
    let (op, size) = (Op::Store as u8, Size::U32 as u8);
    let mut req = SerialRequest { op, size, mask: 1, ra: [0x44; 32], ..SerialRequest::default() };
    req.b[0] = 0xffff_f000;
    let moment = RequestTiming { number: 1, answered: 20, oldest_unanswered: None };
    bench.checker.request_at(&moment, &req, &Response::default(), Some(&[(17, 0xffff_f000)])).unwrap();
    assert_eq!(bench.checker.quiet(21, 60), Ok(()), "nothing completed");
    let mut noticed = bench.checker.clone();
    assert_eq!(noticed.wake(number, 3, 61), Ok(()));
    assert!(!noticed.is_waiting());
    assert_eq!(bench.checker.wake(number, 0, 111), Ok(()));
}
