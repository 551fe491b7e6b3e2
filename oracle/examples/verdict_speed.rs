//! Prints how long a verdict takes: full warps on one address, and the hardest cases we know.
//!
//! `cargo run --release -p atoms-oracle --example verdict_speed`

#![allow(clippy::print_stdout)] // a program of its own, for people

use std::time::Instant;

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Response, SerialRequest};

const GEOMETRY: Geometry = Geometry { lanes: 32, banks: 32, rows: 512, xor_hash: false };
const PART: Allocation = Allocation { base_row: 0, size_bytes: 65536, rank: 0 };

/// The order in which the lanes of the observation were served.
#[derive(Clone, Copy, Debug)]
enum Order {
    Ascending,
    Shuffled,
}

fn step(op: Op, m: u128, b: u128, c: u128) -> u128 {
    match op {
        Op::Add => (m + b) & 0xffff_ffff,
        Op::Exch | Op::Store => b,
        Op::Inc => {
            if m >= b {
                0
            } else {
                m + 1
            }
        }
        Op::Dec => {
            if m == 0 || m > b {
                b
            } else {
                m - 1
            }
        }
        Op::Cas | Op::Cast => {
            if m == b {
                c
            } else {
                m
            }
        }
        _ => m,
    }
}

/// Time of one verdict in microseconds; `operands` gives Rb and Rc, `stride` the bytes between lanes.
fn time(
    op: Op,
    red: bool,
    order: Order,
    stride: u32,
    seen: bool,
    operands: impl Fn(u32) -> (u128, u128),
) -> f64 {
    let mut req = SerialRequest {
        op: op as u8,
        size: Size::U32 as u8,
        red,
        mask: u32::MAX,
        ..SerialRequest::default()
    };
    let mut resp = Response::default();
    let mut memory = vec![0u128; 1024];
    memory.fill(5);
    for i in 0..32u32 {
        let lane = match order {
            Order::Ascending => i,
            Order::Shuffled => (i * 13 + 7) % 32,
        } as usize;
        req.ra[lane] = lane as u32 * stride;
        (req.b[lane], req.c[lane]) = operands(i);
        let word = &mut memory[req.ra[lane] as usize / 4];
        let old = *word;
        *word = step(op, old, req.b[lane], req.c[lane]);
        let stored = matches!(op, Op::Cas | Op::Cast) && old == req.b[lane];
        resp.pred |= u32::from(stored) << lane;
        resp.rd[lane] = match op {
            _ if red || op == Op::Store => 0,
            Op::Cast => stored.into(),
            _ => old,
        };
    }
    let mut after: Vec<(u32, u32)> =
        req.ra.iter().map(|ra| (ra / 4, memory[*ra as usize / 4] as u32)).collect();
    after.sort_unstable();
    after.dedup();
    if op == Op::Load {
        after.clear();
    }
    let mut checker = Checker::new(GEOMETRY);
    checker.set_part(0, Some(PART));
    let (mut rounds, begin) = (0u32, Instant::now());
    while rounds < 200_000 && (rounds < 3 || begin.elapsed().as_millis() < 300) {
        for ra in &req.ra {
            checker.set_word(ra / 4, 5);
        }
        let verdict = checker.request(&req, &resp, seen.then_some(&after));
        assert!(verdict.is_ok(), "{op} {verdict:?}");
        rounds += 1;
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
}

/// The longest verdict, for or against, over every value that such lanes might leave, in microseconds.
fn longest(op: Op, start: u32, operands: impl Fn(u32) -> u32) -> f64 {
    let mut req = SerialRequest {
        op: op as u8,
        size: Size::U32 as u8,
        red: true,
        mask: u32::MAX,
        ..SerialRequest::default()
    };
    req.b = std::array::from_fn(|lane| operands(lane as u32).into());
    let mut checker = Checker::new(GEOMETRY);
    checker.set_part(0, Some(PART));
    let one = |end: u32| {
        checker.set_word(0, start);
        let begin = Instant::now();
        let _ = checker.request(&req, &Response::default(), Some(&[(0, end)]));
        begin.elapsed().as_secs_f64() * 1e6
    };
    (0..100).map(one).fold(0.0, f64::max)
}

/// An mbarrier object with a tx-count of 0 and phase 0 (spec 6.2).
fn object(expected: u64, pending: u64) -> u64 {
    let negative = |count: u64| count.wrapping_neg() & 0xf_ffff;
    negative(expected) << 1 | negative(pending) << 43
}

/// A lane arrives `b` times at an object without a tx-count (spec 6.3).
fn arrive(word: u64, b: u64) -> u64 {
    let (phase, expected) = (word >> 63, (word >> 1).wrapping_neg() & 0xf_ffff);
    match ((word >> 43).wrapping_neg() & 0xf_ffff).wrapping_sub(b) & 0xf_ffff {
        0 => object(expected, expected) | (phase ^ 1) << 63,
        pending => object(expected, pending) | phase << 63,
    }
}

/// As [`time`] for a warp that arrives at one object, `operands` times each lane.
fn time_arrivals(
    op: Op,
    red: bool,
    order: Order,
    seen: bool,
    before: u64,
    operands: impl Fn(u32) -> u64,
) -> f64 {
    let mut req = SerialRequest {
        op: op as u8,
        size: Size::U64 as u8,
        red,
        mask: u32::MAX,
        ..SerialRequest::default()
    };
    let mut resp = Response::default();
    let mut word = before;
    for i in 0..32u32 {
        let lane = match order {
            Order::Ascending => i,
            Order::Shuffled => (i * 13 + 7) % 32,
        } as usize;
        req.b[lane] = operands(i).into();
        if !red {
            resp.rd[lane] = match op {
                Op::MbarArriveNoComplete => u128::from(word >> 32) << 32 | 1 << lane,
                _ => word.into(),
            };
        }
        word = arrive(word, operands(i));
    }
    let after = [(0, word as u32), (1, (word >> 32) as u32)];
    let mut checker = Checker::new(GEOMETRY);
    checker.set_part(0, Some(PART));
    let (mut rounds, begin) = (0u32, Instant::now());
    while rounds < 200_000 && (rounds < 3 || begin.elapsed().as_millis() < 300) {
        checker.set_word(0, before as u32);
        checker.set_word(1, (before >> 32) as u32);
        let verdict = checker.request(&req, &resp, seen.then_some(&after));
        assert!(verdict.is_ok(), "{op} {verdict:?}");
        rounds += 1;
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
}

/// The longest verdict, for, against or none, over what a warp of red arrivals might leave.
fn longest_arrivals(before: u64, operands: impl Fn(u32) -> u64) -> f64 {
    let op = Op::MbarArriveCount;
    let mut req = SerialRequest {
        op: op as u8,
        size: Size::U64 as u8,
        red: true,
        mask: u32::MAX,
        ..SerialRequest::default()
    };
    req.b = std::array::from_fn(|lane| operands(lane as u32).into());
    let mut checker = Checker::new(GEOMETRY);
    checker.set_part(0, Some(PART));
    let one = |pending: u64| {
        checker.set_word(0, before as u32);
        checker.set_word(1, (before >> 32) as u32);
        let end = object((before >> 1).wrapping_neg() & 0xf_ffff, pending / 2) | pending << 63;
        let after = [(0, end as u32), (1, (end >> 32) as u32)];
        let begin = Instant::now();
        let _ = checker.request(&req, &Response::default(), Some(&after));
        begin.elapsed().as_secs_f64() * 1e6
    };
    (0..100).map(one).fold(0.0, f64::max)
}

fn main() {
    println!("microseconds for one verdict on 32 active lanes");
    println!("{:44} {:>10} {:>10}", "", "ascending", "shuffled");
    let row = |name: &str, op: Op, red: bool, stride: u32, operands: &dyn Fn(u32) -> (u128, u128)| {
        let [a, s] =
            [Order::Ascending, Order::Shuffled].map(|order| time(op, red, order, stride, true, operands));
        println!("{name:44} {a:10.2} {s:10.2}");
    };
    row("ADD 1, one address", Op::Add, false, 0, &|_| (1, 0));
    row("ADD 0, one address", Op::Add, false, 0, &|_| (0, 0));
    row("EXCH, one address", Op::Exch, false, 0, &|i| (u128::from(i) + 100, 0));
    row("EXCH, two values, one address", Op::Exch, false, 0, &|i| (u128::from(i % 3 / 2), 0));
    row("CAS, a chain of hits, one address", Op::Cas, false, 0, &|i| (u128::from(i) + 5, u128::from(i) + 6));
    row("CAS, one hit, one address", Op::Cas, false, 0, &|i| (5, u128::from(i) + 100));
    row("CAST, one hit, one address", Op::Cast, false, 0, &|i| (5, u128::from(i) + 100));
    row("INC below 10, one address", Op::Inc, false, 0, &|_| (10, 0));
    row("DEC below 10, one address", Op::Dec, false, 0, &|_| (10, 0));
    row("ADD 1, 32 addresses", Op::Add, false, 4, &|_| (1, 0));
    row("LDS, 32 addresses", Op::Load, false, 4, &|_| (0, 0));
    row("STS, 32 addresses", Op::Store, false, 4, &|i| (i.into(), 0));
    row("red ADD 1, one address", Op::Add, true, 0, &|_| (1, 0));
    row("red EXCH, one address", Op::Exch, true, 0, &|i| (u128::from(i) + 100, 0));
    row("red CAS, one hit, one address", Op::Cas, true, 0, &|i| (5, u128::from(i) + 100));
    row("red INC below 10, one address", Op::Inc, true, 0, &|_| (10, 0));
    row("red INC, 32 limits, one address", Op::Inc, true, 0, &|i| (u128::from(i * 7 % 32), 0));
    row("red DEC, 32 limits, one address", Op::Dec, true, 0, &|i| (u128::from(i * 7 % 32), 0));
    let row = |name: &str, op: Op, red: bool, before: u64, operands: &dyn Fn(u32) -> u64| {
        let [a, s] = [Order::Ascending, Order::Shuffled]
            .map(|order| time_arrivals(op, red, order, true, before, operands));
        println!("{name:44} {a:10.2} {s:10.2}");
    };
    row("MBAR.ARRIVE of 32", Op::MbarArrive, false, object(32, 32), &|_| 1);
    row("MBAR.ARRIVE of 5, over and over", Op::MbarArrive, false, object(5, 3), &|_| 1);
    row("MBAR.ARRIVE.NO_COMPLETE of 64", Op::MbarArriveNoComplete, false, object(64, 64), &|_| 1);
    row("red MBAR.ARRIVE of 32", Op::MbarArrive, true, object(32, 32), &|_| 1);
    row("red MBAR.ARRIVE_COUNT, never complete", Op::MbarArriveCount, true, object(999, 999), &|i| i.into());
    row("red MBAR.ARRIVE_COUNT, 4 counts, 10 phases", Op::MbarArriveCount, true, object(7, 7), &|i| {
        u64::from(i % 4) + 1
    });
    row("red MBAR.ARRIVE_COUNT, 32 counts", Op::MbarArriveCount, true, object(60, 60), &|i| i.into());
    println!("without the memory afterwards (every value that can be left is listed)");
    let row = |name: &str, op: Op, operands: &dyn Fn(u32) -> (u128, u128)| {
        let a = time(op, true, Order::Ascending, 0, false, operands);
        println!("{name:44} {a:10.2}");
    };
    row("red EXCH, one address", Op::Exch, &|i| (u128::from(i) + 100, 0));
    row("red INC below 10, one address", Op::Inc, &|_| (10, 0));
    row("red INC, 32 limits, one address", Op::Inc, &|i| (i.into(), 0));
    row("red INC, limits 0 to 3, one address", Op::Inc, &|i| (u128::from(i % 4), 0));
    row("red DEC, 32 limits, one address", Op::Dec, &|i| (i.into(), 0));
    row("red DEC, limits 0 to 7, one address", Op::Dec, &|i| (u128::from(i % 8), 0));
    row("red DEC, 32 limits far apart, one address", Op::Dec, &|i| (u128::from(i) * 100 + 40, 0));
    let row = |name: &str, before: u64, operands: &dyn Fn(u32) -> u64| {
        let op = Op::MbarArriveCount;
        let a = time_arrivals(op, true, Order::Ascending, false, before, operands);
        println!("{name:44} {a:10.2}");
    };
    row("red MBAR.ARRIVE_COUNT, never complete", object(999, 999), &|i| i.into());
    row("red MBAR.ARRIVE_COUNT, 2 counts", object(7, 7), &|i| u64::from(i % 2) + 1);
    row("red MBAR.ARRIVE_COUNT, 4 counts", object(7, 7), &|i| u64::from(i % 4) + 1);
    println!("the longest verdict over all values left, right or wrong");
    for op in [Op::Inc, Op::Dec] {
        println!("{:44} {:10.0}", format!("red {op}, limits 0 to 31"), longest(op, 3, |lane| lane));
        println!("{:44} {:10.0}", format!("red {op}, limits 0 to 7"), longest(op, 3, |lane| lane % 8));
        println!("{:44} {:10.0}", format!("red {op}, limits 0 to 3"), longest(op, 3, |lane| lane % 4));
        println!("{:44} {:10.0}", format!("red {op}, limits 1 and 2"), longest(op, 3, |lane| 1 + lane % 2));
        println!("{:44} {:10.0}", format!("red {op}, limits 2 to 17"), longest(op, 30, |lane| 2 + lane / 2));
        println!("{:44} {:10.0}", format!("red {op}, limits 5"), longest(op, 3, |_| 5));
    }
    println!(
        "{:44} {:10.0}",
        "red MBAR.ARRIVE_COUNT, 2 counts",
        longest_arrivals(object(7, 7), |i| 1 + u64::from(i % 2))
    );
    println!(
        "{:44} {:10.0}",
        "red MBAR.ARRIVE_COUNT, 4 counts",
        longest_arrivals(object(7, 7), |i| 1 + u64::from(i % 4))
    );
    println!(
        "{:44} {:10.0}",
        "red MBAR.ARRIVE_COUNT, 32 counts",
        longest_arrivals(object(60, 60), |i| i.into())
    );
}
