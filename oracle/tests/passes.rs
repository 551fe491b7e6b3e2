//! Number of passes of a request (spec 4.1, 4.3, 4.4, 5.2), for four lanes and eight banks.

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Merging, Response, SerialRequest};

const GEOMETRY: Geometry = Geometry { lanes: 4, banks: 8, rows: 64, xor_hash: false };
const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 1024, rank: 0 };
const NOTHING: Merging = Merging { red: false, arrive: false };
const RED: Merging = Merging { red: true, arrive: false };
const ARRIVE: Merging = Merging { red: false, arrive: true };

/// Byte addresses of the lanes; a row has 32 bytes.
type Addresses = &'static [u32];

const APART: Addresses = &[0x00, 0x04, 0x08, 0x0c];
const ONE_WORD: Addresses = &[0x10, 0x10, 0x10, 0x10];
const ONE_BANK: Addresses = &[0x00, 0x20, 0x40, 0x60];
const THREE_AND_ONE: Addresses = &[0x04, 0x24, 0x44, 0x08];
const TWO_WORDS_OF_A_BANK: Addresses = &[0x04, 0x04, 0x24, 0x24];
/// Doublewords: the second and the third lie on banks 2 and 3.
const PAIRS: Addresses = &[0x00, 0x08, 0x28, 0x30];

#[rustfmt::skip]
const CASES: &[(Op, Size, bool, Merging, Addresses, u32)] = &[
    (Op::Add,          Size::U32,  false, NOTHING, APART,               1),
    (Op::Add,          Size::U32,  false, NOTHING, ONE_WORD,            4),
    (Op::Add,          Size::U32,  false, NOTHING, ONE_BANK,            4),
    (Op::Add,          Size::U32,  false, NOTHING, THREE_AND_ONE,       3),
    (Op::Exch,         Size::U64,  false, NOTHING, PAIRS,               2),
    (Op::Add,          Size::U32,  true,  NOTHING, ONE_WORD,            4),
    (Op::Add,          Size::U32,  true,  RED,     ONE_WORD,            1),
    (Op::Add,          Size::U32,  true,  ARRIVE,  ONE_WORD,            4),
    (Op::Add,          Size::U32,  false, RED,     ONE_WORD,            4),
    (Op::Add,          Size::U32,  true,  RED,     TWO_WORDS_OF_A_BANK, 2),
    (Op::Exch,         Size::U32,  true,  RED,     ONE_WORD,            4),
    (Op::Inc,          Size::U32,  true,  RED,     ONE_WORD,            4),
    (Op::PopcInc,      Size::U32,  false, NOTHING, ONE_WORD,            1),
    (Op::PopcInc,      Size::U32,  false, NOTHING, TWO_WORDS_OF_A_BANK, 2),
    (Op::Cas,          Size::U32,  false, NOTHING, ONE_WORD,            4),
    (Op::CastSpin,     Size::U32,  false, NOTHING, ONE_WORD,            1),
    (Op::CastSpin,     Size::U32,  false, NOTHING, ONE_BANK,            1),
    (Op::Load,         Size::U32,  false, NOTHING, ONE_WORD,            1),
    (Op::Load,         Size::U32,  false, NOTHING, ONE_BANK,            4),
    (Op::Load,         Size::U64,  false, NOTHING, PAIRS,               2),
    (Op::Load,         Size::B128, false, NOTHING, &[0x00, 0x00, 0x10, 0x20], 2),
    (Op::Store,        Size::U32,  true,  NOTHING, ONE_WORD,            1),
    (Op::Store,        Size::U8,   true,  NOTHING, &[0x11, 0x13, 0x10, 0x12], 1),
    (Op::MbarArrive,   Size::U64,  false, NOTHING, ONE_WORD,            4),
    (Op::MbarArrive,   Size::U64,  false, ARRIVE,  ONE_WORD,            1),
    (Op::MbarTestWait, Size::U64,  false, NOTHING, ONE_WORD,            1),
    (Op::MbarTryWait,  Size::U64,  false, NOTHING, &[0x10, 0x10, 0x30, 0x30], 2),
];

fn passes(geometry: Geometry, merging: Merging, req: &SerialRequest) -> u32 {
    let mut checker = Checker::new(geometry);
    checker.set_allocation(0, Some(ALLOCATION));
    checker.set_merging(merging);
    // The number of passes does not depend on the verdict.
    let _ = checker.request(req, &Response::default(), None);
    checker.passes()
}

fn request(op: Op, size: Size, red: bool, addresses: &[u32]) -> SerialRequest {
    let mut req = SerialRequest { op: op as u8, size: size as u8, red, ..SerialRequest::default() };
    req.mask = (1 << addresses.len()) - 1;
    req.ra[..addresses.len()].copy_from_slice(addresses);
    req
}

#[test]
fn a_bank_serves_one_access_in_a_pass() {
    for (op, size, red, merging, addresses, expected) in CASES {
        let found = passes(GEOMETRY, *merging, &request(*op, *size, *red, addresses));
        assert_eq!(found, *expected, "{op:?} {size:?} red {red} {merging:?} {addresses:x?}");
    }
}

#[test]
fn a_request_with_a_fault_or_without_lanes_takes_none() {
    let add = |addresses| request(Op::Add, Size::U32, false, addresses);
    assert_eq!(passes(GEOMETRY, NOTHING, &add(&[0x02])), 0, "misaligned");
    assert_eq!(passes(GEOMETRY, NOTHING, &add(&[0x00, 0x400])), 0, "out of range");
    assert_eq!(passes(GEOMETRY, NOTHING, &add(&[])), 0, "no lanes");
}

#[test]
fn the_bank_hash_sends_a_column_over_the_banks() {
    let hashed = Geometry { xor_hash: true, ..GEOMETRY };
    let column = request(Op::Add, Size::U32, false, ONE_BANK);
    assert_eq!((passes(GEOMETRY, NOTHING, &column), passes(hashed, NOTHING, &column)), (4, 2));
}
