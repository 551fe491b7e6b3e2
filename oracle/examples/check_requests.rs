//! Checks three requests to one word. The last response is wrong; the rejection has clause, lanes and values.

#![allow(clippy::print_stdout)] // a program for interactive use

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Response, SerialRequest};

fn main() {
    let mut checker = Checker::new(Geometry { lanes: 32, banks: 32, rows: 384, xor_hash: false });
    checker.set_allocation(0, Some(Allocation { base_row: 0, size_bytes: 1024, rank: 0 }));

    // Operation, operand of lanes 0 to 2, results of lanes 0 to 2, and the word afterwards.
    let requests = [
        (Op::Add, [1, 2, 3], [3, 4, 0], 6), // lane 2 adds first, then lanes 0 and 1
        (Op::Exch, [7, 8, 9], [9, 6, 8], 7),
        (Op::Add, [1, 1, 1], [7, 8, 8], 9), // two lanes got 8
    ];
    for (op, operands, results, word) in requests {
        let mut request = SerialRequest { op: op as u8, size: Size::U32 as u8, ..SerialRequest::default() };
        let mut response = Response::default();
        request.mask = 0b111;
        request.ra = [0x40; 32];
        request.b[..3].copy_from_slice(&operands);
        response.rd[..3].copy_from_slice(&results);
        // Address 0x40 of CTA slot 0 is word 16 of memory.
        match checker.request(&request, &response, Some(&[(16, word)])) {
            Ok(()) => println!("{op}: accepted, word 16 holds {}", checker.word(16)),
            Err(rejection) => {
                println!("{op}: rejected: {rejection}");
                let wrong = rejection.wrong_values().copied().unwrap_or_default();
                println!("  clause {}, lanes {:#b}, got {:?}", rejection.clause(), wrong.lanes, wrong.got);
            }
        }
    }
}
