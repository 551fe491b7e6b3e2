//! One row per rule of spec 6 for mbarrier objects. The values are calculated by hand and run on the model,
//! the RTL, and both in lockstep, with the oracle.

use atoms_cosim::case::Case;
use atoms_cosim::machine::Machine;
use atoms_model::Config;
use atoms_model::port::In;
use atoms_ops::{Fault, OPS, Op, ResultKind, Size};
use atoms_stimulus::request::{ClusterRequest, Lane, WarpRequest};
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};
use atoms_tests::bench::{self, Bench, CaseAnswers};
use atoms_tests::rows::each_row;
use atoms_tests::{config, lockstep_of, rows, test_each};

use Op::{
    MbarArrive, MbarArriveCount, MbarArriveDrop, MbarArriveDropCount, MbarArriveDropExpectTx,
    MbarArriveDropNoComplete, MbarArriveExpectTx, MbarArriveNoComplete, MbarArriveSm80, MbarCompleteTx,
    MbarExpectTx, MbarInit, MbarInval, MbarTestWait, MbarTryWait, Store,
};

type L = (u32, u64);
type O = (u32, u64);
/// Values of `red`: true if Rd is RZ.
const RZ: bool = true;
const RD: bool = false;

/// Returns the word with these fields (spec 6.2). The encoding is written again here so that the rows do not
/// depend on the code under test.
const fn word(phase: u64, pending: u64, tx: i64, expected: u64) -> u64 {
    let pending = (0x10_0000 - pending) & 0xf_ffff;
    let expected = (0x10_0000 - expected) & 0xf_ffff;
    let tx = (-tx) as u64 & 0x1f_ffff;
    phase << 63 | pending << 43 | tx << 21 | expected << 1
}

/// Returns the two words of sm_80 with these fields (spec 6.2.1).
const fn sm80(phase: u64, pending: u64, expected: u64) -> u64 {
    (phase << 31 | ((0x8000_0000 - pending) & 0x7fff_ffff)) << 32 | (0x4000_0000 - expected)
}

/// Returns the high word of `object` with the mask of arriving lanes as low word.
const fn together(object: u64, lanes: u64) -> u64 {
    object & 0xffff_ffff_0000_0000 | lanes
}

const ODD: u64 = 1 << 31;
const MAX: u64 = 0xf_ffff;

struct Row {
    rule: &'static str,
    op: Op,
    /// True if Rd is RZ.
    red: bool,
    /// Lanes from lane 0 on.
    lanes: &'static [L],
    before: &'static [O],
    rd: &'static [u64],
    /// Predicates as a lane mask.
    pred: u32,
    after: &'static [O],
    passes: u8,
}

const ROWS: &[Row] = rows! {
    Row { rule, op, red, lanes, before, rd, pred, after, passes }
    // 6.3 init, inval
    ("init writes the word it is given",           MbarInit, RD, &[(8, word(0, 5, 0, 5))],      &[(8, 7)],                   &[7],                          0, &[(8, word(0, 5, 0, 5))],   1),
    ("init without Rd",                            MbarInit, RZ, &[(8, word(0, MAX, 0, MAX))],  &[],                         &[0],                          0, &[(8, word(0, MAX, 0, MAX))], 1),
    ("inval leaves the bytes",                     MbarInval, RD, &[(8, 0)],                    &[(8, word(1, 2, 3, 4))],    &[0],                          0, &[(8, word(1, 2, 3, 4))],   1),

    // 6.3 expect_tx, complete_tx
    ("expect_tx adds",                             MbarExpectTx, RD, &[(0, 64)],                &[(0, word(0, 3, 0, 3))],    &[0],                          0, &[(0, word(0, 3, 64, 3))],  1),
    ("expect_tx of several lanes adds up",         MbarExpectTx, RD, &[(0, 1), (0, 2), (0, 4)], &[(0, word(0, 3, 0, 3))],    &[0, 0, 0],                    0, &[(0, word(0, 3, 7, 3))],   3),
    ("expect_tx completes",                        MbarExpectTx, RD, &[(0, 5)],                 &[(0, word(0, 0, -5, 3))],   &[0],                          0, &[(0, word(1, 3, 0, 3))],   1),
    ("expect_tx wraps in 21 bits",                 MbarExpectTx, RD, &[(0, MAX)],               &[(0, word(0, 1, 2, 1))],    &[0],                          0, &[(0, word(0, 1, MAX as i64 + 2, 1))], 1),
    ("complete_tx takes away",                     MbarCompleteTx, RD, &[(0, 16)],              &[(0, word(0, 0, 64, 3))],   &[0],                          0, &[(0, word(0, 0, 48, 3))],  1),
    ("complete_tx before it is expected",          MbarCompleteTx, RD, &[(0, 16)],              &[(0, word(0, 1, 0, 3))],    &[0],                          0, &[(0, word(0, 1, -16, 3))], 1),
    ("6.4 the last transaction completes",         MbarCompleteTx, RD, &[(0, 16)],              &[(0, word(0, 0, 16, 3))],   &[0],                          0, &[(0, word(1, 3, 0, 3))],   1),
    ("6.4 not while arrivals are pending",         MbarCompleteTx, RD, &[(0, 16)],              &[(0, word(0, 1, 16, 3))],   &[0],                          0, &[(0, word(0, 1, 0, 3))],   1),
    ("complete_tx borrows from no other field",    MbarCompleteTx, RD, &[(0, 1)],               &[(0, word(1, MAX, 0, MAX))], &[0],                         0, &[(0, word(1, MAX, -1, MAX))], 1),

    // 6.3 arrive
    ("arrive counts down and gives the state",     MbarArrive, RD, &[(0, 0)],                   &[(0, word(0, 3, 0, 3))],    &[word(0, 3, 0, 3)],           0, &[(0, word(0, 2, 0, 3))],   1),
    ("6.4 the last arrival completes",             MbarArrive, RD, &[(0, 0)],                   &[(0, word(0, 1, 0, 3))],    &[word(0, 1, 0, 3)],           0, &[(0, word(1, 3, 0, 3))],   1),
    ("6.4 phases alternate",                       MbarArrive, RD, &[(0, 0)],                   &[(0, word(1, 1, 0, 3))],    &[word(1, 1, 0, 3)],           0, &[(0, word(0, 3, 0, 3))],   1),
    ("6.4 not while transactions are out",         MbarArrive, RD, &[(0, 0)],                   &[(0, word(0, 1, 16, 3))],   &[word(0, 1, 16, 3)],          0, &[(0, word(0, 0, 16, 3))],  1),
    ("6.4 nor while they came too early",          MbarArrive, RD, &[(0, 0)],                   &[(0, word(0, 1, -16, 3))],  &[word(0, 1, -16, 3)],         0, &[(0, word(0, 0, -16, 3))], 1),
    ("lanes arrive one after the other",           MbarArrive, RD, &[(0, 0), (0, 0), (0, 0)],   &[(0, word(0, 2, 0, 2))],    &[word(0, 2, 0, 2), word(0, 1, 0, 2), word(1, 2, 0, 2)], 0, &[(0, word(1, 1, 0, 2))], 3),
    ("lanes at objects of two pairs go together",  MbarArrive, RD, &[(0, 0), (8, 0)],           &[(0, word(0, 2, 0, 2)), (8, word(1, 4, 0, 4))], &[word(0, 2, 0, 2), word(1, 4, 0, 4)], 0, &[(0, word(0, 1, 0, 2)), (8, word(1, 3, 0, 4))], 1),
    ("arrive without Rd gives nothing",            MbarArrive, RZ, &[(0, 9)],                   &[(0, word(0, 3, 0, 3))],    &[0],                          0, &[(0, word(0, 2, 0, 3))],   1),
    ("6.9 an arrive beyond pending wraps",         MbarArrive, RD, &[(0, 0)],                   &[(0, word(0, 0, 1, 3))],    &[word(0, 0, 1, 3)],           0, &[(0, word(0, MAX, 1, 3))], 1),
    ("6.2 lock and layout stay as they are",       MbarArrive, RD, &[(0, 0)],                   &[(0, word(0, 1, 0, 1) | 1 << 42 | 1)], &[word(0, 1, 0, 1) | 1 << 42 | 1], 0, &[(0, word(1, 1, 0, 1) | 1 << 42 | 1)], 1),
    ("arrive n",                                   MbarArriveCount, RD, &[(0, 3)],              &[(0, word(0, 7, 0, 9))],    &[word(0, 7, 0, 9)],           0, &[(0, word(0, 4, 0, 9))],   1),
    ("arrive n completes",                         MbarArriveCount, RD, &[(0, MAX)],            &[(0, word(0, MAX, 0, MAX))], &[word(0, MAX, 0, MAX)],      0, &[(0, word(1, MAX, 0, MAX))], 1),
    ("6.9 counts are modulo 2^20",                 MbarArriveCount, RD, &[(0, MAX + 3)],        &[(0, word(0, 7, 0, 9))],    &[word(0, 7, 0, 9)],           0, &[(0, word(0, 5, 0, 9))],   1),
    ("arrive.expect_tx expects, then arrives",     MbarArriveExpectTx, RD, &[(0, 64)],          &[(0, word(0, 1, 0, 1))],    &[word(0, 1, 0, 1)],           0, &[(0, word(0, 0, 64, 1))],  1),
    ("arrive.expect_tx of what has come",          MbarArriveExpectTx, RD, &[(0, 64)],          &[(0, word(0, 1, -64, 1))],  &[word(0, 1, -64, 1)],         0, &[(0, word(1, 1, 0, 1))],   1),
    ("arrive.noComplete gives lanes and high word", MbarArriveNoComplete, RD, &[(0, 2), (0, 2)], &[(0, word(0, 7, 0, 7))],   &[together(word(0, 7, 0, 7), 1), together(word(0, 5, 0, 7), 2)], 0, &[(0, word(0, 3, 0, 7))], 2),
    ("6.9 a noComplete that completes does",       MbarArriveNoComplete, RZ, &[(0, 7)],         &[(0, word(0, 7, 0, 7))],    &[0],                          0, &[(0, word(1, 7, 0, 7))],   1),

    // 6.3 arrive_drop
    ("arrive_drop expects one fewer from then on", MbarArriveDrop, RD, &[(0, 0)],               &[(0, word(0, 3, 0, 3))],    &[word(0, 3, 0, 3)],           0, &[(0, word(0, 2, 0, 2))],   1),
    ("arrive_drop completes: the next has fewer",  MbarArriveDrop, RD, &[(0, 0)],               &[(0, word(0, 1, 0, 3))],    &[word(0, 1, 0, 3)],           0, &[(0, word(1, 2, 0, 2))],   1),
    ("arrive_drop n",                              MbarArriveDropCount, RD, &[(0, 2)],          &[(0, word(1, 2, 0, 5))],    &[word(1, 2, 0, 5)],           0, &[(0, word(0, 3, 0, 3))],   1),
    ("arrive_drop.expect_tx drops one",            MbarArriveDropExpectTx, RD, &[(0, 8)],       &[(0, word(0, 2, 0, 2))],    &[word(0, 2, 0, 2)],           0, &[(0, word(0, 1, 8, 1))],   1),
    ("arrive_drop.noComplete n",                   MbarArriveDropNoComplete, RD, &[(0, 2)],     &[(0, word(0, 7, 0, 7))],    &[together(word(0, 7, 0, 7), 1)], 0, &[(0, word(0, 5, 0, 5))], 1),

    // 6.5 waits
    ("test_wait of the current phase is false",    MbarTestWait, RD, &[(0, 0), (0, ODD)],       &[(0, word(0, 1, 0, 1))],    &[0, 0],                       2, &[(0, word(0, 1, 0, 1))],   1),
    ("test_wait of the phase before is true",      MbarTestWait, RD, &[(0, 0), (0, ODD)],       &[(0, word(1, 1, 0, 1))],    &[0, 0],                       1, &[(0, word(1, 1, 0, 1))],   1),
    ("of a state only the parity counts",          MbarTestWait, RD, &[(0, word(0, 7, 5, 9) >> 32)], &[(0, word(1, 1, 0, 1))], &[0],                         1, &[(0, word(1, 1, 0, 1))],   1),
    ("test_wait at two objects",                   MbarTestWait, RD, &[(0, 0), (8, 0)],         &[(0, word(1, 1, 0, 1)), (8, word(0, 1, 0, 1))], &[0, 0],    1, &[(0, word(1, 1, 0, 1)), (8, word(0, 1, 0, 1))], 1),
    ("try_wait of the phase before is true",       MbarTryWait, RD, &[(0, 0)],                  &[(0, word(1, 1, 0, 1))],    &[0],                          1, &[(0, word(1, 1, 0, 1))],   1),
    ("try_wait: complete for one of two lanes",          MbarTryWait, RD, &[(0, 0), (0, ODD)],        &[(0, word(1, 1, 0, 1))],    &[0, 0],                       1, &[(0, word(1, 1, 0, 1))],   1),
    ("try_wait at two objects is answered",        MbarTryWait, RD, &[(0, 0), (8, 0)],          &[(0, word(0, 1, 0, 1)), (8, word(0, 1, 0, 1))], &[0, 0],    0, &[(0, word(0, 1, 0, 1)), (8, word(0, 1, 0, 1))], 1),

    // 6.2.1 two words
    ("sm_80: arrive counts down",                  MbarArriveSm80, RD, &[(0, 0)],               &[(0, sm80(0, 2, 2))],       &[sm80(0, 2, 2)],              0, &[(0, sm80(0, 1, 2))],      1),
    ("sm_80: the last arrival completes",          MbarArriveSm80, RD, &[(0, 0)],               &[(0, sm80(0, 1, 2))],       &[sm80(0, 1, 2)],              0, &[(0, sm80(1, 2, 2))],      1),
    ("sm_80: phases alternate",                    MbarArriveSm80, RD, &[(0, 0), (0, 0)],       &[(0, sm80(1, 2, 2))],       &[sm80(1, 2, 2), sm80(1, 1, 2)], 0, &[(0, sm80(0, 2, 2))],    2),
    ("sm_80: without Rd",                          MbarArriveSm80, RZ, &[(0, 0)],               &[(0, sm80(1, 2, 2))],       &[0],                          0, &[(0, sm80(1, 1, 2))],      1),
};

fn request(op: Op, red: bool, lanes: &[L]) -> WarpRequest {
    WarpRequest {
        op: op as u8,
        size: Size::U64 as u8,
        red,
        mask: (1u64 << lanes.len()).wrapping_sub(1) as u32,
        lanes: lanes.iter().map(|&(ra, b)| Lane { ra, b: b.into(), c: 0 }).collect(),
        ..WarpRequest::default()
    }
}

fn waiter(tag: u8, limit: u32, lanes: &[L]) -> WarpRequest {
    let mut request = WarpRequest { tag, ..request(MbarTryWait, RD, lanes) };
    request.lanes.iter_mut().for_each(|lane| lane.c = limit.into());
    request
}

fn memory(bench: &Bench, objects: &[O]) -> Vec<u32> {
    memory_of(bench.config(), objects)
}

fn memory_of(config: &Config, objects: &[O]) -> Vec<u32> {
    let mut memory = vec![0; (config.bytes() / 4) as usize];
    for &(addr, object) in objects {
        memory[bench::word(config, addr)] = object as u32;
        memory[bench::word(config, addr + 4)] = (object >> 32) as u32;
    }
    memory
}

fn object(bench: &Bench, observed: &CaseAnswers, addr: u32) -> u64 {
    let half = |addr| u64::from(observed.memory[bench.word(addr)]);
    half(addr + 4) << 32 | half(addr)
}

fn case(bench: &Bench, warps: Vec<WarpRequest>, clusters: Vec<ClusterRequest>) -> Case {
    Case { allocations: vec![bench.whole()], warps, clusters, ..Case::default() }
}

fn operations_do_what_their_rows_say(name: &str) {
    let mut bench = Bench::new(config(name));
    each_row(
        ROWS,
        |row| row.rule,
        |row| {
            let &&Row { rule, op, red, lanes, before, rd, pred, after, passes } = row;
            let before = memory(&bench, before);
            let case = case(&bench, vec![request(op, red, lanes)], Vec::new());
            // Single arrivals at one object need one pass if the configuration merges them.
            let merges = bench.config().merge_arrive && op == MbarArrive && lanes.iter().all(|l| l.0 == 0);
            let passes = if merges { 1 } else { passes };
            for (side, observed) in bench.run(rule, &case, &before) {
                let what = format!("{rule}, in {name}, on the {side}");
                let answer = &observed.warps[0];
                let found: Vec<u64> = answer.rsp_rd[..rd.len()].iter().map(|rd| *rd as u64).collect();
                // Rows give the whole object. A state is its high word, and merged lanes all get the first
                // one.
                let state = |lane: usize| rd[if merges { 0 } else { lane }] >> 32 << 32;
                let expected: Vec<u64> = match op.row().result {
                    ResultKind::State => (0..rd.len()).map(state).collect(),
                    _ => rd.to_vec(),
                };
                assert_eq!(found, expected, "{what}: Rd");
                assert_eq!(answer.rsp_pred, pred, "{what}: predicate");
                assert_eq!((answer.rsp_fault, answer.rsp_passes), (0, passes), "{what}: fault and passes");
                let expected = memory(&bench, after);
                assert!(
                    observed.memory == expected,
                    "{what}: memory, {:x}",
                    object(&bench, &observed, lanes[0].0)
                );
            }
        },
    );
}

test_each! {
    mod operations: operations_do_what_their_rows_say;
    default
    #[ignore = "nightly: another configuration"]
    hold
    #[ignore = "nightly: another configuration"]
    merging
}

#[test]
fn every_mbarrier_operation_has_a_row() {
    for row in OPS.iter().filter(|row| row.op.is_mbarrier()) {
        assert!(ROWS.iter().any(|r| r.op == row.op), "{} has no row", row.name);
    }
}

/// Words of `mbarrier.init` for each count, as assemblers emit them (spec 6.2).
#[rustfmt::skip]
const INIT: &[(u64, u64)] = &[
    (1,         0x7fff_f800_001f_fffe), (2,       0x7fff_f000_001f_fffc), (3,         0x7fff_e800_001f_fffa),
    (12,        0x7fff_a000_001f_ffe8), (32,      0x7fff_0000_001f_ffc0), (128,       0x7ffc_0000_001f_ff00),
    (1024,      0x7fe0_0000_001f_f800), (65535,   0x7800_0800_001e_0002), (524_287,   0x4000_0800_0010_0002),
    (524_288,   0x4000_0000_0010_0000), (1_048_575, 0x0000_0800_0000_0002),
];

/// Words of sm_80 after init for each count, as assemblers emit them (spec 6.2.1).
#[rustfmt::skip]
const INIT_SM80: &[(u64, u64)] = &[
    (1,         0x7fff_ffff_3fff_ffff), (2,       0x7fff_fffe_3fff_fffe), (3,         0x7fff_fffd_3fff_fffd),
    (12,        0x7fff_fff4_3fff_fff4), (32,      0x7fff_ffe0_3fff_ffe0), (128,       0x7fff_ff80_3fff_ff80),
    (1024,      0x7fff_fc00_3fff_fc00), (1_048_575, 0x7ff0_0001_3ff0_0001),
];

/// Description, arrivals of init, operations, and the resulting word.
type Reading = (&'static str, u64, &'static [(Op, u64)], u64);

/// Words read from an sm_120 device after these operations, as published by others (spec 6.2).
const READ: &[Reading] = &[
    ("init(1)", 1, &[], 0x7fff_f800_001f_fffe),
    ("init(3)", 3, &[], 0x7fff_e800_001f_fffa),
    ("init(3); arrive", 3, &[(MbarArrive, 0)], 0x7fff_f000_001f_fffa),
    ("init(3); arrive_drop", 3, &[(MbarArriveDrop, 0)], 0x7fff_f000_001f_fffc),
    ("init(3); expect_tx(64)", 3, &[(MbarExpectTx, 64)], 0x7fff_ebff_f81f_fffa),
    ("init(3); expect_tx(0x12345)", 3, &[(MbarExpectTx, 0x12345)], 0x7fff_ebdb_977f_fffa),
    ("init(2); arrive; arrive", 2, &[(MbarArrive, 0), (MbarArrive, 0)], 0xffff_f000_001f_fffc),
    ("init(3); A0T1", 3, &[(MbarExpectTx, 1)], 0x7fff_ebff_ffff_fffa),
    ("init(32)", 32, &[], 0x7fff_0000_001f_ffc0),
];

#[test]
fn memory_reads_as_that_of_a_device() {
    let mut bench = Bench::new(config("default"));
    // Compilers build the word for SYNCS.EXCH.64 from two shifts of 2^20 - n.
    let init = |count: u64| (0x10_0000 - count) << 1 | ((0x10_0000 - count) << 11 & 0xffff_ffff) << 32;
    let inits = INIT.iter().map(|&(count, word)| ("init", count, &[][..], word));
    for (what, count, steps, word) in inits.chain(READ.iter().copied()) {
        let mut warps = vec![request(MbarInit, RZ, &[(64, init(count))])];
        warps.extend(steps.iter().map(|&(op, b)| request(op, RD, &[(64, b)])));
        let (case, zeros) = (case(&bench, warps, Vec::new()), memory(&bench, &[]));
        for (side, observed) in bench.run(what, &case, &zeros) {
            assert_eq!(object(&bench, &observed, 64), word, "{what} of {count}, on the {side}");
        }
    }
    for &(count, word) in INIT_SM80 {
        // A plain store makes the object. After `count` arrivals its parity is inverted.
        let store = request(Store, RZ, &[(64, sm80(0, count, count))]);
        let arrive = |_| request(MbarArriveSm80, RZ, &[(64, 0)]);
        let complete = count <= 32;
        let arrivals = if complete { count } else { 0 };
        let warps = std::iter::once(store).chain((0..arrivals).map(arrive)).collect();
        let (case, zeros) = (case(&bench, warps, Vec::new()), memory(&bench, &[]));
        let word = word | u64::from(complete) << 63;
        for (side, observed) in bench.run("sm_80", &case, &zeros) {
            assert_eq!(object(&bench, &observed, 64), word, "sm_80, {count}, on the {side}");
        }
    }
}

/// A waiter gets exactly one answer: the completion, or the limit if the limit comes first.
fn race_to_one_answer(name: &str) {
    let mut bench = Bench::new(config(name));
    let before = memory(&bench, &[(0, word(0, 1, 0, 1))]);
    let mut answers = Vec::new();
    for limit in 1..40 {
        // These tests delay the arrival and complete no phase.
        let mut warps = vec![request(MbarTestWait, RD, &[(0, 0)]); 12];
        warps.insert(0, waiter(1, limit, &[(0, 0), (0, 0)]));
        warps.push(request(MbarArrive, RZ, &[(0, 0)]));
        (1..).zip(&mut warps).for_each(|(tag, warp)| warp.tag = tag);
        let case = case(&bench, warps, Vec::new());
        for (side, observed) in bench.run("race", &case, &before) {
            let what = format!("limit {limit}, in {name}, on the {side}");
            assert_eq!((observed.warps.len(), observed.wakes.len()), (13, 1), "{what}: one answer each");
            assert_eq!(observed.wakes[0].wake_tag, 1, "{what}");
            assert_eq!(object(&bench, &observed, 0), word(1, 1, 0, 1), "{what}");
            answers.push((limit, observed.wakes[0].wake_pred));
        }
    }
    assert!(answers.iter().all(|(_, pred)| matches!(pred, 0 | 3)), "all lanes or none: {answers:?}");
    assert!(answers.is_sorted_by_key(|(_, pred)| *pred), "a longer limit is no worse: {answers:?}");
    let (first, last) = (answers[0].1, answers[answers.len() - 1].1);
    assert_eq!((first, last), (0, 3), "in {name}, the limits drawn are on both sides of the race");
}

test_each! {
    mod completion_and_limit: race_to_one_answer;
    default
    #[ignore = "nightly: another configuration"]
    hold
    #[ignore = "nightly: another configuration"]
    deep
}

/// Transactions through the cluster port wake waiters as those of lanes do.
#[test]
fn transactions_of_the_cluster_port_wake() {
    let mut bench = Bench::new(config("default"));
    let before = memory(&bench, &[(0, word(0, 0, 64, 5))]);
    let complete = |tag, b| ClusterRequest {
        op: MbarCompleteTx as u8,
        size: Size::U64 as u8,
        red: true,
        tag,
        b,
        ..ClusterRequest::default()
    };
    let mut case = case(&bench, vec![waiter(9, 500, &[(0, 0)])], vec![complete(1, 48), complete(2, 16)]);
    // Delays the cluster requests behind the wait.
    case.pauses.cluster = 0xffff;
    for (side, observed) in bench.run("cluster", &case, &before) {
        let wakes: Vec<_> = observed.wakes.iter().map(|out| (out.wake_tag, out.wake_pred)).collect();
        assert_eq!(wakes, [(9, 1)], "on the {side}");
        assert_eq!(object(&bench, &observed, 0), word(1, 5, 0, 5), "on the {side}");
    }
}

/// A wait that finds the table full is answered immediately (spec 6.3), and all waiters in it are woken.
#[test]
fn a_full_table_answers_at_once() {
    let mut bench = Bench::new(config("all_options"));
    let places = bench.config().num_waiters as u8;
    let before = memory(&bench, &[(0, word(0, 1, 0, 1))]);
    let mut warps: Vec<_> = (0..places + 2).map(|tag| waiter(tag, 5000, &[(0, 0)])).collect();
    warps.push(WarpRequest { tag: 60, ..request(MbarArrive, RZ, &[(0, 0)]) });
    let mut case = case(&bench, warps, Vec::new());
    for pauses in [0, 0x5555_5555_5555_5555, u64::MAX] {
        case.pauses.wake = pauses;
        for (side, observed) in bench.run("full table", &case, &before) {
            let at_once: Vec<_> = observed.warps.iter().map(|out| (out.rsp_tag, out.rsp_pred)).collect();
            assert_eq!(at_once, [(places, 0), (places + 1, 0), (60, 0)], "on the {side}");
            let mut woken: Vec<_> = observed.wakes.iter().map(|out| (out.wake_tag, out.wake_pred)).collect();
            woken.sort_unstable();
            assert_eq!(woken, (0..places).map(|tag| (tag, 1)).collect::<Vec<_>>(), "on the {side}");
        }
    }
}

/// Returns the cycles from the entry of a request into the table of waiters to its wake-up.
fn cycles_of_wait(name: &str, request: &WarpRequest, objects: &[O]) -> u64 {
    let named = config(name);
    let mut pair = lockstep_of(&named);
    let mut i = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
    pair.load_memory(&memory_of(&named.config, objects)).expect("as many words");
    let mut cycle = |i: &In| {
        pair.cycle(i).unwrap_or_else(|stop| panic!("{name}: {stop}"));
        (*pair.out(), *pair.probe())
    };
    bench::whole(&named.config).drive(&mut i);
    cycle(&i);
    i.cta_valid = 0;
    request.drive(&mut i);
    cycle(&i);
    i.req_valid = 0;
    let mut entered = None;
    for at in 0..100_000 {
        let (out, probe) = cycle(&i);
        if probe.wait_enter == 1 {
            entered = Some(at);
        }
        if out.wake_valid == 1 {
            return at - entered.expect("it entered the table");
        }
        assert_eq!(out.rsp_valid, 0, "{name}: it waits");
    }
    panic!("{name}: never woken")
}

/// A limit of n ends in the nth cycle of the wait; the wake-up is valid two cycles later (spec 6.10, 6.12).
fn limit_is_kept_to_the_cycle(name: &str) {
    let objects = [(0, word(0, 1, 0, 1))];
    for limit in [1, 2, 3, 7, 100, 70_000] {
        let cycles = cycles_of_wait(name, &waiter(0, limit, &[(0, 0)]), &objects);
        assert_eq!(cycles, u64::from(limit) + 2, "limit {limit} in {name}");
    }
    let limit = config(name).config.try_wait_limit;
    let cycles = cycles_of_wait(name, &waiter(0, 0, &[(0, 0)]), &objects);
    assert_eq!(cycles, u64::from(limit) + 2, "the limit of {name}");
}

test_each! {
    mod limits: limit_is_kept_to_the_cycle;
    default
    small
    #[ignore = "nightly: another configuration"]
    hold
    #[ignore = "nightly: another configuration"]
    short
    all_options
}

/// If lanes have different limits, the limit of the lane that is served first applies (spec 6.10).
fn lane_that_goes_first_sets_the_limit(name: &str, limit: u64) {
    let objects = [(0, word(0, 1, 0, 1))];
    let mut request = waiter(0, 20, &[(0, 0), (0, 0), (0, 0)]);
    request.lanes[0].c = 5;
    request.lanes[2].c = 50;
    assert_eq!(cycles_of_wait(name, &request, &objects), limit + 2);
}

test_each! {
    mod limits_of_several_lanes: lane_that_goes_first_sets_the_limit;
    default(5)
    #[ignore = "nightly: another configuration"]
    highest(50)
    #[ignore = "nightly: another configuration"]
    rotating(5)
}

/// A wait longer than any other activity is not reported as a deadlock.
#[test]
fn a_long_wait_is_no_deadlock() {
    let mut bench = Bench::new(config("small"));
    let before = memory(&bench, &[(0, word(0, 1, 0, 1))]);
    let case = case(&bench, vec![waiter(3, 70_000, &[(0, 0)])], Vec::new());
    for (side, observed) in bench.run("a long wait", &case, &before) {
        let wakes: Vec<_> = observed.wakes.iter().map(|out| (out.wake_tag, out.wake_pred)).collect();
        assert_eq!(wakes, [(3, 0)], "on the {side}");
    }
}

/// A reset at any time clears waiters and requests in flight on both sides.
fn leaves_both_sides_alike(name: &str) {
    let named = config(name);
    let mut pair = lockstep_of(&named);
    let mut resets_of_waiters = 0;
    for seed in 0..400 {
        let mut stimulus = RandomStimulus::new(named.config, &Profile::default(), seed, u64::MAX);
        // `In::default()` is a reset cycle because all its inputs are zero.
        let mut i = In::default();
        resets_of_waiters += u32::from(pair.probe().wait_suspended != 0);
        pair.cycle(&i).unwrap_or_else(|stop| panic!("{name}, seed {seed}: {stop}"));
        for _ in 0..200 + 7 * (seed % 60) {
            stimulus.drive(&mut i);
            pair.cycle(&i).unwrap_or_else(|stop| panic!("{name}, seed {seed}: {stop}"));
            stimulus.observe(&i, pair.out());
            complete_handshakes(&mut i, pair.out());
        }
    }
    assert!(resets_of_waiters > 3, "{name}: {resets_of_waiters} resets with a waiter in the table");
}

test_each! {
    mod reset_in_the_middle: leaves_both_sides_alike;
    default
    small
    all_options
    #[ignore = "nightly: another configuration"]
    deep
}

/// A request with limit 0 waits for the limit of the configuration.
fn default_limit_is_the_configurations(name: &str) {
    let mut bench = Bench::new(config(name));
    let before = memory(&bench, &[(0, word(0, 1, 0, 1))]);
    let limit = bench.config().try_wait_limit;
    // Compares limit 0 with the configured limit as an explicit value.
    let run = |bench: &mut Bench, limit| {
        let mut case = case(bench, vec![waiter(0, limit, &[(0, 0)])], Vec::new());
        case.config = name.to_string();
        bench
            .run("limit", &case, &before)
            .map(|(_, observed)| observed.wakes.iter().map(|out| out.wake_pred).collect::<Vec<_>>())
    };
    assert_eq!(run(&mut bench, 0), run(&mut bench, limit), "in {name}");
    assert_eq!(run(&mut bench, 0)[0], [0], "in {name}");
}

test_each! {
    mod the_default_limit: default_limit_is_the_configurations;
    small
    #[ignore = "nightly: another configuration"]
    hold
    #[ignore = "nightly: another configuration"]
    short
}

/// The cluster port accepts only operations that need no result, and only without Rd (spec 6.7).
#[test]
fn the_cluster_port_knows_what_needs_no_result() {
    let mut bench = Bench::new(config("small"));
    let before = memory(&bench, &[(0, word(0, 9, 9, 9))]);
    let known = [
        MbarExpectTx,
        MbarCompleteTx,
        MbarArrive,
        MbarArriveCount,
        MbarArriveExpectTx,
        MbarArriveDrop,
        MbarArriveDropCount,
        MbarArriveDropExpectTx,
        MbarArriveSm80,
    ];
    for row in OPS.iter().filter(|row| row.op.is_mbarrier()) {
        for red in [false, true] {
            let request = ClusterRequest {
                op: row.op as u8,
                size: Size::U64 as u8,
                red,
                b: 1,
                ..ClusterRequest::default()
            };
            let case = case(&bench, Vec::new(), vec![request]);
            let fault = if red && known.contains(&row.op) { Fault::None } else { Fault::Illegal };
            for (side, observed) in bench.run(row.name, &case, &before) {
                let faults: Vec<_> = observed.clusters.iter().map(|answer| answer.cl_rsp_fault).collect();
                // Without a fault the request is posted and has no response (spec 4.7).
                let expected: &[u8] = if fault == Fault::None { &[] } else { &[fault as u8] };
                assert_eq!(faults, expected, "{}, red {red}, on the {side}", row.name);
                let touched = observed.memory != before;
                assert_eq!(touched, fault == Fault::None, "{}, red {red}, on the {side}", row.name);
            }
        }
    }
}

/// An object must have 64 bits, be aligned to 8 bytes, and lie inside the allocation.
#[test]
fn objects_elsewhere_are_faults() {
    let mut bench = Bench::new(config("small"));
    let zeros = memory(&bench, &[]);
    let bytes = bench.config().bytes() as u32;
    for row in OPS.iter().filter(|row| row.op.is_mbarrier()) {
        let mut expect = |size: Size, addr: u32, fault: Fault| {
            let request = WarpRequest { size: size as u8, ..request(row.op, RD, &[(addr, 1)]) };
            let case = case(&bench, vec![request], Vec::new());
            for (side, observed) in bench.run(row.name, &case, &zeros) {
                let answer = &observed.warps[0];
                let what = format!("{}.{size} at {addr}, on the {side}", row.name);
                assert_eq!((answer.rsp_fault, answer.rsp_fault_addr), (fault as u8, addr), "{what}");
                assert!(observed.memory == zeros, "{what}: memory");
            }
        };
        expect(Size::U64, 4, Fault::Misaligned);
        expect(Size::U64, 9, Fault::Misaligned);
        expect(Size::U64, bytes, Fault::OutOfRange);
        expect(Size::U32, 8, Fault::Illegal);
        expect(Size::B128, 16, Fault::Illegal);
    }
}
