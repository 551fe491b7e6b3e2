//! Prints how long a verdict takes: full warps on one address, and the hardest cases we know.
//!
//! `cargo run --release -p atoms-oracle --example verdict_speed`

#![allow(clippy::print_stdout)] // a program of its own, for people

#[path = "../tests/serial/mod.rs"]
mod serial;

use std::time::Instant;

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Response, SerialRequest};
use serial::Machine;

const GEOMETRY: Geometry = Geometry { lanes: 32, banks: 32, rows: 512, xor_hash: false };
const WHOLE: Allocation = Allocation { base_row: 0, size_bytes: 65536, rank: 0 };

/// A full warp.
#[derive(Clone, Copy)]
struct Warp {
    op: Op,
    /// No result is wanted.
    red: bool,
    /// Bytes from lane to lane.
    stride: u32,
    /// What every lane's word or object holds before.
    before: u64,
    /// Rb and Rc of the lane that is served as the n-th.
    operands: fn(u128) -> (u128, u128),
}

/// Lanes that give a result, at one address.
fn warp(op: Op, operands: fn(u128) -> (u128, u128)) -> Warp {
    Warp { op, red: false, stride: 0, before: 5, operands }
}

/// Lanes without a result, at one address.
fn red(op: Op, operands: fn(u128) -> (u128, u128)) -> Warp {
    Warp { red: true, ..warp(op, operands) }
}

fn ascending(nth: usize) -> usize {
    nth
}

fn shuffled(nth: usize) -> usize {
    (nth * 13 + 7) % 32
}

impl Warp {
    fn request(&self, order: fn(usize) -> usize) -> SerialRequest {
        let size = if self.op.is_mbarrier() { Size::U64 } else { Size::U32 };
        let (op, size) = (self.op as u8, size as u8);
        let mut req = SerialRequest { op, size, red: self.red, mask: u32::MAX, ..SerialRequest::default() };
        for nth in 0..32 {
            let lane = order(nth);
            req.ra[lane] = lane as u32 * self.stride;
            (req.b[lane], req.c[lane]) = (self.operands)(nth as u128);
        }
        req
    }

    /// The words of all lanes, with what they hold before.
    fn words(&self, req: &SerialRequest) -> Vec<(u32, u32)> {
        let both = |ra: &u32| [(ra / 4, self.before as u32), (ra / 4 + 1, (self.before >> 32) as u32)];
        let words = if self.op.is_mbarrier() { 2 } else { 1 };
        req.ra.iter().flat_map(|ra| both(ra).into_iter().take(words)).collect()
    }

    /// Time of one verdict in microseconds, with the memory `seen` afterwards or not.
    fn time(&self, order: fn(usize) -> usize, seen: bool) -> f64 {
        let req = self.request(order);
        let words = self.words(&req);
        let mut machine = Machine::new(GEOMETRY, WHOLE);
        words.iter().for_each(|(word, value)| machine.set_word(*word, *value));
        let lanes: Vec<usize> = (0..32).map(order).collect();
        let (resp, written) = machine.run(&req, &lanes);
        let after: Vec<(u32, u32)> = written.into_iter().map(|word| (word, machine.word(word))).collect();
        let mut checker = Checker::new(GEOMETRY);
        checker.set_part(0, Some(WHOLE));
        let (mut rounds, begin) = (0u32, Instant::now());
        while rounds < 200_000 && (rounds < 3 || begin.elapsed().as_millis() < 300) {
            words.iter().for_each(|(word, value)| checker.set_word(*word, *value));
            let verdict = checker.request(&req, &resp, seen.then_some(&after));
            assert!(verdict.is_ok(), "{} {verdict:?}", self.op);
            rounds += 1;
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
    }

    /// The longest verdict, for, against or none, over 100 values that such lanes might leave, in microseconds.
    fn longest(&self, end: impl Fn(u64) -> u64) -> f64 {
        let req = self.request(ascending);
        let words = self.words(&req);
        let mut checker = Checker::new(GEOMETRY);
        checker.set_part(0, Some(WHOLE));
        let one = |n: u64| {
            words.iter().for_each(|(word, value)| checker.set_word(*word, *value));
            let after = [(0, end(n) as u32), (1, (end(n) >> 32) as u32)];
            let begin = Instant::now();
            let _ = checker.request(&req, &Response::default(), Some(&after[..words.len() / 32]));
            begin.elapsed().as_secs_f64() * 1e6
        };
        (0..100).map(one).fold(0.0, f64::max)
    }
}

/// An mbarrier object with a tx-count of 0 and phase 0 (spec 6.2).
fn object(expected: u64, pending: u64) -> u64 {
    let negative = |count: u64| count.wrapping_neg() & 0xf_ffff;
    negative(expected) << 1 | negative(pending) << 43
}

fn main() {
    let at = |warp: Warp, before: u64| Warp { before, ..warp };
    let spread = |warp: Warp| Warp { stride: 4, ..warp };
    println!("microseconds for one verdict on 32 active lanes");
    println!("{:44} {:>10} {:>10}", "", "ascending", "shuffled");
    let seen: &[(&str, Warp)] = &[
        ("ADD 1, one address", warp(Op::Add, |_| (1, 0))),
        ("ADD 0, one address", warp(Op::Add, |_| (0, 0))),
        ("EXCH, one address", warp(Op::Exch, |i| (i + 100, 0))),
        ("EXCH, two values, one address", warp(Op::Exch, |i| (i % 3 / 2, 0))),
        ("CAS, a chain of hits, one address", warp(Op::Cas, |i| (i + 5, i + 6))),
        ("CAS, one hit, one address", warp(Op::Cas, |i| (5, i + 100))),
        ("CAST, one hit, one address", warp(Op::Cast, |i| (5, i + 100))),
        ("INC below 10, one address", warp(Op::Inc, |_| (10, 0))),
        ("DEC below 10, one address", warp(Op::Dec, |_| (10, 0))),
        ("ADD 1, 32 addresses", spread(warp(Op::Add, |_| (1, 0)))),
        ("LDS, 32 addresses", spread(warp(Op::Load, |_| (0, 0)))),
        ("STS, 32 addresses", spread(warp(Op::Store, |i| (i, 0)))),
        ("red ADD 1, one address", red(Op::Add, |_| (1, 0))),
        ("red EXCH, one address", red(Op::Exch, |i| (i + 100, 0))),
        ("red CAS, one hit, one address", red(Op::Cas, |i| (5, i + 100))),
        ("red INC below 10, one address", red(Op::Inc, |_| (10, 0))),
        ("red INC, 32 limits, one address", red(Op::Inc, |i| (i * 7 % 32, 0))),
        ("red DEC, 32 limits, one address", red(Op::Dec, |i| (i * 7 % 32, 0))),
        ("MBAR.ARRIVE of 32", at(warp(Op::MbarArrive, |_| (0, 0)), object(32, 32))),
        ("MBAR.ARRIVE of 5, over and over", at(warp(Op::MbarArrive, |_| (0, 0)), object(5, 3))),
        ("MBAR.ARRIVE.NO_COMPLETE of 64", at(warp(Op::MbarArriveNoComplete, |_| (1, 0)), object(64, 64))),
        ("red MBAR.ARRIVE of 32", at(red(Op::MbarArrive, |_| (0, 0)), object(32, 32))),
        ("red MBAR.ARRIVE_COUNT, never complete", at(red(Op::MbarArriveCount, |i| (i, 0)), object(999, 999))),
        (
            "red MBAR.ARRIVE_COUNT, 4 counts, 10 phases",
            at(red(Op::MbarArriveCount, |i| (i % 4 + 1, 0)), object(7, 7)),
        ),
        ("red MBAR.ARRIVE_COUNT, 32 counts", at(red(Op::MbarArriveCount, |i| (i, 0)), object(60, 60))),
    ];
    for (name, warp) in seen {
        println!("{name:44} {:10.2} {:10.2}", warp.time(ascending, true), warp.time(shuffled, true));
    }
    println!("without the memory afterwards (every value that can be left is listed)");
    let unseen: &[(&str, Warp)] = &[
        ("red EXCH, one address", red(Op::Exch, |i| (i + 100, 0))),
        ("red INC below 10, one address", red(Op::Inc, |_| (10, 0))),
        ("red INC, 32 limits, one address", red(Op::Inc, |i| (i, 0))),
        ("red INC, limits 0 to 3, one address", red(Op::Inc, |i| (i % 4, 0))),
        ("red DEC, 32 limits, one address", red(Op::Dec, |i| (i, 0))),
        ("red DEC, limits 0 to 7, one address", red(Op::Dec, |i| (i % 8, 0))),
        ("red DEC, 32 limits far apart, one address", red(Op::Dec, |i| (i * 100 + 40, 0))),
        ("red MBAR.ARRIVE_COUNT, never complete", at(red(Op::MbarArriveCount, |i| (i, 0)), object(999, 999))),
        ("red MBAR.ARRIVE_COUNT, 2 counts", at(red(Op::MbarArriveCount, |i| (i % 2 + 1, 0)), object(7, 7))),
        ("red MBAR.ARRIVE_COUNT, 4 counts", at(red(Op::MbarArriveCount, |i| (i % 4 + 1, 0)), object(7, 7))),
    ];
    for (name, warp) in unseen {
        println!("{name:44} {:10.2}", warp.time(ascending, false));
    }
    println!("the longest verdict over all values left, right or wrong");
    type Limits = (&'static str, u64, fn(u128) -> (u128, u128));
    let limits: [Limits; 6] = [
        ("limits 0 to 31", 3, |i| (i, 0)),
        ("limits 0 to 7", 3, |i| (i % 8, 0)),
        ("limits 0 to 3", 3, |i| (i % 4, 0)),
        ("limits 1 and 2", 3, |i| (1 + i % 2, 0)),
        ("limits 2 to 17", 30, |i| (2 + i / 2, 0)),
        ("limits 5", 3, |_| (5, 0)),
    ];
    for (op, (name, start, operands)) in
        [Op::Inc, Op::Dec].into_iter().flat_map(|op| limits.map(|row| (op, row)))
    {
        println!("{:44} {:10.0}", format!("red {op}, {name}"), at(red(op, operands), start).longest(|n| n));
    }
    let counts: [Limits; 3] = [
        ("2 counts", 7, |i| (1 + i % 2, 0)),
        ("4 counts", 7, |i| (1 + i % 4, 0)),
        ("32 counts", 60, |i| (i, 0)),
    ];
    for (name, expected, operands) in counts {
        let warp = at(red(Op::MbarArriveCount, operands), object(expected, expected));
        let time = warp.longest(|pending| object(expected, pending / 2) | pending << 63);
        println!("{:44} {time:10.0}", format!("red MBAR.ARRIVE_COUNT, {name}"));
    }
}
