//! mbarrier objects, asynchronous copies and clusters: results of single instructions, order of events, and
//! deadlock reports.

use crate::functional;

use atoms_isa::Program;

use atoms_model::{Config, MemoryPort, Unit};
use atoms_ops::Op;
use atoms_sm::{CoreEvent, Launch, Observer, RunReport, SmConfig, run, run_observed};
use functional::{FunctionalPort, Shape};
use std::collections::BTreeMap;
use std::path::Path;

fn program(arch: &str, lines: &str) -> Program {
    let text = format!(".target {arch}\n.section .text.k,\"ax\",@progbits\n{lines}\nEXIT ;\n");
    Program::parse("k.sass", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

/// Launch with a buffer `in` of 4096 words with values 0, 1, 2, ..., and a buffer `out` of 512 zeros.
fn launch(head: &str) -> Launch {
    let values: Vec<String> = (0..4096).map(|i| i.to_string()).collect();
    let text = format!(
        "kernel = \"k\"\n{head}\n[[param]]\nname = \"in\"\ntype = \"u32\"\nvalues = [{}]\n\
         [[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 512\n",
        values.join(", ")
    );
    Launch::from_toml("k.toml", &text, Path::new("")).unwrap_or_else(|e| panic!("{e}"))
}

fn model() -> Unit {
    Unit::new(Config::default())
}

fn run_on<P: MemoryPort>(arch: &str, lines: &str, head: &str, port: &mut P) -> Result<RunReport, String> {
    let program = program(arch, lines);
    run(&program.kernels[0], &launch(head), port, &SmConfig::default()).map_err(|e| e.to_string())
}

/// Runs on the model and on the functional port. Both must give the same buffer `out`.
#[track_caller]
fn outcome(arch: &str, lines: &str, head: &str) -> (RunReport, Vec<u32>) {
    let report = run_on(arch, lines, head, &mut model()).unwrap_or_else(|e| panic!("{e}"));
    let mut functional = FunctionalPort::new(Shape::default());
    let other = run_on(arch, lines, head, &mut functional).unwrap_or_else(|e| panic!("{e}"));
    assert!(functional.clean());
    let words = |report: &RunReport| -> Vec<u32> {
        let out = report.buffer("out").unwrap();
        (0..512).map(|i| out.element.read(&out.bytes, i) as u32).collect()
    };
    assert_eq!(words(&report), words(&other), "{lines}");
    let out = words(&report);
    (report, out)
}

#[track_caller]
fn failure(arch: &str, lines: &str, head: &str, parts: &[&str]) {
    let text = run_on(arch, lines, head, &mut model()).expect_err(lines);
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is not in: {text}"));
}

const ONE: &str = "grid = 1\nblock = 1\nshared = 256";
const WARP: &str = "grid = 1\nblock = 32\nshared = 256";

/// Thread 0 initializes an mbarrier object at 0x400 for `count` arrivals.
fn init(count: u32) -> String {
    let (low, high) = ((0x10_0000 - count) << 1, (0x10_0000 - count) << 11);
    format!(
        "S2R R0, SR_TID.X ;\nISETP.NE.AND P6, PT, R0, RZ, PT ;\nMOV R1, 0x400 ;\nMOV R2, {low:#x} ;\nMOV R3, {high:#x} ;\n\
         @!P6 SYNCS.EXCH.64 RZ, [R1], R2 ;\n"
    )
}

/// Test cases: rule, instructions on an mbarrier object that expects 3 arrivals, final 64-bit value of the
/// object. The values are from spec 6.2, which has some of them from real devices.
#[rustfmt::skip]
const STEPS: &[(&str, &str, u64)] = &[
    ("init",                     "NOP ;",                                                     0x7fff_e800_001f_fffa),
    ("arrive",                   "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R1], RZ ;",                  0x7fff_f000_001f_fffa),
    ("arrive, written back",     "SYNCS.CCTL.WB [R1] ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R1], RZ ;\nSYNCS.LD.64.WATCH R8, [R1] ;\nSTS.64 [R1+0x8], R8 ;\nSYNCS.CCTL.WB [R1] ;\nMOV R1, 0x408 ;", 0x7fff_f000_001f_fffa),
    ("arrive drop",              "SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 RZ, [R1], RZ ;",           0x7fff_f000_001f_fffc),
    ("expect 64",                "MOV R4, 0x40 ;\nSYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [R1], R4 ;", 0x7fff_ebff_f81f_fffa),
    ("expect one",               "SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [R1], RZ ;",              0x7fff_ebff_ffff_fffa),
    ("expect, complete",         "MOV R4, 0x40 ;\nSYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [R1], R4 ;\nSYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [R1], R4 ;", 0x7fff_e800_001f_fffa),
    ("arrive and expect",        "MOV R4, 0x40 ;\nSYNCS.ARRIVE.TRANS64 RZ, [R1], R4 ;",       0x7fff_f3ff_f81f_fffa),
    ("arrive 3 times",           "MOV R4, 0x3 ;\nSYNCS.ARRIVE.TRANS64.ART0 RZ, [R1], R4 ;",   0xffff_e800_001f_fffa),
    ("drop 2",                   "MOV R4, 0x2 ;\nSYNCS.ARRIVE.TRANS64.OPTOUT.ART0 RZ, [R1], R4 ;", 0x7fff_f800_001f_fffe),
    ("arrive 2, no completion",  "MOV R4, 0x2 ;\nSYNCS.ARRIVE.TRANS64.TMASK.ART0 R6, [R1], R4 ;", 0x7fff_f800_001f_fffa),
];

#[test]
fn steps_of_an_object() {
    for (rule, lines, word) in STEPS {
        let lines = format!(
            "{}{lines}\nLDS.64 R8, [R1] ;\nLDC.64 R10, c[0x0][0x218] ;\nSTG.E.64 desc[UR4][R10.64], R8 ;",
            init(3)
        );
        let (_, out) = outcome("sm_90a", &lines.replace("desc[UR4]", ""), ONE);
        assert_eq!(u64::from(out[1]) << 32 | u64::from(out[0]), *word, "{rule}: {:#x}{:08x}", out[1], out[0]);
    }
}

#[test]
fn arrivals_through_generic_addresses_of_sm_80() {
    let lines = "S2R R0, SR_TID.X ;\nISETP.NE.AND P6, PT, R0, RZ, PT ;\nMOV R2, 0x3fffffe0 ;\nMOV R3, 0x7fffffe0 ;\n\
                 @!P6 STS.64 [0x8], R2 ;\nMOV R4, 0x8 ;\nMOV R5, c[0x0][0x1c] ;\n\
                 ATOM.E.ARRIVE.64.STRONG.SM PT, R6, [R4.64+URZ] ;\nLDS R8, [0xc] ;\nLDC.64 R10, c[0x0][0x168] ;\n\
                 IMAD.WIDE.U32 R10, R0, 0x4, R10 ;\nSTG.E [R10.64], R8 ;";
    let (_, out) = outcome("sm_80", lines, WARP);
    assert_eq!(out[..32], [0xffff_ffe0; 32]);
    let lines = "LDC.64 R4, c[0x0][0x160] ;\nATOM.E.ARRIVE.64.STRONG.SM PT, RZ, [R4.64+URZ] ;";
    failure(
        "sm_80",
        lines,
        WARP,
        &["MBAR.ARRIVE.SM80 at 0x10fffffe00, which is not in shared memory", "lane 0"],
    );
}

/// Each lane stores R8 to its word of `out`.
const STORE: &str = "LDC.64 R10, c[0x0][0x218] ;\nIMAD.WIDE.U32 R10, R0, 0x4, R10 ;\nSTG.E [R10.64], R8 ;";

#[test]
fn lanes_that_arrive_together_get_states_of_their_own() {
    let lines = format!("{}SYNCS.ARRIVE.TRANS64.A1T0 R8, [R1], RZ ;\nMOV R8, R9 ;\n{STORE}", init(40));
    let (_, out) = outcome("sm_90a", &lines, WARP);
    let expected: Vec<u32> = (0..32).map(|lane| (0x10_0000 - 40 + lane) << 11).collect();
    assert_eq!(out[..32], expected);
}

#[test]
fn lanes_that_arrive_together_are_named_as_the_warp_counts_them() {
    let lines = format!("{}SYNCS.ARRIVE.TRANS64.TMASK.ART0 R8, [R1], R0 ;\n{STORE}", init(1000));
    let expected: Vec<u32> = (0..32).map(|lane| 1 << lane).collect();
    for lanes in [32, 16, 4, 1] {
        let shape = Shape { lanes, ..Shape::default() };
        let report = run_on("sm_90a", &lines, WARP, &mut FunctionalPort::new(shape)).expect(&lines);
        let out = report.buffer("out").unwrap();
        let words: Vec<u32> = (0..32).map(|i| out.element.read(&out.bytes, i) as u32).collect();
        assert_eq!(words, expected, "{lanes} lanes");
    }
}

#[test]
fn each_lane_asks_about_its_own_phase() {
    // The phase of parity 0 is complete, the phase of parity 1 is not. No lane sleeps, because the lanes wait
    // for different parities.
    let lines = format!(
        "{}SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R1], RZ ;\nSHF.L.U32 R5, R0, 0x1f, RZ ;\n\
         SYNCS.PHASECHK.TRANS64 P0, [R1], R5 ;\nSYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R1], R5 ;\n\
         SEL R8, RZ, 0x1, !P0 ;\n@P1 IADD3 R8, R8, 0x2, RZ ;\n{STORE}",
        init(32)
    );
    let (report, out) = outcome("sm_90a", &lines, WARP);
    assert!((0..32).all(|lane| out[lane] == if lane % 2 == 0 { 3 } else { 0 }), "{out:?}");
    assert_eq!(report.statistics.suspended, 0);
}

/// Warp 1 waits in a try-wait until warp 0 arrives, after a delay.
#[test]
fn a_sleeper_is_woken() {
    let lines = format!(
        "{}BAR.SYNC 0x0 ;\nISETP.LT.U32.AND P0, PT, R0, 0x20, PT ;\n@P0 NANOSLEEP 0xc8 ;\n\
         @P0 SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R1], RZ ;\n@P0 EXIT ;\n\
         .L_x_0:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R1], RZ ;\n@!P1 BRA `(.L_x_0) ;\nMOV R8, 0x7 ;\n{STORE}",
        init(32)
    );
    let (report, out) = outcome("sm_90a", &lines, "grid = 1\nblock = 64\nshared = 256");
    assert_eq!(out[32..64], [7; 32]);
    let report_on_model = report.statistics;
    assert_eq!((report_on_model.suspended, report_on_model.woken), (1, 1));
    // 200 ns are 360 cycles of 556 ps.
    assert!(report_on_model.cycles > 360 && report_on_model.cycles < 500, "{}", report_on_model.cycles);
}

#[test]
fn a_sleep_for_an_object_ends_with_its_phase_or_its_hint() {
    // Thread 0 tests the phase, sleeps up to 10 microseconds and tests again. Warp 1 arrives after 200 ns, or
    // never.
    let lines = |arrives: &str| {
        format!(
            "{}BAR.SYNC 0x0 ;\nISETP.LT.U32.AND P0, PT, R0, 0x20, PT ;\n@P0 BRA `(.L_x_1) ;\nNANOSLEEP 0xc8 ;\n\
             {arrives} ;\nEXIT ;\n.L_x_1:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R1], RZ ;\n\
             @!P1 NANOSLEEP.SYNCS 0x2710 ;\n@!P1 SYNCS.PHASECHK.TRANS64 P1, [R1], RZ ;\n\
             SEL R8, RZ, 0x1, !P1 ;\n{STORE}",
            init(32)
        )
    };
    let (config, head) =
        (Config { try_wait_limit: 100, ..Config::default() }, "grid = 1\nblock = 64\nshared = 256");
    for (arrives, holds, cycles) in
        [("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R1], RZ", 1, 360..600), ("NOP", 0, 18_000 / 2 + 100..10_300)]
    {
        let program = program("sm_90a", &lines(arrives));
        let mut port = Unit::new(config);
        let report = run(&program.kernels[0], &launch(head), &mut port, &SmConfig::default()).unwrap();
        let out = report.buffer("out").unwrap();
        assert_eq!(out.element.read(&out.bytes, 0), holds);
        // The hint is 17986 cycles, but the longest sleep is 10000 cycles.
        assert!(cycles.contains(&report.statistics.cycles), "{}", report.statistics.cycles);
        assert_eq!((report.statistics.suspended, report.statistics.woken), (2, holds));
    }
}

/// In a diverged warp, waiting threads must not keep the others from arriving, even with a long time hint.
#[test]
fn waiting_threads_let_the_others_of_their_warp_run() {
    let lines = format!(
        "{}BSSY B0, `(.L_x_3) ;\n@!P6 BRA `(.L_x_1) ;\n.L_x_0:\n\
         SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R1], RZ ;\n@!P1 NANOSLEEP.SYNCS 0x989680 ;\n@!P1 BRA `(.L_x_0) ;\n\
         BRA `(.L_x_2) ;\n.L_x_1:\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R1], RZ ;\n.L_x_2:\nBSYNC B0 ;\n.L_x_3:\n\
         MOV R8, 0x5 ;\n{STORE}",
        init(1)
    );
    let (report, out) = outcome("sm_90a", &lines, WARP);
    assert_eq!(out[..32], [5; 32]);
    assert!(report.statistics.cycles < 500, "{}", report.statistics.cycles);
}

#[test]
fn what_the_compiler_makes_of_addresses_that_differ() {
    // Lanes 0 to 15 and lanes 16 to 31 use different objects. A loop with R2UR handles the objects one by
    // one.
    let lines = format!(
        "{}@!P6 SYNCS.EXCH.64 RZ, [R1+0x8], R2 ;\nSHF.R.U32.HI R6, RZ, 0x4, R0 ;\nLEA R6, R6, R1, 0x3 ;\n\
         PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0 ;\n.L_x_0:\nPLOP3.LUT P1, PT, P1, P0, PT, 0xa2, 0x0 ;\n\
         @P0 R2UR P1, UR4, R6 ;\n@P0 PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0 ;\n\
         @!P1 SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [UR4], RZ ;\n@!P1 ARRIVES.LDGSTSBAR.64.TRANSCNT [UR4] ;\n\
         @!P1 ARRIVES.LDGSTSBAR.64.ARVCNT [UR4] ;\n@P0 BRA.U.ANY `(.L_x_0) ;\n\
         .L_x_1:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R6], RZ ;\n@!P1 BRA `(.L_x_1) ;\nLDS R8, [R6+0x4] ;\n{STORE}",
        init(16)
    );
    let (report, out) = outcome("sm_90a", &lines, WARP);
    assert!(out[..32].iter().all(|high| *high == 0x8000_0000 | (0x10_0000 - 16) << 11), "{out:x?}");
    assert_eq!(report.statistics.cluster_requests, 64);
}

#[test]
fn values_kept_in_the_return_pc_and_or_of_differences() {
    let lines = format!(
        "S2R R0, SR_TID.X ;\nRPCMOV.32 Rpc.HI, R0 ;\nRPCMOV.32 Rpc.LO, 0x7 ;\nRPCMOV.32 R8, Rpc.HI ;\n\
         RPCMOV.32 R9, Rpc.LO ;\nLOP3.LUT R6, R0, 0x1, RZ, 0xc0, !PT ;\nLOP3.LUT R7, R0, 0x2, RZ, 0xc0, !PT ;\n\
         R2UR P1, UR4, R6 ;\nR2UR.OR P1, UR5, R7 ;\nIMAD R8, R8, 0x8, R9 ;\n@P1 MOV R8, 0x1 ;\n{STORE}"
    );
    let (_, out) = outcome("sm_90a", &lines, WARP);
    let expected: Vec<u32> = (0..32).map(|t| if t % 4 == 0 { 8 * t + 7 } else { 1 }).collect();
    assert_eq!(out[..32], expected);
}

#[derive(Default)]
struct Traffic {
    /// Operation, offset and operand B of each request.
    requests: Vec<(Op, u32, u128)>,
    answered: usize,
    /// For each completion: number of requests answered before the port accepted the completion.
    answered_before: BTreeMap<usize, usize>,
}

impl Observer for Traffic {
    fn observe(&mut self, _: u64, event: &CoreEvent<'_>) {
        match event {
            CoreEvent::ClusterRequest(_, inputs) => {
                let op = Op::from_code(inputs.cl_op).unwrap();
                if op != Op::Store {
                    self.answered_before.insert(self.requests.len(), self.answered);
                }
                self.requests.push((op, inputs.cl_addr, inputs.cl_b));
            }
            CoreEvent::ClusterResponse(outputs) => {
                assert_eq!(outputs.cl_rsp_valid, 1);
                self.answered += 1;
            }
            _ => {}
        }
    }
}

/// Copies three blocks of 256 bytes from words 0, 64 and 128 of `in` to 0x440, 0x540 and 0x640, with objects
/// at 0x400, 0x408 and 0x410. Then the thread waits for all of them and stores words of each block to `out`.
fn three_blocks() -> String {
    let start = |k: u32| {
        format!(
            "UMOV UR8, {:#x} ;\nUMOV UR9, {:#x} ;\nUIADD3 UR6, UP0, UR4, {:#x}, URZ ;\n\
             UIADD3.X UR7, URZ, UR5, URZ, UP0, !UPT ;\n\
             UBLKCP.S.G [UR8], [UR6], UR10 ;\n",
            0x440 + 0x100 * k,
            0x400 + 8 * k,
            0x100 * k
        )
    };
    let wait = |k: u32| {
        format!(
            ".L_w_{k}:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1+{:#x}], RZ ;\n@!P0 BRA `(.L_w_{k}) ;\n\
             LDS.128 R8, [R1+{:#x}] ;\nSTG.E.128 [R10.64+{:#x}], R8 ;\n",
            8 * k,
            0x40 + 0x1f0 - 0x100 + 0x100 * k,
            16 * k
        )
        .replace("R8 ;", "R12 ;")
        .replace("LDS.128 R8", "LDS.128 R12")
    };
    let expect = "SYNCS.EXCH.64 RZ, [R1+0x8], R2 ;\nSYNCS.EXCH.64 RZ, [R1+0x10], R2 ;\nMOV R4, 0x100 ;\n\
                  SYNCS.ARRIVE.TRANS64 RZ, [R1], R4 ;\nSYNCS.ARRIVE.TRANS64 RZ, [R1+0x8], R4 ;\n\
                  SYNCS.ARRIVE.TRANS64 RZ, [R1+0x10], R4 ;\nULDC.64 UR4, c[0x0][0x210] ;\nUMOV UR10, 0x10 ;\n\
                  LDC.64 R10, c[0x0][0x218] ;\n";
    let mut lines = init(1) + expect;
    (0..3).for_each(|k| lines += &start(k));
    (0..3).for_each(|k| lines += &wait(k));
    lines
}

#[test]
fn blocks_end_out_of_order_and_never_before_their_data() {
    let program = program("sm_90a", &three_blocks());
    let launch = launch("grid = 1\nblock = 1\nshared = 1024");
    let mut orders = BTreeMap::new();
    for copy_seed in 0..20 {
        let mut traffic = Traffic::default();
        let config = SmConfig { copy_seed, ..SmConfig::default() };
        let report = run_observed(&program.kernels[0], &launch, &mut model(), &config, &mut traffic).unwrap();
        let out = report.buffer("out").unwrap();
        let words: Vec<u64> = (0..12).map(|i| out.element.read(&out.bytes, i)).collect();
        // The last four words of each block.
        let expected: Vec<u64> = (0..3).flat_map(|k| (0..4).map(move |i| 64 * k + 60 + i)).collect();
        assert_eq!(words, expected);
        assert_eq!((report.statistics.copies, report.statistics.copied_bytes), (3, 768));
        let mut order = Vec::new();
        for (at, (op, offset, b)) in traffic.requests.iter().enumerate().filter(|(_, r)| r.0 != Op::Store) {
            assert_eq!((*op, *b), (Op::MbarCompleteTx, 256));
            let block = (offset - 0x400) / 8;
            let data = (0x440 + 0x100 * block)..(0x540 + 0x100 * block);
            // The port executes its requests in order, so a request accepted earlier also writes earlier.
            let before = &traffic.requests[..at];
            let written = before.iter().filter(|r| r.0 == Op::Store && data.contains(&r.1)).count();
            assert_eq!(written, 16, "seed {copy_seed}: block {block} ends too early");
            order.push(block);
        }
        assert_eq!(traffic.answered, 0, "writes and completions are posted");
        *orders.entry(order).or_insert(0) += 1;
    }
    assert!(orders.len() > 2, "{orders:?}");
}

#[test]
fn an_arrival_waits_for_the_earlier_copies_of_its_thread() {
    // Copies before the arrival go to 0x440, copies after it to 0x640.
    let lines = format!(
        "{}LDC.64 R4, c[0x0][0x210] ;\nIMAD.WIDE.U32 R4, R0, 0x10, R4 ;\nIMAD R6, R0, 0x10, R1 ;\n\
         LDGSTS.E.64 [R6+0x40], [R4.64] ;\nLDGSTS.E [R6+0x48], [R4.64+0x8] ;\nLDGSTS.E [R6+0x4c], [R4.64+0xc] ;\n\
         ARRIVES.LDGSTSBAR.64.ARVCNT [R1] ;\nLDGSTS.E.BYPASS.128 [R6+0x240], [R4.64] ;\n\
         .L_x_0:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], RZ ;\n@!P0 BRA `(.L_x_0) ;\n\
         LDS R8, [R6+0x44] ;\nLDS R9, [R6+0x4c] ;\nIADD3 R8, R8, R9, RZ ;\n{STORE}",
        init(32)
    );
    let program = program("sm_90a", &lines);
    for copy_seed in 0..5 {
        let mut traffic = Traffic::default();
        let config = SmConfig { copy_seed, ..SmConfig::default() };
        let launch = launch("grid = 1\nblock = 32\nshared = 1200");
        let report = run_observed(&program.kernels[0], &launch, &mut model(), &config, &mut traffic).unwrap();
        let out = report.buffer("out").unwrap();
        assert!((0..32).all(|t| out.element.read(&out.bytes, t) == 8 * t as u64 + 4));
        let arrivals = traffic.requests.iter().enumerate().filter(|(_, r)| r.0 == Op::MbarArrive);
        let last = arrivals.map(|(at, _)| at).max().unwrap();
        let early = |r: &&(Op, u32, u128)| r.0 == Op::Store && (0x440..0x640).contains(&r.1);
        // Writes of copies for which an arrival waits have responses, in order. Arrivals are posted.
        let stores = traffic.requests.iter().filter(|r| r.0 == Op::Store);
        let answered = stores.take(traffic.answered_before[&last]);
        assert_eq!(answered.filter(early).count(), 96, "all copies before the last arrival");
        assert_eq!(traffic.answered, 96 + 32, "every store, and no arrival");
        assert_eq!(report.statistics.copies, 128);
        // The allocation stays until the last copy is done, although its threads have ended.
        assert_eq!(traffic.requests.len(), 96 + 32 + 32);
    }
}

const CLUSTER: &str = "grid = 2\nblock = 32\ncluster = 2\nshared = 256\ncycle_budget = 100000";

/// R1 is the address of the CTA's own mbarrier object, R6 that of the object in the other CTA. All threads of
/// the cluster synchronize.
fn pair(count: u32) -> String {
    format!(
        "{}S2R R20, SR_CgaCtaId ;\nLEA R1, R20, R1, 0x18 ;\n@!P6 SYNCS.EXCH.64 RZ, [R1], R2 ;\n\
         LOP3.LUT R21, R20, 0x1, RZ, 0x3c, !PT ;\nPRMT R6, R21, 0x654, R1 ;\nIMAD R0, R20, 0x20, R0 ;\n\
         UCGABAR_ARV ;\nUCGABAR_WAIT ;\n",
        init(count).replace("@!P6 SYNCS.EXCH.64 RZ, [R1], R2 ;\n", "")
    )
}

/// Waits for the object, then loads R8 from the own memory at 0x440.
const TAKE: &str = ".L_x_0:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], RZ ;\n@!P0 BRA `(.L_x_0) ;\n\
                    S2R R22, SR_TID.X ;\nLEA R22, R22, R1, 0x3 ;\nLDS R8, [R22+0x40] ;";

#[test]
fn stores_and_atomics_to_the_other_cta() {
    for (lines, bytes, of_thread) in [
        ("MOV R16, R0 ;\nSTAS [R14.64], R16 ;", 4, (|t| t) as fn(u32) -> u32),
        ("MOV R16, R0 ;\nMOV R17, R0 ;\nSTAS.64 [R14.64], R16 ;", 8, |t| t),
        (
            "MOV R16, 0x3 ;\nSTS [R12+0x40], RZ ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\nREDAS.ADD [R14.64], R16 ;\nREDAS.ADD [R14.64], R0 ;",
            8,
            |t| t + 3,
        ),
        // All threads add to one place, with a carry into the high word: 32 * 0x90000000 is 18 * 2^32.
        (
            "MOV R16, 0x90000000 ;\nMOV R17, RZ ;\nIADD3 R14, R6, 0x40, RZ ;\nSTS.64 [R1+0x40], RZ ;\nUCGABAR_ARV ;\n\
             UCGABAR_WAIT ;\nREDAS.ADD.64 [R14.64], R16 ;",
            8,
            |_| 18,
        ),
        (
            "MOV R16, -0x5 ;\nSTS [R12+0x40], R16 ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\nREDAS.MAX.S32 [R14.64], R0 ;",
            4,
            |t| t,
        ),
    ] {
        let take =
            if lines.contains("ADD.64") { TAKE.replace("[R22+0x40]", "[R1+0x44]") } else { TAKE.into() };
        let lines = format!(
            "{}MOV R4, {:#x} ;\nSYNCS.ARRIVE.TRANS64.RED RZ, [R1], R4 ;\nS2R R12, SR_TID.X ;\nLEA R14, R12, R6, 0x3 ;\n\
             IADD3 R14, R14, 0x40, RZ ;\nMOV R15, R6 ;\nLEA R12, R12, R1, 0x3 ;\n{lines}\n{take}\n{STORE}\n\
             UCGABAR_ARV ;\nUCGABAR_WAIT ;",
            pair(32),
            bytes
        );
        let (_, out) = outcome("sm_90a", &lines, &CLUSTER.replace("shared = 256", "shared = 512"));
        let expected: Vec<u32> =
            (0..64).map(|at| if at < 32 { of_thread(at + 32) } else { of_thread(at - 32) }).collect();
        assert_eq!(out[..64], expected, "{lines}");
    }
}

#[test]
fn arrivals_at_both_ctas_in_one_instruction() {
    // Even lanes arrive at the own object, odd lanes at the other one: 16 arrivals each.
    let lines = format!(
        "{}LOP3.LUT P1, RZ, R0, 0x1, RZ, 0xc0, !PT ;\nSEL R7, R6, R1, P1 ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R7], RZ ;\n\
         .L_x_0:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], RZ ;\n@!P0 BRA `(.L_x_0) ;\nLDS R8, [R1+0x4] ;\n{STORE}\n\
         UCGABAR_ARV ;\nUCGABAR_WAIT ;",
        pair(32)
    );
    let (report, out) = outcome("sm_90a", &lines, CLUSTER);
    assert!(out[..64].iter().all(|high| *high == 0x8000_0000 | (0x10_0000 - 32) << 11), "{out:x?}");
    assert_eq!(report.statistics.cluster_requests, 32);
}

#[test]
fn the_cluster_barrier_does_not_wait_for_ended_threads() {
    // All threads of CTA 1 except one end at once.
    let lines = format!(
        "S2R R0, SR_TID.X ;\nS2R R20, SR_CgaCtaId ;\nIMAD R0, R20, 0x20, R0 ;\nISETP.GT.U32.AND P0, PT, R0, 0x20, PT ;\n\
         @P0 EXIT ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\nS2R R8, SR_CTAID.X ;\n\
         IADD3 R8, R8, 0x1, RZ ;\n{STORE}"
    );
    let (_, out) = outcome("sm_90a", &lines, CLUSTER);
    assert_eq!((out[0], out[31], out[32], out[33]), (1, 1, 2, 0));
}

#[test]
fn clusters_in_two_dimensions_have_their_ranks() {
    let lines = format!(
        "S2R R4, SR_CTAID.X ;\nS2R R5, SR_CTAID.Y ;\nIMAD R0, R5, 0x4, R4 ;\nS2R R8, SR_CgaCtaId ;\n{STORE}"
    );
    let (_, out) = outcome("sm_90a", &lines, "grid = [4, 4]\nblock = 1\ncluster = [2, 2]\nshared = 4");
    let expected: Vec<u32> = (0..16).map(|i| (i & 1) | (i >> 2 & 1) << 1).collect();
    assert_eq!(out[..16], expected);
}

/// Test cases: instructions after [`pair`], parts of the message.
#[rustfmt::skip]
const REFUSED: &[(&str, &[&str])] = &[
    ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6], RZ ;",     &["MBAR.TRY_WAIT with a result at 0x01000400", "another CTA", "spec 6.7", "CTA 0, warp 0, lane 0"]),
    ("SYNCS.ARRIVE.TRANS64.A1T0 R8, [R6], RZ ;",          &["MBAR.ARRIVE with a result at 0x01000400", "without result"]),
    ("SYNCS.EXCH.64 RZ, [R6], R2 ;",                      &["MBAR.INIT at 0x01000400"]),
    ("MOV R7, 0x5000400 ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R7], RZ ;", &["names rank 5 of the cluster, which has 2 CTA(s)", "`cluster`"]),
    ("IADD3 R7, R6, 0x4, RZ ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R7], RZ ;", &["misaligned address 0x01000404", "lane 0"]),
    ("LDC.64 R4, c[0x0][0x210] ;\nLDGSTS.E [R6], [R4.64] ;", &["copy of 4 bytes from global 0x10fffffe00 to shared 0x01000400", "another CTA of the cluster"]),
    ("IADD3 R6, R6, 0xfc, RZ ;\nMOV R7, R1 ;\nSTAS.64 [R6.64], R2 ;", &["asynchronous STS of 8 bytes at shared 0x010004fc", "not a multiple of 8"]),
    ("IADD3 R6, R6, 0x100, RZ ;\nMOV R7, R1 ;\nSTAS [R6.64], R2 ;", &["4 bytes at 0x01000500 reach beyond the allocation of 1280 bytes"]),
    ("S2R R13, SR_SWINHI ;\nMOV R12, 0x5000400 ;\nLD.E R8, [R12.64] ;", &["names rank 5 of the cluster, which has 2 CTA(s)"]),
    ("S2R R13, SR_SWINHI ;\nIADD3 R12, R6, 0x2, RZ ;\nATOM.E.ADD.STRONG.SM PT, R8, [R12.64], R2 ;", &["misaligned address 0x01000402", "lane 0"]),
];

#[test]
fn what_cannot_be_done_in_another_cta() {
    for (lines, parts) in REFUSED {
        failure("sm_90a", &format!("{}{lines}", pair(1)), CLUSTER, parts);
    }
    // The other CTA has ended.
    let lines = format!(
        "{}ISETP.EQ.AND P0, PT, R20, 0x1, PT ;\n@P0 EXIT ;\nNANOSLEEP 0x100 ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R6], RZ ;",
        pair(1)
    );
    failure("sm_90a", &lines, CLUSTER, &["rank 1 of the cluster, whose threads have ended"]);
}

#[test]
fn blocks_that_cannot_be_copied() {
    let copy = |to: u32, from: u32, size: u32| {
        format!(
            "{}ULDC.64 UR4, c[0x0][0x210] ;\nUIADD3 UR4, UR4, {from:#x}, URZ ;\nUMOV UR8, {to:#x} ;\nUMOV UR9, 0x400 ;\n\
             UMOV UR10, {size:#x} ;\nUBLKCP.S.G [UR8], [UR4], UR10 ;",
            init(1)
        )
    };
    for (to, from, size, parts) in [
        (
            0x440,
            0,
            16,
            [
                "copy of 256 bytes from global 0x10fffffe00 to shared 0x00000440",
                "beyond the allocation of 1280 bytes",
            ],
        ),
        (0x448, 0, 1, ["copy of 16 bytes", "0x00000448 is not a multiple of 16"]),
        (0x440, 4, 1, ["global address 0x10fffffe04", "not a multiple of 16"]),
        (0x440, 0x1000, 1024, ["copy of 16384 bytes", "are not inside a buffer: the nearest is `in`"]),
    ] {
        failure("sm_90a", &copy(to, from, size), ONE, &parts);
    }
}

/// `failure` takes the architecture, instructions, the launch, and parts of the report.
#[test]
fn waits_that_cannot_end_are_reported_with_what_is_missing() {
    let wait = |arrivals: &str| {
        format!(
            "{}BAR.SYNC 0x0 ;\n{arrivals}\n.L_x_0:\nSHF.L.U32 R5, RZ, 0x1f, RZ ;\n\
             SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], R5 ;\n@!P0 BRA `(.L_x_0) ;",
            init(64)
        )
    };
    let head = "grid = 1\nblock = 64\nshared = 256\ncycle_budget = 200000";
    failure(
        "sm_90a",
        &wait(
            "ISETP.GT.U32.AND P1, PT, R0, 0x2, PT ;\nMOV R4, 0x200 ;\n@P1 SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R1], RZ ;\n\
             @!P6 SYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [R1], R4 ;",
        ),
        head,
        &[
            "nothing but registers has changed for",
            "CTA 0 mbarrier at 0x400 (0x00000400): warps 0-1 wait for parity 0",
            "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], R5",
            "phase parity 0, 3 of 64 arrivals pending, 512 bytes outstanding",
        ],
    );
    // One warp waits for an arrival, the other waits for the first one at a barrier.
    failure(
        "sm_90a",
        &wait("ISETP.GT.U32.AND P1, PT, R0, 0x1f, PT ;\n@P1 BAR.SYNC 0x1 ;"),
        head,
        &[
            "64 of 64 arrivals pending",
            "block barrier 1: warp 1 waits",
            "warp 1 waits at block barrier 1 for warp 0",
        ],
    );
    // With a time hint of 10 ms, in the code that compilers emit.
    failure(
        "sm_90a",
        &wait("NOP ;").replace("@!P0 BRA", "@!P0 NANOSLEEP.SYNCS 0x989680 ;\n@!P0 BRA"),
        head,
        &["nothing but registers", "64 of 64 arrivals"],
    );
    // sm_80: code polls the object with loads.
    failure(
        "sm_80",
        "S2R R0, SR_TID.X ;\nISETP.NE.AND P6, PT, R0, RZ, PT ;\nMOV R2, 0x3fffffc0 ;\nMOV R3, 0x7fffffc0 ;\n\
         @!P6 STS.64 [0x8], R2 ;\nBAR.SYNC 0x0 ;\n@P6 ATOMS.ARRIVE.64 R4, [0x8] ;\n.L_x_0:\nLDS R4, [0xc] ;\n\
         LOP3.LUT P2, RZ, R4, 0x80000000, RZ, 0x48, !PT ;\n@!P2 BRA `(.L_x_0) ;",
        head,
        &["nothing but registers", "(0x00000008)", "phase parity 0, 1 of 64 arrivals pending"],
    );
    // Cluster barrier at which not all threads arrive.
    let lines = "S2R R20, SR_CgaCtaId ;\nISETP.EQ.AND P0, PT, R20, 0x1, PT ;\n@P0 BAR.SYNC 0x0, 0x40 ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;";
    failure(
        "sm_90a",
        lines,
        CLUSTER,
        &["every thread waits for another", "CTA 0 cluster barrier: warp 0 waits", "for CTA 1 warp 0"],
    );
}

/// Programs that poll for long but end.
#[test]
fn patience_that_ends_is_not_reported() {
    let config = SmConfig { quiet_cycles: 10, ..SmConfig::default() };
    for (what, lines) in [
        (
            "counts",
            "MOV R7, RZ ;\n.L_x_0:\nIADD3 R7, R7, 0x1, RZ ;\nSYNCS.PHASECHK.TRANS64 P0, [R1], RZ ;\n\
             ISETP.LT.AND P1, PT, R7, 0x1000, PT ;\n@P1 BRA `(.L_x_0) ;",
        ),
        (
            "counts in the way that comes back to the first state for a while",
            "MOV R7, RZ ;\nMOV R6, RZ ;\n.L_x_0:\nMOV R4, 0x10 ;\n.L_x_1:\nIADD3 R4, R4, -0x1, RZ ;\n\
             SYNCS.PHASECHK.TRANS64 P0, [R1], RZ ;\nISETP.NE.AND P1, PT, R4, RZ, PT ;\n@P1 BRA `(.L_x_1) ;\n\
             IADD3 R7, R7, 0x1, RZ ;\nISETP.LT.AND P1, PT, R7, 0x80, PT ;\n@P1 BRA `(.L_x_0) ;",
        ),
        (
            "looks at the clock",
            "S2R R6, SR_CLOCKLO ;\n.L_x_0:\nS2R R7, SR_CLOCKLO ;\nIADD3 R7, R7, -R6, RZ ;\n\
             ISETP.LT.AND P1, PT, R7, 0x1000, PT ;\nMOV R7, RZ ;\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], RZ ;\n\
             @P1 BRA `(.L_x_0) ;",
        ),
        (
            "waits for a late copy",
            "LDC.64 R4, c[0x0][0x210] ;\nLDGSTS.E [R1+0x10], [R4.64] ;\nARRIVES.LDGSTSBAR.64.ARVCNT [R1] ;\n\
             .L_x_0:\nSYNCS.PHASECHK.TRANS64 P0, [R1], RZ ;\n@!P0 BRA `(.L_x_0) ;",
        ),
    ] {
        let program = program("sm_90a", &format!("{}{lines}", init(1)));
        let config = SmConfig { copy_latency_cycles: [5000, 5000], ..config };
        let report = run(&program.kernels[0], &launch(ONE), &mut model(), &config);
        let report = report.unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(report.statistics.cycles > 1000, "{what}: {}", report.statistics.cycles);
    }
}

/// Test cases: launch, parts of the message.
#[test]
fn clusters_that_cannot_start() {
    let on = |arch: &str, head: &str| run_on(arch, "NOP ;", head, &mut model()).expect_err(head);
    for (arch, head, part) in [
        ("sm_80", "grid = 2\nblock = 32\ncluster = 2\nshared = 4", "sm_80, which has no clusters"),
        (
            "sm_90a",
            "grid = 16\nblock = 160\ncluster = 16\nshared = 4",
            "needs 80 warps at the same time, but there are only 64",
        ),
        (
            "sm_90a",
            "grid = 8\nblock = 32\ncluster = 8\nshared = 8192",
            "rows of shared memory at the same time",
        ),
    ] {
        let text = on(arch, head);
        assert!(text.contains(part), "{text}");
    }
    for (head, part) in [
        ("grid = 3\nblock = 32\ncluster = 2", "clusters of [2, 1, 1] CTAs do not fill a grid of [3, 1, 1]"),
        ("grid = 32\nblock = 32\ncluster = 32", "at most 16 are allowed"),
        ("grid = 32\nblock = 32\ncluster = 0", "`cluster`: found 0"),
    ] {
        let text = format!("kernel = \"k\"\n{head}\n");
        let error = Launch::from_toml("k.toml", &text, Path::new("")).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
