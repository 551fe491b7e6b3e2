//! Accesses beyond the own registers: shared memory of other CTAs by generic addresses, groups of copies,
//! block copies to global memory and among CTAs, votes at barriers.

use crate::functional;

use atoms_isa::Program;
use atoms_model::{Config, MemoryPort, Unit};
use atoms_sm::{Element, Launch, Outcome, RunReport, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::{Path, PathBuf};

/// Launch with a buffer `in` of 4096 words with values 0, 1, 2, ..., and a buffer `out` of 512 zeros.
fn launch(head: &str) -> Launch {
    let values: Vec<String> = (0..4096).map(|i| i.to_string()).collect();
    let text = format!(
        "kernel = \"k\"\n{head}\ncycle_budget = 200000\n[[param]]\nname = \"in\"\ntype = \"u32\"\nvalues = [{}]\n\
         [[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 512\n",
        values.join(", ")
    );
    Launch::from_toml("k.toml", &text, Path::new("")).unwrap_or_else(|e| panic!("{e}"))
}

fn words(report: &RunReport) -> Vec<u32> {
    let out = report.buffer("out").unwrap();
    (0..512).map(|i| out.element.read(&out.bytes, i) as u32).collect()
}

/// Runs on the model and on the functional port. Both must give the same buffer `out`.
#[track_caller]
fn outcome(lines: &str, head: &str) -> Vec<u32> {
    let text = format!(".target sm_90a\n.section .text.k,\"ax\",@progbits\n{lines}\nEXIT ;\n");
    let program = Program::parse("k.sass", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    fn on<P: MemoryPort>(program: &Program, head: &str, port: &mut P) -> Vec<u32> {
        let config = SmConfig::default();
        words(&run(&program.kernels[0], &launch(head), port, &config).unwrap_or_else(|e| panic!("{e}")))
    }
    let model = on(&program, head, &mut Unit::new(Config::default()));
    let mut functional = FunctionalPort::new(Shape::default());
    assert_eq!(on(&program, head, &mut functional), model, "{lines}");
    assert!(functional.clean());
    model
}

const ONE: &str = "grid = 1\nblock = 1\nshared = 256";
const WARP: &str = "grid = 1\nblock = 32\nshared = 1024";
const CLUSTER: &str = "grid = 2\nblock = 32\ncluster = 2\nshared = 256";

/// R0: thread; R2: buffer `in`; R4: buffer `out`; R20: rank; R1: 0x400 of the own CTA; R6: generic address of
/// 0x400 of the other CTA; R8: 1. The words at 0x400 and 0x404 are 0x64 and 0, and all threads have
/// synchronized.
const PEER: &str = "S2R R0, SR_TID.X ;\nLDC.64 R2, c[0x0][0x210] ;\nLDC.64 R4, c[0x0][0x218] ;\nS2R R20, SR_CgaCtaId ;\n\
    MOV R1, 0x400 ;\nLEA R1, R20, R1, 0x18 ;\nLOP3.LUT R21, R20, 0x1, RZ, 0x3c, !PT ;\nPRMT R6, R21, 0x654, R1 ;\n\
    S2R R7, SR_SWINHI ;\nMOV R8, 0x64 ;\nMOV R9, RZ ;\nSTS.64 [R1], R8 ;\nMOV R8, 0x1 ;\nMOV R9, RZ ;\n\
    LEA R21, R20, R0, 0x5 ;\nIMAD.WIDE.U32 R4, R21, 0x4, R4 ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\n";
/// Synchronizes all threads. Then stores R30, and the own word, to `out`.
const DONE: &str = "\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\nLDS.64 R32, [R1] ;\nSTG.E [R4.64], R30 ;\nSTG.E [R4.64+0x100], R32 ;\n\
    STG.E [R4.64+0x200], R33 ;";

/// Test cases: rule; instructions; sum of the results; final word, low and high.
#[rustfmt::skip]
const OTHERS: &[(&str, &str, u64, [u32; 2])] = &[
    ("add gives the word before",  "ATOM.E.ADD.STRONG.GPU PT, R30, [R6], R8 ;",        3696,   [132, 0]),
    ("add without a result",       "ATOM.E.ADD.STRONG.SM PT, RZ, [R6+0x4], R8 ;\nMOV R30, RZ ;", 0,        [100, 32]),
    ("max of signed words",        "IADD3 R9, R0, -0x1, RZ ;\nATOM.E.MAX.S32.STRONG.GPU PT, RZ, [R6+0x4], R9 ;\nMOV R30, RZ ;", 0, [100, 30]),
    ("exchange of 64 bits",        "MOV R8, R0 ;\nATOM.E.EXCH.64.STRONG.GPU P0, R30, [R6], R8 ;\nSEL R30, RZ, 0x1, !P0 ;\nISETP.NE.AND P1, PT, R0, 0x1f, PT ;\n@!P1 ST.E [R6], R0 ;", 32, [31, 0]),
    ("compare and swap",           "MOV R10, 0x64 ;\nMOV R11, 0x65 ;\nATOM.E.CAS.STRONG.GPU PT, R30, [R6], R10, R11 ;", 100 + 31 * 101, [101, 0]),
    ("cast gives a flag",          "MOV R10, 0x64 ;\nMOV R11, 0x65 ;\nATOM.E.CAST.SPIN.STRONG.SM PT, R30, [R6], R10, R11 ;", 1, [101, 0]),
    ("add of 64 bits is done",     "MOV R10, 0x80000000 ;\nMOV R11, RZ ;\nATOM.E.ADD.64.STRONG.GPU P0, RZ, [R6], R10 ;\nSEL R30, RZ, 0x1, !P0 ;", 32, [100, 16]),
    ("minimum of 64 bits is not",  "MOV R10, R0 ;\nMOV R11, RZ ;\nATOM.E.MIN.64.STRONG.GPU P0, RZ, [R6], R10 ;\nSEL R30, RZ, 0x1, !P0 ;", 0, [100, 0]),
    ("float addition is not",      "ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU P0, RZ, [R6], R8 ;\nQSPC.E.S P1, RZ, [R6] ;\nQSPC.E.D P2, RZ, [R6] ;\nSEL R30, RZ, 0x1, !P2 ;\n@P0 MOV R30, 0x3e8 ;\n@P1 MOV R30, 0x3e8 ;", 32, [100, 0]),
    ("loads and stores of bytes",  "IADD3 R10, R6, R0, RZ ;\nMOV R11, R7 ;\nISETP.GT.U32.AND P0, PT, R0, 0x3, PT ;\n@!P0 ST.E.U8 [R10+0x4], R0 ;\nLD.E.U8 R30, [R6+0x7] ;\nMOV R30, RZ ;", 0, [100, 0x0302_0100]),
    ("a load of 64 bits",          "LD.E.64 R30, [R6] ;",                              3200,               [100, 0]),
    ("the own word as well",       "ISETP.EQ.AND P0, PT, R0, RZ, PT ;\n@P0 MOV R6, R1 ;\nATOM.E.ADD.STRONG.GPU PT, RZ, [R6], R8 ;\nMOV R30, RZ ;", 0, [132, 0]),
];

#[test]
fn the_other_cta_by_generic_addresses() {
    for (rule, lines, sum, word) in OTHERS {
        let out = outcome(&format!("{PEER}{lines}{DONE}"), CLUSTER);
        for rank in 0..2 {
            let results: u64 = out[32 * rank..32 * rank + 32].iter().map(|v| u64::from(*v)).sum();
            assert_eq!(results, *sum, "{rule}, CTA {rank}: {:?}", &out[32 * rank..32 * rank + 32]);
            assert_eq!([out[64 + 32 * rank], out[128 + 32 * rank]], *word, "{rule}, CTA {rank}");
        }
    }
}

const ADDRESSES: &str = "S2R R0, SR_TID.X ;\nLDC.64 R2, c[0x0][0x210] ;\nLDC.64 R4, c[0x0][0x218] ;\n\
    LEA R1, R0, 0x400, 0x4 ;\nIMAD.WIDE.U32 R2, R0, 0x10, R2 ;\nIMAD.WIDE.U32 R4, R0, 0x4, R4 ;\n";

/// With three groups, waiting for all but one guarantees two.
#[test]
fn groups_of_copies() {
    let lines = format!(
        "{ADDRESSES}STS.128 [R1], RZ ;\nSTS.128 [R1+0x200], RZ ;\n\
         LDGSTS.E.BYPASS.128 [R1], [R2.64] ;\nLDGDEPBAR ;\nLDGSTS.E [R1+0x200], [R2.64+0x4] ;\nLDGDEPBAR ;\n\
         LDGSTS.E.64 [R1+0x208], [R2.64+0x8] ;\nLDGDEPBAR ;\nDEPBAR.LE SB0, 0x1 ;\nLDS R8, [R1+0x4] ;\nLDS R9, [R1+0x200] ;\n\
         DEPBAR.LE SB0, 0x0 ;\nLDS R10, [R1+0x20c] ;\nIADD3 R8, R8, R9, R10 ;\nSTG.E [R4.64], R8 ;"
    );
    let out = outcome(&lines, WARP);
    let expected: Vec<u32> = (0..32).map(|i| (4 * i + 1) + (4 * i + 1) + (4 * i + 3)).collect();
    assert_eq!(out[..32], expected);
}

/// Test cases: rule; copy; final four words of thread 2, whose source begins with 8.
#[rustfmt::skip]
const FILLS: &[(&str, &str, [u32; 4])] = &[
    ("whole",                   "LDGSTS.E.BYPASS.LTC128B.128 [R1], [R2.64], P0 ;",    [8, 9, 10, 11]),
    ("not enabled",             "LDGSTS.E.BYPASS.128 [R1], [R2.64], !P0 ;",           [0, 0, 0, 0]),
    ("twelve bytes are zero",   "LDGSTS.E.BYPASS.128.ZFILL [R1], [R2.64+0xc], P0 ;",  [8, 0, 0, 0]),
    ("half a word is zero",     "LDGSTS.E.ZFILL [R1+0x4], [R2.64+0x6], P0 ;",         [N, 9, N, N]),
    ("guarded",                 "@!P0 LDGSTS.E.128 [R1], [R2.64] ;",                  [N, N, N, N]),
];
const N: u32 = u32::MAX;

#[test]
fn copies_that_are_filled_with_zeros() {
    for (rule, copy, expected) in FILLS {
        let lines = format!(
            "{ADDRESSES}ISETP.EQ.AND P0, PT, RZ, RZ, PT ;\nMOV R8, -0x1 ;\nMOV R9, R8 ;\nMOV R10, R8 ;\nMOV R11, R8 ;\n\
             STS.128 [R1], R8 ;\n{copy}\nLDGDEPBAR ;\nDEPBAR.LE SB0, 0x0 ;\nLDS.128 R8, [R1] ;\n\
             ISETP.NE.AND P1, PT, R0, 0x2, PT ;\n@!P1 STG.E.128 [R4.64+0x8], R8 ;"
        );
        assert_eq!(outcome(&lines, WARP)[4..8], *expected, "{rule}");
    }
}

#[test]
fn a_block_goes_to_global_memory() {
    let lines = format!(
        "{ADDRESSES}LEA R6, R0, 0x400, 0x2 ;\nIMAD R7, R0, 0x3, RZ ;\nSTS [R6], R7 ;\nFENCE.VIEW.ASYNC.S ;\nWARPSYNC.ALL ;\n\
         ELECT P0, URZ, PT ;\n@!P0 BRA `(.L_x_0) ;\nULDC.64 UR4, c[0x0][0x218] ;\nUMOV UR6, 0x400 ;\nUMOV UR7, 0x8 ;\n\
         UBLKCP.G.S [UR4], [UR6], UR7 ;\nUTMACMDFLUSH ;\nDEPBAR.LE SB0, 0x0 ;\nSTS [UR6], RZ ;\n.L_x_0:\nNOP ;"
    );
    let expected: Vec<u32> = (0..32).map(|i| 3 * i).collect();
    assert_eq!(outcome(&lines, WARP)[..32], expected);
}

/// Operation and type of `cp.reduce.async.bulk` to global memory; element type; expected element, from [PTX].
#[rustfmt::skip]
const REDUCTIONS: &[(&str, &str, &str)] = &[
    ("add.u32",        "u32",  "g[i] + in[i]"),
    ("add.s32",        "s32",  "g[i] + in[i]"),
    ("add.u64",        "u64",  "g[i] + in[i]"),
    ("add.f32",        "f32",  "g[i] + in[i]"),
    ("add.f64",        "f64",  "g[i] + in[i]"),
    ("add.noftz.f16",  "f16",  "g[i] + in[i]"),
    ("add.noftz.bf16", "bf16", "g[i] + in[i]"),
    ("min.u32",        "u32",  "min(g[i], in[i])"),
    ("min.s32",        "s32",  "min(g[i], in[i])"),
    ("min.u64",        "u64",  "min(g[i], in[i])"),
    ("min.s64",        "s64",  "min(g[i], in[i])"),
    ("min.f16",        "f16",  "min(g[i], in[i])"),
    ("min.bf16",       "bf16", "min(g[i], in[i])"),
    ("max.u32",        "u32",  "max(g[i], in[i])"),
    ("max.s32",        "s32",  "max(g[i], in[i])"),
    ("max.u64",        "u64",  "max(g[i], in[i])"),
    ("max.s64",        "s64",  "max(g[i], in[i])"),
    ("max.f16",        "f16",  "max(g[i], in[i])"),
    ("max.bf16",       "bf16", "max(g[i], in[i])"),
    ("inc.u32",        "u32",  "g[i] >= in[i] ? 0 : g[i] + 1"),
    ("dec.u32",        "u32",  "g[i] == 0 || g[i] > in[i] ? in[i] : g[i] - 1"),
    ("and.b32",        "u32",  "g[i] & in[i]"),
    ("and.b64",        "u64",  "g[i] & in[i]"),
    ("or.b32",         "u32",  "g[i] | in[i]"),
    ("or.b64",         "u64",  "g[i] | in[i]"),
    ("xor.b32",        "u32",  "g[i] ^ in[i]"),
    ("xor.b64",        "u64",  "g[i] ^ in[i]"),
];

#[test]
fn blocks_are_worked_into_global_memory() {
    for (form, element, formula) in REDUCTIONS {
        let text = format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 g)\n{{\n\
             .reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<2>;\n.shared .align 128 .b8 data[128];\n\
             ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [g];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %rd3, %r1, 4, %rd1;\n\
             ld.global.u32 %r2, [%rd3];\nmov.u32 %r3, data;\nmad.lo.u32 %r4, %r1, 4, %r3;\nst.shared.u32 [%r4], %r2;\n\
             fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n\
             cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [%rd2], [%r3], 128;\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nDONE:\nret;\n}}\n"
        );
        let program =
            Program::read("k", &text, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        let elements = 128 / Element::from_name(element).unwrap().bytes();
        // Sums of floats are exact, and sums of integers wrap.
        let range = if element.contains('f') { ", min = -100, max = 100" } else { "" };
        let random = |seed: u32| format!("random = {{ count = {elements}, seed = {seed}{range} }}");
        let launch = format!(
            "kernel = \"k\"\ngrid = 1\nblock = 32\n[[param]]\nname = \"in\"\ntype = \"{element}\"\n{}\n\
             [[param]]\nname = \"g\"\ntype = \"{element}\"\n{}\nexpect = {{ formula = \"{formula}\" }}\n",
            random(1),
            random(2)
        );
        let launch = Launch::from_toml("k", &launch, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
        let mut port = FunctionalPort::new(Shape::default());
        let report = run(&program.kernels[0], &launch, &mut port, &SmConfig::default())
            .unwrap_or_else(|e| panic!("{form}: {e}"));
        assert!(port.clean());
        assert_eq!(report.buffer("g").unwrap().outcome, Outcome::Met { compared: elements }, "{form}");
    }
}

/// Only the bytes selected by the mask are written in each group of 16 bytes. Source: [PTX] cp.async.bulk,
/// .cp_mask.
#[test]
fn a_block_goes_to_global_memory_in_part() {
    let text = ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 g, .param .u32 mask)\n{\n\
                .reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .b16 %h;\n.reg .pred %p<2>;\n.shared .align 128 .b8 data[64];\n\
                ld.param.u64 %rd2, [g];\nld.param.u16 %h, [mask];\nmov.u32 %r1, %tid.x;\nmov.u32 %r3, data;\n\
                add.u32 %r4, %r1, %r3;\nadd.u32 %r5, %r1, 100;\nst.shared.u8 [%r4], %r5;\nfence.proxy.async.shared::cta;\n\
                bar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n\
                cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd2], [%r3], 64, %h;\ncp.async.bulk.commit_group;\n\
                cp.async.bulk.wait_group 0;\nDONE:\nret;\n}\n";
    let program = Program::read("k", text, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    for mask in [0, 1, 0x8000, 0xa5c3, 0xffff] {
        let launch = format!(
            "kernel = \"k\"\ngrid = 1\nblock = 64\n[[param]]\nname = \"g\"\ntype = \"u8\"\nzeros = 64\n\
             expect = {{ formula = \"mask >> i % 16 & 1 != 0 ? 100 + i : 0\" }}\n\
             [[param]]\nname = \"mask\"\ntype = \"u32\"\nvalue = {mask}\n"
        );
        let launch = Launch::from_toml("k", &launch, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
        let mut port = FunctionalPort::new(Shape::default());
        let report = run(&program.kernels[0], &launch, &mut port, &SmConfig::default())
            .unwrap_or_else(|e| panic!("{mask:#x}: {e}"));
        assert_eq!(report.buffer("g").unwrap().outcome, Outcome::Met { compared: 64 }, "{mask:#x}");
    }
}

/// Each CTA sends 64 bytes to the other CTA, and signals the object there.
#[test]
fn a_block_goes_to_another_cta() {
    let lines = format!(
        "{PEER}ISETP.NE.AND P6, PT, R0, RZ, PT ;\nMOV R22, 0x1ffffe ;\nMOV R23, 0x7ffff800 ;\n@!P6 SYNCS.EXCH.64 RZ, [R1], R22 ;\n\
         LEA R24, R0, R1, 0x2 ;\nLEA R25, R20, R0, 0x8 ;\nSTS [R24+0x40], R25 ;\nMOV R26, 0x40 ;\n\
         @!P6 SYNCS.ARRIVE.TRANS64 RZ, [R1], R26 ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\n\
         R2UR UR4, R6 ;\nUIADD3 UR8, UR4, 0xc0, URZ ;\nUMOV UR9, UR4 ;\nR2UR UR10, R1 ;\nUIADD3 UR10, UR10, 0x40, URZ ;\nUMOV UR11, 0x4 ;\n\
         @!P6 UBLKCP.S.S [UR8], [UR10], UR11 ;\n.L_x_0:\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], RZ ;\n@!P0 BRA `(.L_x_0) ;\n\
         ISETP.GT.U32.AND P1, PT, R0, 0xf, PT ;\n@!P1 LDS R30, [R24+0xc0] ;\n@!P1 STG.E [R4.64], R30 ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;"
    );
    let out = outcome(&lines, CLUSTER);
    let expected = |rank: u32| -> Vec<u32> { (0..16).map(|i| ((1 - rank) << 8) + i).collect() };
    assert_eq!((&out[..16], &out[32..48]), (&expected(0)[..], &expected(1)[..]));
}

/// Three warps vote. The warp without a vote is not counted at the barrier of 64 threads.
#[test]
fn votes_at_barriers() {
    let lines = "S2R R0, SR_TID.X ;\nLDC.64 R4, c[0x0][0x218] ;\nIMAD.WIDE.U32 R4, R0, 0x10, R4 ;\n\
        ISETP.GT.U32.AND P0, PT, R0, 0x5a, PT ;\nBAR.RED.POPC.DEFER_BLOCKING 0x0, P0 ;\nB2R.RESULT R8 ;\n\
        BAR.RED.OR.DEFER_BLOCKING 0x0, P0 ;\nB2R.RESULT RZ, P1 ;\nBAR.RED.AND.DEFER_BLOCKING 0x0, P0 ;\nB2R.RESULT RZ, P2 ;\n\
        ISETP.GT.U32.AND P3, PT, R0, 0x3f, PT ;\nISETP.LT.U32.AND P4, PT, R0, 0x7, PT ;\nMOV R11, RZ ;\n\
        @!P3 BAR.RED.POPC.DEFER_BLOCKING 0x1, 0x40, P4 ;\n@!P3 B2R.RESULT R11 ;\nSEL R9, RZ, 0x1, !P1 ;\nSEL R10, RZ, 0x1, !P2 ;\n\
        STG.E.128 [R4.64], R8 ;";
    let out = outcome(lines, "grid = 1\nblock = 96\nshared = 4");
    assert_eq!(out[..4], [5, 1, 0, 7]);
    assert_eq!(out[4 * 95..4 * 96], [5, 1, 0, 0]);
}

#[test]
fn a_trap_ends_the_run() {
    let text = ".target sm_90a\n.section .text.k,\"ax\"\nISETP.EQ.AND P0, PT, RZ, RZ, PT ;\n@!P0 BPT.TRAP 0x1 ;\n@P0 BPT.TRAP 0x1 ;\nEXIT ;\n";
    let program = Program::parse("k.sass", text).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let error =
        run(&program.kernels[0], &launch(ONE), &mut port, &SmConfig::default()).unwrap_err().to_string();
    assert!(error.contains("a trap in kernel `k`, line 5"), "{error}");
}

/// Compiled kernel with addresses as parameters. Each of 32 threads adds 3 to its word, takes the minimum
/// with 3, and adds 3 to its 64-bit word. The 64-bit word of thread t consists of words 2t and 2t + 1.
#[test]
fn red_async() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    for file in ["sm_90a.sass", "sm_100a.sass", "sm_90a.ptx", "sm_100a.ptx"] {
        let text = std::fs::read_to_string(folder.join(format!("redasync.{file}"))).unwrap();
        let program = Program::read(file, &text, None).unwrap();
        let text = "kernel = \"redasync\"\ngrid = 1\nblock = 32\nshared = 512\n[[param]]\ntype = \"u32\"\nvalue = 0x480\n\
                    [[param]]\ntype = \"u32\"\nvalue = 0x400\n[[param]]\ntype = \"u32\"\nvalue = 3\n";
        let launch = Launch::from_toml("redasync", text, Path::new("")).unwrap();
        let mut port = Unit::new(Config::default());
        let report = run(launch.kernel(&program).unwrap(), &launch, &mut port, &SmConfig::default()).unwrap();
        // Memory is zero before: 3, then min(3, 3); then 64-bit words 0 to 31.
        let word = |offset: u32| port.word(offset / 128, offset / 4 % 32);
        let words: Vec<u32> = (0..64).map(|i| word(0x480 + 4 * i)).collect();
        for (i, pair) in words.chunks(2).enumerate() {
            // The 32-bit operations and the 64-bit addition may execute in any order. The order affects only
            // the low words: the minimum may come before or after the 64-bit addition.
            let high = if i < 16 { 3 } else { 0 };
            assert_eq!(pair[1], high, "{file}: {words:?}");
            let low: &[u32] = if i < 16 { &[3, 6] } else { &[3] };
            assert!(low.contains(&pair[0]), "{file}: {words:?}");
        }
        // Two copies of 4 bytes and one of 8 per thread, each with a completion at the object.
        assert_eq!(report.statistics.copies, 3 * 32);
    }
}
