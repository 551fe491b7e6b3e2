//! Measures requests per second of the oracle alone, of the scoreboard, and of the scoreboard over C, in turns on the same
//! requests of 32 lanes; and cycles per second of the model over C: alone, with random
//! stimulus, and with stimulus and coverage.
//!
//! `cargo run --release -p atoms-c --example speed -- [REQUESTS]`

use std::io::Write as _;
use std::time::{Duration, Instant};

use atoms::{ATOMS_ABI_VERSION, ATOMS_OK};
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Checker, Geometry, Response, SerialRequest};
use atoms_scoreboard::{PortScoreboard, WarpResponse, put_warp};
use atoms_stimulus::configs::embedded;
use atoms_stimulus::request::{AllocationWrite, Lane, WarpRequest};

const ROUNDS: usize = 7;

/// ADD of 32 lanes to 64 words, in the order of the lanes.
fn requests(number: usize) -> Vec<(WarpRequest, Response)> {
    let (mut memory, mut random) = ([0_u32; 64], 1_u32);
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 8
    };
    let exchange = |tag: usize| {
        let lane = |_| Lane { ra: 4 * (next() % 64), b: u128::from(next() % 100), c: 0 };
        let lanes: Vec<Lane> = (0..32).map(lane).collect();
        let mut response = Response::default();
        for (lane, result) in lanes.iter().zip(&mut response.rd) {
            let word = &mut memory[lane.ra as usize / 4];
            *result = u128::from(*word);
            *word = word.wrapping_add(lane.b as u32);
        }
        let (op, size, tag) = (Op::Add as u8, Size::U32 as u8, tag as u8 % 64);
        (WarpRequest { op, size, tag, mask: u32::MAX, lanes, ..WarpRequest::default() }, response)
    };
    (0..number).map(exchange).collect()
}

fn oracle(requests: &[(SerialRequest, Response)]) -> Duration {
    let mut checker = Checker::new(Geometry { lanes: 32, banks: 32, rows: 384, xor_hash: false });
    checker.set_allocation(0, Some(Allocation { base_row: 0, size_bytes: 4096, rank: 0 }));
    let begun = Instant::now();
    for (request, response) in requests {
        checker.request(request, response, None).expect("it is accepted");
    }
    begun.elapsed()
}

fn scoreboard(requests: &[(SerialRequest, Response)]) -> Duration {
    let mut scoreboard = PortScoreboard::new(&embedded("default").expect("a configuration").config);
    let write = AllocationWrite { slot: 0, enable: true, base: 0, size: 4096, rank: 0 };
    scoreboard.table_write(0, &write).expect("it is accepted");
    let begun = Instant::now();
    for (cycle, (request, response)) in (1..).zip(requests) {
        scoreboard.warp_request(cycle, 0, request.clone()).expect("it is accepted");
        let response = response.clone();
        let found = WarpResponse { tag: 0, response, passes: None, written: None };
        scoreboard.warp_response(cycle, found).expect("it is accepted");
    }
    begun.elapsed()
}

/// Request and response as the caller of the C functions has them.
struct Words {
    tag: u32,
    ra: [u32; 32],
    b: [u32; 128],
    c: [u32; 128],
    rd: [u32; 128],
}

fn words((request, response): &(WarpRequest, Response)) -> Words {
    let mut words = Words { tag: request.tag.into(), ra: [0; 32], b: [0; 128], c: [0; 128], rd: [0; 128] };
    for (lane, operands) in request.lanes.iter().enumerate() {
        (words.ra[lane], words.b[4 * lane]) = (operands.ra, operands.b as u32);
        words.rd[4 * lane] = response.rd[lane] as u32;
    }
    words
}

fn over_c(requests: &[Words]) -> Duration {
    let (add, size) = (Op::Add as u32, Size::U32 as u32);
    // SAFETY: a string that ends with 0, and arrays of the required sizes.
    unsafe {
        let handle = atoms::atoms_scoreboard_new(ATOMS_ABI_VERSION, c"default".as_ptr(), 0);
        assert_eq!(atoms::atoms_cta_write(handle, 0, 0, 1, 0, 4096, 0), ATOMS_OK);
        let begun = Instant::now();
        for (cycle, Words { tag, ra, b, c, rd }) in (1..).zip(requests) {
            let (ra, b, c, all) = (ra.as_ptr(), b.as_ptr(), c.as_ptr(), u32::MAX);
            let asked =
                atoms::atoms_warp_request(handle, cycle, *tag, add, size, 0, 0, 0, 0, all, 0, 0, ra, b, c);
            let found = atoms::atoms_warp_response(handle, cycle, *tag, rd.as_ptr(), 0, 0, 0, 0, -1, 0);
            assert_eq!((asked, found), (ATOMS_OK, ATOMS_OK));
        }
        let took = begun.elapsed();
        atoms::atoms_scoreboard_free(handle);
        took
    }
}

/// Cycles per second of the model, of model and stimulus, and of both with coverage, over C.
fn pins_over_c(cycles: u32) -> [f64; 3] {
    let (mut i, mut out) = (In { rst_n: 1, rsp_ready: 1, ..In::default() }, Out::default());
    // SAFETY: strings that end with 0, and pointers to pins.
    unsafe {
        let model = atoms::atoms_model_new(ATOMS_ABI_VERSION, c"default".as_ptr());
        let of = (c"default".as_ptr(), c"default".as_ptr());
        let stimulus = atoms::atoms_stimulus_new(ATOMS_ABI_VERSION, of.0, of.1, 1, u64::MAX);
        let coverage = atoms::atoms_coverage_new(ATOMS_ABI_VERSION, of.0);
        let rates = [(false, false), (true, false), (true, true)].map(|(drives, samples)| {
            let begun = Instant::now();
            for _ in 0..cycles {
                if drives {
                    let status = atoms::atoms_stimulus_step(stimulus, &raw const out, &raw mut i);
                    assert_eq!(status, ATOMS_OK);
                }
                assert_eq!(atoms::atoms_model_step(model, &raw const i, &raw mut out), ATOMS_OK);
                if samples {
                    let status = atoms::atoms_coverage_sample(coverage, &raw const i, &raw const out);
                    assert_eq!(status, ATOMS_OK);
                }
            }
            f64::from(cycles) / begun.elapsed().as_secs_f64()
        });
        atoms::atoms_model_free(model);
        atoms::atoms_stimulus_free(stimulus);
        atoms::atoms_coverage_free(coverage);
        rates
    }
}

fn main() -> std::io::Result<()> {
    let number = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let requests = requests(number);
    let serial: Vec<(SerialRequest, Response)> = requests
        .iter()
        .map(|(request, response)| {
            let mut serial = SerialRequest::default();
            put_warp(&mut serial, request);
            (serial, response.clone())
        })
        .collect();
    let of_c: Vec<Words> = requests.iter().map(words).collect();
    let mut out = std::io::stdout();
    let mut took = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let round = [oracle(&serial), scoreboard(&serial), over_c(&of_c)];
        took.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
    }
    let median = |all: &mut Vec<Duration>| {
        all.sort_unstable();
        number as f64 / all[ROUNDS / 2].as_secs_f64()
    };
    let [oracle, scoreboard, c] = took.each_mut().map(median);
    writeln!(out, "oracle      {oracle:10.0} requests a second")?;
    writeln!(out, "scoreboard  {scoreboard:10.0}  {:.2} of the oracle", scoreboard / oracle)?;
    writeln!(out, "over C      {c:10.0}  {:.2} of the oracle", c / oracle)?;
    let cycles = number as u32 * 10;
    let [model, driven, covered] = pins_over_c(cycles);
    writeln!(out, "model over C  {model:8.0} cycles a second without requests")?;
    writeln!(out, "driven over C {driven:8.0} cycles a second with random stimulus")?;
    writeln!(out, "covered over C {covered:8.0} cycles a second with random stimulus and coverage")
}
