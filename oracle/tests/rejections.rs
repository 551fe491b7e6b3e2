//! Each row is one kind of error, and its message.

use atoms_ops::{Fault, Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Response, SerialRequest};

const GEOMETRY: Geometry = Geometry { lanes: 32, banks: 32, rows: 64, xor_hash: false };
/// Byte 0x40 of the allocation is word 16 of memory.
const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 1024, rank: 0 };

/// One lane of a row: lane, address, Rb, Rc, and Rd and predicate of the response.
type Lane = (usize, u32, u128, u128, u128, u32);

struct Row {
    rule: &'static str,
    op: Op,
    size: Size,
    red: bool,
    /// Words of memory before the request: (index, value).
    before: &'static [(u32, u32)],
    lanes: &'static [Lane],
    fault: (Fault, u8, u32),
    after: &'static [(u32, u32)],
    says: &'static str,
}

const OK: (Fault, u8, u32) = (Fault::None, 0, 0);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { rule: "a lost update", op: Op::Add, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(3, 0x40, 1, 0, 5, 0), (7, 0x40, 1, 0, 5, 0)], fault: OK, after: &[(16, 6)],
        says: "lanes 3 and 7 all got 0x5 from 0x40, which held this value only once: one update was lost (spec 4.5)" },
    Row { rule: "a duplicated return value", op: Op::Exch, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 6, 0, 5, 0), (1, 0x40, 7, 0, 6, 0), (2, 0x40, 8, 0, 6, 0)], fault: OK, after: &[(16, 8)],
        says: "lanes 1 and 2 all got 0x6 from 0x40, which held this value only once: one update was lost (spec 4.5)" },
    Row { rule: "a value that was never there", op: Op::Or, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 8, 0, 4, 0)], fault: OK, after: &[(16, 13)],
        says: "lane 0 got 0x4 from 0x40, which never held it: it held 0x5 before the request and no lane left 0x4 (spec 4.5)" },
    Row { rule: "lanes that only explain each other", op: Op::Exch, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 6, 0, 5, 0), (1, 0x40, 9, 0, 8, 0), (2, 0x40, 8, 0, 9, 0)], fault: OK, after: &[(16, 6)],
        says: "no order of the lanes leads from 0x5, the value before the request, to the values of lanes 1 and 2 at 0x40 (spec 4.5)" },
    Row { rule: "a wrong final value", op: Op::Max, size: Size::S32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 0xffff_ffff, 0, 5, 0)], fault: OK, after: &[(16, 0xffff_ffff)],
        says: "0x40 held 0x5 before the request and 0xffffffff after it, but every order of lane 0 leaves 0x5 (spec 4.5)" },
    Row { rule: "a wrong final value without results", op: Op::Inc, size: Size::U32, red: true, before: &[(16, 3)],
        lanes: &[(0, 0x40, 9, 0, 0, 0), (1, 0x40, 2, 0, 0, 0)], fault: OK, after: &[(16, 2)],
        says: "0x40 held 0x3 before the request and 0x2 after it, which no order of lanes 0 and 1 leaves (spec 4.5)" },
    Row { rule: "an exchange leaves an operand", op: Op::Exch, size: Size::U64, red: true, before: &[(16, 3)],
        lanes: &[(0, 0x40, 9, 0, 0, 0), (1, 0x40, 2, 0, 0, 0)], fault: OK, after: &[(16, 9), (17, 1)],
        says: "0x40 held 0x3 before the request and 0x100000009 after it, which no order of lanes 0 and 1 leaves (spec 4.5)" },
    Row { rule: "half a 64-bit store", op: Op::Store, size: Size::U64, red: false, before: &[],
        lanes: &[(0, 0x40, 0x2_0000_0001, 0, 0, 0)], fault: OK, after: &[(16, 1)],
        says: "0x40 held 0x0 before the request and 0x1 after it, but every order of lane 0 leaves 0x200000001 (spec 4.5)" },
    Row { rule: "a store without its predicate", op: Op::Cas, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 5, 0)], fault: OK, after: &[(16, 6)],
        says: "lane 0 compared 0x5 with 0x5 at 0x40, so its predicate must be 1, got 0 (spec 3)" },
    Row { rule: "a store by a failed lane", op: Op::Cas, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 4, 6, 5, 0)], fault: OK, after: &[(16, 6)],
        says: "0x40 held 0x5 before the request and 0x6 after it, but every order of lane 0 leaves 0x5 (spec 4.5)" },
    Row { rule: "two CASTs in place of one value", op: Op::Cast, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 1, 1), (1, 0x40, 5, 7, 1, 1)], fault: OK, after: &[(16, 7)],
        says: "lanes 0 and 1 got predicate 1 for a store that replaces 0x5 at 0x40, which held this value only once (spec 4.5)" },
    Row { rule: "a CAST that must store", op: Op::Cast, size: Size::U64, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 0, 0), (1, 0x40, 4, 6, 0, 0)], fault: OK, after: &[],
        says: "lane 0 reports a failed compare with 0x5, but 0x40 held 0x5 all the time (spec 4.5)" },
    Row { rule: "flag and predicate differ", op: Op::Cast, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 1, 0)], fault: OK, after: &[(16, 6)],
        says: "lane 0 got 0x1 in Rd but predicate 0; both must be 1 if the lane stored, else 0 (spec 3.2)" },
    Row { rule: "SPIN success without a store", op: Op::CastSpin, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 1, 1)], fault: OK, after: &[],
        says: "0x40 held 0x5 before the request and 0x5 after it, but every order of lane 0 leaves 0x6 (spec 4.5)" },
    Row { rule: "SPIN success over another value", op: Op::CastSpin, size: Size::U32, red: false, before: &[(16, 4)],
        lanes: &[(0, 0x40, 5, 6, 1, 1)], fault: OK, after: &[(16, 6)],
        says: "lane 0 got predicate 1 for a store that replaces 0x5 at 0x40, which held 0x4 (spec 5.3)" },
    Row { rule: "a store by a failed SPIN lane", op: Op::CastSpin, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 1, 1), (1, 0xc0, 0, 7, 0, 0)], fault: OK, after: &[(16, 6), (48, 7)],
        says: "0xc0 held 0x0 before the request and 0x7 after it, but every order of lane 1 leaves 0x0 (spec 4.5)" },
    Row { rule: "two winners in one bank", op: Op::CastSpin, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 1, 1), (1, 0xc0, 0, 7, 1, 1)], fault: OK, after: &[(16, 6), (48, 7)],
        says: "lanes 0 and 1 all report a store in bank group 16; CAST.SPIN selects only one lane of each bank group (spec 5.1)" },
    Row { rule: "two winners in one pair of banks", op: Op::CastSpin, size: Size::U64, red: false, before: &[],
        lanes: &[(0, 0x40, 0, 6, 1, 1), (1, 0xc0, 0, 7, 1, 1)], fault: OK, after: &[(16, 6), (48, 7)],
        says: "lanes 0 and 1 all report a store in bank group 16; CAST.SPIN selects only one lane of each bank group (spec 5.1)" },
    Row { rule: "no winner although every compare matches", op: Op::CastSpin, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 5, 6, 0, 0), (1, 0xc0, 0, 7, 0, 0)], fault: OK, after: &[],
        says: "lanes 0 and 1 did not store in bank group 16, but all their compares match, so the selected lane must store (spec 5.3)" },
    Row { rule: "a byte outside the access changed", op: Op::Store, size: Size::U8, red: false, before: &[(16, 0x1122_3344)],
        lanes: &[(0, 0x41, 0xff, 0, 0, 0)], fault: OK, after: &[(16, 0x1022_ff44)],
        says: "0x41 held 0x11223344 before the request and 0x1022ff44 after it, but every order of lane 0 leaves 0x1122ff44 (spec 4.5)" },
    Row { rule: "a word outside the access changed", op: Op::Add, size: Size::U32, red: false, before: &[(17, 3)],
        lanes: &[(0, 0x40, 1, 0, 0, 0)], fault: OK, after: &[(16, 1), (17, 4)],
        says: "word 17 (byte 0x44) was written, 0x3 before and 0x4 after, but no active lane accesses this word (spec 2.4)" },
    Row { rule: "a word outside the access written unchanged", op: Op::Add, size: Size::U32, red: false, before: &[(17, 3)],
        lanes: &[(0, 0x40, 1, 0, 0, 0)], fault: OK, after: &[(16, 1), (17, 3)],
        says: "word 17 (byte 0x44) was written, 0x3 before and 0x3 after, but no active lane accesses this word (spec 2.4)" },
    Row { rule: "a word beyond the memory", op: Op::Add, size: Size::U32, red: false, before: &[],
        lanes: &[(0, 0x40, 1, 0, 0, 0)], fault: OK, after: &[(16, 1), (2048, 3)],
        says: "word 2048 (byte 0x2000) was written, 0x0 before and 0x3 after, but no active lane accesses this word (spec 2.4)" },
    Row { rule: "a signed load extended with zeros", op: Op::Load, size: Size::S8, red: false, before: &[(16, 0x8000)],
        lanes: &[(4, 0x41, 0, 0, 0x80, 0)], fault: OK, after: &[],
        says: "lane 4 loaded 0x80 from 0x41, expected 0xffffff80 (spec 3.5)" },
    Row { rule: "a signed load extended beyond 32 bits", op: Op::Load, size: Size::S16, red: false, before: &[(16, 0x8000_0000)],
        lanes: &[(4, 0x42, 0, 0, 0xffff_ffff_ffff_8000, 0)], fault: OK, after: &[],
        says: "lane 4 loaded 0xffffffffffff8000 from 0x42, expected 0xffff8000 (spec 3.5)" },
    Row { rule: "a signed result extended beyond 32 bits", op: Op::Add, size: Size::S32, red: false, before: &[(16, 0xffff_ffff)],
        lanes: &[(4, 0x40, 0, 0, 0xffff_ffff_ffff_ffff, 0)], fault: OK, after: &[(16, 0xffff_ffff)],
        says: "lane 4 got 0xffffffffffffffff from 0x40, which never held it: it held 0xffffffff before the request and no lane left 0xffffffffffffffff (spec 4.5)" },
    Row { rule: "a load that writes", op: Op::Load, size: Size::U32, red: false, before: &[],
        lanes: &[(4, 0x40, 0, 0, 0, 0)], fault: OK, after: &[(16, 0)],
        says: "word 16 (byte 0x40) was written, but this request writes nothing: it is a load (spec 3.5)" },
    Row { rule: "a higher lane's store stayed", op: Op::Store, size: Size::U32, red: false, before: &[],
        lanes: &[(1, 0x40, 11, 0, 0, 0), (2, 0x40, 12, 0, 0, 0)], fault: OK, after: &[(16, 12)],
        says: "0x40 held 0x0 before the request and 0xc after it, but every order of lanes 1 and 2 leaves 0xb (spec 4.5)" },
    Row { rule: "POPC.INC off by one", op: Op::PopcInc, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(1, 0x40, 0, 0, 0, 0), (2, 0x40, 0, 0, 0, 0), (3, 0x44, 0, 0, 0, 0)], fault: OK, after: &[(16, 8), (17, 1)],
        says: "0x40 held 0x5 before the request and 0x8 after it, but every order of lanes 1 and 2 leaves 0x7 (spec 4.5)" },
    Row { rule: "POPC.INC gives nothing", op: Op::PopcInc, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(1, 0x40, 0, 0, 5, 0)], fault: OK, after: &[(16, 6)],
        says: "lane 1 got 0x5 from a request that gives no results (spec 3)" },
    Row { rule: "a result although Rd is RZ", op: Op::Add, size: Size::U32, red: true, before: &[(16, 5)],
        lanes: &[(1, 0x40, 1, 0, 5, 0)], fault: OK, after: &[(16, 6)],
        says: "lane 1 got 0x5 from a request that gives no results (spec 3)" },
    Row { rule: "a predicate from ADD", op: Op::Add, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(1, 0x40, 1, 0, 5, 1)], fault: OK, after: &[(16, 6)],
        says: "lane 1 got a predicate from an operation that returns no predicate (spec 3)" },
    Row { rule: "a fault not reported", op: Op::Add, size: Size::U32, red: false, before: &[],
        lanes: &[(1, 0x42, 1, 0, 0, 0)], fault: OK, after: &[],
        says: "expected `misaligned address` for lane 1 at 0x42, got no fault (spec 2.4)" },
    Row { rule: "a fault for nothing", op: Op::Add, size: Size::U32, red: false, before: &[],
        lanes: &[(1, 0x40, 1, 0, 0, 0)], fault: (Fault::OutOfRange, 1, 0x40), after: &[],
        says: "expected no fault, got `address out of range` for lane 1 at 0x40 (spec 2.4)" },
    Row { rule: "the wrong kind of fault: misaligned comes first", op: Op::Add, size: Size::U32, red: false, before: &[],
        lanes: &[(1, 0x402, 1, 0, 0, 0)], fault: (Fault::OutOfRange, 1, 0x402), after: &[],
        says: "expected `misaligned address` for lane 1 at 0x402, got `address out of range` for lane 1 at 0x402 (spec 2.4)" },
    Row { rule: "the wrong lane: the lowest is named", op: Op::Add, size: Size::U32, red: false, before: &[],
        lanes: &[(0, 0x40, 1, 0, 0, 0), (1, 0x400, 1, 0, 0, 0), (2, 0x41, 1, 0, 0, 0)], fault: (Fault::Misaligned, 2, 0x41), after: &[],
        says: "expected `address out of range` for lane 1 at 0x400, got `misaligned address` for lane 2 at 0x41 (spec 2.4)" },
    Row { rule: "the wrong address of a fault", op: Op::Add, size: Size::U32, red: false, before: &[],
        lanes: &[(1, 0x0100_0040, 1, 0, 0, 0)], fault: (Fault::OutOfRange, 1, 0x40), after: &[],
        says: "expected `address out of range` for lane 1 at 0x1000040, got `address out of range` for lane 1 at 0x40 (spec 2.4)" },
    Row { rule: "an illegal size carried out", op: Op::Inc, size: Size::U64, red: false, before: &[],
        lanes: &[(6, 0x40, 1, 0, 0, 0)], fault: OK, after: &[(16, 1)],
        says: "expected `illegal instruction` for lane 6 at 0x40, got no fault (spec 3.3)" },
    Row { rule: "illegal comes before misaligned", op: Op::Inc, size: Size::U64, red: false, before: &[],
        lanes: &[(6, 0x41, 1, 0, 0, 0)], fault: (Fault::Misaligned, 6, 0x41), after: &[],
        says: "expected `illegal instruction` for lane 6 at 0x41, got `misaligned address` for lane 6 at 0x41 (spec 3.3)" },
    Row { rule: "a fault that touched memory", op: Op::Add, size: Size::U32, red: false, before: &[],
        lanes: &[(0, 0x40, 1, 0, 0, 0), (1, 0x42, 1, 0, 0, 0)], fault: (Fault::Misaligned, 1, 0x42), after: &[(16, 1)],
        says: "word 16 (byte 0x40) was written, but this request writes nothing: it ends with the fault `misaligned address` (spec 2.4)" },
    Row { rule: "results beside a fault", op: Op::Add, size: Size::U32, red: false, before: &[(16, 5)],
        lanes: &[(0, 0x40, 1, 0, 5, 0), (1, 0x42, 1, 0, 0, 0)], fault: (Fault::Misaligned, 1, 0x42), after: &[],
        says: "lane 0 got a result or a predicate from a request that ends with `misaligned address`; a fault gives none (spec 2.4)" },
];

#[test]
fn every_row_is_rejected_in_its_words() {
    for row in ROWS {
        let (mut checker, mut req, mut resp) =
            (Checker::new(GEOMETRY), SerialRequest::default(), Response::default());
        checker.set_allocation(0, Some(ALLOCATION));
        row.before.iter().for_each(|&(word, value)| checker.set_word(word, value));
        (req.op, req.size, req.red) = (row.op as u8, row.size as u8, row.red);
        for &(lane, ra, b, c, rd, pred) in row.lanes {
            req.mask |= 1 << lane;
            (req.ra[lane], req.b[lane], req.c[lane], resp.rd[lane]) = (ra, b, c, rd);
            resp.pred |= pred << lane;
        }
        (resp.fault, resp.fault_lane, resp.fault_addr) = row.fault;
        let rejection = checker.request(&req, &resp, Some(row.after)).expect_err(row.rule);
        assert_eq!(rejection.to_string(), row.says, "{}", row.rule);
        let said = format!("({})", rejection.clause());
        assert!(row.says.ends_with(&said), "{}: {said}", row.rule);
    }
}

fn add(lane: usize, got: u128) -> (SerialRequest, Response) {
    let mut req = SerialRequest {
        op: Op::Add as u8,
        size: Size::U32 as u8,
        mask: 1 << lane,
        ..SerialRequest::default()
    };
    (req.ra[lane], req.b[lane]) = (0x40, 1);
    let mut resp = Response::default();
    resp.rd[lane] = got;
    (req, resp)
}

fn checker() -> Checker {
    let mut checker = Checker::new(GEOMETRY);
    checker.set_allocation(0, Some(ALLOCATION));
    checker
}

#[test]
fn inactive_and_missing_lanes_get_nothing() {
    let (req, mut resp) = add(3, 0);
    resp.rd[9] = 1;
    resp.pred = 1 << 10;
    let says = checker().request(&req, &resp, Some(&[(16, 1)])).unwrap_err().to_string();
    assert_eq!(says, "lanes 9 and 10 got a result or a predicate without being active (spec 2.6)");

    let mut four_lanes = Checker::new(Geometry { lanes: 4, ..GEOMETRY });
    four_lanes.set_allocation(0, Some(ALLOCATION));
    let (mut req, mut resp) = add(3, 0);
    req.mask |= 1 << 4;
    assert_eq!(four_lanes.request(&req, &resp, Some(&[(16, 1)])), Ok(()), "lane 4 does not exist");
    resp.rd[4] = 1;
    assert!(four_lanes.request(&req, &resp, Some(&[(16, 1)])).is_err());
}

#[test]
fn only_the_lanes_with_a_predicate_are_named() {
    let (mut req, mut resp) = add(3, 0);
    (req.mask, req.ra[4], req.b[4]) = (0b1_1000, 0x44, 1);
    resp.pred = 1 << 4;
    let says = checker().request(&req, &resp, Some(&[(16, 1), (17, 1)])).unwrap_err().to_string();
    assert_eq!(says, "lane 4 got a predicate from an operation that returns no predicate (spec 3)");
}

#[test]
fn without_an_answer_the_lanes_that_there_are_are_named() {
    let four_lanes = Checker::new(Geometry { lanes: 4, ..GEOMETRY });
    let (mut req, _) = add(2, 0);
    req.mask = 0b1_0100;
    let says = four_lanes.never_answered(&req).to_string();
    assert_eq!(says, "ADD of lane 2 at 0x40 was never answered (spec 4.6)");
}

/// Operations that are illegal only on objects of another CTA are rejected by a clause of their own.
#[test]
fn an_illegal_instruction_is_told_by_its_clause() {
    let clause = |op: Op, size: Size, cluster: bool| {
        let (mut req, resp) = add(3, 0);
        (req.op, req.size, req.cluster) = (op as u8, size as u8, cluster);
        checker().request(&req, &resp, Some(&[])).unwrap_err().clause()
    };
    assert_eq!(clause(Op::MbarTestWait, Size::U64, true), "spec 6.7");
    assert_eq!(clause(Op::MbarTestWait, Size::U8, false), "spec 3.3");
    assert_eq!(clause(Op::Add, Size::U8, true), "spec 3.3");
}

#[test]
fn without_active_lanes_nothing_is_even_illegal() {
    let req = SerialRequest { op: 200, size: 200, slot: 9, ..SerialRequest::default() };
    assert_eq!(checker().request(&req, &Response::default(), Some(&[])), Ok(()));
    let says = checker().request(&req, &Response::default(), Some(&[(0, 0)])).unwrap_err().to_string();
    assert!(says.ends_with("it has no active lane (spec 2.6)"), "{says}");
}

#[test]
fn an_unassigned_slot_has_no_memory() {
    let (mut req, _) = add(3, 0);
    req.slot = 77;
    let resp = Response { fault: Fault::OutOfRange, fault_lane: 3, fault_addr: 0x40, ..Response::default() };
    assert_eq!(checker().request(&req, &resp, Some(&[])), Ok(()));
}

#[test]
fn checking_goes_on_from_what_was_seen() {
    let mut checker = checker();
    let (req, resp) = add(0, 9);
    assert!(checker.request(&req, &resp, Some(&[(16, 10)])).is_err());
    let (req, resp) = add(0, 10);
    assert_eq!(checker.request(&req, &resp, Some(&[(16, 11)])), Ok(()));
    let says = checker.finish(|word| u32::from(word == 16) * 12).unwrap_err().to_string();
    assert_eq!(
        says,
        "at the end word 16 (byte 0x40) holds 0xc; after all requests it must hold 0xb (spec 4.6)"
    );
}

/// Two lanes exchange without results, and the written words are not shown. Byte 0x40 then holds one of these
/// values.
fn one_of(size: Size, values: [u128; 2]) -> Checker {
    let mut checker = checker();
    let mut req = SerialRequest {
        op: Op::Exch as u8,
        size: size as u8,
        red: true,
        mask: 3,
        ra: [0x40; 32],
        ..SerialRequest::default()
    };
    req.b[..2].copy_from_slice(&values);
    assert_eq!(checker.request(&req, &Response::default(), None), Ok(()));
    checker
}

fn seven_or_eight() -> Checker {
    one_of(Size::U32, [7, 8])
}

#[test]
fn unseen_memory_is_followed_in_every_possibility() {
    assert_eq!(seven_or_eight().possible(16), [7, 8]);

    let (req, resp) = add(5, 9);
    let says = seven_or_eight().request(&req, &resp, None).unwrap_err().to_string();
    assert_eq!(
        says,
        "none of the 2 values that earlier requests may have left explains this request; the rejection for one of \
         them: lane 5 got 0x9 from 0x40, which never held it: it held 0x7 before the request and no lane left 0x9 (spec 4.5)"
    );

    let (mut checker, (req, resp)) = (seven_or_eight(), add(5, 8));
    assert_eq!(checker.request(&req, &resp, None), Ok(()));
    assert_eq!(checker.possible(16), [9], "the result tells which one stayed");

    let says = seven_or_eight().finish(|word| u32::from(word == 16) * 6).unwrap_err().to_string();
    assert_eq!(
        says,
        "at the end word 16 (byte 0x40) holds 0x6; after all requests it may hold for example 0x7 (spec 4.6)"
    );
    assert_eq!(seven_or_eight().finish(|word| u32::from(word == 16) * 8), Ok(()));

    let mut checker = seven_or_eight();
    checker.set_word(16, 1);
    assert_eq!(checker.possible(16), [1]);
}

#[test]
fn a_word_that_is_set_leaves_the_one_it_hung_together_with() {
    let mut checker = one_of(Size::U64, [1 << 32 | 7, 2 << 32 | 8]);
    checker.set_word(17, 5);
    assert_eq!([16, 17].map(|word| checker.possible(word)), [vec![7, 8], vec![5]]);
}

/// A word with an impossible value is reported before a word that is only wrong in combination with another.
#[test]
fn at_the_end_the_word_that_is_wrong_is_named() {
    let says = |words: [u32; 2]| {
        let checker = one_of(Size::U64, [2 << 32 | 1, 1 << 32 | 2]);
        let verdict = checker.finish(|word| if word & !1 == 16 { words[word as usize - 16] } else { 0 });
        verdict.map_err(|rejection| rejection.to_string().split(';').next().unwrap_or_default().to_owned())
    };
    assert_eq!(says([2, 1]), Ok(()));
    assert_eq!(says([2, 7]), Err("at the end word 17 (byte 0x44) holds 0x7".to_owned()));
    assert_eq!(says([1, 1]), Err("at the end word 17 (byte 0x44) holds 0x1".to_owned()));
}

#[test]
fn beyond_the_limit_there_is_no_verdict() {
    // Four words with 32 possible values each, then one access to all of them.
    let mut checker = checker();
    for word in 0..4 {
        let mut req = SerialRequest {
            op: Op::Exch as u8,
            size: Size::U32 as u8,
            red: true,
            mask: u32::MAX,
            ..SerialRequest::default()
        };
        req.ra = [0x40 + 4 * word; 32];
        req.b = std::array::from_fn(|lane| lane as u128);
        assert_eq!(checker.request(&req, &Response::default(), None), Ok(()));
    }
    let mut req =
        SerialRequest { op: Op::Load as u8, size: Size::B128 as u8, mask: 1, ..SerialRequest::default() };
    req.ra[0] = 0x40;
    let rejection = checker.request(&req, &Response::default(), None).unwrap_err();
    assert!(rejection.is_undecided());
    assert_eq!(
        rejection.to_string(),
        "undecided: at word 16 (byte 0x40) more than 4096 combinations of values are possible; record the words \
         written (`after`) to reduce their number"
    );
}

#[test]
fn bad_shapes_are_no_reason_to_panic() {
    for (lanes, banks, rows) in [(0, 0, 0), (99, 0, 7), (32, 3, 5), (32, 1, 1), (1, 2, u32::MAX)] {
        let mut checker = Checker::new(Geometry { lanes, banks, rows, xor_hash: true });
        checker.set_allocation(0, Some(Allocation { base_row: u32::MAX, size_bytes: u32::MAX, rank: 255 }));
        checker.set_word(u32::MAX, 1);
        for op in 0..20 {
            for size in 0..12 {
                let req = SerialRequest {
                    op,
                    size,
                    mask: u32::MAX,
                    ur: 0xff00_0000,
                    ra: [0xff_fff0; 32],
                    ..SerialRequest::default()
                };
                let _ = checker.request(&req, &Response::default(), Some(&[(u32::MAX, 0), (0, 0)]));
                let _ = checker.request(&req, &Response::default(), None);
            }
        }
    }
}

/// One request of two lanes at two words of bank 16. Both words hold the compared value. Lane `stored`
/// stores; `None`: no lane stores.
fn spin(checker: &mut Checker, stored: Option<usize>) -> Result<(), atoms_oracle::Rejection> {
    let mut req = SerialRequest {
        op: Op::CastSpin as u8,
        size: Size::U32 as u8,
        mask: 0b10_0100,
        ..SerialRequest::default()
    };
    (req.ra[2], req.ra[5]) = (0x40, 0xc0);
    // If no lane stores, lane 5 compares with another value: it fails even if it is selected.
    req.b[5] = u128::from(stored.is_none());
    let mut resp = Response::default();
    if let Some(lane) = stored {
        (resp.rd[lane], resp.pred) = (1, 1 << lane);
    }
    checker.request(&req, &resp, Some(&[]))
}

/// Two warps take turns. Each of them could be the one whose lane is never selected.
#[test]
fn lanes_selected_in_every_other_request_only() {
    let mut checker = Checker::new(GEOMETRY);
    checker.set_allocation(0, Some(ALLOCATION));
    checker.set_spin_hold(32);
    let mut rejected = (1..3000).zip([2, 5].into_iter().cycle());
    let rejected =
        rejected.find_map(|(n, lane)| Some((n, spin(&mut checker, Some(lane)).err()?.to_string())));
    let says = "lane 5 at 0xc0 was not selected in 2049 successive CAST.SPIN requests to bank group 16, although it competed in at least one of any 32 of them (spec 5.4)";
    assert_eq!(rejected, Some((2049, says.to_string())));
}

#[test]
fn a_lane_that_is_never_selected() {
    let mut checker = Checker::new(GEOMETRY);
    checker.set_allocation(0, Some(ALLOCATION));
    assert!((0..2000).all(|_| spin(&mut checker, Some(2)).is_ok()), "without a hold nothing is judged");
    checker.set_spin_hold(32);
    let rejected = (1..100).find_map(|n| Some((n, spin(&mut checker, Some(2)).err()?)));
    let (number, rejection) = rejected.expect("lane 5 is never selected");
    assert_eq!(number, 64);
    assert_eq!(
        rejection.to_string(),
        "lane 5 at 0xc0 was not selected in 64 successive CAST.SPIN requests to bank group 16, although it competed in each of them (spec 5.4)"
    );
    assert!((0..63).all(|_| spin(&mut checker, None).is_ok()));
    let rejection = spin(&mut checker, None).expect_err("lane 2 would have stored, had it been selected");
    assert!(rejection.to_string().starts_with("lane 2 at 0x40 was not selected in 64 "), "{rejection}");
}

/// If no lane stores, the lanes with a matching comparison were not selected. For all other lanes this is
/// unknown.
#[test]
fn lanes_that_would_have_stored_are_passed_over() {
    let fails = |compared: u128| {
        let mut checker = Checker::new(GEOMETRY);
        checker.set_allocation(0, Some(ALLOCATION));
        checker.set_spin_hold(32);
        checker.set_word(48, 7);
        let (op, size) = (Op::CastSpin as u8, Size::U32 as u8);
        let mut req = SerialRequest { op, size, mask: 0b10_0100, ..SerialRequest::default() };
        (req.ra[2], req.ra[5], req.b[2], req.b[5]) = (0x40, 0xc0, 1, compared);
        let rejected = (1..200).find_map(|n| {
            let rejection = checker.request(&req, &Response::default(), Some(&[])).err()?;
            Some((n, rejection.to_string()))
        });
        rejected.map(|(n, said)| (n, said.starts_with("lane 5 at 0xc0 was not selected")))
    };
    assert_eq!(fails(7), Some((64, true)));
    assert_eq!(fails(8), None, "either may have been selected");
}

#[test]
fn a_group_has_up_to_64_words() {
    let mut checker = Checker::new(GEOMETRY);
    checker.set_allocation(0, Some(Allocation { base_row: 0, size_bytes: 1 << 12, rank: 0 }));
    let (op, size) = (Op::CastSpin as u8, Size::U64 as u8);
    let mut req = SerialRequest { op, size, mask: u32::MAX, ..SerialRequest::default() };
    // Each lane accesses a doubleword in a row of its own.
    req.ra = std::array::from_fn(|lane| lane as u32 * 128);
    req.c = [9; 32];
    let mut resp = Response { pred: 1 << 31, ..Response::default() };
    resp.rd[31] = 1;
    let last = 31 * 32;
    assert_eq!(checker.request(&req, &resp, Some(&[(last, 9), (last + 1, 0)])), Ok(()));
}
